"""Responses of the application, for each requirement of the HTTP contract."""

import gzip
import json
from base64 import b64encode
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.broker.authenticator import BUSY, REFUSED, CredentialCheck, Decision, RequestOutcome
from osbctl.broker.catalog_app import CatalogApp, ServedCatalog
from osbctl.broker.channel import Channel
from osbctl.broker.parser import RequestParser, etag_matches, parse_http_date, prefers_gzip
from tests.case import each

BODY = json.dumps({"services": [{"name": "käse", "plans": [{"name": f"p{n}"} for n in range(9)]}]}).encode()
MODIFIED = 1_700_000_000
CATALOG = ServedCatalog.from_body(BODY, MODIFIED, services=1)
GOOD = "Basic " + b64encode(b"admin:secret").decode()
IDENTITY = "8a5c3b1e-0000-4000-8000-000000000001"


def decision(header: str | None) -> Decision | None:
    """Decision of an authenticator with a warm cache; None if the header is missing."""
    known = {GOOD: Decision(RequestOutcome.ACCEPTED, "autumn"), "Basic later": BUSY, "Basic ungated": None}
    return known.get(header or "", REFUSED)


class Connection(Channel):
    """A `Channel` behind an authenticator, which takes one response."""

    since, addr, socket = 0.0, ("192.0.2.1", 1), None

    def __init__(self, app: Any) -> None:
        connections = SimpleNamespace(prove=lambda _: None)
        self.shared: Any = SimpleNamespace(authenticate="a gate", draining=False, connections=connections)
        self.server = SimpleNamespace(application=app)

    def send(self, data: bytes, do_close: bool = True) -> int:
        self.head, _, self.body = data.partition(b"\r\n\r\n")
        return len(data)

    def write_soon(self, data: bytes) -> None:
        assert data == b""


class Answered:
    """The status, headers and body that are sent."""

    def __init__(self, app: Any, method: str, path: str, headers: dict[str, str]) -> None:
        request = RequestParser(None)
        request.command, request.target = method, path
        request.headers = {name.upper(): value for name, value in headers.items()}
        connection = Connection(app)
        decided = decision(headers.get("authorization"))
        connection.check = CredentialCheck(decided) if decided else None
        connection._answer_if_decided(request)
        line, *lines = connection.head.decode("latin-1").split("\r\n")
        self.line, self.status, self.body = line, int(line.split()[1]), connection.body
        self.headers = dict(header.split(": ", 1) for header in lines)
        assert len(self.headers) == len(lines)
        assert self.headers.pop("Date")


def ask(method: str = "GET", path: str = "/v2/catalog", *, app: Any = None, **changes: str | None) -> Answered:
    headers = {"authorization": GOOD, "x_broker_api_version": "2.14", **changes}
    present = {name: value for name, value in headers.items() if value is not None}
    return Answered(app or CatalogApp(CATALOG), method, path, present)


def answers(**options: Any) -> CatalogApp:
    return CatalogApp(CATALOG, **options)


def problem(answer: Answered) -> str:
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Length"] == str(len(answer.body))
    data = json.loads(answer.body)
    assert set(data) == {"error", "description"}
    assert data["error"].isalpha()
    assert data["description"].endswith(".")
    return str(data["error"])


@pytest.mark.parametrize("version", ["2.0", "2.11", "2.13", "2.14", "2.15", "2.17", "2.99", " 2.14\t"])
def test_every_minor_version_is_accepted(version: str) -> None:
    answer = ask(x_broker_api_version=version, x_broker_api_request_identity=IDENTITY)
    assert (answer.status, answer.body) == (200, BODY)
    assert answer.headers == {
        "ETag": CATALOG.etag,
        "Vary": "Accept-Encoding",
        "Cache-Control": "no-cache",
        "X-Broker-API-Request-Identity": IDENTITY,
        "Content-Type": "application/json",
        "Content-Length": str(len(BODY)),
        "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT",
    }


@pytest.mark.parametrize("base", ["/brokers/one", "/brokers/one/", "brokers/one"])
def test_base_path_is_a_prefix(base: str) -> None:
    app = answers(base_path=base)
    assert ask(app=app, path="/brokers/one/v2/catalog").status == 200
    assert ask(app=app, path="//brokers/one//v2///catalog//").status == 200
    elsewhere = ask(app=app, path="/v2/catalog")
    assert elsewhere.status == 404
    assert b"at /brokers/one/v2/catalog." in elsewhere.body


