"""Connections to a broker: what may go wrong with them, in sentences, and the bounds of an answer's time and size."""

from __future__ import annotations

import errno
import zlib
from enum import Enum
from http.client import BadStatusLine, RemoteDisconnected
from typing import TYPE_CHECKING, Any

import urllib3
from urllib3 import exceptions as faults

from osbctl.errors import SourceError
from osbctl.sources.deadline import Deadline
from osbctl.text import safe

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from urllib3 import BaseHTTPResponse

    from osbctl.sources.access import Access

FAULTS = (faults.HTTPError, OSError, ValueError)
"""What a request may raise that gets no answer."""

_TOO_SLOW = ("it took the request, but did not answer in time", "platforms wait 15 to 60 seconds")
_CHUNK = 65_536


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
        return Missing.TLS, f"TLS failed: {_reason(error)}", _tls_advice(_reason(error))
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


def _tls_advice(reason: str) -> str:
    """What to do where the handshake failed for this reason."""
    if "WRONG_VERSION_NUMBER" in reason or "HTTP_REQUEST" in reason:
        return "is this a port of plain HTTP?"
    if "mismatch" in reason or "not valid for" in reason:
        return "the certificate is for another name than the address has"
    return "--ca-file names the authority of a private certificate"


def _reason(error: Exception) -> str:
    return safe(str(error.args[0] if error.args else error))[:200]


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


def _broken_off(address: str, slow: bool) -> SourceError:
    told = "the answer did not come to its end in time" if slow else "the answer was cut short"
    return SourceError(f"{address}: {told}", "try again; if it stays, look into the broker's log")
