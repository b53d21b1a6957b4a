"""The views of a catalog, and hostile text in all of them."""

import re
from html import unescape
from typing import Any

import pytest

from osbctl.catalog import Catalog
from osbctl.parameter_table import MAX_LEVELS, MAX_ROWS, parameter_names, parameters
from osbctl.text import AnsiStyle, escape_line
from osbctl.views import lines as text_views
from osbctl.views import price_phrases, table
from tests.case import each

ID = "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4"
HOSTILE = "[red]x[/red] \x1b[31m \x1b]8;;http://evil\x07y \u202e a\nb\tc | <b> `z` **d** [l](http://m) www.n.example"


def catalog(text: str, id_: str = ID) -> Catalog:
    schema = {
        "properties": {text: {"type": text, "default": text, "description": text, "enum": [text], "pattern": text}},
        "required": [text],
    }
    metadata = {
        **dict.fromkeys(("displayName", "longDescription", "providerDisplayName", "documentationUrl"), text),
        "bullets": [text],
        "costs": [{"amount": {text: 9.5}, "unit": text}, {"amount": {"usd": text}, "unit": "MONTHLY"}],
    }
    plan = {"id": id_, "name": text, "description": text, "metadata": metadata, "schemas": {
        "service_instance": {"create": {"parameters": schema}}
    }}  # fmt: skip
    service = {"id": id_, "name": text, "description": text, "tags": [text], "metadata": metadata, "plans": [plan]}
    return Catalog.of({"services": [service, {"name": text}]})


def as_table(shown: Catalog, width: int = 200) -> str:
    return table.render(shown, width, colored=False)


def all_views(shown: Catalog) -> dict[str, list[str]]:
    return {
        "table": as_table(shown).split("\n"),
        "plain": list(text_views.catalog_lines(shown)),
        "markdown": list(text_views.markdown_lines(shown)),
        "detail": [line for service in shown.services for line in text_views.offering_lines(service, AnsiStyle(False))],
    }


@pytest.mark.parametrize("view", ["table", "plain", "markdown", "detail"])
def test_hostile_text_is_escaped(view: str) -> None:
    for line in all_views(catalog(HOSTILE))[view]:
        assert escape_line(line.replace("\t", " ")) == line.replace("\t", " ")
    markup = "[red]x[/red]"  # a table folds what is longer
    whole = "\n".join(all_views(catalog(markup if view == "table" else HOSTILE))[view])
    assert (r"\[red\]x\[/red\]" if view == "markdown" else markup) in whole


def test_markdown_has_no_markup_from_outside() -> None:
    lines = [line.replace("<br>", "") for line in text_views.markdown_lines(catalog(HOSTILE))]
    outside = [part for line in lines for part in line.split("`")[::2]]
    assert not any("<" in part or "http:" in part or "www.n" in part for part in outside)
    rows = [line for line in lines if line.startswith("|") and r"\[red" in line]
    assert [row.replace("\\|", "").count("|") for row in rows] == [7, 6]


@each("text, shown", [
    ("1. first", r"1\. first"),
    ("# head", r"\# head"),
    ("- item", r"\- item"),
    ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
    ("10 GB. Fast.", "10 GB. Fast."),
    ("WWW.x.com me@x.com", r"WWW\.x.com me\@x.com"),
])  # fmt: skip
def test_markdown_text(text: str, shown: str) -> None:
    assert list(text_views.markdown_lines(catalog(text)))[2] == shown


@pytest.mark.parametrize("width", [45, 60, 80, 99, 100, 120, 139, 140, 200])
def test_no_width_cuts_anything(width: int) -> None:
    long = "a description that needs all the room that there is and more " * 3
    plans = [{"id": ID, "name": "x" * 50, "description": long, "metadata": {"bullets": [long] * 2}}] * 2
    shown = as_table(Catalog.of({"services": [{"id": ID, "name": "s", "description": long, "plans": plans}]}), width)
    lines = shown.splitlines()
    assert "…" not in shown
    assert shown.count(ID) == 3
    assert max(map(len, lines)) <= width
    heads = [line for line in lines if "Plan " in line and "Description" in line]
    if width < 100:
        assert heads == []
        assert "    • a description that needs" in shown
    else:
        assert "Includes" in heads[0]


def test_empty_columns_are_omitted() -> None:
    plans = [{"id": ID, "name": "p", "description": "room " * 13 + "enough"}]
    shown = as_table(Catalog.of({"services": [{"name": "s", "plans": plans}]}), 139)
    assert "Includes" not in shown
    assert "room enough" in shown


