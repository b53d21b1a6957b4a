"""The files beside the catalogs: accepted changes, and plans with instances."""

import datetime
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from osbctl.changes import Change, Effect, Level, ObjectRef
from osbctl.comparison.allow import AllowEntry, load_allow_entries, triage_changes
from osbctl.comparison.instances import check_plan_ids, read_used_plans
from osbctl.errors import ConfigError
from osbctl.platforms import Platform
from tests.case import case, each
from tests.drift.make import CATALOG
from tests.platforms.known import K8S, KNOWN
from tests.sources.exports.make import export_as

TODAY = datetime.date(2030, 1, 31)
CHANGE = Change("change-plan-removed", "removed", (), ObjectRef("1", "db"), ObjectRef("2", "small"))


@each("entry, accepted, problem", [
    (AllowEntry("change-plan-removed", "db/small", "why"), True, ""),
    (AllowEntry("change-plan-removed", "db/small", "why", field=""), True, ""),
    (AllowEntry("change-plan-removed", "db/small", "why", field="free"), False, "matches no change"),
    (AllowEntry("change-plan-removed", "db", "why"), False, "matches no change"),
    (AllowEntry("change-plan-id", "db/small", "why"), False, "matches no change: remove it"),
    (AllowEntry("change-plan-removed", "db/small", "why", expires=TODAY), True, ""),
    (AllowEntry("change-plan-removed", "db/small", "why", expires=datetime.date(2030, 1, 30)), False, "expired on"),
])  # fmt: skip
def test_allowed(entry: AllowEntry, accepted: bool, problem: str) -> None:
    sorted_out = triage_changes([CHANGE], [entry], TODAY)
    assert sorted_out.accepted == ([(CHANGE, "why")] if accepted else [])
    assert sorted_out.open == ([] if accepted else [CHANGE])
    assert len(sorted_out.problems) == bool(problem)
    assert problem in "".join(sorted_out.problems)


def test_an_entry_holds_up_to_its_level() -> None:
    """A breaking change that was accepted, and that a platform now refuses, is another one."""
    for number, level in enumerate(Level):
        change = replace(CHANGE, effects=(Effect(Platform.KORIFI, level, "does it"),))
        for other, up_to in enumerate(Level):
            with case(level, up_to):
                entry = AllowEntry(CHANGE.rule, "db/small", "why", level=up_to)
                sorted_out = triage_changes([change], [entry], TODAY)
                assert bool(sorted_out.accepted) == (number >= other)
                told = f"holds up to {up_to}, and the change is {level}"
                assert [told in problem for problem in sorted_out.problems] == [True] * (number < other)
        without = AllowEntry(CHANGE.rule, "db/small", "why")
        assert bool(triage_changes([change], [without], TODAY).accepted) == (level is not Level.REFUSED)


def test_an_empty_field_accepts_the_change_of_the_object_alone(tmp_path: Path) -> None:
    of_fields = [replace(CHANGE, field=field) for field in ("free", "metadata/free", "")]
    for line, accepted in ("", ["free", "metadata/free", ""]), ('field = ""', [""]), ('field = "free"', ["free"]):
        (tmp_path / "allow.toml").write_text(
            f'[[allow]]\nrule = "change-plan-removed"\nobject = "db/small"\nreason = "why"\n{line}\n'
        )
        triaged = triage_changes(of_fields, load_allow_entries(str(tmp_path / "allow.toml")), TODAY)
        assert [change.field for change, _ in triaged.accepted] == accepted


def test_an_allow_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "allow.toml"
    file.write_text(
        '[[allow]]\nrule = "r"\nobject = "a/b"\nreason = "x"\nexpires = 2030-01-31\n'
        '[[allow]]\nrule="r"\nobject=""\nreason="y"\nlevel="refused"'
    )
    assert load_allow_entries(str(file)) == [
        AllowEntry("r", "a/b", "x", None, TODAY),
        AllowEntry("r", "", "y", level=Level.REFUSED),
    ]


@each("text", [
    "[[allow]",
    "other = 1",
    "allow = 3",
    "allow = [3]",
    '[[allow]]\nrule = "r"\nobject = "a"',
    '[[allow]]\nrule = "r"\nobject = "a"\nreason = " "',
    '[[allow]]\nrule = "r"\nobject = 3\nreason = "x"',
    '[[allow]]\nrule = "r"\nobject = "a"\nreason = "x"\nexpires = "soon"',
    '[[allow]]\nrule = "r"\nobject = "a"\nreason = "x"\nwho = "me"',
    '[[allow]]\nrule = "r"\nobject = "a"\nreason = "x"\nlevel = "error"',
    '[[allow]]\nrule = "r"\nobject = "a"\nreason = "x"\nlevel = 4',
    "allow = " + "[" * 5000 + "]" * 5000,
    "allow = " + "9" * 5000,
])  # fmt: skip
def test_a_wrong_allow_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "allow.toml"
    file.write_text(text)
    with pytest.raises(ConfigError):
        load_allow_entries(str(file))
    with pytest.raises(ConfigError):
        load_allow_entries(str(tmp_path / "missing.toml"))


OF_SERVICE = {"relationships": {"service_offering": {"data": {"guid": "s"}}}}
PLANS = {"resources": [{"guid": f"g{n}", "broker_catalog": {"id": f"p{n}"}, **OF_SERVICE} for n in "12"]}
INSTANCE = {"guid": "i", "relationships": {"service_plan": {"data": {"guid": "g2"}}}}

