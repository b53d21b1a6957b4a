"""Each keyword narrowed, and the same the other way round, relaxed."""

from typing import Any

import jsonschema_rs
import pytest
from jsonschema.validators import validator_for

from osbctl.jsonschemas.compare import compare_schemas
from osbctl.jsonschemas.dialects import find_dialect
from osbctl.jsonschemas.schema_change import SchemaChange
from osbctl.text import is_safe_character
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import run_rules
from tests.case import each

from .strategies import DRAFT_4, DRAFT_6, DRAFT_7

DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def size(schema: Any, draft: str = DRAFT_7) -> dict[str, Any]:
    return {"$schema": draft, "type": "object", "properties": {"size": schema}}


def top(draft: str = DRAFT_7, **keywords: Any) -> dict[str, Any]:
    return {"$schema": draft, "type": "object", **keywords}


def valid(schema: Any, value: Any, formats: bool = False) -> bool:
    if formats:
        return jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(value)
    return bool(validator_for(schema)(schema).is_valid(value))


def confirm(old: Any, new: Any, change: SchemaChange) -> None:
    formats = change.rule == "schema-format-changed"
    assert isinstance(change.witness, dict), (old, new, change)
    assert valid(True if old is None else old, change.witness, formats), (old, new, change)
    assert not valid(new, change.witness, formats), (old, new, change)


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
A, B = {"properties": {"a": STRING}}, {"properties": {"b": STRING}}

