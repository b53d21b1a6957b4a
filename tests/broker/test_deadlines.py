"""Deadlines, limits and the end of a service."""

import resource
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from osbctl.broker.authenticator import MAX_WAIT_SECONDS, REFUSED, CredentialCheck, Decision
from osbctl.broker.channel import Phase
from osbctl.broker.settings import Settings
from tests.broker.harness import GET, LARGE, LONG, PATIENCE, SMALL, Broker, Reader, ask, let_in, running, until

Pair = tuple[Path, Path]


def decide(check: CredentialCheck, wake: Callable[[], None], decision: Decision) -> None:
    """Do what the authenticator does when it has decided."""
    check.decision = decision
    wake()


def test_slow_headers_are_cut(trust: ssl.SSLContext, pair: Pair) -> None:
    with running(trust, pair, replace(LONG, request_seconds=1000)) as broker, broker.connect() as sock:
        sock.sendall(GET[:10])
        assert until(lambda: broker.phases == [Phase.READING])
        broker.skip(800)
        sock.sendall(GET[10:-2])
        assert broker.phases == [Phase.READING]
        broker.skip(300)
        assert broker.phases == []
        assert Reader(sock).at_end()


def test_idle_connections_are_closed_despite_blank_lines(trust: ssl.SSLContext, pair: Pair) -> None:
    with running(trust, pair, replace(LONG, idle_seconds=1000)) as broker, broker.connect() as sock:
        assert ask(sock)[0] == 200
        for _ in range(2):
            assert until(lambda: broker.phases == [Phase.IDLE])
            sock.sendall(b"\r\n\r\n")
            broker.skip(600)
        assert broker.phases == []
        assert sock.recv(1) == b"", "an ordinary end, with close_notify: a reset would raise"
        assert broker.stats.cut == 0


def test_silent_handshakes_are_closed(trust: ssl.SSLContext, pair: Pair) -> None:
    with running(trust, pair, replace(LONG, handshake_seconds=1000)) as broker, broker.raw(), broker.raw() as half:
        half.sendall(b"\x16\x03\x01")
        assert until(lambda: broker.phases == [Phase.HANDSHAKE] * 2)
        broker.skip(800)
        assert broker.phases == [Phase.HANDSHAKE] * 2
        broker.skip(300)
        assert broker.phases == []


def test_oldest_silent_connection_of_an_address_makes_room(trust: ssl.SSLContext, pair: Pair) -> None:
    with running(trust, pair, replace(LONG, connections_per_address=3)) as broker, ExitStack() as held:
        oldest, *others = [held.enter_context(broker.connect()) for _ in range(3)]
        with broker.connect() as sock:
            assert ask(sock)[0] == 200
        assert Reader(oldest).at_end()
        assert [ask(other)[0] for other in others] == [200, 200]
        assert (broker.stats.cut, broker.stats.rejected) == (1, 0)


def test_connections_per_address_are_limited(trust: ssl.SSLContext, pair: Pair) -> None:
    """If all have shown a correct password, the new one is refused."""
    with running(trust, pair, replace(LONG, connections_per_address=3)) as broker, ExitStack() as held:
        proven = [held.enter_context(broker.connect()) for _ in range(3)]
        assert [ask(sock)[0] for sock in proven] == [200] * 3
        with broker.raw() as refused:
            assert Reader(refused).at_end()
        assert (broker.stats.cut, broker.stats.rejected) == (0, 1)
        assert [ask(sock)[0] for sock in proven] == [200] * 3
        proven[0].close()
        assert until(lambda: len(broker.server.active_channels) == 2)
        with broker.connect() as sock:
            assert ask(sock)[0] == 200


def test_credentials_may_be_checked_for_longer_than_a_request_may_take(trust: ssl.SSLContext) -> None:
    def never(header: str | None, address: str, wake: Any) -> CredentialCheck:
        return CredentialCheck()

    settings = replace(LONG, request_seconds=1000, idle_seconds=1000, authentication_seconds=3000)
    with running(trust, None, settings, authenticate=never) as broker, broker.raw() as sock:
        sock.sendall(GET)
        assert until(lambda: broker.phases == [Phase.AUTHENTICATING])
        broker.skip(2500)
        assert broker.phases == [Phase.AUTHENTICATING]
        broker.skip(600)
        assert broker.phases == []
        assert Reader(sock).at_end()