USED = {
    Platform.CLOUD_FOUNDRY: [{"guid": "i", "relationships": {"service_plan": {"data": {"guid": "plan-0-1"}}}}],
    Platform.SERVICE_MANAGER: [{"id": "i", "service_plan_id": "plan-0-1"}],
    Platform.KUBERNETES: [
        {
            "kind": "ServiceInstance",
            "metadata": {"name": "i", "namespace": "somewhere"},
            "spec": {"externalID": "x", "clusterServicePlanRef": {"name": "plan-0-1"}},
        }
    ],
}
NEXT = {"href": "/v3/service_instances?page=2"}
OF_ONE, OF_TWO, OF_USER = (
    {"pagination": {"total_results": 3, "next": follows, "first": {"href": "/v3/service_instances"}}, "resources": rows}
    for follows, rows in ((NEXT, [INSTANCE]), (NEXT, [{**INSTANCE, "guid": "j"}]), (None, [{"guid": "user-provided"}]))
)


@each("text, ids", [
    ("p1\n\n# a comment\n  p2  # another\n", {"p1", "p2"}),
    ('["p1", "a plan"]', {"p1", "a plan"}),
    (json.dumps(PLANS), {"p1", "p2"}),
    (json.dumps({"plans": PLANS, "instances": [INSTANCE]}), {"p2"}),
    (json.dumps([{**PLANS, "pagination": {"next": {"href": "x"}}}, {**PLANS, "pagination": {}}]), {"p1", "p2"}),
    (json.dumps([PLANS, OF_TWO, OF_ONE, OF_USER]), {"p2"}),
    (json.dumps([PLANS, {"num_items": 1, "items": [INSTANCE]}]), {"p2"}),
    *((json.dumps([*export_as(platform, CATALOG), *used]), {"p2"}) for platform, used in USED.items()),
    *((json.dumps(export_as(platform, CATALOG)), {"p1", "p2", "p3"}) for platform in KNOWN),
])  # fmt: skip
def test_instances(tmp_path: Path, text: str, ids: set[str]) -> None:
    file = tmp_path / "instances"
    file.write_text(text)
    assert read_used_plans(str(file)) == ids


@each("text, told", [
    *((text, "x: ") for text in ('["p1"', "{}", "[1]", json.dumps([INSTANCE]), "[" * 100_000)),
    ("FAILED\nNot logged in.\n", 'line 2 is not a plan id: "Not logged in."'),
    ("<!DOCTYPE html>\n<html></html>", 'line 1 is not a plan id: "<!DOCTYPE html>"'),
    ("p1\0\n", "line 1 is not a plan id"),
    *((text, "the file has no plan id") for text in ("", "# none\n", "[]")),
    (json.dumps({"items": USED[Platform.KUBERNETES]}), "the file has instances, but not all of their plans"),
    (json.dumps([PLANS, {"resources": [INSTANCE], "pagination": {"next": {"href": "x"}}}]), "more pages follow"),
    (json.dumps({**PLANS, "pagination": {"next": {"href": "x"}}}), "more pages follow"),
    (json.dumps({**export_as(K8S, CATALOG)[0], "metadata": {"continue": "x"}}), "more pages follow"),
    (json.dumps({**export_as(Platform.SERVICE_MANAGER, CATALOG)[1], "token": "x"}), "more pages follow"),
    (json.dumps([PLANS, OF_ONE, OF_USER]), "the list was cut: it holds 2 of 3 rows"),
    (json.dumps([PLANS, OF_ONE, OF_ONE, OF_USER]), "the list was cut: it holds 2 of 3 rows"),
    (json.dumps([PLANS, OF_USER, OF_TWO]), "it holds 2 of 3 rows"),
    (json.dumps([PLANS, {"num_items": 2, "items": [INSTANCE]}]), "it holds 1 of 2 rows"),
    (json.dumps([PLANS, {"metadata": {"continue": "x", "remainingItemCount": 2}, "items": [INSTANCE]}, {"items": [INSTANCE]}]),
     "it holds 1 of 3 rows"),
])  # fmt: skip
def test_wrong_instances_are_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(told)):
        read_used_plans(str(tmp_path / "x"))


PLAN_IDS = {"p1", "p2", "Q-3"}


def test_ids_that_no_plan_has_are_doubted() -> None:
    """They are refused if no plan has any of them."""
    for ids, sentences in (
        ({*()}, []),
        ({"p1"}, []),
        ({"p1", "Q-3"}, []),
        ({"p1", "small"}, ["1 of the 2 ids in FILE is not a plan of either catalog"]),
        ({"p1", "small", "big"}, ["2 of the 3 ids in FILE are not plans of either catalog"]),
    ):
        assert check_plan_ids(ids, PLAN_IDS, "FILE") == sentences
    for ids, told in (
        ({"small", "large"}, "none of the 2 ids in FILE is a plan of either catalog: does it hold plan ids?"),
        ({"small"}, "the id in FILE is not a plan of either catalog: does it hold plan ids?"),
    ):
        with pytest.raises(ConfigError) as raised:
            check_plan_ids(ids, PLAN_IDS, "FILE")
        assert raised.value.message == told


def test_instances_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        read_used_plans(str(tmp_path / "missing"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError):
        read_used_plans(str(tmp_path / "bytes"))
