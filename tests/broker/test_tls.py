"""TLS in the main loop (`tls_channel`), with real handshakes."""

import os
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from osbctl.broker.catalog_app import Response
from osbctl.broker.channel import Phase
from osbctl.broker.settings import Settings
from osbctl.broker.tls import load_certificate, parse_certificate_dates
from osbctl.errors import ConfigError
from tests.broker.harness import (
    GET,
    LARGE,
    LONG,
    PATIENCE,
    SMALL,
    Authority,
    Broker,
    Reader,
    ask,
    digest,
    running,
    until,
)

LARGE_GET = GET.replace(b"/v2/catalog", b"/large")


def test_many_requests_on_one_connection(broker: Broker) -> None:
    with broker.connect() as sock:
        reader = Reader(sock)
        for _ in range(20):
            sock.sendall(GET)
            assert reader.answer()[::2] == (200, SMALL)
    assert until(lambda: len(broker.lines.entries) == 20)
    with broker.connect() as sock:
        assert ask(sock, GET.replace(b"GET", b"HEAD"))[1]["content-length"] == str(len(SMALL))
        assert ask(sock)[2] == SMALL


def test_a_connection_keeps_one_response_in_memory_at_most(trust: ssl.SSLContext, pair: tuple[Path, Path]) -> None:
    body = bytes(60_000)  # more than one record: the rest of each response is queued
    with running(trust, pair, app=lambda _: Response("200 OK", (), body)) as broker, broker.connect() as sock:
        for _ in range(5):
            assert ask(sock)[2] == body
        (channel,) = broker.server.active_channels.values()
        assert sum(len(buffer.getfile().getvalue()) for buffer in channel.outbufs) < 2 * len(body)


def test_pipelined_requests_are_answered_in_order(broker: Broker) -> None:
    with broker.connect() as sock:
        sock.sendall(GET + LARGE_GET + GET.replace(b"/v2/catalog", b"/304") + GET)
        reader = Reader(sock)
        answers = [(status, len(body)) for status, _, body in (reader.answer() for _ in range(4))]
        assert answers == [(200, len(SMALL)), (200, len(LARGE)), (304, 0), (200, len(SMALL))]


def test_tls_records_of_one_byte(broker: Broker) -> None:
    with broker.connect() as sock:
        for index in range(len(GET)):
            sock.sendall(GET[index : index + 1])
        assert Reader(sock).answer()[::2] == (200, SMALL)


def test_a_request_in_two_records_that_arrive_at_once(broker: Broker) -> None:
    with broker.connect() as sock:
        long = GET.replace(b"\r\n\r\n", b"\r\nX-Long: " + b"a" * 16000 + b"\r\n\r\n")
        assert ask(sock, long)[0] == 200


def test_four_clients_read_twenty_megabytes_each(broker: Broker) -> None:
    def read(_: int) -> str:
        with broker.connect() as sock:
            return digest(ask(sock, LARGE_GET)[2])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [digest(LARGE)] * 4


def test_slow_readers_do_not_delay_others(broker: Broker) -> None:
    """The loop neither waits for them, nor spends more than a moment on them for each other request."""
    with ExitStack() as held:
        for _ in range(20):
            held.enter_context(broker.connect()).sendall(LARGE_GET)
        assert until(lambda: broker.phases == [Phase.ANSWERING] * 20)
        with broker.connect() as sock:
            assert ask(sock)[0] == 200
            before = broker.cpu_seconds()
            for _ in range(30):
                assert ask(sock)[0] == 200
            assert broker.cpu_seconds() - before < 30 * 0.05
            assert broker.phases[:20] == [Phase.ANSWERING] * 20


def test_unread_response_is_cut(trust: ssl.SSLContext, pair: tuple[Path, Path]) -> None:
    with running(trust, pair, Settings(stall_seconds=0.3, stall_bytes_per_second=1 << 26)) as broker:
        with broker.connect() as sock:
            sock.sendall(LARGE_GET)
            assert until(lambda: len(broker.server.active_channels) == 0 and broker.stats.cut == 1)
        assert broker.lines.entries[0].size < len(LARGE)


@pytest.mark.parametrize(("least", "cut"), [(30_000, False), (60_000, True)])
def test_reader_below_the_minimum_rate_is_cut(trust: ssl.SSLContext, least: int, cut: bool) -> None:
    """It reads 4.5 MB in 100 seconds, twice; the minimum is bytes per second over `stall_seconds`."""
    limits = replace(LONG, stall_seconds=100, stall_bytes_per_second=least)
    with running(trust, None, limits) as broker, broker.raw() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)  # else the kernel's buffer grows and takes a share
        sock.sendall(LARGE_GET)
        assert until(lambda: broker.phases == [Phase.ANSWERING])
        broker.skip(0)  # it begins to measure
        for _ in range(2):
            left = 4_500_000
            while left:
                left -= len(sock.recv(min(left, 65_536)))
            broker.skip(50)
            assert broker.phases == [Phase.ANSWERING]
            broker.skip(51)
            if cut:
                assert broker.phases == []
                break
            assert broker.phases == [Phase.ANSWERING]
        assert (broker.stats.cut == 1) is cut


