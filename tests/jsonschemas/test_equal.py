"""Schemas that assert the same, written otherwise: wording, order, another draft; and their near misses."""

import json
from collections.abc import Callable
from typing import Any

from osbctl.jsonschemas.compare import compare_schemas
from tests.case import each

from .strategies import DRAFT_4, DRAFT_6, DRAFT_7
from .test_table import DRAFT_2019, DRAFT_2020, confirm, size, top

Schema = dict[str, Any]
TREE = {"type": "object", "properties": {"next": {"$ref": "#/definitions/tree"}, "v": {"maxLength": 9}}}

AROUND: dict[str, Callable[[Schema], Schema]] = {
    "if": lambda s: top(**{"if": {"required": ["a"], "properties": {"a": s}}, "then": {"required": ["b"]}}),
    "then": lambda s: top(**{"if": {"required": ["a"]}, "then": {"properties": {"b": s}}}),
    "else": lambda s: top(**{"if": {"required": ["a"]}, "else": {"properties": {"b": s}}}),
    "oneOf": lambda s: size({"oneOf": [{"pattern": "^a"}, s]}),
    "patternProperties": lambda s: top(patternProperties={"^x-": s}),
    "items": lambda s: size({"items": [{}, s], "additionalItems": s}),
    "prefixItems": lambda s: size({"prefixItems": [{}, s], "items": s}, DRAFT_2020),
    "dependencies": lambda s: top(dependencies={"a": {"properties": {"b": s}}, "c": ["a"]}),
    "dependentSchemas": lambda s: top(DRAFT_2019, dependentSchemas={"a": {"properties": {"b": s}}}),
    "contains": lambda s: size({"contains": s, "minContains": 2}, DRAFT_2019),
    "propertyNames": lambda s: top(propertyNames=s),
    "recursive": lambda s: top(
        properties={"t": {"$ref": "#/definitions/tree"}},
        definitions={"tree": {**TREE, "properties": {**TREE["properties"], "w": s}}},
    ),
    "external": lambda s: top(properties={"a": {"$ref": "https://example.com/other.json"}, "b": s}),
    "identity": lambda s: {**top(properties={"a": {"$ref": "https://example.com/s#/properties/b"}, "b": s}), "$id": "https://example.com/s"},
    "anchor": lambda s: top(DRAFT_2020, properties={"a": {"$ref": "#b"}, "b": {"$anchor": "b", **s}}),
    "unevaluated": lambda s: top(DRAFT_2019, properties={"b": s}, unevaluatedProperties=False),
    "loop": lambda s: top(DRAFT_2020, allOf=[{"$ref": "#"}], properties={"b": s}),
}  # fmt: skip
WORDING: list[Schema] = [{"title": "T"}, {"description": "d"}, {"examples": ["a"]}, {"x-order": 3}, {"$comment": "c"}]


@each("name", AROUND)
def test_wording_is_wording_wherever_it_stands(name: str) -> None:
    around = AROUND[name]
    for text in WORDING:
        for old, new in (({"maxLength": 5}, {"maxLength": 5, **text}), ({"maxLength": 5, **text}, {"maxLength": 5})):
            [change] = compare_schemas(around(old), around(new))
            assert (change.level, change.rule) == ("safe", "schema-wording"), text
            assert next(iter(text)) in change.message
    changes = compare_schemas(around({"maxLength": 5, "title": "a"}), around({"maxLength": 4, "title": "b"}))
    assert {change.level for change in changes} & {"breaking", "risky"}


def test_what_a_reference_may_lead_to_is_no_wording() -> None:
    def leading_to(reference: str, **keywords: Any) -> Schema:
        return top(properties={"a": {"$ref": reference}, "b": {"$ref": "https://example.com/x"}}, **keywords)

    for reference, word, old, new in (
        ("#/x-types/a", "x-types", {"a": {"maxLength": 5}}, {"a": {"maxLength": 4}}),
        ("#/x-types/0", "x-types", [{"maxLength": 5}], [{"maxLength": 4}]),
        ("#/deprecated", "deprecated", True, False),
        ("#/%64eprecated", "deprecated", True, False),
        ("#here", "x-types", {"$anchor": "here"}, {"$anchor": "there"}),
        ("#here", "x-types", [{"$anchor": "here"}], [{"$anchor": "there"}]),
        ("#here", "$anchor", "here", "there"),
    ):
        [change] = compare_schemas(leading_to(reference, **{word: old}), leading_to(reference, **{word: new}))
        assert (change.level, change.rule) == ("risky", "schema-undecided"), reference
    [change] = compare_schemas(leading_to("#/x", deprecated=True), leading_to("#/x", deprecated=False))
    assert change.level == "safe"


