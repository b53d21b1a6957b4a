"""The identity of a finding: rule, service offering and plan, field, and a number; no index, and no value."""

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from osbctl.commands.settings import all_rules
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.reports import Format, Report, render
from osbctl.sources.read import read_source
from tests import corpus
from tests.fragments import PLAN, SERVICE, catalog, validated

FAULTY = Path(__file__).parents[2] / "catalogs" / "faulty.yaml"
OTHER_PLAN = {**PLAN, "id": "5B8F0C3D-92E6-47A1-B4D7-3A6C1E9F2D80", "name": "another"}
OTHER = {**SERVICE, "id": "E2A7B9C4-6D13-4F58-8B0A-1C9D3E5F7A26", "name": "another", "plans": [OTHER_PLAN]}


def identities(data: Any) -> Counter[str]:
    findings = validated(data, platforms=frozenset(Platform)).findings
    return Counter(each for finding in findings for each in [one.identity for one in finding.members or (finding,)])


def with_others_above(data: Any) -> Any:
    """The catalog with a faultless service offering above all others, and a faultless plan above all plans."""
    data = copy.deepcopy(data)
    for number, service in enumerate(data["services"]):
        if isinstance(service, dict) and isinstance(service.get("plans"), list) and service["plans"]:
            unique = {"id": f"5B8F0C3D-92E6-47A1-B4D8-{number:012}", "name": f"other-{number}"}
            service["plans"].insert(0, {**OTHER_PLAN, **unique})
    data["services"].insert(0, OTHER)
    return data


def catalogs() -> list[Any]:
    found = [read_source(str(FAULTY)).data]
    for file in corpus.catalogs()[:: 1 if corpus.EVERY_CASE else 3]:
        try:
            found.append(read_source(str(file)).data)
        except DocumentError:
            continue
    return [data for data in found if isinstance(data.get("services"), list)]


@pytest.mark.fuzz
def test_what_is_inserted_above_changes_no_identity() -> None:
    for data in catalogs():
        before = identities(data)
        assert set(before.values()) <= {1}
        assert identities(with_others_above(data)) == before


SIMPLE = catalog({"bindable": "yes", "tags": ["a", 5], "metadata": {"displayName": 7}}, {"name": "a_b", "free": "no"})


@pytest.mark.parametrize("key", ["id", "name"])
@pytest.mark.parametrize("of_plan", [False, True])
def test_an_object_is_known_by_its_id_or_else_by_its_name(key: str, of_plan: bool) -> None:
    def named(text: str) -> Counter[str]:
        data = copy.deepcopy(SIMPLE)
        item = data["services"][0]["plans"][0] if of_plan else data["services"][0]
        item.update({"id": None, "name": "x"} if key == "name" else {}, **{key: text})
        return identities(data)

    assert named("one").keys().isdisjoint(named("two")) is not of_plan  # those of the service offering stay
    assert named("one") != named("two")


def test_the_keys_of_another_spelling_name_an_object_too() -> None:
    (service,) = copy.deepcopy(SIMPLE)["services"]
    service["Name"], service["ID"] = service.pop("name"), service.pop("id")
    assert identities({"Services": [OTHER, service]}) >= identities({"Services": [service]})


def test_indexes_in_a_field_are_numbers_among_equals() -> None:
    def bullets(*values: Any) -> set[str]:
        return {i for i in identities(catalog(plan={"metadata": {"bullets": list(values)}})) if "/bullets/" in i}

    assert bullets("a", 5) == bullets(5, "a", "b") != set()
    assert bullets(5) < bullets(5, 6) == bullets("a", 6, "b", 5)


def test_no_value_is_in_an_identity() -> None:
    """But for the ids and names of service offerings and plans."""
    mark = "Qx7Lm2Zp"
    texts = mark, f"${{{mark}}}", f"http://u:{mark}@example.com/?sig={mark}", f"{mark} "
    for value in (*texts, [mark], {"name": mark, "id": mark}):
        service = {
            "description": value,
            "bindable": value,
            "tags": [value, {"id": mark, "name": mark}],
            "requires": value,
            "dashboard_client": {"id": value, "secret": value, "redirect_uri": value},
            "metadata": {"documentationUrl": value, "list": [{"id": mark, "name": mark, "secret": value}]},
        }
        password = {"default": value, "enum": [value, value]}
        schema = {"$schema": value, "type": value, "properties": {"password": password}}
        plan = {
            "description": value,
            "free": value,
            "maintenance_info": {"version": value},
            "metadata": {"costs": [{"amount": value, "unit": value, "id": mark}], "bullets": value},
            "schemas": {"service_instance": {"create": {"parameters": schema}}},
        }
        found = identities(catalog(service, plan))
        assert len(found) > 5
        assert mark not in json.dumps([*found])


@pytest.mark.parametrize("format", [Format.GITLAB, Format.SARIF])
def test_fingerprints_of_reports_follow_the_identity(format: Format) -> None:
    def fingerprints(data: Any) -> set[str]:
        document = json.loads(render(Report([validated(data)], all_rules), format))
        if format is Format.GITLAB:
            return {issue["fingerprint"] for issue in document}
        return {each["partialFingerprints"]["osbctl/v2"] for each in document["runs"][0]["results"]}

    before = fingerprints(SIMPLE)
    assert fingerprints(with_others_above(SIMPLE)) == before
    moved = with_others_above(catalog())
    moved["services"][0] = {**SIMPLE["services"][0], "id": OTHER["id"]}  # the same faults, in another object
    assert fingerprints(moved).isdisjoint(before)
