"""Access log: a client cannot put a secret into a line, or forge a field."""

import json
import logging
import os
import re
import subprocess
import sys
import time

import pytest

from osbctl.broker.authenticator import Decision, RequestOutcome
from osbctl.broker.logs import (
    LOGGERS,
    STANDARD_ERROR,
    Entry,
    JsonFormatter,
    LineWriter,
    TextFormatter,
    configure_logging,
    format_json_line,
    format_text_line,
)
from tests.broker.harness import Broker, ask, until
from tests.cli.program import restored_loggers


def entry(method: str = "GET", path: str = "/v2/catalog", identity: str = "") -> Entry:
    accepted = Decision(RequestOutcome.ACCEPTED, "main")
    begun = Entry(0, time.monotonic(), "192.0.2.1", method, path, "200", 0, accepted, identity)
    begun.finalize(3)
    return begun


@pytest.mark.parametrize(("target", "shown"), [
    ("/v2/catalog?secret", "/v2/catalog"),
    ("https://platform:secret@host/v2/catalog?x", "***@host/v2/catalog"),
    ("//platform:secret@host/v2/catalog", "***@host/v2/catalog"),
    ("platform:secret@host:443", "***@host:443"),
    ("https://platform:se?cr/et:secret@host/", "***"),
    ("https://host/v2/catalog?token=p@ss", "***"),
    ("//v2/catalog?token=p@ss", "***"),
    ("https://platform:p@ss@host/v2/catalog", "***@host/v2/catalog"),
    ("//v2/catalog", "//v2/catalog"),
    ("/v2/catalog?token=p@ss", "/v2/catalog"),
])  # fmt: skip
def test_a_target_is_logged_without_userinfo_and_query(target: str, shown: str) -> None:
    assert json.loads(format_json_line(entry(path=target)))["path"] == shown
    assert f' "GET {shown}" ' in format_text_line(entry(path=target))


def test_one_request_in_both_forms() -> None:
    accepted = Decision(RequestOutcome.ACCEPTED, "main")
    begun = Entry(1.0625, time.monotonic() - 2, "192.0.2.1", "GET", "/v2/catalog", "200", 100, accepted, "id")
    begun.finalize(350)
    assert 2 <= begun.duration < 60
    begun.duration = 0.0123456
    assert format_text_line(begun) == (
        '1970-01-01T00:00:01.062Z 192.0.2.1 "GET /v2/catalog" 200 250 12.346ms credential="main" request_identity="id"'
    )
    assert json.loads(format_json_line(begun)) == {
        "event": "request", "time": "1970-01-01T00:00:01.062Z", "client": "192.0.2.1", "method": "GET",
        "path": "/v2/catalog", "status": 200, "bytes": 250, "duration_ms": 12.346, "credential": "main",
        "request_identity": "id",
    }  # fmt: skip
    begun.decision = None
    assert json.loads(format_json_line(begun))["credential"] == ""
    assert format_text_line(begun).endswith(' 250 12.346ms request_identity="id"')
    begun.finalize(99)
    assert begun.size == 0, "the connection ended before the body"


def test_one_message_in_both_forms(capfd: pytest.CaptureFixture[str]) -> None:
    for log_format in ("text", "json"):
        with restored_loggers():
            configure_logging(log_format)
            assert not any(logging.getLogger(name).propagate for name in LOGGERS)
            log = logging.getLogger("waitress")
            log.handle(log.makeRecord(log.name, logging.WARNING, "", 0, "busy: %s serving", ("a\n",), None, extra=None))
            written = []
            assert until(lambda written=written: written.append(capfd.readouterr().err) or "busy" in "".join(written))
            log.handlers[0].close()
        if log_format == "text":
            text = "".join(written).strip()
    (whole,) = "".join(written).splitlines()
    assert re.sub(r"[\d-]+T[\d:.]+Z", "NOW", text) == "NOW WARNING busy: a\\n serving"
    fields = json.loads(whole)
    assert re.fullmatch(r"[\d-]+T[\d:.]+Z", fields.pop("time"))
    assert fields == {"event": "log", "level": "warning", "logger": "waitress", "message": "busy: a\n serving"}