def test_default_deadlines() -> None:
    """A 503 after 20 seconds must come before the connection is cut."""
    settings = Settings()
    assert (settings.request_seconds, settings.authentication_seconds) == (10, 30)
    assert MAX_WAIT_SECONDS == 20


def test_ipv4_clients_of_a_dual_stack_socket_are_counted_separately(trust: ssl.SSLContext, pair: Pair) -> None:
    """systemd's `ListenStream=8443` is such a socket: 127.0.0.1 appears as ::ffff:127.0.0.1."""
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    sock = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    with running(trust, pair, replace(LONG, connections_per_address=2), sock=sock) as broker, ExitStack() as held:
        address = ("127.0.0.1", sock.getsockname()[1])
        oldest, *_ = [held.enter_context(socket.create_connection(address, timeout=PATIENCE)) for _ in range(3)]
        assert Reader(oldest).at_end()
        assert broker.stats.cut == 1
        other = socket.create_connection(address, timeout=PATIENCE, source_address=("127.0.0.2", 0))
        with trust.wrap_socket(other, server_hostname="localhost") as client:
            assert ask(client)[0] == 200
        assert until(lambda: [entry.client for entry in broker.lines.entries] == ["127.0.0.2"])


@pytest.mark.parametrize("told", [b"", b"\x16\x03\x01", b"GET"], ids=["silent", "half a handshake", "half a request"])
def test_silent_clients_are_evicted_at_the_limit(trust: ssl.SSLContext, pair: Pair, told: bytes) -> None:
    settings = replace(LONG, connections=6)
    with running(trust, None if told == b"GET" else pair, settings) as broker, ExitStack() as held:
        for _ in range(40):
            held.enter_context(broker.raw()).sendall(told)
        with broker.connect() as sock:
            assert ask(sock)[0] == 200
        assert len(broker.server.active_channels) <= 6


def test_client_being_answered_is_not_evicted(trust: ssl.SSLContext, pair: Pair) -> None:
    with running(trust, pair, replace(LONG, connections=6)) as broker, broker.connect() as sock, ExitStack() as held:
        sock.sendall(GET.replace(b"/v2/catalog", b"/large"))
        assert sock.recv(1)
        for _ in range(40):
            held.enter_context(broker.raw())
        assert until(lambda: broker.stats.cut > 20)
        rest = Reader(sock)
        rest.rest += b"H"
        assert rest.answer()[2] == LARGE


def test_idle_clients_are_evicted_at_the_limit(trust: ssl.SSLContext, pair: Pair) -> None:
    with running(trust, pair, replace(LONG, connections=6)) as broker, ExitStack() as held:
        for _ in range(10):
            assert ask(held.enter_context(broker.connect()))[0] == 200


def test_slow_reader_does_not_copy_a_large_body(trust: ssl.SSLContext) -> None:
    with running(trust, None) as broker, ExitStack() as held:
        tracemalloc.start()
        try:
            slow = [held.enter_context(broker.raw()) for _ in range(10)]
            for sock in slow:
                sock.sendall(GET.replace(b"/v2/catalog", b"/large"))
                assert sock.recv(1)
            assert tracemalloc.get_traced_memory()[1] < len(LARGE) / 4
        finally:
            tracemalloc.stop()


def test_connection_limit_is_below_the_descriptor_limit() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert Settings(connections=1 << 30).connection_limit() == soft - 64
    assert Settings(connections=5).connection_limit() == 5


