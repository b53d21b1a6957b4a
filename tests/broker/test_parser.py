"""The parser: what requests cost, and how they arrive."""

import time
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.broker.parser import MAX_FIELDS, RequestParser

HEAD = b"GET /v2/catalog HTTP/1.1\r\nHost: broker\r\n"
ADJ = SimpleNamespace(max_request_header_size=16384, max_request_body_size=65536)


def parse(*pieces: bytes) -> tuple[RequestParser, bytes]:
    """The parser after these pieces, and what is left of the last."""
    parser = RequestParser(ADJ)
    rest = b""
    for piece in pieces:
        rest = piece[parser.received(piece) :]
        if parser.completed:
            break
    return parser, rest


def status(parser: RequestParser) -> str:
    return parser.error.status[:3] if parser.error else "ok"


DEAR = {
    "empty fields": (HEAD + b"a:\r\n" * 3900 + b"\r\n", "431"),
    "distinct fields": (HEAD + b"".join(b"h%d: 1\r\n" % n for n in range(120)) + b"\r\n", "ok"),
    "too many fields": (HEAD + b"".join(b"h%d: 1\r\n" % n for n in range(1500)) + b"\r\n", "431"),
    "one field, repeated": (HEAD + b"".join(b"a: %s\r\n" % (b"b" * 120) for _ in range(125)) + b"\r\n", "ok"),
    "a long field": (HEAD + b"X: " + b"a" * 16000 + b"\r\n\r\n", "ok"),
    "a percent path": (b"GET /" + b"%41" * 5300 + b" HTTP/1.1\r\nHost: l\r\n\r\n", "ok"),
    "slashes": (b"GET " + b"/" * 16000 + b" HTTP/1.1\r\nHost: l\r\n\r\n", "ok"),
    "a query": (b"GET /?" + b"@?" * 7900 + b" HTTP/1.1\r\nHost: l\r\n\r\n", "ok"),
    "userinfo": (b"GET http://" + b"@" * 15000 + b"/ HTTP/1.1\r\nHost: l\r\n\r\n", "ok"),
    "bad userinfo": (b"GET http://" + b"@a:" * 5000 + b"[ HTTP/1.1\r\nHost: l\r\n\r\n", "400"),
    "connection tokens": (HEAD + b"Connection: " + b"a," * 7900 + b"x\r\n\r\n", "ok"),
    "connection blanks": (HEAD + b"Connection: " + b", " * 4000 + b" " * 7000 + b"closex\r\n\r\n", "ok"),
    "a long host": (b"GET / HTTP/1.1\r\nHost: " + b"a" * 16000 + b"\r\n\r\n", "400"),
    "a long method": (b"G" * 16000 + b"\r\n\r\n", "400"),
    "no colon": (HEAD + b"a: b\r\n" * 100 + b"a" * 15000 + b"\r\n\r\n", "400"),
}


@pytest.mark.parametrize("name", DEAR)
def test_dear_requests_cost_little(name: str) -> None:
    """A usual request takes 5 µs; waitress's parser took 6,500 µs for the first of these."""
    request, expected = DEAR[name]
    times = []
    for _ in range(5):
        began = time.thread_time()
        parser, rest = parse(request)
        times.append(time.thread_time() - began)
        assert (status(parser), rest) == (expected, b"")
    assert min(times) < 0.001


def test_fields_up_to_the_limit_are_accepted() -> None:
    for number, expected in ((MAX_FIELDS, "ok"), (MAX_FIELDS + 1, "431")):
        fields = b"".join(b"h%d: 1\r\n" % each for each in range(number - 1))
        assert status(parse(HEAD + fields + b"\r\n")[0]) == expected


def test_header_arrives_byte_by_byte_at_little_cost() -> None:
    request = HEAD + b"X: " + b"a" * 16000 + b"\r\n\r\n"
    began = time.thread_time()
    parser, _ = parse(*(request[at : at + 1] for at in range(len(request))))
    assert status(parser) == "ok"
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize("size", [16384, 16385])
def test_incomplete_header_is_refused_when_it_is_too_long(size: int) -> None:
    parser, _ = parse((HEAD + b"a" * size)[:size])
    assert parser.completed is (size > 16384)
    assert (status(parser), parser.command, parser.target) == ("ok" if size == 16384 else "431", "-", "-")


WHOLE = (
    HEAD + b"\r\n",
    b"\r\n\r\n" + HEAD + b"A: b \r\na:\tc\r\nX_Y: dropped\r\n\r\n",
    b"PUT /a%20b?c HTTP/1.1\r\nHost: [::1]:1\r\nContent-Length: 4\r\n\r\na\nb\0",
    b"GET http://u:p@host:1/x?y HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
    HEAD + b"Connection: TE, Close\r\n\r\n",
)


@given(st.sampled_from(WHOLE), st.lists(st.integers(0, 100)))
def test_pieces_make_no_difference(request_bytes: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(request_bytes)), len(request_bytes)]
    pieces = [request_bytes[begin:end] for begin, end in pairwise(edges) if end > begin]
    cut, rest = parse(*pieces[:-1], pieces[-1] + b"GET")
    whole, _ = parse(request_bytes)
    assert (cut.completed, status(cut), rest) == (True, "ok", b"GET")
    for name in ("headers", "command", "target", "path", "version", "connection_close"):
        assert getattr(cut, name) == getattr(whole, name)


def test_fields_are_joined_and_trimmed() -> None:
    parser, _ = parse(WHOLE[1])
    assert parser.headers == {"HOST": "broker", "A": "b, c"}
    parser, _ = parse(WHOLE[2])
    assert (parser.path, parser.target) == ("/a b", "/a%20b?c")
    parser, _ = parse(WHOLE[3])
    assert (parser.path, parser.connection_close) == ("/x", False)
    assert parse(WHOLE[4])[0].connection_close


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "DELETE"])
def test_chunked_body_is_not_read_and_ends_the_connection(method: str) -> None:
    """Its request gets the answer of its path and method: 404 or 405 says more than that the body is not accepted."""
    parser, _ = parse(method.encode() + b" /x HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert (parser.completed, status(parser), parser.connection_close) == (True, "ok", True)
    doubled = method.encode() + b" /x HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"
    assert status(parse(doubled)[0]) == "400"
    with_length = b" /x HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n"
    assert status(parse(method.encode() + with_length)[0]) == "400"


@given(st.binary(max_size=200) | st.binary(max_size=200).map(lambda data: HEAD + data + b"\r\n\r\n"))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    parser = RequestParser(ADJ)
    assert 0 <= parser.received(data) <= len(data)
    assert isinstance(parser.path, str)
