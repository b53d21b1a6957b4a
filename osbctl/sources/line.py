"""Connections to a broker: what may go wrong with them, in sentences, and the bounds of an answer's time and size."""

from __future__ import annotations

import errno
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3 import BaseHTTPResponse
from urllib3 import exceptions as faults

from osbctl.errors import SourceError
from osbctl.sources.access import Access, basic, proxy_of, shown
from osbctl.text import safe

FAULTS = (faults.HTTPError, OSError, ValueError)
"""What a request may raise that gets no answer."""

_TOO_SLOW = ("it accepted the request, but did not answer in time", "platforms wait 15 to 60 seconds")
_STALLED = ("the TLS handshake was not finished in time", "check that this port speaks TLS")
_CLIENT_CERT = "if it asks clients for a certificate, --client-cert names one, with its key"
_PROXY = "HTTPS_PROXY or ALL_PROXY names it; NO_PROXY names hosts that are reached without it"
_CHUNK = 65_536


class Line:
    """Connections to the broker at `address` under the conditions of `access`, until its time is over.

    Then those that it watches are cut, as a byte now and then keeps them open to any library; later ones are refused.
    `connected` says whether one came about, with all of TLS and of a proxy's tunnel; `proxy` is that proxy's host and
    port, empty where there is none.
    """

    def __init__(self, address: str, access: Access) -> None:
        self.name, self.access = shown(address), access
        self.expired = False
        self._watched: list[socket.socket] = []
        self._timer = threading.Timer(access.total_seconds, self._cut)
        self._timer.daemon = True
        self.connected = False
        proxy = proxy_of(address, access.proxies)
        self.proxy, self._pool = urlsplit(proxy).netloc.rpartition("@")[2], _pool(self, proxy)

    def watch(self, sock: socket.socket) -> None:
        """Cut this connection in time, by a second descriptor of it. Raises TimeoutError where it comes too late."""
        self._watched.append(sock.dup())
        if self.expired:
            raise TimeoutError

    def _cut(self) -> None:
        self.expired = True
        for sock in self._watched:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.clear()
        self._timer.cancel()
        for sock in self._watched:
            sock.close()

    def send(self, method: str, url: str, headers: Mapping[str, str]) -> BaseHTTPResponse:
        """The answer to one request, its body still to be read; no redirect is followed. Raises one of `FAULTS`."""
        response = self._pool.request(
            method, url, headers=headers, redirect=False, preload_content=False, decode_content=False
        )
        if self.expired:  # the end that we made looks like the end of the header
            response.close()
            raise TimeoutError
        return response

    @contextmanager
    def bare(self, url: str) -> Iterator[Any]:
        """The connection on which `send` would send, for what an HTTP library does not do. Raises one of `FAULTS`."""
        pool = self._pool.connection_from_url(url)
        connection: Any = pool._new_conn()  # the one place that knows how to reach `url`
        try:
            if self.proxy:
                pool._prepare_proxy(connection)
            else:
                connection.connect()
            yield connection.sock
        finally:
            connection.close()


def _pool(line: Line, proxy: str) -> urllib3.PoolManager:
    """Connections under the conditions of `line`, each watched by it; nothing is tried twice."""
    access = line.access
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
    pool = _through(proxy, options) if proxy else urllib3.PoolManager(**options)
    pool.pool_classes_by_scheme = {
        "http": _watched(urllib3.HTTPConnectionPool, line),
        "https": _watched(urllib3.HTTPSConnectionPool, line),
    }
    return pool


def _through(proxy: str, options: Mapping[str, Any]) -> urllib3.ProxyManager:
    """Connections in tunnels (CONNECT) through `proxy`, which gets what its own address holds of credentials."""
    parts = urlsplit(proxy)
    login = basic(unquote(parts.username or ""), unquote(parts.password or ""))
    return urllib3.ProxyManager(
        f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
        proxy_headers={"Proxy-Authorization": login} if parts.username else {},
        **options,
    )


