"""Signals in quick succession and during the start neither block nor kill the service."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.broker.harness import until
from tests.broker.processes import Process, process, start_alone
from tests.corpus import EVERY_CASE
from tests.deploy.harness import ROOT
from tests.deploy.running import OSBCTL, serve_options


def send_pair(started: Any, number: int, seconds: float) -> None:
    """Seconds between the two signals."""
    started.send_signal(number)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    started.send_signal(number)


@pytest.mark.fuzz
def test_simultaneous_reload_signals_do_not_deadlock(tmp_path: Path) -> None:
    for _ in range(4 if EVERY_CASE else 1):
        with process(tmp_path, insecure_http=True) as broker:
            for _ in range(2500):
                send_pair(broker.process, signal.SIGHUP, random.random() * 80e-6)
                time.sleep(0.0005)
            assert reloads(broker)
            assert broker.end() == 0
            assert "Error" not in broker.log


def reloads(broker: Process) -> bool:
    before = broker.log.count("reloaded")
    broker.process.send_signal(signal.SIGHUP)
    return until(lambda: broker.log.count("reloaded") > before)


@pytest.mark.fuzz
def test_simultaneous_stop_signals_exit_with_0(tmp_path: Path) -> None:
    for number in range(200 if EVERY_CASE else 3):
        with process(tmp_path, start_alone, insecure_http=True) as broker:
            send_pair(broker.process, signal.SIGTERM, number % 5 * 20e-6)
            assert broker.process.wait(10) == 0


def test_reload_signal_during_start_is_not_fatal(tmp_path: Path) -> None:
    """At any time: before the options are parsed, while the catalog is checked, while the sockets are bound."""
    command, log = [*OSBCTL, "serve", *serve_options(tmp_path)], tmp_path / "log"
    with log.open("wb") as err:
        started = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=err)
    try:
        assert until(lambda: ignored(started.pid) or started.poll() is not None)
        while "serving" not in log.read_text():
            started.send_signal(signal.SIGHUP)
            time.sleep(0.01)
            assert started.poll() is None, log.read_text()
        assert until(lambda: "reloaded the catalog" in log.read_text())
        started.terminate()
        assert started.wait(10) == 0
    finally:
        started.kill()
        started.wait(10)


def ignored(pid: int) -> bool:
    """Return whether the process ignores or catches SIGHUP (proc_pid_status(5))."""
    found = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool((int(found["SigIgn"], 16) | int(found["SigCgt"], 16)) & 1 << signal.SIGHUP - 1)