NARROWED: list[tuple[str, Any, Any, str]] = [
    ("type", size({"type": ["string", "null"]}), size(STRING), "schema-type-narrowed"),
    ("number to integer", size({"type": "number"}), size(INTEGER), "schema-type-narrowed"),
    ("type added", size({}), size({"type": ["boolean", "array"]}), "schema-type-narrowed"),
    ("enum", size({"enum": ["s", "m", "xl"]}), size({"enum": ["s", "m"]}), "schema-enum-narrowed"),
    ("enum added", size(STRING), size({"type": "string", "enum": ["s"]}), "schema-enum-narrowed"),
    ("enum out of bounds", size({"enum": [1, 5]}), size({"enum": [1, 5], "maximum": 4}), "schema-bound-tightened"),
    ("const", size(STRING), size({"const": "s"}), "schema-const-added"),
    ("const of an enum", size({"enum": [1, 2]}), size({"const": 1}), "schema-const-added"),
    ("minimum", size({"minimum": 1}), size({"minimum": 3}), "schema-bound-tightened"),
    ("maximum", size({"maximum": 3}), size({"maximum": 2.5}), "schema-bound-tightened"),
    ("exclusive", size({"minimum": 1}), size({"exclusiveMinimum": 1}), "schema-bound-tightened"),
    ("exclusive maximum", size({"maximum": 1}), size({"exclusiveMaximum": 1}), "schema-bound-tightened"),
    ("exclusive, draft-04", size({"maximum": 3}, DRAFT_4), size({"maximum": 3, "exclusiveMaximum": True}, DRAFT_4), "schema-bound-tightened"),
    ("multipleOf", size({"multipleOf": 2}), size({"multipleOf": 4}), "schema-bound-tightened"),
    ("minLength", size(STRING), size({"type": "string", "minLength": 1}), "schema-length-tightened"),
    ("maxLength", size({"maxLength": 20000}), size({"maxLength": 9000}), "schema-length-tightened"),
    ("pattern", size(STRING), size({"type": "string", "pattern": "^[a-z]+$"}), "schema-pattern-changed"),
    ("pattern sharpened", size({"type": "string", "pattern": "^[a-z]+$"}), size({"type": "string", "pattern": "^[a-z]{3,}$"}), "schema-pattern-changed"),
    ("format", size(STRING), size({"type": "string", "format": "date"}), "schema-format-changed"),
    ("items", size({"items": {}}), size({"items": STRING}), "schema-type-narrowed"),
    ("items forbidden", size({"items": {}}), size({"items": False}), "schema-items-narrowed"),
    ("tuple closed", size({"items": [STRING]}), size({"items": [STRING], "additionalItems": False}), "schema-items-narrowed"),
    ("a list of items", size({"items": [STRING, {}]}), size({"items": [STRING, INTEGER]}), "schema-items-narrowed"),
    ("minItems", size({"minItems": 1}), size({"minItems": 2}), "schema-length-tightened"),
    ("maxItems", size({"type": "array"}), size({"type": "array", "maxItems": 3}), "schema-length-tightened"),
    ("uniqueItems", size({"items": STRING}), size({"items": STRING, "uniqueItems": True}), "schema-unique-items-added"),
    ("contains", size({"type": "array"}), size({"type": "array", "contains": INTEGER}), "schema-items-narrowed"),
    ("required", top(**A), top(**A, required=["a"]), "schema-required-added"),
    ("property forbidden", top(**A, additionalProperties=False), top(additionalProperties=False), "schema-property-forbidden"),
    ("others forbidden", top(**A), top(**A, additionalProperties=False), "schema-property-forbidden"),
    ("others narrowed", top(additionalProperties=True), top(additionalProperties=STRING), "schema-type-narrowed"),
    ("minProperties", top(), top(minProperties=1), "schema-length-tightened"),
    ("maxProperties", top(), top(maxProperties=2), "schema-length-tightened"),
    ("dependencies", top(**A), top(**A, dependencies={"a": ["b"]}), "schema-combination-narrowed"),
    ("allOf", size(STRING), size({"allOf": [STRING, {"maxLength": 3}]}), "schema-length-tightened"),
    ("anyOf branch gone", size({"anyOf": [STRING, INTEGER]}), size({"anyOf": [STRING]}), "schema-combination-narrowed"),
    ("anyOf to type", size({"anyOf": [STRING, INTEGER]}), size(STRING), "schema-type-narrowed"),
    ("oneOf overlaps", size(INTEGER), size({"oneOf": [INTEGER, {"minimum": 5}]}), "schema-combination-narrowed"),
    ("not", size(STRING), size({"type": "string", "not": {"const": "a"}}), "schema-combination-narrowed"),
    ("if", top(properties={"a": {"enum": [1, 2]}}), top(properties={"a": {"enum": [1, 2]}}, **{"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}}), "schema-combination-narrowed"),
    ("behind a reference", top(properties={"a": {"$ref": "#/definitions/x"}}, definitions={"x": STRING}), top(properties={"a": {"$ref": "#/definitions/x"}}, definitions={"x": INTEGER}), "schema-type-narrowed"),
    ("in a recursive schema", top(properties={"next": {"$ref": "#"}, "v": INTEGER}), top(properties={"next": {"$ref": "#"}, "v": {"type": "integer", "minimum": 1}}), "schema-bound-tightened"),
    ("deep", size({"items": A}), size({"items": {**A, "required": ["a"]}}), "schema-required-added"),
    ("all refused", size(STRING), {"$schema": DRAFT_7, "type": "array"}, "schema-type-narrowed"),
    ("draft-06 const", size({}, DRAFT_6), size({"const": 1}, DRAFT_6), "schema-const-added"),
    ("const wakes up", size({"const": 1}, DRAFT_4), size({"const": 1}, DRAFT_7), "schema-const-added"),
    ("dependentRequired", top(DRAFT_2019, **A), top(DRAFT_2019, **A, dependentRequired={"a": ["b"]}), "schema-combination-narrowed"),
]  # fmt: skip


def test_narrowed_is_breaking_and_shown() -> None:
    for name, old, new, rule in NARROWED:
        breaking = [change for change in compare_schemas(old, new) if change.level == "breaking"]
        assert rule in [change.rule for change in breaking], name
        for change in breaking:
            confirm(old, new, change)


NARROWED_BOTH_WAYS = {"behind a reference", "oneOf overlaps"}
UNDECIDED_BACK = {"multipleOf", "pattern sharpened", "in a recursive schema", "a list of items"}
"""Only an equal pattern, list or `multipleOf` is a proof, and a recursion that is met again is not shown."""


def test_the_other_way_round_is_safe() -> None:
    for name, old, new, _ in NARROWED:
        changes = compare_schemas(new, old)
        levels = {change.level for change in changes}
        if name in NARROWED_BOTH_WAYS:
            assert "breaking" in levels, name
        elif name in UNDECIDED_BACK:
            assert "risky" in levels, (name, changes)
        else:
            assert levels == {"safe"}, (name, changes)
            assert {change.rule for change in changes} <= {"schema-relaxed", "schema-wording"}, name


SAME: list[tuple[str, Any, Any]] = [
    ("anyOf of types", size({"type": ["string", "integer"]}), size({"anyOf": [STRING, INTEGER]})),
    ("oneOf of types", size({"type": ["string", "integer"]}), size({"oneOf": [STRING, INTEGER]})),
    ("allOf merged", size({"minLength": 1, "maxLength": 3}), size({"allOf": [{"minLength": 1}, {"maxLength": 3}]})),
    ("const as enum", size({"const": "a"}), size({"enum": ["a"]})),
    ("whole bounds", size({"type": "integer", "exclusiveMinimum": 2}), size({"type": "integer", "minimum": 3})),
    ("reference written out", top(**A), top(properties={"a": {"$ref": "#/definitions/s"}}, definitions={"s": STRING})),
    ("reference written out, 2020-12", top(DRAFT_2020, **A), top(DRAFT_2020, properties={"a": {"$ref": "#/$defs/s"}}, **{"$defs": {"s": STRING}})),
    ("exclusive in both drafts", size({"type": "number", "minimum": 1, "exclusiveMinimum": True}, DRAFT_4), size({"type": "number", "exclusiveMinimum": 1}, DRAFT_7)),
    ("draft alone", size(STRING, DRAFT_4), size(STRING, DRAFT_7)),
    ("true and {}", size(True), size({})),
    ("order", size({"enum": ["a", "b"]}), size({"enum": ["b", "a"]})),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new"), SAME, ids=[entry[0] for entry in SAME])
def test_what_accepts_the_same_is_safe_both_ways(name: str, old: Any, new: Any) -> None:
    for changes in (compare_schemas(old, new), compare_schemas(new, old)):
        assert {change.level for change in changes} == {"safe"}, changes


def test_an_alternative_told_by_a_constant_may_be_added() -> None:
    def kinds(count: int) -> dict[str, Any]:
        return top(oneOf=[{"properties": {"kind": {"const": i}}, "required": ["kind"]} for i in range(count)])

    assert {change.level for change in compare_schemas(kinds(3), kinds(4))} == {"safe"}
    assert "breaking" in {change.level for change in compare_schemas(kinds(4), kinds(3))}


@pytest.mark.parametrize("around", [lambda s: s, lambda s: {"properties": {"meta": s}, "required": ["meta"]}])
@pytest.mark.parametrize(("kind", "other", "level"), [
    ({"const": 0}, {"const": 1}, "safe"), (STRING, INTEGER, "safe"), (STRING, False, "safe"),
    ({"const": 0}, {"enum": [0, 1]}, "breaking"), (STRING, {"type": ["string", "null"]}, "breaking"),
])  # fmt: skip
def test_alternatives_are_parted_by_a_property_that_all_have(around: Any, kind: Any, other: Any, level: str) -> None:
    first, second = (around({"type": "object", "properties": {"kind": k}, "required": ["kind"]}) for k in (kind, other))
    changes = compare_schemas(top(**first), top(oneOf=[first, second]))
    assert {change.level for change in changes} - {"safe"} == {level} - {"safe"}


def test_a_property_that_was_not_described_is_risky_when_it_is() -> None:
    [change] = compare_schemas(top(**A), top(properties={"a": STRING, "b": INTEGER}))
    assert (change.level, change.rule) == ("risky", "schema-property-described")
    assert change.new_path == ("properties", "b")
    confirm(top(**A), top(properties={"a": STRING, "b": INTEGER}), change)


def test_a_property_that_is_described_as_forbidden_is_breaking_alone() -> None:
    [change] = compare_schemas(top(**A), top(properties={"a": STRING, "b": False}))
    assert (change.level, change.rule) == ("breaking", "schema-property-forbidden")


@pytest.mark.parametrize("keyword", ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"])
def test_the_bound_that_refuses_a_value_is_named(keyword: str) -> None:
    [change] = compare_schemas(size(INTEGER), size({**INTEGER, keyword: 3}))
    assert change.new_path == ("properties", "size", keyword)


@pytest.mark.parametrize("part", [{"allOf": [{"maximum": 4}]}, {"$ref": "#/$defs/few"}])
def test_a_value_that_a_part_of_a_schema_refuses_is_one_change(part: dict[str, Any]) -> None:
    old, new = size({"enum": [1, 5]}, DRAFT_2020), size(part, DRAFT_2020)
    changes = compare_schemas(old, {**new, "$defs": {"few": {"maximum": 4}}})
    assert [change.rule for change in changes if change.level != "safe"] == ["schema-bound-tightened"]


def test_a_value_that_is_not_judged_leaves_its_schema_undecided() -> None:
    old, new = size({"enum": ["a" * 2_000]}), size({"pattern": "^b"})
    [change] = compare_schemas(old, new)
    assert (change.rule, change.new_path) == ("schema-undecided", ("properties", "size"))


def test_other_properties_that_are_forbidden_are_named_as_others() -> None:
    [change] = compare_schemas(top(**A), top(**A, additionalProperties=False))
    assert change.message == "the parameters no longer may have other properties"


def test_none_to_schema_and_back() -> None:
    schema = size(STRING)
    [added] = compare_schemas(None, schema)
    assert (added.level, added.rule, added.old_path) == ("breaking", "schema-added", None)
    confirm(None, schema, added)
    [removed] = compare_schemas(schema, None)
    assert (removed.level, removed.rule, removed.new_path) == ("safe", "schema-removed", None)
    [harmless] = compare_schemas({}, {"type": "object", "title": "x", "default": {}})
    assert (harmless.level, harmless.rule) == ("safe", "schema-added")
    assert compare_schemas(None, {}) == compare_schemas({}, True) == compare_schemas(None, None) == []
    assert [change.level for change in compare_schemas(None, False)] == ["breaking"]


def test_defaults_and_wording() -> None:
    old, new = size({"default": "a", "title": "x"}), size({"default": "b", "title": "y"})
    default, wording = compare_schemas(old, new)
    assert (default.level, default.rule) == ("risky", "schema-default-changed")
    assert default.message == 'the default of "size" changed from "a" to "b"'
    assert (wording.level, wording.rule) == ("safe", "schema-wording")


ONE, TWO = ({"type": "integer", "default": default} for default in (1, 2))
REF: dict[str, Any] = {"$ref": "#/definitions/p"}


def kind(name: str, size: Any) -> dict[str, Any]:
    return {"properties": {"kind": {"const": name}, "size": size}, "required": ["kind"]}


def condition(name: str, size: Any) -> dict[str, Any]:
    return {"if": {"properties": {"kind": {"const": name}}}, "then": {"properties": {"size": size}}}


DEFAULTS: list[tuple[Any, Any, list[str]]] = [
    (size(REF) | {"definitions": {"p": ONE}}, size(REF) | {"definitions": {"p": TWO}}, ["from 1 to 2"]),
    (size(REF) | {"definitions": {"p": ONE}}, size({"$ref": "#/definitions/q"}) | {"definitions": {"q": TWO}}, ["from 1 to 2"]),
    (size({**REF, "default": 7}) | {"definitions": {"p": ONE}}, size({**REF, "default": 8}) | {"definitions": {"p": ONE}}, ["from 7 or 1 to 8 or 1"]),
    (size(ONE), top(allOf=[{"properties": {"size": TWO}}]), ["from 1 to 2"]),
    (size(ONE), {**size(INTEGER), "allOf": [{"properties": {"size": TWO}}]}, ["from 1 to 2"]),
    (size(ONE), size(INTEGER), ["from 1 to none"]),
    (size(True), size(ONE), ["from none to 1"]),
    (top(anyOf=[kind("a", ONE)]), top(anyOf=[kind("b", TWO), kind("a", ONE)]), ["from 1 to 2 or 1"]),
    (top(oneOf=[kind("a", False), kind("b", ONE)]), top(oneOf=[kind("a", False), kind("b", TWO)]), ["from 1 to 2"]),
    (top(oneOf=[kind("a", ONE), kind("b", TWO)]), top(oneOf=[kind("b", ONE), kind("a", TWO)]), ["from 1 to 2", "from 2 to 1"]),
    (top(allOf=[condition("a", ONE), condition("b", TWO)]), top(allOf=[condition("a", TWO), condition("b", ONE)]), ["from 1 to 2", "from 2 to 1"]),
    (top(**condition("a", ONE), **{"else": {"properties": {"size": TWO}}}), top(**condition("a", TWO), **{"else": {"properties": {"size": ONE}}}), ["from 1 to 2", "from 2 to 1"]),
    (size({"anyOf": [ONE]}) | {"default": {}}, size({"anyOf": [ONE]}) | {"default": {"size": 1}}, ["from {} to {\"size\": 1}"]),
    (size({"default": 1}), size({"default": True}), ["from 1 to true"]),
    (size({"default": 1, "title": "x"}), size({"default": 1.0}), []),
    (size({"anyOf": [ONE, TWO]}), size({"anyOf": [ONE, {**TWO, "default": 3}]}), ["from 2 or 1 to 3 or 1"]),
    (size({**REF, "allOf": [ONE]}) | {"definitions": {"p": {}}}, size({**REF, "allOf": [TWO]}) | {"definitions": {"p": {}}}, []),
    (size(TWO), size(REF) | {"definitions": {"p": TWO}}, []),
    (size({"anyOf": [ONE, {"type": "string", "default": "a"}]}), size({"anyOf": [{"type": "string", "default": "a"}, ONE]}), []),
    (size({"anyOf": [ONE, TWO]}), size({"anyOf": [TWO, ONE]}), []),
    (size({"anyOf": [ONE, STRING]}), size({"anyOf": [INTEGER, STRING], "default": 1}), []),
    (top(oneOf=[kind("a", ONE), kind("b", TWO)]), top(oneOf=[kind("b", TWO), kind("a", ONE)]), []),
    (size({}) | {"definitions": {"p": ONE}}, size({}) | {"definitions": {"p": TWO}}, []),
    (top(additionalProperties=False), {**size(ONE), "additionalProperties": False}, []),
    (None, top(default={}, properties={"size": ONE}), []),
]  # fmt: skip


@each("old, new, changes", DEFAULTS)
def test_defaults_are_compared_by_parameter(old: Any, new: Any, changes: list[str]) -> None:
    found = [change for change in compare_schemas(old, new) if change.rule == "schema-default-changed"]
    assert all(change.level == "risky" for change in found)
    assert sorted(change.message.partition(" changed ")[2] for change in found) == changes
    assert all(" of the parameters " in c.message or ' of "size" ' in c.message for c in found), found


def test_a_default_behind_a_reference_is_told_of_each_parameter() -> None:
    def two(default: dict[str, Any]) -> dict[str, Any]:
        return top(properties={"a": REF, "b": {"items": REF}}, definitions={"p": default})

    assert [c.message for c in compare_schemas(two(ONE), two(TWO))] == [
        f'the default of "{name}" changed from 1 to 2' for name in ("a", "b[0]")
    ]
    elsewhere = {"$ref": "https://example.com/schema"}  # so that what a definition stands for is not known
    old, new = (size(elsewhere) | {"definitions": {"p": default}} for default in (ONE, TWO))
    assert [c.message for c in compare_schemas(old, new)] == ['the default of "definitions.p" changed from 1 to 2']


@pytest.mark.parametrize(
    "around", [lambda s: {"not": s}, lambda s: {"oneOf": [s, {"type": "null"}]}, lambda s: {"additionalProperties": s}]
)
def test_other_words_refuse_nothing_wherever_they_stand(around: Any) -> None:
    old, new = (around({"type": "string", "pattern": "^a", "description": text, "x-order": text}) for text in "ab")
    [change] = compare_schemas(size(old), size(new))
    assert (change.level, change.rule) == ("safe", "schema-wording")
    assert change.message == "wording changed (description, x-order); that refuses nothing"


def test_what_is_only_called_like_a_word_counts() -> None:
    for name in ("title", "description", "examples"):
        old, new = ({"properties": {name: {"maxLength": longest}}} for longest in (9, 8))
        assert [change.level for change in compare_schemas(old, new)] == ["breaking"]
        assert compare_schemas(size({"const": {name: 1}}), size({"const": {name: 2}}))[0].level == "breaking"


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("gone", [0, 6, 11])
def test_a_branch_out_of_many_is_missed(keyword: str, gone: int) -> None:
    old = [{"properties": {"kind": {"const": i}}, "required": ["kind"]} for i in range(12)]
    schemas = {keyword: old}, {keyword: old[:gone] + old[gone + 1 :]}
    [change] = (change for change in compare_schemas(*schemas) if change.level != "safe")
    assert (change.level, change.new_path) == ("breaking", (keyword,))
    confirm(*schemas, change)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_constants_with_titles_are_an_enum(keyword: str) -> None:
    regions = [{"const": f"region-{i}", "title": str(i)} for i in range(150)]
    assert {c.level for c in compare_schemas(size({keyword: regions[:-1]}), size({keyword: regions}))} == {"safe"}
    changes = compare_schemas(size({keyword: regions}), size({keyword: regions[:-1]}))
    assert [change.witness for change in changes if change.level == "breaking"] == [{"size": "region-149"}]
    assert {
        c.level for c in compare_schemas(size({keyword: regions}), size({"enum": [f"region-{i}" for i in range(150)]}))
    } == {"safe"}


def test_true_is_not_one() -> None:
    assert compare_schemas(size({"const": 1}), size({"const": 1})) == []
    assert compare_schemas(size({"const": 1}), size({"const": True}))[0].level == "breaking"


DROPPED: list[tuple[str, Any, Any]] = [
    ("open", top(properties={"a": STRING, "b": STRING}), top(properties={"a": STRING})),
    ("all others are alike", top(**B, additionalProperties=STRING), top(additionalProperties=STRING)),
    ("within", size({"type": "object", **B}), size({"type": "object"})),
    ("behind a reference", top(**{"$ref": "#/definitions/b", "definitions": {"b": B}}), top()),
    ("in a branch", top(anyOf=[B, {}]), top()),
    ("beside a property", top(dependencies={"a": B}), top()),
    ("where the draft does not look", top(**B), top(dependentSchemas={"a": B})),
    ("of an item", size({"type": "array", "items": B}), size({"type": "array", "items": {}})),
    ("of the first item", size({"items": [B, {}]}), size({"items": [A, B]})),
    ("of other properties", size({"additionalProperties": {"properties": {"a": STRING, "b": STRING}}}), size({"additionalProperties": A})),
    ("of all other properties", top(additionalProperties=B), top()),
    ("of a pattern", top(patternProperties={"^x": B, "^y": B}), top(patternProperties={"^x": A, "^y": B})),
    ("with its pattern", top(patternProperties={"^x": B}), top()),
    ("of others, which a pattern names now", top(additionalProperties=B), top(patternProperties={"": A}, additionalProperties=False)),
    ("in two branches", top(anyOf=[B, {**B, "required": ["b"]}]), top()),
]  # fmt: skip


@each("name, old, new", DROPPED)
def test_a_property_that_is_no_longer_described_is_told(name: str, old: Any, new: Any) -> None:
    told = [change for change in compare_schemas(old, new) if change.rule == "schema-property-dropped"]
    assert [(change.level, change.old_path[-1] if change.old_path else "") for change in told] == [("risky", "b")]
    assert not [change for change in compare_schemas(old, new) if "another place" in change.message]


@each("path, schema", [("size[0].b", size({"items": B})), ("*.b", top(additionalProperties=B))])
def test_a_dropped_property_is_named_by_its_place_in_a_request(path: str, schema: Any) -> None:
    told = [change.message for change in compare_schemas(schema, top(properties={"size": {}}))]
    assert f'"{path}" is no longer described; requests may still hold it, but the broker may ignore it' in told


@each("old, new", [
    ({"patternProperties": {"^x": B}}, {"patternProperties": {"^x.*": B}}),
    ({"additionalProperties": B}, {"patternProperties": {"": B}, "additionalProperties": False}),
    ({"additionalProperties": B}, {"additionalProperties": False}),
    ({"properties": {"a": B}}, {"properties": {"a": False}}),
    ({"properties": {"a": {"items": B}}}, {"properties": {"a": {"items": [B]}}}),
    ({"additionalProperties": B}, {"additionalProperties": {"additionalProperties": False}}),
])  # fmt: skip
def test_what_may_be_described_otherwise_or_is_forbidden_was_not_dropped(old: Any, new: Any) -> None:
    assert "schema-property-dropped" not in {change.rule for change in compare_schemas(top(**old), top(**new))}


def test_what_is_only_written_elsewhere_was_not_dropped() -> None:
    old = top(properties={"a": {"$ref": "#/definitions/b"}, "c": {"$ref": "#/definitions/b"}}, definitions={"b": B})
    new = top(properties={"c": B, "a": {"anyOf": [B]}})
    assert {change.rule for change in compare_schemas(old, new)} == {"schema-relaxed"}
    moved = compare_schemas(top(**B), top(dependencies={"a": B}))
    assert "schema-property-dropped" not in {change.rule for change in moved}


@each("name, old, new", [
    ("definitions.p.b", size({}) | {"definitions": {"p": B}}, size({}) | {"definitions": {"p": {}}}),  # which nothing refers to
    ("size.b", size({**REF, **B}) | {"definitions": {"p": {}}}, size(REF) | {"definitions": {"p": {}}}),  # which the reference hides
    ("size.b", size({"not": {**B, "type": "string"}}), size({"not": {"type": "string"}})),
])  # fmt: skip
def test_a_property_that_was_not_read_is_not_said_to_stand_elsewhere(name: str, old: Any, new: Any) -> None:
    assert [change.message for change in compare_schemas(old, new)] == [f'"{name}" removed']


def test_a_schema_that_is_none_is_named_with_the_place() -> None:
    (change,) = compare_schemas(size({"type": "int"}), size(STRING))
    assert change.message.endswith("the old schema is not a valid draft-07 schema (at /properties/size/type)")


UNDECIDED: list[tuple[str, Any, Any]] = [
    ("prefixItems", size({"prefixItems": [{}]}, DRAFT_2020), size({"prefixItems": [STRING]}, DRAFT_2020)),
    ("two patterns", size({"type": "string", "pattern": "^(a|b)$"}), size({"type": "string", "pattern": "^[ab]$"})),
    ("a dangerous pattern", size({"type": "string", "pattern": "^(a+)+$"}), size({"type": "string", "pattern": "^(a+)+b?$"})),
    ("a format that is not checked", size(STRING), size({"type": "string", "format": "cron"})),
    ("fractions", size({"multipleOf": 0.2}), size({"multipleOf": 0.1})),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new"), UNDECIDED, ids=[entry[0] for entry in UNDECIDED])
def test_what_cannot_be_decided_is_risky_and_says_so(name: str, old: Any, new: Any) -> None:
    change = compare_schemas(old, new)[0]
    assert change.level == "risky"
    assert "cannot be decided" in change.message


def test_messages_are_for_reviewers() -> None:
    [change] = compare_schemas(size({"enum": ["s", "xl"]}), size({"enum": ["s"]}))
    assert change.message == '"size" no longer accepts "xl" (enum: ["s"])'
    nodes = {"type": "array", "items": {"type": "object", **A}}
    [inner] = compare_schemas(size(nodes), size({**nodes, "items": {**nodes["items"], "required": ["a"]}}))  # type: ignore[dict-item]
    assert inner.message == '"a" is now required in "size[0]"'


def test_no_secret_and_no_control_character_is_printed() -> None:
    def secret(values: list[str]) -> dict[str, Any]:
        return top(properties={"password": {"enum": values, "default": values[0]}}, required=["password"])

    text = " ".join(c.message + c.example for c in compare_schemas(secret(["hunter2", "b"]), secret(["c"])))
    assert "hunter2" not in text
    assert "(secret)" in text
    [change] = compare_schemas(size({"enum": ["\x1b[31m\u202e" + "x" * 500]}), size({"enum": [1]}))
    assert "\x1b" not in change.message
    assert "\u202e" not in change.message
    assert len(change.message) < 200


def test_a_keyword_is_printed_safely() -> None:
    word = "\x1b[2J\u202e" + "x" * 100
    [change] = compare_schemas(size({word: 1}), size({word: 2}))
    assert change.rule == "schema-wording"
    assert all(map(is_safe_character, change.message))
    assert len(change.message) < 150


def test_a_message_says_one_thing_once() -> None:
    [added] = compare_schemas(None, top(additionalProperties=False))
    assert added.message == "a schema was added where none was; it refuses what was accepted"
    assert added.example == '{"other": "text"}'
    messages = {change.message for change in compare_schemas(top(additionalProperties=False), top())}
    assert messages == {"the parameters: additionalProperties changed from false to none; that refuses nothing"}


def test_an_added_schema_that_refuses_more_than_formats() -> None:
    new = {"additionalProperties": {"format": "date"}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    [change] = compare_schemas(None, new)
    assert (change.level, change.rule) == ("breaking", "schema-added")
    confirm(None, new, change)
    for formats in ({"additionalProperties": {"format": "date"}}, {"properties": {"a": {"format": "date"}}}):
        assert [change.level for change in compare_schemas(None, formats)] == ["risky"]


def test_each_keyword_for_dependencies_is_told() -> None:
    demands = {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"required": ["b"]}}}
    changes = compare_schemas(top(DRAFT_2020), top(DRAFT_2020, **demands))
    assert [(change.level, change.new_path) for change in changes] == [("risky", (name,)) for name in demands]


def test_a_not_without_end_leaves_only_itself_undecided() -> None:
    def endless(schema: Any, least: int) -> Any:
        loop = {"type": "object", "required": ["k"], "properties": {"k": {"$ref": "#/definitions/loop"}}}
        return {**size(schema), "definitions": {"loop": {**loop, "minProperties": least}}}

    here = {"$ref": "#/definitions/loop"}
    changes = compare_schemas(endless(here, 0), endless({"not": here}, 1))
    assert [c.rule for c in changes if c.message.startswith('"size": not changed')] == ["schema-undecided"]
    assert "schema-relaxed" in {c.rule for c in changes}


@pytest.mark.parametrize("schema", [size(INTEGER), size({"minimum": 1, "exclusiveMinimum": True}), {"title": "x"}])
def test_no_draft_is_draft_04(schema: dict[str, Any]) -> None:
    unnamed = {key: value for key, value in schema.items() if key != "$schema"}
    for pair in ((unnamed, {**unnamed, "$schema": DRAFT_4}), ({**unnamed, "$schema": DRAFT_4}, unnamed)):
        assert {change.level for change in compare_schemas(*pair)} == {"safe"}


@pytest.mark.parametrize("later", [{"const": 2}, {"exclusiveMinimum": 5}, {"if": {}, "then": False}, {"not": True}])
def test_what_draft_04_would_ignore_or_refuse_counts_where_no_draft_is_named(later: dict[str, Any]) -> None:
    old, new = {"properties": {"n": INTEGER}}, {"properties": {"n": {**INTEGER, **later}}}
    assert [change.level for change in compare_schemas(old, new)] == ["breaking"]
    assert {change.level for change in compare_schemas(new, old)} == {"safe"}  # 1.0 is an integer on both sides


def test_what_only_the_drafts_see_differently_is_not_decided() -> None:
    """1.0 is an integer since draft-06."""
    few = {**INTEGER, "maximum": 9}  # a pair that no other test compares, since comparisons are remembered
    [change] = compare_schemas(size(few, DRAFT_7), size(few, DRAFT_4))
    assert (change.rule, change.new_path) == ("schema-undecided", ("properties", "size", "type"))
    assert "to draft-04, 1.0 is not an integer" in change.message
    assert [change.level for change in compare_schemas(size(INTEGER, DRAFT_4), size(INTEGER, DRAFT_7))] == ["safe"]


def test_only_another_draft_is_blamed_for_a_point() -> None:
    old = size({"type": ["string", "number"], "pattern": "^\\p{L}{1,255}$"})
    [change] = (c for c in compare_schemas(old, size({"type": "string"})) if c.level != "safe")
    assert "1.0" not in change.message


@pytest.mark.parametrize(
    "body",
    [{"not": {"required": ["a", "b"]}}, {"anyOf": [{"required": ["a"]}, {"required": ["b"], "maxProperties": 3}]}],
)
def test_what_all_drafts_take_alike_is_the_same_under_two(body: dict[str, Any]) -> None:
    assert [change.level for change in compare_schemas(top(DRAFT_7, **body), top(DRAFT_4, **body))] == ["safe"]
    odd = {"not": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}  # which takes 1.0 since draft-06
    assert [change.level for change in compare_schemas(top(DRAFT_4, **odd), top(DRAFT_7, **odd))] != ["safe"]


def test_only_addresses_of_the_web_name_a_draft() -> None:
    for before, is_known in {"http://": True, "https://": True, "": True, " http://": False, "{{x}}://": False}.items():
        assert bool(find_dialect(f"{before}json-schema.org/draft-04/schema#")) is is_known, before
    default = {"$schema": " http://json-schema.org/draft-04/schema#", "properties": {"a": {"default": 1}}}
    catalog = {"services": [{"plans": [{"schemas": {"service_instance": {"create": {"parameters": default}}}}]}]}
    assert any(found.rule == "parameters-dialect-unknown" for found in run_rules(catalog, ValidationOptions()))
