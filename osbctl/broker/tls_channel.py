"""One TLS connection in the main loop.

OpenSSL never sees the socket: it gets at most one read of 16 kB per turn, and its output is sent like a plain
response. So the work of a turn is bounded; with the socket, OpenSSL would read on as long as data arrives.
"""

import contextlib
import logging
import ssl
import time
from typing import Any

from osbctl.broker.catalog_app import error_response
from osbctl.broker.channel import RECORD, Channel, Phase, encode_head
from osbctl.broker.fairness import Client
from osbctl.broker.parser import RequestParser

_log = logging.getLogger("osbctl.broker")

HTTPS_REQUIRED = error_response("400 Bad Request", "HttpsRequired", "This port speaks only HTTPS.")
MAX_WITHOUT_PLAINTEXT = 2 * RECORD  # bytes: a handshake, an occasional key update, a partial record


class TlsChannel(Channel):
    """A `Channel` that reads and writes through an SSLObject. Not thread-safe."""

    phase = Phase.HANDSHAKE
    without_plaintext = 0  # bytes received since the last plaintext

    def __init__(
        self, server: Any, sock: Any, addr: tuple[Any, ...], adj: Any, client: Client, map: Any = None
    ) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = server.shared.tls.certificate.context
        self.tls: ssl.SSLObject = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        super().__init__(server, sock, addr, adj, client, map=map)
        self.sendbuf_len = RECORD  # waitress copies this much for each write

    def receive(self) -> bytes | None:
        data = super().receive()
        if not data or self.phase is Phase.LINGERING:
            return data
        if self.phase is Phase.HANDSHAKE and not self.without_plaintext and data[:1].isalpha():
            self._record_failed_handshake("plain HTTP")  # this is a method; a TLS handshake begins with 0x16
            head = encode_head(RequestParser(self.adj), HTTPS_REQUIRED, time.time(), closes=True)
            with contextlib.suppress(OSError):
                super().write_some(head + HTTPS_REQUIRED.body)
            self.start_lingering()
            return None
        self.without_plaintext += len(data)
        self.incoming.write(data)
        plain = self._decrypt_received()
        if plain:
            self.without_plaintext = 0
        elif self.without_plaintext > MAX_WITHOUT_PLAINTEXT:
            return b""
        if self.outgoing.pending:  # the handshake, or the alert that ends it
            self.flush()
        return plain

    def _decrypt_received(self) -> bytes | None:
        """Advance the handshake, then return plaintext; b"" at the end or on a failure, None if there is none yet."""
        if self.phase is Phase.HANDSHAKE:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                return None
            except (OSError, ValueError) as error:
                self._record_failed_handshake(error)
                return b""
            self._enter_phase(Phase.IDLE)  # a request may follow at once
        plain = b""
        try:
            while self.incoming.pending:
                piece = self.tls.read(RECORD)
                if not piece:
                    return plain
                plain += piece
        except ssl.SSLWantReadError:
            pass
        except (OSError, ValueError):
            return b""
        return plain or None

    def _record_failed_handshake(self, reason: object) -> None:
        self.shared.stats.handshakes_failed += 1
        _log.debug("TLS handshake with %s failed: %s", self.peer, reason)

    def flush(self) -> None:
        if self.encrypted or self.outgoing.pending:
            try:
                self._send_encrypted()
            except OSError:
                self.will_close = True
        super().flush()

    def write_some(self, data: bytes) -> int:
        if self.encrypted:
            return 0
        taken = self.tls.write(data[:RECORD])
        self._send_encrypted()
        return taken

    def _send_encrypted(self) -> None:
        self.encrypted += self.outgoing.read()
        if self.encrypted and self.socket is not None:
            self.encrypted = self.encrypted[super().write_some(self.encrypted) :]

    def send_close_notify(self) -> None:
        """Send close_notify, without waiting for the peer's (RFC 8446 §6.1)."""
        if self.phase is not Phase.HANDSHAKE and not self.encrypted:
            with contextlib.suppress(OSError, ValueError):
                self.tls.unwrap()
            with contextlib.suppress(OSError):
                self._send_encrypted()
