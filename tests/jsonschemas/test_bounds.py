"""Broken, hostile and large schemas; and the corpus."""

import copy
import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from osbctl.jsonschemas import differences
from osbctl.jsonschemas.compare import compare_schemas
from osbctl.jsonschemas.dialects import DRAFTS, Dialect
from osbctl.jsonschemas.schema_tree import MAX_JUDGEMENTS, BoundedValidator, SchemaTree
from osbctl.jsonschemas.subsumption import CHECKS, Subsumption
from osbctl.paths import PARAMETER_PLACES, get_at, same_value
from osbctl.sources.document import parse_document
from osbctl.sources.read_bytes import MAX_DEPTH
from tests.case import case, each
from tests.corpus import EVERY_CASE, catalogs, needs_corpus

from .strategies import DRAFT_4, DRAFT_7

ROOT = Path(__file__).parents[2]
FINE = {"$schema": DRAFT_7, "type": "object", "required": ["a"]}


def nested(levels: int) -> Any:
    schema: Any = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.fuzz
def test_bounds_beyond_any_float() -> None:
    bounds = (10**308 * 2, -(10**308) * 2, 10**400, -(10**4000))
    keywords = (
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxLength", "minItems", "const",
    )  # fmt: skip
    plain = {"$schema": DRAFT_7, "properties": {"n": {"type": "number", "maximum": 1.5}}}
    cases = itertools.product(bounds, keywords, ("integer", "number", "string", "array"))
    for bound, keyword, kind in itertools.islice(cases, 0, None, 1 if EVERY_CASE else 5):
        old, new = (
            {"$schema": DRAFT_7, "properties": {"n": {"type": kind, keyword: value}}} for value in (bound, bound + 1)
        )
        for pair in itertools.permutations((old, new, plain, None), 2):
            with case(keyword, kind):
                assert compare_schemas(*pair)
    wide, narrow = (
        {"$schema": DRAFT_7, "properties": {"n": {"type": "integer", "maximum": n}}} for n in bounds[2:0:-1]
    )
    assert [change.level for change in compare_schemas(wide, narrow)] == ["breaking"]
    assert [change.level for change in compare_schemas(narrow, wide)] == ["safe"]


