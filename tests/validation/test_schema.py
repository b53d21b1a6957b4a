"""The JSON Schemas of the API versions, and messages of their violations."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.fields import CONVENTIONS, PARTS, field_schemas, is_newer_field, load_schema
from osbctl.findings import Fix, Severity
from osbctl.paths import JsonPath, value_at
from osbctl.platforms import ApiVersion
from osbctl.platforms.verdict import judge_all
from osbctl.sources.read_bytes import MAX_DEPTH
from osbctl.validation.options import MAX_FINDINGS
from osbctl.validation.pipeline import schema_findings
from osbctl.validation.schema_errors import _BREAKS, find_faults
from osbctl.validation.user_schema import error_sentences
from tests.case import case
from tests.corpus import needs_corpus, records
from tests.fixes import generated
from tests.folders import catalogs_folder, schemas_folder
from tests.fragments import changed, places, validated

SCHEMAS = {v: json.loads((schemas_folder() / f"catalog-{v}.json").read_text(encoding="utf-8")) for v in ApiVersion}
GOOD: dict[str, Any] = json.loads((catalogs_folder() / "interface-example.json").read_text(encoding="utf-8"))


def test_a_catalog_whose_ids_are_still_to_be_made_is_one_error() -> None:
    """SAP's @sap/sbf: gen-catalog-ids fills in what is missing or empty, and changes no id that is there."""
    plans: list[dict[str, Any]] = [{"name": "a", "description": "A."}, {"name": "b", "description": "B."}]
    data = {"services": [{"name": "s", "description": "S.", "bindable": True, "plans": plans}]}
    (error,) = validated(data).errors
    assert error.message.startswith("3 service offerings and plans have no id")
    assert "gen-catalog-ids of @sap/sbf" in error.hint
    plans[0]["id"] = "x"
    found = validated(data)
    assert len(found.errors) == 2
    assert not any("sap" in one.hint for one in found.findings)


PLAN: dict[str, Any] = {"id": "p1", "name": "small", "description": "Small."}
SERVICE: dict[str, Any] = {"id": "s1", "name": "db", "description": "A database.", "bindable": True, "plans": [PLAN]}

ROOT = Path(__file__).parents[2]
DB, SMALL = "service 'db': ", "plan 'small': "
REQUIRES = '"syslog_drain", "route_forwarding", "volume_mount"'


def service(**fields: Any) -> dict[str, Any]:
    return {"services": [{**SERVICE, **fields}]}


def plan(**fields: Any) -> dict[str, Any]:
    return service(plans=[{**PLAN, **fields}])


def messages(data: dict[str, Any], version: ApiVersion = ApiVersion.V2_17) -> list[str]:
    return [f"{finding.rule}: {finding.message}" for finding in schema_findings(data, version)[0]]


FIELDS = {
    "service": {
        "2.13": "name id description tags requires bindable metadata dashboard_client plan_updateable plans",
        "2.14": "instances_retrievable bindings_retrievable",
        "2.15": "allow_context_updates",
    },
    "plan": {
        "2.13": "id name description metadata free bindable schemas",
        "2.15": "plan_updateable maximum_polling_duration maintenance_info",
        "2.17": "binding_rotatable",
    },
}


@pytest.mark.parametrize("version", list(ApiVersion))
@pytest.mark.parametrize("kind", ["service", "plan"])
def test_fields_of_each_version(kind: str, version: ApiVersion) -> None:
    expected = {field for since, fields in FIELDS[kind].items() if since <= version for field in fields.split()}
    assert set(SCHEMAS[version]["definitions"][kind]["properties"]) == expected


def properties(schema: Any) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(schema, list):
        return [found for item in schema for found in properties(item)]
    if not isinstance(schema, dict):
        return []
    own = list(schema["properties"].items()) if isinstance(schema.get("properties"), dict) else []
    return own + [found for value in schema.values() for found in properties(value)]


