"""A bare connection to a broker, for what an HTTP library does not let through."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.conformance.exchange import Exchange

_LONGEST_HEAD = 65_536


@contextmanager
def connected(exchange: Exchange) -> Iterator[socket.socket]:
    """A connection to the broker, with TLS where its address says so. Raises OSError or ValueError."""
    access = exchange.access
    timeout = min(access.connect_seconds, access.total_seconds)  # of the handshake as a whole, too
    with socket.create_connection((exchange.host, exchange.port), timeout=timeout) as raw:
        if not exchange.secure:
            yield raw
            return
        context = ssl.create_default_context(cafile=access.ca_file)
        if access.insecure:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if access.client_cert:
            context.load_cert_chain(access.client_cert)
        with context.wrap_socket(raw, server_hostname=exchange.host) as tls:
            yield tls


def head_has_body(exchange: Exchange, seconds: float) -> bool:
    """Whether within `seconds` more than a header comes for a good request by HEAD."""
    parts = urlsplit(exchange.address)
    target = exchange.path + (f"?{parts.query}" if parts.query else "")
    ends = time.monotonic() + seconds
    received = b""
    try:
        with connected(exchange) as sock:
            request = HTTPConnection(exchange.host, exchange.port)
            request.sock = sock
            request.request("HEAD", target, headers={**exchange.good(), "Connection": "close", "User-Agent": "osbctl"})
            while (left := ends - time.monotonic()) > 0 and len(received) < _LONGEST_HEAD:
                sock.settimeout(left)
                piece = sock.recv(_LONGEST_HEAD)
                received += piece
                if not piece or received.partition(b"\r\n\r\n")[2]:
                    break
    except (OSError, ValueError, HTTPException):
        pass  # that nobody answers, another request has told; what came counts
    return bool(received.partition(b"\r\n\r\n")[2])
