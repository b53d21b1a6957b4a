"""What the Cloud Controller says of one odd value each, worked out from its source."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from osbctl.platforms.cloudfoundry.ruby import inspect
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


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.0, "Service id must be a string, but has value 0.1e1"),
        (1e30, "Service id must be a string, but has value 0.1e31"),
        (-0.001, "Service id must be a string, but has value -0.1e-2"),
        (0.0, "Service id must be a string, but has value 0.0"),
        ({"a": [None, "#{x}\x7f\x01é\u2028"]}, r'{"a"=>[nil, "\#{x}\u007F\u0001é\u2028"]}'),
        ("\u3000\u2003", "Service id is required"),
    ],
)
def test_values_are_printed_as_ruby_does(value: Any, message: str) -> None:
    (refusal,) = judge(in_service("id", value)).refusals
    assert refusal.path == ("services", 0, "id")
    assert refusal.message.endswith(message)


def test_separators_of_information_are_no_white_space() -> None:
    assert kind(in_service("id", "\x1c\x1f")) == "accepts"


def test_a_heading_with_a_line_break_breaks_the_line() -> None:
    data = in_service("name", "a\nb")
    data["services"][0]["id"] = None
    assert judge(data).messages == ("Service a", "b", "  Service id is required")


def test_requires_as_an_object_is_gone_through_in_pairs() -> None:
    assert told(in_service("requires", {"syslog_drain": 1, "a": 2})) == [
        'Service "requires" field must be an array of strings, but has value {"syslog_drain"=>1, "a"=>2}',
        'Service "requires" field contains unsupported value "["a", 2]"',
    ]


@pytest.mark.parametrize("value", [True, 1, 1.5, "plans", {}, {"a": 1}])
def test_plans_that_are_no_array_crash(value: Any) -> None:
    outcome = judge(in_service("plans", value))
    assert outcome.kind.value == "crashes"
    assert [(refusal.rule, refusal.path) for refusal in outcome.refusals] == [
        ("cloudfoundry-crash", ("services", 0, "plans"))
    ]


@pytest.mark.parametrize("value", [None, True, 1, 1.5, [], [["id", 1]]])
def test_a_plan_that_cannot_be_indexed_crashes(value: Any) -> None:
    assert kind(with_value(value, "services", 0, "plans", 0)) == "crashes"


def test_a_plan_that_is_a_string_is_named_by_what_it_contains() -> None:
    data = with_value("my id", "services", 0, "plans", 0)
    data["services"][0]["plans"].append("id of a name")
    assert judge(data).messages[0] == (
        "Plan ids must be unique. Unable to register plan with id 'id' (plan name 'name', service name 'svc')"
        " because it uses the same id as another plan in the catalog (plan name '', service name 'svc')"
    )


def test_numbers_that_are_equal_but_not_the_same_are_both_named() -> None:
    data = in_plan("id", 1)
    data["services"][0]["plans"].append({"id": 1.0, "name": "q", "description": "d"})
    data["services"][0]["plans"].append({"id": True, "name": "r", "description": "d"})
    messages = [message for message in told(data) if "unique" in message]
    start = "Plan ids must be unique. Service svc already has a plan with id "
    assert messages == [f"{start}'1'", f"{start}'1.0'"]


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


def test_lines_of_parameters_come_before_those_of_what_holds_them() -> None:
    schemas = {
        "service_instance": {"create": 1, "update": {"parameters": {"a": 1}}},
        "service_binding": {"create": {"parameters": []}},
    }
    assert told(in_plan("schemas", schemas)) == [
        "Schema must have $schema key but was not present",
        "Schemas service_instance.create must be a hash, but has value 1",
        "Schemas service_binding.create.parameters must be a hash, but has value []",
    ]
    assert told(in_plan("schemas", {**schemas, "service_instance": "x"})) == [
        "Schemas service_binding.create.parameters must be a hash, but has value []",
        'Schemas service_instance must be a hash, but has value "x"',
    ]


def test_a_crash_behind_a_fault_of_shape_is_a_crash() -> None:
    loop = {"$schema": DRAFT_4, "$ref": "#"}
    schemas = {"service_instance": {"create": 1}, "service_binding": {"create": {"parameters": loop}}}
    assert kind(in_plan("schemas", schemas)) == "crashes"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?P<y>x)", "undefined group option"),
        ("(?s)a", "undefined group option"),
        ("(?i-m:a)", None),
        ("(?#c", "end pattern in group"),
        ("(?:*a)", "target of repeat operator is not specified"),
        ("{1}", "target of repeat operator is not specified"),
        ("a{100001}", "too big number for repeat range"),
        ("a{2,1}", "upper is smaller than lower in repeat range"),
        ("a{,5}", None),
        ("[\\w-.]", "unmatched range specifier in char-class"),
        ("[\\w.-]", None),
        ("[z-a]", "empty range in char class"),
        ("[+--]", None),
        ("[^]", "empty char-class"),
        ("[[:foo:]]", "invalid POSIX bracket type"),
        ("[[:^alpha:]]", None),
        ("\\p{Script=Greek}", "invalid character property name {Script=Greek}"),
        ("\\p{Greek}", None),
        ("\\uD83D\\uDE00", "invalid Unicode range"),
        ("\\u12", "invalid Unicode escape"),
        ("\\u{1F600}", None),
        ("\\x{41}", "invalid hex escape"),
        ("(?<=a+)", "invalid pattern in look-behind"),
        ("(?<=a|bc)d", None),
        ("\\1", "invalid backref number/name"),
        ("(a)\\1", None),
        ("\\k<x>", "undefined name <x> reference"),
        ("(?<x>a)\\k<x>", None),
        ("(?<1>a)", "invalid group name <1>"),
    ],
)
def test_patterns_that_ruby_does_not_compile(pattern: str, words: str | None) -> None:
    lines = told(with_schema({"patternProperties": {pattern: {}}}))
    assert lines == ([f"{words}: /{pattern}/"] if words else [])


@pytest.mark.parametrize("piece", ["(?#", "[[:a", "\\p{a=", "(?<1", "a-", "(?<=a", "\\u{", "[a-"])
def test_long_patterns_cost_little(piece: str) -> None:
    start = time.process_time()
    told(with_schema({"patternProperties": {piece * (60_000 // len(piece) // 2): {}}}))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("http:", "Absolute URI missing hierarchical segment: 'http:'"),
        ("http://h:123456/", "Read of URI at http://h:123456/ refused"),
        ("http://h:x/", 'Invalid port number: "x"'),
        ("\\x", "Cannot have a path with two leading slashes without an authority set: 'file://x'"),
    ],
)
def test_uris_in_the_words_of_the_library(reference: str, words: str) -> None:
    assert told(with_schema({"$ref": reference}))[0].endswith(words)


def test_a_reference_to_nothing_but_a_line_break_is_a_loop() -> None:
    assert kind(with_schema({"$ref": "#\n"})) == "crashes"


def test_references_into_the_metaschema_are_followed() -> None:
    inner = "http://json-schema.org/draft-04/schema#/definitions/"
    assert kind(with_schema({"$ref": inner + "positiveInteger"})) == "accepts"
    assert kind(with_schema({"$ref": inner + "none"})) == "refuses"


def test_what_is_printable_does_not_hang_on_the_python_at_work() -> None:
    assert inspect("\u0cf3\u0897\u2ffc") == '"\u0cf3\\u0897\\u2FFC"', "Unicode 15.0, 16.0, 15.1"


def test_decimals_are_quoted_where_a_schema_is_measured() -> None:
    padding = 65_536 - len('{"$schema":"http://json-schema.org/draft-04/schema#","maximum":"1.5","x":""}')
    assert kind(with_schema({"maximum": 1.5, "x": "a" * padding})) == "accepts"
    assert told(with_schema({"maximum": 1.5, "x": "a" * (padding + 1)})) == ["Must not be larger than 64KB"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"id": "http://"}, "The property '#/id' must be a valid URI"),
        (
            {"maxLength": 1.0},
            "The property '#/maxLength' of type number did not match the following type: integer",
        ),
        (
            {"minimum": True},
            "The property '#/minimum' of type boolean did not match the following type: number",
        ),
        ({"type": ["string", "string"]}, "The property '#/type' of type array did not match one or more"),
        (
            {"dependencies": {"a": []}},
            "The property '#/dependencies/a' of type array did not match one or more",
        ),
        (
            {"allOf": [{}, 1]},
            "The property '#/allOf/1' of type integer did not match the following type: object",
        ),
    ],
)
def test_the_metaschema_speaks_in_the_words_of_the_library(keywords: dict[str, Any], message: str) -> None:
    (line,) = told(with_schema(keywords))
    assert message in line
    assert line.endswith("in schema http://json-schema.org/draft-04/schema#")


def test_one_and_one_point_nothing_and_true_are_three_values() -> None:
    assert kind(with_schema({"enum": [1, 1.0, True]})) == "accepts"


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"properties": {"a": {"$ref": "a b.json"}}}, "Read of file at /a%20b.json refused"),
        ({"properties": {"a": {"$ref": "../x/./y"}}}, "Read of file at /x/y refused"),
        ({"id": "http://e.com/a/b", "items": {"$ref": "c#/d"}}, "Read of URI at http://e.com/a/c refused"),
        ({"items": {"$ref": "http://e.com/x#/y"}}, "Read of URI at http://e.com/x# refused"),
        ({"extends": "other.json"}, "Read of file at /other.json refused"),
        ({"dependencies": {"$ref": ["a"]}}, "Can't convert Array into String."),
        ({"$ref": None}, "undefined method `defer_validation' for nil"),
        ({"items": {"$ref": "1:2"}}, "Invalid scheme format: '1'"),
        ({"$ref": "#/definitions/none"}, "Custom meta schemas are not supported."),
        ({"not": {"$ref": "#/definitions/none"}}, "Custom meta schemas are not supported."),
        ({"dependencies": {"a": {"items": {"$schema": "http://e.com/x"}}}}, None),
        ({"not": {"$ref": "http://e.com/x"}}, None),
        ({"required": ["a"], "$ref": "#/definitions/none"}, None),
        ({"patternProperties": {"(": {}}}, "end pattern with unmatched parenthesis: /(/"),
        ({"required": ["a"], "patternProperties": {"(": {}}}, None),
        ({"extends": {"properties": 5}}, "undefined method `each' for an instance of Integer"),
        ({"extends": {"allOf": 5}}, "undefined method `each_with_index' for an instance of Integer"),
        ({"extends": {"oneOf": None}}, "undefined method `each_with_index' for nil"),
        ({"extends": {"anyOf": {"a": {}}}}, "no implicit conversion of String into Integer"),
    ],
)
def test_the_library_at_work(keywords: dict[str, Any], message: str | None) -> None:
    lines = told(with_schema(keywords))
    assert [message] == [line.rpartition("allowed: ")[2] for line in lines] if message else lines == []


@pytest.mark.parametrize(
    "keywords",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"extends": {"$ref": "#"}},
        {"extends": [{"$ref": "#", "title": "a"}]},
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


def test_extensions_that_fan_out_come_to_an_end() -> None:
    def twice(n: int) -> dict[str, Any]:
        return {"extends": [{"$ref": f"#/definitions/d{n}", "title": word} for word in "ab"]}

    chain = {f"d{n}": twice(n + 1) for n in range(40)}
    assert kind(with_schema({"definitions": {**chain, "d40": {}}, **twice(0)})) == "crashes"


def test_what_an_earlier_plan_names_can_be_referred_to() -> None:
    named = {"definitions": {"x": {"id": "http://e.com/x"}}}
    refers = {"properties": {"a": {"$ref": "http://e.com/x"}}}
    assert kind(with_schema(named, refers)) == "accepts"
    assert kind(with_schema(refers, named)) == "refuses"
    assert len(judge(with_schema(refers, named, refers)).refusals) == 1


def test_drafts_have_their_own_keywords() -> None:
    broken = {"$ref": "#/definitions/none"}
    assert kind(with_schema({**broken, "$schema": "http://json-schema.org/draft-01/schema#"})) == "accepts"
    assert kind(with_schema({**broken, "$schema": "http://json-schema.org/draft-03/schema#"})) == "refuses"


D3 = "http://json-schema.org/draft-03/schema#"
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
        ({"disallow": "object", "type": "object"}, True),
        ({"disallow": "string", "type": "string"}, False),
        ({"extends": {}}, True),
        ({"extends": {"required": ["a"]}}, False),
        ({"extends": [{}, {"required": ["a"]}]}, False),
        ({"extends": [{}, {}]}, True),
        ({"extends": {"$ref": "#/definitions/a"}, "definitions": {"a": {"required": ["a"]}}}, False),
        ({"extends": {"$ref": "#/definitions/a", "title": "t"}, "definitions": {"a": {"required": ["a"]}}}, False),
        ({"$schema": D3, "disallow": "object"}, False),
        ({"$schema": D3, "disallow": "string"}, True),
        ({"$schema": D3, "disallow": ["string", "any"]}, False),
        ({"$schema": D3, "disallow": ["string", {"type": "object"}]}, False),
        ({"$schema": D3, "disallow": ["string", {"type": "string"}]}, True),
        ({"$schema": D3, "extends": {"type": "string"}}, False),
        ({"$schema": D3, "extends": {"type": "object"}}, True),
    ],
)
def test_what_an_empty_request_meets(keywords: dict[str, Any], meets: bool) -> None:
    assert kind(with_schema({**keywords, **BROKEN})) == ("refuses" if meets else "accepts")


def test_deep_nesting_ends_in_an_outcome() -> None:
    schema: dict[str, Any] = {}
    for _ in range(900):
        schema = {"not": schema}
    assert kind(with_schema(schema)) in {"accepts", "crashes"}


def test_what_its_database_does_not_take_is_refused_though_its_validator_is_silent() -> None:
    data = in_plan("name", "Small ")
    data["services"][0]["plans"].append({"id": "p2", "name": "small", "description": "d"})
    outcome = judge(data)
    assert (outcome.kind.value, outcome.messages) == ("refuses", ())
    assert [refusal.path for refusal in outcome.refusals] == [("services", 0, "plans", 1, "name")]
    assert kind(in_plan("maximum_polling_duration", 2**31 - 1)) == "accepts"
    assert kind(in_plan("maximum_polling_duration", 2**31)) == "crashes"
    assert kind(in_service("name", "SVC-0")) == "accepts"