@pytest.mark.parametrize("version", list(ApiVersion))
def test_shipped_schemas_are_valid_described_and_stand_alone(version: ApiVersion) -> None:
    schema = SCHEMAS[version]
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["$id"] == f"urn:osbctl:catalog:{version}"
    text = json.dumps(schema)
    assert text.count('"$ref": "#/definitions/') == text.count('"$ref"')
    assert len(properties(schema)) > 30
    for name, inner in properties(schema):
        assert inner.get("title"), name
        assert inner.get("description", "").endswith("."), name
        assert "`" not in inner["description"], name


def test_shipped_schemas_are_what_the_table_makes() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools/make_schemas.py", "--check"], capture_output=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", list(ApiVersion))
def test_a_good_catalog_has_no_fault(version: ApiVersion) -> None:
    assert messages(GOOD, version) == []
    assert messages({"services": []}, version) == []
    assert messages(service(unknown=[1]), version) == []


@pytest.mark.parametrize(("data", "expected"), [
    ({}, ["schema-required: services is missing"]),
    ({"services": 1}, ["schema-type: services must be an array, not 1"]),
    ({"services": ["x"]}, ['schema-type: item 1 of services must be an object, not the string "x"']),
    (service(bindable="yes"), [f'schema-type: {DB}bindable must be a boolean, not the string "yes"']),
    (service(tags="http://u:hunter2@h"), [f'schema-type: {DB}tags must be an array, not the string "http://***@h"']),
    (service(name=""), ["schema-empty: service /services/0: name must not be empty"]),
    (service(plans=[]), [f"schema-empty: {DB}plans must not be empty"]),
    (service(requires=["x"]), [f'schema-enum: {DB}item 1 of requires must be one of {REQUIRES}, not the string "x"']),
    (service(tags=[{}]), [f"schema-type: {DB}item 1 of tags must be a string, not an object"]),
    (service(metadata={"displayName": []}), [f"metadata-type: {DB}displayName must be a string, not an array"]),
    (plan(free=None), [f"null-object: {DB}{SMALL}free must be a boolean, not null"]),
    (plan(description=None), [f"schema-type: {DB}{SMALL}description must be a string, not null"]),
    (service(plans=[{"name": "a"}]),
        [f"schema-required: {DB}plan 'a': {field} is missing" for field in ("description", "id")]),
    (plan(maintenance_info={}), [f"schema-required: {DB}{SMALL}maintenance_info.version is missing"]),
    (plan(maintenance_info={"version": "1.0.0", "description": 4}),
        [f"schema-type: {DB}{SMALL}maintenance_info.description must be a string, not 4"]),
    (service(dashboard_client={}),
        [f"schema-required: {DB}dashboard_client.{field} is missing" for field in ("id", "secret")]),
    (service(plans=[{**PLAN, "name": 8}]), [f"schema-type: {DB}plan /services/0/plans/0: name must be a string, not 8"]),
    (service(plans=[{**PLAN, "name": "", "id": 7}]),
        [f"schema-{rule} {DB}plan /services/0/plans/0: {text}" for rule, text in
            (("empty:", "name must not be empty"), ("type:", "id must be a string, not 7"))]),
    ({"services": [{**GOOD["services"][0], "name": 8, "plans": [{**PLAN, "free": 3}]}]},
        [f"schema-type: service /services/0: {text}" for text in
            ("name must be a string, not 8", f"{SMALL}free must be a boolean, not 3")]),
    (service(plans=[PLAN, {}]),
        [f"schema-required: {DB}plan /services/0/plans/1: {field} is missing" for field in ("description", "id", "name")]),
    (plan(metadata={"costs": [{"amount": {"usd": 1}, "unit": 3}]}),
        [f"metadata-type: {DB}{SMALL}unit of item 1 of costs must be a string, not 3"]),
    (plan(schemas={"service_instance": {"create": 1}}),
        [f"schema-type: {DB}{SMALL}schemas.service_instance.create must be an object, not 1"]),
    (service(description=["\x1b[31m"]), [f"schema-type: {DB}description must be a string, not an array"]),
    (service(bindable="\u202e" + "x" * 99),
        [f'schema-type: {DB}bindable must be a boolean, not the string "\\u202e{"x" * 50}…']),
])  # fmt: skip
def test_messages(data: dict[str, Any], expected: list[str]) -> None:
    assert sorted(messages(data)) == expected


