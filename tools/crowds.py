"""Attacks on `osbctl serve` without a password: latency of new clients with the correct one, and of a probe.

    python -m tools.crowds [--clients 20]

Runs one broker over plain HTTP and one over TLS. There a stream of KeyUpdate messages comes first (RFC 8446 §4.6.3).
Then 250 connections from each of five addresses send pipelined requests at full speed; then twenty clients do so
and read 5 kB per second, against a limit of twenty connections. Each new client must get 200 within five times the
time of one hash and a second, each probe an answer within two seconds, and an authenticated client must not be cut.

Then, beside nginx with the same attack (`ATTACKS`): dear requests, handshakes and guesses from the platform's own
address, clients inside a trusted network. Each new client must get 200 within three times nginx's slowest and a second,
each probe an answer within 500 ms. Last, the part of its logins that a guesser of the platform's own identity leaves
it, which is a figure for docs/explanation/capacity.md and no failure.

Exits with 1 on a failure. Loopback only, bounded in time and in clients. Without nginx, its slowest counts as 0.
"""

import argparse
import asyncio
import contextlib
import hmac
import itertools
import logging
import multiprocessing
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from osbctl.broker.hashing_process import find_matching_hash
from osbctl.credentials import read_credentials
from tools.soak import Broker, Target, answer, request, timed

ROUNDS = 100_000
UPDATES = 200_000
FEW = ("prlimit", "--nofile=44")
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


async def _pipeline(target: Target, source: str, rate: float, requests: bytes = PIPELINED) -> None:
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
            writing = asyncio.create_task(_write(writer, requests))
            try:
                while await reader.read(4096 if rate > 4096 else 1000):
                    await asyncio.sleep(1000 / rate)
            finally:
                writing.cancel()
                writer.transport.abort()
        await asyncio.sleep(0.01)


async def _write(writer: asyncio.StreamWriter, requests: bytes) -> None:
    with contextlib.suppress(OSError):
        while not writer.is_closing():
            writer.write(requests)
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


class View(NamedTuple):
    """The new clients of an attack, and the limits of their latency and of a probe's in milliseconds.

    Without `bound` it depends on the time of a hash.
    """

    source: str = "127.0.1.{}"
    fields: bytes = b""
    bound: float | None = None
    probe_bound: float = 2000


