"""HTTP requests to a broker, limited in time and size, with a sentence for each way to fail."""

import errno
import re
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from http.client import HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected, parse_headers
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3 import BaseHTTPResponse
from urllib3 import exceptions as faults

from osbctl.client.connection_options import ConnectionOptions, basic_auth, find_proxy, is_internal_address
from osbctl.errors import SourceError
from osbctl.text import escape_line

_TOO_SLOW = ("it accepted the request, but did not answer in time", "platforms wait 15 to 60 seconds")
_STALLED = ("the TLS handshake was not finished in time", "check that this port speaks TLS")
NAME_CERTIFICATE = "if it asks clients for a certificate, --client-cert names one that it accepts, with its key"
UNPACKED = ("", "gzip")
"""The values of Content-Encoding, normalized, with which a body is read."""
WRITE_HTTPS = "this port speaks TLS: write https:// in the address"
_PROXY = "HTTPS_PROXY or ALL_PROXY names it; NO_PROXY names hosts that are reached without it"
_CHUNK = 65_536
MAX_RECEIVED = 4_000  # characters of a received text that are searched for a password, several times what is shown


class HttpClient:
    """Connections to the broker at `address`, with a deadline for all of them together.

    At the deadline open connections are shut down, and later ones refused: the timeouts of a library begin anew with
    each byte. `connected` says whether a connection was made, with TLS and a proxy's tunnel (`has_tunnel`); `proxy` is
    the host and port of the proxy, or empty. `interim` is the status of the first response that was skipped because
    another follows it (102 to 199, RFC 9110 §15.2), else 0; `stray_line` is the first line that is not a header.
    """

    def __init__(self, address: str, options: ConnectionOptions) -> None:
        self.name, self.address, self.options = options.redact_address(address), address, options
        self.expired = False
        self._watched: list[socket.socket] = []
        self._timer = threading.Timer(options.total_seconds, self._cut_connections)
        self._timer.daemon = True
        self.connected = self.has_tunnel = False
        self.interim, self.stray_line = 0, ""
        proxy = find_proxy(address, options.proxies)
        self.proxy, self._pool = urlsplit(proxy).netloc.rpartition("@")[2], _create_pool(self, proxy)

    def cut_at_deadline(self, sock: socket.socket) -> None:
        """Shut this connection down at the deadline, by a second descriptor. Raises TimeoutError: it has passed."""
        self._watched.append(sock.dup())
        if self.expired:
            raise TimeoutError

    def check_host(self) -> None:
        """Raise SourceError if only public hosts may be asked, and one of the host's addresses is internal."""
        if not self.options.public_only:
            return
        parts = urlsplit(self.address)
        try:
            found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):  # the request says so, or a proxy knows the name
            return
        for *_, place in found:
            self._check_ip(str(place[0]))

    def check_peer(self, sock: socket.socket) -> None:
        """Check the address of a new connection as `check_host` does: a name may have another one than before."""
        if not self.options.public_only or self.proxy:
            return
        try:
            self._check_ip(sock.getpeername()[0])
        except SourceError:
            sock.close()
            raise

    def _check_ip(self, address: str) -> None:
        if is_internal_address(address):
            raise SourceError(f"{self.name}: not asked, its address {address} is internal")

    def _cut_connections(self) -> None:
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

    def send_get(self, url: str, headers: Mapping[str, str]) -> BaseHTTPResponse:
        """Send one GET and return the response, its body unread; follow no redirect. Raises NoResponseError."""
        try:
            response = self._pool.request(
                "GET", url, headers=headers, redirect=False, preload_content=False, decode_content=False
            )
            if self.expired:  # our own shutdown() looks like the end of the header
                response.close()
                raise TimeoutError
            return response
        except (faults.HTTPError, OSError, ValueError) as error:
            raise NoResponseError(error, self) from None


