"""Soak test: a broker under a mix of clients must not fail or leak.

    python tools/soak.py [--seconds 60]

Mixes valid clients, wrong passwords, resets during responses, silent handshakes, plain HTTP, garbage, and reloads. Then
it floods with wrong passwords and expensive hashes, lets new clients log in while 2, 8 and 64 addresses guess, replaces
the catalog by a FIFO while the log has no reader, and compares the times of an unknown user and a wrong password.
Exits with 1 on a failure. Loopback only, bounded in time and in clients.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osbctl.broker.hashing_process import find_matching_hash
from osbctl.credentials import make_record, write_record

ROOT = Path(__file__).parent.parent
COSTLY_ROUNDS = 656_000


def token(user: str, password: str) -> str:
    return b64encode(f"{user}:{password}".encode()).decode()


@dataclass(frozen=True)
class Target:
    """Address of a broker, with which also another process can be its client."""

    folder: Path
    port: int
    secure: bool

    def context(self) -> ssl.SSLContext:
        """TLS of a client that accepts any certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context

    def raw(self, source: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=40, source_address=(source, 0))

    def tls(self, source: str = "127.0.0.1") -> ssl.SSLSocket:
        return self.context().wrap_socket(self.raw(source), server_hostname="localhost")

    def connect(self, source: str) -> socket.socket:
        """A connection, with or without TLS."""
        return self.tls(source) if self.secure else self.raw(source)


class Broker:
    """A running `osbctl serve`."""

    def __init__(
        self,
        folder: Path,
        rounds: int,
        *options: str,
        errors: int | None = None,
        secure: bool = True,
        wrap: tuple[str, ...] = (),
    ) -> None:
        """`errors` is the descriptor of standard error, a file in `folder` by default. `wrap` is a command prefix."""
        self.folder, self.rounds = folder, rounds
        self.catalog = folder / "catalog.json"
        self.write(0)
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
                *("-days", "2", "-keyout", str(folder / "key"), "-out", str(folder / "cert"), "-subj", "/CN=localhost"),
            ],
            check=True,
            capture_output=True,
        )
        write_record(folder / "credentials", make_record("platform", "right", rounds=rounds))
        command = [
            *wrap,
            sys.executable,
            "-m",
            "osbctl",
            "serve",
            str(self.catalog),
            "--credentials",
            str(folder / "credentials"),
        ]
        reserved = socket.socket()  # bound until the broker listens: no other process gets the port meanwhile
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        self.target = Target(folder, reserved.getsockname()[1], secure)
        tls = ["--tls-cert", str(folder / "cert"), "--tls-key", str(folder / "key")]
        plain = [] if "--trusted-proxy" in options else ["--insecure-http"]
        command += [*(tls if secure else plain), "--port", str(self.target.port)]
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=errors or log
            )
        with reserved:
            self.until_it_listens()

    def until_it_listens(self) -> None:
        for _ in range(400):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(ConnectionRefusedError), self.target.raw() as connection:
                if connection.getsockname() != connection.getpeername():  # a free port may be connected to itself
                    return
            time.sleep(0.05)
        raise SystemExit(f"the broker does not start: {(self.folder / 'log').read_text('utf-8')[-500:]}")

    def write(self, number: int) -> None:
        """Replace the served catalog by another valid one."""
        plan = {
            "id": "P",
            "name": "p",
            "description": f"Number {number}. " + "x" * 20_000,
            "free": True,
            "bindable": True,
        }
        service = {"id": "S", "name": "s", "description": "d", "bindable": True, "plans": [plan]}
        fresh = self.folder / "fresh"
        fresh.write_text(json.dumps({"services": [service]}))
        fresh.replace(self.catalog)

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))  # noqa: PTH208

    def cpu_seconds(self) -> float:
        """CPU time of the broker and of the process that hashes passwords."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
        return sum(map(cpu_seconds, (self.process.pid, *children)))

    def memory(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        match = re.search(r"VmRSS:\s+(\d+)", status)
        return int(match[1]) if match else 0

    def ask(self) -> str:
        """Request the catalog on a new connection. Returns its tag."""
        with self.target.tls() as connection:
            connection.sendall(request())
            status, fields, _ = answer(connection)
            assert status == 200
            return fields["etag"]

    def probe(self) -> None:
        """Request /livez of the admin listener."""
        match = re.search(r"admin on http://\S+:(\d+)", (self.folder / "log").read_text())
        assert match
        with socket.create_connection(("127.0.0.1", int(match[1])), timeout=20) as connection:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(40)


def request(user: str = "platform", password: str = "right", method: str = "GET") -> bytes:
    head = f"Host: x\r\nX-Broker-API-Version: 2.14\r\nAuthorization: Basic {token(user, password)}\r\n\r\n"
    return f"{method} /v2/catalog HTTP/1.1\r\n{head}".encode()


def answer(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Read one complete response from a kept connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            raise ConnectionError("closed before an answer")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(fields.get("content-length", 0)):
        body += connection.recv(65_536)
    return int(first.split()[1]), fields, body


class Chaos:
    """The clients of the soak test, one thread each."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.end = threading.Event()
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.bodies: dict[str, str] = {}

    def good(self) -> None:
        with self.broker.target.tls() as connection:
            for _ in range(50):
                connection.sendall(request())
                status, fields, body = answer(connection)
                digest = hashlib.sha256(body).hexdigest()
                if status != 200 or self.bodies.setdefault(fields["etag"], digest) != digest:
                    self.wrong.append(f"status {status}, tag {fields.get('etag')}")
                self.counts["good"] += 1

    def bad_password(self) -> None:
        with self.broker.target.tls() as connection:
            connection.sendall(request(password=str(random.random())))
            status, _, _ = answer(connection)
            if status not in (401, 503):
                self.wrong.append(f"wrong password: {status}")
            self.counts["refused"] += 1
        time.sleep(0.1)

    def abort(self) -> None:
        connection = self.broker.target.tls()
        connection.sendall(request() * 5)
        connection.recv(10)
        connection.close()
        self.counts["aborted"] += 1

    def silent(self) -> None:
        with self.broker.target.raw():
            self.end.wait(0.5)
        self.counts["silent"] += 1

    def noise(self) -> None:
        with self.broker.target.raw() as raw:
            raw.sendall(random.choice([request(), os.urandom(300), b"\x16\x03\x01\xff\xff"]))
            raw.settimeout(1)
            with contextlib.suppress(OSError):
                raw.recv(1000)
        self.counts["noise"] += 1

    def reload(self) -> None:
        self.broker.write(random.randrange(10**9))
        if random.random() < 0.2:
            self.broker.catalog.write_text("{broken")
            time.sleep(0.6)
            self.broker.write(random.randrange(10**9))
        self.broker.process.send_signal(signal.SIGHUP)
        self.counts["reloads"] += 1
        self.end.wait(1)

    def forever(self, client: Callable[[], None]) -> None:
        while not self.end.is_set():
            try:
                client()
            except (OSError, ValueError) as error:
                if client == self.good:
                    self.wrong.append(f"{client.__name__}: {error}")
                    return

    def run(self, seconds: float) -> None:
        clients = [self.good] * 3 + [self.bad_password, self.abort, self.silent, self.silent, self.noise, self.reload]
        threads = [threading.Thread(target=self.forever, args=[client]) for client in clients]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.end.set()
        for thread in threads:
            thread.join(30)


