"""Parameter schemas as the Cloud Controller's JSON Schema library reads them: what recorded answers do not decide.

Everything else is in the answers that test_agreement.py reads, and in the examples of the rules.
"""

import copy
import time
from typing import Any

import pytest

from osbctl.platforms.cloudfoundry.verdict import judge
from tests.case import each
from tests.comparison.make import plan, service
from tests.fragments import DRAFT_04


def catalog_with_schemas(*schemas: dict[str, Any]) -> dict[str, Any]:
    """A catalog with a plan for each schema, `$schema` put in where it is missing."""
    holders = [{"service_binding": {"create": {"parameters": {"$schema": DRAFT_04, **schema}}}} for schema in schemas]
    plans = [plan(f"p{at}", f"p{at}", schemas=holder) for at, holder in enumerate(holders)]
    return {"services": [service("s1", "svc", *plans)]}


@pytest.mark.parametrize("piece", ["(?#", "[[:a", "\\p{a=", "(?<1", "a-", "(?<=a", "\\u{", "[a-"])
def test_long_patterns_cost_little(piece: str) -> None:
    start = time.process_time()
    judge(catalog_with_schemas({"patternProperties": {piece * (60_000 // len(piece) // 2): {}}}))
    judge(catalog_with_schemas({"patternProperties": {"a??" * 40 + "\\0": {}}}))
    assert time.process_time() - start < 5


CHAIN = {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(60)}
DRAFT_06 = "http://json-schema.org/draft-06/schema#"
UNCLOSED = {"patternProperties": {"(": {}}}
BROKEN = {"$ref": "#/definitions/none"}
"""Refused where the library comes to it: it stops at the first keyword that `{}` does not meet."""


@each("verdict, keywords", [
    ("refuses", {"items": {"$ref": "http://e.com/x#/y"}}),
    ("refuses", {"$ref": None}),
    ("refuses", {"not": {"$schema": "http://e.com/x"}}),
    ("unclear", {"$ref": f"{DRAFT_04}/definitions/positiveInteger"}),
    ("unclear", {"$schema": "http://json-schema.org/draft-03/schema#", "$ref": "#/definitions/a"}),
    ("unclear", {"$ref": "#/x-size", "x-size": {"required": True}}),
    ("accepts", {"definitions": {**CHAIN, "d60": {}}, "$ref": "#/definitions/d0"}),  # each is followed once
    # `id` and `$schema` must be URIs where the metaschema looks, which is everywhere but in values.
    ("refuses", {"id": "http://a b/"}),
    ("refuses", {"not": {"id": "1:x"}}),
    ("refuses", {"dependencies": {"a": {"id": "http://h:x/"}}}),
    ("refuses", {"items": [{"$schema": "http:"}]}),
    *(("refuses", {"properties": {"a": {"id": name}}}) for name in (":x", "./a:b")),
    ("accepts", {"id": "http://[::1]:80/a b", "enum": [{"id": "1:x"}]}),
    # Of `$schema` it reads scheme, host and path.
    ("accepts", {"$schema": "http://u:p@json-schema.org:80/draft-04/schema?a#\n"}),
    ("refuses", {"$schema": "http://json-schema.org@e.com/draft-04/schema#"}),
    # `dependencies` is a schema when it loads schemas.
    ("refuses", {"dependencies": {"$ref": ["a"]}}),
    ("refuses", {"dependencies": {"$schema": ["a"]}}),
    ("refuses", {"dependencies": {"items": {"$ref": "http://e.com/x"}}}),
    ("accepts", {"dependencies": {"a": {"$ref": "http://e.com/x"}}}),
    # Of draft-03's keywords, draft-04 knows `disallow`, and checks `type` by it.
    ("refuses", {"disallow": [{"$ref": "http://e.com/x"}]}),
    ("refuses", {"disallow": "object", **BROKEN}),
    ("accepts", {"disallow": "string", "type": "string", **BROKEN}),
    ("unclear", {"$schema": "http://json-schema.org/draft-03/schema#", "disallow": "string"}),
    ("unclear", {"$ref": "?x"}),
    # What stops the library depends on the draft, which it takes from the schema around.
    ("accepts", {"$schema": DRAFT_06, "const": 1, **UNCLOSED}),
    ("refuses", {"$schema": DRAFT_06, "not": {"const": 1}, **UNCLOSED}),
    ("refuses", {"const": 1, **UNCLOSED}),
    ("unclear", {"$schema": DRAFT_06, "anyOf": [{"$schema": DRAFT_04, "const": 1}], **UNCLOSED}),
    ("unclear", {"$schema": "http://json-schema.org/draft-03/schema#", "required": ["a"], **UNCLOSED}),
    ("accepts", {"$schema": "http://json-schema.org/draft-03/schema#", "not": {"$schema": "http://e.com/x"}}),
    ("accepts", {"type": ["object"], "additionalProperties": False, "required": ["a"], **UNCLOSED}),
    # It does not load what is in `not`.
    ("unclear", {"not": {"extends": {"$ref": "#"}}}),
    ("unclear", {"not": {"id": "x", "allOf": [{"$ref": "#"}]}}),
    # Ruby repeats anchors, and has few look-behinds.
    ("accepts", {"patternProperties": {"(?<=ab)c": {}}}),
    *(("unclear", {"patternProperties": {pattern: {}}}) for pattern in ("a^*", "\\b+", "(?<!(a))b", "(?<=(?=a))b")),
    *(("unclear", {"patternProperties": {pattern: {}}}) for pattern in ("[] [a-z]", "(?a)b", "(a)(?(1)b|c)")),
    ("refuses", {"patternProperties": {"a|*": {}}}),
    # What `{}` meets is refused by what follows.
    ("refuses", {"oneOf": [{}, {"required": ["a"]}], **BROKEN}),
    ("accepts", {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], **BROKEN}),
    ("accepts", {"oneOf": [{}, {}], **BROKEN}),
    ("accepts", {"allOf": [{}, {"required": ["a"]}], **BROKEN}),
    ("refuses", {"allOf": [{}, {}], **BROKEN}),
    ("accepts", {"minProperties": 1, **BROKEN}),
    ("refuses", {"type": ["string", "object"], **BROKEN}),
])  # fmt: skip
def test_references_drafts_and_what_an_empty_request_meets(verdict: str, keywords: dict[str, Any]) -> None:
    assert judge(catalog_with_schemas(keywords)).kind.value == verdict


MISTYPED = {"properties": {"a": {"type": "strin"}}}
UNNAMED = {"$schema": None}
TITLED = [{"title": "b", "$ref": reference} for reference in ("#/title", "#title", "#/%74itle")]
NEAR_THE_BOUND = {"default": [1e300] * 213, "title": "a" * 708}  # which Cloud Foundry counts with all its digits
SEVERAL: list[dict[str, Any]] = [
    {}, {"title": "a"}, UNNAMED, {**UNNAMED, "title": "a"}, MISTYPED, {**MISTYPED, "title": "a", "description": "b"},
    {**MISTYPED, "title": 5}, NEAR_THE_BOUND, {**NEAR_THE_BOUND, "title": "a" * 709},
    {"id": "http://a/b"}, {"$ref": "http://a/b#", "title": "c"}, {"$ref": "http://a/c#"}, {"id": "http://a/c"},
    {"$ref": "http://a/c#"}, *TITLED, *({"$ref": one["$ref"]} for one in TITLED),
]  # fmt: skip


def test_each_of_several_parameter_schemas_is_judged_by_itself() -> None:
    outcome = judge(catalog_with_schemas(*copy.deepcopy(SEVERAL)))
    refused = dict.fromkeys(refusal.path[3] for refusal in outcome.refusals)
    assert list(refused) == [2, 3, 4, 5, 6, 8, 11, *range(14, 20)]
    assert outcome.doubts == (), "a refusal comes before a doubt"


def test_deep_nesting_ends_in_an_outcome() -> None:
    schema: dict[str, Any] = {}
    for _ in range(900):
        schema = {"not": schema}
    assert judge(catalog_with_schemas(schema)).kind.value in {"accepts", "unclear"}
