"""Secrets in values that change: under a reference from a secret name, and within texts."""

from typing import Any

import pytest

from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.refusals import find_new_refusals
from osbctl.jsonschemas.compare import compare_schemas
from osbctl.platforms import Platform
from osbctl.platforms.verdict import Refusal
from osbctl.reports.changes import DiffFormat, DiffReport, render
from osbctl.rule import RULES
from tests.case import each

from .make import one, refusals, with_plan, with_schema

SECRET = "hunter2"
TO_P, TO_Q = {"$ref": "#/definitions/p"}, {"$ref": "#/definitions/q"}


def referring(p: Any, properties: Any, **keywords: Any) -> dict[str, Any]:
    return with_schema({"definitions": {"p": p, "q": {"items": TO_P}}, "properties": properties, **keywords})


def of(name: str, **keywords: Any) -> dict[str, Any]:
    return with_schema({"properties": {name: keywords}})


def dashboard(**fields: Any) -> dict[str, Any]:
    return one(dashboard_client={"id": "a", **fields})


PASSWORD, LOGIN = {"password": TO_P}, {"password": {"allOf": [TO_P]}, "login": TO_P}
NEEDED = {"required": ["login", "password", "size"]}
BY_ID, WRITER = {"properties": {"password": {"$ref": "#pw"}}}, {"a": {"properties": {"token": TO_Q}}, "b": TO_Q}
LISTED = {"enum": ["hunter2", "hunter3"]}
WITH_USER = "postgres://admin:hunter2@db.example.com/x"
HOLDERS: list[tuple[str, Any, Any]] = [
    ("default", referring({}, PASSWORD), referring({"default": SECRET}, PASSWORD)),
    ("enum", referring(LISTED, PASSWORD), referring({"enum": ["other"]}, PASSWORD)),
    ("shared with another name", referring(LISTED, LOGIN), referring({"enum": ["other"]}, LOGIN)),
    ("made longer", referring({"pattern": "x"}, LOGIN), referring({"enum": [SECRET]}, LOGIN)),
    ("needed by the example", *(referring(LISTED, {**LOGIN, "size": {"maximum": n}}, **NEEDED) for n in (5, 4))),
    ("two references away", referring({}, {"keys": TO_Q}), referring({"const": SECRET}, {"keys": TO_Q})),
    (
        "two references away, seen from the first",
        *(referring({"enum": [1], **more}, WRITER) for more in ({}, {"default": SECRET})),
    ),
    ("all of a definition", referring(LISTED, PASSWORD, title="a"), referring(LISTED, PASSWORD, title="b")),
    (
        "a reference that is not understood",
        *(with_schema({**BY_ID, "definitions": {"p": {"$id": "#pw", **more}}}) for more in (LISTED, {})),
    ),
    ("a schema that cannot be compared", *(referring(LISTED, PASSWORD, minimum=n) for n in "12")),
    (
        "parts that are not read",
        *(
            with_plan(schemas={"service_instance": {"create": {"x": x, "parameters": {}}}})
            for x in (WITH_USER, "other")
        ),
    ),
    ("URL in metadata", one(metadata={"documentationUrl": "x"}), one(metadata={"documentationUrl": WITH_USER})),
    ("unknown field", one(), one(connection="Server=db;Uid=sa;Pwd=hunter2;Timeout=3")),
    ("unknown field of a plan", with_plan(x={WITH_USER: 1}), with_plan(x=["https://x/?sig=hunter2"])),
    ("tag", one(), one(tags=[WITH_USER])),
    ("wrong permission", one(), one(requires=["syslog_drain", {"password": SECRET}])),
    ("wrong type", one(), one(tags=["a", {"password": SECRET}], metadata=[{"inside": {"apiKey": [SECRET]}}])),
    ("description", one(), one(description="curl https://api.example.com/?token=hunter2")),
    ("name of a field", one(), one(**{WITH_USER: 1})),
    ("default of a secret name", of("password"), of("password", default=SECRET)),
    ("default with a user", of("db"), of("db", default=WITH_USER)),
    ("enum of URLs", of("db", enum=[WITH_USER, "x"]), of("db", enum=["x"])),
    ("enum that stays", of("db", type="string"), of("db", enum=[WITH_USER])),
    ("redirect of the dashboard", *(dashboard(redirect_uri=f"https://x/{query}") for query in ("?key=hunter2", ""))),
    ("redirect with a user", dashboard(redirect_uri="https://x"), dashboard(redirect_uri="https://user:hunter2@x")),
    ("secret of the dashboard", dashboard(secret=SECRET), dashboard(secret="x")),
    ("new secret of the dashboard", dashboard(), dashboard(secret=SECRET)),
    ("dashboard gone", dashboard(secret=SECRET), one()),
    ("dashboard misshapen", one(dashboard_client=SECRET), one(dashboard_client=[SECRET, 1])),
    ("dashboard that a platform refuses", one(), one(dashboard_client=[SECRET])),
    ("secret misshapen", one(), dashboard(secret=[SECRET], redirect_uri="u")),
    ("unknown secrets", one(), one(password=SECRET, inside={"token": SECRET, "more": [{"apiKey": SECRET}]})),
    ("metadata", one(), one(metadata={"secret": {"a": [SECRET]}})),
    ("top", one(), {**one(), "credentials": SECRET}),
]


