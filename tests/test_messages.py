"""Sentences with values: what is shown of a value is decided by its path, in one place."""

import json
import pickle

import pytest

from osbctl.findings import DocumentError, Finding, Group, LineNumber, Location, Severity
from osbctl.messages import Message, Value, text_of
from osbctl.paths import JsonPath

PLAN = ("services", 0, "plans", 0)
CLIENT = ("services", 0, "dashboard_client")
PROPERTIES = (*PLAN, "schemas", "service_instance", "create", "parameters", "properties")


@pytest.mark.parametrize(
    ("value", "path", "shown"),
    [
        ("small", (*PLAN, "name"), "'small'"),
        ("https://u:hunter2@x/" + "y" * 20, (*PLAN, "name"), "'https://***@x/yyyyyy'"),
        ("hunter2", (*CLIENT, "secret"), "(secret)"),
        ("hunter2", (*CLIENT, "id"), "'hunter2'"),
        ("hunter2", (*CLIENT, "redirect_uri"), "'hunter2'"),
        (True, (*CLIENT, "secret"), "True"),
        ("hunter2", (*PROPERTIES, "password"), "(secret)"),
        ("string", (*PROPERTIES, "password", "type"), "'string'"),
        ("hunter2", (*PROPERTIES, "password", "default"), "(secret)"),
        ("hunter2", ("properties", "key", "x"), "'hunter2'"),
        ("hunter2", ("password", "x", "properties"), "(secret)"),
        ("hunter2", ("services", 0, "properties", "password", "x"), "(secret)"),
        ("hunter2", ("metadata", "dependencies", "key", "x"), "(secret)"),
        ("hunter2", ("properties", "x", "password", "y"), "(secret)"),
        ({"password": "hunter2", "user": "x"}, (*PLAN, "metadata"), "{'password': '(secret)', 'user': 'x'}"),
        ("hunter2", ("services", 0, "Dashboard-Client", "x"), "(secret)"),
        ("hunter2", ("services", 0, "dashboardClient", "x"), "(secret)"),
        ([{"dashboard_client": {"id": "hunter2"}}], ("services",), "[{'dashboard_client': '(secret)'}]"),
    ],
)  # fmt: skip
def test_the_path_of_a_value_decides_what_is_shown(value: object, path: JsonPath, shown: str) -> None:
    quoted = Value(value, path, limit=20)
    message = Message("plan {name} has {}", quoted, name=Message("{!r}", "x"))
    assert text_of(message) == f"plan 'x' has {shown}"
    assert repr(message) == f"Message({str(message)!r})"
    assert repr(quoted) == shown


def test_a_value_is_redacted_before_it_is_written_in_its_form() -> None:
    """Afterwards a quote or an escape could hide the end of a secret."""
    value = {"token": 'hun"ter2', "url": 'https://u:hun"ter2@x'}
    assert str(Message("{}", Value(value, form=json.dumps))) == '{"token": "(secret)", "url": "https://***@x"}'
    assert str(Message("{}", Value("x", (*CLIENT, "secret"), if_secret="a string"))) == "a string"


def test_plain_sentences_and_parts_are_redacted_as_a_whole() -> None:
    told = "no https://u:hunter2@x, nor {token=hunter2}"
    assert "hunter2" not in text_of(told) + str(Message("{}", told))
    finding = Finding("r", Severity.ERROR, told, location=Location("a", 1, 1), hint=told)
    assert "hunter2" not in finding.message + finding.advice + "".join(DocumentError((finding,)).args)


def test_messages_are_equal_by_template_and_values_and_travel_between_processes() -> None:
    one, same, other = (Message("{} of {x}", Value({"a": n}, ("a",)), x=1) for n in (1, 1, 2))
    assert one == same == pickle.loads(pickle.dumps(one))
    assert one != other
    assert len({one, same, other}) == 2
    assert one != "{} of {x}"
    assert hash(one) != hash(Message("{x}"))


def test_the_values_of_a_message_and_of_those_in_it_are_replaced() -> None:
    message = Message("{} {x}", 1, x=Message("{} {y}", 2, y=3))
    assert str(message.with_values(lambda number: number * 10)) == "10 20 30"


def test_a_line_is_named_with_its_source_if_that_is_another() -> None:
    place = Location("a.yaml", 3, 1)
    assert [str(LineNumber(place, source)) for source in ("a.yaml", "b.yaml")] == ["line 3", "a.yaml:3"]
    assert str(Group(Message("plans cost {}", 3)).sentence(1_200)) == "1,200 plans cost 3"
