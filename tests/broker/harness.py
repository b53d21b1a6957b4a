"""A broker on loopback with real certificates, and clients that speak to it byte by byte."""

import datetime
import hashlib
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from osbctl.broker.authenticator import CredentialCheck, Decision, RequestOutcome
from osbctl.broker.catalog_app import Response
from osbctl.broker.channel import Phase, Shared, Stats
from osbctl.broker.listeners import listen_tcp
from osbctl.broker.logs import Entry
from osbctl.broker.parser import RequestParser
from osbctl.broker.server import Loop, Server
from osbctl.broker.settings import Settings
from osbctl.broker.tls import Tls

SMALL = b'{"services": []}' * 500
LARGE = bytes(range(256)) * (20 << 12)
"""20 MB."""

PATIENCE = 60.0
"""Seconds after which a test gives up waiting: many times what a busy machine needs."""

_DEADLINES = ("handshake", "request", "idle", "authentication", "stall", "drain")
LONG = Settings(**dict.fromkeys((f"{name}_seconds" for name in _DEADLINES), 10_000.0))
"""Deadlines that no test reaches unless it moves the clock (`Broker.skip`)."""

_machine_clock = time.monotonic

GET = b"GET /v2/catalog HTTP/1.1\r\nHost: broker\r\n\r\n"


def app(request: RequestParser) -> Response:
    """An application: /large has 20 MB, /304 no body, /boom fails, all other paths are small."""
    if request.path == "/boom":
        raise RuntimeError("secret detail")
    if request.path == "/304":
        return Response("304 Not Modified", (("ETag", '"x"'),))
    body = LARGE if request.path == "/large" else SMALL
    return Response("200 OK", (("Content-Type", "application/json"),), body)


def let_in(header: str | None, address: str, wake: Any) -> CredentialCheck:
    """An authenticator that accepts every request."""
    return CredentialCheck(Decision(RequestOutcome.ACCEPTED, "main"))


@dataclass
class Authority:
    """A certificate authority, and the folder of its files, which has its own certificate, too."""

    folder: Path
    key: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    @property
    def cert(self) -> Path:
        return self.folder / "ca.pem"

    def __post_init__(self) -> None:
        own = certificate(self.key, self.key, "test authority", ca=True, days=50)
        self.cert.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *, days: float = 20, begins: float = -0.1, dns: str = "localhost") -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        cert = certificate(key, self.key, name, ca=False, days=days, begins=begins, dns=dns)
        cert_file, key_file = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        cert_file.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(_pem(key))
        return cert_file, key_file


def _pem(key: Any, encryption: Any = serialization.NoEncryption()) -> bytes:
    return bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption))


def encrypted(key: Path) -> bytes:
    """The key in a file, with a passphrase."""
    loaded = serialization.load_pem_private_key(key.read_bytes(), None)
    return _pem(loaded, serialization.BestAvailableEncryption(b"hidden"))


