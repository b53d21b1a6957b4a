"""User schemas: messages of violations, and no traceback for any schema."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.errors import ConfigError
from osbctl.findings import Severity
from osbctl.validation.options import MAX_FINDINGS
from osbctl.validation.user_schema import check_user_schema
from tests.fragments import DRAFT_04

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DATA: dict[str, Any] = {"services": [{"name": "db", "size": 5, "tags": ["a", "a"], "metadata": {"x": 1}, "8080": "a"}]}


def service_schema(**keywords: Any) -> dict[str, Any]:
    return {"properties": {"services": {"items": keywords}}}


def field_schema(field: str, **keywords: Any) -> dict[str, Any]:
    return service_schema(properties={field: keywords})


AT_LEAST_2 = "must have at least 2 characters, not 1"


def messages(house: Any) -> list[str]:
    """Each message, and where in the service offering it points, without what all begin and end with."""
    found = check_user_schema(DATA, house, "house.json")
    assert all(finding.rule == "house-schema" and finding.severity is Severity.ERROR for finding in found)
    assert all(finding.path[:2] in ((), ("services", 0)) for finding in found)
    short = (finding.message.removeprefix("service 'db': ").removesuffix(" (house.json)") for finding in found)
    return [f"{'/'.join(map(str, f.path[2:]))}: {text}" for f, text in zip(found, short, strict=True)]


@pytest.mark.parametrize(("house", "expected"), [
    (False, ": the catalog holds what the schema does not allow: an object"),
    (service_schema(patternProperties={"^8": {"type": "null"}}), '8080: 8080 must be null, not the string "a"'),
    (service_schema(dependentRequired={"name": ["id"]}), "id: id is missing"),
    ({"$schema": DRAFT_07, **service_schema(dependencies={"name": ["id"], "size": True})}, "id: id is missing"),
    (service_schema(properties={"name": {}, "tags": {}}, patternProperties={"^[m8]": {}}, additionalProperties=False),
        "size: size is not allowed here"),
    (field_schema("size", **{"not": {}}), "size: size must not be what the schema rules out"),
    (service_schema(properties={"size": False}), "size: size holds what the schema does not allow: 5"),
    (field_schema("name", pattern="^x"), 'name: name must match the pattern "^x", not the string "db"'),
    (field_schema("name", minLength=3), "name: name must have at least 3 characters, not 2"),
    (field_schema("name", maxLength=1), "name: name must have at most 1 characters, not 2"),
    (field_schema("size", minimum=6), "size: size must be at least 6, not 5"),
    (field_schema("size", maximum=4), "size: size must be at most 4, not 5"),
    (field_schema("size", exclusiveMinimum=5), "size: size must be more than 5, not 5"),
    (field_schema("size", exclusiveMaximum=5), "size: size must be less than 5, not 5"),
    (field_schema("size", multipleOf=2), "size: size must be a multiple of 2, not 5"),
    (field_schema("size", const=6), "size: size must be 6, not 5"),
    (field_schema("size", enum=[6, "a"]), 'size: size must be one of 6, "a", not 5'),
    (field_schema("size", type=["string", "null"]), "size: size must be null or a string, not 5"),
    (field_schema("size", oneOf=[{}, {}]), "size: size must fit exactly one of the choices that the schema gives"),
    (field_schema("size", anyOf=[{"type": "string"}, {"minimum": 9}]), "size: size must be at least 9, not 5"),
    (field_schema("tags", minItems=3), "tags: tags must have at least 3 items, not 2"),
    (field_schema("tags", maxItems=1), "tags: tags must have at most 1 items, not 2"),
    (field_schema("tags", uniqueItems=True), "tags: tags must not hold the same item twice"),
    (field_schema("tags", contains={"const": "b"}), "tags: tags must hold an item like the one that the schema asks for"),
    (field_schema("metadata", minProperties=2), "metadata: metadata must have at least 2 fields, not 1"),
    (field_schema("metadata", propertyNames={"minLength": 2}), f"metadata/x: the name of a field {AT_LEAST_2}"),
])  # fmt: skip
def test_sentences(house: Any, expected: str) -> None:
    assert messages(house) == [expected]


def test_no_sentence_or_one_for_each_missing_field() -> None:
    assert messages(True) == []
    assert messages(service_schema(required=["it's", "id"])) == ["it's: it's is missing", "id: id is missing"]


def test_findings_are_capped() -> None:
    found = check_user_schema({"services": [0] * 2 * MAX_FINDINGS}, service_schema(type="string"), "house.json")
    assert len(found) == MAX_FINDINGS + 1
    assert found[-1].message == "more than 1000 errors of the schema; the rest is omitted"


@pytest.mark.parametrize(("house", "message"), [
    ([], "it is not an object"),
    ({"$schema": 5}, "not a valid schema at /$schema"),
    ({"$schema": "http://json-schema.org/draft-03/schema#"}, "draft-03 is not supported"),
    ({"type": "int"}, "not a valid schema at /type"),
    ({"$ref": 5}, "not a valid schema"),
    ({"properties": {"services": {"pattern": "("}}}, "not a valid schema"),
    ({"$schema": DRAFT_07, "items": 5}, "not a valid schema at /items"),
    ({"$ref": "#/nowhere"}, "a reference leads nowhere"),
    ({"$ref": "https://example.com/x.json"}, "a reference leads nowhere"),
    ({"$ref": "file:///etc/hosts"}, "a reference leads nowhere"),
    ({"$ref": "#/x", "x": {"type": "int"}}, "not a valid schema at /x/type"),
    ({"$ref": "#/x", "x": 5}, "not a valid schema at /x"),
    ({"$ref": "#/title/x", "title": "text"}, "a reference leads nowhere"),
    ({"$schema": DRAFT_04, "patternProperties": {"(": {}}}, "not a valid schema"),
    ({"$ref": "#"}, "its references go round in circles"),
    ({"allOf": [{"$ref": "#/allOf/0"}]}, "its references go round in circles"),
])  # fmt: skip
def test_a_broken_house_schema_is_an_error_of_the_run(house: Any, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        check_user_schema(DATA, house, "house.json")
    assert raised.value.message.startswith("user schema house.json: ")
    assert message in raised.value.message


KEYWORDS = st.sampled_from(
    [
        *("$ref", "$schema", "type", "required", "properties", "additionalProperties", "patternProperties", "items"),
        *("contains", "dependencies", "dependentRequired", "propertyNames", "anyOf", "oneOf", "not", "if", "then"),
        *("minimum", "multipleOf", "pattern", "enum", "const", "x"),
    ]
)
VALUES = (
    st.sampled_from(["#", "#/x", "#/x/0", DRAFT_04, DRAFT_07, "object", "name", "("]) | st.integers() | st.booleans()
)
SCHEMAS = st.dictionaries(
    KEYWORDS,
    st.recursive(VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYWORDS, inner, max_size=3)),
    max_size=4,
)


@given(SCHEMAS)
def test_no_schema_ends_in_a_traceback(house: dict[str, Any]) -> None:
    try:
        found = check_user_schema(DATA, house, "house.json")
    except ConfigError as error:
        assert error.message.startswith("user schema house.json: ")
    else:
        assert all(finding.rule == "house-schema" for finding in found)
