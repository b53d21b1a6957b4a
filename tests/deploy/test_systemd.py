"""The unit: what systemd itself says of it, and osbctl started by its socket with what the sandbox leaves."""

from __future__ import annotations

import configparser
import ctypes
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.broker.harness import until
from tests.deploy.harness import CATALOG, DEPLOY, run, shim
from tests.deploy.running import ask, free_port, started

if TYPE_CHECKING:
    import ssl

UNITS = DEPLOY / "systemd"
PR_SET_MDWE, REFUSE_GAIN = 65, 1


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def service() -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / "osbctl.service")
    return parser["Service"]


@pytest.fixture
def command(tmp_path: Path, pair: tuple[Path, Path], credentials: Path) -> list[str]:
    """ExecStart with the specifier and the paths as they are here."""
    folder = tmp_path / "credentials"
    folder.mkdir()
    shutil.copy(credentials, folder / "credentials.json")
    shutil.copy(pair[0], folder / "tls.crt")
    shutil.copy(pair[1], folder / "tls.key")
    text = service()["ExecStart"].replace("%d", str(folder)).replace("/etc/osbctl/catalog.json", str(CATALOG))
    text = text.replace("/opt/osbctl/bin/osbctl", str(shim(tmp_path / "bin/osbctl")))
    return shlex.split(text.replace("127.0.0.1:9090", f"127.0.0.1:{free_port()}"))


@needs("systemd-analyze")
def test_systemd_verifies_the_units(tmp_path: Path) -> None:
    program = shim(tmp_path / "osbctl")
    for unit in UNITS.iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/osbctl/bin/osbctl", str(program)))
    done = run("systemd-analyze", "verify", *(tmp_path / unit.name for unit in UNITS.iterdir()), cwd=tmp_path)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs("systemd-analyze")
def test_the_exposure_is_below_3(tmp_path: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=30", "--no-pager"]
    done = run(*command, UNITS / "osbctl.service", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    found = re.search(r"Overall exposure level for osbctl.service: ([\d.]+)", done.stdout)
    assert found
    assert float(found[1]) < 3


def test_each_credential_that_is_named_is_loaded() -> None:
    text = (UNITS / "osbctl.service").read_text()
    assert set(re.findall(r"%d/(\S+)", text)) == set(re.findall(r"^LoadCredential=([^:]+):", text, re.MULTILINE))


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


def forbid_executable_memory() -> None:
    """What MemoryDenyWriteExecute= does, by the kernel's own switch (Linux 6.3)."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_MDWE, REFUSE_GAIN, 0, 0, 0)


def test_it_needs_no_memory_that_is_written_and_run(tmp_path: Path, command: list[str], trust: ssl.SSLContext) -> None:
    probe = "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)"
    denied = subprocess.run(
        ["python3", "-c", probe], preexec_fn=forbid_executable_memory, capture_output=True, check=False
    )
    if denied.returncode == 0:
        pytest.skip("this kernel cannot forbid executable memory")
    port = free_port()
    with started([*command, f"--port={port}"], tmp_path, "credentials: ", preexec=forbid_executable_memory):
        assert ask(port, trust)[0] == 200


def filtered() -> set[str]:
    """The system calls that SystemCallFilter= leaves."""
    left: set[str] = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", (UNITS / "osbctl.service").read_text(), re.MULTILINE):
        groups = line.removeprefix("~").split()
        calls = {call for group in groups for call in calls_of(group)}
        left = left - calls if line.startswith("~") else left | calls
    return left | calls_of("@default")


def calls_of(group: str) -> set[str]:
    listed = run("systemd-analyze", "syscall-filter", "--no-pager", group, cwd=Path("/")).stdout
    found: set[str] = set()
    for name in (line.strip() for line in listed.splitlines()[1:]):
        if name and not name.startswith("#"):
            found |= calls_of(name) if name.startswith("@") else {name}
    return found


@needs("strace")
@needs("systemd-analyze")
def test_it_makes_no_call_that_the_filter_forbids(tmp_path: Path, command: list[str], trust: ssl.SSLContext) -> None:
    if run("strace", "-f", "true", cwd=tmp_path).returncode:
        pytest.skip("processes may not be traced here")
    port, trace = free_port(), tmp_path / "trace"
    traced = ["strace", "-f", "-qq", "-o", str(trace), *command, f"--port={port}"]
    with started(traced, tmp_path, "credentials: ", code=None) as program:
        assert ask(port, trust)[0] == 200
        assert ask(port, trust, Authorization="Basic cGxhdGZvcm06d3Jvbmc=")[0] == 401
        child = int(trace.read_text().split()[0])
        os.kill(child, signal.SIGHUP)
        assert until(lambda: "reloaded" in program.log)
        os.kill(child, signal.SIGTERM)
        assert program.process.wait(30) == 0
    made = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.MULTILINE))
    assert {"accept4", "execve"} <= made
    assert made <= filtered()
