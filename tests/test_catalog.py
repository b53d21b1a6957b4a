"""A catalog as platforms understand it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.catalog import Catalog, parse_date
from tests.folders import catalogs_folder

KEYS = ["services", "plans", "id", "name", "tags", "metadata", "schemas", "service_instance", "create", "parameters"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_object_is_accepted(data: dict[str, Any]) -> None:
    catalog = Catalog.of({"services": [data], **data})
    for service in catalog.services:
        assert isinstance(service.name, str)
        assert isinstance(service.metadata, dict)
    for plan in catalog.plans:
        assert isinstance(plan.free, bool)
        assert set(plan.parameters) <= {"service_instance.create", "service_instance.update", "service_binding.create"}


@pytest.mark.parametrize(("service", "plan", "effective"), [
    ({}, {}, (True, False, False)),
    ({"bindable": True, "plan_updateable": True}, {}, (True, True, True)),
    ({"bindable": True}, {"bindable": False, "free": False}, (False, False, False)),
    ({"plan_updateable": False}, {"plan_updateable": True, "bindable": True}, (True, True, True)),
    ({"bindable": "yes"}, {"free": "no", "bindable": None}, (True, False, False)),
])  # fmt: skip
def test_effective_values(service: dict[str, Any], plan: dict[str, Any], effective: tuple[bool, bool, bool]) -> None:
    (found,) = Catalog.of({"services": [{**service, "plans": [plan]}]}).plans
    assert (found.free, found.bindable, found.plan_updateable) == effective


def test_a_date_has_one_form() -> None:
    forms = "2027-03-31", "2027-W13-3", "20270331", "2027-02-30", " 2027-3-31"
    assert [bool(parse_date(form)) for form in forms] == [True, False, False, False, False]


def test_a_whole_catalog() -> None:
    data = json.loads((catalogs_folder() / "interface-example.json").read_text(encoding="utf-8"))
    catalog = Catalog.of(data)
    (service,) = catalog.services
    assert (service.name, service.tags, service.path) == ("message-queue", ("messaging", "amqp"), ("services", 0))
    assert [plan.name for plan in catalog.plans] == ["shared", "dedicated"]
    assert [plan.path for plan in catalog.plans] == [("services", 0, "plans", 0), ("services", 0, "plans", 1)]
    assert service.data is data["services"][0]


def test_values_of_wrong_types_are_skipped_and_paths_stay_correct() -> None:
    (service,) = Catalog.of({"services": [None, {"name": 5, "tags": ["a", 1], "plans": ["x", {"name": "p"}]}]}).services
    assert (service.name, service.tags, service.path) == ("", ("a",), ("services", 1))
    assert service.plans[0].path == ("services", 1, "plans", 1)
