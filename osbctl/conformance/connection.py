"""A request on a bare connection to a broker, for what an HTTP library does not let through."""

from __future__ import annotations

import time
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from osbctl.sources.line import FAULTS, Line

if TYPE_CHECKING:
    from osbctl.conformance.exchange import Exchange

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
