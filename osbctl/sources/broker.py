"""The catalog of a running service broker, fetched as a platform would fetch it.

The credentials go to the host that was named, over the scheme that was named, and nowhere else; they are never part of
a name, a message or a log. The size of the answer is bounded, packed and unpacked.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

import urllib3
from urllib3 import exceptions as faults

from osbctl.errors import SourceError, UsageError
from osbctl.platforms import DEFAULT_API_VERSION
from osbctl.sources.limits import MAX_BYTES
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from urllib3 import BaseHTTPResponse

MAX_REDIRECTS = 5
CATALOG_PATH = "/v2/catalog"
FAULTS = (faults.HTTPError, OSError, ValueError)
"""What a request may raise that gets no answer."""

_CHUNK = 65_536
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a broker. Times are in seconds, sizes in bytes.

    `ca_file` replaces the system's certificate authorities; `client_cert` is a PEM file with certificate and key.
    `insecure` takes any certificate, and plain http to other machines.
    """

    user: str = ""
    password: str = field(default="", repr=False)
    api_version: str = DEFAULT_API_VERSION
    ca_file: str | None = None
    client_cert: str | None = None
    insecure: bool = False
    connect_seconds: float = 10.0
    total_seconds: float = 60.0
    max_bytes: int = MAX_BYTES


@dataclass(frozen=True, slots=True)
class Answer:
    """A catalog as the broker sent it, unpacked, with its tag (empty where it gave none)."""

    name: str
    body: bytes
    etag: str