def test_plans_with_bullets_stand_apart() -> None:
    plans = [{"name": name, "metadata": {"bullets": [f"{name} bullet"]}} for name in ("first", "second")]
    lines = as_table(Catalog.of({"services": [{"plans": plans}]})).split("\n")
    between = lines[next(n for n, line in enumerate(lines) if "first bullet" in line) + 1]
    assert between.strip() == ""


@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
@pytest.mark.parametrize("width", [60, 120])
def test_the_caller_says_width_and_colour(monkeypatch: pytest.MonkeyPatch, term: str, width: int) -> None:
    for name, value in {"TERM": term, "NO_COLOR": "1", "FORCE_COLOR": "1", "COLUMNS": "33"}.items():
        monkeypatch.setenv(name, value)
    bare, colored = (table.render(catalog("word " * 30), width, colored=choice) for choice in (False, True))
    assert "\x1b" not in bare
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == bare
    assert max(map(len, bare.split("\n"))) in range(width - 5, width + 1)


def test_a_missing_id_is_shown_as_missing() -> None:
    page = list(text_views.markdown_lines(catalog("x", "")))
    assert page[4].startswith("(no id) — ")
    assert not any("``" in line for line in page)


def test_wide_parameter_names_line_up() -> None:
    schema = {"properties": {"日本語": {"type": "string"}, "ab": {"type": "string"}}}
    plan = {"schemas": {"service_binding": {"create": {"parameters": schema}}}}
    (service,) = Catalog.of({"services": [{"plans": [plan]}]}).services
    told = list(text_views.offering_lines(service, AnsiStyle(False)))
    assert told[-2:] == ["    日本語  string", "    ab      string"]


def test_nothing_is_wrapped_in_a_pipe() -> None:
    long = "word " * 500
    lines = list(text_views.catalog_lines(catalog(long.strip())))
    assert len(lines) == 3
    assert {line.count("\t") for line in lines} == {len(text_views.COLUMNS) - 1}
    assert long.strip() in lines[1]


@each("costs, shown", [
    ([{"amount": {"usd": 99.0, "eur": 79}, "unit": "MONTHLY"}], "99 USD or 79 EUR a month"),
    ([{"unit": "1 GB"}, {"amount": 5}, "x"], "1 GB; 5"),
    ([{"amount": {"usd": 1234.5}, "unit": "MONTHLY"}], "1,234.50 USD a month"),
    ([{"amount": {"usd": 52.44000000000001, "eur": 1e-4}, "unit": "MONTHLY"}], "52.44 USD or 0.0001 EUR a month"),
    ([{"amount": {"usd": 0.05, "eur": 0.04}, "unit": "HOURLY"}], "0.05 USD an hour; 0.04 EUR an hour"),
    ([{"amount": {"usd": 10}, "unit": "1GB of messages"}], "10 USD / 1GB of messages"),
    ([{"amount": {"usd": "on request"}, "unit": "MONTHLY"}], "on request USD / MONTHLY"),
])  # fmt: skip
def test_prices_are_phrases(costs: Any, shown: str) -> None:
    (plan,) = Catalog.of({"services": [{"plans": [{"metadata": {"costs": costs}}]}]}).plans
    assert "; ".join(price_phrases(plan)) == shown


def with_schemas(*schemas: dict[str, Any] | None) -> Any:
    plans = [
        {"name": f"p{n}", "schemas": {"service_instance": {"create": {"parameters": schema}}} if schema else {}}
        for n, schema in enumerate(schemas)
    ]
    return Catalog.of({"services": [{"name": "s", "plans": plans}]}).services[0]


