"""One connection with TLS inside the main loop.

OpenSSL never sees the socket: it is given at most one read of 16 kB in a turn, and what it makes is sent like a plain
answer. The work of a turn is bounded for any input (OpenSSL itself stops only where no more has come).
"""

from __future__ import annotations

import contextlib
import logging
import ssl
from typing import Any

from osbctl.broker.channel import RECORD, Channel, Phase
from osbctl.broker.task import refusal_body
from osbctl.broker.tls import NO_COMMON_PROTOCOL, speaks_http

_log = logging.getLogger("osbctl.broker")

_PLAIN_BODY = refusal_body("HttpsRequired", "this port speaks only HTTPS")
PLAIN_ANSWER = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_PLAIN_BODY), _PLAIN_BODY)
)
"""Answer to plain HTTP on the TLS port."""

BARREN_BYTES = 2 * RECORD
"""Bytes accepted without any plaintext: a handshake, an occasional key update, a partial record."""


class TlsChannel(Channel):
    """A `Channel` that reads and writes through an SSLObject. One thread only may touch it."""

    phase = Phase.HANDSHAKE
    hello = b""  # what came before the first answer of the handshake
    barren = 0  # bytes that came since the last plaintext

    def __init__(self, server: Any, sock: Any, addr: tuple[Any, ...], adj: Any, map: Any = None) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = server.shared.tls.certificate.context
        self.tls: ssl.SSLObject = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        super().__init__(server, sock, addr, adj, map=map)
        self.sendbuf_len = RECORD  # waitress copies this much for each write

    def take(self) -> bytes | None:
        data = super().take()
        if not data or self.phase is Phase.LINGERING:
            return data
        if self.phase is Phase.HANDSHAKE and not self.barren and data[:1].isalpha():
            self._answer_plain()  # a method; a TLS record of a handshake begins with 0x16
            return None
        self.barren += len(data)
        self.incoming.write(data)
        plain = self._plain(data)
        if plain:
            self.barren = 0
        elif self.barren > BARREN_BYTES:
            return b""
        if self.outgoing.pending:  # the handshake, or the alert that ends it
            self.flush()
        return plain

    def _plain(self, data: bytes) -> bytes | None:
        if self.phase is not Phase.HANDSHAKE:
            return self._decrypt()
        try:
            return self._shake_hands(data)
        except (OSError, ValueError) as error:
            self._failed(error)
            return b""

    def _shake_hands(self, data: bytes) -> bytes | None:
        """Go a step on in the handshake, and read the request that may follow it at once."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self.hello += data
            if self.outgoing.pending and not speaks_http(self.hello):
                self.outgoing.read()
                self.outgoing.write(NO_COMMON_PROTOCOL)
                raise ssl.SSLError("no common protocol") from None
            return None
        self._enter(Phase.IDLE)
        self.hello = b""
        return self._decrypt()

    def _decrypt(self) -> bytes | None:
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

    def _answer_plain(self) -> None:
        self._failed("plain HTTP")
        with contextlib.suppress(OSError):
            super().put(PLAIN_ANSWER)
        self.linger()

    def _failed(self, reason: object) -> None:
        self.shared.stats.handshakes_failed += 1
        _log.debug("TLS handshake with %s failed: %s", self.peer, reason)

    def flush(self) -> None:
        if self.sealed or self.outgoing.pending:
            try:
                self._send_sealed()
            except OSError:
                self.will_close = True
        super().flush()

    def put(self, data: bytes) -> int:
        if self.sealed:
            return 0
        taken = self.tls.write(data[:RECORD])
        self._send_sealed()
        return taken

    def _send_sealed(self) -> None:
        self.sealed += self.outgoing.read()
        if self.sealed and self.socket is not None:
            self.sealed = self.sealed[super().put(self.sealed) :]

    def say_goodbye(self) -> None:
        """close_notify, without waiting for the peer's (RFC 8446 §6.1)."""
        if self.phase is not Phase.HANDSHAKE and not self.sealed:
            with contextlib.suppress(OSError, ValueError):
                self.tls.unwrap()
            with contextlib.suppress(OSError):
                self._send_sealed()