def feel(
    title: str,
    broker: Broker,
    known: socket.socket,
    clients: int,
    first: int,
    quiet: bool = True,
    view: View = View(),  # immutable
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
            header, source = _new_request(number, view.fields), view.source.format(1 + number)
            asked.append(timed(lambda: _ask(broker.target, source, header), clock))  # noqa: B023
        except (OSError, AssertionError) as error:
            yield f"{title}: a new client: {error!r}"
        try:
            probed.append(timed(broker.probe, clock))
        except (OSError, AssertionError) as error:
            yield f"{title}: the probe: {error!r}"
        try:
            known.sendall(_new_request(0, view.fields))
            assert answer(known)[0] == 200
        except (OSError, AssertionError) as error:
            yield f"{title}: one whose password was right: {error!r}"
            break
    bound = 5 * sorted(hashed)[len(hashed) // 2] + 1000 if view.bound is None else view.bound
    worst, probe = max(asked, default=0), max(probed, default=0)
    print(f"  {title}: new clients {len(asked)} of {clients}, at most {worst:.0f} ms (bound {bound:.0f});", end=" ")
    print(f"/livez {len(probed)} of {clients}, at most {probe:.0f} ms", flush=True)
    if worst > bound:
        yield f"{title}: a new client waited {worst:.0f} ms"
    if probe > view.probe_bound:
        yield f"{title}: the probe waited {probe:.0f} ms"


def _new_request(number: int, fields: bytes = b"") -> bytes:
    """A request with the right password. Headers differ, otherwise the first one would be cached."""
    return request().replace(b"Basic ", b"Basic " + b" " * number)[:-2] + fields + b"\r\n"


def _ask(target: Target, source: str, header: bytes) -> None:
    with target.connect(source) as connection:
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


HEAD = b"GET /v2/catalog HTTP/1.1\r\nHost: x\r\n"
OWN = "127.0.1.1"
"""The address that platform and attacker share in some attacks."""

HTTPS = b"X-Forwarded-Proto: https\r\n"


def send_dear_requests(target: Target, one: bytes, addresses: int, each: int) -> None:
    """Run in a child process: one request, pipelined on `each` connections of each address."""

    async def run() -> None:
        sources = [f"127.0.{40 + number}.1" for number in range(addresses)]
        await asyncio.gather(*(_pipeline(target, source, 1e9, one * 20) for source in sources * each))

    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # each connection that is cut is an error
    asyncio.run(run())


def trickle_handshakes(target: Target, count: int) -> None:
    """Run in a child process: one byte after the other of a ClientHello that never ends, on `count` connections."""
    opened: list[socket.socket] = []
    while True:
        while len(opened) < count:
            with contextlib.suppress(OSError):
                opened.append(target.raw(OWN))
                opened[-1].sendall(b"\x16\x03\x01\x3f\xff")
                opened[-1].setblocking(False)
        for each in list(opened):
            try:
                each.send(b"\x01")
            except BlockingIOError:
                pass
            except OSError:
                each.close()
                opened.remove(each)


def guess_passwords(target: Target, users: Iterator[str], fields: bytes, seconds: float, pause: float = 0.02) -> None:
    """Run in a child process: guess from the platform's address, each on a new connection. `fields` may hold `{}`."""
    for number, user in enumerate(users):
        if number * pause > seconds:
            return
        with contextlib.suppress(OSError, AssertionError), target.connect(OWN) as connection:
            named = fields.replace(b"{}", b"%d" % (number % 250))
            connection.sendall(request(user, f"wrong {number}")[:-2] + named + b"\r\n")
            connection.settimeout(0.1)
            connection.recv(100)
        time.sleep(pause)


def new_users(name: str) -> Iterator[str]:
    """`name` itself, or with a number in the place of `{}`."""
    return (name.format(number) for number in itertools.count())


def guess_in_parallel(target: Target, name: str, fields: bytes, processes: int) -> None:
    """Run in a child process: guessers in threads, which end with it."""
    import threading

    for _ in range(processes):
        threading.Thread(target=guess_passwords, args=(target, new_users(name), fields, 1e9), daemon=True).start()
    time.sleep(600)


class Attack(NamedTuple):
    """An attack: a function for a child process, its arguments behind the target, and options of the broker."""

    run: Callable[..., None]
    arguments: tuple[Any, ...]
    options: tuple[str, ...] = ()
    view: View = View()

    def scaled(self, parts: int) -> "Attack":
        """The same with fewer connections: the last argument is their number."""
        *others, number = self.arguments
        return self._replace(arguments=(*others, max(1, number // parts)))


_SHARED = ("--connections-per-address", "0")
_INSIDE = (*_SHARED, "--trusted-proxy", "127.0.0.0/8")
_NAMED = HTTPS + b"X-Forwarded-For: "
ATTACKS = {
    "3,900 empty fields": Attack(send_dear_requests, (HEAD + b"a:\r\n" * 3900 + b"\r\n", 16, 10)),
    "a path of 5,200 %41": Attack(
        send_dear_requests, (b"GET /" + b"%41" * 5200 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 16, 10)
    ),
    "120 distinct fields": Attack(
        send_dear_requests, (HEAD + b"".join(b"h%d: 1\r\n" % each for each in range(120)) + b"\r\n", 16, 10)
    ),
    "trickled handshakes from the platform's address": Attack(trickle_handshakes, (450,), _SHARED, View(source=OWN)),
    "a guesser on the platform's address": Attack(guess_in_parallel, ("guessed", b"", 2), _SHARED, View(source=OWN)),
    "a guesser of ever new identities there": Attack(
        guess_in_parallel, ("guessed {}", b"", 2), _SHARED, View(source=OWN)
    ),
    "a guesser inside the trusted network": Attack(
        guess_in_parallel,
        ("platform", _NAMED + b"127.0.5.5\r\n", 2),
        _INSIDE,
        View(fields=_NAMED + b"127.0.1.5\r\n"),
    ),
    "a guesser inside who forges addresses": Attack(
        guess_in_parallel,
        ("platform", _NAMED + b"198.51.100.{}, 127.0.5.5\r\n", 2),
        (*_INSIDE, "--trusted-proxy-hops", "1"),
        View(fields=_NAMED + b"127.0.1.5\r\n"),
    ),
}
"""Each against one broker over TLS, and over plain HTTP behind a trusted proxy."""

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log crit; user root;
events {{ worker_connections 3000; }}
http {{
  access_log off; large_client_header_buffers 4 32k; client_body_temp_path {folder}; proxy_temp_path {folder};
  fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port} {tls}; ssl_certificate {folder}/cert; ssl_certificate_key {folder}/key;
    location /v2/catalog {{
      auth_basic broker; auth_basic_user_file {folder}/htpasswd; default_type application/json;
      alias {folder}/catalog.json;
    }}
  }}
}}
"""


@contextlib.contextmanager
def nginx(broker: Broker) -> Iterator[Target | None]:
    """nginx with the files of a broker. None where it is not installed."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if program is None:
        yield None
        return
    folder = broker.folder
    with socket.create_server(("127.0.0.1", 0)) as free:
        target = Target(folder, free.getsockname()[1], broker.target.secure)
    folder.chmod(0o755)
    (folder / "htpasswd").write_text(f"platform:{read_credentials(folder / 'credentials')[0].hash}\n")
    tls = "ssl" if target.secure else ""
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=target.port, tls=tls))
    started = subprocess.Popen([program, "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(ConnectionRefusedError), target.raw():
                break
            time.sleep(0.05)
        yield target
    finally:
        started.terminate()
        started.wait(20)


def run_beside_nginx(
    title: str, attack: Attack, clients: int, *, seconds: float = 3, rounds: int = 5_000, quiet: bool = True
) -> Iterator[str]:
    """Failures of a broker under an attack that nginx gets, too, in the same run."""
    secure = "--trusted-proxy" not in attack.options
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name), rounds, "--admin-listen", "127.0.0.1:0", *attack.options, secure=secure)
        view, slowest = attack.view, 0.0
        if quiet:
            with nginx(broker) as peer:
                slowest = _slowest_of_nginx(peer, attack, clients, seconds) if peer else 0.0
            view = view._replace(bound=3 * slowest + 1000, probe_bound=500)
            print(f"  {title}: nginx's slowest {slowest:.0f} ms", flush=True)
        with broker.target.connect("127.0.2.1") as known:
            known.sendall(_new_request(0, view.fields))
            assert answer(known)[0] == 200
            with process(attack.run, broker.target, *attack.arguments):
                time.sleep(seconds)
                yield from feel(title, broker, known, clients, 1, quiet, view)
        if broker.stop() != 0:
            yield f"{title}: the broker did not end with 0"


