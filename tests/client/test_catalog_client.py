"""Fetching from brokers that are well, and from those that are not: one fault each."""

import functools
import gzip
import json
import re
import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from urllib3.exceptions import InvalidHeader

from osbctl.client.catalog_client import MAX_REDIRECTS, fetch_catalog, parse_broker_url, redirect_target
from osbctl.client.connection_options import ConnectionOptions
from osbctl.client.http_client import HttpClient, NoResponseError
from osbctl.errors import SourceError, UsageError
from tests.case import each
from tests.cli.program import osbctl

CATALOG = b'{"services": []}'
SECRET = "s3cr3t-p4ss"
OPTIONS = ConnectionOptions(user="u", password=SECRET, total_seconds=2.0, connect_seconds=2.0, max_bytes=100_000)


def http(status: str = "200 OK", body: bytes = CATALOG, *headers: str, length: int | None = None) -> bytes:
    sized = f"Content-Length: {len(body) if length is None else length}"
    return "\r\n".join([f"HTTP/1.1 {status}", sized, "Connection: close", *headers]).encode() + b"\r\n\r\n" + body


@contextmanager
def listening(handle: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port of this machine, each of whose connections `handle` gets in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):  # the end
                while True:
                    threading.Thread(target=handle, args=listener.accept()[:1], daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(60)


@contextmanager
def broker(answer: bytes | None, stay: float = 0.0) -> Iterator[tuple[str, list[bytes]]]:
    """A broker that answers every connection with the same bytes (None: never), and what it was asked."""
    asked: list[bytes] = []
    done = threading.Event()

    def handle(connection: socket.socket) -> None:
        with connection:
            asked.append(connection.recv(65_536))
            if answer is not None:
                connection.sendall(answer)
            done.wait(5 if answer is None else stay)

    with listening(handle) as port:
        yield f"http://127.0.0.1:{port}/v2/catalog", asked
        done.set()


def test_the_catalog_as_a_platform_asks_for_it() -> None:
    with broker(http()) as (address, asked):
        assert fetch_catalog(address, OPTIONS).body == CATALOG
    head = asked[0].decode().lower()
    assert head.startswith("get /v2/catalog http/1.1")
    assert "x-broker-api-version: 2.14" in head
    assert "authorization: basic " in head


def test_gzip_is_unpacked() -> None:
    for body, coding in ((gzip.compress(CATALOG), "gzip"), (CATALOG, "utf-8")):  # which is a mistake, and no coding
        with broker(http("200 OK", body, f"Content-Encoding: {coding}")) as (address, _):
            assert fetch_catalog(address, OPTIONS).body == CATALOG


def test_a_small_body_that_unpacks_to_much_takes_no_memory() -> None:
    packed = gzip.compress(b"{" + b" " * 30_000_000)
    with broker(http("200 OK", packed, "Content-Encoding: gzip")) as (address, _):
        tracemalloc.start()
        try:
            with pytest.raises(SourceError, match="larger than 100,000 bytes"):
                fetch_catalog(address, OPTIONS)
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()


GZIP = "Content-Encoding: gzip"


@each("members, told", [
    ([CATALOG], ""), ([CATALOG[:9], CATALOG[9:]], ""), ([b"", CATALOG, b"\n" * 70_000, b""], ""),
    ([CATALOG, b" " * 99_999], "larger than"), ([b" "] * 100_001, "larger than"),
])  # fmt: skip
def test_gzip_of_several_members_is_one_body(members: list[bytes], told: str) -> None:
    packed = b"".join(map(functools.cache(gzip.compress), members))
    for sent, error in (
        (packed, told),
        (packed + b"\0garbage", told or "is gzip, and is not"),
        (packed[:-5], "cut|larg"),
    ):
        with broker(http("200 OK", sent, GZIP)) as (address, _):
            if error:
                with pytest.raises(SourceError, match=error):
                    fetch_catalog(address, OPTIONS)
            else:
                assert fetch_catalog(address, OPTIONS).body == b"".join(members)


def chunked(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body


REQUEST_ERRORS = [
    (http("401 Unauthorized", b'{"description": "who are you?"}'), "authentication failed (401): who are you?"),
    (http("412 Precondition Failed", b"{}"), "refuses the API version"),
    (http("500 Oops", b"<html>"), "status 500"),
    (http("500 Oops", b'{"description": "a\\u001b[31mb\\nc"}'), r"status 500: a\x1b[31mb\nc"),
    (http("200 OK", b""), "not a JSON object: the body is empty"),
    (http("200 OK", b"[1]"), "not a JSON object: it is another kind of value"),
    (http("200 OK", CATALOG, length=500), "cut short"),
    (http("200 OK", gzip.compress(CATALOG * 50)[:-9], GZIP), "the answer was cut short"),
    (http("200 OK", b"{" + b"x" * 200_000), "larger than 100,000 bytes"),
    (http("200 OK", gzip.compress(b"{" + b" " * 9_000_000), GZIP), "larger than"),
    (http("200 OK", b"no gzip", GZIP), "says that it is gzip"),
    (http("201 Created"), "status 201"),
    (http("204 No Content"), "status 204"),
    (http("206 Partial Content"), "status 206"),
    (http("304 Not Modified", b""), "status 304"),
    (http("302 Found", b"", f"Location: http://u:p@127.0.0.1:1/x?key={SECRET}"), "to another place, http://127.0.0.1:1",
    ),
    (http("302 Found", b"", "Location: https://127.0.0.1/x"), "redirects to another place"),
    (http("302 Found", b"", "Location: http://[::1"), "redirect"),
    (http("200 OK", CATALOG, "X: " + "x" * 70_000), "got more than 65536 bytes when reading header line"),
    (http("200 OK", CATALOG, *(f"X-{number}: 1" for number in range(200))), "got more than 100 headers"),
    (http("200 OK", b"\x8b", "Content-Encoding: br"), "compressed as br, which the request did not ask for"),
    (http("200 OK", b"x", "Content-Encoding: deflate"), "compressed as deflate"),
    (http("500 Oops", b"x", "Content-Encoding: deflate"), "compressed as deflate"),
    (http("404 Gone", b'{"description": "no /v2/catalog?token=s3cr3t-p4ss"}'), "token=***"),
    (b"garbage\r\n\r\n", "not proper HTTP: garbage"),
    (chunked(b"-5\r\n" + CATALOG), "not proper HTTP: a chunk has no valid size"),
    (chunked(b"-1\r\n" + CATALOG), "not proper HTTP: a chunk has no valid size"),
    (chunked(b"10\r\n" + CATALOG + b"\r\n-2\r\n"), "not proper HTTP: a chunk has no valid size"),
    (chunked(b"many\r\n" + CATALOG), "not proper HTTP: a chunk has no valid size"),
    (chunked(b"f" * 17 + b"\r\n" + CATALOG), "the answer was cut short"),
    (b"", "closed the connection"),
]  # fmt: skip


@each("answer, told", REQUEST_ERRORS)
def test_each_fault_has_its_sentence(answer: bytes, told: str) -> None:
    with broker(answer) as (address, asked), pytest.raises(SourceError) as caught:
        fetch_catalog(f"{address}?key=hunter2", OPTIONS)
    assert len(asked) == 1, "no request is sent twice"
    assert b"?key=hunter2 " in asked[0]
    assert caught.value.message.startswith(f"{address}?***: ")
    assert told in caught.value.message
    assert not re.search(f"hunter2|{SECRET}", caught.value.message + caught.value.advice)


def test_a_length_that_contradicts_itself_is_told() -> None:
    """Without an answer of a broker, since urllib3 leaves its socket to the garbage collection."""
    with HttpClient("http://127.0.0.1:1/v2/catalog", OPTIONS) as client:
        error = InvalidHeader("Content-Length contained multiple unmatching values (2, 5)")
        told = NoResponseError(error, client)
    assert told.message.endswith(f": its answer is not proper HTTP: {error}")


def test_redirects_end() -> None:
    answer = http("302 Found", b"", "Location: /v2/catalog")
    with broker(answer) as (address, asked), pytest.raises(SourceError, match="more than 5 redirects"):
        fetch_catalog(address, OPTIONS)
    assert len(asked) == 1 + MAX_REDIRECTS


@pytest.mark.parametrize("status", range(300, 310))
def test_what_is_a_redirect(status: int) -> None:
    here, there = "https://broker.example.com/v2/catalog", "https://broker.example.com/x"
    assert redirect_target(here, status, "/x") == (there if status in (301, 302, 303, 307, 308) else None)
    assert redirect_target(here, status, None) is None


NOWHERE = ["http://[::1", "ftp://broker.example.com/x", "mailto:me@example.com", "https:///x", "https:x"]


@pytest.mark.parametrize("location", NOWHERE)
def test_what_is_no_target_of_a_redirect(location: str) -> None:
    assert redirect_target("https://broker.example.com/v2/catalog", 302, location) == ""


def test_where_there_are_no_credentials_none_are_sent() -> None:
    with broker(http()) as (address, asked):
        fetch_catalog(address, replace(OPTIONS, user="", password=""))
        fetch_catalog(address, replace(OPTIONS, user="", password="p"))
        fetch_catalog(address, replace(OPTIONS, user="u", password=""))
    assert [b"authorization: " in request.lower() for request in asked] == [False, True, True]


@pytest.mark.parametrize(("answer", "scheme", "words"), [
    (None, "http", "did not answer in time"),
    (http(length=500), "http", "in time"),
    (None, "https", "the TLS handshake was not finished"),
], ids=["no answer", "no end of the answer", "no handshake"])  # fmt: skip
def test_a_broker_that_keeps_one_waiting(answer: bytes | None, scheme: str, words: str) -> None:
    with broker(answer, stay=5) as (address, _), pytest.raises(SourceError, match=words):
        fetch_catalog(address.replace("http:", f"{scheme}:"), replace(OPTIONS, total_seconds=0.3))


def test_plain_http_to_another_machine_is_refused() -> None:
    with pytest.raises(SourceError, match="plain http"):
        fetch_catalog("http://192.0.2.1/v2/catalog", OPTIONS)


def test_addresses_where_no_broker_answers() -> None:
    with pytest.raises(SourceError, match="refused"):
        fetch_catalog("http://127.0.0.1:1/v2/catalog", OPTIONS)
    with pytest.raises(SourceError, match="no such host"):
        fetch_catalog("https://broker.invalid/v2/catalog", OPTIONS)
    with broker(http()) as (address, _), pytest.raises(SourceError, match="TLS failed"):
        fetch_catalog(address.replace("http:", "https:"), OPTIONS)


@pytest.mark.parametrize(("url", "address", "user", "password"), [
    ("https://b.example.com", "https://b.example.com/v2/catalog", "", ""),
    ("https://b.example.com/", "https://b.example.com/v2/catalog", "", ""),
    ("https://u:p%40x@b.example.com:8443/base/", "https://b.example.com:8443/base/v2/catalog", "u", "p@x"),
    ("https://b.example.com/v2/catalog", "https://b.example.com/v2/catalog", "", ""),
    ("https://b.example.com/?a=1#f", "https://b.example.com/v2/catalog?a=1", "", ""),
])  # fmt: skip
def test_addresses(url: str, address: str, user: str, password: str) -> None:
    assert parse_broker_url(url) == (address, user, password)


@pytest.mark.parametrize(
    "url",
    ["b.example.com", "ftp://b", "https://", "file:///etc/passwd", "https://host:99999", "https://host:abc",
     "https://.example.com", "http://[::1", "https://a b", "https://a%b"],
)  # fmt: skip
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(UsageError):
        parse_broker_url(url)


@pytest.mark.parametrize("sign", "/?#")
def test_the_end_of_a_password_is_no_path(sign: str) -> None:
    """To a URL, the host of the first is `u`: its request would go there, and messages would show the password."""
    for url in (f"https://u:12{sign}{SECRET}@b.example.com", f"https://u:12{sign}{SECRET}@b.example.com/x?a=1"):
        done = osbctl("fetch", url)
        assert (done.returncode, SECRET in done.stderr) == (2, False)
        assert "write / as %2F, ? as %3F and # as %23" in done.stderr


def test_the_command_keeps_the_password_to_itself(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    with broker(http()) as (address, asked):
        done = osbctl("fetch", address.replace("//", f"//u:{SECRET}@"), "-o", str(file))
        assert (done.returncode, done.stdout, json.loads(file.read_text())) == (0, "", {"services": []})
        assert osbctl("fetch", address, "-o", str(file), OSBCTL_PASSWORD=SECRET).returncode == 0
        assert all(b"authorization: basic" in request.lower() for request in asked)
    with broker(http("401 Unauthorized", b"{}")) as (address, _):
        done = osbctl("fetch", address.replace("//", f"//u:{SECRET}@"))
        plain = osbctl("fetch", address)
    assert (done.returncode, SECRET in done.stdout + done.stderr) == (3, False)
    assert ("hint:" in done.stderr, "add --user NAME" in plain.stderr) == (False, True), "a hint says something new"
