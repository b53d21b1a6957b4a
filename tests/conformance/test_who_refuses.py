"""Only the platforms that refuse an answer are named: what each reads in a body that is not JSON, and where it goes."""

import json
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from osbctl.client.catalog_client import fetch_catalog
from osbctl.client.connection_options import ConnectionOptions
from osbctl.client.http_client import Failure
from osbctl.commands.check import check_running_broker
from osbctl.conformance.check import MAX_REDIRECTS, _redirect_fault, check_broker, check_catalog_reply
from osbctl.conformance.exchange import Reply, merge_faults, read_as_platform
from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform
from osbctl.platforms.verdict import VerdictKind
from osbctl.validation.options import ValidationOptions
from tests.broker.harness import Authority
from tests.case import case, each
from tests.cli.broker_server import BASIC, PASSWORD, USER, Answer, listening
from tests.client.test_catalog_client import broker as raw_broker
from tests.client.test_connection_options import server_side
from tests.conformance.faulty import PASSWORD as FAULTY_PASSWORD
from tests.conformance.faulty import USER as FAULTY_USER
from tests.conformance.faulty import faulty
from tests.platforms.known import CF, KNOWN, known
from tests.registry.make import catalog, plan, service

GUID = "2f1c0d5e-0000-4000-8000-00000000000"
OPTIONS = ConnectionOptions(user=USER, password=PASSWORD, api_version="2.15", connect_seconds=2, total_seconds=5)
RUBY, GO = {CF}, {*KNOWN} - {CF}
BODY = json.dumps(catalog(service(f"{GUID}1", plan(f"{GUID}2", "small"), name="db", description="// a /* b")))


def answering(body: bytes, *, is_open: bool = False, kind: str = "application/json") -> Callable[..., Answer]:
    """A broker with this catalog; `is_open`: whatever the credentials."""

    def answer(method: str, path: str, headers: Any, _: bytes) -> Answer:
        if not is_open and headers.get("Authorization") != f"Basic {BASIC}":
            return 401, {"WWW-Authenticate": "Basic", "Content-Type": kind}, b'{"description": "no"}'
        if not is_open and headers.get("X-Broker-API-Version") in (None, "", "1.0"):
            return 412, {"Content-Type": kind}, b'{"description": "no"}'
        return 200, {"Content-Type": kind}, body

    return answer


def refusing(findings: tuple[Finding, ...], rule: str) -> set[Platform]:
    return {platform for finding in findings if finding.rule == rule for platform in known(finding.refused_by)}


def with_text(text: str) -> str:
    return BODY.replace('"// a /* b"', json.dumps(text, ensure_ascii=False).replace("\\t", "\t"), 1)


BODIES: dict[str, tuple[bytes, set[Platform]]] = {
    "Latin-1": (BODY.replace("// a", "Données").encode("latin-1"), RUBY),
    "half a character": (BODY.encode().replace(b"// a", b"\xe2\x82"), RUBY),
    "NaN": (BODY.replace('"plans"', '"x": NaN, "plans"').encode(), GO),
    "Infinity": (BODY.replace('"plans"', '"x": [Infinity, -Infinity], "plans"').encode(), GO),
    "a comment": (BODY.replace('"plans"', '/* "a" // */ "plans"').encode(), GO),
    "a comment of a line": (BODY.replace('"plans"', '// a "comment" {\n "plans"').encode(), GO),
    "a raw control character": (with_text("a\tb").encode(), GO),
    "a raw NUL": (with_text("a\0b").encode().replace(b"\\u0000", b"\0"), RUBY | GO),
    "a comment after the end": (BODY.encode() + b" /* { */", RUBY | GO),
    "a comment of a line after the end": (BODY.encode() + b"// a\n", RUBY | GO),
    "a raw line break": (with_text("ab").replace('"ab"', '"a\nb\\\\"').encode(), GO),
    "a comment and Latin-1": (BODY.replace('"plans"', '/* é */ "plans"').encode("latin-1"), RUBY | GO),
    "a comment without an end": (BODY[:-1].encode() + b"/*", RUBY | GO),
    "a comment in UTF-8 and NaN": (BODY.replace('"plans"', '/* é */ "x": NaN, "plans"').encode(), GO),
    "UTF-16": (BODY.encode("utf-16"), RUBY | GO),
    "a list": (b"[NaN]", RUBY | GO),
    "cut": (BODY[:-3].encode(), RUBY | GO),
    "single quotes": (BODY.replace('"', "'").encode(), RUBY | GO),
    "HTML": (b"<html>Log in</html>", RUBY | GO),
    "empty": (b"", RUBY | GO),
    "blanks": (b" \n ", RUBY | GO),
    "JSON": (BODY.encode(), set()),
}