@pytest.mark.parametrize(("data", "hint"), [
    (service(bindable="False"), "write false, without quotes"),
    (service(bindable="on"), "write true, without quotes"),
    (service(name=5), "put it in quotes"),
    (service(plans={"small": PLAN}), "write a list, the key of each entry as its name"),
    (service(plans=PLAN), "put the entry into a list"),
    ({"services": {}}, "write an empty list: []"),
    (service(plans={}), "write a list with a plan in it"),
    (service(plans={"0": PLAN, "1": PLAN}), "write a list of the values, without 0, 1 and so on"),
    (service(tags={"0": "a", "1": "b"}), "write a list of the values, without 0, 1 and so on"),
    (plan(metadata={"bullets": {"1": "a", "2": "b"}}), "write a list of the values, without 0, 1 and so on"),
    (service(requires={"5": "syslog_drain"}), "put the entry into a list"),
    (service(plans=["name:small"]), "a space is missing behind the colon"),
    (service(requires=["syslog-drain"]), "did you mean syslog_drain?"),
    (service(requires=["syslog"]), "did you mean syslog_drain?"),
    (plan(metadata={"costs": [{"amount": "$9.50"}]}), "write each amount under its currency, such as {usd: 9.5}"),
    (plan(metadata={"costs": [{"amount": {"usd": "9,5"}}]}), "write the number alone, such as 9.5"),
    (service(tags="a, b"), 'write a list: ["a", "b"]'),
    (service(tags="a"), "write a list, even of a single entry"),
    (plan(metadata={"costs": [{"amount": {"usd": "9.99"}}]}), "write a number, without quotes"),
    (plan(metadata={"costs": [{"amount": {"usd": "[" * 60_000}}]}), "write the number alone, such as 9.5"),
    (service(dashboard_client={"secret": "x"}), ""),
    (plan(maintenance_info={}), "leave maintenance_info out, or fill it in"),
    (service(tags=None), "leave it out"),
    (service(bindable=None), "write true or false"),
    (service(bindable="perhaps"), "write true or false"),
    (plan(name=None), "name it as users should type it"),
    (plan(metadata={"bullets": [{"a": 1}]}), "write each as one text, in quotes if it has a colon"),
    (service(dashboard_client={"id": "a", "redirect_uri": "https://a.b", "secret": ""}), "write a secret, or leave dashboard_client out"),
    (plan(schemas={"service_instance": {"create": {"parameters": "e30="}}}), "write the schema itself, an object"),
    (plan(id=None), "write a GUID; once published, it never changes"),
    (service(plans=[{"name": "a", "description": "x"}]), "write a GUID; once published, it never changes"),
    (service(bindable=[]), "write true or false"),
    (service(plans=[]), "a service offering needs a plan"),
    (plan(description=""), "describe it to users in a sentence"),
    (service(plans=[{key: PLAN[key] for key in PLAN if key != "description"}]), "describe it to users in a sentence"),
])  # fmt: skip
def test_hints(data: dict[str, Any], hint: str) -> None:
    assert [finding.advice for finding in schema_findings(data, ApiVersion.V2_14)[0]] == [hint]


