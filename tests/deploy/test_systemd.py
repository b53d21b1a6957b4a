"""The units: what systemd says of them, osbctl on its socket with what the sandbox leaves, and a restart behind nginx."""

import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.broker.harness import ask as raw_ask
from tests.broker.harness import until
from tests.broker.processes import Crowd
from tests.cli.warm import Fork
from tests.deploy.harness import CATALOG, DEPLOY, run, shim
from tests.deploy.running import GOOD, ask, free_port, started
from tests.deploy.test_front import accepts, nginx_config

UNITS = DEPLOY / "systemd"
PR_SET_MDWE, REFUSE_GAIN = 65, 1


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def command_of(unit: Path, folder: Path) -> list[str]:
    """ExecStart with the specifier and the paths as they are here: `%d` is `folder`."""
    text = re.findall(r"^ExecStart=(.+)$", unit.read_text(), re.MULTILINE)[-1]
    text = text.replace("%d", str(folder)).replace("/etc/osbctl/catalog.json", str(CATALOG))
    text = text.replace("/opt/osbctl/bin/osbctl", str(shim(folder / "bin/osbctl")))
    return shlex.split(text.replace("127.0.0.1:909%i", f"127.0.0.1:{free_port()}"))


@pytest.fixture
def loaded(tmp_path: Path, pair: tuple[Path, Path], credentials: Path) -> Path:
    """The folder of credentials that systemd would make."""
    folder = tmp_path / "credentials"
    folder.mkdir()
    shutil.copy(credentials, folder / "credentials.json")
    shutil.copy(pair[0], folder / "tls.crt")
    shutil.copy(pair[1], folder / "tls.key")
    return folder


@pytest.fixture
def command(loaded: Path) -> list[str]:
    return command_of(UNITS / "osbctl@.service", loaded)


@needs("systemd-analyze")
def test_systemd_verifies_the_units(tmp_path: Path) -> None:
    units = [tmp_path / name for name in ("osbctl@.service", "osbctl.socket")]
    for drop_in in (False, True):
        for unit in units:
            text = (UNITS / unit.name).read_text()
            if drop_in:  # it is what comes last
                text += (UNITS / "front" / f"{unit.suffix[1:]}.conf").read_text()
            unit.write_text(text.replace("/opt/osbctl/bin/osbctl", str(shim(tmp_path / "osbctl"))))
        done = run("systemd-analyze", "verify", *units, cwd=tmp_path)
        assert (done.returncode, done.stdout + done.stderr) == (0, ""), drop_in


@needs("systemd-analyze")
def test_the_exposure_is_below_3(tmp_path: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=30", "--no-pager"]
    done = run(*command, UNITS / "osbctl@.service", cwd=tmp_path, code=0)
    found = re.search(r"Overall exposure level for osbctl@\S*service: ([\d.]+)", done.stdout)
    assert found
    assert float(found[1]) < 3


@pytest.mark.parametrize("name", ["osbctl@.service", "front/service.conf"])
def test_each_named_credential_is_loaded(name: str) -> None:
    text = (UNITS / name).read_text()
    assert set(re.findall(r"%d/(\S+)", text)) == set(re.findall(r"^LoadCredential=([^:\n]+):", text, re.MULTILINE))


@needs("systemd-socket-activate")
def test_a_socket_of_systemd_starts_it(tmp_path: Path, command: list[str], trust: ssl.SSLContext) -> None:
    port = free_port()
    activate = ["systemd-socket-activate", f"--listen=127.0.0.1:{port}", "--setenv=PATH", *command]
    with started(activate, tmp_path, "Listening on") as program:
        assert "serving" not in program.log  # it starts with the first connection
        status, headers, _ = ask(port, trust)
        assert (status, "etag" in headers) == (200, True)
        assert f"listening on https://127.0.0.1:{port}" in program.log
        # ExecReload
        os.kill(program.process.pid, signal.SIGHUP)
        assert until(lambda: "reloaded" in program.log)


@needs("systemd-socket-activate")
def test_behind_a_front_the_socket_is_a_file_of_systemd(tmp_path: Path, loaded: Path) -> None:
    path = tmp_path / "osbctl.sock"
    front = command_of(UNITS / "front/service.conf", loaded)
    activate = ["systemd-socket-activate", f"--listen={path}", "--setenv=PATH", *front]
    asked = "GET /v2/catalog HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n"
    asked += "".join(f"{name}: {value}\r\n" for name, value in GOOD.items())
    with started(activate, tmp_path, "Listening on"), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(path))
        assert raw_ask(client, f"{asked}\r\n".encode())[0] == 200
    assert path.exists()


FORBID = f"""
import ctypes, os, sys
ctypes.CDLL(None).prctl({PR_SET_MDWE}, {REFUSE_GAIN}, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""The effect of MemoryDenyWriteExecute=, set with prctl (Linux 6.3), for the program in argv."""