def _create_pool(client: HttpClient, proxy: str) -> urllib3.PoolManager:
    """Create a pool of connections with the options of `client`, which watches each; without retries."""
    options = client.options
    connect = min(options.connect_seconds, options.total_seconds)
    timeout = urllib3.Timeout(connect=connect, read=options.total_seconds)
    arguments: dict[str, Any] = {"timeout": timeout, "retries": False, "cert_file": options.client_cert}
    if options.insecure:
        urllib3.disable_warnings(faults.InsecureRequestWarning)
        arguments["cert_reqs"] = "CERT_NONE"
    else:
        arguments |= {"cert_reqs": "CERT_REQUIRED", "ca_certs": options.ca_file}
    if proxy:  # it makes tunnels (CONNECT), and gets the credentials in its own address
        parts = urlsplit(proxy)
        login = basic_auth(unquote(parts.username or ""), unquote(parts.password or ""))
        headers = {"Proxy-Authorization": login} if parts.username else {}
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        pool: urllib3.PoolManager = urllib3.ProxyManager(address, proxy_headers=headers, **arguments)
    else:
        pool = urllib3.PoolManager(**arguments)
    pools = {"http": urllib3.HTTPConnectionPool, "https": urllib3.HTTPSConnectionPool}
    pool.pool_classes_by_scheme = {scheme: _watched_pool_class(each, client) for scheme, each in pools.items()}
    return pool


def _watched_pool_class(pool_class: Any, client: HttpClient) -> Any:
    """Make a subclass of `pool_class` whose connections `client` watches from before the TLS handshake."""

    class Response(HTTPResponse):
        def begin(self) -> None:
            super().begin()
            rest = self.headers.get_payload()  # what follows a line that is no header, to Python's reader of mails
            client.stray_line = rest.partition("\r\n")[0] if isinstance(rest, str) else ""

        def _read_status(self) -> tuple[str, int, str]:
            while True:
                version, status, reason = super()._read_status()  # type: ignore[misc]  # which skips 100 alone
                if not 102 <= status < 200:
                    return version, status, reason
                client.interim = client.interim or status
                parse_headers(self.fp)

        def _safe_read(self, amt: int) -> bytes:
            # urllib3 hands on the size of a chunk as the broker wrote it; -1 would read on without a limit.
            if amt < 0:
                raise HTTPException("a negative chunk size")
            data: bytes = super()._safe_read(amt)  # type: ignore[misc]  # what urllib3 calls
            return data

    class Connection(pool_class.ConnectionCls):  # type: ignore[misc]
        response_class = Response

        def _new_conn(self) -> socket.socket:
            sock: socket.socket = super()._new_conn()
            client.cut_at_deadline(sock)
            client.check_peer(sock)
            return sock

        def _tunnel(self) -> None:
            super()._tunnel()
            client.has_tunnel = True

        def connect(self) -> None:
            super().connect()
            client.connected = True

    return type(pool_class.__name__, (pool_class,), {"ConnectionCls": Connection})


class Failure(Enum):
    """Kind of a failed request."""

    UNREACHABLE = "no server answers"
    TLS = "the handshake failed"
    UNKNOWN_AUTHORITY = "this machine does not trust the authority of the certificate"
    COMMON_NAME = "the certificate has the name of the broker as its common name alone"
    CLIENT_CERTIFICATE = "the broker does not accept the certificate of the client, or that it has none"
    TOO_SLOW = "the answer did not come, or not as a whole, before the deadline"
    TOO_LARGE = "the answer is larger than osbctl reads"
    NO_RESPONSE = "the server does not answer properly"


class ResponseError(SourceError):
    """The answer to a request did not come as a whole."""

    def __init__(self, client: HttpClient, kind: Failure, text: str, advice: str = "") -> None:
        self.kind = kind
        super().__init__(f"{client.name}: {text}", advice)


class NoResponseError(ResponseError):
    """A request got no answer: `error` of urllib3 in a sentence."""

    def __init__(self, error: Exception, client: HttpClient) -> None:
        super().__init__(client, *_explain_error(error, client))


def _explain_error(error: Exception, client: HttpClient) -> tuple[Failure, str, str]:
    """Return the kind of a failure, a message and advice."""
    if isinstance(error, faults.ProxyError) or (client.proxy and not client.has_tunnel):
        text = f"the proxy {escape_line(client.proxy)} {_explain_proxy_error(error, client)}"
        return Failure.UNREACHABLE, text, _PROXY
    if isinstance(error, faults.NameResolutionError):
        return Failure.UNREACHABLE, "there is no such host", "check the name"
    if isinstance(error, faults.NewConnectionError):
        return Failure.UNREACHABLE, *_explain_connect_error(error)
    if isinstance(error, faults.ConnectTimeoutError):
        return Failure.UNREACHABLE, "there was no answer in time", "check that it is reachable from here"
    if client.expired or isinstance(error, faults.ReadTimeoutError):
        return Failure.TOO_SLOW, *(_TOO_SLOW if client.connected else _STALLED)
    if isinstance(error, faults.SSLError):
        return _explain_tls_error(error.args[0], client)
    if isinstance(error, faults.ProtocolError | faults.InvalidHeader):
        text = _error_text(error, client)
        if text.startswith("got more than"):  # a limit of http.client, not of platforms
            return Failure.TOO_LARGE, f"its header is larger than osbctl reads: {text}", ""
        return Failure.NO_RESPONSE, *_explain_protocol_error(error, client)
    if isinstance(error, OSError):
        return Failure.NO_RESPONSE, f"the connection failed: {_error_text(error, client)}", ""
    return Failure.NO_RESPONSE, f"the request failed: {type(error).__name__}", ""