def chaos(seconds: float) -> Iterator[str]:
    """Failures under a mix of clients."""
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name), 1_000, "--connections-per-address", "0")
        mix = Chaos(broker)
        mix.run(min(5, seconds))
        descriptors, memory = broker.descriptors(), broker.memory()
        mix.end.clear()
        mix.run(seconds)
        time.sleep(3)
        grown = (broker.memory() - memory) / 1000
        left = broker.descriptors() - descriptors
        print(f"chaos: {dict(mix.counts)}, memory {grown:+.1f} MB, descriptors {left:+d}", flush=True)
        yield from (f"chaos: {wrong}" for wrong in mix.wrong[:5])
        if grown > 10:
            yield f"memory has grown by {grown:.1f} MB"
        if left > 5:
            yield f"{left} descriptors are left"
        if broker.stop() != 0:
            yield "the broker did not end with 0"


def flood(seconds: float) -> Iterator[str]:
    """Latency of a valid client while 32 others guess passwords with an expensive hash."""
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name), COSTLY_ROUNDS, "--connections-per-address", "0")
        with broker.target.tls() as connection:
            connection.settimeout(30)
            connection.sendall(request())
            answer(connection)
            mix = Chaos(broker)
            threads = [threading.Thread(target=mix.forever, args=[mix.bad_password]) for _ in range(32)]
            for thread in threads:
                thread.start()
            times, end = [], time.monotonic() + seconds
            while time.monotonic() < end:
                start = time.perf_counter()
                connection.sendall(request())
                status, _, _ = answer(connection)
                times.append((time.perf_counter() - start) * 1000)
                if status != 200:
                    yield f"flood: a good client got {status}"
                time.sleep(0.02)
            mix.end.set()
            for thread in threads:
                thread.join(30)
        median = statistics.median(times)
        print(f"flood: {mix.counts['refused']} refused; a good client waited {median:.1f} ms (median)", flush=True)
        if median > 50:
            yield f"flood: a good client waited {median:.1f} ms"
        broker.stop()