def test_it_needs_no_writable_and_executable_memory(tmp_path: Path, command: list[str], trust: ssl.SSLContext) -> None:
    forbid = [sys.executable, "-c", FORBID]
    probe = "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)"
    if run(*forbid, sys.executable, "-c", probe, cwd=tmp_path).returncode == 0:
        pytest.skip("this kernel cannot forbid executable memory")
    port = free_port()
    with started([*forbid, *command, f"--port={port}"], tmp_path, "credentials: "):
        assert ask(port, trust)[0] == 200


SEEN = {"accept4", "execve"}
"""System calls that the broker makes in any case."""


def filtered() -> set[str]:
    """The system calls that SystemCallFilter= leaves."""
    groups, left = listed_groups(), set[str]()
    for line in re.findall(r"^SystemCallFilter=(.*)$", (UNITS / "osbctl@.service").read_text(), re.MULTILINE):
        calls = {call for name in line.removeprefix("~").split() for call in calls_of(name, groups)}
        left = left - calls if line.startswith("~") else left | calls
    return left | calls_of("@default", groups)


def listed_groups() -> dict[str, list[str]]:
    """The groups of systemd: each has names of system calls and of other groups."""
    groups: dict[str, list[str]] = {}
    for line in run("systemd-analyze", "syscall-filter", "--no-pager", cwd=Path("/")).stdout.splitlines():
        if line.startswith("@"):
            names = groups.setdefault(line, [])
        elif line.startswith(" ") and not line.lstrip().startswith("#"):
            names.append(line.strip())
    return groups


def calls_of(name: str, groups: dict[str, list[str]]) -> set[str]:
    if not name.startswith("@"):
        return {name}
    return {call for part in groups[name] for call in calls_of(part, groups)}


@needs("strace")
@needs("systemd-analyze")
def test_it_makes_no_forbidden_system_call(tmp_path: Path, command: list[str], trust: ssl.SSLContext) -> None:
    if run("strace", "-f", "true", cwd=tmp_path).returncode:
        pytest.skip("processes may not be traced here")
    port, trace, allowed = free_port(), tmp_path / "trace", filtered()
    # Only what is not allowed stops the program, and what shows that it was traced: else it takes twice the time.
    unseen = ",".join(f"?{call}" for call in sorted(allowed - SEEN))
    traced = ["strace", "-f", "-qq", "--seccomp-bpf", f"--trace=!{unseen}", "-o", str(trace)]
    traced += [*command, f"--port={port}"]
    with started(traced, tmp_path, "credentials: ", code=None) as program:
        assert ask(port, trust)[0] == 200
        assert ask(port, trust, Authorization="Basic cGxhdGZvcm06d3Jvbmc=")[0] == 401
        child = int(trace.read_text().split()[0])
        os.kill(child, signal.SIGHUP)
        assert until(lambda: "reloaded" in program.log)
        os.kill(child, signal.SIGTERM)
        assert program.process.wait(60) == 0
    made = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.MULTILINE))
    assert made >= SEEN
    assert made <= allowed


@dataclass
class Clients(Crowd):
    """Platforms that ask through a front, each time on a new connection."""

    answers: Counter[int | str] = field(default_factory=Counter)

    def ask(self) -> None:
        try:
            self.answers[ask(self.port, self.trust)[0]] += 1
        except OSError as error:
            self.answers[repr(error)] += 1


def instance(folder: Path, loaded: Path, listener: socket.socket) -> Fork:
    """A process as `systemctl start osbctl@N` makes it, with front/service.conf, once it serves."""
    folder.mkdir()
    log = folder / "log"
    _, *words = command_of(UNITS / "front/service.conf", loaded)
    with log.open("wb") as file:
        process = Fork("osbctl.__main__", words, (file.fileno(), file.fileno()), sockets=[listener])
    assert until(lambda: "credentials: " in log.read_text() or process.poll() is not None), log.read_text()
    assert process.poll() is None, log.read_text()
    return process


@needs("nginx")
def test_a_process_is_restarted_behind_nginx_without_a_lost_request(
    tmp_path: Path, loaded: Path, pair: tuple[Path, Path], trust: ssl.SSLContext
) -> None:
    """Requests wait in the queue of the socket until the next one has started."""
    path, port = tmp_path / "osbctl.sock", free_port()
    nginx = nginx_config(tmp_path, (DEPLOY / "nginx/osbctl.conf").read_text(), port, pair, path)
    clients = Clients(port, trust)
    with socket.socket(socket.AF_UNIX) as listener, ExitStack() as stack:
        listener.bind(str(path))
        path.chmod(0o666)  # instead of SocketGroup=
        listener.listen(1024)

        def start(name: str) -> Fork:
            process = instance(tmp_path / name, loaded, listener)
            stack.callback(process.wait, 30)
            stack.callback(process.kill)
            return process

        first = start("osbctl@1")
        stack.enter_context(started(nginx, tmp_path, "start worker processes", code=None, cwd=tmp_path))
        assert until(lambda: accepts(port))

        def some_are_answered() -> bool:
            before = clients.answers[200]
            return until(lambda: clients.answers[200] > before + 10)

        with clients.running(4):
            assert some_are_answered()
            first.terminate()
            assert first.wait(60) == 0
            start("again")
            assert some_are_answered()
    assert set(clients.answers) == {200}
