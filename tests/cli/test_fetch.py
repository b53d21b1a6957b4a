"""`osbctl fetch` as a whole process, of brokers that answer anything."""

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from osbctl.errors import UsageError
from osbctl.text import escape_line
from tests.broker.harness import until
from tests.case import each
from tests.cli.machine import Machine
from tests.cli.program import commands, environment, failure, forked
from tests.client.test_catalog_client import broker, http
from tests.conformance.faulty import CATALOG, PASSWORD, USER, faulty
from tests.deploy.running import free_port


def test_the_catalog_comes_as_it_is(machine: Machine) -> None:
    with faulty() as (address, _):
        options = ("--user", USER, "--password-stdin")
        base = address.removesuffix("/v2/catalog")
        assert json.loads(machine.run("fetch", base, *options, stdin=PASSWORD)) == CATALOG
        machine.run("fetch", address, *options, "-o", "catalog.json", stdin=PASSWORD)
        assert json.loads((machine.folder / "catalog.json").read_text()) == CATALOG


def test_what_is_printed_steers_no_terminal_and_no_ci_system(machine: Machine) -> None:
    body = '{"services": [], "a": "##vso[task.x]\x9b2J \U0001f418"}'
    with broker(http("200 OK", body.encode())) as (address, _):
        printed = machine.run("fetch", address)
        machine.run("fetch", address, "-o", "catalog.json")
    assert json.loads(printed) == json.loads(body)
    assert escape_line(printed.rstrip()) == printed.rstrip()
    assert (machine.folder / "catalog.json").read_text() == body + "\n"


@each(
    "body, told",
    [
        (b"{}\n--\n", "not a JSON object: extra data at line 2, column 1"),
        (b'{"a": "\xe9"}', "not a JSON object: it is not UTF-8"),
        (b'{"services": NaN}', "not a JSON object: NaN is not JSON"),
        (b'{"services": [-Infinity]}', "not a JSON object: -Infinity is not JSON"),
    ],
)
def test_what_is_no_json_is_not_written(tmp_path: Path, body: bytes, told: str) -> None:
    with broker(http("200 OK", body)) as (address, _):
        assert told in failure("fetch", address, "-o", "catalog.json", cwd=tmp_path, code=3)
    assert not (tmp_path / "catalog.json").exists()


