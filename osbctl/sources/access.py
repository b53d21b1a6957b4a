"""How a broker is reached, and what must be right of that before anything is sent."""

from __future__ import annotations

import ssl
from base64 import b64encode
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from osbctl.errors import SourceError
from osbctl.platforms import DEFAULT_API_VERSION
from osbctl.sources.limits import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    if access.ca_file:
        with _telling(access.ca_file, "certificates"):
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(access.ca_file)
    if access.client_cert:
        with _telling(access.client_cert, "a certificate and its key, without a passphrase"):
            # Without a password, OpenSSL asks for one at the terminal.
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(access.client_cert, password="")


@contextmanager
def _telling(file: str, wanted: str) -> Iterator[None]:
    try:
        yield
    except (ssl.SSLError, ValueError):
        raise SourceError(f"{file}: this is no PEM file with {wanted}", _PEM) from None


_PEM = "--ca-file and --client-cert are PEM files"