def certificate(
    key: Any, signer: Any, name: str, *, ca: bool, days: float, begins: float = -0.1, dns: str = "localhost"
) -> Any:
    now = datetime.datetime.now(datetime.UTC)
    loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    named = x509.SubjectAlternativeName([x509.DNSName(dns or "none"), loopback])
    others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    never = dict.fromkeys((*others, "encipher_only", "decipher_only"), False)
    usage = x509.KeyUsage(digital_signature=True, key_cert_sign=ca, crl_sign=ca, **never)
    builder = x509.CertificateBuilder().add_extension(named, critical=False) if dns else x509.CertificateBuilder()
    return (
        builder.subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test authority")]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=begins))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        # Python 3.13 checks certificates strictly (RFC 5280): it wants the identifiers of both keys.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )


class Lines:
    """An access log in memory."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)


class CountingLoop(Loop):
    """The main loop, and the number of its turns."""

    turns = 0

    def run_turn(self, wait_seconds: float) -> None:
        super().run_turn(wait_seconds)
        self.turns += 1


@dataclass
class Broker:
    """A server in a thread, with its state.

    `ahead` is how far its clock is ahead of the machine's, in seconds (`skip`).
    """

    loop: CountingLoop
    server: Server
    tls: Tls | None
    stats: Stats
    lines: Lines
    thread: threading.Thread
    trust: ssl.SSLContext
    left: list[int]
    ahead: float = 0.0

    @property
    def phases(self) -> list[Phase]:
        """Phases of the open connections."""
        return [channel.phase for channel in list(self.server.active_channels.values())]

    def skip(self, seconds: float) -> None:
        """Move the broker's clock on, and wait until it has checked its deadlines by it: a test need not wait for them."""
        self.ahead += seconds
        before = self.loop.turns
        assert until(lambda: self.loop.turns > before + 1 or not self.thread.is_alive())  # one may have begun before

    def cpu_seconds(self) -> float:
        """CPU time that its thread has used."""
        assert self.thread.ident is not None
        return time.clock_gettime(time.pthread_getcpuclockid(self.thread.ident))

    @property
    def address(self) -> tuple[str, int]:
        return self.server.effective_host, int(self.server.effective_port)

    def raw(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE)

    def connect(self) -> socket.socket:
        if self.tls is None:
            return self.raw()
        return self.trust.wrap_socket(self.raw(), server_hostname="localhost")

    def stop(self) -> int:
        self.loop.stop()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        return self.left[0]


@contextmanager
def running(
    trust: ssl.SSLContext, pair: tuple[Path, Path] | None, settings: Settings | None = None, **options: Any
) -> Iterator[Broker]:
    settings = settings or Settings()
    settings = replace(settings, sweep_seconds=min(settings.sweep_seconds, 0.05))
    loop, stats, lines = CountingLoop(settings), Stats(), Lines()
    tls = Tls(*pair) if pair else None
    sock = options.pop("sock", None) or listen_tcp("127.0.0.1", 0)[0]
    server = Server(
        options.pop("app", app), sock, loop,
        Shared(settings, stats, options.pop("authenticate", let_in), tls, access_log=lines, **options),
    )  # fmt: skip
    loop.servers.append(server)
    left: list[int] = []
    thread = threading.Thread(target=lambda: left.append(loop.run()), daemon=True)
    broker = Broker(loop, server, tls, stats, lines, thread, trust, left)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: _machine_clock() + broker.ahead)
        thread.start()
        try:
            yield broker
        finally:
            loop.stop()
            loop.stop()
            thread.join(PATIENCE)
            assert not thread.is_alive()


class Reader:
    """Reads responses from a connection, one after the other."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.rest = sock, bytearray()

    def answer(self, head: bool = False) -> tuple[int, dict[str, str], bytes]:
        while b"\r\n\r\n" not in self.rest:
            self._more()
        top, _, self.rest = self.rest.partition(b"\r\n\r\n")
        first, *lines = top.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split()[1])
        length = 0 if head or status == 304 else int(headers["content-length"])
        while len(self.rest) < length:
            self._more()
        data = bytes(self.rest[:length])
        del self.rest[:length]
        return status, headers, data

    def _more(self) -> None:
        piece = self.sock.recv(65536)
        if not piece:
            raise EOFError("closed")
        self.rest += piece

    def at_end(self) -> bool:
        """Return whether the server has closed and all was read."""
        try:
            return self.rest == b"" and self.sock.recv(1) == b""
        except (ConnectionResetError, ssl.SSLError):
            return True


def ask(sock: socket.socket, request: bytes = GET) -> tuple[int, dict[str, str], bytes]:
    sock.sendall(request)
    return Reader(sock).answer(head=request.startswith(b"HEAD"))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def until(condition: Any, seconds: float = PATIENCE) -> bool:
    """Wait for a condition; False if it has not come true in time."""
    end = _machine_clock() + seconds
    while _machine_clock() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())
