"""Sources that hold no catalog: the message names the kind of file, and the hint what to do."""

import json
from typing import Any

import pytest

from osbctl.findings import DocumentError, Finding
from osbctl.platforms import ApiVersion
from osbctl.sources.catalogs import has_service_offering, parse_catalog, require_services
from osbctl.sources.document import parse_document
from osbctl.validation.pipeline import schema_findings
from tests.case import each

_PLAN: dict[str, Any] = {"id": "p", "name": "small", "description": "Small."}
_OFFERING: dict[str, Any] = {"id": "s", "name": "db", "description": "A database.", "bindable": True}


def _error(text: str, name: str) -> Finding:
    with pytest.raises(DocumentError) as raised:
        parse_catalog(text, name)
    (finding,) = raised.value.findings
    return finding


@each("field, value", [
    ("free", False), ("schemas", {}), ("maintenance_info", {"version": "1.0.0"}), ("maximum_polling_duration", 60),
    ("binding_rotatable", True),
])  # fmt: skip
def test_a_plan_alone_is_called_a_plan(field: str, value: Any) -> None:
    plan = {**_PLAN, "bindable": True, field: value}
    for whole in (plan, [plan], {"plans": [plan]}, {"plans": [_PLAN]}):
        finding = _error(json.dumps(whole), "plan.json")
        assert finding.rule == "no-catalog"
        assert "without a service offering" in finding.message
        assert "`plans`" in finding.hint


@each("whole", [
    _OFFERING, {**_OFFERING, "plans": []}, {**_OFFERING, "free": True, "plans": [_PLAN]}, [_OFFERING],
    {"services": [{**_OFFERING, "free": True}]}, {**_OFFERING, "tags": ["a"]},
])  # fmt: skip
def test_a_service_offering_stays_one(whole: Any) -> None:
    assert parse_catalog(json.dumps(whole), "offering.json").data["services"][0]["name"] == "db"


def test_a_plan_alone_is_no_service_offering_for_the_editor() -> None:
    for value, wanted in ((_OFFERING, True), ({**_PLAN, "bindable": True, "free": True}, False)):
        assert has_service_offering(parse_document(json.dumps(value).encode(), "x.json")) is wanted


_GO = 'package main\n\nfunc main() {\n\tprintln("services: []")\n}\n'
_JAVA = "public class Catalog {\n  String services;\n}\n"
_MARKDOWN = "# Services\n\nSome text: this\n- plans\n* bindable\n"
_LINK = "[![build](a)](b)\n\nplans: see below\n"
_PROPERTIES = "spring.cloud.openservicebroker.catalog.services[0].id=x\n"


@each("name, text, kind", [
    ("main.go", _GO, "source code"), ("Catalog.java", _JAVA, "source code"), ("MAIN.GO", _GO, "source code"),
    ("README.md", _MARKDOWN, "a text for readers"), ("README.md", _LINK, "a text for readers"),
    ("README.md", "name: a\n", "a text for readers"), ("app.properties", _PROPERTIES, "a file of properties"),
    ("app.properties", "a: 1\n", "a file of properties"), ("main.tf", 'resource "x" "y" {\n}\n', "neither JSON nor YAML"),
])  # fmt: skip
def test_another_kind_of_file_gets_no_advice_on_yaml(name: str, text: str, kind: str) -> None:
    finding = _error(text, name)
    assert (finding.rule, finding.message) == ("no-catalog", f"there is no catalog here: this is {kind}")
    assert "osbctl fetch URL" in finding.hint
    assert str(finding.location) == f"{name}:1:1"


def test_a_catalog_is_read_whatever_its_file_is_called() -> None:
    for name in ("catalog.md", "catalog.go", "catalog.txt", "catalog"):
        assert parse_catalog(json.dumps({"services": [_OFFERING]}), name).data == {"services": [_OFFERING]}
    for name, text in (("catalog.txt", "services: [\n"), ("catalog.go", '{"services": [}')):
        assert _error(text, name).rule == "syntax"


def test_a_catalog_below_the_top_is_named_by_its_pointer() -> None:
    data = {"catalog": {"services": [_OFFERING]}}
    document = parse_document(json.dumps(data).encode(), "answer")
    with pytest.raises(DocumentError) as raised:
        require_services(document)
    assert raised.value.findings[0].hint == "the catalog is the object at /catalog: let it be the whole document"
    (finding,) = schema_findings({"data": data}, ApiVersion.V2_14)[0]
    assert (finding.rule, finding.message) == ("schema-required", "services is missing")
    assert finding.hint == "the catalog is the object at /data/catalog: let it be the whole document"
    assert schema_findings({"data": {"services": 1}}, ApiVersion.V2_14)[0][0].hint == ""
    assert "/catalog has no service offering" in _error('{"catalog": {"services": []}}', "a.json").message
