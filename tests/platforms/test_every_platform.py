"""Each platform's record is complete, and refers only to existing rules and kinds of change."""

import pytest

from osbctl.catalog import Catalog
from osbctl.commands.settings import all_rules
from osbctl.comparison.kinds import KINDS, register_kind
from osbctl.platforms import Platform
from osbctl.platforms.tools import export_format, tools_of
from osbctl.platforms.updates import simulate_update
from osbctl.platforms.verdict import judge_all
from tests.comparison.make import catalog, plan, service
from tests.git import ROOT


@pytest.mark.parametrize("platform", Platform)
def test_each_platform_has_a_record_and_its_modules(platform: Platform) -> None:
    rules = all_rules()
    record = platform.record
    assert platform.label and platform.api_version
    assert platform in judge_all({"services": []})
    assert record.refuses <= set(rules)
    assert {f"{platform}-{name}" for name in record.rule_texts} <= set(rules)
    assert set(platform.load_module("updates").REACTIONS) <= set(KINDS)
    assert export_format(platform).shape.whole
    assert tools_of([platform])


@pytest.mark.parametrize("platform", Platform)
def test_the_same_catalog_twice_changes_nothing(platform: Platform) -> None:
    same = Catalog.of(catalog(service("s1", "db", plan("p1", "small", plans=[1]), plan("p2", "large"))))
    update = simulate_update(platform, same, same)
    assert (update.rows, update.clashes) == (update.before, [])


PAGES = ["README.md", "CHANGELOG.md", "docs/index.md", "docs/explanation/platforms.md"]


@pytest.mark.parametrize("page", PAGES)
def test_each_platform_is_named_where_pages_list_them(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert [platform for platform in Platform if platform.label not in text] == []


def test_each_platform_must_have_a_reaction_to_a_kind_of_change() -> None:
    with pytest.raises(LookupError, match="REACTIONS of Cloud Foundry needs change-moon"):
        register_kind("change-moon", "The moon changed.")