def split_url(url: str) -> tuple[str, str, str]:
    """The address of the catalog without userinfo, and the user and password that the URL held, if any.

    `url` is a broker's base address or the full address of its catalog.

    Raises:
        UsageError: it is no http or https URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("this is no address of a broker", "write it as https://broker.example.com")
    host = parts.netloc.rpartition("@")[2]
    path = parts.path if parts.path.rstrip("/").endswith(CATALOG_PATH) else parts.path.rstrip("/") + CATALOG_PATH
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return urlunsplit((parts.scheme, host, path, parts.query, "")), user, password


def fetch(address: str, access: Access, etag: str = "") -> Answer | None:
    """The answer to GET at `address` (as `split_url` gives it); None where `etag` still holds (304).

    Raises:
        SourceError: no answer, or none that is a catalog; the sentence says which of the many ways it was.
    """
    check_scheme(address, access)
    deadline = time.monotonic() + access.total_seconds
    with open_pool(access) as pool:
        current = address
        for _ in range(MAX_REDIRECTS + 1):
            response = _request(pool, current, address, access, etag)
            location = response.headers.get("Location")
            if response.status not in (301, 302, 303, 307, 308) or not location:
                return _answer(response, address, access, deadline)
            response.close()
            current = _redirected(current, location)
    raise SourceError(f"{address}: more than {MAX_REDIRECTS} redirects", "a broker answers directly")


def check_scheme(address: str, access: Access) -> None:
    """Raise SourceError where credentials would go out over plain http to another machine."""
    parts = urlsplit(address)
    if parts.scheme == "http" and not access.insecure and parts.hostname not in _LOOPBACK:
        raise SourceError(f"{address}: credentials do not go out over plain http", "use https, or --insecure")


def open_pool(access: Access) -> urllib3.PoolManager:
    """Connections under these conditions; nothing is tried twice."""
    timeout = urllib3.Timeout(connect=access.connect_seconds, read=access.total_seconds)
    options: dict[str, Any] = {"timeout": timeout, "retries": False}
    if access.client_cert:
        options["cert_file"] = access.client_cert
    if access.insecure:
        urllib3.disable_warnings(faults.InsecureRequestWarning)
        return urllib3.PoolManager(cert_reqs="CERT_NONE", **options)
    return urllib3.PoolManager(cert_reqs="CERT_REQUIRED", ca_certs=access.ca_file, **options)


def _request(pool: urllib3.PoolManager, current: str, address: str, access: Access, etag: str) -> BaseHTTPResponse:
    headers = {"Accept": "application/json", "X-Broker-API-Version": access.api_version, "User-Agent": "osbctl"}
    if access.user or access.password:
        headers |= urllib3.make_headers(basic_auth=f"{access.user}:{access.password}")
    if etag:
        headers["If-None-Match"] = etag
    try:
        return send(pool, "GET", current, headers)
    except FAULTS as error:
        raise unreachable(address, error) from None


def send(pool: urllib3.PoolManager, method: str, url: str, headers: Mapping[str, str]) -> BaseHTTPResponse:
    """The answer to one request, its body still to be read; no redirect is followed. Raises one of `FAULTS`."""
    return pool.request(method, url, headers=headers, redirect=False, preload_content=False, decode_content=False)


def unreachable(address: str, error: Exception) -> SourceError:
    """What one of `FAULTS` means, in a sentence."""
    kinds: tuple[tuple[type[Exception], str, str], ...] = (
        (faults.NameResolutionError, "there is no such host", "is the name right?"),
        (faults.SSLError, f"TLS failed: {_reason(error)}", "--ca-file names the authority of its certificate"),
        (faults.NewConnectionError, "the connection was refused", "is the broker running there?"),
        (faults.ConnectTimeoutError, "nobody answered in time", "is it reachable from here?"),
        (faults.ReadTimeoutError, "it took the request, but did not answer in time", "platforms wait 15 to 60 seconds"),
        (faults.ProtocolError, "it closed the connection without an answer", "is this a port that speaks TLS?"),
        (OSError, f"a file cannot be used: {_reason(error)}", "--ca-file and --client-cert are PEM files"),
    )
    for kind, told, advice in kinds:
        if isinstance(error, kind):
            return SourceError(f"{address}: {told}", advice)
    return SourceError(f"{address}: the request failed: {type(error).__name__}")


def _reason(error: Exception) -> str:
    return safe(str(error.args[0] if error.args else error))[:200]


def _redirected(current: str, location: str) -> str:
    target = urljoin(current, location)
    ours, theirs = urlsplit(current), urlsplit(target)
    if (ours.scheme, ours.netloc) != (theirs.scheme, theirs.netloc):
        raise SourceError(
            f"{current}: it redirects to another place, {safe(f'{theirs.scheme}://{theirs.hostname}')}",
            "credentials are not sent there; name that address if it is the broker's",
        )
    return target


def _answer(response: BaseHTTPResponse, address: str, access: Access, deadline: float) -> Answer | None:
    if response.status == 304:
        response.close()
        return None
    body = b"".join(read_body(response, address, access, deadline))
    if response.status != 200:
        raise _refused(response.status, body, address)
    if not body.strip().startswith(b"{"):
        raise SourceError(f"{address}: the answer is no JSON object", "is this the address of a service broker?")
    return Answer(address, body, response.headers.get("ETag") or "")


def read_body(response: BaseHTTPResponse, address: str, access: Access, deadline: float) -> Iterator[bytes]:
    """The pieces of the body, unpacked; neither what comes in nor what goes out exceeds the limit.

    `deadline` is a moment of the monotonic clock.

    Raises:
        SourceError: it is cut short, too slow, too large, or not packed as it says.
    """
    packed = (response.headers.get("Content-Encoding") or "").lower() == "gzip"
    unpack = zlib.decompressobj(wbits=31) if packed else None
    size = 0
    try:
        for chunk in response.stream(_CHUNK, decode_content=False):
            if time.monotonic() > deadline:
                raise SourceError(f"{address}: the answer took longer than {access.total_seconds:g} seconds")
            piece = unpack.decompress(chunk, access.max_bytes + 1 - size) if unpack else chunk
            size += len(piece)
            if size > access.max_bytes:
                raise SourceError(f"{address}: the answer is larger than {access.max_bytes:,} bytes")
            yield piece
    except zlib.error:
        raise SourceError(f"{address}: the answer says that it is gzip, and is not") from None
    except (faults.ProtocolError, faults.ReadTimeoutError, faults.DecodeError) as error:
        slow = isinstance(error, faults.ReadTimeoutError)
        told = "the answer did not come to its end in time" if slow else "the answer was cut short"
        raise SourceError(f"{address}: {told}", "try again; if it stays, look into the broker's log") from None
    finally:
        response.close()


def _refused(status: int, body: bytes, address: str) -> SourceError:
    advice = {
        401: "the user or the password is wrong",
        404: "is this the broker's address?",
        412: "the broker wants another version: --api-version",
    }.get(status, "")
    told = {401: "authentication failed (401)", 412: "it refuses the API version (412)"}.get(status, f"status {status}")
    return SourceError(f"{address}: {told}{description(body)}", advice)


def description(body: bytes) -> str:
    """What an error body of a broker says, after a colon; empty where it says nothing (OSB, Service Broker Errors)."""
    import json

    try:
        description = json.loads(body)["description"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return f": {safe(description)[:300]}" if isinstance(description, str) else ""