def test_a_body_that_is_not_json_is_refused_by_those_who_cannot_read_it() -> None:
    for name, (body, expected) in BODIES.items():
        with case(name), listening(answering(body)) as url:
            result, _ = check_running_broker(f"{url}/v2/catalog", OPTIONS, ValidationOptions())
            assert refusing(result.findings, "wire-not-json") == expected
            verdicts = {platform: result.verdicts[platform].kind for platform in KNOWN}
            assert {platform for platform, kind in verdicts.items() if kind is VerdictKind.REFUSES} == expected
            other = VerdictKind.UNCLEAR if b"NaN" in body or b"Infinity" in body else VerdictKind.ACCEPTS
            assert {kind for platform, kind in verdicts.items() if platform not in expected} <= {other}
            assert not {"wire-open", "wire-version-unchecked"} & {finding.rule for finding in result.findings}


@each("charset, body, refused, warned", [
    ("", "Données", set(), False), ("; charset=utf-8", "Données", set(), False), ("; charset=x", "é", set(), False),
    ("; charset=ISO-8859-1", "Donnees", set(), False), (";charset=iso-8859-1", "Données", set(), True),
    ('; Charset="ISO-8859-15"', b"Donn\xa4es", set(), True), ("; charset=windows-1252", b"Donn\xe9es", set(), True),
    ("; charset=utf-8", b"Donn\xe9es", RUBY, False), ("; charset=windows-1252", b"Donn\x81es", RUBY, True),
])  # fmt: skip
def test_cloud_foundry_reads_a_body_in_its_charset(
    charset: str, body: str | bytes, refused: set[Platform], warned: bool
) -> None:
    """As httpclient 2.8.3 and Oj 3.17.5 do: the one marks the text with the charset, the other converts it."""
    text = body if isinstance(body, bytes) else body.encode()
    with listening(answering(BODY.encode().replace(b"// a", text), kind=f"application/json{charset}")) as url:
        result, checked = check_running_broker(f"{url}/v2/catalog", OPTIONS, ValidationOptions())
    assert refusing(result.findings, "wire-not-json") == refused
    assert ("wire-content-type" in {finding.rule for finding in result.findings}) == warned
    assert isinstance(body, bytes) or checked.catalog == BODY.encode().replace(b"// a", text)


def test_what_a_loose_reader_reads_stays_in_its_place() -> None:
    text = '{"a": /* "x" \n */ "b\tc", // d\n "e": "/* f */"}'
    read = read_as_platform(text.encode(), loosely=True)
    assert read and json.loads(read) == {"a": "b\tc", "e": "/* f */"}
    assert read.decode().index('"e"') == text.index('"e"') + len("u0009")
    assert read.count(b"\n") == text.count("\n")
    began = time.process_time()
    for piece in ("/*", '"', "//", "\\", '"\\'):
        assert read_as_platform((piece * 300_000).encode(), loosely=True) is None
    assert time.process_time() - began < 5


def test_wire_open_speaks_only_of_a_catalog() -> None:
    for name, (body, refused) in BODIES.items():
        with case(name), listening(answering(body, is_open=True)) as url:
            rules = {finding.rule for finding in check_broker(f"{url}/v2/catalog", OPTIONS).findings}
            readable = refused != RUBY | GO
            assert ({"wire-open", "wire-version-unchecked"} <= rules) == readable
            assert readable or not {"wire-open", "wire-version-unchecked", "wire-unauthorized"} & rules
    for body in (b"{}", b'{"error": "x"}', b'{"services": null}'):
        with case(body), listening(answering(body, is_open=True)) as url:
            assert "wire-open" not in {finding.rule for finding in check_broker(f"{url}/v2/catalog", OPTIONS).findings}


