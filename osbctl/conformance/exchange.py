"""One request to a broker, its reply (whole, half or none; never an exception), and faults of replies as findings."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from urllib3.util import SKIP_HEADER

from osbctl.changes import SEVERITIES
from osbctl.client.catalog_client import read_json
from osbctl.client.connection_options import ConnectionOptions, basic_auth, without_query
from osbctl.client.http_client import (
    REQUEST_ERRORS,
    HttpClient,
    NoResponseError,
    no_response_error,
    read_body,
)
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.conformance.rules import EVERY
from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform
from osbctl.rule import RULES
from osbctl.text import escape_line


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
        login = basic_auth(options.user, options.password) if options.user or options.password else None
        headers = {
            "X-Broker-API-Version": options.api_version,
            "Accept": "application/json",
            "Authorization": login,
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


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the answer to one request; `reply` None: with the broker as a whole."""

    rule: str
    text: str
    reply: Reply | None
    severity: Severity
    refused_by: tuple[Platform, ...]
    hint: str


def fault(
    rule: str,
    text: str,
    reply: Reply | None = None,
    *,
    severity: Severity | None = None,
    refused_by: tuple[Platform, ...] | None = None,
    hint: str = "",
) -> Fault:
    """A fault against `rule`, with the severity and the platforms of its record unless others are named."""
    record = RULES[rule]
    refused = record.refused_by if refused_by is None else refused_by
    return Fault(rule, text, reply, severity or record.severity, refused, hint)


def findings_of(faults: Iterable[Fault]) -> list[Finding]:
    """A finding for each fault; one for all requests that show the same, with all platforms that it stops."""
    alike: dict[tuple[object, ...], list[Fault]] = {}
    for one in faults:
        alike.setdefault((one.rule, one.text, one.severity, one.hint), []).append(one)
    return [_finding(group) for group in alike.values()]


def _finding(group: list[Fault]) -> Finding:
    first = group[0]
    replies = [one.reply for one in group if one.reply]
    ways: dict[str, list[str]] = {}
    for reply in replies:
        ways.setdefault(reply.request, []).append(reply.how)
    text = " and ".join(f"{request} {', '.join(filter(None, how))}".strip() for request, how in ways.items())
    message = f"{text}: {first.text}" if text else first.text
    refused = tuple(platform for platform in EVERY if any(platform in one.refused_by for one in group))
    return Finding(first.rule, first.severity, escape_line(message), refused_by=refused, hint=first.hint)


_MOST_TOLD = 3


def moved(before: Any, after: Any) -> tuple[Severity, str]:
    """Severity and description of the differences between two JSON values, most severe first."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return Severity.ERROR, "one of them is not a JSON object"
    changes = sorted(compare_catalogs(before, after), key=lambda change: -change.level.rank)
    if not changes:
        return Severity.INFO, "only in how it is written"
    sentences = [f"{change.object}: {change.message}".removeprefix(": ") for change in changes[:_MOST_TOLD]]
    more = [f"and {len(changes) - _MOST_TOLD} more"] if len(changes) > _MOST_TOLD else []
    return SEVERITIES[changes[0].level], "; ".join([*sentences, *more])