def test_equal_parameters_are_shown_once() -> None:
    zone = {"type": "string", "description": "Where."}
    sizes = [{"properties": {"size": {"maximum": most, "description": "How large."}, "zone": zone}} for most in (1, 9)]
    told = list(text_views.offering_lines(with_schemas(*sizes, None), AnsiStyle(False)))
    assert told[-6:] == [
        "  Parameters of service_instance.create (plans p0, p1):",
        "    size  any, ≤ 1 (plan p0)",
        "          any, ≤ 9 (plan p1)",
        "          How large.",
        "    zone  string",
        "          Where.",
    ]
    alone = list(text_views.offering_lines(with_schemas(sizes[0]), AnsiStyle(False)))
    assert alone[-5] == "  Parameters of service_instance.create:"


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_long_line_hangs_below_its_text(width: int) -> None:
    shown = catalog("room " * 30 + "enough").services[0]
    lines = [one for line in text_views.offering_lines(shown, AnsiStyle(True), width) for one in line.split("\n")]
    bare = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    assert bare != lines
    at = next(number for number, line in enumerate(bare) if line.startswith("  Description"))
    assert bare[at + 1].startswith(" " * 17 + "room")
    bullet = next(number for number, line in enumerate(bare) if line.startswith("    • "))
    assert bare[bullet + 1].startswith("      room")
    assert all(len(line) <= width for line in bare if ID not in line and len(line.split()) > 2)


def test_parameters() -> None:
    schema = {
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "How many."},
            "mode": {"enum": ["fast", "safe"]},
            "backup": {"type": "object", "properties": {"hour": {"type": ["integer", "null"]}}},
            "zones": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "shared": {"$ref": "#/definitions/flag"},
            "lost": {"$ref": "#/definitions/none"},
            "any": True,
        },
        "definitions": {"flag": {"type": "boolean", "title": "A flag"}},
    }
    assert [(row.name, row.full_type, row.required, row.default, row.description) for row in parameters(schema)] == [
        ("size", "integer, ≥ 1, ≤ 9", True, "3", "How many."),
        ("mode", '"fast" | "safe"', False, "", ""),
        ("backup", "object", False, "", ""),
        ("backup.hour", "integer or null", False, "", ""),
        ("zones", "array of string, at least 1 items", False, "", ""),
        ("shared", "boolean", False, "", "A flag"),
        ("lost", "any", False, "", ""),
        ("any", "any", False, "", ""),
    ]
    size, *_, zones = [row for row in parameters(schema) if row.limits]
    assert (size.type, size.limits, zones.limits) == ("integer", "≥ 1, ≤ 9", "at least 1 items")


LIMITS: list[tuple[dict[str, Any], str]] = [
    ({"minimum": 5, "exclusiveMinimum": True}, "> 5"),
    ({"minimum": 5, "exclusiveMinimum": False}, "≥ 5"),
    ({"exclusiveMaximum": True, "maximum": 5.5}, "< 5.5"),
    ({"maximum": 5, "exclusiveMaximum": False, "minimum": 1, "exclusiveMinimum": True}, "> 1, ≤ 5"),
    ({"exclusiveMinimum": True}, ""),
    ({"minimum": True, "exclusiveMinimum": True}, ""),
    ({"exclusiveMinimum": 5, "minimum": 6}, "≥ 6, > 5"),
    ({"multipleOf": 2}, "a multiple of 2"),
    ({"minimum": 0, "exclusiveMinimum": True, "multipleOf": 0.5}, "> 0, a multiple of 0.5"),
    ({"minProperties": 1, "maxProperties": 3}, "at least 1 properties, at most 3 properties"),
]


@pytest.mark.parametrize(("schema", "limits"), LIMITS, ids=[limits or "none" for _, limits in LIMITS])
def test_the_limits_of_a_parameter(schema: dict[str, Any], limits: str) -> None:
    (row,) = parameters({"properties": {"n": schema}})
    assert row.limits == limits


def test_a_limit_in_any_view_is_that_of_the_schema() -> None:
    schema = {"properties": {"n": {"type": "integer", "minimum": 5, "exclusiveMinimum": True, "multipleOf": 2}}}
    plan = {"id": "p", "name": "a", "schemas": {"service_instance": {"create": {"parameters": schema}}}}
    shown = Catalog.of({"services": [{"id": "s", "name": "s", "plans": [plan]}]})
    for view in ("markdown", "detail"):
        text = unescape("\n".join(all_views(shown)[view])).replace("\\", "")
        assert "> 5, a multiple of 2" in text
        assert "≥" not in text


def test_parameters_beyond_the_limit_are_counted_out() -> None:
    def rows(number: int) -> list[Any]:
        return list(parameters({"properties": {f"p{n}": {} for n in range(number)}}))

    shown = {number: len(rows(number)) for number in (MAX_ROWS - 1, MAX_ROWS, MAX_ROWS + 1)}
    assert [*shown.values()] == [MAX_ROWS - 1, MAX_ROWS, MAX_ROWS]
    assert rows(MAX_ROWS)[-1].name == f"p{MAX_ROWS - 1}"
    assert rows(MAX_ROWS + 1)[-1].description == "more than 1,000 parameters: those from here on are omitted"