def _slowest_of_nginx(peer: Target, attack: Attack, clients: int, seconds: float) -> float:
    with process(attack.run, peer, *attack.arguments):
        time.sleep(seconds)
        times = []
        for number in range(clients):
            header = _new_request(number, attack.view.fields)
            with contextlib.suppress(OSError, AssertionError):
                times.append(timed(lambda: _ask(peer, attack.view.source.format(1 + number), header)))  # noqa: B023
    return max(times, default=0.0)


def guess_own_identity(logins: int = 20, rounds: int = 656_000) -> None:
    """Print how many new logins a guesser of the platform's identity, on its address, leaves it."""
    with tempfile.TemporaryDirectory() as name:
        broker, counts = Broker(Path(name), rounds, *_SHARED), Counter[int]()
        with process(guess_in_parallel, broker.target, "platform", b"", 1):
            time.sleep(8)
            for number in range(logins):
                with broker.target.connect(OWN) as connection:
                    connection.sendall(_new_request(number))
                    counts[answer(connection)[0]] += 1
                time.sleep(1)
        broker.stop()
    print(f"  a guesser of the platform's identity on its address: {counts[200]} of {logins} new logins", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=20)
    clients = parser.parse_args().clients
    wrong = [*run(False, clients), *run(True, clients)]
    for title, attack in ATTACKS.items():
        wrong += run_beside_nginx(title, attack, clients)
    guess_own_identity()
    print("\n".join(wrong) or "all well")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