def test_a_login_page_in_place_of_a_401_is_no_open_catalog() -> None:
    served = answering(BODY.encode())

    def answer(method: str, path: str, headers: Any, body: bytes) -> Answer:
        status, fields, sent = served(method, path, headers, body)
        return (200, {"Content-Type": "text/html"}, b"<html>Log in</html>") if status == 401 else (status, fields, sent)

    with listening(answer) as url:
        found = {finding.rule for finding in check_broker(f"{url}/v2/catalog", OPTIONS).findings}
    assert "wire-unauthorized" in found and "wire-open" not in found


OK, EARLY = b"HTTP/1.1 200 OK", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
CHUNKS = f"{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n".encode()
FRAMES: list[tuple[bytes, bytes, set[Platform]]] = [
    *((OK, b"Content-Length: " + value % {b"n": len(BODY)}, refused) for value, refused in {
        b"  %(n)04d ": set(), b"%(n)d\r\nContent-Length: %(n)d": set(), b"+%(n)d": GO, b"-1": GO, b"%(n)d.0": GO,
        b"%(n)d, %(n)d": GO, b"%(n)d;": GO, b"9%(n)018d": GO, b"9%(n)d": GO, b"%(n)d\r\nContent-Length: 0%(n)d": GO,
        b"": RUBY | GO, b"abc": RUBY | GO, b"0x%(n)x": RUBY | GO, b"1 %(n)d": RUBY | GO,
        b"%(n)d\r\nContent-Length: abc": RUBY | GO, b"%(n)d\r\nX: cut": RUBY | GO, b"2_00000": GO,
    }.items()),
    *((OK, b"Transfer-Encoding: " + value, refused) for value, refused in {
        b"chunked": set(), b"Chunked\r\nContent-Length: abc": set(), b"chunked\r\nTransfer-Encoding: chunked": GO,
        b"gzip, chunked": RUBY | GO, b"chunked, chunked": RUBY | GO, b"": GO, b"identity": GO,
    }.items()),
    (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"X: y", set()), (EARLY + OK, b"X: y", RUBY),
    (EARLY.replace(b"103", b"102") + EARLY + OK, b"X: y", RUBY),
    (OK, b"X: y\r\nand z", GO), (OK, b"X Y: z", set()), (OK, b"X: y\r\n z", set()),
]  # fmt: skip
"""As Go 1.19 and httpclient 2.8.3 (Ruby 3.1) read such answers; Go refuses an empty length since 1.22 (transfer.go)."""


def test_an_answer_whose_end_is_not_told_is_refused_by_those_who_do_not_find_it() -> None:
    for status, frame, expected in FRAMES:
        body = CHUNKS if b"chunked" in frame.lower() else BODY.encode()[: -3 if b"cut" in frame else None]
        with case(frame), raw_broker(b"\r\n".join((status, frame, b"Connection: close", b"", body))) as (address, _):
            result, _ = check_running_broker(address, OPTIONS, ValidationOptions())
            kinds = {platform: result.verdicts[platform].kind for platform in KNOWN}
            assert {platform for platform, kind in kinds.items() if kind is VerdictKind.REFUSES} == expected
            rules = {finding.rule for finding in result.findings if finding.refused_by}
            assert rules <= {"wire-status", "wire-no-answer", "wire-cut", "wire-not-json"}
            assert status == OK or fetch_catalog(address, OPTIONS).body == BODY.encode()


REDIRECTS = [
    ("http://a.example", "http://b.example/v2/catalog", 302, GO, RUBY),
    ("https://a.example", "https://b.example/v2/catalog", 307, GO, RUBY),
    ("https://a.example", "https://b.example/v2/catalog", 308, RUBY | GO, set()),
    ("https://a.example", "https://x.a.example/v2/catalog", 301, set(), RUBY | GO),
    ("https://a.example", "https://xa.example/v2/catalog", 301, GO, RUBY),
    ("https://x.a.example", "https://a.example/v2/catalog", 301, GO, RUBY),
    ("https://a.example", "http://a.example/v2/catalog", 301, RUBY, set()),
    ("https://a.example", "http://b.example/v2/catalog", 301, RUBY | GO, set()),
    ("http://a.example", "https://a.example/v2/catalog", 301, set(), set()),
    ("https://a.example", "https://a.example:8443/v2/catalog", 303, set(), set()),
    ("https://a.example", "https://a.example/other", 308, RUBY, set()),
    ("https://a.example", "", 302, RUBY | GO, set()),
]  # fmt: skip
"""Address, target and status; who refuses, and who sends the password to another host."""