def test_half_open_handshakes_do_not_delay_others(trust: ssl.SSLContext, pair: tuple[Path, Path]) -> None:
    hello = client_hello()
    with running(trust, pair, LONG) as broker, ExitStack() as held:
        for number in range(200):
            held.enter_context(broker.raw()).sendall((hello, b"", hello[:100])[number % 3])
        with broker.connect() as sock:
            for _ in range(20):
                assert ask(sock)[0] == 200
        assert len(broker.server.active_channels) >= 200, "nobody waited until they were cut"


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def client_hello() -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("method", ["GET", "DELETE", "PATCH"])
def test_plain_http_on_the_tls_port_gets_400(broker: Broker, method: str) -> None:
    with broker.raw() as sock:
        status, headers, body = ask(sock, GET.replace(b"GET", method.encode()) * 3)
        assert (status, headers["connection"]) == (400, "close")
        assert b"HTTPS" in body
        assert Reader(sock).at_end()
    with broker.connect() as sock:
        assert ask(sock)[0] == 200


@pytest.mark.parametrize(
    "noise",
    [b"\0" * 400, b"\x16\x03\x01\xff\xff" + b"x" * 300, b"\x80\x2e\x01" + b"x" * 45, bytes(range(200, 256))],
    ids=["zeros", "tls-record", "ssl-2", "noise"],
)
def test_garbage_closes_only_its_connection(broker: Broker, noise: bytes) -> None:
    with broker.raw() as sock:
        sock.sendall(noise)
        while True:
            try:
                if not sock.recv(4096):
                    break
            except ConnectionResetError:
                break
    assert broker.stats.handshakes_failed == 1
    with broker.connect() as sock:
        assert ask(sock)[0] == 200


def test_garbage_after_the_handshake(broker: Broker) -> None:
    raw = broker.raw()
    copy = socket.socket(fileno=os.dup(raw.fileno()))
    with broker.trust.wrap_socket(raw, server_hostname="localhost") as sock, copy:
        copy.sendall(b"in clear after all")
        assert Reader(sock).at_end()
    with broker.connect() as sock:
        assert ask(sock)[0] == 200


def test_reset_during_response_releases_resources(broker: Broker) -> None:
    before = descriptors()
    for _ in range(20):
        sock = broker.connect()
        sock.sendall(LARGE_GET)
        sock.recv(1000)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        sock.close()
    assert until(lambda: len(broker.server.active_channels) == 0)
    assert until(lambda: descriptors() <= before)
    assert not broker.server.shared.connections._clients


def test_certificate_is_replaced_under_load(broker: Broker, authority: Authority) -> None:
    assert broker.tls
    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            with broker.connect() as sock:
                assert ask(sock)[0] == 200

    serials = set()
    with broker.connect() as kept, ThreadPoolExecutor(3) as pool, ExitStack() as end:
        loads = [pool.submit(load) for _ in range(3)]
        end.callback(stop.set)
        for index in range(10):
            broker.tls.certificate = load_certificate(*authority.issue(f"renewed-{index}"))
            with broker.connect() as sock:
                assert isinstance(sock, ssl.SSLSocket)
                serials.add((sock.getpeercert() or {}).get("serialNumber"))
        stop.set()
        assert [one.result(PATIENCE) for one in loads] == [None] * 3
        assert ask(kept)[0] == 200
    assert len(serials) == 10


def test_tls_1_1_is_refused_and_1_2_accepted(broker: Broker, authority: Authority) -> None:
    context = ssl.create_default_context(cafile=str(authority.cert))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2", "http/1.1"])
    with context.wrap_socket(broker.raw(), server_hostname="localhost") as sock:
        assert (sock.version(), sock.selected_alpn_protocol(), sock.compression()) == ("TLSv1.2", "http/1.1", None)
        assert ask(sock, LARGE_GET)[2] == LARGE
    served = load_certificate(authority.folder / "broker.pem", authority.folder / "broker.key")
    assert served.context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_client_hello_in_many_pieces(broker: Broker) -> None:
    hello = client_hello()
    with broker.raw() as sock:
        for index in range(len(hello)):
            sock.sendall(hello[index : index + 1])
            time.sleep(0.0005)
        assert sock.recv(100).startswith(b"\x16\x03\x03"), "a handshake record"


def test_compression_and_renegotiation_are_disabled(authority: Authority) -> None:
    """RFC 9325, sections 3.3 and 3.5. Not every OpenSSL disables them by default."""
    options = load_certificate(*authority.issue("options")).context.options
    assert ssl.OP_NO_RENEGOTIATION in options
    assert ssl.OP_NO_COMPRESSION in options


def test_close_notify_is_sent(broker: Broker) -> None:
    with broker.connect() as sock:
        sock.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert Reader(sock).answer()[0] == 200
        assert sock.recv(1) == b""  # close_notify: a mere end would raise


def test_key_that_does_not_match_is_refused(authority: Authority) -> None:
    cert, _ = authority.issue("one")
    _, key = authority.issue("other")
    with pytest.raises(ConfigError, match="cannot be used"):
        load_certificate(cert, key)
    with pytest.raises(ConfigError, match=r"cannot be used$"):  # without the text of OpenSSL, which names no cause
        load_certificate(key, cert)
    with pytest.raises(ConfigError, match="cannot read"):
        load_certificate(cert, authority.folder / "missing.key")


def test_huge_certificate_file_is_not_read(authority: Authority) -> None:
    cert, key = authority.issue("huge")
    with cert.open("ab") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(ConfigError, match=r"huge.pem is larger than 1,048,576 bytes"):
        load_certificate(cert, key)


def test_certificate_expiry_is_read(authority: Authority) -> None:
    assert 2.9 < load_certificate(*authority.issue("short", days=3)).days_left() < 3.1
    with pytest.raises(ConfigError, match="no readable certificate"):
        parse_certificate_dates("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")