def test_a_property_that_says_nothing_beside_an_external_reference() -> None:
    external = {"a": {"$ref": "https://example.com/x"}}
    more = {**external, "b": {"description": "d"}}
    [change] = compare_schemas(top(properties=external), top(properties=more))
    assert (change.level, change.message) == ("safe", '"b" added')
    parts = [external["a"]]
    [change] = compare_schemas(top(allOf=parts), top(allOf=parts, properties={"b": {"description": "d"}}))
    assert (change.level, change.message) == ("safe", '"b" added')
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        parts = [{"not": {"properties": names, keyword: False}} for names in (external, more)]
        inverted = [size(part, DRAFT_2019) for part in parts]
        assert compare_schemas(*inverted)[0].level == "risky", keyword
    for keyword in ("not", "propertyNames", "if", "contains"):
        changes = compare_schemas(top(properties=external), top(properties=external, **{keyword: {}}))
        assert changes[0].level == "risky", keyword
    assert compare_schemas(top(properties=external), top(properties={**external, "b": False}))[0].level == "risky"


REORDERED: list[tuple[str, Any, Any]] = [
    ("dependencies", {"a": ["b", "c"], "d": ["a"]}, {"d": ["a"], "a": ["c", "b"]}),
    ("if", {"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ("patternProperties", {"^x": {"enum": ["a", [1, 2]]}}, {"^x": {"enum": [[1, 2], "a"]}}),
    ("propertyNames", {"type": ["null", "string"]}, {"type": ["string", "null"]}),
]
TURNED: list[tuple[str, Any, Any]] = [
    ("if", {"const": [1, 2]}, {"const": [2, 1]}),
    ("patternProperties", {"^x": {"enum": [[1, 2]]}}, {"^x": {"enum": [[2, 1]]}}),
    ("propertyNames", {"enum": ["1", "2"]}, {"enum": ["1"]}),
    ("dependencies", {"a": ["b", "c"]}, {"a": ["b"], "c": ["b"]}),
]


def test_order_counts_only_in_values() -> None:
    for keyword, old, new in REORDERED:
        more = {"then": {"required": ["z"]}} if keyword == "if" else {}
        [change] = compare_schemas(top(**{keyword: old}, **more), top(**{keyword: new}, **more))
        assert change.level == "safe", keyword
    for keyword, old, new in TURNED:
        more = {"then": {"required": ["z"]}} if keyword == "if" else {}
        assert compare_schemas(top(**{keyword: old}, **more), top(**{keyword: new}, **more))[0].level != "safe", keyword


def test_a_definition_that_holds_itself_may_get_another_name() -> None:
    def named(name: str, most: int) -> Schema:
        inner = {"type": "array", "items": {"$ref": f"#/definitions/{name}"}, "maxItems": most}
        return size({"$ref": f"#/definitions/{name}"}) | {"definitions": {name: {"properties": {"c": inner}}}}

    assert {change.level for change in compare_schemas(named("a", 5), named("b", 5))} == {"safe"}
    assert compare_schemas(named("a", 5), named("b", 4))[0].level == "breaking"
    inline, apart = ({"patternProperties": {"^x": part}} for part in ({"maxLength": 5}, {"$ref": "#/$defs/short"}))
    short = {"$defs": {"short": {"maxLength": 5}}}
    assert {c.level for c in compare_schemas(top(DRAFT_2020, **inline), top(DRAFT_2020, **apart, **short))} == {"safe"}


def test_a_list_of_items_that_leads_back_to_its_whole_is_compared_in_full() -> None:
    def nested(most: int) -> Schema:
        inner = {"items": [{"$ref": "#/definitions/list"}], "maxItems": most}
        return size({"allOf": [{"$ref": "#/definitions/list"}, {"maxItems": 3}]}) | {"definitions": {"list": inner}}

    assert {change.level for change in compare_schemas(nested(9), nested(5))} & {"risky", "breaking"}


def test_equal_references_lead_to_equal_schemas() -> None:
    def short(most: int) -> Schema:
        part = {"$ref": "#/$defs/short", "minLength": 1}
        return top(DRAFT_2020, patternProperties={"^x": part}, **{"$defs": {"short": {"maxLength": most}}})

    assert {change.level for change in compare_schemas(short(5), short(4))} & {"risky", "breaking"}


@each("old, new", [
    ({"$ref": "#/$defs/a", "minLength": 1}, {"$ref": "#/$defs/b", "minLength": 1}),
    (True, False),
    ({}, {"not": {}}),
    ({"items": {"maxLength": 5}}, {"items": {"maxLength": 4}}),
])  # fmt: skip
def test_a_part_that_asserts_something_else_is_not_the_same(old: Any, new: Any) -> None:
    definitions = {"a": {"maxLength": 5}, "b": {"maxLength": 4}}
    around = [top(DRAFT_2020, patternProperties={"^x": part}, **{"$defs": definitions}) for part in (old, new)]
    assert {change.level for change in compare_schemas(*around)} & {"risky", "breaking"}


DRAFTS = [DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020]
SAME_IN_ALL = {
    "a": {"type": "string", "pattern": "^a", "format": "email"},
    "b": {"type": "number", "multipleOf": 0.5, "minimum": 1},
    "c": {"type": "array", "uniqueItems": True, "items": {"type": "string", "format": "uuid"}},
    "d": {"type": "object", "patternProperties": {"^x": {"enum": [1, "b"], "maxLength": 3}}},
    "e": {"not": {"type": "string", "pattern": "^b"}, "oneOf": [{"minLength": 1}, {"pattern": "^c"}]},
}


def test_another_draft_alone_changes_no_keyword() -> None:
    for old in DRAFTS:
        for new in DRAFTS:
            if old != new:
                [change] = compare_schemas(top(old, properties=SAME_IN_ALL), top(new, properties=SAME_IN_ALL))
                assert (change.level, change.rule) == ("safe", "schema-wording"), (old, new)


@each("old, new, schema", [
    (DRAFT_4, DRAFT_7, {"not": {"type": "integer"}}),
    (DRAFT_4, DRAFT_7, {"oneOf": [{"type": ["integer", "null"]}, {"type": "number", "minimum": 5}]}),
    (DRAFT_4, DRAFT_6, {"patternProperties": {"^x": {"not": {"const": 5}}}}),
    (DRAFT_6, DRAFT_7, {"patternProperties": {"^x": {"if": {"minLength": 2}, "then": False}}}),
    (DRAFT_7, DRAFT_2019, {"not": {"dependencies": {"a": ["b"]}, "required": ["a"]}}),
    (DRAFT_7, DRAFT_2019, {"patternProperties": {"^x": {"$ref": "#/definitions/any", "maxLength": 2}}}),
])  # fmt: skip
def test_another_draft_that_reads_a_keyword_otherwise_is_told(old: str, new: str, schema: Schema) -> None:
    definitions = {"any": {}}
    changes = compare_schemas(
        size(schema, old) | {"definitions": definitions}, size(schema, new) | {"definitions": definitions}
    )
    assert {change.level for change in changes} & {"breaking", "risky"}


def test_a_format_for_display_refuses_nothing() -> None:
    text = {"type": "string"}
    for name in ("password", "textarea", "multiline", "int64"):
        [change] = compare_schemas(size(text), size({**text, "format": name}))
        assert (change.level, change.rule) == ("safe", "schema-relaxed")
        [change] = compare_schemas(size({**text, "format": "email"}), size({**text, "format": name}))
        assert change.level == "safe"
        assert compare_schemas(size({**text, "format": name}), size({**text, "format": "email"}))[0].level == "breaking"


def test_a_counterexample_is_json() -> None:
    for huge in ({"type": "number", "minimum": 1e308}, {"type": ["number", "null"], "exclusiveMaximum": 1.7e308}):
        old, new = size({}), size(huge)
        changes = [change for change in compare_schemas(old, new) if change.level == "breaking"]
        assert changes
        for change in changes:
            json.dumps(change.witness, allow_nan=False)
            confirm(old, new, change)


def test_an_added_property_is_named() -> None:
    closed = {"type": "object", "additionalProperties": False}
    text = {"type": "string"}
    old = {**closed, "properties": {"a": text, "b": {**closed, "properties": {"c": text}}}}
    inner = {"c": text, "high_availability": {"type": "boolean"}}
    new = {**closed, "properties": {"a": text, "b": {**closed, "properties": inner}, "d": text, "properties": text}}
    changes = compare_schemas(old, new)
    assert {change.level for change in changes} == {"safe"}
    assert [change.message for change in changes] == ['"d" added', '"properties" added', '"b.high_availability" added']
    assert (changes[0].field, changes[0].old_path) == (("properties", "d"), ())
    # What is known of a property is said once.
    opened = {"type": "object", "properties": {"a": text}}
    [change] = compare_schemas(opened, {**opened, "properties": {"a": text, "b": text}})
    assert change.rule == "schema-property-described"
    narrowed = {"$ref": "#/definitions/few"}
    by_reference = {
        "properties": {"a": narrowed},
        "additionalProperties": text,
        "definitions": {"few": {"maxLength": 2}},
    }
    assert '"a" added' not in [c.message for c in compare_schemas({"additionalProperties": text}, by_reference)]


def test_a_property_that_moved_is_not_called_removed() -> None:
    described = {"properties": {"a": {"type": "string"}}}
    messages = [change.message for change in compare_schemas(top(**described), top(allOf=[described]))]
    assert '"a" is described in another place' in messages
    messages = [change.message for change in compare_schemas(top(**described), top())]
    assert messages == ['"a" is no longer described; requests may still hold it, but the broker may ignore it']