def test_a_redirect_names_who_stops_and_who_sends_the_password_elsewhere() -> None:
    for address, target, status, refused, senders in REDIRECTS:
        with case(address, target, status):
            fault = _redirect_fault(f"{address}/v2/catalog", target, Reply("GET /v2/catalog", status=status))
            assert {*known(fault.refused_by or ())} == refused
            assert ("would send the password" in fault.text) == bool(senders)
            if senders == RUBY:
                host = re.escape(urlsplit(target).netloc)
                assert re.search(rf"{host}, where Cloud Foundry\b.* would send the password", fault.text)
            if target and urlsplit(address).hostname != urlsplit(target).hostname:
                assert fault.severity is Severity.ERROR


def test_a_redirect_to_another_host_leaves_the_verdict_of_who_follows_open() -> None:
    def answer(method: str, path: str, headers: Any, _: bytes) -> Answer:
        return 302, {"Location": "http://localhost:9/v2/catalog"}, b""

    with listening(answer) as url:
        result, _ = check_running_broker(f"{url}/v2/catalog", OPTIONS, ValidationOptions())
    kinds = {platform: result.verdicts[platform].kind for platform in KNOWN}
    assert kinds == {**dict.fromkeys(GO, VerdictKind.REFUSES), CF: VerdictKind.UNCLEAR}
    assert [finding.severity for finding in result.findings if finding.rule == "wire-redirect"] == [Severity.ERROR]


def test_a_certificate_is_refused_by_those_who_do_not_accept_it(authority: Authority) -> None:
    """Ruby 3.1 and httpclient 2.8.3 took the common name, and Go 1.19 did not."""
    trusting = replace(OPTIONS, ca_file=str(authority.cert))
    for name, days, dns, options, expected in (
        ("refuses-unknown", 20.0, "localhost", OPTIONS, set()),
        ("refuses-expired", -0.01, "localhost", trusting, {*KNOWN}),
        ("localhost", 20.0, "", trusting, GO),
        ("localhost", -0.01, "", trusting, {*KNOWN}),
        ("localhost", 20.0, "elsewhere", trusting, {*KNOWN}),
        ("elsewhere", 20.0, "", trusting, {*KNOWN}),
    ):
        pair = server_side(authority.issue(name, days=days, dns=dns))
        with case(name, days, dns), faulty("", pair) as (address, _):
            result, _ = check_running_broker(address, options, ValidationOptions())
            (finding,) = [one for one in result.findings if one.rule == "wire-certificate"]
            assert (finding.severity, {*known(finding.refused_by)}) == (Severity.ERROR, expected)
            kinds = dict.fromkeys(KNOWN, VerdictKind.UNCLEAR) | dict.fromkeys(expected, VerdictKind.REFUSES)
            assert {platform: result.verdicts[platform].kind for platform in KNOWN} == kinds


SM, KORIFI = Platform.SERVICE_MANAGER, Platform.KORIFI


def test_service_manager_alone_presents_a_client_certificate(authority: Authority, tmp_path: Path) -> None:
    both = tmp_path / "client.pem"
    both.write_text("".join(file.read_text() for file in authority.issue("client")))
    mutual, rule = server_side(authority.issue("refuses-client")), "wire-client-certificate"
    mutual.load_verify_locations(authority.cert)
    options = replace(OPTIONS, user=FAULTY_USER, password=FAULTY_PASSWORD, ca_file=str(authority.cert))
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        for mode, client_cert, refused, kind in (
            (ssl.CERT_REQUIRED, None, {*KNOWN} - {SM}, VerdictKind.UNCLEAR),
            (ssl.CERT_REQUIRED, str(both), {*KNOWN} - {SM}, VerdictKind.ACCEPTS),
            (ssl.CERT_OPTIONAL, str(both), set(), VerdictKind.ACCEPTS),
        ):
            mutual.maximum_version, mutual.verify_mode = version, mode
            with case(version, mode, client_cert), faulty("", mutual) as (address, _):
                asked = replace(options, client_cert=client_cert)
                result, _ = check_running_broker(address, asked, ValidationOptions())
                assert {finding.rule for finding in result.findings} == ({rule} if refused else set())
                kinds = dict.fromkeys(KNOWN, kind) | dict.fromkeys(refused, VerdictKind.REFUSES)
                assert {platform: result.verdicts[platform].kind for platform in KNOWN} == kinds
    mutual.verify_mode = ssl.CERT_REQUIRED
    with case("no platform without a certificate counts"), faulty("", mutual) as (address, _):
        assert not check_broker(address, replace(options, client_cert=str(both)), [SM]).findings
    page = b"<center>No required SSL certificate was sent</center>\n<hr><center>nginx</center>"
    found = merge_faults(check_catalog_reply(Reply("GET /v2/catalog", status=400, body=page), 5))
    assert refusing(found, rule) == {*KNOWN} - {SM}


