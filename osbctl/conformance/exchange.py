"""One request to a broker and what came of it: an answer, half of one, or none. Never raises for what a broker does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from urllib3.util import SKIP_HEADER

from osbctl.client.catalog_client import read_json
from osbctl.client.connection_options import ConnectionOptions, basic_auth, without_query
from osbctl.client.http_client import (
    REQUEST_ERRORS,
    HttpClient,
    NoResponseError,
    no_response_error,
    read_body,
)
from osbctl.errors import SourceError


@dataclass(frozen=True)
class Reply:
    """Answer to a request. `request` is its first line without the version, `how` its special property.

    `status` is 0 without an answer, and `silence` explains that; `fault` says why it, or the body, did not
    come whole (empty where all is well). `headers` have lower-case names; `body` is unpacked; `seconds` are those from
    the request to the last byte. `sent` is the Authorization header of the request. `certificate_ends` is empty where
    there was no certificate, or it was not checked.
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
    certificate_ends: str = ""
    options: ConnectionOptions = field(default=ConnectionOptions(), repr=False)

    def hide(self, text: str) -> str:
        """Mask the password in what came: a report's own words may happen to hold it."""
        return self.options.hide(text)

    @cached_property
    def _read(self) -> tuple[Any, str]:
        return read_json(self.body)

    @property
    def json(self) -> Any:
        """The body as JSON in UTF-8; None where it is none."""
        return self._read[0]

    @property
    def why_no_catalog(self) -> str:
        """Reason why the body is not a JSON object; empty if it is one."""
        return self._read[1]

    @property
    def media_type(self) -> str:
        """Media type of the body, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Exchange:
    """Asks one broker, each time on a connection of its own, as platforms do that ask once an hour."""

    def __init__(self, address: str, options: ConnectionOptions) -> None:
        self.address, self.name, self.options = address, without_query(address), options
        parts = urlsplit(address)
        self.path, self.secure = parts.path, parts.scheme == "https"

    def ask(
        self,
        how: str = "",
        *,
        method: str = "GET",
        path: str = "",
        changes: Mapping[str, str | None] | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Send a good request, but for its `changes`: headers with other values, or None for none.

        `how` says in a report what is special about it. It takes at most `seconds`.
        """
        options = self.options
        headers: dict[str, str | None] = {
            "X-Broker-API-Version": options.api_version,
            "Accept": "application/json",
            "Authorization": basic_auth(options.user, options.password) if options.user or options.password else None,
            "Accept-Encoding": SKIP_HEADER,
            "Connection": "close",
            "User-Agent": "osbctl",
            **(changes or {}),
        }
        sent = {name: value for name, value in headers.items() if value is not None}
        options = replace(options, total_seconds=min(seconds or options.total_seconds, options.total_seconds))
        url = urlunsplit((*urlsplit(self.address)[:2], path, "", "")) if path else self.address
        began = time.monotonic()
        with HttpClient(self.address, options) as client:
            reply = _send(client, method, url, sent)
        return replace(
            reply,
            request=f"{method} {path or self.path}",
            how=how,
            seconds=time.monotonic() - began,
            sent=sent.get("Authorization", ""),
            options=self.options,
            fault=options.hide(reply.fault),
            certificate_ends=client.certificate.get("notAfter", ""),
        )


def _send(client: HttpClient, method: str, url: str, headers: Mapping[str, str]) -> Reply:
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
