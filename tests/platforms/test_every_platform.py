"""What a new platform must have an answer to, beside its verdict: found when a fifth was tried."""

from __future__ import annotations

import pytest

from osbctl.comparison.kinds import KINDS
from osbctl.comparison.rules import load_all
from osbctl.platforms import Platform
from osbctl.platforms.judge import judge_all


@pytest.mark.parametrize("platform", Platform)
def test_each_platform_is_known_where_it_must_be(platform: Platform) -> None:
    assert platform.label
    assert platform.api_version
    assert platform in judge_all({"services": []})
    assert platform.record.tools


@pytest.mark.parametrize(
    "kind", ["change-service-removed", "change-plan-removed", "change-plan-id", "change-service-id"]
)
def test_each_platform_answers_to_what_takes_a_plan_away(kind: str) -> None:
    load_all()
    assert set(KINDS[kind].answers) == set(Platform)
