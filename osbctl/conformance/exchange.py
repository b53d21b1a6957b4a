"""One request to a broker, its reply (whole, half or none; never an exception), and faults of replies as findings."""

import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from urllib3 import HTTPHeaderDict
from urllib3.util import SKIP_HEADER

from osbctl.client.catalog_client import parse_json_body, request_headers
from osbctl.client.connection_options import ConnectionOptions
from osbctl.client.http_client import Failure, HttpClient, NoResponseError, ResponseError, read_body_chunks
from osbctl.conformance.rules import EVERY
from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform
from osbctl.rule import RULES
from osbctl.sources.catalogs import has_services
from osbctl.text import escape_line

_TOKEN = re.compile(r'"(?>(?:[^"\\]|\\.)*)"?|/\*.*?(?:\*/|\Z)|//[^\n]*', re.DOTALL)
"""A string or a comment. One without an end takes the rest, so that a search is linear."""
_RAW = re.compile(r"\\.|[\x01-\x1f]", re.DOTALL)
_LENGTH = re.compile("[0-9]{1,18}")


def find_bad_framing(headers: HTTPHeaderDict, stray_line: str) -> str:
    """The headers that say in no valid way where the body ends (RFC 9112 §6.3; Go, net/http, transfer.go), in a line.

    `stray_line` is the first line that is not a header. Empty if all is well.
    """
    if stray_line and ":" not in stray_line:
        return f"a line of the header has no colon: {stray_line}"
    codings, lengths = (
        [each.strip() for each in headers.getlist(name)] for name in ("Transfer-Encoding", "Content-Length")
    )
    if codings:
        is_chunked = [each.lower() for each in codings] == ["chunked"]
        return "" if is_chunked else f"Transfer-Encoding: {' and '.join(codings)}"
    is_number = len({*lengths}) <= 1 and all(map(_LENGTH.fullmatch, lengths))
    return "" if is_number else f"Content-Length: {' and '.join(lengths)}"


def read_as_platform(body: bytes, *, loosely: bool) -> bytes | None:
    """The JSON object, in UTF-8, that a platform reads in a body that is not one. None if it cannot read it.

    `loosely`: as Cloud Controller, which takes comments before the end, NaN (which stays in the result) and raw control
    characters but NUL; else as programs in Go, which replace bytes that are not UTF-8. Source: Oj 3.17.5, parse.c; Go,
    encoding/json, decode.go.
    """
    try:
        text = body.decode("utf-8", "strict" if loosely else "replace")
        if loosely:
            text = _TOKEN.sub(_normalize_token, text) if text.rstrip().endswith("}") else ""
        value = json.loads(text, parse_constant=float if loosely else _refuse_constant)
    except (ValueError, RecursionError):
        return None
    return text.encode() if isinstance(value, dict) else None


def _normalize_token(token: re.Match[str]) -> str:
    """A string with escapes for control characters; blanks for a comment, so that places stay where they are."""
    if token[0].startswith('"'):
        return _RAW.sub(lambda raw: raw[0] if len(raw[0]) > 1 else f"\\u{ord(raw[0]):04x}", token[0])
    return re.sub(r"[^\n]", " ", token[0])


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


