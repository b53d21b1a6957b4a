"""How long the certificate of a broker lasts."""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING

from osbctl.conformance.connection import connected

if TYPE_CHECKING:
    from osbctl.conformance.exchange import Exchange

SOON_DAYS = 14


def days_left(exchange: Exchange) -> float | None:
    """Days until the certificate ends; None where that cannot be learnt, or it is not checked at all."""
    if not exchange.secure or exchange.access.insecure:
        return None
    try:
        with connected(exchange) as sock:
            ends = (sock.getpeercert() or {}).get("notAfter") if isinstance(sock, ssl.SSLSocket) else None
    except (OSError, ValueError):  # what is wrong with files or addresses the first request tells
        return None
    return (ssl.cert_time_to_seconds(ends) - time.time()) / 86400 if isinstance(ends, str) else None
