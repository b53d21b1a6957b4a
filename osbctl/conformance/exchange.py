"""One request to a broker and what came of it: an answer, half of one, or none. Never raises for what a broker does.

At the end, what a bare connection tells and an HTTP library does not: the certificate, and a body behind HEAD.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from urllib3.util import SKIP_HEADER

from osbctl.client.catalog_client import read_json
from osbctl.client.connection_options import ConnectionOptions, basic_auth, without_query
from osbctl.client.http_client import REQUEST_ERRORS, HttpClient, NoResponseError, no_response_error, read_body
from osbctl.errors import SourceError


@dataclass(frozen=True)
class Reply:
    """What came back. `request` is the request's first line without the version, `how` what was special about it.

    `status` is 0 where there was no answer, and `silence` tells of that; `fault` says why it, or the body, did not
    come whole (empty where all is well). `headers` have lower-case names; `body` is unpacked; `seconds` are those from
    the request to the last byte. `sent` is the Authorization header of the request.
    """

    request: str
    how: str = ""
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    seconds: float = 0.0
    fault: str = ""
    silence: NoResponseError | None = None
    sent: str = field(default="", repr=False)
    hide: Callable[[str], str] = field(default=str, repr=False)
    """Masks the password in what came: a report's own words may happen to hold it."""

    @cached_property
    def _read(self) -> tuple[Any, str]:
        return read_json(self.body)

    @property
    def json(self) -> Any:
        """The body as JSON in UTF-8; None where it is none."""
        return self._read[0]

    @property
    def why_no_catalog(self) -> str:
        """Why the body is no JSON object; empty where it is one."""
        return self._read[1]

    @property
    def media_type(self) -> str:
        """What the body is called, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Exchange:
    """Asks one broker, each time on a connection of its own, as platforms do that ask once an hour."""

    def __init__(self, address: str, options: ConnectionOptions) -> None:
        self.address, self.name, self.options = address, without_query(address), options
        parts = urlsplit(address)
        self.path = parts.path
        self.secure = parts.scheme == "https"

    def good(self) -> dict[str, str]:
        """The headers of a good request: credentials, if there are some, and the API version."""
        headers = {"X-Broker-API-Version": self.options.api_version, "Accept": "application/json"}
        if self.options.user or self.options.password:
            headers["Authorization"] = basic_auth(self.options.user, self.options.password)
        return headers

    def at(self, path: str) -> str:
        """The address of another path of the same broker."""
        parts = urlsplit(self.address)
        return urlunsplit((parts.scheme, parts.netloc, path, "", ""))

    def ask(
        self,
        how: str = "",
        *,
        method: str = "GET",
        path: str = "",
        changes: Mapping[str, str | None] | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Send a good request but for `how` it is said to be: headers that are another, or None for none.

        It takes at most `seconds`.
        """
        headers = {**self.good(), "Accept-Encoding": SKIP_HEADER, "Connection": "close", "User-Agent": "osbctl"}
        for name, value in (changes or {}).items():
            headers.pop(name, None)
            if value is not None:
                headers[name] = value
        options = replace(
            self.options, total_seconds=min(seconds or self.options.total_seconds, self.options.total_seconds)
        )
        began = time.monotonic()
        with HttpClient(self.address, options) as client:
            reply = self._sent(client, method, self.at(path) if path else self.address, headers)
        sent = headers.get("Authorization", "")
        request = f"{method} {path or self.path}"
        seconds, hide = time.monotonic() - began, self.options.hide
        return replace(reply, request=request, how=how, seconds=seconds, sent=sent, hide=hide, fault=hide(reply.fault))

    def _sent(self, client: HttpClient, method: str, url: str, headers: Mapping[str, str]) -> Reply:
        try:
            response = client.send(method, url, headers)
        except REQUEST_ERRORS as error:
            silence = no_response_error(error, client)
            return Reply("", fault=_sentence(silence, client), silence=silence)
        found = {name.lower(): value for name, value in response.headers.items()}
        body, fault = bytearray(), ""
        try:
            for piece in read_body(response, client):
                body += piece
        except SourceError as error:
            fault = _sentence(error, client)
        return Reply("", "", response.status, found, bytes(body), fault=fault)


def _sentence(error: SourceError, client: HttpClient) -> str:
    return error.message.removeprefix(f"{client.name}: ")


SOON_DAYS = 14
_LONGEST_HEAD = 65_536


def head_has_body(exchange: Exchange, seconds: float) -> bool:
    """Whether within `seconds` more than a header comes for a good request by HEAD."""
    parts = urlsplit(exchange.address)
    target = exchange.path + (f"?{parts.query}" if parts.query else "")
    ends = time.monotonic() + seconds
    received = b""
    try:
        with HttpClient(exchange.address, exchange.options) as client, client.bare(exchange.address) as sock:
            request = HTTPConnection(parts.hostname or "", parts.port)
            request.sock = sock
            request.request("HEAD", target, headers={**exchange.good(), "Connection": "close", "User-Agent": "osbctl"})
            while (left := ends - time.monotonic()) > 0 and len(received) < _LONGEST_HEAD:
                sock.settimeout(left)
                piece = sock.recv(_LONGEST_HEAD)
                received += piece
                if not piece or received.partition(b"\r\n\r\n")[2]:
                    break
    except (*REQUEST_ERRORS, HTTPException):
        pass  # another request has found that nobody answers; what came counts
    return bool(received.partition(b"\r\n\r\n")[2])


def days_left(exchange: Exchange) -> float | None:
    """Days until the certificate ends; None where that cannot be learnt, or it is not checked at all."""
    if not exchange.secure or exchange.options.insecure:
        return None
    try:
        with HttpClient(exchange.address, exchange.options) as client, client.bare(exchange.address) as sock:
            ends = (sock.getpeercert() or {}).get("notAfter")
    except REQUEST_ERRORS:  # what is wrong with the address the first request tells
        return None
    return (ssl.cert_time_to_seconds(ends) - time.time()) / 86400 if isinstance(ends, str) else None