@dataclass
class Reply:
    """Answer to a request. `request` is its first line without the version, `variation` its special property.

    `framing` is what Go refuses in the header, `interim` the status of a response before this one, other than 100.
    `status` is 0 without an answer, and `no_response` explains that; `fault` says why it, or the body, did not
    come whole (empty where all is well), and `failure` is its kind (None of a wrong compression). `headers` have
    lower-case names; `body` is unpacked; `seconds` are those from the request to the last byte. `sent` is the
    Authorization header of the request. `platforms` are those that count.
    """

    request: str
    variation: str = ""
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    seconds: float = 0.0
    fault: str = ""
    no_response: NoResponseError | None = None
    failure: Failure | None = None
    sent: str = field(default="", repr=False)
    options: ConnectionOptions = field(default=ConnectionOptions(), repr=False)
    platforms: Collection[Platform] = EVERY
    framing: str = ""
    interim: int = 0

    @property
    def giving_up(self) -> Collection[Platform]:
        """The platforms that could not get this answer, which is not whole, either.

        Those that wait longer than this request did might; how much osbctl reads is no limit of a platform.
        """
        if self.failure is Failure.TOO_LARGE:
            return ()
        waited = self.seconds if self.failure is Failure.TOO_SLOW else inf
        return [platform for platform in self.platforms if platform.record.timeout <= waited]

    @property
    def is_cut_by_httpclient(self) -> bool:
        """True if Ruby's httpclient does not read the whole body, because of its framing (session.rb)."""
        name, _, values = self.framing.lower().partition(": ")
        last = values.rpartition(" and ")[2]
        if name != "content-length":
            return name == "transfer-encoding" and "chunked" in values and last != "chunked"
        digits = re.match(r"[+-]?[0-9]+(?:_[0-9]+)*", last)  # String#to_i
        return 0 <= (int(digits[0]) if digits else 0) < len(self.body.rstrip())

    def redact(self, text: str) -> str:
        """Redact the password in received text only, because the words of a report may happen to hold it."""
        return self.options.redact_credentials(text)

    @cached_property
    def _parsed_body(self) -> tuple[Any, str]:
        return parse_json_body(self.body)

    @property
    def json(self) -> Any:
        """The value of the body. None if that is not JSON in UTF-8."""
        return self._parsed_body[0]

    @property
    def non_object_reason(self) -> str:
        """Reason why the body is not a JSON object. Empty if it is one."""
        return self._parsed_body[1]

    @cached_property
    def readings(self) -> dict[Platform, bytes]:
        """The body as JSON in UTF-8 as each platform reads it. Platforms that cannot read it are missing."""
        bodies = {each: self._converted if each.record.uses_httpclient else self.body for each in EVERY}
        if not self.non_object_reason:
            return bodies
        read = {each: read_as_platform(bodies[each], loosely=each.record.reads_loose_json) for each in EVERY}
        return {platform: body for platform, body in read.items() if body is not None}

    @cached_property
    def holds_catalog(self) -> bool:
        """True if some platform reads a catalog in the answer."""
        for body in dict.fromkeys(self.readings.values()) if self.status == 200 else ():
            with suppress(ValueError, RecursionError):
                value = json.loads(body)  # which takes NaN, too
                if isinstance(value, dict) and has_services(value):
                    return True
        return False

    @property
    def charset(self) -> str:
        """The charset of the Content-Type if it is one of a byte a character, in which Ruby's httpclient reads JSON."""
        content_type = self.headers.get("content-type", "")
        charset = re.search(r';\s*charset="?(iso-8859-\d+|windows-125\d)\b', content_type, re.IGNORECASE)
        return charset[1] if charset else ""

    @property
    def _converted(self) -> bytes:
        """The body in UTF-8, from its charset; unchanged if it is not in that."""
        try:
            return self.body.decode(self.charset or "utf-8").encode()
        except (LookupError, UnicodeDecodeError):
            return self.body

    @property
    def media_type(self) -> str:
        """Media type of the body, without parameters; the first of several."""
        return re.split("[;,]", self.headers.get("content-type", ""))[0].strip().lower()


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


class Probe(NamedTuple):
    """A request, and requirements of its reply: one whose status is not `allowed` breaks `rule`.

    It asks `path`, if that is not empty, with `header_changes`: headers with other values, or None to omit them.
    `variation` says in a report what is special about it. Where the catalog is served all the same, it breaks
    `open_rule`. `compare` compares an allowed reply with the first one; it gets every reply where `allowed` is empty.
    `always`: also check a reply with the status of the first. `tests` names what it tests, as others may, too.
    """

    variation: str = ""
    header_changes: Mapping[str, str | None] = {}
    rule: str = ""
    allowed: tuple[int, ...] = ()
    compare: Callable[[Reply, Reply], Iterable[Fault]] | None = None
    path: str = ""
    open_rule: str = ""
    always: bool = False
    tests: str = ""

    def find_faults(self, first_reply: Reply, reply: Reply) -> Iterable[Fault]:
        """The faults of a reply; `first_reply` is the reply to the valid request."""
        if not self.allowed or reply.status in self.allowed:
            return self.compare(first_reply, reply) if self.compare else ()
        rule = self.open_rule if self.open_rule and reply.holds_catalog else self.rule
        wanted = self.allowed[0]
        severity = Severity.ERROR if reply.status >= 500 and wanted != 200 else None
        return [Fault(rule, f"answered {reply.status}, not {wanted}", reply, severity)]


