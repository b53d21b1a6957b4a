"""Fetches the icons that a catalog gives an address for: few, small, in bounded time, and from the public web alone."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from osbctl.catalog import Catalog
from osbctl.errors import SourceError
from osbctl.pages.links import followable
from osbctl.pages.pictures import MAX_BYTES, as_data_url
from osbctl.parallel import in_parallel
from osbctl.sources.access import Access
from osbctl.sources.broker import redirect
from osbctl.sources.line import FAULTS, Line, read_body, unreachable

if TYPE_CHECKING:
    import socket

JOBS = 8
SECONDS = 10.0
"""For one icon."""
ALL_SECONDS = 120.0
"""After these, no further icon is asked for."""
ALL_BYTES = 20_000_000
"""The icons of a page together, as they stand in it."""
MAX_REDIRECTS = 3


class Icons(NamedTuple):
    """The pictures by address, as `data:` URLs, and a sentence for each icon that could not be had."""

    pictures: dict[str, str]
    problems: list[str]


class PublicLine(Line):
    """Connections to public addresses alone.

    The peer of the connection is what counts, not the name: a name may lead elsewhere when it is asked again.
    """

    def watch(self, sock: socket.socket) -> None:
        """As in `Line`; a connection into a private network is closed before anything is sent."""
        peer = ipaddress.ip_address(sock.getpeername()[0].partition("%")[0])
        if isinstance(peer, ipaddress.IPv6Address):
            peer = peer.ipv4_mapped or peer
        if not peer.is_global or peer.is_multicast:
            sock.close()
            raise SourceError(f"{self.name}: it leads to a private address", "--private-icons allows it")
        super().watch(sock)


def fetch_icons(catalogs: Iterable[Catalog], *, private: bool) -> Icons:
    """The icons of `catalogs` that have an address on the web; `private` also lets them come from private networks."""
    urls = dict.fromkeys(
        url
        for catalog in catalogs
        for service in catalog.services
        if isinstance(url := service.metadata.get("imageUrl"), str) and followable(url)
    )
    end = time.monotonic() + ALL_SECONDS

    def fetch(url: str) -> tuple[str, str]:
        if time.monotonic() > end:
            return "", f"{url}: it was left out, since the time for icons ran out"
        try:
            return _fetch(url, PublicLine if not private else Line), ""
        except SourceError as error:
            return "", error.message

    found = dict(in_parallel(fetch, urls, JOBS))
    pictures, size = {}, 0
    problems = [found[url][1] for url in urls if found[url][1]]
    for url in urls:  # in the order of the catalogs, so that the page is the same each time
        size += len(found[url][0])
        if found[url][0] and size <= ALL_BYTES:
            pictures[url] = found[url][0]
    if size > ALL_BYTES:
        problems.append(f"all icons together are larger than {ALL_BYTES // 1_000_000} MB; some are left out")
    return Icons(pictures, problems)


def _fetch(url: str, kind: type[Line]) -> str:
    current = url
    with kind(url, Access(connect_seconds=SECONDS / 2, total_seconds=SECONDS, max_bytes=MAX_BYTES)) as line:
        for _ in range(MAX_REDIRECTS + 1):
            try:
                response = line.send("GET", current, {"Accept": "image/*", "User-Agent": "osbctl"})
            except FAULTS as error:
                raise unreachable(error, line) from None
            location = redirect(response.status, response.headers.get("Location"))
            if not location:
                body = b"".join(read_body(response, line))
                picture = as_data_url(body) if response.status == 200 else ""
                if not picture:
                    raise SourceError(f"{url}: not an image that a page can show (status {response.status})")
                return picture
            response.close()
            current = followable(urljoin(current, location))
            if not current:
                raise SourceError(f"{url}: it redirects to something that is not a web address")
    raise SourceError(f"{url}: more than {MAX_REDIRECTS} redirects")
