"""The application that answers GET /v2/catalog.

Order of checks: credentials (before the application is called), path, method, API version, condition.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeAlias

from osbctl.broker.parser import RequestParser, etag_matches, parse_api_version, parse_http_date, prefers_gzip

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ServedCatalog:
    """A catalog ready to be sent: plain and compressed body, and their validators.

    The entity tags are strong and depend on the content alone, so that all processes and restarts agree on them.
    `modified` is the time when this process loaded the content, in seconds since 1970, `last_modified` the same as an
    HTTP date (RFC 9110 §5.6.7). The file's own date would be wrong: an older file may replace a newer one. `services`
    is the number of its services.
    """

    body: bytes = field(repr=False)
    gzip_body: bytes = field(repr=False)
    etag: str
    gzip_etag: str
    modified: int
    last_modified: str
    services: int

    @classmethod
    def from_body(cls, body: bytes, modified: int, *, services: int = 0) -> Self:
        """Prepare `body`, a JSON catalog in UTF-8."""
        import gzip
        import hashlib
        from email.utils import formatdate

        tag = hashlib.sha256(body).hexdigest()[:32]
        zipped, date = gzip.compress(body, compresslevel=9, mtime=0), formatdate(modified, usegmt=True)
        return cls(body, zipped, f'"{tag}"', f'"{tag}-gzip"', modified, date, services)


class Response(NamedTuple):
    """A status line, headers without Content-Length, and a body, which is not sent for HEAD."""

    status: str
    headers: Headers
    body: bytes = b""


Application: TypeAlias = Callable[[RequestParser], Response]


def error_response(status: str, error: str, description: str, *headers: tuple[str, str]) -> Response:
    """An OSB error response: `error` is one CamelCase word, `description` a sentence (OSB, Service Broker Errors)."""
    body = json.dumps({"error": error, "description": description}).encode() + b"\n"
    return Response(status, (("Content-Type", "application/json"), ("Cache-Control", "no-store"), *headers), body)


UNAUTHORIZED = error_response(
    "401 Unauthorized",
    "Unauthorized",
    "The username or the password is wrong, or none were given.",
    ("WWW-Authenticate", 'Basic realm="service broker", charset="UTF-8"'),
)
TOO_MANY_CREDENTIALS = error_response(
    "503 Service Unavailable",
    "TooManyRequests",
    "Too many new credentials are being checked. Try again in a few seconds.",
    ("Retry-After", "5"),
)
METHOD_NOT_ALLOWED = error_response(
    "405 Method Not Allowed", "MethodNotAllowed", "The catalog is read with GET.", ("Allow", "GET, HEAD")
)


class CatalogApp:
    """The application. `catalog` may be replaced at any time: each request reads it once.

    `base_path` is a prefix of `/v2/catalog`, such as "/brokers/one". `minimum_version` is the lowest accepted
    X-Broker-API-Version. `missing_version_status` answers requests without one: 400 (OSB 2.16 and later) or 412
    (conformance checkers).
    """

    def __init__(
        self,
        catalog: ServedCatalog,
        *,
        base_path: str = "",
        minimum_version: tuple[int, int] = (2, 0),
        missing_version_status: int = 412,
    ) -> None:
        self.catalog = catalog
        self._path = _normalize_path(f"{base_path}/v2/catalog")
        text = f"This broker offers its catalog only, at {self._path}."
        self._not_found = error_response("404 Not Found", "NotFound", text)
        self._minimum = minimum_version
        accepted = f"2.x from {minimum_version[0]}.{minimum_version[1]} on"
        status = "400 Bad Request" if missing_version_status == 400 else "412 Precondition Failed"
        text = f"The header X-Broker-API-Version is missing; this broker takes {accepted}."
        self._no_version = error_response(status, "MissingAPIVersion", text)
        text = f"The X-Broker-API-Version of the request is not supported; this broker takes {accepted}."
        self._other_version = error_response("412 Precondition Failed", "UnsupportedAPIVersion", text)

    def __call__(self, request: RequestParser) -> Response:
        """Answer one authenticated request; never blocks."""
        if _normalize_path(request.path) != self._path:
            return self._not_found
        if request.command not in ("GET", "HEAD"):
            return METHOD_NOT_ALLOWED
        text = request.headers.get("X_BROKER_API_VERSION", "").strip(" \t")
        if not text:
            return self._no_version
        version = parse_api_version(text)
        # Minor versions only add fields: 2.99 is accepted.
        if version is None or version[0] != 2 or version < self._minimum:
            return self._other_version
        return _catalog_response(self.catalog, request.headers)


def _normalize_path(path: str) -> str:
    """Remove doubled and trailing slashes: Cloud Controller asks for `//v2/catalog`."""
    return "/" + "/".join(part for part in path.split("/") if part)


def _catalog_response(catalog: ServedCatalog, request_headers: dict[str, str]) -> Response:
    """The catalog, compressed if the client prefers it, or 304 if the client has it."""
    zipped = prefers_gzip(request_headers.get("ACCEPT_ENCODING", ""))
    etag, body = (catalog.gzip_etag, catalog.gzip_body) if zipped else (catalog.etag, catalog.body)
    headers: Headers = (("ETag", etag), ("Vary", "Accept-Encoding"), ("Cache-Control", "no-cache"))
    if _is_not_modified(request_headers, etag, catalog.modified):
        return Response("304 Not Modified", headers)
    headers += (("Content-Type", "application/json"), ("Last-Modified", catalog.last_modified))
    if zipped:
        headers += (("Content-Encoding", "gzip"),)
    return Response("200 OK", headers, body)


def _is_not_modified(request_headers: dict[str, str], etag: str, modified: int) -> bool:
    """Return whether the client has this content. A tag takes precedence over a date (RFC 9110 §13.2.2)."""
    tags = request_headers.get("IF_NONE_MATCH")
    if tags is not None:
        return etag_matches(tags, etag)
    header = request_headers.get("IF_MODIFIED_SINCE")
    date = parse_http_date(header) if header else None
    return date is not None and modified <= date
