"""The catalog of a running service broker, fetched as a platform would fetch it.

The credentials go to the host that was named, over the scheme that was named, and nowhere else; they are never part of
a name, a message or a log. The size of the answer is bounded, packed and unpacked.
"""

from __future__ import annotations

import errno
import ssl
import zlib
from base64 import b64encode
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.client import BadStatusLine, RemoteDisconnected
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

import urllib3
from urllib3 import exceptions as faults

from osbctl.errors import SourceError, UsageError
from osbctl.platforms import DEFAULT_API_VERSION
from osbctl.sources.deadline import Deadline
from osbctl.sources.limits import MAX_BYTES
from osbctl.text import safe

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from urllib3 import BaseHTTPResponse

MAX_REDIRECTS = 5
CATALOG_PATH = "/v2/catalog"
FAULTS = (faults.HTTPError, OSError, ValueError)
"""What a request may raise that gets no answer."""

_TOO_SLOW = ("it took the request, but did not answer in time", "platforms wait 15 to 60 seconds")
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

    def hide(self, text: str) -> str:
        """`text`, which a broker may have had a say in, without the password as it is and as it is sent."""
        if not self.password:
            return text
        sent = basic(self.user, self.password).removeprefix("Basic ")
        return text.replace(sent, "***").replace(self.password, "***")


def basic(user: str, password: str) -> str:
    """The value of an Authorization header (RFC 7617), in UTF-8."""
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


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
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool((parts.hostname or "").encode("idna"))
        known = known and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is none, half an IPv6 address, a name that no host can have
        known = False
    if not known:
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
    check_access(address, access)
    with Line(access) as line:
        current = address
        for _ in range(MAX_REDIRECTS + 1):
            response = _request(line, current, address, etag)
            location = redirect(response.status, response.headers.get("Location"))
            if not location:
                return _answer(response, address, line, etag)
            response.close()
            current = _redirected(current, location)
    raise SourceError(f"{address}: more than {MAX_REDIRECTS} redirects", "a broker answers directly")


def redirect(status: int, location: str | None) -> str:
    """Where an answer of this status leads; empty where it is no redirect (RFC 9110 §15.4)."""
    return location or "" if status in (301, 302, 303, 307, 308) else ""


def check_access(address: str, access: Access) -> None:
    """Raise SourceError where credentials would go out over plain http to another machine, or a file is no PEM file."""
    parts = urlsplit(address)
    if parts.scheme == "http" and not access.insecure and parts.hostname not in _LOOPBACK:
        raise SourceError(f"{address}: credentials do not go out over plain http", "use https, or --insecure")
    for file in filter(None, (access.ca_file, access.client_cert)):
        try:
            Path(file).read_bytes()
        except OSError as error:
            raise SourceError(f"{file}: cannot be read: {error.strerror}", _PEM) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if access.ca_file:
        with _telling(access.ca_file, "certificates"):
            context.load_verify_locations(access.ca_file)
    if access.client_cert:
        with _telling(access.client_cert, "a certificate and its key, without a passphrase"):
            context.load_cert_chain(access.client_cert, password="")  # else OpenSSL asks at the terminal


@contextmanager
def _telling(file: str, wanted: str) -> Iterator[None]:
    try:
        yield
    except (ssl.SSLError, ValueError):
        raise SourceError(f"{file}: this is no PEM file with {wanted}", _PEM) from None


_PEM = "--ca-file and --client-cert are PEM files"


