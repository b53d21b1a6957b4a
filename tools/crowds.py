"""Attacks on `osbctl serve` without a password: latency of new clients with the correct one, and of a probe.

    python -m tools.crowds [--clients 20]

Runs one broker over plain HTTP and one over TLS. There a stream of KeyUpdate messages comes first (RFC 8446 §4.6.3).
Then 250 connections from each of five addresses send pipelined requests at full speed; then twenty clients do so
and read 5 kB per second, against a limit of twenty connections. Each new client must get 200 within five times the
time of one hash and a second, each probe an answer within two seconds, and an authenticated client must not be cut.
Exits with 1 on a failure. Loopback only, bounded in time and in clients.
"""

import argparse
import asyncio
import contextlib
import hmac
import logging
import multiprocessing
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from osbctl.broker.hashing_worker import find_matching_hash
from tools.soak import Broker, Target, answer, request, timed

ROUNDS = 100_000
UPDATES = 200_000
FEW = ("prlimit", "--nofile=84")
"""Leaves twenty connections (`Settings.connection_limit`)."""

PIPELINED = b"GET /v2/catalog HTTP/1.1\r\nHost: x\r\n\r\n" * 200


def key_updates(secret: bytes, count: int, *, answered: bool = False) -> Iterator[bytes]:
    """TLS records of KeyUpdate messages, for TLS_AES_256_GCM_SHA384; `secret` is client_traffic_secret_0."""

    def expand(label: bytes, length: int) -> bytes:  # HKDF-Expand-Label (RFC 8446 §7.1), one block is enough
        info = length.to_bytes(2, "big") + bytes([6 + len(label)]) + b"tls13 " + label + b"\0\1"
        return hmac.digest(secret, info, "sha384")[:length]

    head, message = b"\x17\x03\x03\x00\x16", b"\x18\0\0\1" + bytes([answered]) + b"\x16"
    for _ in range(count):
        yield head + AESGCM(expand(b"key", 32)).encrypt(expand(b"iv", 12), message, head)
        secret = expand(b"traffic upd", 48)


def send_key_updates(target: Target, source: str, count: int, ready: Any = None, *, answered: bool = False) -> int:
    """Send key updates on one connection until it is cut. Returns the number of bytes sent, in parts of 64 kB."""
    log = target.folder / f"keys-{source}"
    context = target.context()
    context.keylog_filename = str(log)
    sent = 0
    with context.wrap_socket(target.raw(source), server_hostname="localhost") as connection:
        lines = (line.split() for line in log.read_text().splitlines())
        (secret,) = (words[2] for words in lines if words[0] == "CLIENT_TRAFFIC_SECRET_0")
        stream = b"".join(key_updates(bytes.fromhex(secret), count, answered=answered))
        raw = socket.socket(fileno=connection.detach())
        if ready:
            ready.set()
        with raw, contextlib.suppress(OSError):
            for start in range(0, len(stream), 65_536):
                raw.sendall(stream[start : start + 65_536])
                sent += 65_536
            while raw.recv(65_536):  # closing with unread data would take back what was sent
                pass
    return sent


async def _pipeline(target: Target, source: str, rate: float) -> None:
    """One connection that sends requests at full speed and reads `rate` bytes per second; reopened forever."""
    context = target.context() if target.secure else None
    while True:
        with contextlib.suppress(OSError, EOFError, asyncio.TimeoutError):
            reader, writer = await asyncio.open_connection(
                *("127.0.0.1", target.port),
                local_addr=(source, 0),
                limit=4096,
                ssl=context,
                server_hostname="localhost" if context else None,
            )
            writing = asyncio.create_task(_write(writer))
            try:
                while await reader.read(4096 if rate > 4096 else 1000):
                    await asyncio.sleep(1000 / rate)
            finally:
                writing.cancel()
                writer.transport.abort()
        await asyncio.sleep(0.01)


