"""The admin listener: it asks for no credentials, so it stays on loopback unless configured otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

from osbctl.broker.catalog_app import Answer, HttpRequest
from osbctl.broker.shared_state import BUCKETS, ProcessStatus, Stats
from osbctl.broker.tls import SOON_DAYS

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class AdminApp:
    """The application of /livez (the loop turns), /readyz (503 while draining or without a catalog), /metrics.

    `standing()` is how the process stands; it returns at once. `hosts` are the names by which it may be asked, beside
    `localhost` and addresses: a web page whose name was made to lead here (DNS rebinding) sends its own name.
    """

    def __init__(self, standing: Callable[[], ProcessStatus], hosts: Iterable[str] = ()) -> None:
        self._standing = standing
        self._hosts = frozenset(("localhost", *(host.lower() for host in hosts)))
        self._pages: dict[str, Callable[[], Answer]] = {
            "/livez": lambda: _plain("200 OK", "ok"),
            "/readyz": self._ready,
            "/metrics": self._metrics,
        }

    def __call__(self, request: HttpRequest) -> Answer:
        if not self._known(request.headers.get("HOST")):
            return _plain("421 Misdirected Request", "not for this host: allow it with --admin-host")
        if request.command not in ("GET", "HEAD"):
            return _plain("405 Method Not Allowed", "GET or HEAD only")
        page = self._pages.get(request.path)
        return page() if page else _plain("404 Not Found", "not found")

    def _known(self, host: str | None) -> bool:
        """Without a Host, as HTTP/1.0 allows, no browser asks."""
        name = (host or "localhost").lower()
        name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        with suppress(ValueError):  # it is no address
            return name in self._hosts or bool(ip_address(name))
        return False

    def _ready(self) -> Answer:
        """A certificate that ends is reported, but keeps no request away: an old answer is better than none."""
        standing = self._standing()
        if standing.why_not:
            return _plain("503 Service Unavailable", standing.why_not)
        days = standing.days_left
        if days is None or days >= SOON_DAYS:
            return _plain("200 OK", "ready")
        return _plain("200 OK", f"ready, but the certificate {'has expired' if days < 0 else f'lasts {days:.0f} days'}")

    def _metrics(self) -> Answer:
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        registry = CollectorRegistry()
        registry.register(self)  # asked only now, so that a request pays nothing for metrics
        return Answer("200 OK", (("Content-Type", CONTENT_TYPE_LATEST),), generate_latest(registry))

    def collect(self) -> Iterator[Metric]:
        """The metrics, as prometheus_client asks for them."""
        standing = self._standing()
        yield from _counters(standing.stats)
        yield _durations(standing.stats)
        yield from _gauges(standing)


def _plain(status: str, text: str) -> Answer:
    return Answer(status, (("Content-Type", "text/plain; charset=utf-8"),), text.encode() + b"\n")


def _gauges(standing: ProcessStatus) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

    yield GaugeMetricFamily("osbctl_connections", "Open connections.", value=standing.connections)
    yield GaugeMetricFamily("osbctl_queue", "Requests whose password is being hashed.", value=standing.waiting)
    days = standing.days_left
    if days is not None:
        yield GaugeMetricFamily("osbctl_certificate_days_left", "Days until the certificate ends.", value=days)
    if standing.catalog:
        etag, modified = standing.catalog
        age = max(0.0, time.time() - modified)
        yield GaugeMetricFamily("osbctl_catalog_age_seconds", "Seconds since the catalog was loaded.", value=age)
        info = InfoMetricFamily("osbctl_catalog", "The catalog that is served.")
        info.add_metric([], {"etag": etag.strip('"')})
        yield info


def _counters(stats: Stats) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily

    requests = CounterMetricFamily("osbctl_requests", "Requests by status.", labels=["status"])
    checks = "Checks of credentials by result and label."
    authentications = CounterMetricFamily("osbctl_authentications", checks, labels=["result", "credential"])
    reloads = CounterMetricFamily("osbctl_reloads", "Reloads by what and result.", labels=["what", "result"])
    statuses = {(status,): count for status, count in list(stats.requests.items())}
    for family, counts in ((requests, statuses), (authentications, stats.authentications), (reloads, stats.reloads)):
        for values, count in list(counts.items()):
            family.add_metric(values, count)
        yield family
    yield CounterMetricFamily("osbctl_handshakes_failed", "TLS handshakes failed.", value=stats.handshakes_failed)
    yield CounterMetricFamily("osbctl_connections_refused", "Over the limit per address.", value=stats.turned_away)
    yield CounterMetricFamily("osbctl_connections_cut", "Cut at a deadline.", value=stats.cut)


def _durations(stats: Stats) -> Metric:
    from prometheus_client.core import HistogramMetricFamily

    total, buckets = 0, []
    for end, count in zip(BUCKETS, stats.buckets, strict=True):
        total += count
        buckets.append((str(end), float(total)))
    buckets.append(("+Inf", float(sum(stats.requests.values()))))
    return HistogramMetricFamily(
        "osbctl_request_duration_seconds", "From request to answer.", buckets=buckets, sum_value=stats.seconds
    )
