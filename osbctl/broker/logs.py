"""Logs of the broker: events on standard error, one line per request on standard output.

A request's line has time, client address, method, path, status, bytes of the body, duration, label of
the credential, request identity; never a query, an Authorization header, a password or a body. Text before an `@` in
a target may be userinfo (RFC 3986 §3.2.1) and is removed.
"""

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from select import PIPE_BUF
from typing import Generic, TypeVar

from osbctl.broker.authenticator import Decision
from osbctl.text import escape_ci_commands, escape_line

T = TypeVar("T")
_log = logging.getLogger("osbctl.broker")


class LineWriter(Generic[T]):
    """A bounded queue and the thread that writes it to `output`, a descriptor. Lost items are counted and reported.

    `to_line` formats an item, in that thread. `seconds` is the interval of writes, `limit` the maximum queue length.
    `name` is for the warning when writing begins to fail. Without it there is no warning.
    """

    def __init__(
        self, output: int, to_line: Callable[[T], str], *, name: str = "", seconds: float = 0.1, limit: int = 10_000
    ) -> None:
        self._output, self._to_line, self._seconds, self._limit = output, to_line, seconds, limit
        self._items: deque[T] = deque()
        self._lost = 0
        self._name, self._is_failing = name, False
        self._some = threading.Event()
        self._stop = threading.Event()
        self.thread = threading.Thread(target=self._write_until_closed, name="log writer", daemon=True)
        self.thread.start()

    def add(self, item: T) -> None:
        """Queue an item. Never blocks."""
        if len(self._items) >= self._limit:
            self._lost += 1
            return
        self._items.append(item)
        if not self._some.is_set():
            self._some.set()

    def close(self) -> None:
        """Write the remaining items, for at most two seconds, and end the thread."""
        self._stop.set()
        self._some.set()
        self.thread.join(2)

    def _write_until_closed(self) -> None:
        while not self._stop.is_set():
            self._some.wait()
            self._stop.wait(self._seconds)
            self._some.clear()
            self._write_queued_lines()
        self._write_queued_lines()

    def _write_queued_lines(self) -> None:
        """Write what is queued now, and how many lines were lost before it; what cannot be written is lost."""
        lines, lost, self._lost = [], self._lost, 0
        for _ in range(len(self._items)):
            try:
                lines.append(self._to_line(self._items.popleft()))
            except Exception:  # one item that cannot be formatted must not end the thread
                lost += 1
        unwritten = lost + len(lines)
        if lost:
            lines.append(json.dumps({"event": "lost", "lines": lost}))
        parts = [b""]
        for line in lines:
            data = escape_ci_commands(line).encode() + b"\n"
            if len(parts[-1]) + len(data) <= PIPE_BUF:  # such a write is atomic on a shared pipe
                parts[-1] += data
            else:
                parts.append(data)
        try:
            for part in parts:
                written = 0
                while written < len(part):
                    written += os.write(self._output, part[written:])
            self._is_failing = False
        except OSError as error:
            self._lost += unwritten
            if self._name and not self._is_failing:
                _log.warning("%s cannot be written, lines are lost: %s", self._name, error.strerror)
            self._is_failing = True


LONGEST = 1024
"""Maximum number of logged characters of a path or identity."""

LONGEST_METHOD = 32


@dataclass(slots=True)
class Entry:
    """A request in the access log.

    `started` is its monotonic arrival, and `sent_before` the number of bytes that its connection sent before its body.
    `finalize` computes `duration`, in seconds, and `size`, the number of body bytes sent. It also truncates the
    client's texts: thousands of entries wait if the log has no reader. `client` is a normalized address or `unix`.
    """

    time: float
    started: float
    client: str
    method: str
    path: str
    status: str
    sent_before: int
    decision: Decision | None
    identity: str
    duration: float = 0.0
    size: int = 0

    def finalize(self, sent_bytes: int) -> None:
        """Compute duration and size, and truncate and redact texts; `sent_bytes` is the connection's total."""
        self.duration = time.monotonic() - self.started
        self.size = max(0, sent_bytes - self.sent_before)
        self.method = self.method[:LONGEST_METHOD]
        self.path = _redact_target(self.path)
        self.identity = self.identity[:LONGEST]


def _redact_target(target: str) -> str:
    """The target of a request without userinfo and query, cut short."""
    if target.startswith("/") and not target.startswith("//"):  # a path has no userinfo
        target = target.partition("?")[0]
    userinfo, at, rest = target.rpartition("@")
    if "?" in userinfo:  # a query that holds an @, or userinfo that holds a ?
        return "***"
    return ("***@" if at else "") + rest.partition("?")[0][:LONGEST]


def format_json_line(entry: Entry) -> str:
    fields = {
        "event": "request",
        "time": format_timestamp(entry.time),
        "client": entry.client,
        "method": entry.method,
        "path": entry.path,
        "status": int(entry.status),
        "bytes": entry.size,
        "duration_ms": round(entry.duration * 1000, 3),
        "credential": entry.decision.label if entry.decision else "",
        "request_identity": entry.identity,
    }
    return json.dumps(fields)


def format_text_line(entry: Entry) -> str:
    path = _quote_text(f"{entry.method} {entry.path}")
    line = f"{format_timestamp(entry.time)} {entry.client} {path} {entry.status} {entry.size}"
    line += f" {entry.duration * 1000:.3f}ms"
    if entry.decision and entry.decision.label:
        line += f" credential={_quote_text(entry.decision.label)}"
    if entry.identity:
        line += f" request_identity={_quote_text(entry.identity)}"
    return line


def _quote_text(text: str) -> str:
    """Quote text, escaping control characters and quotes, so that it cannot forge a field."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return json.dumps(text)


def format_timestamp(epoch_seconds: float) -> str:
    """Format a time in UTC with milliseconds (RFC 3339)."""
    return datetime.fromtimestamp(epoch_seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


STANDARD_ERROR = 2

LOGGERS = ("osbctl.broker", "waitress")


class TextFormatter(logging.Formatter):
    """`time LEVEL message`, control characters escaped so that a request cannot forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{format_timestamp(record.created)} {record.levelname} {escape_line(super().format(record))}"


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(
            {
                "event": "log",
                "time": format_timestamp(record.created),
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": super().format(record),
            }
        )


class _NonBlockingHandler(logging.Handler):
    """Writes in another thread: a pipe without a reader must not block serving or shutdown."""

    def __init__(self) -> None:
        super().__init__()
        self._writer: LineWriter[str] = LineWriter(STANDARD_ERROR, str, seconds=0)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._writer.add(self.format(record))
        except Exception:  # like the handlers of `logging`: a faulty message ends nothing
            self.handleError(record)

    def close(self) -> None:
        """Flush; called at exit (`logging.shutdown`)."""
        self._writer.close()
        super().close()


def configure_logging(log_format: str, level: int = logging.INFO) -> None:
    """Send the broker's loggers to standard error. `log_format` is `text` or `json`."""
    handler = _NonBlockingHandler()
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level)
