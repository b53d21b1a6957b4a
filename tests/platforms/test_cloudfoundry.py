"""Answers of the Cloud Controller to one unusual value each, derived from its source."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from osbctl.platforms.cloudfoundry.verdict import judge

DRAFT_4 = "http://json-schema.org/draft-04/schema#"

GOOD: dict[str, Any] = {
    "services": [
        {
            "id": "s1",
            "name": "svc",
            "description": "d",
            "bindable": True,
            "plans": [{"id": "p1", "name": "p", "description": "d"}],
        }
    ]
}


def with_value(value: Any, *path: str | int) -> dict[str, Any]:
    data = copy.deepcopy(GOOD)
    holder: Any = data
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return data


def in_service(key: str, value: Any) -> dict[str, Any]:
    return with_value(value, "services", 0, key)


def in_plan(key: str, value: Any) -> dict[str, Any]:
    return with_value(value, "services", 0, "plans", 0, key)


def with_schema(schema: dict[str, Any], *more: dict[str, Any]) -> dict[str, Any]:
    """A catalog with a plan for each schema, `$schema` put in where it is missing."""
    data = copy.deepcopy(GOOD)
    plans = data["services"][0]["plans"] = []
    for number, one in enumerate((schema, *more)):
        parameters = {"$schema": DRAFT_4, **one}
        plan = {"id": f"p{number}", "name": f"p{number}", "description": "d"}
        plans.append({**plan, "schemas": {"service_binding": {"create": {"parameters": parameters}}}})
    return data


def told(data: dict[str, Any]) -> list[str]:
    """The refusals' messages, of schemas only what follows "is not valid."."""
    return [refusal.message.partition(" is not valid. ")[2] or refusal.message for refusal in judge(data).refusals]


def kind(data: dict[str, Any]) -> str:
    return judge(data).kind.value


def test_a_good_catalog_is_accepted() -> None:
    assert kind(GOOD) == "accepts"
    assert judge(GOOD).messages == ()


def test_separators_of_information_are_no_white_space() -> None:
    assert kind(in_service("id", "\x1c\x1f")) == "accepts"


def test_a_heading_with_a_line_break_breaks_the_line() -> None:
    data = in_service("name", "a\nb")
    data["services"][0]["id"] = None
    assert judge(data).messages == ("Service a", "b", "  Service id is required")


@pytest.mark.parametrize("value", [True, 1, 1.5, "plans", {}, {"a": 1}])
def test_plans_that_are_no_array_crash(value: Any) -> None:
    outcome = judge(in_service("plans", value))
    assert outcome.kind.value == "crashes"
    assert [(refusal.rule, refusal.path) for refusal in outcome.refusals] == [
        ("cloudfoundry-crash", ("services", 0, "plans"))
    ]


def test_lines_of_a_plan_stand_in_the_order_of_its_checks() -> None:
    data = in_plan("schemas", 1)
    info = {"version": "1.0", "a": 1, "description": "<" * 400}
    data["services"][0]["plans"][0].update(maximum_polling_duration="1", maintenance_info=info)
    assert [message.split(" must")[0] for message in told(data)] == [
        "Maximum polling duration",
        "Plan schemas",
        "Maintenance info version",
        "Maintenance info",
        "Maintenance info contains invalid key(s): a",
    ]


@pytest.mark.parametrize("value", [True, 0, 1.5, [], ["version"]])
def test_maintenance_info_that_cannot_be_indexed_crashes(value: Any) -> None:
    (refusal,) = judge(in_plan("maintenance_info", value)).refusals
    assert refusal.rule == "cloudfoundry-crash"
    assert refusal.path == ("services", 0, "plans", 0, "maintenance_info")


def test_maintenance_info_that_is_a_string_is_asked_what_it_contains() -> None:
    assert told(in_plan("maintenance_info", "my version" + "x" * 2000))[1:] == [
        'Maintenance info version must be a Semantic Version, but has value "version"',
        ("Maintenance info must serialize to 2000 characters or fewer in JSON, but serializes to 2012 characters"),
    ]


def test_a_crash_behind_a_fault_of_shape_is_a_crash() -> None:
    loop = {"$schema": DRAFT_4, "$ref": "#"}
    schemas = {"service_instance": {"create": 1}, "service_binding": {"create": {"parameters": loop}}}
    assert kind(in_plan("schemas", schemas)) == "crashes"


