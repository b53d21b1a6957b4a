"""Addresses: which of a catalog may be followed, and the anchors of the page itself, made of ids so that they last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from osbctl.catalog import ServiceOffering, ServicePlan

MAX_LENGTH = 2_000
"""A longer address is not made a link."""
_WRITTEN = re.compile(r"https?://[!#-&(-;=?-\[\]_a-z~]*", re.IGNORECASE)
"""A web address in the characters that URLs have (RFC 3986)."""


def followable(value: object) -> str:
    """`value` where it is a web address that a page may link to, else the empty text.

    Only http and https with a host, and without a user: `javascript:` and `data:` run what they carry, and what stands
    before an `@` looks like the host that is meant.
    """
    if not isinstance(value, str) or len(value) > MAX_LENGTH or not _WRITTEN.fullmatch(value):
        return ""
    try:
        parts = urlsplit(value)
        named = bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return ""
    return value if named else ""


def fragment(*words: str) -> str:
    """Words as a fragment that every browser takes as it stands (RFC 3986, 3.5)."""
    return "/".join(quote(word.encode("utf-8", "surrogatepass"), safe="") for word in words)


def broker_anchor(broker: str) -> str:
    """Anchor of a broker's changes in an overview."""
    return fragment("broker", broker)


class Anchors:
    """Anchors for service offerings and plans: by id, which stays when names and positions change.

    Where two brokers offer one id, both get the broker's name, so that the order of the sources decides nothing.
    """

    def __init__(self, offers: Iterable[tuple[str, ServiceOffering]]) -> None:
        self._ids = Counter(_key(service) for _, service in offers)
        self._taken: Counter[str] = Counter()

    def of_service(self, broker: str, service: ServiceOffering) -> str:
        """The anchor of a service offering; asked for once each."""
        key = _key(service)
        return self._free(fragment("service", f"{key}@{broker}" if self._ids[key] > 1 else key))

    def of_plan(self, service: str, plan: ServicePlan) -> str:
        """The anchor of a plan within the service offering at the anchor `service`; asked for once each."""
        return self._free(f"{service}/{fragment(_key(plan))}")

    def _free(self, anchor: str) -> str:
        self._taken[anchor] += 1
        # Only a faulty catalog has two of one id; there, the order has to tell them apart.
        return anchor if self._taken[anchor] == 1 else f"{anchor}~{self._taken[anchor]}"


def _key(thing: ServiceOffering | ServicePlan) -> str:
    return (thing.id or f"name:{thing.name}")[:300]
