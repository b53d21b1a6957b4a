"""The answers of the wire contract: a WSGI application for GET /v2/catalog.

The checks come in this order: credentials, path, method, API version, condition. Nobody learns
anything of the broker before the credentials are right.
"""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from osbctl.broker.decision import DECISION, REFUSED, Decision, RequestOutcome
from osbctl.broker.negotiation import Version, http_date, parse_version, prefers_gzip, tag_listed
from osbctl.broker.snapshot import ServedCatalog

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
StartResponse = Callable[[str, Headers], Any]


class Problem(NamedTuple):
    """A status line, headers and a JSON body with `error` and `description` (OSB, Service Broker Errors)."""

    status: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def problem(status: str, error: str, description: str, *headers: tuple[str, str]) -> Problem:
    """The answer with this body; `error` is one CamelCase word, `description` a sentence for the operator."""
    body = json.dumps({"error": error, "description": description}).encode() + b"\n"
    usual = (("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"))
    return Problem(status, (*usual, *headers), body)


_log = logging.getLogger("osbctl.broker")

LARGE_BODY = 65_536
"""Bytes; a larger body is handed over as a file, of which a slow reader costs no copy."""

_REALM = 'Basic realm="service broker", charset="UTF-8"'

UNAUTHORIZED = problem(
    "401 Unauthorized",
    "Unauthorized",
    "The username or the password is wrong, or none were given.",
    ("WWW-Authenticate", _REALM),
)
BUSY = problem(
    "503 Service Unavailable",
    "TooManyRequests",
    "Too many new credentials are being checked. Try again in a few seconds.",
    ("Retry-After", "5"),
)
NOT_FOUND = problem("404 Not Found", "NotFound", "This broker offers its catalog only, at /v2/catalog.")
METHOD_NOT_ALLOWED = problem(
    "405 Method Not Allowed", "MethodNotAllowed", "The catalog is read with GET.", ("Allow", "GET, HEAD")
)
FAILED = problem("500 Internal Server Error", "InternalServerError", "The broker failed to answer. Its log says why.")


class Answers:
    """The WSGI application. `catalog` may be replaced at any time: each request looks at it once.

    `base_path` stands before `/v2/catalog` ("" for none, else like "/brokers/one"). `minimum_version`
    is the least X-Broker-API-Version taken, `missing_version_status` (412 or 400) the answer to none:
    400 is what OSB 2.16 and later ask for, 412 what conformance checkers do.
    """

    def __init__(
        self,
        catalog: ServedCatalog,
        *,
        base_path: str = "",
        minimum_version: Version = (2, 0),
        missing_version_status: int = 412,
    ) -> None:
        self.catalog = catalog
        self._path = _squeezed(f"{base_path}/v2/catalog")
        self._minimum = minimum_version
        accepted = f"2.x from {minimum_version[0]}.{minimum_version[1]} on"
        self._no_version = problem(
            "400 Bad Request" if missing_version_status == 400 else "412 Precondition Failed",
            "MissingAPIVersion",
            f"The header X-Broker-API-Version is missing; this broker takes {accepted}.",
        )
        self._other_version = problem(
            "412 Precondition Failed",
            "UnsupportedAPIVersion",
            f"The X-Broker-API-Version of the request is not supported; this broker takes {accepted}.",
        )

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request. Never raises, and never waits."""
        try:
            identity = _request_identity(environ)
            found = self._check(environ)
            if found is None:
                return _send_catalog(self.catalog, environ, identity, start_response)
        except Exception:  # whatever it is, a caller gets JSON and no internals
            _log.exception("a request could not be answered")
            identity, found = [], FAILED
        start_response(found.status, [*found.headers, *identity])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [found.body]

    def _check(self, environ: Environ) -> Problem | None:
        decision: Decision = environ.get(DECISION) or REFUSED
        if decision.outcome is not RequestOutcome.ACCEPTED:
            return UNAUTHORIZED if decision.outcome is RequestOutcome.REFUSED else BUSY
        path = environ["PATH_INFO"]
        if path != self._path and _squeezed(path) != self._path:
            return NOT_FOUND
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return METHOD_NOT_ALLOWED
        return self._check_version(environ.get("HTTP_X_BROKER_API_VERSION", "").strip(" \t"))

    def _check_version(self, text: str) -> Problem | None:
        if not text:
            return self._no_version
        version = parse_version(text)
        # Minor versions only add: 2.99 is welcome.
        if version is None or version[0] != 2 or version < self._minimum:
            return self._other_version
        return None


def _squeezed(path: str) -> str:
    """The path without doubled or trailing slashes: Cloud Controller asks for `//v2/catalog`."""
    return "/" + "/".join(part for part in path.split("/") if part)


def _request_identity(environ: Environ) -> Headers:
    """The header to send back (OSB 2.15, Request Identity); none where the value is long or unprintable."""
    value = environ.get("HTTP_X_BROKER_API_REQUEST_IDENTITY", "")
    if not value or len(value) > 256 or not (value.isascii() and value.isprintable()):
        return []
    return [("X-Broker-API-Request-Identity", value)]


def _send_catalog(
    catalog: ServedCatalog, environ: Environ, identity: Headers, start_response: StartResponse
) -> Iterable[bytes]:
    zipped = prefers_gzip(environ.get("HTTP_ACCEPT_ENCODING", ""))
    etag, body = (catalog.gzip_etag, catalog.gzip_body) if zipped else (catalog.etag, catalog.body)
    headers = [("ETag", etag), ("Vary", "Accept-Encoding"), ("Cache-Control", "no-cache"), *identity]
    # Before that second is over another content may come with the same date: then there is none.
    modified = catalog.modified if time.time() >= catalog.modified else None
    if _unchanged(environ, etag, modified):
        start_response("304 Not Modified", headers)
        return []
    if zipped:
        headers.append(("Content-Encoding", "gzip"))
    headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    if modified is not None:
        headers.append(("Last-Modified", catalog.last_modified))
    start_response("200 OK", headers)
    if environ["REQUEST_METHOD"] == "HEAD":
        return []
    wrapper: Callable[[io.BytesIO], Iterable[bytes]] | None = environ.get("wsgi.file_wrapper")
    return [body] if wrapper is None or len(body) <= LARGE_BODY else wrapper(io.BytesIO(body))


def _unchanged(environ: Environ, etag: str, modified: int | None) -> bool:
    """Whether the client has this content already. A tag wins over a date (RFC 9110 §13.2.2)."""
    tags = environ.get("HTTP_IF_NONE_MATCH")
    if tags is not None:
        return tag_listed(tags, etag)
    header = environ.get("HTTP_IF_MODIFIED_SINCE")
    date = http_date(header) if header else None
    return date is not None and modified is not None and modified <= date