@pytest.mark.parametrize(
    ("verdict", "patterns"),
    [
        ("accepts", ["^[a-z]+$", "[\\w.-]", "(a|b)*", "(?:a){2,3}", "a{,5}", "\\.json\\Z", "{{x}}"]),
        ("refuses", ["(", "[a", "a)", "*a", "[z-a]", "a\\", "(?P<y>x)", "(?@a)", "\\u12", "(?<1>a)", "(?s)a", "[\\w-.]"]),
        ("unclear", ["(?<x>a)\\k<x>", "\\p{Greek}", "(a)\\1", "[a&&b]", "\\x{41}", "[[:alpha:]]", "(?i)a"]),
    ],
)  # fmt: skip
def test_patterns_are_refused_only_where_ruby_surely_does(verdict: str, patterns: list[str]) -> None:
    found = {pattern: kind(with_schema({"patternProperties": {pattern: {}}})) for pattern in patterns}
    assert found == dict.fromkeys(patterns, verdict)


@pytest.mark.parametrize("piece", ["(?#", "[[:a", "\\p{a=", "(?<1", "a-", "(?<=a", "\\u{", "[a-"])
def test_long_patterns_cost_little(piece: str) -> None:
    start = time.process_time()
    told(with_schema({"patternProperties": {piece * (60_000 // len(piece) // 2): {}}}))
    told(with_schema({"patternProperties": {"a??" * 40 + "\\0": {}}}))
    assert time.process_time() - start < 5


def test_decimals_are_quoted_where_a_schema_is_measured() -> None:
    padding = 65_536 - len('{"$schema":"http://json-schema.org/draft-04/schema#","maximum":"1.5","x":""}')
    assert kind(with_schema({"maximum": 1.5, "x": "a" * padding})) == "accepts"
    assert told(with_schema({"maximum": 1.5, "x": "a" * (padding + 1)})) == ["Must not be larger than 64KB"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"maxLength": 1.0}, "maxLength must be an integer, not 1.0"),
        ({"minimum": True}, "minimum must be a number, not true"),
        ({"properties": {"a": {"type": "int"}}}, "type must be one of "),
        ({"allOf": [{}, 1]}, "item 2 of allOf must be an object, not 1"),
    ],
)
def test_faults_of_the_metaschema_are_said_in_our_words(keywords: dict[str, Any], message: str) -> None:
    (line,) = told(with_schema(keywords))
    assert line.startswith("Must conform to JSON Schema Draft 04 (experimental support for later versions): " + message)


def test_a_format_may_be_anything() -> None:
    assert kind(with_schema({"format": 1})) == "accepts"


def test_one_and_one_point_nothing_and_true_are_three_values() -> None:
    assert kind(with_schema({"enum": [1, 1.0, True]})) == "accepts"


@pytest.mark.parametrize(
    ("verdict", "keywords"),
    [
        ("refuses", {"properties": {"a": {"$ref": "../x/y.json"}}}),
        ("refuses", {"items": {"$ref": "http://e.com/x#/y"}}),
        ("refuses", {"id": "http://e.com/a/b", "items": {"$ref": "http://other.org/c"}}),
        ("refuses", {"items": {"$ref": ["a"]}}),
        ("refuses", {"$ref": None}),
        ("refuses", {"$ref": "#/definitions/none"}),
        ("refuses", {"not": {"$ref": "#/definitions/none"}}),
        ("refuses", {"not": {"$schema": "http://e.com/x"}}),
        ("refuses", {"patternProperties": {"(": {}}}),
        ("refuses", {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}),
        ("accepts", {"not": {"$ref": "http://e.com/x"}}),
        ("accepts", {"required": ["a"], "$ref": "#/definitions/none"}),
        ("accepts", {"required": ["a"], "patternProperties": {"(": {}}}),
        ("accepts", {"properties": {"a": {"$ref": "#/definitions/none"}}}),
        ("accepts", {"properties": {"a": {"$ref": "http://json-schema.org/draft-04/schema#"}}}),
        ("accepts", {"id": "http://e.com/a", "$ref": "#/definitions/a", "definitions": {"a": {}}}),
        ("accepts", {"$schema": "http://json-schema.org/draft-06/schema#", "definitions": {"a": {}}}),
        ("unclear", {"$ref": "http://json-schema.org/draft-04/schema#/definitions/positiveInteger"}),
        ("unclear", {"id": "http://e.com/a/b", "items": {"$ref": "b#/d"}}),
        ("unclear", {"definitions": {"a": {"id": "#a"}}, "$ref": "#a"}),
        ("unclear", {"extends": {"type": "object"}}),
        ("unclear", {"$schema": "http://json-schema.org/draft-03/schema#", "$ref": "#/definitions/a"}),
        ("unclear", {"disallow": "string", "type": "string"}),
        ("unclear", {"$ref": "#/x-size", "x-size": {"required": True}}),
    ],
)
def test_references_and_drafts(verdict: str, keywords: dict[str, Any]) -> None:
    assert kind(with_schema(keywords)) == verdict


def test_an_unclear_verdict_says_where_and_why() -> None:
    (doubt,) = judge(with_schema({"extends": {}})).doubts
    assert (doubt.rule, doubt.path[-2:]) == ("cloudfoundry-schema-unclear", ("parameters", "extends"))
    assert doubt.message == "extends is a keyword of draft-03"


def test_what_is_refused_elsewhere_is_refused_beside_an_unclear_schema() -> None:
    data = with_schema({"extends": {}})
    data["services"][0]["bindable"] = "yes"
    assert kind(data) == "refuses"


@pytest.mark.parametrize(
    "keywords",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"not": {"$ref": "#/definitions/x"}, "definitions": {"x": {"anyOf": [{"$ref": "#/definitions/x"}]}}},
    ],
)
def test_a_loop_crashes(keywords: dict[str, Any]) -> None:
    outcome = judge(with_schema(keywords))
    assert outcome.kind.value == "crashes"
    assert outcome.refusals[0].path[-1] == "parameters"


