"""Ambiguous requests are refused with 400, and data after them is not read."""

import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from osbctl.broker.settings import Settings
from tests.broker.harness import GET, SMALL, Broker, Reader, ask, running, until

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: broker\r\n\r\n"
LINE = b"GET /v2/catalog HTTP/1.1\r\n"
HOST = b"Host: broker\r\n"
END = b"\r\n"

SHAPES = {
    "te": LINE + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "te-1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "te-identity": LINE + HOST + b"Transfer-Encoding: identity\r\n\r\n",
    "te-gzip": LINE + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "te-doubled": LINE + HOST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "te-twice": LINE + HOST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
    "te-empty": LINE + HOST + b"Transfer-Encoding:\r\n\r\n",
    "te-x": LINE + HOST + b"Transfer-Encoding: xchunked\r\n\r\n",
    "te-case": LINE + HOST + b"tRANSFER-eNCODING: CHUNKED\r\n\r\n0\r\n\r\n",
    "te-underscore": LINE + HOST + b"Transfer_Encoding: chunked\r\n\r\n",
    "te-vt": LINE + HOST + b"Transfer-Encoding: \x0bchunked\r\n\r\n",
    "cl-te": LINE + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "te-cl": LINE + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "cl-twice": LINE + HOST + b"Content-Length: 0\r\nContent-Length: 38\r\n\r\n",
    "cl-twice-same": LINE + HOST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "cl-list": LINE + HOST + b"Content-Length: 0, 0\r\n\r\n",
    "cl-plus": LINE + HOST + b"Content-Length: +0\r\n\r\n",
    "cl-minus": LINE + HOST + b"Content-Length: -1\r\n\r\n",
    "cl-hex": LINE + HOST + b"Content-Length: 0x5\r\n\r\n",
    "cl-empty": LINE + HOST + b"Content-Length:\r\n\r\n",
    "cl-huge": LINE + HOST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "cl-underscore": LINE + HOST + b"Content_Length: 5\r\n\r\n",
    "two-hosts": LINE + HOST + b"Host: other\r\n\r\n",
    "no-host": LINE + END,
    "empty-host": LINE + b"Host:\r\n\r\n",
    "bad-host": LINE + b"Host: a, b\r\n\r\n",
    "host-path": LINE + b"Host: a/b\r\n\r\n",
    "fold": LINE + HOST + b"X-A: b\r\n c\r\n\r\n",
    "fold-tab": LINE + HOST + b"X-A: b\r\n\tc\r\n\r\n",
    "fold-first": LINE + b" Host: broker\r\n\r\n",
    "bare-lf": LINE + HOST + b"X-A: b\nX-B: c\r\n\r\n",
    "bare-lf-end": b"GET /v2/catalog HTTP/1.1\nHost: broker\n\n",
    "bare-cr": LINE + HOST + b"X-A: b\rX-B: c\r\n\r\n",
    "space-colon": LINE + HOST + b"Content-Length : 5\r\n\r\n",
    "tab-colon": LINE + HOST + b"Transfer-Encoding\t: chunked\r\n\r\n",
    "nul-name": LINE + HOST + b"X\0A: b\r\n\r\n",
    "nul-value": LINE + HOST + b"X-A: b\0\r\n\r\n",
    "nul-path": b"GET /v2\0/catalog HTTP/1.1\r\n" + HOST + END,
    "control-path": b"GET /v2\x07 HTTP/1.1\r\n" + HOST + END,
    "no-colon": LINE + HOST + b"nonsense\r\n\r\n",
    "no-name": LINE + HOST + b": x\r\n\r\n",
    "http-0.9": b"GET /v2/catalog\r\n\r\n",
    "http-2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http-1.10": b"GET / HTTP/1.10\r\n" + HOST + END,
    "two-spaces": b"GET  /v2/catalog HTTP/1.1\r\n" + HOST + END,
    "space-in-path": b"GET /v2 /catalog HTTP/1.1\r\n" + HOST + END,
    "space-after": b"GET / HTTP/1.1 \r\n" + HOST + END,
    "space-before": b" GET / HTTP/1.1\r\n" + HOST + END,
    "lower-method": b"get / HTTP/1.1\r\n" + HOST + END,
    "no-slash": b"GET v2/catalog HTTP/1.1\r\n" + HOST + END,
    "fragment": b"GET /v2/catalog#x HTTP/1.1\r\n" + HOST + END,
    "authority": b"CONNECT broker:443 HTTP/1.1\r\n" + HOST + END,
    "bad-target": b"GET http://[::1 HTTP/1.1\r\n" + HOST + END,
}