def test_lines_beyond_the_limit_are_counted_and_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each write takes only a part, as it may of a pipe; a line that cannot be formatted is lost, too."""
    taken = bytearray()
    monkeypatch.setattr(os, "write", lambda _, data: taken.extend(data[:7]) or len(data[:7]))
    writer = LineWriter(-1, lambda item: f"{item:.1f}", seconds=60, limit=5)
    for item in (1, 2, "none", 4, "none", 6, 7, 8):
        writer.add(item)
    writer.close()
    assert not writer.thread.is_alive()
    assert taken.decode().splitlines() == ["1.0", "2.0", "4.0", '{"event": "lost", "lines": 5}']


def test_lines_share_a_write_up_to_the_size_that_a_pipe_takes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    monkeypatch.setattr(os, "write", lambda _, data: writes.append(data) or len(data))
    writer = LineWriter(-1, str, seconds=60)
    for _ in range(9):
        writer.add("x" * 1023)
    writer.close()
    assert [len(data) for data in writes] == [4096, 4096, 1024]
    assert writer.thread.daemon, "a write that waits must not hold the end of the process"


def test_long_method_is_truncated() -> None:
    assert len(format_text_line(entry(method="A" * 10_000))) < 200
    assert len(format_json_line(entry(method="A" * 10_000))) < 300


def test_client_texts_are_truncated_before_queueing(broker: Broker) -> None:
    """Ten thousand entries are kept if the log has no reader."""
    head = b"Host: b\r\nX-Broker-API-Request-Identity: " + b"i" * 5000 + b"\r\n\r\n"
    with broker.connect() as sock:
        assert ask(sock, b"GET /" + b"a" * 8000 + b" HTTP/1.1\r\n" + head)[0] == 200
        assert ask(sock, b"GET https://platform:p@ss@host/ HTTP/1.1\r\n" + head)[0] == 200
    assert until(lambda: len(broker.lines.entries) == 2)
    long, hidden = broker.lines.entries
    assert (len(long.path), len(long.identity)) == (1024, 1024)
    assert hidden.path == "***@host/"


@pytest.mark.parametrize("text", ['x" credential="root', 'x"', "x\\", '\\" credential="root', 'é" status=200'])
def test_a_quote_or_a_backslash_forges_no_field(text: str) -> None:
    line = format_text_line(entry(path=f"/{text}", identity=text))
    fields = re.findall(r' (?:(\w+)=)?("(?:[^"\\]|\\.)*")(?= |$)', line)
    assert [name for name, _ in fields] == ["", "credential", "request_identity"]
    assert [json.loads(value) for _, value in fields] == [f"GET /{text}", "main", text]


def test_control_characters_are_escaped_in_both_forms() -> None:
    for line in (format_text_line(entry(identity="\x7f\x1b\x85")), format_json_line(entry(identity="\x7f\x1b\x85"))):
        assert line.isascii()
        assert line.isprintable()


def test_ci_commands_in_paths_are_escaped(capfd: pytest.CaptureFixture[str]) -> None:
    for form in (format_text_line, format_json_line):
        lines = LineWriter(STANDARD_ERROR, form)
        lines.add(entry(path="/##vso[task.x]"))
        lines.close()
    text, whole = capfd.readouterr().err.splitlines()
    assert "#\\u0023vso[" in text
    assert "##" not in whole
    assert json.loads(whole)["path"] == "/##vso[task.x]"


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_log_message_is_one_line_without_control_characters(formatter: logging.Formatter) -> None:
    """waitress quotes requests in its messages."""
    args = ("a\r\n2027-01-01T00:00:00.000Z INFO stopped\x1b[2J\x85\u2028",)
    line = formatter.format(logging.LogRecord("waitress", logging.ERROR, __file__, 1, "refused %s", args, None))
    assert line.isprintable()
    assert "INFO stopped" in line


def test_a_broken_standard_error_does_not_delay_the_end() -> None:
    """The thread that writes it must log nothing: `logging.shutdown` holds a lock while it waits for that thread."""
    script = """
import logging, threading
from osbctl.broker.logs import configure_logging
configure_logging("text")
logging.getLogger("osbctl.broker").info("lost")
logging.shutdown()
print([thread.name for thread in threading.enumerate() if thread.name == "log writer"])
"""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=writing, check=False, text=True)
    os.close(writing)
    assert ended.stdout == "[]\n"
