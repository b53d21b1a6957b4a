"""Crowds of clients without a correct password: others are served all the same."""

import socket
import ssl
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from osbctl.broker.authenticator import REFUSED, CredentialCheck, Decision, RequestOutcome
from tests.broker.harness import GET, LONG, PATIENCE, SMALL, Broker, Reader, ask, running, until
from tests.corpus import EVERY_CASE
from tools.crowds import ATTACKS, FEW, UPDATES, key_updates, run, run_beside_nginx
from tools.soak import attack

Pair = tuple[Path, Path]
RIGHT = GET[:-2] + b"Authorization: right\r\n\r\n"


def authenticator(header: str | None, address: str, wake: Any) -> CredentialCheck:
    return CredentialCheck(Decision(RequestOutcome.ACCEPTED, "main") if header == "right" else REFUSED)


def accepted(broker: Broker) -> int:
    """Number of connections accepted so far, of which none was closed but by eviction."""
    return broker.stats.cut + len(broker.server.active_channels)


def come(broker: Broker, source: str) -> socket.socket:
    return socket.create_connection(broker.address, timeout=PATIENCE, source_address=(source, 0))


@pytest.mark.fuzz
@pytest.mark.parametrize("secure", [True, False] if EVERY_CASE else [True])
def test_new_clients_and_probes_are_answered_under_each_attack(secure: bool) -> None:
    """`python -m tools.crowds` does this with 1,250 connections and 20 new clients."""
    small = {"clients": 2, "each": 16, "updates": UPDATES // 40, "rounds": 10_000}
    assert list(run(secure, **small, wrap=FEW, seconds=0.2, quiet=False)) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("title", ATTACKS if EVERY_CASE else [*ATTACKS][1::2])  # one of each kind
def test_new_clients_are_answered_beside_dear_requests_and_guessers(title: str) -> None:
    """`python -m tools.crowds` does this beside nginx, with 20 new clients."""
    attack = ATTACKS[title].scaled(4)
    assert list(run_beside_nginx(title, attack, 2, seconds=0.2, rounds=10_000, quiet=False)) == []


@pytest.mark.parametrize("answered", [False, True])
def test_a_stream_of_key_updates_is_cut(broker: Broker, tmp_path: Path, answered: bool) -> None:
    """RFC 8446 §4.6.3 sets no limit, and OpenSSL processes them as long as they arrive."""
    keys = tmp_path / "keys"
    broker.trust.keylog_filename = str(keys)
    with broker.connect() as sock:
        broker.trust.keylog_filename = None
        assert isinstance(sock, ssl.SSLSocket)
        lines = [line.split() for line in keys.read_text().splitlines()]
        (secret,) = (bytes.fromhex(words[2]) for words in lines if words[0] == "CLIENT_TRAFFIC_SECRET_0")
        with socket.socket(fileno=sock.detach()) as raw:
            raw.settimeout(PATIENCE)
            records = list(key_updates(secret, 3000, answered=answered))
            raw.sendall(b"".join(records[:20]))
            assert not until(lambda: len(broker.server.active_channels) == 0, 0.3), "some are no harm"
            with pytest.raises(ConnectionError):
                raw.sendall(b"".join(records[20:]))
                while raw.recv(65_536):
                    pass
                raise ConnectionError
    assert until(lambda: len(broker.server.active_channels) == 0)


@pytest.mark.parametrize("asked", [b"", GET * 100], ids=["silent", "pipelining"])
def test_client_with_most_connections_is_evicted_first(trust: ssl.SSLContext, asked: bytes) -> None:
    """Authenticated connections and those of a client with few are not evicted."""
    with running(trust, None, replace(LONG, connections=8), authenticate=authenticator) as broker, ExitStack() as held:
        authenticated = held.enter_context(come(broker, "127.0.0.3"))
        assert ask(authenticated, RIGHT)[0] == 200
        two = [held.enter_context(come(broker, "127.0.0.4")) for _ in range(2)]
        for _ in range(40):
            held.enter_context(come(broker, "127.0.0.2")).sendall(asked)
        assert until(lambda: broker.stats.cut > 30)
        with come(broker, "127.0.0.5") as client:
            assert ask(client, RIGHT)[::2] == (200, SMALL)
        assert [ask(sock, RIGHT)[0] for sock in two] == [200, 200]
        assert ask(authenticated, RIGHT)[0] == 200


def test_single_connections_keep_their_grace_period(trust: ssl.SSLContext) -> None:
    """Each gets a slot in order of arrival, long enough to send a request; idle authenticated clients stay."""
    settings = replace(LONG, connections=8, grace_seconds=1000)
    with running(trust, None, settings, authenticate=authenticator) as broker, ExitStack() as held:
        authenticated = held.enter_context(come(broker, "127.0.0.3"))
        assert ask(authenticated, RIGHT)[0] == 200
        for number in range(20):
            held.enter_context(come(broker, f"127.0.1.{number}"))
        client = held.enter_context(come(broker, "127.0.0.5"))
        client.sendall(RIGHT)
        for number in (8, 15):  # seven slots are left for the twenty before this one
            assert until(lambda: accepted(broker) == number)  # noqa: B023
            broker.skip(800)
            assert accepted(broker) == number
            broker.skip(300)
        assert Reader(client).answer()[0] == 200
        assert ask(authenticated, RIGHT)[0] == 200


def test_connection_is_not_evicted_during_its_password_check(trust: ssl.SSLContext) -> None:
    waiting: list[Any] = []

    def slow(header: str | None, address: str, wake: Any) -> CredentialCheck:
        waiting.extend((CredentialCheck(), wake))
        return waiting[0]  # type: ignore[no-any-return]

    settings = replace(LONG, connections=8, grace_seconds=0)
    with running(trust, None, settings, authenticate=slow) as broker, ExitStack() as held:
        client = held.enter_context(come(broker, "127.0.0.5"))
        client.sendall(RIGHT)
        assert until(lambda: waiting)
        for number in range(30):
            held.enter_context(come(broker, f"127.0.1.{number}"))
        assert until(lambda: broker.stats.cut > 20)
        waiting[0].decision = authenticator("right", "", None).decision
        waiting[1]()
        assert Reader(client).answer()[0] == 200


def test_new_clients_log_in_during_password_guessing() -> None:
    """`make soak` does this with the default rounds, and 2, 8 and 64 clients without pauses."""
    assert list(attack(4, clients=2, pause=0.2, rounds=150_000, quiet=False)) == []
