"""The admin listener. It requires no credentials, so it listens on loopback unless configured otherwise."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

from osbctl.broker.authenticator import Authenticator
from osbctl.broker.catalog_app import CatalogApp, Response
from osbctl.broker.channel import Shared
from osbctl.broker.parser import RequestParser

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class AdminApp:
    """Serves /livez (the loop runs), /readyz (503 while draining, or if a thread has ended) and /metrics.

    `shared` is that of the catalog listeners. `allowed_hosts` are accepted in a Host header, besides `localhost` and
    IP addresses: this stops DNS rebinding, where a web page resolves its own name to this listener.
    """

    def __init__(
        self, shared: Shared, authenticator: Authenticator, catalog_app: CatalogApp, allowed_hosts: Iterable[str]
    ) -> None:
        self._shared, self._authenticator, self._catalog_app = shared, authenticator, catalog_app
        self._allowed_hosts = frozenset(("localhost", *(host.lower() for host in allowed_hosts)))

    def __call__(self, request: RequestParser) -> Response:
        if not self._is_allowed_host(request.headers.get("HOST")):
            return _text_response("421 Misdirected Request", "not for this host: allow it with --admin-host")
        if request.command not in ("GET", "HEAD"):
            return _text_response("405 Method Not Allowed", "GET or HEAD only")
        if request.path == "/livez":
            return _text_response("200 OK", "ok")
        if request.path == "/readyz":
            return self._readiness_response()
        return self._metrics_response() if request.path == "/metrics" else _text_response("404 Not Found", "not found")

    def _is_allowed_host(self, host_header: str | None) -> bool:
        """Return whether a Host header is acceptable. None is: HTTP/1.0 allows it, and browsers always send one."""
        name = (host_header or "localhost").lower()
        name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        with suppress(ValueError):  # not an address
            return name in self._allowed_hosts or bool(ip_address(name))
        return False

    def _readiness_response(self) -> Response:
        if self._shared.draining:
            return _text_response("503 Service Unavailable", "draining")
        for thread in self._shared.threads:
            if not thread.is_alive():  # without it, no new password is checked, nothing reloaded or logged
                return _text_response("503 Service Unavailable", f"the thread {thread.name!r} has ended")
        return _text_response("200 OK", "ready")

    def _metrics_response(self) -> Response:
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        registry = CollectorRegistry()
        registry.register(self)  # `collect` runs only here: other requests pay nothing for metrics
        return Response("200 OK", (("Content-Type", CONTENT_TYPE_LATEST),), generate_latest(registry))

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; prometheus_client calls this."""
        from prometheus_client import core

        stats = self._shared.stats
        requests = core.CounterMetricFamily("osbctl_requests", "Requests by status.", labels=["status"])
        checks = "Checks of credentials by result and label."
        authentications = core.CounterMetricFamily("osbctl_authentications", checks, labels=["result", "credential"])
        reloads = core.CounterMetricFamily("osbctl_reloads", "Reloads by what and result.", labels=["what", "result"])
        statuses = {(status,): count for status, count in list(stats.requests.items())}
        for family, counts in (requests, statuses), (authentications, stats.authentications), (reloads, stats.reloads):
            for values, count in list(counts.items()):
                family.add_metric(values, count)
            yield family
        for name, text, value in (
            ("osbctl_handshakes_failed", "TLS handshakes failed.", stats.handshakes_failed),
            ("osbctl_connections_refused", "Over the limit per address.", stats.rejected),
            ("osbctl_connections_cut", "Cut at a deadline, or to make room.", stats.cut),
        ):
            yield core.CounterMetricFamily(name, text, value=value)
        name, text = "osbctl_request_duration_seconds", "From request to answer."
        yield core.SummaryMetricFamily(name, text, stats.requests.total(), stats.seconds)
        connections = len(self._shared.connections.all)
        yield core.GaugeMetricFamily("osbctl_connections", "Open connections.", value=connections)
        waiting = self._authenticator.queue_length
        yield core.GaugeMetricFamily("osbctl_queue", "Requests whose password is being hashed.", value=waiting)
        if self._shared.tls:
            days = self._shared.tls.certificate.days_left()
            yield core.GaugeMetricFamily("osbctl_certificate_days_left", "Days until the certificate ends.", value=days)
        catalog = self._catalog_app.catalog
        age = max(0.0, time.time() - catalog.modified)
        yield core.GaugeMetricFamily("osbctl_catalog_age_seconds", "Seconds since the catalog was loaded.", value=age)
        info = core.InfoMetricFamily("osbctl_catalog", "The catalog that is served.")
        info.add_metric([], {"etag": catalog.etag.strip('"')})
        yield info


def _text_response(status: str, text: str) -> Response:
    return Response(status, (("Content-Type", "text/plain; charset=utf-8"),), text.encode() + b"\n")