def _explain_proxy_error(error: Exception, client: HttpClient) -> str:
    cause = error.original_error if isinstance(error, faults.ProxyError) else error
    if isinstance(cause, faults.NewConnectionError):  # a name that is unknown is one of these, too
        return f"cannot be reached: {_explain_connect_error(cause)[0]}"
    if client.expired or isinstance(cause, faults.ReadTimeoutError | TimeoutError):  # whichever comes first
        return "makes no connection: it did not answer in time"
    text = _explain_protocol_error(cause, client)[0] if cause is error else _error_text(cause, client)
    return f"makes no connection: {text}"


def _explain_connect_error(error: Exception) -> tuple[str, str]:
    """Return a message and advice."""
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno not in (None, errno.ECONNREFUSED):
        return f"no connection can be made: {escape_line(cause.strerror or '')}", "check that it is reachable from here"
    return "the connection was refused", "check that the broker runs there"


def _explain_protocol_error(error: Exception, client: HttpClient) -> tuple[str, str]:
    """Return a message and advice."""
    inner = error.args[1] if len(error.args) > 1 else error
    is_plain = client.name.startswith("http:")
    if is_plain and "\x15\x03" in str(inner):  # an alert of TLS (RFC 8446, section 6)
        return "its answer is not proper HTTP, but TLS", WRITE_HTTPS
    if isinstance(inner, HTTPException | faults.InvalidHeader) and not isinstance(inner, RemoteDisconnected):
        return f"its answer is not proper HTTP: {_error_text(inner, client)}", "check that this is the broker's port"
    advice = "if this port speaks TLS, write https:// in the address" if is_plain else "check that this port speaks TLS"
    return "it closed the connection without an answer", advice


_ABOUT_CLIENT = re.compile("ALERT_(?:HANDSHAKE_FAILURE|ACCESS_DENIED|UNKNOWN_CA|.*CERTIFICATE)")
"""Alerts that a server sends about the certificate of a client (RFC 8446 §6.2), where osbctl gave all else."""
# OpenSSL's X509_V_ERR_... (x509_vfy.h)
_OTHER_NAME = (62, 64)
_UNKNOWN_AUTHORITY = (2, 18, 19, 20, 21)


def _explain_tls_error(error: object, client: HttpClient) -> tuple[Failure, str, str]:
    """Return a message in OpenSSL's words, with advice on the usual failures."""
    if isinstance(error, ssl.SSLCertVerificationError):
        text = f"TLS failed: {_error_text(error.verify_message, client)}"
        if error.verify_code in _UNKNOWN_AUTHORITY:
            return Failure.UNKNOWN_AUTHORITY, text, "--ca-file names the authority of a private certificate"
        kind, advice = _read_certificate_names(client) if error.verify_code in _OTHER_NAME else (Failure.TLS, "")
        return kind, text, advice
    reason = getattr(error, "reason", None) or ""
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return Failure.TLS, "TLS failed: what answers speaks no TLS", "check whether this port speaks plain HTTP"
    # With TLS 1.3, a broker looks at the client's certificate behind the handshake.
    if client.connected or _ABOUT_CLIENT.search(reason):
        return Failure.CLIENT_CERTIFICATE, "TLS failed: the broker closed the connection", NAME_CERTIFICATE
    cause = escape_line(reason.lower().replace("_", " "))
    return Failure.TLS, f"TLS failed: {cause or 'the handshake was not finished'}", ""


