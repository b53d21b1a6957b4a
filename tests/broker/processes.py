"""`serve_program.py` as a process on loopback, and its clients."""

import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.broker.harness import PATIENCE, ask, until
from tests.cli.warm import ROOT, Fork


def start(told: dict[str, Any], out: int, err: int, **options: Any) -> Fork:
    """Start the program; `options` are those of `Fork`."""
    return Fork("tests.broker.serve_program", [json.dumps(told)], (out, err), **options)


def start_alone(told: dict[str, Any], out: int, err: int) -> subprocess.Popen[bytes]:
    """Start the program as a process whose interpreter begins and ends with it."""
    command = [sys.executable, "-m", "tests.broker.serve_program", json.dumps(told)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=err)


@dataclass
class Program:
    """A process that serves, and the file with its log."""

    process: subprocess.Popen[bytes] | Fork
    err: Path

    @property
    def log(self) -> str:
        return self.err.read_text()

    def port(self, what: str = "listening on") -> int:
        found = re.search(what + r" https?://\S+:(\d+)", self.log)
        assert found, self.log
        return int(found[1])


class Process(Program):
    def __init__(self, tmp_path: Path, told: dict[str, Any], start: Callable[..., Any]) -> None:
        self.file = tmp_path / "catalog.json"
        self.file.write_bytes(b"one")
        self.out, self.err = tmp_path / "out", tmp_path / "err"
        told = {"file": str(self.file), "port": 0, "settings": {"reload_seconds": 0.05}, **told}
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = start(told, out.fileno(), err.fileno())
        assert until(lambda: "1 service" in self.log or self.process.poll() is not None), self.log

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def process(tmp_path: Path, start: Callable[..., Any] = start, **told: Any) -> Iterator[Process]:
    """The program with `told`, by `start` or `start_alone`."""
    started = Process(tmp_path, told, start)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait(PATIENCE)


def over_tls(trust: ssl.SSLContext, port: int) -> tuple[int, dict[str, str], bytes]:
    raw = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    with trust.wrap_socket(raw, server_hostname="localhost") as sock:
        return ask(sock)


def over_tls_or_none(trust: ssl.SSLContext, port: int) -> object:
    try:
        return over_tls(trust, port)
    except OSError:
        return None


def admin(port: int, path: str, host: str = "127.0.0.1") -> tuple[int, bytes]:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as sock:
        status, _, body = ask(sock, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    return status, body


@contextmanager
def handed_over(tmp_path: Path, *sockets: socket.socket, ended: int = 0, **told: Any) -> Iterator[Process]:
    """The program with listening sockets, as systemd starts it, and the code with which it ends."""
    with process(tmp_path, partial(start, sockets=sockets), **{"port": 1, **told}) as program:
        yield program
        if not ended:
            program.process.terminate()
        assert program.process.wait(PATIENCE) == ended, program.log


PAUSE = 0.01
"""Seconds between two requests of a client: constant load that leaves CPU time for the server."""


@dataclass
class Crowd:
    """Clients of one port, each in a thread that sends requests until `ended`."""

    port: int
    trust: ssl.SSLContext
    ended: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        """Requests of one client on one connection."""
        raise NotImplementedError

    def _ask_on(self) -> None:
        while not self.ended.wait(PAUSE):
            self.ask()

    @contextmanager
    def running(self, clients: int) -> Iterator[None]:
        threads = [threading.Thread(target=self._ask_on) for _ in range(clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ended.set()
            for thread in threads:
                thread.join(PATIENCE)


@dataclass
class Load(Crowd):
    """Five requests on one connection."""

    pids: list[str] = field(default_factory=list)
    lost: list[Exception] = field(default_factory=list)

    def ask(self) -> None:
        try:
            raw = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            with self.trust.wrap_socket(raw, server_hostname="localhost") as sock:
                for _ in range(5):
                    headers = ask(sock)[1]
                    self.pids.append(headers["x-pid"])
                    if headers.get("connection") == "close":
                        break
        except (OSError, EOFError) as error:
            self.lost.append(error)