@pytest.mark.parametrize(("name", "old", "new"), HOLDERS, ids=[row[0] for row in HOLDERS])
def test_no_secret_is_in_a_change(name: str, old: Any, new: Any) -> None:
    for before, after in ((old, new), (new, old)):
        changes = compare_catalogs(before, after)
        assert changes
        changes += find_new_refusals(before, after, {}, refusals(after), changes)
        hidden = [[change.message, change.old, change.new] for change in changes]
        # The path of a field is its name.
        assert SECRET not in repr(hidden if name == "name of a field" else changes)


@pytest.mark.parametrize("form", list(DiffFormat))
def test_no_secret_is_in_a_report(form: DiffFormat) -> None:
    for name, old, new in HOLDERS:
        if name != "name of a field":
            report = DiffReport(
                old="old", new="new", changes=compare_catalogs(old, new), load_rules=lambda: RULES, root=""
            )
            assert SECRET not in render(report, form)


def test_what_is_no_secret_is_shown_beside_one() -> None:
    """The change of `size` quotes its own values; what is hidden hides no more than itself."""
    old = referring(LISTED, {**LOGIN, "size": {"enum": ["s", "m"]}}, required=["login"])
    (change,) = compare_catalogs(old, referring(LISTED, {**LOGIN, "size": {"enum": ["s"]}}, required=["login"]))
    assert change.message == (
        'service_instance.create: "size" no longer accepts "m" (enum: ["s"]);'
        ' for example {"login": "(secret)", "size": "m"}'
    )
    assert (change.old, change.new) == (["s", "m"], ["s"])


STRING = {"type": "string"}


@each("name, old, new, message", [
    ("password", {"default": "hunter2"}, {"default": "hunter3"}, 'the default of "password" changed (secret)'),
    ("password", {}, {"default": "hunter3"}, 'the default of "password" changed from none to (secret)'),
    ("db", {"default": "u://hunter2@x"}, {"default": "u://hunter3@x"}, 'the default of "db" changed (secret)'),
    # The new list is a secret as much as the value that it refuses; a limit is none.
    ("password", STRING, {**STRING, "enum": ["hunter2"]}, '"password" no longer accepts (secret) (enum)'),
    ("password", STRING, {**STRING, "const": "hunter2"}, '"password" no longer accepts (secret) (const)'),
    ("password", STRING, {**STRING, "minLength": 8}, '"password" no longer accepts (secret) (minLength: 8)'),
])  # fmt: skip
def test_a_secret_that_changes_is_said_to_change(name: str, old: Any, new: Any, message: str) -> None:
    (change,) = compare_schemas({"properties": {name: old}}, {"properties": {name: new}})
    assert change.message == message


def test_a_secret_outside_of_the_schemas_is_said_to_change() -> None:
    (change,) = compare_catalogs(with_plan(schemas={"token": "hunter2"}), with_plan(schemas={"token": "hunter3"}))
    assert change.message == "schemas changed (secret) in parts that platforms do not read"


def test_what_a_secret_name_refers_to_is_hidden_under_other_names_too() -> None:
    changes = compare_catalogs(referring({"type": "string"}, LOGIN), referring({"type": "integer"}, LOGIN))
    told = [change.message.partition(": ")[2].partition(";")[0] for change in changes]
    assert told == [f'"{name}" no longer accepts (secret) (type: "integer")' for name in ("login", "password")]
    assert {(change.old, change.new) for change in changes} == {("(secret)", "(secret)")}


def test_a_refusal_quotes_no_user_of_a_url() -> None:
    refused = Refusal("r", ("services", 0, "name"), f"{WITH_USER} is no name")
    (change,) = find_new_refusals(one(), one(), {}, {Platform.KORIFI: [refused]}, [])
    assert change.message == "postgres://***@db.example.com/x is no name (r)"


@each("old, new, what", [
    ({"maximum": 1}, {"maximum": 2}, "maximum changed from 1 to 2"),
    ({"maximum": 1}, {}, "maximum changed from 1 to none"),
    ({"type": "string"}, {"type": ["string", "null"]}, 'type changed from "string" to ["string", "null"]'),
    ({"enum": ["a"]}, {"enum": ["a", "b"]}, 'enum changed from ["a"] to ["a", "b"]'),
    ({"not": {"const": 1}}, {}, 'not changed from {"const": 1} to none'),
])  # fmt: skip
def test_what_is_accepted_now_is_told_with_both_values(old: Any, new: Any, what: str) -> None:
    (change,) = compare_schemas(*({"properties": {"size": schema}} for schema in (old, new)))
    assert change.message == f'"size": {what}; that refuses nothing'
    (change,) = compare_schemas(*({"properties": {"password": schema}} for schema in (old, new)))
    keyword = what.partition(" ")[0]
    hidden = " (secret)" if keyword in new else " from (secret) to none"
    assert change.message == f'"password": {keyword} changed{hidden}; that refuses nothing'


def test_a_name_that_holds_a_secret_is_told_without_it() -> None:
    name = f"https://db.example.com/?password={SECRET}"
    old = {"type": "object", "properties": {name: {"type": "string", "default": "a"}}}
    new = {"type": "object", "properties": {name: {"type": "integer", "default": 1}}, "required": [name]}
    changes = compare_schemas(old, new)
    assert {change.rule for change in changes} >= {"schema-type-narrowed", "schema-required-added"}
    for change in changes:
        assert SECRET not in change.message + change.example
