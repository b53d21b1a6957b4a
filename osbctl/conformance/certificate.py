"""How long the certificate of a broker lasts."""

from __future__ import annotations

import socket
import ssl
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.conformance.exchange import Exchange

SOON_DAYS = 14


def days_left(exchange: Exchange) -> float | None:
    """Days until the certificate ends; None where that cannot be learnt, or it is not checked at all."""
    access = exchange.access
    if not exchange.secure or access.insecure:
        return None
    try:
        context = ssl.create_default_context(cafile=access.ca_file)
        if access.client_cert:
            context.load_cert_chain(access.client_cert)
        with (
            socket.create_connection((exchange.host, exchange.port), timeout=access.connect_seconds) as raw,
            context.wrap_socket(raw, server_hostname=exchange.host) as tls,
        ):
            ends = (tls.getpeercert() or {}).get("notAfter")
    except (OSError, ValueError):  # what is wrong with files or addresses the first request tells
        return None
    return (ssl.cert_time_to_seconds(ends) - time.time()) / 86400 if isinstance(ends, str) else None
