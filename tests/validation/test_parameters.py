"""References and metaschemas of parameter schemas, case by case."""

from typing import Any

import jsonschema
import pytest

from osbctl.findings import Finding
from osbctl.jsonschemas.dialects import DRAFTS
from osbctl.jsonschemas.sentences import metaschema_errors
from osbctl.paths import JsonPath, subschemas
from osbctl.validation.rules.parameters import MISSING, OUTSIDE, References
from tests.corpus import EVERY_CASE
from tests.fragments import DRAFT_04, validated, with_schema

D7 = "http://json-schema.org/draft-07/schema#"
D2020 = "https://json-schema.org/draft/2020-12/schema"
ROOT = "https://example.com/root.json"


def test_subschemas_are_where_schemas_may_stand() -> None:
    schema = {
        "enum": [{"not": "one"}],
        "default": {"not": "one"},
        "properties": {"$ref": {"items": [{"title": "a"}, [{"title": "b"}]]}, "c": True},
        "x-unknown": {"title": "d"},
    }
    assert [place.path for place in subschemas(schema)] == [
        (),
        ("properties", "$ref"),
        ("properties", "$ref", "items", 0),
        ("properties", "$ref", "items", 1, 0),
        ("x-unknown",),
    ]


@pytest.mark.parametrize(("schema", "expected"), [
    ({"$ref": "#/definitions/a", "definitions": {"a": {"title": "it"}}}, {"title": "it"}),
    ({"$ref": "#/definitions/a~1b~0c%20d", "definitions": {"a/b~c d": {"title": "it"}}}, {"title": "it"}),
    ({"$ref": "#/allOf/1", "allOf": [{}, {"title": "it"}]}, {"title": "it"}),
    ({"$ref": "#/allOf/2", "allOf": [{}, {}]}, MISSING),
    ({"$ref": "#/allOf/" + "9" * 5_000, "allOf": [{}]}, MISSING),
    ({"$ref": "#/title/a", "title": "text"}, MISSING),
    ({"$ref": "#/definitions/a", "definitions": {"a": None}}, None),
    ({"$ref": "#/definitions/b"}, MISSING),
    ({"$ref": "#a"}, MISSING),
    ({"$schema": DRAFT_04, "$ref": "#a", "definitions": {"x": {"id": "#a"}}}, {"id": "#a"}),
    ({"$schema": D7, "$ref": "#a", "definitions": {"x": {"$id": "#a"}}}, {"$id": "#a"}),
    ({"$schema": D7, "$ref": "#a", "definitions": {"x": {"id": "#a"}}}, MISSING),
    ({"$schema": D2020, "$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}, {"$anchor": "a"}),
    ({"$schema": D2020, "$ref": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, {"$dynamicAnchor": "a"}),
    ({"$ref": "https://example.com/a"}, OUTSIDE),
    ({"$ref": "file.json#/a"}, OUTSIDE),
    ({"$ref": "http://["}, OUTSIDE),
    ({"$schema": D2020, "$dynamicRef": "https://example.com/a"}, OUTSIDE),
    ({"$schema": D2020, "$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, {"$dynamicAnchor": "a"}),
    ({"$id": ROOT, "$ref": f"{ROOT}#/definitions/a", "definitions": {"a": {"title": "it"}}}, {"title": "it"}),
    ({"$id": ROOT, "$ref": "root.json#/definitions/a", "definitions": {"a": {"title": "it"}}}, {"title": "it"}),
    ({"$id": ROOT, "$ref": "root.json#/definitions/b"}, MISSING),
    ({"$id": ROOT, "$ref": "a.json", "definitions": {"a": {"$id": "a.json"}}}, {"$id": "a.json"}),
    ({"$id": ROOT, "$ref": "a.json#/x", "definitions": {"a": {"$id": "a.json"}}}, MISSING),
    ({"$id": "urn:a", "$ref": "urn:b", "definitions": {"b": {"$id": "urn:b"}}}, {"$id": "urn:b"}),
])  # fmt: skip
def test_target(schema: dict[str, Any], expected: Any) -> None:
    references = References(schema)
    assert [references.resolve(*place) for place in references.all] == [expected]


def test_a_pointer_starts_at_the_schema_with_an_id_around_it() -> None:
    inner = {"$id": "https://example.com/a", "$ref": "#/$defs/b", "$defs": {"b": {"title": "it"}}}
    references = References({"$schema": D2020, "properties": {"a": inner}, "$defs": {"b": {"title": "not this"}}})
    assert [references.resolve(*place) for place in references.all] == [{"title": "it"}]
    schema = {"properties": {"a": {"$ref": "#"}, "b": {"$ref": ""}}}
    references = References(schema)
    assert [references.resolve(*place) is schema for place in references.all] == [True, True]


@pytest.mark.parametrize(("schema", "expected"), [
    ({"$ref": "#"}, [()]),
    ({"properties": {"a": {"$ref": "#"}}}, []),
    ({"items": {"$ref": "#"}}, []),
    ({"allOf": [{"$ref": "#"}]}, [("allOf", 0)]),
    ({"if": {"not": {"$ref": "#"}}}, [("if", "not")]),
    ({"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}}, [("definitions", "a")]),
    ({"oneOf": [{"$ref": "#/definitions/a"}], "definitions": {"a": {"$ref": "#/definitions/a"}}},
        [("definitions", "a")]),
    ({"definitions": {"a": {"$ref": "#/definitions/a"}, "b": {"$ref": "#/definitions/b"}}},
        [("definitions", "a"), ("definitions", "b")]),
    ({"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/c"}, "c": {}}}, []),
    ({"anyOf": [{"$ref": "#/definitions/a"}, {"$ref": "#/definitions/a"}], "definitions": {"a": {}}}, []),
    ({"$schema": D7, "$ref": "#a", "definitions": {"a": {"$id": "#a"}}}, []),
])  # fmt: skip
def test_loops(schema: dict[str, Any], expected: list[tuple[str | int, ...]]) -> None:
    assert [place.path for place in References(schema).find_loops()] == expected


VALUES: list[Any] = [[], [1, 1], [1, 1.0], [1, True], ["a", "a"], [{}, {}], ["object"], {}, True, 1, -1, "nope", None]
VALUES += [{"a": []}, {"a": ["b", "b"]}, {"a": {"enum": []}}, {"a": {"enum": [[1], [1]]}}, [{"type": "int"}]]
KEYWORDS = "enum required type properties items allOf dependencies definitions minimum maxLength exclusiveMinimum"
KEYWORDS += " patternProperties not uniqueItems title const additionalProperties prefixItems $defs extends $ref"
PAIRS = [(keyword, value) for keyword in KEYWORDS.split() for value in VALUES]


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", DRAFTS)
def test_no_fault_is_told_or_missed_against_jsonschema(dialect: str) -> None:
    """In `make test` each pair of a keyword and a value is in the schema of one draft, in `make fuzz` of each."""
    pairs = PAIRS if EVERY_CASE else PAIRS[[*DRAFTS].index(dialect) :: len(DRAFTS)]
    draft = getattr(jsonschema, DRAFTS[dialect].validator)
    authority = draft(draft.META_SCHEMA)
    differing = []
    for keyword, value in pairs:
        schema = {"$schema": dialect, keyword: value}
        wanted = [tuple(error.absolute_path) for error in authority.iter_errors(schema)]
        told = list(metaschema_errors(schema, DRAFTS[dialect]))
        assert len(set(told)) == len(told)
        # The authority names the value for which no schema of a choice fits; the fault may be deeper in it.
        starts = {path[: len(outer)] for path, _ in told for outer in wanted if path[: len(outer)] == outer}
        is_told = all(any(path[: len(outer)] == outer for outer in wanted) for path, _ in told)
        if starts != set(wanted) or not is_told:
            differing.append((keyword, value))
    assert differing == []


@pytest.mark.parametrize(("items", "expected"), [
    ([{"a": i} for i in range(500)], []),
    ([*range(500), {}], []),
    ([*range(500), 0.0], [("properties", "b", "enum")]),
    ([*range(500), False], []),
    ([*({"a": [i, {}]} for i in range(500)), {"a": [7.0, {}]}], [("properties", "b", "enum")]),
])  # fmt: skip
def test_a_long_enum(items: list[Any], expected: list[Any]) -> None:
    schema = {"properties": {"b": {"enum": items}}}
    assert fault_paths(schema) == expected
    assert fault_paths({**schema, "title": 1}) == [*expected, ("title",)]


def fault_paths(schema: dict[str, Any]) -> list[JsonPath]:
    """The places of what is wrong in a schema of draft-04."""
    return [path for path, _ in metaschema_errors({"$schema": DRAFT_04, **schema}, DRAFTS[DRAFT_04.rstrip("#")])]


def test_half_a_surrogate_pair_is_no_fault() -> None:
    schema = {"title": "\ud800", "properties": {"a": {"enum": ["\udfff"], "type": "int"}}}
    assert fault_paths(schema) == [("properties", "a", "type")]


def test_a_fault_in_a_part_is_told_where_the_part_alone_would_pass() -> None:
    for outer, name, keyword in (("properties", "a", "$schema"), ("dependencies", "properties", "required")):
        schema = {"properties": {"b": {}}, outer: {name: {keyword: {}}, "c": {"type": "string"}}}
        assert [path[:2] for path in fault_paths(schema)] == [(outer, name)]


def keyword_findings(**schema: Any) -> list[Finding]:
    return [finding for finding in validated(with_schema(**schema)).findings if finding.rule == "parameters-keyword"]


def test_a_container_of_definitions_is_no_misspelt_reference() -> None:
    for key in ("$def", "ref", "$refs"):
        assert keyword_findings(**{key: {"s": {"type": "string"}}}, properties={"a": {"$ref": f"#/{key}/s"}}) == []
    assert [finding.fixes != () for finding in keyword_findings(properties={"a": {"$reff": "#/b"}})] == [True]


@pytest.mark.parametrize(("key", "reference"), [
    ("patternPropertie", "#/patternPropertie"), ("patternPropertie", "#/patternPropertie/a/items"), ("dependencie", "#/dependencie/a"),
    ("patternPropertie", "#/patternPropertie/a~1b"), ("patternPropertie", "#/patternPropertie/a%7E1b"),
])  # fmt: skip
def test_a_keyword_that_a_reference_goes_through_is_not_renamed(key: str, reference: str) -> None:
    inner = {"a": {"type": "array", "items": {"type": "string"}}, "a/b": {"type": "string"}}
    [named] = keyword_findings(**{key: inner}, properties={"x": {"$ref": reference}})
    assert named.fixes == ()
    assert named.hint.endswith(", in the references through it, too")
    [free] = keyword_findings(**{key: inner}, properties={"x": {"$ref": "#/properties/y"}, "y": {}})
    assert free.fixes != ()


def test_schemas_that_differ_in_a_title_have_each_their_own_size() -> None:
    """Both titles have the same length as escaped JSON; the bytes of UTF-8 count."""
    small, large = (with_schema(title=text) for text in ("ä" * 11_000, "a" * 66_000))
    small["services"][0]["plans"] += large["services"][0]["plans"]
    too_large = [finding.path for finding in validated(small).findings if finding.rule == "parameters-too-large"]
    assert [path[:4] for path in too_large] == [("services", 0, "plans", 1)]
