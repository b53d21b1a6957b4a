"""Links of a page: safe addresses from catalogs, and anchors made of ids, which survive renames."""

import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from osbctl.catalog import ServiceOffering, ServicePlan

MAX_LENGTH = 2_000
"""Longest address that becomes a link, in characters."""
_WRITTEN = re.compile(r"https?://[!#-&(-;=?-\[\]_a-z~]*", re.IGNORECASE)
"""A web address in the characters of RFC 3986."""


def safe_web_address(value: object) -> str:
    """Return `value` if it is a web address that is safe to link to, else the empty text.

    Only http and https with a host and without a user: `javascript:` and `data:` run code, and a user name before `@`
    can look like the host.
    """
    if not isinstance(value, str) or len(value) > MAX_LENGTH or not _WRITTEN.fullmatch(value):
        return ""
    try:
        parts = urlsplit(value)
        is_safe = bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return ""
    return value if is_safe else ""


def fragment(*words: str) -> str:
    """Join words to a percent-encoded fragment (RFC 3986, 3.5)."""
    return "/".join(quote(word.encode("utf-8", "surrogatepass"), safe="") for word in words)


class Anchors:
    """Anchors made of ids. If two brokers offer one, both have the broker's name, whatever the order of sources."""

    def __init__(self, services: Iterable[tuple[str, ServiceOffering]]) -> None:
        self._ids = Counter(_anchor_key(service) for _, service in services)
        self._taken: Counter[str] = Counter()

    def new_service_anchor(self, broker: str, service: ServiceOffering) -> str:
        """Return the anchor of a service offering. Call once for each."""
        key = _anchor_key(service)
        return self._make_unique(fragment("service", f"{key}@{broker}" if self._ids[key] > 1 else key))

    def new_plan_anchor(self, service_anchor: str, plan: ServicePlan) -> str:
        """Return the anchor of a plan below the anchor `service_anchor`. Call once for each."""
        return self._make_unique(f"{service_anchor}/{fragment(_anchor_key(plan))}")

    def _make_unique(self, anchor: str) -> str:
        self._taken[anchor] += 1
        # Only a faulty catalog has an id twice; there, a number tells them apart.
        return anchor if self._taken[anchor] == 1 else f"{anchor}~{self._taken[anchor]}"


def _anchor_key(item: ServiceOffering | ServicePlan) -> str:
    return (item.id or f"name:{item.name}")[:300]