def test_parameters_in_arrays() -> None:
    user = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    grid = {"type": "array", "items": {"type": "array", "items": user}}
    schema = {
        "properties": {"users": {"type": "array", "items": {"$ref": "#/definitions/user"}}, "grid": grid},
        "definitions": {"user": user},
    }
    assert [(row.name, row.type, row.required) for row in parameters(schema)] == [
        ("users", "array of object", False),
        ("users[].name", "string", True),
        ("grid", "array of array of object", False),
        ("grid[][].name", "string", True),
    ]


@each("draft, shown", [
    ("https://json-schema.org/draft/2020-12/schema", "integer, ≥ 1, ≤ 5, a multiple of 2; default 3 Disk in GB"),
    ("https://json-schema.org/draft/2019-09/schema", "integer, ≥ 1, ≤ 5, a multiple of 2; default 3 Disk in GB"),
    ("http://json-schema.org/draft-07/schema#", "number or null, ≥ 1, ≤ 9; default 7 Size"),
    (None, "number or null, ≥ 1, ≤ 9; default 7 Size"),
])  # fmt: skip
def test_what_stands_beside_a_reference_counts_since_2019(draft: str | None, shown: str) -> None:
    own = {"type": "integer", "default": 3, "description": "Disk in GB", "minimum": 0, "maximum": 5, "multipleOf": 2}
    size = {"type": ["number", "null"], "minimum": 1, "maximum": 9, "default": 7, "title": "Size"}
    far = {"allOf": [{"$ref": "#/$defs/size"}], **own}
    defs = {"size": size, "again": {"$ref": "#/$defs/size"}}
    beside = {"$ref": "#/$defs/again", **own}
    schema = {"$schema": draft, "properties": {"beside": beside, "far": far}, "$defs": defs}
    rows = {row.name: f"{row.summary} {row.description}" for row in parameters(schema)}
    assert rows == {"beside": shown, "far": "integer, ≥ 1, ≤ 5, a multiple of 2; default 3 Disk in GB"}


@each("schema, rows", [
    ({"type": "number", "allOf": [{"type": "integer"}]}, ["x integer"]),
    ({"const": "gold"}, ['x "gold"']), ({"const": None, "type": ["null", "string"]}, ["x null"]),
    ({"enum": ["a", "b", "c"], "allOf": [{"enum": ["c", "d", "b"]}]}, ['x "b" | "c"']),
    ({"allOf": [{"$ref": "#/definitions/a"}], "default": 3}, ["x integer, > 1, at most 3 characters; default 3"]),
    ({"allOf": [{"allOf": [{"maxLength": 5}]}, {"pattern": "a"}], "pattern": "b"},
     ["x any, at most 5 characters, matches b, matches a"]),
    ({"allOf": [True, "x", {"$ref": "#/definitions/none", "type": "string"}]}, ["x string"]),
    ({"allOf": [{}, False]}, []), ({"$ref": "#/definitions/no"}, []), ({"$ref": "#/definitions/yes", "type": "x"}, ["x any"]),
    ({"type": ["array", "null"], "items": {"properties": {"q": {}}}}, ["x array of any or null", "x[].q any"]),
    ({"type": ["object", "array"], "properties": {"p": {}}, "items": {"type": "array", "items": {"properties": {"q": {}}}}},
     ["x object or array of array of any", "x.p any", "x[][].q any"]),
    ({"type": "array", "items": False, "properties": {"p": {}}}, ["x array"]),
    ({"properties": {"p": {"default": 1}}, "allOf": [{"properties": {"q": {}, "p": {"type": "integer"}}, "required": ["p"]}]},
     ["x any", "x.p integer; required; default 1", "x.q any"]),
    ({"required": ["q"], "allOf": [{"properties": {"q": {"type": "integer"}}}]}, ["x any", "x.q integer; required"]),
    ({"default": "hunter22", "allOf": [{"enum": ["hunter22", "b"]}]}, ['x (secret) | "b"; default (secret)']),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "string", "minLength": 1}]}, ["x string | integer"]),
    ({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"enum": ["b", "hunter22"]}]}, ['x "a" | "b" | (secret)']),
    ({"type": "string", "oneOf": [{"const": "a"}, {"maxLength": 5}]}, ["x string"]),
    ({"properties": {"p": {"type": "null"}},
      "oneOf": [{"properties": {"k": {"enum": ["a"]}, "p": {}}}, {"properties": {"k": {"const": "b"}, "q": {"minimum": 1}}}],
      "then": {"$ref": "#/definitions/r"}}, ["x any", "x.p null", 'x.k "a" | "b"', "x.q any, ≥ 1", "x.r integer, > 1"]),
])  # fmt: skip
def test_a_parameter_is_what_all_parts_of_its_schema_say(schema: dict[str, Any], rows: list[str]) -> None:
    a = {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "maxLength": 3}
    token = {"allOf": [{"const": "hunter22"}]}
    definitions = {
        "a": a,
        "no": False,
        "yes": True,
        "token": token,
        "r": {"properties": {"r": {**a, "maxLength": None}}},
    }
    top = {"properties": {"token": token}, "allOf": [{"properties": {"x": schema}}], "definitions": definitions}
    assert [f"{row.name} {row.summary}" for row in parameters(top)] == ["token (secret)", *rows]
    assert parameter_names(top) == (["token", "x"] if rows else ["token"])