def _watched(pool: Any, line: Line) -> Any:
    """The kind of pool whose connections `line` watches from before any TLS."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]
        def _new_conn(self) -> socket.socket:
            sock: socket.socket = super()._new_conn()
            line.watch(sock)
            return sock

        def connect(self) -> None:
            super().connect()
            line.connected = True

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


def unreachable(error: Exception, line: Line) -> UnreachableError:
    """What one of `FAULTS` means, in a sentence."""
    kind, text, advice = _meaning(error, line)
    return UnreachableError(kind, f"{line.name}: {text}", advice)


def _meaning(error: Exception, line: Line) -> tuple[Missing, str, str]:
    if isinstance(error, faults.ProxyError):
        return Missing.NOBODY, f"the proxy {safe(line.proxy)} {_of_proxy(error.original_error)}", _PROXY
    nobody: tuple[tuple[type[Exception], str, str], ...] = (
        (faults.NameResolutionError, "there is no such host", "check the name"),
        (faults.NewConnectionError, *_no_connection(error)),
        (faults.ConnectTimeoutError, "there was no answer in time", "check that it is reachable from here"),
    )
    for known, text, advice in nobody:
        if isinstance(error, known):
            return Missing.NOBODY, text, advice
    if line.expired or isinstance(error, faults.ReadTimeoutError):
        return Missing.SILENT, *(_TOO_SLOW if line.connected else _STALLED)
    if isinstance(error, faults.SSLError):
        return Missing.TLS, *_no_tls(error.args[0], line)
    if isinstance(error, faults.ProtocolError):
        return Missing.SILENT, *_no_http(error)
    if isinstance(error, OSError):
        return Missing.SILENT, f"the connection failed: {_reason(error)}", ""
    return Missing.SILENT, f"the request failed: {type(error).__name__}", ""


def _of_proxy(error: Exception) -> str:
    if isinstance(error, faults.NewConnectionError):  # a name that is unknown is one of these, too
        return f"cannot be reached: {_no_connection(error)[0]}"
    return f"makes no connection: {_reason(error)}"


def _no_connection(error: Exception) -> tuple[str, str]:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno not in (None, errno.ECONNREFUSED):
        return f"no connection can be made: {safe(cause.strerror or '')}", "check that it is reachable from here"
    return "the connection was refused", "check that the broker runs there"


def _no_http(error: Exception) -> tuple[str, str]:
    inner = error.args[1] if len(error.args) > 1 else None
    if isinstance(inner, BadStatusLine) and not isinstance(inner, RemoteDisconnected):
        return "it answers in another protocol than HTTP/1.1", "check that this is the broker's port"
    if isinstance(inner, HTTPException) and not isinstance(inner, RemoteDisconnected):  # LineTooLong, or too many
        return "its answer has a header that is too large", "platforms read header lines up to 8 KB, and 100 of them"
    return "it closed the connection without an answer", "check that this port speaks TLS"


def _no_tls(error: object, line: Line) -> tuple[str, str]:
    """Why TLS failed, and what to do; OpenSSL's own words where nothing better is known."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _no_trust(error, line.access)
    reason = getattr(error, "reason", None) or ""
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return "TLS failed: what answers speaks no TLS", "check whether this port speaks plain HTTP"
    if "CERTIFICATE_REQUIRED" in reason or "ALERT_HANDSHAKE_FAILURE" in reason:
        return "TLS failed: the broker refuses a client without a certificate", _CLIENT_CERT
    if line.connected:  # with TLS 1.3 the client's certificate is looked at behind the handshake
        return "TLS failed: the broker closed the connection behind the handshake", _CLIENT_CERT
    if "ALERT" in reason:
        return f"TLS failed: the broker refuses: {_words(reason.partition('ALERT_')[2])}", ""
    return f"TLS failed: {_words(reason) or 'the handshake was not finished'}", ""


def _no_trust(error: ssl.SSLCertVerificationError, access: Access) -> tuple[str, str]:
    if error.verify_code in _DATES:
        return f"TLS failed: the certificate {_DATES[error.verify_code]}", "give the broker a new certificate"
    if error.verify_code in _NAMES:
        return "TLS failed: the certificate is for another name than the address has", "use a name that is in it"
    if error.verify_code not in _AUTHORITIES:
        return f"TLS failed: {_reason(error.verify_message)}", ""
    if access.ca_file:
        return f"TLS failed: no authority in {access.ca_file} has signed the certificate", (
            "give --ca-file the authority's certificate, and let the broker send those in between"
        )
    return "TLS failed: the certificate is signed by no authority that this machine trusts", (
        "--ca-file names the authority of a private certificate"
    )


# OpenSSL's X509_V_ERR_… (x509_vfy.h).
_DATES = {9: "is not valid yet", 10: "has expired"}
_AUTHORITIES = (2, 18, 19, 20, 21)
_NAMES = (62, 64)


def _words(reason: str) -> str:
    return safe(reason.lower().replace("_", " "))


def _reason(error: object) -> str:
    args = getattr(error, "args", None)
    return safe(str(args[-1] if args else error))[:200]


def read_body(response: BaseHTTPResponse, line: Line) -> Iterator[bytes]:
    """The pieces of the body, unpacked; neither what comes in nor what goes out exceeds the limit.

    Raises SourceError: it is cut short, too slow, too large, or not packed as it says or as we can unpack.
    """
    packing = packing_of(response.headers.get("Content-Encoding"))
    if packing not in ("", "gzip"):
        response.close()
        text = f"the answer is compressed as {safe(packing)[:40]}, which the request did not ask for"
        raise SourceError(f"{line.name}: {text}", "platforms understand gzip at most")
    unpack = zlib.decompressobj(wbits=31) if packing else None
    size, limit = 0, line.access.max_bytes
    try:
        for chunk in response.stream(_CHUNK, decode_content=False):
            piece = unpack.decompress(chunk, limit + 1 - size) if unpack else chunk
            size += len(piece)
            if size > limit:
                raise SourceError(f"{line.name}: the answer is larger than {limit:,} bytes")
            yield piece
    except zlib.error:
        raise SourceError(f"{line.name}: the answer says that it is gzip, and is not") from None
    except (faults.ProtocolError, faults.ReadTimeoutError, faults.DecodeError, OSError) as error:
        raise _broken_off(line, line.expired or isinstance(error, faults.ReadTimeoutError)) from None
    finally:
        response.close()
    # Without a length, the end that we made looks like the broker's, and half of what is packed like the whole.
    if line.expired or (unpack and not unpack.eof):
        raise _broken_off(line, line.expired)


def packing_of(encoding: str | None) -> str:
    """What a Content-Encoding says: `gzip`, empty for none, or another that nobody asks for (RFC 9110 §8.4)."""
    packing = (encoding or "").strip().lower()
    return {"x-gzip": "gzip", "identity": ""}.get(packing, packing)


def _broken_off(line: Line, slow: bool) -> SourceError:
    text = "the answer was not complete in time" if slow else "the answer was cut short"
    return SourceError(f"{line.name}: {text}", "try again; if it happens again, look into the broker's log")