BROKEN = [
    {"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}},
    {"$ref": "#/definitions/none"}, {"$ref": "http://example.com/schema.json"}, {"$ref": 5},
    {"properties": {"a": {"$ref": "file:///etc/passwd"}}}, {"type": "strnig"}, {"type": 5}, {"properties": []},
    {"$schema": "http://example.com/own#"}, {"$schema": 5}, {"$schema": DRAFT_4, "required": []},
    {"$schema": "https://json-schema.org/draft/2020-12/schema", "unevaluatedProperties": False},
    {"properties": {"a": {"$schema": DRAFT_4}}},
    {"properties": {"a": {"$id": "http://x/"}, "b": {"$ref": "#/properties/a"}}}, {"minimum": "1"}, nested(100), [],
    "text", 5,
]  # fmt: skip


@pytest.mark.parametrize("schema", BROKEN, ids=lambda schema: json.dumps(schema)[:50])
def test_a_broken_schema_is_risky_with_the_reason(schema: Any) -> None:
    for old, new in ((schema, FINE), (FINE, schema)):
        [change] = compare_schemas(old, new)
        assert (change.level, change.rule) == ("risky", "schema-undecided")
        assert "cannot be compared: " in change.message
    assert compare_schemas(schema, json.loads(json.dumps(schema))) == []


def test_the_deepest_nesting_that_is_read() -> None:
    assert compare_schemas(nested(MAX_DEPTH), nested(MAX_DEPTH)) == []
    assert [change.level for change in compare_schemas(nested(MAX_DEPTH), nested(MAX_DEPTH - 1))] == ["risky"]


HEAVY = "(a{1,200}){1,40}b"
LONG = ["a" * 100 + "b", "a" * 120 + "b"]


@pytest.mark.parametrize(
    "schema",
    [
        lambda limit: {"enum": LONG, "pattern": HEAVY, "maxLength": 100 + limit},
        lambda limit: {"enum": [{LONG[0]: "x" * 15}], "patternProperties": {HEAVY: {"maxLength": limit}}},
    ],
    ids=["pattern", "patternProperties"],
)
def test_a_heavy_pattern_is_not_run_on_a_long_text(schema: Any) -> None:
    old, new = ({"$schema": DRAFT_7, "properties": {"v": schema(limit)}} for limit in (30, 10))
    assert [change.level for change in compare_schemas(old, new)] == ["risky"]
    light = (json.loads(json.dumps(value).replace(HEAVY, "a+b")) for value in (old, new))
    assert [change.level for change in compare_schemas(*light)] == ["breaking"]


def test_what_patterns_cost_is_counted() -> None:
    place = SchemaTree({"pattern": HEAVY}).top
    validator = BoundedValidator()
    assert validator.accepts(place, "a" * 8 + "b") is True
    assert validator.left < MAX_JUDGEMENTS - 10
    assert validator.accepts(place, LONG[0]) is None
    validator.left = 5
    assert validator.accepts(place, "a" * 8 + "b") is None
    assert validator.left < 0


def big(properties: int, most: int) -> dict[str, Any]:
    one = {"type": "string", "maxLength": most, "description": "x" * 10}
    return {"$schema": DRAFT_7, "type": "object", "properties": {f"p{i}": dict(one) for i in range(properties)}}


@pytest.mark.parametrize(("old", "new"), [(5, 6), (6, 5)])
def test_work_grows_with_the_schema_not_its_square(monkeypatch: pytest.MonkeyPatch, old: int, new: int) -> None:
    steps: list[int] = []
    plain = Subsumption.find_candidates
    monkeypatch.setattr(Subsumption, "find_candidates", lambda self, pair: (steps.append(1), plain(self, pair))[1])
    counts = []
    for size in (50, 100, 200):
        steps.clear()
        compare_schemas(big(size, old), big(size, new))
        counts.append(len(steps))
    assert counts[2] < 2.2 * counts[1] < 4.9 * counts[0]


def test_the_number_of_judged_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = BoundedValidator.errors
    monkeypatch.setattr(BoundedValidator, "errors", lambda self, *a, **k: (asked.append(1), plain(self, *a, **k))[1])
    changes = compare_schemas(big(1500, 5), big(1500, 4))
    assert len(asked) <= 2 * MAX_JUDGEMENTS
    assert sum(change.level == "breaking" for change in changes) >= 100


MANY = 1_500 if EVERY_CASE else 300


def branches(count: int, first: int = 0) -> list[Any]:
    return [{"properties": {"kind": {"const": i}}, "required": ["kind"]} for i in range(first, first + count)]


def forbidden(word: str) -> list[Any]:
    return [{"not": {"required": [f"{word}{i}"]}} for i in range(MANY)]


def conditions(word: str) -> list[Any]:
    return [{"if": {"required": [f"a{i}"]}, "then": {"required": [word]}} for i in range(900)]


def limits(most: int) -> dict[str, Any]:
    return {f"a{i}": {"maxLength": most} for i in range(MANY)}


def defined(most: int) -> Any:
    return {"p": {"properties": {f"x{i}": {"maxLength": most} for i in range(900)}}}


def words(order: int) -> dict[str, Any]:
    pattern = "|".join(map(chr, range(0x4E00, 0x4E00 + 150)[::order]))
    return {f"a{i}": {"type": "string", "pattern": pattern} for i in range(400)}


CHOICES = {
    "allOf": [{"anyOf": [{"type": "string"}, {"type": "integer", "minimum": i}, {"type": "array"}]} for i in range(4)]
}
TO_P = {f"a{i}": {"$ref": "#/definitions/p"} for i in range(800)}
HOSTILE: list[tuple[str, Any, Any]] = [
    ("oneOf", {"oneOf": branches(800)}, {"oneOf": branches(800, 1)}),
    ("oneOf with one more", {"oneOf": branches(800)}, {"oneOf": branches(801)}),
    ("anyOf, turned", {"anyOf": branches(800)}, {"anyOf": branches(800)[::-1]}),
    ("allOf", {"allOf": [{"properties": {"a": {"maxLength": i}}} for i in range(1_500)]}, {"allOf": [{"properties": {"a": {"maxLength": i}}} for i in range(1, 1_501)]}),
    ("not", {"allOf": forbidden("a")}, {"allOf": forbidden("b")}),
    ("if", {"allOf": conditions("b")}, {"allOf": conditions("c")}),
    ("some if", {"allOf": conditions("b")[: MANY // 7]}, {"allOf": conditions("c")[: MANY // 7]}),
    ("names", {"properties": {f"a{i}": {} for i in range(6_000)}}, {"properties": {f"b{i}": {} for i in range(6_000)}}),
    ("patterns and names", {"patternProperties": {f"^a{i}": {} for i in range(MANY)}, "properties": limits(5)}, {"properties": limits(4)}),
    ("patterns with branches", {"properties": words(1)}, {"properties": words(-1)}),
    ("required", {}, {"required": [f"a{i}" for i in range(8_000)]}),
    ("required and known", {"required": [*limits(5)], "properties": limits(5)}, {"required": [*limits(5)], "properties": limits(4)}),
    ("tuple", {"properties": {"a": {"items": [{"maxLength": 5}] * 3_000}}}, {"properties": {"a": {"items": [{"maxLength": 4}] * 3_000}}}),
    ("overlapping choices", {"properties": {"a": CHOICES}}, {"properties": {"a": {**CHOICES, "if": {"minLength": 100_000}, "then": False}}}),
    ("one for many", {"properties": TO_P, "definitions": defined(5)}, {"properties": TO_P, "definitions": defined(4)}),
]  # fmt: skip
MOST_SECONDS = 8.0 if EVERY_CASE else 3.0
"""Of processor time, where one is needed: without a bound it would be minutes."""

QUICK = ("oneOf", "some if", "patterns and names", "overlapping choices")
"""Of the kinds of work; the others are for `make fuzz`."""
TRIED = [row for row in HOSTILE if EVERY_CASE or row[0] in QUICK]


@pytest.mark.fuzz
@pytest.mark.parametrize(("old", "new"), [row[1:] for row in TRIED], ids=[row[0] for row in TRIED])
def test_no_pair_of_schemas_takes_more_than_a_moment(old: Any, new: Any) -> None:
    began = time.process_time()
    changes = compare_schemas({"type": "object", **old}, {"type": "object", **new})
    assert time.process_time() - began < MOST_SECONDS
    assert changes
    for change in changes:
        assert change.level != "breaking" or change.witness is not None


def test_references_that_double_at_each_step_cost_no_power_of_two() -> None:
    def laugh(leaf: Any) -> dict[str, Any]:
        steps = {f"d{i}": {"allOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 2} for i in range(25)}
        return {"$schema": DRAFT_7, "allOf": [{"$ref": "#/definitions/d0"}], "definitions": {**steps, "d25": leaf}}

    assert compare_schemas(laugh({"required": ["q"]}), laugh({"type": "object"}))[0].level == "safe"


def test_a_long_enum() -> None:
    def regions(first: int) -> dict[str, Any]:
        return {"$schema": DRAFT_7, "properties": {"r": {"enum": [f"region-{i}" for i in range(first, 3000)]}}}

    assert [c.level for c in compare_schemas(regions(0), regions(1))] == ["breaking"]
    assert [c.level for c in compare_schemas(regions(1), regions(0))] == ["safe"]
    last = {"$schema": DRAFT_7, "properties": {"r": {"enum": [f"region-{i}" for i in range(2999)]}}}
    assert [c.level for c in compare_schemas(regions(0), last)] == ["breaking"]


def test_the_validator_is_loaded_only_for_schemas_that_differ() -> None:
    code = (
        "import sys; from osbctl.comparison.catalogs import compare_catalogs as c; from tests.comparison.make import *;"
        "schemas = {'service_instance': {'create': {'parameters': {'type': 'object'}}}};"
        "assert c(with_plan(schemas=schemas, free=True), with_plan(schemas=schemas, free=False));"
        "assert 'jsonschema_rs' not in sys.modules;"
        "from osbctl.jsonschemas.compare import compare_schemas as c;"
        "assert c({'type': 'object'}, {'type': 'array'}); assert 'jsonschema_rs' in sys.modules;"
        "assert 'jsonschema' not in sys.modules"  # it takes five times as long to load
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_keyword_that_asserts_has_a_check_or_is_no_subject_of_this_comparison() -> None:
    flattened, refused = (
        {"$ref", "allOf"},
        {"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"},
    )
    assert set().union(*(d.keywords for d in DRAFTS.values())) == CHECKS.keys() | flattened | refused


def test_the_keywords_are_those_that_jsonschema_asserts() -> None:
    for dialect in DRAFTS.values():
        asserted = set(getattr(jsonschema, dialect.validator).VALIDATORS)
        # Those that only steer another keyword have no entry there.
        steering = {"then", "else", "minContains", "maxContains"}
        steering |= {"exclusiveMinimum", "exclusiveMaximum"} if dialect.name == "draft-04" else set()
        assert dialect.keywords - steering == asserted


ASSERTED: list[tuple[dict[str, Any], Any]] = [
    ({"additionalItems": False, "items": [{}]}, [1, 2]), ({"additionalProperties": False}, {"a": 1}),
    ({"anyOf": [{"type": "null"}]}, 1), ({"const": 1}, 2), ({"contains": {"type": "null"}}, [1]),
    ({"contentEncoding": "base64"}, "%"), ({"contentMediaType": "application/json"}, "{"),
    ({"dependencies": {"a": ["b"]}}, {"a": 1}), ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    ({"dependentSchemas": {"a": {"type": "null"}}}, {"a": 1}), ({"disallow": "string"}, "a"), ({"divisibleBy": 2}, 3),
    ({"enum": [1]}, True), ({"exclusiveMaximum": 1}, 1), ({"extends": {"type": "null"}}, 1),
    ({"if": {}, "then": {"type": "null"}}, 1), ({"items": {"type": "null"}}, [1]),
    ({"maxContains": 1, "contains": {}}, [1, 1]), ({"maxLength": 1}, "ab"), ({"multipleOf": 2}, 3), ({"not": {}}, 1),
    ({"oneOf": [{}, {}]}, 1), ({"pattern": "a"}, "b"), ({"prefixItems": [{"type": "null"}]}, [1]),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}), ({"required": ["a"]}, {}), ({"type": "integer"}, 1.0),
    ({"type": "integer"}, True), ({"uniqueItems": True}, [1, 1.0]), ({"uniqueItems": True}, [1, True]),
]  # fmt: skip


def is_schema(dialect: Dialect, schema: dict[str, Any]) -> bool:
    kind = getattr(jsonschema, dialect.validator)
    return bool(kind(kind.META_SCHEMA).is_valid(schema))


def test_the_validator_says_what_jsonschema_says() -> None:
    for dialect, (schema, value) in itertools.product(DRAFTS.values(), ASSERTED):
        if not is_schema(dialect, schema):
            continue
        root = SchemaTree({"$schema": dialect.uri, **schema})
        theirs = getattr(jsonschema, dialect.validator)(schema).is_valid(value)
        assert BoundedValidator().accepts(root.top, value) is theirs, (dialect.name, schema, value)


@needs_corpus
def test_real_schemas() -> None:
    places = [(outer, inner, "parameters") for outer, inner in PARAMETER_PLACES]
    real = []
    for file in catalogs():
        for plan in plans(parse_document(file.read_bytes(), file.name).data):
            real += [found for place in places if isinstance(found := get_at(plan, ("schemas", *place)), dict)]
    assert len(real) > 1
    for old, new in itertools.product(real, repeat=2):
        for change in compare_schemas(old, copy.deepcopy(new)):
            assert not same_value(old, new)
            assert change.level != "breaking" or change.witness is not None


def plans(data: Any) -> list[Any]:
    services = get_at(data, ("services",)) or []
    return [plan for service in services for plan in get_at(service, ("plans",)) or []]


@each("more", [
    {"not": {"format": "date"}},
    {"oneOf": [{"format": "date"}, {"type": "string"}]},
    {"if": {"format": "date"}, "then": False},
])  # fmt: skip
def test_a_format_that_nobody_asserts_is_not_leaned_on(more: dict[str, Any]) -> None:
    changes = compare_schemas({"properties": {"p": {"enum": ["x"]}}}, {"properties": {"p": {"enum": ["x"], **more}}})
    assert "breaking" in {change.level for change in changes}


def test_a_part_with_an_identity_of_its_own_is_not_compared_through_references() -> None:
    inner = {
        "id": "http://x/",
        "definitions": {"q": {"type": "integer"}},
        "properties": {"b": {"$ref": "#/definitions/q"}},
    }
    old = {"$schema": DRAFT_4, "definitions": {"q": {"type": "string"}}, "properties": {"a": {"$id": 5, **inner}}}
    new = {**old, "properties": {"a": {"properties": {"b": {"type": "string"}}}}}
    assert [change.rule for change in compare_schemas(old, new)] == ["schema-undecided"]


@pytest.mark.parametrize("name", ["plan.json", "https://example.com/plan.json", "/properties/p", "urn:a:b"])
def test_an_identity_is_in_nobodys_way(name: str) -> None:
    old, new = ({"$id": name, "properties": {"p": {"$id": name, "maxLength": longest}}} for longest in (9, 8))
    assert [change.level for change in compare_schemas(old, new)] == ["breaking"]


def test_an_index_of_any_length_in_a_reference() -> None:
    [change] = compare_schemas({"$ref": "#/" + "1" * 5000}, {"type": "string"})
    assert change.rule == "schema-undecided"


def test_how_deep_the_caller_is_does_not_stick(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = ({"properties": {"deep": {"maxLength": longest}}} for longest in (9, 8))

    def too_deep(*_: object) -> None:
        raise RecursionError

    with monkeypatch.context() as patched:
        patched.setattr(differences, "find_changes", too_deep)
        assert compare_schemas(old, new)[0].level == "risky"
    assert compare_schemas(old, new)[0].level == "breaking"


def test_twenty_alternatives_are_not_too_many() -> None:
    """As many as a service with a table of sizes may have: what bounds hostile schemas leaves these alone."""

    def sizes(count: int) -> dict[str, Any]:
        kinds = [{"kind": {"const": i}, "v": {"maxLength": i + 1}} for i in range(count)]
        return {"type": "object", "oneOf": [{"properties": kind, "required": ["kind"]} for kind in kinds]}

    assert {change.level for change in compare_schemas(sizes(20), sizes(21))} == {"safe"}
