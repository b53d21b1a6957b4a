"""Messages about the body of an error."""

import json
from dataclasses import replace
from typing import Any

import pytest

from osbctl.client.catalog_client import _message, error_description, fetch_catalog, parse_broker_url
from osbctl.client.connection_options import ConnectionOptions
from osbctl.errors import SourceError, UsageError
from tests.broker.conftest import authority as authority
from tests.broker.harness import Authority
from tests.case import each
from tests.client.test_connection_options import server_side
from tests.conformance.faulty import PASSWORD, USER, faulty

OPTIONS = ConnectionOptions(user=USER, password=PASSWORD, connect_seconds=3, total_seconds=5)
_PAGE = "<!DOCTYPE html><html><head><title>Oops</title><style>a{}</style></head><body><h1>No &lt;plan&gt;</h1>\n<!-- x --></body></html>"


@each("body, shown", [
    (b"", "the body is empty"), (b" \n", "the body is empty"),
    (b'{"description": "no plan", "error": "Bad", "message": "other"}', "no plan"),
    (b'{"Description": "no plan"}', "no plan"), (b'{"description": {"a": "b"}, "error": {"message": "locked"}}', "locked"),
    (b'{"timestamp": 1, "error": "Server Error", "message": "boom", "path": "/v2/catalog"}', "boom"),
    (b'{"error": "Not Found", "message": "No message available"}', "Not Found"), (b'{"error": "boom"}', "boom"),
    (b'{"description": " ", "detail": "boom"}', "boom"), (b'{"code": 7}', '{"code": 7}'), (b'["boom"]', '["boom"]'),
    (b'{"password": "hunter2", "code": 7}', '{"password": "(secret)", "code": 7}'),
    (b"panic: plan small has no id\n", "panic: plan small has no id"), (b"a\r\n\tb", "a b"),
    (_PAGE.encode(), "Oops No <plan>"), (b"<html><body>half <b", "half"), (b"a < b and c > d", "a < b and c > d"),
    (b"password: hunter2hunter2", "password: ***"), (b"at https://u:hunter2@db/x", "at https://***@db/x"),
    (b"x?token=hunter2hunter2", "x?token=***"), (b"\x1b[31mred \xff", "\\x1b[31mred �"),
    (b"." * 5_000, "." * 300),
])  # fmt: skip
def test_the_cause_is_shown(body: bytes, shown: str) -> None:
    assert error_description(body, OPTIONS) == f": {shown}"


def test_a_message_may_lie_deep() -> None:
    body: Any = {"description": "no plan"}
    for _ in range(5_000):
        body = {"error": body}
    assert _message(body) == "no plan"


def test_no_body_shows_a_password_that_was_sent() -> None:
    bodies = (json.dumps({"a": PASSWORD}), json.dumps({"message": f"is {PASSWORD}!"}))
    for text in (PASSWORD, f"<html>{PASSWORD}</html>", *bodies, "." * 297 + PASSWORD):
        shown = error_description(text.encode(), OPTIONS)
        assert not any(PASSWORD[:length] in shown for length in range(4, len(PASSWORD) + 1))
    assert error_description(b"wrong place", replace(OPTIONS, password="wrong")) == ""


def test_the_router_of_cloud_foundry_is_named() -> None:
    headers = {"x-cf-routererror": "no_endpoints"}
    assert error_description(b"503 x", OPTIONS, headers) == ": 503 x (the router of Cloud Foundry reports no_endpoints)"
    assert PASSWORD not in error_description(b"", OPTIONS, {"x-cf-routererror": PASSWORD})


def test_plain_http_to_a_port_of_tls(authority: Authority) -> None:
    with faulty("", server_side(authority.issue("tls"))) as (address, _), pytest.raises(SourceError) as raised:
        fetch_catalog(address.replace("https:", "http:"), OPTIONS)
    assert "write https:// in the address" in raised.value.advice


def test_a_bracket_in_a_password_is_to_be_encoded() -> None:
    for url in ("https://u:a[b@example.com", "https://u:a]b@[::1]:8443/x", "https://[@example.com"):
        with pytest.raises(UsageError) as raised:
            parse_broker_url(url)
        assert "%5B" in raised.value.advice
        assert "a[b" not in str(raised.value)
    assert parse_broker_url("https://u:a%5Bb@[::1]:8443")[2] == "a[b"
    assert parse_broker_url("https://[::1]:8443/x")[1:] == ("", "")