class Line(Deadline):
    """Connections to a broker under the conditions of `access`, until its time is over."""

    def __init__(self, access: Access) -> None:
        super().__init__(access.total_seconds)
        self.access = access
        self._pool = _pool(access, self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.clear()
        super().__exit__(kind, error, trace)

    def send(self, method: str, url: str, headers: Mapping[str, str]) -> BaseHTTPResponse:
        """The answer to one request, its body still to be read; no redirect is followed. Raises one of `FAULTS`."""
        response = self._pool.request(
            method, url, headers=headers, redirect=False, preload_content=False, decode_content=False
        )
        if self.expired:  # the end that we made looks like the end of the header
            response.close()
            raise TimeoutError
        return response


def _pool(access: Access, deadline: Deadline) -> urllib3.PoolManager:
    """Connections under these conditions, each watched by `deadline`; nothing is tried twice."""
    connect = min(access.connect_seconds, access.total_seconds)
    timeout = urllib3.Timeout(connect=connect, read=access.total_seconds)
    options: dict[str, Any] = {"timeout": timeout, "retries": False}
    if access.client_cert:
        options["cert_file"] = access.client_cert
    if access.insecure:
        urllib3.disable_warnings(faults.InsecureRequestWarning)
        options["cert_reqs"] = "CERT_NONE"
    else:
        options |= {"cert_reqs": "CERT_REQUIRED", "ca_certs": access.ca_file}
    pool = urllib3.PoolManager(**options)
    pool.pool_classes_by_scheme = {
        "http": _watched(urllib3.HTTPConnectionPool, deadline),
        "https": _watched(urllib3.HTTPSConnectionPool, deadline),
    }
    return pool


def _watched(pool: Any, deadline: Deadline) -> Any:
    """The kind of pool whose connections `deadline` watches from before any TLS."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]
        def _new_conn(self) -> socket.socket:
            sock: socket.socket = super()._new_conn()
            deadline.watch(sock)
            return sock

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


def _request(line: Line, current: str, address: str, etag: str) -> BaseHTTPResponse:
    access = line.access
    headers = {"Accept": "application/json", "X-Broker-API-Version": access.api_version, "User-Agent": "osbctl"}
    if access.user or access.password:
        headers["Authorization"] = basic(access.user, access.password)
    if etag:
        headers["If-None-Match"] = etag
    try:
        return line.send("GET", current, headers)
    except FAULTS as error:
        raise unreachable(address, error, line) from None


class Missing(Enum):
    """What kind of no answer it was."""

    NOBODY = "nobody is there"
    TLS = "the handshake failed"
    SILENT = "somebody is there"


class UnreachableError(SourceError):
    """A request got no answer."""

    def __init__(self, kind: Missing, message: str, advice: str) -> None:
        super().__init__(message, advice)
        self.kind = kind


def unreachable(address: str, error: Exception, line: Line) -> UnreachableError:
    """What one of `FAULTS` means, in a sentence."""
    kind, told, advice = _meaning(error, line)
    return UnreachableError(kind, f"{address}: {told}", advice)


def _meaning(error: Exception, line: Line) -> tuple[Missing, str, str]:
    nobody: tuple[tuple[type[Exception], str, str], ...] = (
        (faults.NameResolutionError, "there is no such host", "is the name right?"),
        (faults.NewConnectionError, *_no_connection(error)),
        (faults.ConnectTimeoutError, "nobody answered in time", "is it reachable from here?"),
    )
    for known, told, advice in nobody:
        if isinstance(error, known):
            return Missing.NOBODY, told, advice
    if line.expired or isinstance(error, faults.ReadTimeoutError):
        return Missing.SILENT, *_TOO_SLOW
    if isinstance(error, faults.SSLError):
        return Missing.TLS, f"TLS failed: {_reason(error)}", tls_advice(_reason(error))
    if isinstance(error, faults.ProtocolError):
        return Missing.SILENT, *_no_http(error)
    if isinstance(error, OSError):
        return Missing.SILENT, f"the connection failed: {_reason(error)}", ""
    return Missing.SILENT, f"the request failed: {type(error).__name__}", ""


def _no_connection(error: Exception) -> tuple[str, str]:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno not in (None, errno.ECONNREFUSED):
        return f"no connection can be made: {safe(cause.strerror or '')}", "is it reachable from here?"
    return "the connection was refused", "is the broker running there?"


def _no_http(error: Exception) -> tuple[str, str]:
    inner = error.args[1] if len(error.args) > 1 else None
    if isinstance(inner, BadStatusLine) and not isinstance(inner, RemoteDisconnected):
        return "it answers in another protocol than HTTP/1.1", "is this the broker's port?"
    return "it closed the connection without an answer", "is this a port that speaks TLS?"


def tls_advice(reason: str) -> str:
    """What to do where the handshake failed for this reason."""
    if "WRONG_VERSION_NUMBER" in reason or "HTTP_REQUEST" in reason:
        return "is this a port of plain HTTP?"
    if "mismatch" in reason or "not valid for" in reason:
        return "the certificate is for another name than the address has"
    return "--ca-file names the authority of a private certificate"


def _reason(error: Exception) -> str:
    return safe(str(error.args[0] if error.args else error))[:200]


def _redirected(current: str, location: str) -> str:
    try:
        target = urljoin(current, location)
    except ValueError:
        raise SourceError(f"{current}: it redirects to what is no address") from None
    ours, theirs = urlsplit(current), urlsplit(target)
    if (ours.scheme, ours.netloc) != (theirs.scheme, theirs.netloc):
        raise SourceError(
            f"{current}: it redirects to another place, {origin(target)}",
            "credentials are not sent there; name that address if it is the broker's",
        )
    return target


def origin(url: str) -> str:
    """Scheme, host and port of an address, fit to be shown."""
    parts = urlsplit(url)
    return safe(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")


def _answer(response: BaseHTTPResponse, address: str, line: Line, etag: str) -> Answer | None:
    if response.status == 304 and etag:
        response.close()
        return None
    body = b"".join(read_body(response, address, line))
    if response.status != 200:
        raise _refused(response.status, body, address, line.access)
    if not body.strip().startswith(b"{"):
        raise no_catalog(address, why_no_catalog(body))
    return Answer(address, body, response.headers.get("ETag") or "")


def no_catalog(address: str, why: str) -> SourceError:
    """The answer is no JSON object, for this reason."""
    return SourceError(f"{address}: the answer is no JSON object: {why}", "is this the address of a service broker?")


def read_body(response: BaseHTTPResponse, address: str, line: Line) -> Iterator[bytes]:
    """The pieces of the body, unpacked; neither what comes in nor what goes out exceeds the limit.

    Raises:
        SourceError: it is cut short, too slow, too large, or not packed as it says.
    """
    packed = (response.headers.get("Content-Encoding") or "").lower() == "gzip"
    unpack = zlib.decompressobj(wbits=31) if packed else None
    size, limit = 0, line.access.max_bytes
    try:
        for chunk in response.stream(_CHUNK, decode_content=False):
            piece = unpack.decompress(chunk, limit + 1 - size) if unpack else chunk
            size += len(piece)
            if size > limit:
                raise SourceError(f"{address}: the answer is larger than {limit:,} bytes")
            yield piece
    except zlib.error:
        raise SourceError(f"{address}: the answer says that it is gzip, and is not") from None
    except (faults.ProtocolError, faults.ReadTimeoutError, faults.DecodeError, OSError) as error:
        raise _broken_off(address, line.expired or isinstance(error, faults.ReadTimeoutError)) from None
    finally:
        response.close()
    # Without a length, the end that we made looks like the broker's, and half of what is packed like the whole.
    if line.expired or (unpack and not unpack.eof):
        raise _broken_off(address, line.expired)


def why_no_catalog(body: bytes) -> str:
    """Why a body is no JSON object, as platforms read it; empty where it is one (RFC 8259, §8.1)."""
    import json

    if body.startswith(b"\xef\xbb\xbf"):
        return "it begins with a byte order mark"
    try:
        value = json.loads(body.decode())
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except json.JSONDecodeError as error:
        return f"{error.msg[0].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        return ""  # beyond what this Python reads; the reader of catalogs says so
    return "" if isinstance(value, dict) else "it is another kind of value"


def _broken_off(address: str, slow: bool) -> SourceError:
    told = "the answer did not come to its end in time" if slow else "the answer was cut short"
    return SourceError(f"{address}: {told}", "try again; if it stays, look into the broker's log")


def _refused(status: int, body: bytes, address: str, access: Access) -> SourceError:
    advice = {
        401: "the user or the password is wrong",
        404: "is this the broker's address?",
        412: "the broker wants another version: --api-version",
    }.get(status, "")
    told = {401: "authentication failed (401)", 412: "it refuses the API version (412)"}.get(status, f"status {status}")
    return SourceError(f"{address}: {told}{description(body, access)}", advice)


def description(body: bytes, access: Access) -> str:
    """What an error body of a broker says, after a colon, without what it was sent to log in.

    Empty where it says nothing (OSB, Service Broker Errors).
    """
    import json

    try:
        said = json.loads(body)["description"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    # Hidden before it is cut: half a password is one no more, but tells much of it.
    return f": {safe(access.hide(said))[:300]}" if isinstance(said, str) else ""