@each("failure, seconds, refused", [
    (Failure.TOO_SLOW, 3, set()), (Failure.TOO_SLOW, 15, {SM}), (Failure.TOO_SLOW, 59, {SM}),
    (Failure.TOO_SLOW, 60, {*KNOWN} - {KORIFI}), (Failure.TOO_SLOW, 86_400, {*KNOWN} - {KORIFI}),
    (Failure.TOO_LARGE, 100, set()), (Failure.NO_RESPONSE, 0, {*KNOWN}), (None, 0, {*KNOWN}),
])  # fmt: skip
def test_osbctls_limit_is_none_of_a_platform(failure: Failure | None, seconds: float, refused: set[Platform]) -> None:
    reply = Reply("GET /v2/catalog", status=200, fault="not whole", failure=failure, seconds=seconds)
    (fault,) = check_catalog_reply(reply, 5)
    assert (fault.rule, {*known(fault.refused_by or ())}) == ("wire-cut", refused)


@each("status, body, refused", [
    (201, BODY, {*KNOWN} - {KORIFI}), (300, BODY, {*KNOWN} - {KORIFI}), (301, BODY, {*KNOWN}),
    (204, "", {*KNOWN}), (202, "<html>", {*KNOWN}),
])  # fmt: skip
def test_korifi_reads_a_catalog_with_another_status(status: int, body: str, refused: set[Platform]) -> None:
    """Its osbapi/client.go gives up at a `statusCode > 300`."""
    (fault,) = check_catalog_reply(Reply("GET /v2/catalog", status=status, body=body.encode()), 5)
    assert {*known(fault.refused_by or ())} == refused


def test_a_catalog_larger_than_max_bytes_ends_the_check() -> None:
    small = replace(OPTIONS, max_bytes=100)
    with listening(answering(BODY.encode())) as url, pytest.raises(SourceError, match="larger than 100 byt") as raised:
        check_broker(f"{url}/v2/catalog", small)
    assert "--max-bytes" in raised.value.advice
    with listening(lambda *_: (500, {}, BODY.encode())) as url:
        assert refusing(check_broker(f"{url}/v2/catalog", small).findings, "wire-status") == {*KNOWN}


def test_a_short_timeout_leaves_the_verdicts_open() -> None:
    options = replace(OPTIONS, user=FAULTY_USER, password=FAULTY_PASSWORD, total_seconds=0.7)
    for name in ("hangs", "drips-head", "drips-body"):
        with case(name), faulty(name) as (address, _):
            result, _ = check_running_broker(address, options, ValidationOptions())
            assert {verdict.kind for verdict in result.verdicts.values()} == {VerdictKind.UNCLEAR}
            assert {"wire-no-answer", "wire-cut"} & {finding.rule for finding in result.findings}


def test_as_many_redirects_are_followed_as_platforms_follow() -> None:
    """Go's `defaultCheckRedirect` and Ruby's `httpclient` stop at the tenth redirect."""
    served = answering(BODY.encode())
    for hops in (MAX_REDIRECTS, MAX_REDIRECTS + 1):

        def answer(method: str, path: str, headers: Any, body: bytes, hops: int = hops) -> Answer:
            hop = int(path.rpartition("=")[2]) if "=" in path else 0
            if hop < hops:
                return 302, {"Location": f"/v2/catalog?hop={hop + 1}"}, b""
            return served(method, path, headers, body)

        with case(hops), listening(answer) as url:
            result, _ = check_running_broker(f"{url}/v2/catalog", OPTIONS, ValidationOptions())
            kind = VerdictKind.ACCEPTS if hops < 10 else VerdictKind.REFUSES
            assert {verdict.kind for verdict in result.verdicts.values()} == {kind}
