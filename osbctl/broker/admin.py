"""The admin listener: it asks for no credentials, so it stays on loopback unless told."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from osbctl.broker.stats import BUCKETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prometheus_client.core import Metric

    from osbctl.broker.stats import Stats


class Served(Protocol):
    """The catalog that is served (see `ServedCatalog`); `modified` is in seconds since 1970."""

    @property
    def etag(self) -> str: ...

    @property
    def modified(self) -> int: ...


@dataclass(frozen=True)
class Outlook:
    """What the admin listener may ask. All callables return at once.

    `catalog()` is what is served now; `waiting()` counts requests that wait for their password;
    `days_left()` is the certificate's, None without one.
    """

    stats: Stats
    catalog: Callable[[], Served | None]
    connections: Callable[[], int]
    waiting: Callable[[], int]
    draining: Callable[[], bool]
    days_left: Callable[[], float | None]


class AdminApp:
    """WSGI: /livez (the loop turns), /readyz (503 while draining or without a catalog), /metrics."""

    def __init__(self, outlook: Outlook) -> None:
        self._outlook = outlook
        self._pages: dict[str, Callable[[], tuple[str, str, bytes]]] = {
            "/livez": lambda: _plain("200 OK", "ok"),
            "/readyz": self._ready,
            "/metrics": self._metrics,
        }

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        page = self._pages.get(environ["PATH_INFO"], lambda: _plain("404 Not Found", "not found"))
        if method not in ("GET", "HEAD"):
            status, kind, body = _plain("405 Method Not Allowed", "GET or HEAD only")
        else:
            status, kind, body = page()
        start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
        return [] if method == "HEAD" else [body]

    def _ready(self) -> tuple[str, str, bytes]:
        if self._outlook.draining():
            return _plain("503 Service Unavailable", "draining")
        if self._outlook.catalog() is None:
            return _plain("503 Service Unavailable", "no catalog")
        return _plain("200 OK", "ready")

    def _metrics(self) -> tuple[str, str, bytes]:
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        registry = CollectorRegistry()
        registry.register(_Collector(self._outlook))
        return "200 OK", CONTENT_TYPE_LATEST, generate_latest(registry)


def _plain(status: str, text: str) -> tuple[str, str, bytes]:
    return status, "text/plain; charset=utf-8", text.encode() + b"\n"


class _Collector:
    """Turns the plain numbers into metrics when somebody asks, so that a request pays nothing for them."""

    def __init__(self, outlook: Outlook) -> None:
        self._outlook = outlook

    def collect(self) -> Iterator[Metric]:
        yield from _counters(self._outlook.stats)
        yield _durations(self._outlook.stats)
        yield from self._gauges()

    def _gauges(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        outlook = self._outlook
        yield GaugeMetricFamily("osbctl_connections", "Open connections.", value=outlook.connections())
        waiting = outlook.waiting()
        yield GaugeMetricFamily("osbctl_queue", "Requests whose password is worked out.", value=waiting)
        days = outlook.days_left()
        if days is not None:
            yield GaugeMetricFamily("osbctl_certificate_days_left", "Days until the certificate ends.", value=days)
        catalog = outlook.catalog()
        if catalog is not None:
            age = time.time() - catalog.modified
            yield GaugeMetricFamily("osbctl_catalog_age_seconds", "Seconds since its last change.", value=age)
            etag = {"etag": catalog.etag.strip('"')}
            yield InfoMetricFamily("osbctl_catalog", "The catalog that is served.", value=etag)


def _counters(stats: Stats) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily

    requests = CounterMetricFamily("osbctl_requests", "Requests by status.", labels=["status"])
    for status, count in list(stats.requests.items()):
        requests.add_metric([status], count)
    yield requests
    checks = CounterMetricFamily(
        "osbctl_authentications",
        "Checks of credentials by result and label.",
        labels=["result", "credential"],
    )
    for labels, count in list(stats.authentications.items()):
        checks.add_metric(labels, count)
    yield checks
    reloads = CounterMetricFamily("osbctl_reloads", "Reloads by what and result.", labels=["what", "result"])
    for labels, count in list(stats.reloads.items()):
        reloads.add_metric(labels, count)
    yield reloads
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