async def guess(target: Target, source: str, enough: Callable[[int], bool], pause: float) -> None:
    """Guess passwords on one connection, with a pause after each response, until `enough(status)`."""
    context = target.context()
    while True:
        with contextlib.suppress(OSError, EOFError):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", target.port, ssl=context, server_hostname="localhost", local_addr=(source, 0)
            )
            while True:
                writer.write(request(password=str(random.random())))
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"Content-Length: (\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                if enough(int(head[9:12])):
                    writer.close()
                    return
                await asyncio.sleep(pause)
        await asyncio.sleep(0.1)


def attackers(target: Target, addresses: int, each: int, pause: float, ready: Any) -> None:
    """Run in a child process: addresses that are refused once, and then guess on `each` connections forever."""
    sources = [f"127.0.0.{2 + number}" for number in range(addresses)]

    async def run() -> None:
        await asyncio.gather(*(guess(target, source, lambda status: status == 401, 0) for source in sources))
        ready.set()
        await asyncio.gather(*(guess(target, source, lambda _: False, pause) for source in sources * each))

    asyncio.run(run())


def attack(
    addresses: int, clients: int = 5, pause: float = 0, rounds: int = COSTLY_ROUNDS, quiet: bool = True
) -> Iterator[str]:
    """Latency of new clients with the correct password, each from a new address, while refused addresses guess.

    Each must be answered 200 within the time of four hashes, as long as one takes here while that goes on; on a machine
    that does other work (not `quiet`), within as much CPU time of the broker.
    """
    unfit = f"$6$rounds={rounds}${'.' * 16}${'.' * 86}"
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name), rounds)
        ready = multiprocessing.Event()
        crowd = multiprocessing.Process(target=attackers, args=[broker.target, addresses, 10, pause, ready])
        crowd.start()
        if not ready.wait(180):
            log = (broker.folder / "log").read_text("utf-8")
            ended = broker.process.poll()
            yield f"attack of {addresses}: not all were refused in time (exit code {ended}): {log[-500:]}"
        hashes, waited = [], []
        for number in range(clients):
            clock = time.perf_counter if quiet else broker.cpu_seconds
            hashes.append(
                timed(lambda: find_matching_hash("x", [unfit]), time.perf_counter if quiet else time.thread_time)
            )
            start = clock()
            try:
                with broker.target.tls(f"127.0.1.{1 + number}") as connection:
                    # Headers differ, otherwise the first one would be cached.
                    connection.sendall(request().replace(b"Basic ", b"Basic " + b" " * number))
                    status = answer(connection)[0]
            except OSError as error:
                yield f"attack of {addresses}: a new client was cut: {error}"
                continue
            waited.append((clock() - start) * 1000)
            if status != 200:
                yield f"attack of {addresses}: a new client got {status}"
        for process in (crowd, broker.process):
            process.kill()
        crowd.join()
        broker.process.wait()
    one, worst = statistics.median(hashes), max(waited, default=0)
    print(
        f"attack of {addresses} x 10: new clients waited {worst:.0f} ms at most; a hash took {one:.0f} ms", flush=True
    )
    if worst > 4 * one:
        yield f"attack of {addresses}: a new client waited {worst:.0f} ms"


def silence(target: Target, addresses: int, each: int) -> list[socket.socket]:
    """Silent connections, from several addresses of this machine."""
    opened = []
    for number in range(addresses * each):
        source = (f"127.0.0.{2 + number % addresses}", 0)
        opened.append(socket.create_connection(("127.0.0.1", target.port), timeout=20, source_address=source))
        opened[-1].setblocking(False)
    return opened