class Exchange:
    """Asks one broker, each time on a connection of its own, as `platforms` do that ask once an hour.

    `tested` are the names of what was asked, each once, in order.
    """

    def __init__(self, address: str, options: ConnectionOptions, platforms: Collection[Platform] = EVERY) -> None:
        self.address, self.options, self.platforms = address, options, platforms
        self.name, self.tested = options.redact_address(address), dict[str, None]()
        parts = urlsplit(address)
        self.path, self.secure = parts.path, parts.scheme == "https"

    def send_request(self, probe: Probe, max_seconds: float = inf) -> Reply:
        """Send the request of a probe, which ends after `max_seconds`. Failures are in the reply."""
        options = self.options
        self.tested[probe.tests] = None
        usual = {**request_headers(options), "Accept-Encoding": SKIP_HEADER, "Connection": "close"}
        sent = {name: value for name, value in {**usual, **probe.header_changes}.items() if value is not None}
        url = urlunsplit(urlsplit(self.address)._replace(path=probe.path)) if probe.path else self.address
        request, login = f"GET {options.redact_address(probe.path or self.path)}", sent.get("Authorization", "")
        reply = Reply(request, probe.variation, sent=login, options=options, platforms=self.platforms)
        bounded = replace(options, total_seconds=min(max_seconds, options.total_seconds))
        body = bytearray()
        began = time.monotonic()
        with HttpClient(self.address, bounded) as client:
            try:
                response = client.send_get(url, sent)
                reply.status, reply.interim = response.status, client.interim
                reply.framing = find_bad_framing(response.headers, client.stray_line)
                # Those of one name joined: `items()` has each, of which a dict would keep the last.
                reply.headers = {name.lower(): response.headers[name] for name in response.headers}
                for piece in read_body_chunks(response, client):
                    body += piece
            except SourceError as error:
                reply.fault = error.message.removeprefix(f"{client.name}: ")
                reply.no_response = error if isinstance(error, NoResponseError) else None
                reply.failure = error.kind if isinstance(error, ResponseError) else None
        reply.body = bytes(body)
        reply.seconds = time.monotonic() - began
        return reply


def merge_faults(faults: Iterable[Fault], platforms: Collection[Platform] = EVERY) -> tuple[Finding, ...]:
    """Make one finding for all requests that show the same fault, with those of `platforms` that refuse it."""
    groups: dict[tuple[object, ...], list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.rule, fault.text, fault.severity, fault.hint), []).append(fault)
    return tuple(_finding_from_faults(group, platforms) for group in groups.values())


def _finding_from_faults(group: list[Fault], platforms: Collection[Platform]) -> Finding:
    rule, fault_text, _, severity, _, hint = group[0]
    record = RULES[rule]
    variations: dict[str, list[str]] = {}
    for reply in (fault.reply for fault in group if fault.reply):
        variations.setdefault(reply.request, []).append(reply.variation)
    text = " and ".join(_format_request(request, each) for request, each in variations.items())
    message = escape_line(f"{text}: {fault_text}" if text else fault_text)
    refusing = {platform for fault in group for platform in fault.refused_by or ()}
    if any(fault.refused_by is None for fault in group):
        refusing |= set(record.refused_by)
    refused = tuple(platform for platform in EVERY if platform in refusing and platform in platforms)
    return Finding(rule, severity or record.severity, message, refused_by=refused, hint=hint)


def _format_request(request: str, variations: list[str]) -> str:
    """A request with its variations, of which an empty one is the request as it should be."""
    special = ", ".join(filter(None, variations))
    if not special:
        return request
    return f"{request}, also {special}" if "" in variations else f"{request} {special}"
