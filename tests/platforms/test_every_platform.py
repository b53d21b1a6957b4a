"""Each platform's record is complete, and refers only to existing rules and kinds of change."""

import pytest

from osbctl.comparison.change_kinds import KINDS
from osbctl.comparison.change_kinds import load_all as load_changes
from osbctl.platforms import Platform, judge_all
from osbctl.tasks.options import all_rules


@pytest.mark.parametrize("platform", Platform)
def test_each_platform_has_a_record_and_its_modules(platform: Platform) -> None:
    rules = all_rules()
    record = platform.record
    assert record.folder == f"osbctl.platforms.{platform.replace('-', '_')}"
    assert platform.label and platform.api_version
    assert platform in judge_all({"services": []})
    assert record.refuses <= set(rules)
    assert {f"{platform}-{name}" for name in record.rule_texts} <= set(rules)
    assert set(record.reactions) <= set(KINDS)
    assert record.export_format.shape.whole
    assert record.tools


@pytest.mark.parametrize(
    "kind", ["change-service-removed", "change-plan-removed", "change-plan-id", "change-service-id"]
)
def test_each_platform_answers_to_what_takes_a_plan_away(kind: str) -> None:
    load_changes()
    assert set(KINDS[kind].reactions) == set(Platform)