@pytest.mark.parametrize("version", [None, "", "  "])
def test_a_missing_version_is_412_or_by_option_400(version: str | None) -> None:
    for app, status in ((answers(), 412), (answers(missing_version_status=400), 400)):
        answer = ask(app=app, x_broker_api_version=version)
        assert (answer.status, problem(answer)) == (status, "MissingAPIVersion")
        assert b"The header X-Broker-API-Version is missing; this broker takes 2.x from 2.0 on." in answer.body


@pytest.mark.parametrize("version", [
    *["1.0", "3.0", "2", "2.", ".14", "2.14.1", "v2.14", "2.-1", "two", "2.١", "02.14", "2.014", "2.00", "+2.14"],
    *("2.14, 2.14", "2.14\n", "2." + "9" * 99),
])  # fmt: skip
def test_an_unsupported_version_is_412_and_names_the_range(version: str) -> None:
    answer = ask(app=answers(missing_version_status=400), x_broker_api_version=version)
    assert (answer.status, problem(answer)) == (412, "UnsupportedAPIVersion")
    described = b"The X-Broker-API-Version of the request is not supported; this broker takes 2.x from 2.0 on."
    assert described in answer.body


@pytest.mark.parametrize("header", [None, "", GOOD + "x", "Basic ungated"])
def test_missing_or_wrong_credentials_are_401_for_any_request(header: str | None) -> None:
    first = ask(authorization=header)
    others = [
        ask("POST", authorization=header),
        ask(path="/v2/service_instances/1", authorization=header),
        ask(x_broker_api_version=None, authorization=header),
        ask(if_none_match="*", authorization=header),
    ]
    assert (first.status, problem(first)) == (401, "Unauthorized")
    assert first.headers["WWW-Authenticate"] == 'Basic realm="service broker", charset="UTF-8"'
    assert all((other.status, other.body, other.headers) == (401, first.body, first.headers) for other in others)


def test_busy_authenticator_is_503() -> None:
    answer = ask(authorization="Basic later")
    assert (answer.status, problem(answer)) == (503, "TooManyRequests")
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_405(method: str) -> None:
    answer = ask(method, x_broker_api_version=None)
    assert (answer.status, problem(answer)) == (405, "MethodNotAllowed")
    assert answer.headers["Allow"] == "GET, HEAD"


@each("path", ["/", "", "/v2", "/v2/service_instances/1", "/V2/catalog", "/v2/catalogs", "/x/v2/catalog"])
def test_other_paths_are_404(path: str) -> None:
    answer = ask("PUT", path)
    assert (answer.status, problem(answer)) == (404, "NotFound")
    assert "catalog only" in answer.body.decode()


@each("changes", [{}, {"accept_encoding": "gzip"}, {"authorization": None}, {"x_broker_api_version": ""}])
def test_head_has_the_headers_of_get_and_no_body(changes: dict[str, str | None]) -> None:
    get, head = ask(**changes), ask("HEAD", **changes)
    assert (head.status, head.headers, head.body) == (get.status, get.headers, b"")


def test_gzip_is_served_on_request_with_its_own_etag() -> None:
    answer = ask(accept_encoding="gzip, deflate")
    assert gzip.decompress(answer.body) == BODY
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["ETag"] == CATALOG.gzip_etag != CATALOG.etag
    assert answer.headers["Content-Length"] == str(len(CATALOG.gzip_body))
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert "Content-Encoding" not in ask().headers
    assert ask(accept_encoding="gzip", if_none_match=CATALOG.gzip_etag).status == 304
    assert ask(accept_encoding="gzip", if_none_match=CATALOG.etag).status == 200


GZIP = [
    *("gzip", "GZIP", "x-gzip", "*", ",,gzip,,", "deflate, gzip;q=0.5", "gzip; q=0.001", "gzip ;\tq=1.000"),
    *("gzip;q=0.5, *;q=0", "identity;q=0, *", "identity, gzip", "identity;q=0.5, gzip;q=0.9"),
]
PLAIN = [
    *("", "gzip;q=0", "gzip;q=0.000", "*;q=0", "*, gzip;q=0", "identity", "identity;q=1, gzip;q=0.9", "br, deflate"),
    *("gzip;q=2", "gzip;q=1.001", "gzip;q=", "gzip;level=9", "gzip;q=nan"),
]