def test_a_constant_says_nothing_in_draft_4() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"x": {"const": 1, "type": "string"}}}
    assert [row.type for row in parameters(schema)] == ["string"]


def test_schemas_that_refer_to_themselves_end() -> None:
    names = [row.name for row in parameters({"properties": {"a": {"$ref": "#"}}})]
    assert names == [".".join("a" * (level + 1)) for level in range(MAX_LEVELS + 1)]
    node = {"properties": {f"p{n}": {"$ref": "#/definitions/node"} for n in range(10)}}
    assert len(list(parameters({**node, "definitions": {"node": node}}))) == MAX_ROWS
    node["oneOf"] = [{"$ref": "#/definitions/node"}, {"properties": {"q": {"anyOf": [{"$ref": "#"}] * 30}}}] * 30
    assert len(list(parameters({**node, "definitions": {"node": node}}))) == MAX_ROWS
    loop = {"type": "array", "items": {"$ref": "#/definitions/loop"}}
    (row,) = parameters({"properties": {"x": {"$ref": "#/definitions/loop"}}, "definitions": {"loop": loop}})
    assert row.type == "array of " * (MAX_LEVELS + 1) + "items"
    again = {"allOf": [{"$ref": "#/definitions/again"}] * 9, "properties": {"a": {"$ref": "#/definitions/again"}}}
    names = [row.name for row in parameters({"$ref": "#/definitions/again", "definitions": {"again": again}})]
    assert names == [".".join("a" * (level + 1)) for level in range(MAX_LEVELS + 1)]


@pytest.mark.parametrize("view", ["table", "markdown", "detail"])
def test_deprecation_is_shown(view: str) -> None:
    mark = {"state": "deprecated", "sunset": "2027-03-31"}
    plans = [{"id": "p1", "name": "a", "metadata": mark}, {"id": "p2", "name": "b", "metadata": {"state": "active"}}]
    shown = Catalog.of({"services": [{"id": "s", "name": "s", "plans": plans, "metadata": {"state": "deprecated"}}]})
    text = "\n".join(all_views(shown)[view]).replace("\\", "")
    assert re.search(r"deprecated,\s+available", text)
    assert text.count("deprecated") == 2


@pytest.mark.parametrize("view", ["table", "plain", "markdown", "detail"])
def test_a_flag_that_is_no_boolean_is_unclear(view: str) -> None:
    plans = [{"name": "a", "free": "no"}, {"name": "b", "free": False, "bindable": True}]
    text = "\n".join(all_views(Catalog.of({"services": [{"name": "s", "bindable": "true", "plans": plans}]}))[view])
    assert text.count("unclear") == (2 if view == "plain" else 3)  # the others have a line on the service
    assert "paid" in text
    assert " free" not in text.casefold()


@pytest.mark.parametrize(("price", "word"), [(9.5, "unclear"), (0, "free")])
def test_a_plan_with_a_price_is_not_free_by_default(price: float, word: str) -> None:
    plan = {"name": "a", "metadata": {"costs": [{"amount": {"usd": price}, "unit": "MONTHLY"}]}}
    for free, shown in ({}, word), ({"free": None}, word), ({"free": True}, "free"), ({"free": False}, "paid"):
        catalog = Catalog.of({"services": [{"name": "s", "plans": [plan | free]}]})
        assert shown in "\n".join(all_views(catalog)["plain"]).split()
