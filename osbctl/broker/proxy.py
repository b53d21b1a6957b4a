"""The address of a client, also behind a proxy that terminates TLS.

Forwarded headers count only from a trusted proxy. It must state that the client used HTTPS, and may name its address.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self

from osbctl.errors import UsageError

LONGEST_CHAIN = 16  # entries of X-Forwarded-For that are read at most, from the right


def normalize_address(text: str) -> str:
    """Normalize an address: IPv4 instead of ::ffff:a.b.c.d (a dual-stack socket), no zone.

    A zone (RFC 4007 §11) is the local name of an interface; from a proxy it may be any text.
    Raises ValueError if it is not an address.
    """
    if ":" not in text:
        return str(ip_address(text))
    address = IPv6Address(text.partition("%")[0])
    return str(address.ipv4_mapped or address)


def client_prefix(address: str) -> str:
    """The client for which limits apply: an IPv4 address, or the /64 of one IPv6 client (RFC 6177)."""
    if ":" not in address:
        return address
    return f"{IPv6Address(int(IPv6Address(address)) >> 64 << 64)}/64"


@lru_cache(maxsize=1024)
def network_prefix(client: str) -> str:
    """The /24 or /48 of a client (`client_prefix`): a usual allocation for one customer of a provider."""
    if ":" not in client:
        return f"{client.rpartition('.')[0]}.0/24"
    return f"{IPv6Address(int(IPv6Address(client.removesuffix('/64'))) >> 80 << 80)}/48"


@dataclass(frozen=True, slots=True)
class ProxyRule:
    """Addresses of trusted proxies. The peer of a Unix socket is always trusted.

    `hops` is the number of proxies that append to X-Forwarded-For; 0 if it is unknown.
    """

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    hops: int = 0

    @classmethod
    def parse(cls, networks: Iterable[str], hops: int = 0) -> Self:
        """Parse addresses and networks. Raises UsageError."""
        try:
            return cls(tuple(_parse_network(address.strip()) for address in networks), hops)
        except ValueError as error:
            problem = f"the trusted proxy is not an IP address or network: {error}"
            raise UsageError(problem, "write for example 10.0.0.5 or 10.0.0.0/24") from error

    def client_and_refusal(self, peer: str, headers: Mapping[str, str]) -> tuple[str, str]:
        """Return the client's address, and the reason for a refusal (empty if accepted).

        `headers` are waitress's: names in capitals, with underscores.
        """
        if not self.trusts(peer):
            return peer, "this port is for the proxy only"
        if any(part.strip().lower() != "https" for part in headers.get("X_FORWARDED_PROTO", "").split(",")):
            return peer, "the proxy must be asked over HTTPS and say so (X-Forwarded-Proto: https)"
        return self.find_client_address(peer, headers.get("X_FORWARDED_FOR", "")), ""

    def trusts(self, address: str) -> bool:
        """Return whether a normalized address belongs to a trusted proxy."""
        return address == "unix" or any(ip_address(address) in network for network in self.networks)

    def find_client_address(self, peer: str, forwarded_for: str) -> str:
        """Find the client's address in X-Forwarded-For; the peer if there is none.

        With `hops` it is that entry from the right, which the outermost of our proxies has added (the first one, if
        there are fewer). Else it is the last that is not a trusted proxy, and if all are, the last. What stands left of
        it comes from the client and proves nothing. Forms: `1.2.3.4`, `1.2.3.4:5`, `::1`, `[::1]:5`.
        """
        last = ""
        entries = forwarded_for.rsplit(",", LONGEST_CHAIN)[-LONGEST_CHAIN:]
        for number, part in enumerate(reversed(entries), 1):
            try:
                address = _parse_forwarded_address(part.strip())
            except ValueError:
                return last or peer
            if number == self.hops or (not self.hops and not self.trusts(address)):
                return address
            last = address if self.hops else last or address
        return last or peer


def _parse_network(text: str) -> IPv4Network | IPv6Network:
    """Parse an address or a network, and that of IPv4-mapped addresses as `normalize_address`. Raises ValueError."""
    network = ip_network(text)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return IPv4Network((mapped, network.prefixlen - 96)) if mapped and network.prefixlen >= 96 else network


def _parse_forwarded_address(text: str) -> str:
    """Normalize an address with or without a port. Raises ValueError."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    return normalize_address(text)