def hold_silent(target: Target, addresses: int, each: int, ready: Any, end: Any) -> None:
    """Run in a child process: keep silent connections open, and reopen closed ones."""
    silent = silence(target, addresses, each)
    ready.set()
    while not end.is_set():
        gone = [sock for sock in silent if _closed(sock)]
        for sock in gone:
            sock.close()
            silent.remove(sock)
        with contextlib.suppress(OSError):
            silent += silence(target, addresses, len(gone) // addresses)
        end.wait(0.5)


def _closed(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def crowd(seconds: float, addresses: int, each: int, *options: str) -> Iterator[str]:
    """Latency of a new client and a probe while silent connections exceed the limit."""
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name), 1_000, "--admin-listen", "127.0.0.1:0", *options)
        ready, end = multiprocessing.Event(), multiprocessing.Event()
        crowd = multiprocessing.Process(target=hold_silent, args=[broker.target, addresses, each, ready, end])
        crowd.start()
        ready.wait(30)
        latency, probe = [], []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            latency.append(timed(broker.ask))
            probe.append(timed(broker.probe))
            time.sleep(0.05)
        end.set()
        crowd.join(30)
        broker.stop()
    for who, times in (("new client", latency), ("/livez", probe)):
        worst, median = max(times), statistics.median(times)
        print(f"crowd of {addresses} x {each}: {who} {median:.1f} ms (median), {worst:.1f} ms (worst of {len(times)})")
        if median > 100:
            yield f"crowd: {who} waited {median:.1f} ms"


def pipes() -> Iterator[str]:
    """Latency of a client while the catalog is a FIFO and standard error has no reader."""
    with tempfile.TemporaryDirectory() as name:
        reading, writing = os.pipe()
        fill(writing)
        broker = Broker(Path(name), 1_000, errors=writing)
        before = broker.ask()
        os.mkfifo(broker.folder / "fifo")
        (broker.folder / "fifo").replace(broker.catalog)
        broker.process.send_signal(signal.SIGHUP)
        waits = []
        for _ in range(100):
            waits.append(timed(broker.ask))
            time.sleep(0.02)
        if broker.ask() != before:
            yield "pipes: a FIFO was taken up as a catalog"
        broker.write(1)
        start = time.monotonic()
        while broker.ask() == before and time.monotonic() < start + 30:
            time.sleep(0.05)
        took = time.monotonic() - start
        ended = timed(broker.stop) / 1000
        os.close(reading)
        os.close(writing)
    worst = max(waits)
    print(f"pipes: a client waited {worst:.0f} ms at most; a good catalog took {took:.1f} s, the end {ended:.1f} s")
    if worst > 1000 or took > 10 or ended > 10:
        yield f"pipes: {worst:.0f} ms, {took:.1f} s, {ended:.1f} s"


def fill(pipe: int) -> None:
    """Fill a pipe. The flags of the reopened descriptor do not affect `pipe`."""
    again = os.open(f"/proc/self/fd/{pipe}", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(again, b"x" * 512)
    os.close(again)


def cpu_seconds(process: int) -> float:
    """CPU time that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Duration of a call in milliseconds."""
    start = clock()
    work()
    return (clock() - start) * 1000


def timing(samples: int) -> Iterator[str]:
    """Failures if the response time distinguishes an unknown user from a wrong password."""
    from osbctl.broker.authenticator import REFUSED, Authenticator

    authenticator = Authenticator([make_record("platform", "right", rounds=5_000)])
    kinds: dict[str, list[float]] = {"platform": [], "nobody": []}
    try:
        for number in range(samples):
            for user, times in kinds.items():
                done = threading.Event()
                start = time.perf_counter()
                header = f"Basic {token(user, str(number))}"
                address = f"10.{number % 250}.{number // 250 % 250}.{len(user)}"
                check = authenticator.check(header, address, done.set)
                done.wait(10)
                if check.decision is not REFUSED:
                    yield f"timing: {user} was answered {check.decision}"
                times.append(time.perf_counter() - start)
    finally:
        authenticator.close()
    known, unknown = (statistics.median(times) * 1000 for times in kinds.values())
    print(f"timing: wrong password {known:.2f} ms, unknown user {unknown:.2f} ms (medians of {samples})", flush=True)
    if abs(known - unknown) > 0.1 * max(known, unknown):
        yield f"timing: {known:.2f} ms against {unknown:.2f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args().seconds
    short = min(10, seconds)
    wrong = [
        *chaos(seconds),
        *flood(short),
        *attack(2),
        *attack(8),
        *attack(64),
        *crowd(short, 5, 250),
        *crowd(short, 1, 1250, "--connections-per-address", "0"),
        *pipes(),
        *timing(400),
    ]
    print("\n".join(wrong) or "all well")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
