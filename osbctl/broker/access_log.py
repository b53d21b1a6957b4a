"""One line a request.

What is in a line: time, client address, method, path, status, bytes of the body, duration, label of
the credential, request identity. Never a query, an Authorization header, a password or a body: what
stands before an `@` in a target may be userinfo (RFC 3986 §3.2.1) and is left out.
"""

from __future__ import annotations

import json
import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from osbctl.broker.lines import LineWriter

if TYPE_CHECKING:
    from osbctl.broker.decision import Decision

LONGEST = 1024
"""Characters of a path or identity that are logged."""

LONGEST_METHOD = 32

_BARE = re.compile(r"[0-9A-Za-z.:]*")
"""An address that needs no quotes. One with a zone does: a proxy may pass on any text as its zone."""


class Entry(NamedTuple):
    """A request. `started` is its monotonic arrival and `size` the count of bytes sent before its body;

    after `close` they are the duration in seconds and the bytes of the body that were sent.
    """

    time: float
    started: float
    client: str
    method: str
    path: str
    status: str
    size: int
    decision: Decision | None
    identity: str

    @property
    def label(self) -> str:
        """Of the credential that let the request in; empty where none did."""
        return self.decision.label if self.decision else ""

    def close(self, sent_bytes: int) -> Entry:
        """The finished entry; `sent_bytes` is what the connection had sent in all."""
        then, started, client, method, path, status, size, decision, identity = self
        duration, body = time.monotonic() - started, max(0, sent_bytes - size)
        return Entry(then, duration, client, method, path, status, body, decision, identity)


AccessLog: TypeAlias = LineWriter[Entry]


def fields(entry: Entry) -> dict[str, str | int | float]:
    """The finished entry under the names that a JSON line has."""
    return {
        "time": timestamp(entry.time),
        "client": entry.client,
        "method": entry.method[:LONGEST_METHOD],
        "path": _path(entry.path),
        "status": int(entry.status),
        "bytes": entry.size,
        "duration_ms": round(entry.started * 1000, 3),
        "credential": entry.label,
        "request_identity": entry.identity[:LONGEST],
    }


def as_json(entry: Entry) -> str:
    return _dump({"event": "request", **fields(entry)})


def as_text(entry: Entry) -> str:
    """Written out rather than made of `fields`: this is done for every request."""
    path = _quoted(f"{entry.method[:LONGEST_METHOD]} {_path(entry.path)}")
    client = entry.client if _BARE.fullmatch(entry.client) else _quoted(entry.client)
    line = f"{timestamp(entry.time)} {client} {path} {entry.status} {entry.size}"
    line += f" {entry.started * 1000:.3f}ms"
    if entry.label:
        line += f" credential={_quoted(entry.label)}"
    if entry.identity:
        line += f" request_identity={_quoted(entry.identity[:LONGEST])}"
    return line


def _quoted(text: str) -> str:
    """In quotes, without control characters for a terminal to obey or quotes to forge a field with."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return _dump(text)


def _dump(value: object) -> str:
    """JSON in printable ASCII: `json` leaves DEL as it is."""
    return json.dumps(value).replace("\x7f", "\\u007f")


def _path(target: str) -> str:
    """The path of a request's target, without query and without what may be userinfo."""
    _, userinfo, rest = target.rpartition("@")
    return ("***@" if userinfo else "") + rest.partition("?")[0][:LONGEST]


def timestamp(seconds: float) -> str:
    """UTC with milliseconds (RFC 3339)."""
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1000):03d}Z"


@lru_cache(maxsize=4)
def _second(whole: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
