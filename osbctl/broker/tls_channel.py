"""One connection with TLS inside the main loop.

The rules it keeps, each learned from a failure:

- one thread only touches an SSL object;
- after WANT_WRITE the same bytes are sent again, at most one record (16,384 bytes) at a time;
- after a read, what OpenSSL still holds is read too, since poll cannot see it;
- WANT_READ and WANT_WRITE are no progress, and poll waits only for the direction wanted;
- nothing is sent after `unwrap()`: it would go out in clear.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import time
from typing import Any

from osbctl.broker.channel import RECORD, Channel
from osbctl.broker.task import refusal_body

_log = logging.getLogger("osbctl.broker")

_PLAIN_BODY = refusal_body("HttpsRequired", "this port speaks only HTTPS")
PLAIN_ANSWER = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_PLAIN_BODY), _PLAIN_BODY)
)
"""What a client reads that speaks plain HTTP to the TLS port."""

_raw = socket.socket
"""Its methods, called on an SSLSocket, reach the socket below."""


class TlsChannel(Channel):
    """A `Channel` whose socket is an SSLSocket, its handshake done step by step by the loop."""

    handshaking = True
    first_byte_seen = False
    handshake_wants_write = False
    read_wants_write = False
    write_wants_read = False
    broken = False
    retry = b""

    def __init__(self, server: Any, sock: socket.socket, addr: tuple[Any, ...], adj: Any, map: Any = None) -> None:
        tls = server.shared.tls
        assert tls is not None
        sock.setblocking(False)
        wrapped = tls.certificate.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        try:
            super().__init__(server, wrapped, addr, adj, map=map)
        except BaseException:
            wrapped.close()
            raise
        # waitress copies this much for each write.
        self.sendbuf_len = RECORD

    def readable(self) -> bool:
        if self.handshaking and not self.lingering:
            return self.socket is not None and not self.handshake_wants_write
        return (self.write_wants_read or super().readable()) and self.socket is not None

    def writable(self) -> bool:
        if self.socket is None or self.lingering:
            return False
        if self.handshaking:
            return self.handshake_wants_write
        if self.write_wants_read:  # poll would report the socket writable for ever, and OpenSSL write nothing
            return False
        return self.read_wants_write or super().writable()

    def handle_read(self) -> None:
        if self.handshaking and not self.lingering:
            self._handshake()
        elif self.write_wants_read and not self.lingering:
            self.write_wants_read = False
            super().handle_write()
        else:
            super().handle_read()

    def handle_write(self) -> None:
        if self.handshaking:
            self._handshake()
        elif self.read_wants_write:
            self.read_wants_write = False
            super().handle_read()
        else:
            super().handle_write()

    def _handshake(self) -> None:
        """Go one step on. Few a turn: 600 at once would make everybody wait."""
        if self.shared.handshakes_left <= 0:
            return
        self.shared.handshakes_left -= 1
        if not self.first_byte_seen and not self._looks_like_tls():
            return
        self.handshake_wants_write = False
        try:
            self.socket.do_handshake()
        except ssl.SSLWantReadError:
            return
        except ssl.SSLWantWriteError:
            self.handshake_wants_write = True
        except (OSError, ValueError, AttributeError) as error:
            self._failed(error)
            self.handle_close()
        else:
            self.handshaking = False
            self.idle_since = time.monotonic()

    def _failed(self, reason: object) -> None:
        self.broken = True
        self.shared.stats.handshakes_failed += 1
        _log.debug("TLS handshake with %s failed: %s", self.peer, reason)

    def _looks_like_tls(self) -> bool:
        """False: nothing came yet, the client is gone, or it speaks plain HTTP (and is answered)."""
        try:
            first = _raw.recv(self.socket, 1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            first = b""
        if not first:
            self.handle_close()
            return False
        if first.isalpha():  # a method; a TLS record of a handshake begins with 0x16
            self._answer_plain()
            return False
        self.first_byte_seen = True
        return True

    def _answer_plain(self) -> None:
        self._failed("plain HTTP")
        with contextlib.suppress(OSError):
            _raw.send(self.socket, PLAIN_ANSWER)
        self.linger()

    def take(self) -> bytes | None:
        data: bytes = b""
        try:
            data = self.socket.recv(RECORD)
            while data and self.socket.pending():
                more = self.socket.recv(RECORD)
                if not more:
                    break
                data += more
        except ssl.SSLWantReadError:
            return data or None
        except ssl.SSLWantWriteError:
            self.read_wants_write = True
            return data or None
        except (OSError, ValueError):
            self.broken = True
        return data

    def put(self, data: bytes) -> int:
        out = self.retry or data[:RECORD]
        try:
            sent = int(self.socket.send(out))
        except ssl.SSLWantWriteError:
            self.retry = out
            return 0
        except ssl.SSLWantReadError:
            self.retry, self.write_wants_read = out, True
            return 0
        except (OSError, ValueError):
            self.broken = True
            raise
        self.retry = b""
        return sent

    def say_goodbye(self) -> None:
        """close_notify, once and without waiting for the peer's (RFC 8446 §6.1)."""
        if not (self.handshaking or self.broken or self.retry):
            self.broken = True
            with contextlib.suppress(OSError, ValueError):
                self.socket.unwrap()
