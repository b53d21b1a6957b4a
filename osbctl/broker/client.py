"""What one client is: the one place for the limit of connections, the throttle and the log."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


def plain_address(text: str) -> str:
    """An address in its usual form: an IPv4 client of a dual-stack socket (::ffff:a.b.c.d) by its own, no zone.

    A zone (RFC 4007 §11) is the local name of an interface, and any text where a proxy passes it on.
    Raises ValueError where it is no address.
    """
    if ":" not in text:
        return str(ip_address(text))
    address = IPv6Address(text.partition("%")[0])
    return str(address.ipv4_mapped or address)


def client_of(address: str) -> str:
    """Who is counted for a plain address: itself, or its /64, which is what one IPv6 client owns (RFC 6177)."""
    if ":" not in address:
        return address
    return f"{IPv6Address(int(IPv6Address(address)) >> 64 << 64)}/64"
