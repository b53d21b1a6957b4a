"""Parameter schemas as the Cloud Controller's JSON Schema library reads them: what recorded answers do not decide.

Everything else is in the answers that test_agreement.py reads, and in the examples of the rules.
"""

import copy
import time
from typing import Any

import pytest

from osbctl.platforms.cloudfoundry.verdict import judge
from tests.comparison.make import plan, service

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def catalog_with_schemas(*schemas: dict[str, Any]) -> dict[str, Any]:
    """A catalog with a plan for each schema, `$schema` put in where it is missing."""
    holders = [{"service_binding": {"create": {"parameters": {"$schema": DRAFT_4, **schema}}}} for schema in schemas]
    plans = [plan(f"p{at}", f"p{at}", schemas=holder) for at, holder in enumerate(holders)]
    return {"services": [service("s1", "svc", *plans)]}


def verdict_kind(data: dict[str, Any]) -> str:
    return judge(data).kind.value


@pytest.mark.parametrize("piece", ["(?#", "[[:a", "\\p{a=", "(?<1", "a-", "(?<=a", "\\u{", "[a-"])
def test_long_patterns_cost_little(piece: str) -> None:
    start = time.process_time()
    judge(catalog_with_schemas({"patternProperties": {piece * (60_000 // len(piece) // 2): {}}}))
    judge(catalog_with_schemas({"patternProperties": {"a??" * 40 + "\\0": {}}}))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("verdict", "keywords"),
    [
        ("refuses", {"items": {"$ref": "http://e.com/x#/y"}}),
        ("refuses", {"$ref": None}),
        ("refuses", {"not": {"$schema": "http://e.com/x"}}),
        ("unclear", {"$ref": "http://json-schema.org/draft-04/schema#/definitions/positiveInteger"}),
        ("unclear", {"$schema": "http://json-schema.org/draft-03/schema#", "$ref": "#/definitions/a"}),
        ("unclear", {"$ref": "#/x-size", "x-size": {"required": True}}),
    ],
)
def test_references_and_drafts(verdict: str, keywords: dict[str, Any]) -> None:
    assert verdict_kind(catalog_with_schemas(keywords)) == verdict


def test_references_that_fan_out_are_followed_once_each() -> None:
    chain = {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(60)}
    assert (
        verdict_kind(catalog_with_schemas({"definitions": {**chain, "d60": {}}, "$ref": "#/definitions/d0"}))
        == "accepts"
    )


MISTYPED = {"properties": {"a": {"type": "strin"}}}
UNNAMED = {"$schema": None}
TITLED = [{"title": "b", "$ref": reference} for reference in ("#/title", "#title", "#/%74itle")]
NEAR_THE_BOUND = {"default": [1e300] * 213}  # which Cloud Foundry counts with all its digits
SEVERAL: list[dict[str, Any]] = [
    {}, {"title": "a"}, UNNAMED, {**UNNAMED, "title": "a"}, MISTYPED, {**MISTYPED, "title": "a", "description": "b"},
    {**MISTYPED, "title": 5}, NEAR_THE_BOUND, {**NEAR_THE_BOUND, "title": "a" * 499},
    {"id": "http://a/b"}, {"$ref": "http://a/b#", "title": "c"}, {"$ref": "http://a/c#"}, {"id": "http://a/c"},
    {"$ref": "http://a/c#"}, *TITLED, *({"$ref": one["$ref"]} for one in TITLED),
]  # fmt: skip


def test_each_of_several_parameter_schemas_is_judged_by_itself() -> None:
    outcome = judge(catalog_with_schemas(*copy.deepcopy(SEVERAL)))
    assert list(dict.fromkeys(refusal.path[3] for refusal in outcome.refusals)) == [
        2,
        3,
        4,
        5,
        6,
        8,
        11,
        *range(14, 20),
    ]
    assert outcome.doubts == (), "a refusal comes before a doubt"


BROKEN = {"$ref": "#/definitions/none"}
"""Refused where the library comes to it: it stops at the first keyword that `{}` does not meet."""


@pytest.mark.parametrize(
    ("keywords", "meets"),
    [
        ({"oneOf": [{}, {"required": ["a"]}]}, True),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, False),
        ({"oneOf": [{}, {}]}, False),
        ({"allOf": [{}, {"required": ["a"]}]}, False),
        ({"allOf": [{}, {}]}, True),
        ({"minProperties": 1}, False),
        ({"type": ["string", "object"]}, True),
    ],
)
def test_what_an_empty_request_meets(keywords: dict[str, Any], meets: bool) -> None:
    assert verdict_kind(catalog_with_schemas({**keywords, **BROKEN})) == ("refuses" if meets else "accepts")


def test_deep_nesting_ends_in_an_outcome() -> None:
    schema: dict[str, Any] = {}
    for _ in range(900):
        schema = {"not": schema}
    assert verdict_kind(catalog_with_schemas(schema)) in {"accepts", "unclear"}