def _read_certificate_names(client: HttpClient) -> tuple[Failure, str]:
    """The kind of failure, and advice with the names in the certificate. The advice is empty if it cannot be read."""
    certificate = _read_certificate(client)
    if certificate is None:
        return Failure.TLS, ""
    names = [escape_line(str(value))[:80] for _, value in certificate.get("subjectAltName", ())]
    if names:
        return Failure.TLS, f"it is for {', '.join(names[:5])}: use such a name, or issue it for this one"
    common = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
    is_named = urlsplit(client.address).hostname in [name.lower() for name in common]
    name = escape_line(common[0])[:80] if common else "none"
    kind = Failure.COMMON_NAME if is_named else Failure.TLS
    return kind, f"it has a common name alone ({name}), which is no longer read: issue it with a subjectAltName"


def _read_certificate(client: HttpClient) -> Any:
    """The certificate that a second handshake gets, whatever its names. None if that fails, or with a proxy."""
    if client.proxy or client.options.public_only:
        return None
    parts = urlsplit(client.address)
    context = ssl.create_default_context(cafile=client.options.ca_file)
    context.check_hostname = False
    try:
        place = (parts.hostname or "", parts.port or 443)
        with socket.create_connection(place, timeout=client.options.connect_seconds) as plain:
            client.cut_at_deadline(plain)
            with context.wrap_socket(plain, server_hostname=parts.hostname) as secure:
                return secure.getpeercert()
    except (OSError, ValueError):
        return None


def _error_text(error: object, client: HttpClient) -> str:
    """Return the text of an exception or a message, which may quote what was received, redacted and shortened."""
    args = getattr(error, "args", None)
    return escape_line(client.options.redact_credentials(str(args[-1] if args else error)[:MAX_RECEIVED]))[:200]


def read_body_chunks(response: BaseHTTPResponse, client: HttpClient) -> Iterator[bytes]:
    """Yield the pieces of the body, and close the response; gzip is unpacked, and the size limited before and after.

    Raises SourceError: the body is cut short, too slow or too large, or its compression is wrong.
    """
    coding = normalize_content_encoding(response.headers.get("Content-Encoding"))
    decompressor = _GzipDecompressor() if coding == "gzip" else None
    size, limit = 0, client.options.max_bytes
    try:
        for chunk in response.stream(_CHUNK, decode_content=False):
            piece = decompressor.decompress(chunk, limit + 1 - size) if decompressor else chunk
            size += len(piece)
            if size > limit:
                raise ResponseError(client, Failure.TOO_LARGE, f"the answer is larger than {limit:,} bytes")
            yield piece
    except zlib.error:
        raise SourceError(f"{client.name}: the answer says that it is gzip, and is not") from None
    except (faults.HTTPError, HTTPException, OSError, ValueError) as error:
        cause = error.args[1] if len(error.args) > 1 else None
        is_cut_short = isinstance(cause, IncompleteRead) and not isinstance(cause, faults.InvalidChunkLength)
        if isinstance(cause, HTTPException) and not is_cut_short:
            raise SourceError(f"{client.name}: its answer is not proper HTTP: a chunk has no valid size") from None
        raise _incomplete_answer_error(client, client.expired or isinstance(error, faults.ReadTimeoutError)) from None
    finally:
        response.close()
    # Without a length, our own shutdown() looks like the end, and half of a compressed body like the whole.
    if client.expired or (decompressor and not decompressor.eof):
        raise _incomplete_answer_error(client, client.expired)


class _GzipDecompressor:
    """Decompresses gzip of one member or several (RFC 1952 §2.2); `eof`: the last one that began is whole."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._member.eof

    def decompress(self, data: bytes, limit: int) -> bytes:
        """Return at most `limit` bytes, which is positive; what is left is lost. Raises zlib.error."""
        found = b""
        while data and len(found) < limit:
            if self._member.eof:
                self._member = zlib.decompressobj(wbits=31)
            found += self._member.decompress(data, limit - len(found))
            data = self._member.unused_data
        return found


def normalize_content_encoding(encoding: str | None) -> str:
    """Normalize a Content-Encoding: `gzip`, empty for none, or an unrequested one (RFC 9110 §8.4)."""
    coding = (encoding or "").strip().lower()
    return {"x-gzip": "gzip", "identity": ""}.get(coding, coding)


def _incomplete_answer_error(client: HttpClient, timed_out: bool) -> ResponseError:
    text = "the answer was not complete in time" if timed_out else "the answer was cut short"
    kind = Failure.TOO_SLOW if timed_out else Failure.NO_RESPONSE
    return ResponseError(client, kind, text, "try again; if it happens again, look into the broker's log")