@each(
    "words, told",
    [
        *(((command, "--user", USER), f"there is no password for {USER}") for command in ("fetch", "check")),
        (("fetch", "--user", USER), "OSBCTL_PASSWORD"),
        (("fetch", "--api-version", "2.14\nX-Injected: 1"), "error: --api-version "),
        *((("fetch", "--timeout", value), "error: --timeout ") for value in ("inf", "-inf", "nan", "0", "-1")),
        *(
            (("fetch", "--api-version", version), "is not an API version")
            for version in ("abc", "2", "2.14\n", "2.1\r\n4", "2.14.0", "\u0662.14")
        ),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_sent(words: tuple[str, ...], told: str) -> None:
    with faulty() as (address, server):
        assert told in failure(*words, address, code=2)
        assert server.asked == 0


def test_every_command_that_waits_refuses_a_time_that_is_none() -> None:
    """Each number with a point of any command: what `inf` and its like do to a socket is no matter of one command."""
    numbers = [(command, one) for command in commands().values() for one in command.params if one.type.name == "float"]
    for command, parameter in numbers:
        for value in ("inf", "-inf", "nan", "0", "-1", "1e400"):
            with pytest.raises(UsageError, match=r"--timeout .* is not a number of seconds to wait"):
                parameter.process_value(click.Context(command), value)
    assert len(numbers) >= 7


@each("command", ["fetch", "check", "diff", "drift"])
def test_a_query_is_not_printed(machine: Machine, command: str) -> None:
    machine.output = ""
    (machine.folder / "catalog.json").write_text(json.dumps(CATALOG))
    words = ["catalog.json"] if command in ("diff", "drift") else []
    words += ["--user", USER, "--password-stdin"]
    form = [] if command == "fetch" else ["--format", "json"]
    with faulty() as (address, _):
        asked = f"{address}?key=hunter2"
        machine.run(command, asked, *words, *form, stdin=PASSWORD)
        machine.run(command, asked, *words, *form, stdin="wrong", code=3)
    machine.run(command, asked, *words, stdin=PASSWORD, code=3)
    assert f"{address}?***: " in machine.output
    assert "hunter2" not in machine.output


@each("word", ["HTTPS://u:hunter2@host/", "ftp://u:hunter2@host/", "postgres://u:hunter2@host/x"])
@each("command", ["validate", "show", "build"])
def test_an_address_that_is_taken_for_a_file_is_not_printed(machine: Machine, command: str, word: str) -> None:
    machine.run(command, word, code=3 if command == "build" else 2)
    assert "hunter2" not in machine.output


# A broker that is started, asked and stopped with its children.

BROKER = """
import http.server, json, os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pids", "w").write(f"{os.getpid()} {child.pid}")
print("listening soon, password", os.environ.get("OSBCTL_PASSWORD"), flush=True)
time.sleep(0.3)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(os.environ.get("STATUS", "200")))
        self.end_headers()
        self.wfile.write(json.dumps({"services": []}).encode())
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


@pytest.fixture
def command(tmp_path: Path) -> str:
    (tmp_path / "broker.py").write_text(BROKER)
    return shlex.join([sys.executable, "broker.py"])


def gone(folder: Path) -> bool:
    """Return whether the program and its child have ended."""
    return not any(alive(int(pid)) for pid in (folder / "pids").read_text().split())


def alive(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


def test_a_broker_is_started_asked_and_stopped(tmp_path: Path, command: str) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    done = forked("fetch", url, "--start", command, "-o", "c.json", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "c.json").read_text()) == {"services": []}
    assert gone(tmp_path)


def test_what_it_printed_is_shown_where_it_fails(tmp_path: Path, command: str) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    secrets = {"OSBCTL_PASSWORD": "s3cret-s3cret", "STATUS": "401"}
    done = forked("fetch", url, "--user", "u", "--start", command, cwd=tmp_path, **secrets, code=3)
    assert done.stderr.startswith("  | listening soon, password ***\n")
    assert "authentication failed (401)" in done.stderr
    assert "s3cret" not in done.stderr
    assert gone(tmp_path)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("sh -c 'echo no database; exit 7'", ("  | no database\n", "the program has ended with 7, before it answered")),
        ("sleep 600", ("did not answer within 1 seconds", "give it more time: --wait")),
        ("no-such-program", ("no-such-program: cannot be started: No such file or directory",)),
        ("'", ("No closing quotation",)),
        (" ", ("there is no command",)),
    ],
)
def test_a_program_that_does_not_come_up(tmp_path: Path, start: str, words: tuple[str, ...]) -> None:
    done = forked("fetch", f"http://127.0.0.1:{free_port()}", "--wait", "1", "--start", start, cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert all(word in done.stderr for word in words), done.stderr


def test_what_listens_already_is_not_taken_for_it(tmp_path: Path, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = forked("fetch", f"http://127.0.0.1:{server.getsockname()[1]}", "--start", command, cwd=tmp_path)
    assert done.returncode == 3
    assert "something else listens at 127.0.0.1" in done.stderr
    assert not (tmp_path / "pids").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_is_stopped_where_the_command_is_ended(tmp_path: Path, command: str, number: int) -> None:
    words = ["fetch", f"http://127.0.0.1:{free_port()}", "--start", f"{command} --never"]
    (tmp_path / "broker.py").write_text(BROKER.replace("time.sleep(0.3)", "time.sleep(600)"))
    with subprocess.Popen([sys.executable, "-m", "osbctl", *words], cwd=tmp_path, env=environment()) as running:
        assert until(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text(), 30)
        os.kill(running.pid, number)
        assert running.wait(30) == 130
    assert gone(tmp_path)


def test_a_program_that_does_not_listen_to_signals_is_killed(tmp_path: Path, command: str) -> None:
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    (tmp_path / "broker.py").write_text(f"{stubborn}{BROKER}")
    forked("fetch", f"http://127.0.0.1:{free_port()}", "--start", command, cwd=tmp_path, code=0)
    assert gone(tmp_path)
