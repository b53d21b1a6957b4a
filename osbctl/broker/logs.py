"""The log of the broker: one line an event on standard error, as text or JSON, safe for a terminal."""

from __future__ import annotations

import json
import logging

from osbctl.broker.access_log import timestamp
from osbctl.broker.lines import LineWriter

STANDARD_ERROR = 2

LOGGERS = ("osbctl.broker", "waitress")


class TextLines(logging.Formatter):
    """`time LEVEL message`, control characters escaped so that a request cannot forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{timestamp(record.created)} {record.levelname} {_escaped(_message(self, record))}"


class JsonLines(logging.Formatter):
    """The same as one JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(
            {
                "event": "log",
                "time": timestamp(record.created),
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": _message(self, record),
            }
        )


def _message(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    text = record.getMessage()
    return f"{text}\n{formatter.formatException(record.exc_info)}" if record.exc_info else text


def _escaped(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class _Lines(logging.Handler):
    """Hands lines to a thread: a pipe that nobody reads stops neither serving nor stopping."""

    def __init__(self) -> None:
        super().__init__()
        self._writer: LineWriter[str] = LineWriter(STANDARD_ERROR, str, seconds=0)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._writer.add(self.format(record))
        except Exception:  # as the handlers of `logging` do: a mistake in a message ends nothing
            self.handleError(record)

    def close(self) -> None:
        """Called at the end of the process (`logging.shutdown`)."""
        self._writer.close()
        super().close()


def set_up(log_format: str, level: int = logging.INFO) -> None:
    """Send the broker's loggers to standard error. `log_format` is `text` or `json`."""
    handler = _Lines()
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level)