def test_accept_encoding() -> None:
    assert [header for header in (*GZIP, *PLAIN) if prefers_gzip(header)] == GZIP


@pytest.mark.parametrize(("header", "status"), [
    (CATALOG.etag, 304),
    (f"W/{CATALOG.etag}", 304),
    (f'"other", {CATALOG.etag}', 304),
    (f'"a,b" ,W/{CATALOG.etag}\t', 304),
    ("*", 304),
    ('"other"', 200),
    (CATALOG.gzip_etag, 200),
    (CATALOG.etag.strip('"'), 200),
    ("", 200),
])  # fmt: skip
def test_if_none_match(header: str, status: int) -> None:
    answer = ask(if_none_match=header)
    assert answer.status == status
    if status == 304:
        assert answer.body == b""
        assert answer.headers == {"ETag": CATALOG.etag, "Vary": "Accept-Encoding", "Cache-Control": "no-cache"}


@pytest.mark.parametrize(("date", "status"), [
    ("Tue, 14 Nov 2023 22:13:20 GMT", 304),
    ("Tuesday, 14-Nov-23 22:13:20 GMT", 304),
    ("Tue Nov 14 22:13:20 2023", 304),
    ("Wed, 15 Nov 2023 22:13:20 GMT", 304),
    ("Tue, 14 Nov 2023 22:13:19 GMT", 200),
    ("Wed, 15 Nov 2023 22:13:20 +0000", 200),
    ("Wed, 15 Nov 2023 22:13:20 GMT, Wed, 15 Nov 2023 22:13:20 GMT", 200),
    ("yesterday", 200),
    ("", 200),
    ("Tue, 99 Nov 2023 22:13:20 GMT", 200),
    ("Tue, 14 Nov 99999999999999999999 22:13:20 GMT", 200),
])  # fmt: skip
def test_if_modified_since(date: str, status: int) -> None:
    assert ask(if_modified_since=date).status == status


def test_etag_takes_precedence_over_date() -> None:
    late, early = "Wed, 15 Nov 2023 22:13:20 GMT", "Mon, 13 Nov 2023 22:13:20 GMT"
    assert ask(if_none_match='"other"', if_modified_since=late).status == 200
    assert ask(if_none_match=CATALOG.etag, if_modified_since=early).status == 304


@each("changes", [{}, {"authorization": None}, {"x_broker_api_version": None}, {"if_none_match": "*"}])
def test_request_identity_is_returned_with_every_response(changes: dict[str, str | None]) -> None:
    assert ask(x_broker_api_request_identity=IDENTITY, **changes).headers["X-Broker-API-Request-Identity"] == IDENTITY


@pytest.mark.parametrize("value", ["", "a\x1b[31m", "é", "x" * 257, "a\x00", "a\tb"])
def test_long_or_unprintable_request_identity_is_not_returned(value: str) -> None:
    answer = ask(x_broker_api_request_identity=value)
    assert answer.status == 200
    assert "X-Broker-API-Request-Identity" not in answer.headers


def test_etag_depends_only_on_content() -> None:
    later = ServedCatalog.from_body(BODY, MODIFIED + 100)
    assert (later.etag, later.gzip_body) == (CATALOG.etag, CATALOG.gzip_body)
    assert ServedCatalog.from_body(BODY + b"\n", MODIFIED).etag != CATALOG.etag
    with pytest.raises(AttributeError):
        later.etag = "x"  # type: ignore[misc]


header_text = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=80)
tokens = st.lists(
    st.sampled_from(["gzip", "*", "identity", ";", "q=", "0", "1", ".5", ",", " ", '"', "W/", "a", CATALOG.etag]),
    max_size=12,
).map("".join)


@pytest.mark.fuzz
@given(header_text | tokens, header_text | tokens, header_text | tokens)
def test_any_header_text_gets_a_valid_response(one: str, two: str, three: str) -> None:
    assert ask(accept_encoding=one, if_none_match=two, if_modified_since=three).status in (200, 304)
    assert ask(x_broker_api_version=one).status in (200, 412)


@pytest.mark.fuzz
@given(header_text | tokens)
def test_gzip_is_never_sent_unrequested(header: str) -> None:
    if "gzip" not in header.lower() and "*" not in header:
        assert not prefers_gzip(header)
    if CATALOG.etag not in header and header.strip(" \t") != "*":
        assert not etag_matches(header, CATALOG.etag)
    assert parse_http_date(header) is None or any(character.isdigit() for character in header)
