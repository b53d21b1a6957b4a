"""How long the certificate of a broker lasts."""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING

from osbctl.sources.line import FAULTS, Line

if TYPE_CHECKING:
    from osbctl.conformance.exchange import Exchange

SOON_DAYS = 14


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