async def _write(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while not writer.is_closing():
            writer.write(PIPELINED)
            await writer.drain()


def _crowd(target: Target, addresses: int, each: int, rate: float) -> None:
    """Run in a child process: `each` connections from each of several addresses."""

    async def run() -> None:
        sources = [f"127.0.0.{2 + number}" for number in range(addresses)]
        await asyncio.gather(*(_pipeline(target, source, rate) for source in sources * each))

    logging.getLogger("asyncio").setLevel(logging.ERROR)  # each connection that is cut is a warning
    asyncio.run(run())


@contextlib.contextmanager
def process(target: Callable[..., object], *args: object) -> Iterator[None]:
    """Run an attack in the background."""
    started = multiprocessing.Process(target=target, args=args)
    started.start()
    try:
        yield
    finally:
        started.kill()
        started.join()


def feel(
    title: str, broker: Broker, known: socket.socket, clients: int, first: int, quiet: bool = True
) -> Iterator[str]:
    """Latency of new clients, the probe and an authenticated client.

    On a machine that does other work (not `quiet`) it is the CPU time that the broker uses until it answers.
    """
    clock, own_clock = (time.perf_counter, time.perf_counter) if quiet else (broker.cpu_seconds, time.thread_time)
    unfit = f"$6$rounds={broker.rounds}${'.' * 16}${'.' * 86}"
    asked, probed, hashed = [], [], []
    for number in range(first, first + clients):
        hashed.append(timed(lambda: find_matching_hash("x", [unfit]), own_clock))
        try:
            # Headers differ, otherwise the first one would be cached.
            header = request().replace(b"Basic ", b"Basic " + b" " * number)
            asked.append(timed(lambda: _ask(broker, f"127.0.1.{1 + number}", header), clock))  # noqa: B023
        except (OSError, AssertionError) as error:
            yield f"{title}: a new client: {error!r}"
        try:
            probed.append(timed(broker.probe, clock))
        except (OSError, AssertionError) as error:
            yield f"{title}: the probe: {error!r}"
        try:
            known.sendall(request())
            assert answer(known)[0] == 200
        except (OSError, AssertionError) as error:
            yield f"{title}: one whose password was right: {error!r}"
            break
    bound = 5 * sorted(hashed)[len(hashed) // 2] + 1000
    worst, probe = max(asked, default=0), max(probed, default=0)
    print(f"  {title}: new clients {len(asked)} of {clients}, at most {worst:.0f} ms (bound {bound:.0f});", end=" ")
    print(f"/livez {len(probed)} of {clients}, at most {probe:.0f} ms", flush=True)
    if worst > bound:
        yield f"{title}: a new client waited {worst:.0f} ms"
    if probe > 2000:
        yield f"{title}: the probe waited {probe:.0f} ms"


def _ask(broker: Broker, source: str, header: bytes) -> None:
    with broker.target.connect(source) as connection:
        connection.sendall(header)
        assert answer(connection)[0] == 200


def run(
    secure: bool,
    clients: int,
    each: int = 250,
    updates: int = UPDATES,
    wrap: tuple[str, ...] = (),
    seconds: float = 3,
    rounds: int = ROUNDS,
    quiet: bool = True,
) -> Iterator[str]:
    """Failures of a broker started by `wrap` and of one with few connections, which may be the same.

    Each attack runs for `seconds` before other clients connect.
    """
    print("TLS" if secure else "plain HTTP", flush=True)
    for places in dict.fromkeys((wrap, FEW)):
        with tempfile.TemporaryDirectory() as name:
            broker = Broker(Path(name), rounds, "--admin-listen", "127.0.0.1:0", secure=secure, wrap=places)
            with broker.target.connect("127.0.1.1") as known:
                known.sendall(request())
                assert answer(known)[0] == 200
                if secure and places == wrap:
                    yield from _under_key_updates(broker, known, clients, updates, quiet)
                if places == wrap:
                    title = f"5 x {each} pipelining"
                    yield from _under_crowd(title, broker, known, clients, 1 + clients, (5, each, 1e9), seconds, quiet)
                if places == FEW:
                    title = "20 that pipeline and read 5 kB/s, of 20 places"
                    yield from _under_crowd(
                        title, broker, known, clients, 1 + 2 * clients, (20, 1, 5000), seconds, quiet
                    )
            if broker.stop() != 0:
                yield "the broker did not end with 0"


def _under_key_updates(broker: Broker, known: socket.socket, clients: int, updates: int, quiet: bool) -> Iterator[str]:
    ready = multiprocessing.Event()
    with process(send_key_updates, broker.target, "127.0.0.9", updates, ready):
        ready.wait(60)
        yield from feel("a stream of KeyUpdates", broker, known, clients, 1, quiet)


def _under_crowd(
    title: str,
    broker: Broker,
    known: socket.socket,
    clients: int,
    first: int,
    crowd: tuple[int, int, float],
    seconds: float,
    quiet: bool,
) -> Iterator[str]:
    with process(_crowd, broker.target, *crowd):
        time.sleep(seconds)
        yield from feel(title, broker, known, clients, first, quiet)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=20)
    clients = parser.parse_args().clients
    wrong = [*run(False, clients), *run(True, clients)]
    print("\n".join(wrong) or "all well")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
