"""A field that a version of the API brings has an answer everywhere: its rule, and what its change is called."""

import copy
from typing import Any

import pytest

from osbctl.comparison.catalogs import compare_catalogs
from osbctl.fields import LATEST, field_type, known_fields, version_introduced
from osbctl.platforms import ApiVersion, Platform
from osbctl.platforms.verdict import VerdictKind, judge_all
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import run_rules

VALUES: dict[str, Any] = {"string": "x", "boolean": True, "integer": 5, "array": ["x"], "object": {"id": "x"}}
PLAN = {"id": "p", "name": "plan", "description": "d"}
SERVICE = {"id": "s", "name": "service", "description": "d", "bindable": True, "plans": [PLAN]}
HOLDERS: dict[str, tuple[str | int, ...]] = {
    "service": ("services", 0),
    "plan": ("services", 0, "plans", 0),
    "service_metadata": ("services", 0, "metadata"),
    "plan_metadata": ("services", 0, "plans", 0, "metadata"),
    "maintenance_info": ("services", 0, "plans", 0, "maintenance_info"),
    "dashboard_client": ("services", 0, "dashboard_client"),
}
FIELDS = [(kind, key) for kind in HOLDERS for key in sorted(known_fields(kind)) if key not in ("id", "name", "plans")]
PARAMETERS = {"service_instance": {"create": {"parameters": {"type": "object", "required": ["a"]}}}}
OF_FIELDS = {"schemas": PARAMETERS, "requires": ["syslog_drain"], "maintenance_info": {"version": "1.0.0"}}
OF_SPECIAL = {("maintenance_info", "version"): "1.0.0"}


def with_field(kind: str, key: str, value: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"services": [copy.deepcopy(SERVICE)]}
    holder: Any = data
    for step in HOLDERS[kind]:
        holder = holder[step] if isinstance(step, int) else holder.setdefault(step, {})
    holder[key] = value
    return data


def value_of(kind: str, key: str) -> Any:
    return OF_SPECIAL.get((kind, key), OF_FIELDS.get(key, VALUES[field_type(kind, key) or "object"]))


@pytest.mark.parametrize(("kind", "key"), FIELDS)
def test_a_change_of_a_known_field_has_a_name_of_its_own(kind: str, key: str) -> None:
    value = value_of(kind, key)
    empty = with_field(kind, key, None)
    for old, new in ((empty, with_field(kind, key, value)), (with_field(kind, key, value), empty)):
        assert "change-other-field" not in {change.rule for change in compare_catalogs(old, new)}


BOOLEANS = [(kind, key) for kind, key in FIELDS if field_type(kind, key) == "boolean" and key != "binding_rotatable"]
"""All but the one that no platform stores."""


@pytest.mark.parametrize(("kind", "key"), BOOLEANS)
def test_a_capability_that_is_withdrawn_is_safe_nowhere_unsaid(kind: str, key: str) -> None:
    changes = compare_catalogs(with_field(kind, key, True), with_field(kind, key, False))
    assert {effect.level.value for change in changes for effect in change.effects} - {"safe"}, (kind, key)


@pytest.mark.parametrize(("kind", "key"), FIELDS)
def test_a_field_is_too_new_for_the_versions_before_it(kind: str, key: str) -> None:
    data = with_field(kind, key, value_of(kind, key))
    brought = version_introduced(kind, key)
    for version in ApiVersion:
        found = run_rules(data, ValidationOptions(api_version=version))
        told = {f.message for f in found if f.rule == "field-too-new" and f.path[-1] == key}
        assert bool(told) == (version < brought)
        assert all(brought in message for message in told)
    assert not [f for f in run_rules(data, ValidationOptions(api_version=LATEST)) if f.rule == "field-near-miss"]


_ROTATABLE, _INFO = ("plan", "binding_rotatable"), ("plan", "maintenance_info")
_VERSION, _SAID = ("maintenance_info", "version"), ("maintenance_info", "description")
_URI = ("dashboard_client", "redirect_uri")
PASSED_OVER = {
    Platform.CLOUD_FOUNDRY: {_ROTATABLE},
    Platform.KUBERNETES: {_ROTATABLE, _INFO, _VERSION, _SAID, ("service", "allow_context_updates")}
    | {("plan", "maximum_polling_duration"), ("plan", "plan_updateable")},
    Platform.SERVICE_MANAGER: {_ROTATABLE, _INFO, _VERSION, _SAID, _URI, ("dashboard_client", "secret")}
    | {("service", "dashboard_client")},
    Platform.KORIFI: {_SAID, _URI, ("plan", "maximum_polling_duration")},
}
"""The fields outside of metadata that a platform takes with a value of any type: it does not know them."""


@pytest.mark.parametrize("platform", PASSED_OVER)
def test_each_platform_knows_the_type_of_a_field_or_is_known_to_pass_it_over(platform: Platform) -> None:
    found = set()
    for kind, key in FIELDS:
        wrong = 5 if field_type(kind, key) in ("string", "array", "object", "") else "x"
        outcome = judge_all(with_field(kind, key, wrong))[platform]
        if "metadata" not in kind and outcome.kind is VerdictKind.ACCEPTS:
            found.add((kind, key))
    assert found == PASSED_OVER[platform]
