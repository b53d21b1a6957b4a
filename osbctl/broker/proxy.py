"""Requests that come through a proxy which ends TLS.

Only the trusted proxy is heard. It must say that the client came over HTTPS, and may say who that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any

from osbctl.broker.task import Forbidden
from osbctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Network, IPv6Network

    from osbctl.broker.channel import Channel


@dataclass(frozen=True, slots=True)
class ProxyRule:
    """`networks` are the addresses of trusted proxies. Over a Unix socket the peer is always trusted."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, addresses: Iterable[str]) -> ProxyRule:
        """The rule for addresses and networks as text. Raises UsageError."""
        try:
            return cls(tuple(ip_network(address.strip()) for address in addresses))
        except ValueError as error:
            problem = f"the trusted proxy is not an IP address or network: {error}"
            raise UsageError(problem, "Give for example 10.0.0.5 or 10.0.0.0/24.") from error

    def judge(self, channel: Channel, request: Any) -> None:
        """Set the client's address on the channel, or the error on the request."""
        channel.addr = (channel.peer, None)
        if not self.trusts(channel.peer):
            _refuse(request, "this port is for the proxy only")
        elif not _came_over_https(request.headers.get("X_FORWARDED_PROTO", "")):
            _refuse(request, "the proxy must be asked over HTTPS and say so (X-Forwarded-Proto: https)")
        else:
            channel.addr = (self.client(channel.peer, request.headers.get("X_FORWARDED_FOR", "")), None)

    def trusts(self, address: str) -> bool:
        """Whether `address` is a trusted proxy."""
        if address == "unix":
            return True
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(parsed, "ipv4_mapped", None)
        return any((mapped or parsed) in network for network in self.networks)

    def client(self, peer: str, forwarded: str) -> str:
        """The nearest address in X-Forwarded-For that is not a trusted proxy itself; else the peer.

        Whatever stands further left was written by the client and proves nothing.
        """
        for text in reversed(forwarded.split(",")):
            address = _address(text.strip())
            if address is None:
                break
            if not self.networks or not self.trusts(address):
                return address
        return peer


def _came_over_https(proto: str) -> bool:
    return all(part.strip().lower() == "https" for part in proto.split(","))


def _address(text: str) -> str | None:
    """The address in `1.2.3.4`, `1.2.3.4:5`, `::1` or `[::1]:5`, or None."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ip_address(text))
    except ValueError:
        return None


def _refuse(request: Any, sentence: str) -> None:
    request.error = Forbidden()
    request.refusal = sentence
