"""What a bare connection to a broker tells, and an HTTP library does not: its certificate, and a body behind HEAD."""

from __future__ import annotations

import ssl
import time
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from osbctl.sources.line import FAULTS, Line

if TYPE_CHECKING:
    from osbctl.conformance.exchange import Exchange

SOON_DAYS = 14
_LONGEST_HEAD = 65_536


def head_has_body(exchange: Exchange, seconds: float) -> bool:
    """Whether within `seconds` more than a header comes for a good request by HEAD."""
    parts = urlsplit(exchange.address)
    target = exchange.path + (f"?{parts.query}" if parts.query else "")
    ends = time.monotonic() + seconds
    received = b""
    try:
        with Line(exchange.address, exchange.access) as line, line.bare(exchange.address) as sock:
            request = HTTPConnection(parts.hostname or "", parts.port)
            request.sock = sock
            request.request("HEAD", target, headers={**exchange.good(), "Connection": "close", "User-Agent": "osbctl"})
            while (left := ends - time.monotonic()) > 0 and len(received) < _LONGEST_HEAD:
                sock.settimeout(left)
                piece = sock.recv(_LONGEST_HEAD)
                received += piece
                if not piece or received.partition(b"\r\n\r\n")[2]:
                    break
    except (*FAULTS, HTTPException):
        pass  # another request has found that nobody answers; what came counts
    return bool(received.partition(b"\r\n\r\n")[2])


def days_left(exchange: Exchange) -> float | None:
    """Days until the certificate ends; None where that cannot be learnt, or it is not checked at all."""
    if not exchange.secure or exchange.access.insecure:
        return None
    try:
        with Line(exchange.address, exchange.access) as line, line.bare(exchange.address) as sock:
            ends = (sock.getpeercert() or {}).get("notAfter")
    except FAULTS:  # what is wrong with the address the first request tells
        return None
    return (ssl.cert_time_to_seconds(ends) - time.time()) / 86400 if isinstance(ends, str) else None