def test_accepting_pauses_without_descriptors(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    accept, tried = broker.server.accept, [0.0]

    def failing() -> Any:
        if len(tried) > 6:
            return accept()
        tried.append(time.monotonic())
        raise OSError(24, "Too many open files")

    broker.server.accept = failing
    with broker.connect() as sock:
        assert ask(sock)[0] == 200
    pause = broker.server.shared.settings.sweep_seconds
    assert min(later - tried for tried, later in pairwise(tried)) >= pause
    assert caplog.text.count("cannot accept") == 6


def test_request_waiting_for_its_password_check_does_not_block_others(trust: ssl.SSLContext, pair: Pair) -> None:
    waiting: list[Any] = []

    def authenticator(header: str | None, address: str, wake: Any) -> CredentialCheck:
        if header == "slow":
            check = CredentialCheck()
            waiting.append(partial(decide, check, wake))
            return check
        return let_in(header, address, wake)

    with running(trust, pair, authenticate=authenticator) as broker:
        with broker.connect() as slow, broker.connect() as sock:
            slow.sendall(GET[:-2] + b"Authorization: slow\r\n\r\n" + GET)
            assert until(lambda: waiting)
            assert ask(sock)[0] == 200
            threading.Thread(target=waiting[0], args=[REFUSED]).start()
            reader = Reader(slow)
            assert reader.answer()[0] == 401
            assert reader.answer()[::2] == (200, SMALL)
            assert until(lambda: [entry.decision.label for entry in broker.lines.entries] == ["main", "", "main"])
        with broker.connect() as gone:
            gone.sendall(GET[:-2] + b"Authorization: slow\r\n\r\n")
            assert until(lambda: len(waiting) == 2)
        waiting[1](REFUSED)
        waiting[1](REFUSED)
        with broker.connect() as sock:
            assert ask(sock)[0] == 200


def test_authenticator_error_closes_only_that_connection(trust: ssl.SSLContext, pair: Pair) -> None:
    def authenticator(header: str | None, address: str, wake: Any) -> None:
        raise ValueError("no")

    with running(trust, pair, authenticate=authenticator) as broker:
        with broker.connect() as sock, pytest.raises((EOFError, OSError)):
            ask(sock)
        assert broker.thread.is_alive()


def test_drain_finishes_responses_and_accepts_no_more(broker: Broker) -> None:
    idle, busy, half = broker.connect(), broker.connect(), broker.connect()
    ask(idle)
    busy.sendall(GET.replace(b"/v2/catalog", b"/large"))
    half.sendall(GET[:20])
    assert until(lambda: broker.phases == [Phase.IDLE, Phase.ANSWERING, Phase.READING])
    stopper: list[int] = []
    thread = threading.Thread(target=lambda: stopper.append(broker.stop()))
    thread.start()
    assert Reader(idle).at_end()
    with pytest.raises(OSError):
        broker.raw()
    assert Reader(busy).answer()[2] == LARGE
    half.sendall(GET[20:])
    status, headers, body = Reader(half).answer()
    assert (status, headers["connection"], body) == (200, "close", SMALL)
    thread.join(PATIENCE)
    assert stopper == [0]
    for sock in (idle, busy, half):
        sock.close()


def test_drain_has_a_deadline(trust: ssl.SSLContext, pair: Pair) -> None:
    with running(trust, pair, replace(LONG, drain_seconds=500)) as broker, broker.connect() as sock:
        sock.sendall(GET.replace(b"/v2/catalog", b"/large"))
        assert until(lambda: broker.phases == [Phase.ANSWERING])
        broker.loop.stop()
        assert until(lambda: broker.server.shared.draining)
        broker.skip(400)
        assert broker.phases == [Phase.ANSWERING]
        broker.skip(200)
        broker.thread.join(PATIENCE)
        assert broker.left == [1]


def test_second_signal_ends_the_drain(broker: Broker) -> None:
    with broker.connect() as sock:
        sock.sendall(GET.replace(b"/v2/catalog", b"/large"))
        assert until(lambda: broker.phases == [Phase.ANSWERING])
        broker.loop.stop()
        assert until(lambda: broker.server.shared.draining)
        assert broker.stop() == 1


def test_errors_do_not_end_the_loop(broker: Broker) -> None:
    broker.server.channel_class = lambda *args, **kwargs: 1 / 0
    with broker.raw() as sock:
        assert sock.recv(1) == b""
    del broker.server.channel_class
    broker.server.channel_class = type(broker.server).channel_class
    assert broker.thread.is_alive()
    assert broker.server.accepting
    broker.server.handle_close()
    assert broker.server.socket is not None


def test_urgent_data_closes_the_connection(trust: ssl.SSLContext) -> None:
    with running(trust, None) as broker, broker.raw() as sock:
        sock.send(b"!", socket.MSG_OOB)
        assert Reader(sock).at_end()


@pytest.mark.parametrize("path", [b"/v2/catalog", b"/v2/service_instances/one"])
def test_a_client_that_waits_for_100_continue_gets_the_answer_at_once(
    trust: ssl.SSLContext, pair: Pair, path: bytes
) -> None:
    """No answer needs a body (RFC 9110 10.1.1)."""
    head = b"PUT " + path + b" HTTP/1.1\r\nHost: b\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    with running(trust, pair, LONG) as broker, broker.connect() as sock:
        status, headers, _ = ask(sock, head)
        assert status in (200, 404, 405)
        assert headers["connection"] == "close"
        sock.sendall(b"hello")
        assert Reader(sock).at_end()