def test_references_that_fan_out_are_followed_once_each() -> None:
    chain = {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(60)}
    assert kind(with_schema({"definitions": {**chain, "d60": {}}, "$ref": "#/definitions/d0"})) == "accepts"


def test_what_an_earlier_plan_names_may_be_referred_to() -> None:
    named = {"definitions": {"x": {"id": "http://e.com/x"}}}
    refers = {"properties": {"a": {"$ref": "http://e.com/x"}}}
    assert kind(with_schema(named, refers)) == "unclear"
    assert kind(with_schema(refers, named)) == "refuses"


BROKEN = {"$ref": "#/definitions/none"}
"""Refused where the library comes to it: it stops at the first keyword that `{}` does not meet."""


@pytest.mark.parametrize(
    ("keywords", "meets"),
    [
        ({"oneOf": [{}, {"required": ["a"]}]}, True),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, False),
        ({"oneOf": [{}, {}]}, False),
        ({"oneOf": [{}, {"required": ["a"]}, {}]}, False),
        ({"anyOf": [{}, {}]}, True),
        ({"anyOf": [{"required": ["a"]}, {}]}, True),
        ({"anyOf": [{"required": ["a"]}]}, False),
        ({"allOf": [{}, {"required": ["a"]}]}, False),
        ({"allOf": [{}, {}]}, True),
        ({"not": {"required": ["a"]}}, True),
        ({"not": {}}, False),
        ({"enum": [{}]}, True),
        ({"enum": [1]}, False),
        ({"minProperties": 0}, True),
        ({"minProperties": 1}, False),
        ({"type": ["string", "object"]}, True),
        ({"type": "string"}, False),
    ],
)
def test_what_an_empty_request_meets(keywords: dict[str, Any], meets: bool) -> None:
    assert kind(with_schema({**keywords, **BROKEN})) == ("refuses" if meets else "accepts")


def test_deep_nesting_ends_in_an_outcome() -> None:
    schema: dict[str, Any] = {}
    for _ in range(900):
        schema = {"not": schema}
    assert kind(with_schema(schema)) in {"accepts", "unclear"}


def test_what_its_database_does_not_take_is_refused_though_its_validator_is_silent() -> None:
    data = in_plan("name", "Small ")
    data["services"][0]["plans"].append({"id": "p2", "name": "small", "description": "d"})
    outcome = judge(data)
    assert (outcome.kind.value, outcome.messages) == ("refuses", ())
    assert [refusal.path for refusal in outcome.refusals] == [("services", 0, "plans", 1, "name")]
    assert kind(in_plan("maximum_polling_duration", 2**31 - 1)) == "accepts"
    assert kind(in_plan("maximum_polling_duration", 2**31)) == "crashes"
    assert kind(in_service("name", "SVC-0")) == "accepts"