@pytest.fixture(scope="module")
def shared(trust: ssl.SSLContext, pair: tuple[Path, Path]) -> Iterator[Broker]:
    with running(trust, pair, Settings(linger_seconds=0.2)) as broker:
        yield broker


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("pieces", [0, 1])
def test_ambiguous_request_is_refused_and_closed(shared: Broker, shape: bytes, pieces: int) -> None:
    before = len(shared.lines.entries)
    with shared.connect() as sock:
        if pieces:
            middle = len(shape) // 2
            sock.sendall(shape[:middle])
            time.sleep(0.005)
            sock.sendall(shape[middle:] + HIDDEN)
        else:
            sock.sendall(shape + HIDDEN)
        reader = Reader(sock)
        status, headers, body = reader.answer()
        assert (status, headers["connection"]) == (400, "close")
        assert set(json.loads(body)) == {"error", "description"}
        assert reader.at_end()
    assert until(lambda: len(shared.lines.entries) == before + 1)


def test_ambiguous_request_byte_by_byte_is_refused(shared: Broker) -> None:
    for name in ("bare-lf-end", "space-before", "te", "nul-value"):
        with shared.connect() as sock:
            try:
                for index in range(len(SHAPES[name])):
                    sock.sendall(SHAPES[name][index : index + 1])
            except OSError:
                pass  # refused before its end
            assert Reader(sock).answer()[0] == 400


@pytest.mark.parametrize("request_bytes", [
    b"\r\n\r\n" + GET,
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n",
    b"GET / HTTP/1.1\r\nhOST:\tbroker.example.com:443 \r\n\r\n",
    b"PUT / HTTP/1.1\r\nHost: b\r\nContent-Length: 4\r\n\r\na\nb\0",
    b"GET / HTTP/1.1\r\nHost: b\r\nExpect: 100-continue\r\n\r\n",
    b"GET http://b/v2/catalog HTTP/1.1\r\nHost: b\r\n\r\n",
])  # fmt: skip
def test_valid_request_is_accepted(shared: Broker, request_bytes: bytes) -> None:
    with shared.connect() as sock:
        assert ask(sock, request_bytes)[::2] == (200, SMALL)


def test_too_large_header_is_refused(shared: Broker) -> None:
    with shared.connect() as sock:
        assert ask(sock, LINE + HOST + b"X: " + b"a" * 17000 + b"\r\n\r\n")[0] == 431
    assert until(lambda: [(entry.method, entry.path) for entry in shared.lines.entries[-1:]] == [("-", "-")])


def test_a_refused_request_has_no_part_in_the_password_before_it(broker: Broker) -> None:
    with broker.connect() as sock:
        assert ask(sock)[0] == 200
        assert ask(sock, LINE + b"\r\n")[0] == 400  # no Host
    assert until(lambda: len(broker.lines.entries) == 2)
    assert [entry.decision and entry.decision.label for entry in broker.lines.entries] == ["main", None]
    assert broker.stats.authentications.total() == 1


def test_failing_application_is_a_500_without_details(shared: Broker, caplog: pytest.LogCaptureFixture) -> None:
    with shared.connect() as sock:
        status, headers, body = ask(sock, GET.replace(b"/v2/catalog", b"http://admin:hunter2@broker/boom"))
    assert (status, headers["connection"]) == (500, "close")
    assert json.loads(body)["error"] == "InternalError"
    assert b"secret" not in body
    assert "a request could not be answered" in caplog.text
    assert "RuntimeError: secret detail" in caplog.text
    assert "hunter2" not in caplog.text
    assert until(lambda: [entry.path for entry in shared.lines.entries[-1:]] == ["***@broker/boom"])


def test_body_of_exactly_the_limit_is_accepted(broker: Broker) -> None:
    for size, status in ((65_536, 200), (65_537, 413)):
        with broker.connect() as sock:
            assert ask(sock, LINE + HOST + b"Content-Length: %d\r\n\r\n" % size + b"x" * size)[0] == status