KEYS = st.sampled_from(["id", "name", "plans", "metadata", "costs", "version", "create", "parameters", "services"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def is_valid_everywhere(data: Any, version: ApiVersion = ApiVersion.V2_17) -> bool:
    """Return whether `data` is valid; both engines and the messages must agree."""
    good = jsonschema.Draft7Validator(SCHEMAS[version]).is_valid(data)
    assert jsonschema_rs.Draft7Validator(SCHEMAS[version], validate_formats=False).is_valid(data) == good
    found = schema_findings(data, version)[0]
    assert ([one for one in found if not is_newer_field(one.path, version)] == []) == good
    return good


@pytest.mark.fuzz
@given(st.lists(st.tuples(st.sampled_from(places(GOOD)[1:]), JSON), max_size=3))
def test_the_two_engines_agree(grafts: list[tuple[tuple[str | int, ...], Any]]) -> None:
    data: Any = GOOD
    for path, value in grafts:
        with contextlib.suppress(KeyError, IndexError, TypeError):  # an earlier graft took the place away
            data = changed(data, path, value)
    for version in ApiVersion:
        is_valid_everywhere(data, version)


def test_the_two_engines_agree_on_numbers_and_take_formats_as_notes() -> None:
    for good, durations in ((True, (1.0, -0.0, 1e300, 2**64, 10**400)), (False, (1.5, True))):
        for duration in durations:
            assert is_valid_everywhere(plan(maximum_polling_duration=duration)) == good, duration
    for url in ("", "no address", "http://[", "http://a b"):
        assert is_valid_everywhere(service(metadata={"imageUrl": url, "supportUrl": url})), url


@needs_corpus
def test_the_two_engines_agree_on_recorded_mutations() -> None:
    catalogs = [mutation["catalog"] for mutation in records("cloudfoundry-mutations")]
    answers = [is_valid_everywhere(*pair) for pair in zip(catalogs[::30], cycle(ApiVersion))]
    assert len(set(answers)) == 2


def test_a_valid_catalog_never_loads_the_explanation() -> None:
    data = service(metadata={"imageUrl": "no address"})
    code = (
        "import sys; from osbctl.platforms import ApiVersion; from osbctl.validation.pipeline import schema_findings;"
        f"print(schema_findings({data!r}, ApiVersion.V2_14)[0], 'jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[] False\n"


def test_findings_are_capped() -> None:
    found = schema_findings({"services": [{}] * MAX_FINDINGS}, ApiVersion.V2_14)[0]
    assert len(found) == MAX_FINDINGS + 1
    assert (found[-1].rule, found[-1].severity) == ("schema-other", Severity.ERROR)
    assert found[-1].message == "more than 1000 errors of the schema; the rest is omitted"


def test_many_warnings_hide_no_error() -> None:
    bullets = {**PLAN, "metadata": {"bullets": [0] * (MAX_FINDINGS + 1)}}
    found = schema_findings(service(plans=[bullets, {**PLAN, "free": 0}]), ApiVersion.V2_14)[0]
    assert [f.path for f in found if f.severity is Severity.ERROR] == [("services", 0, "plans", 1, "free")]
    assert sum(f.severity is Severity.WARNING for f in found) == MAX_FINDINGS + 1
    assert found[-1].message == "more than 1000 warnings of the schema; the rest is omitted"


def test_what_is_wrong_thirty_thousand_times_is_passed_over_quickly() -> None:
    data = plan(metadata={"bullets": [0] * 30_000, "costs": [{"unit": 0}] * 30_000}, free=0)
    start = time.process_time()
    found = schema_findings(data, ApiVersion.V2_17)[0]
    assert time.process_time() - start < 5
    assert [f.rule for f in found if f.severity is Severity.ERROR] == ["schema-type"]


def nested(depth: int) -> dict[str, Any]:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return {"a": value}


def test_deep_nesting_is_judged_all_the_same() -> None:
    assert messages(service(metadata=nested(MAX_DEPTH))) == []
    deep = service(metadata=nested(MAX_DEPTH), bindable=None)
    assert messages(deep) == [f"schema-type: {DB}bindable must be a boolean, not null"]


@pytest.mark.parametrize("version", ApiVersion)
def test_our_walk_says_what_jsonschema_rs_says(version: ApiVersion) -> None:
    schema = SCHEMAS[version]
    validator = jsonschema_rs.Draft7Validator(schema, validate_formats=False)
    for number in range(60):
        data = generated.catalog(Random(number))
        ours = [(fault.path, str(fault.sentence)) for fault in find_faults(data, schema, schema["definitions"])]
        errors = validator.iter_errors(data)
        assert sorted(ours) == sorted((path, str(said)) for one in errors for path, said in error_sentences(one, data))


def test_what_our_walk_does_not_find_is_an_error_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("osbctl.validation.schema_errors._BREAKS", {})
    (finding,) = schema_findings(plan(free=0), ApiVersion.V2_17)[0]
    assert (finding.severity, finding.message) == (Severity.ERROR, "the schema of API version 2.17 refuses the catalog")


@pytest.mark.parametrize("version", ApiVersion)
def test_our_walk_knows_every_keyword_of_the_schema(version: ApiVersion) -> None:
    walked = {"$ref", "allOf", "items", "properties", "additionalProperties", "required", *_BREAKS}
    notes = {"$schema", "$id", "title", "description", "default", "examples", "format", "definitions"}
    todo: list[Any] = [SCHEMAS[version]]
    while todo:
        schema = todo.pop()
        assert schema.keys() <= walked | notes
        assert len(schema.get("allOf", [{}])) == 1
        assert schema.get("minLength", 1) == 1  # whatever is not empty is long enough
        todo += [*schema.get("allOf", ()), *(schema[key] for key in ("items", "additionalProperties") if key in schema)]
        todo += [inner for key in ("properties", "definitions") for inner in schema.get(key, {}).values()]


def null_fields(kind: str, value: dict[str, Any], where: JsonPath) -> Iterator[JsonPath]:
    """The paths of all known fields of an object of that kind, and of those inside it."""
    for field in field_schemas(kind, ApiVersion.V2_17):
        yield (*where, field)
        inner, part = value.get(field), PARTS.get(kind, {}).get(field)
        if part and isinstance(inner, dict):
            yield from null_fields(part, inner, (*where, field))


def test_a_null_is_an_error_only_where_it_is_required_or_a_platform_refuses_it() -> None:
    client = {"id": "c", "secret": "s", "redirect_uri": "https://example.com"}
    info = {"version": "1.0.0", "description": "d"}
    schemas = {"service_instance": {"create": {}, "update": {}}, "service_binding": {"create": {}}}
    whole = service(dashboard_client=client, metadata={}, plans=[PLAN | {"maintenance_info": info, "schemas": schemas}])
    offering = whole["services"][0]
    paths = [*null_fields("service", offering, ("services", 0))]
    paths += null_fields("plan", offering["plans"][0], ("services", 0, "plans", 0))
    assert len(paths) > 40
    left_out = ("tags", "requires", "bindings_retrievable", "instances_retrievable", "allow_context_updates")
    for path in paths:
        with case(path):
            data = json.loads(json.dumps(whole))
            value_at(data, path[:-1])[path[-1]] = None
            found = [one for one in schema_findings(data, ApiVersion.V2_17)[0] if one.path == path]
            refused = any(outcome.refusals for outcome in judge_all(data).values())
            if "metadata" in path[:-1] and path[-1] in CONVENTIONS:
                continue
            (finding,) = found
            required = load_schema(ApiVersion.V2_17)["definitions"][kind_of(path)]["required"] if kind_of(path) else []
            assert (finding.severity is Severity.ERROR) == (refused or path[-1] in required)
            if path[-1] in left_out or finding.severity is Severity.INFO:
                assert (finding.hint, finding.fixes) == ("leave it out", (Fix("remove", path, safe=True),))
            del value_at(data, path[:-1])[path[-1]]
            assert path[-1] not in left_out or not any(one.refusals for one in judge_all(data).values())


def kind_of(path: JsonPath) -> str:
    """The kind of the object around the value at `path`, if it requires anything."""
    holder = path[-2]
    if isinstance(holder, int):
        return "plan" if "plans" in path else "service"
    return str(holder) if holder in ("dashboard_client", "maintenance_info") else ""
