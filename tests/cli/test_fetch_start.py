"""`osbctl fetch --start`: a broker that is started, asked and stopped with its children."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.program import environment, forked
from tests.deploy.running import free_port

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
        deadline = time.monotonic() + 30
        while not (tmp_path / "pids").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        os.kill(running.pid, number)
        assert running.wait(30) == 130
    assert gone(tmp_path)


def test_a_program_that_does_not_listen_to_signals_is_killed(tmp_path: Path, command: str) -> None:
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    (tmp_path / "broker.py").write_text(f"{stubborn}{BROKER}")
    forked("fetch", f"http://127.0.0.1:{free_port()}", "--start", command, cwd=tmp_path, code=0)
    assert gone(tmp_path)
