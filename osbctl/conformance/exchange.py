"""One request to a broker, its reply (whole, half or none; never an exception), and faults of replies as findings."""

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from urllib3.util import SKIP_HEADER

from osbctl.client.catalog_client import parse_json_body, request_headers
from osbctl.client.connection_options import ConnectionOptions, redact_query
from osbctl.client.http_client import HttpClient, NoResponseError, read_body_chunks
from osbctl.conformance.rules import EVERY
from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform
from osbctl.rule import RULES
from osbctl.text import escape_line


@dataclass
class Reply:
    """Answer to a request. `request` is its first line without the version, `how` its special property.

    `status` is 0 without an answer, and `silence` explains that; `fault` says why it, or the body, did not
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
    options: ConnectionOptions = field(default=ConnectionOptions(), repr=False)

    def hide(self, text: str) -> str:
        """Mask the password in what came: a report's own words may happen to hold it."""
        return self.options.redact_credentials(text)

    @cached_property
    def _read(self) -> tuple[Any, str]:
        return parse_json_body(self.body)

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
        self.address, self.name, self.options = address, redact_query(address), options
        parts = urlsplit(address)
        self.path, self.secure = parts.path, parts.scheme == "https"

    def ask(
        self,
        how: str = "",
        changes: Mapping[str, str | None] | None = None,
        *,
        path: str = "",
        seconds: float = inf,
    ) -> Reply:
        """Send a good request, but for its `changes`: headers with other values, or None for none.

        `how` says in a report what is special about it. It takes at most `seconds`.
        """
        options = self.options
        usual = {**request_headers(options), "Accept-Encoding": SKIP_HEADER, "Connection": "close"}
        sent = {name: value for name, value in {**usual, **(changes or {})}.items() if value is not None}
        url = urlunsplit((*urlsplit(self.address)[:2], path, "", "")) if path else self.address
        reply = Reply(f"GET {path or self.path}", how, sent=sent.get("Authorization", ""), options=options)
        bounded = replace(options, total_seconds=min(seconds, options.total_seconds))
        body = bytearray()
        began = time.monotonic()
        with HttpClient(self.address, bounded) as client:
            try:
                response = client.send_get(url, sent)
                reply.status = response.status
                reply.headers = {name.lower(): value for name, value in response.headers.items()}
                for piece in read_body_chunks(response, client):
                    body += piece
            except SourceError as error:
                reply.fault = options.redact_credentials(error.message.removeprefix(f"{client.name}: "))
                reply.silence = error if isinstance(error, NoResponseError) else None
        reply.body = bytes(body)
        reply.seconds = time.monotonic() - began
        return reply


class Fault(NamedTuple):
    """One thing that is wrong with the answer to one request; `reply` None: with the broker as a whole.

    `severity` and `refused_by` None: as the record of the rule has them.
    """

    rule: str
    text: str
    reply: Reply | None = None
    severity: Severity | None = None
    refused_by: Collection[Platform] | None = None
    hint: str = ""


def merged_findings(faults: Iterable[Fault]) -> tuple[Finding, ...]:
    """One finding for all requests that show the same fault, with all platforms that it stops."""
    alike: dict[tuple[object, ...], list[Fault]] = {}
    for one in faults:
        alike.setdefault((one.rule, one.text, one.severity, one.hint), []).append(one)
    return tuple(_finding(group) for group in alike.values())


def _finding(group: list[Fault]) -> Finding:
    rule, said, _, severity, _, hint = group[0]
    record = RULES[rule]
    ways: dict[str, list[str]] = {}
    for reply in (one.reply for one in group if one.reply):
        ways.setdefault(reply.request, []).append(reply.how)
    text = " and ".join(f"{request} {', '.join(filter(None, how))}".strip() for request, how in ways.items())
    message = escape_line(f"{text}: {said}" if text else said)
    refusing = {platform for one in group for platform in one.refused_by or ()}
    if any(one.refused_by is None for one in group):
        refusing |= set(record.refused_by)
    refused = tuple(platform for platform in EVERY if platform in refusing)
    return Finding(rule, severity or record.severity, message, refused_by=refused, hint=hint)
