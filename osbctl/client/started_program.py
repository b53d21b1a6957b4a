"""A program that is started for a while: a broker that can only be asked while it runs."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import IO, TypeVar
from urllib.parse import urlsplit

from osbctl.client.http_client import NoResponseError
from osbctl.errors import SourceError, UsageError

T = TypeVar("T")

PAUSE = 0.1
"""Seconds between two questions whether it answers."""
GRACE = 5.0
"""Seconds that a program and its children get to end by themselves."""
LINES = 30


class StartedProgram:
    """A program under way, with the file that it prints into."""

    def __init__(self, command: str, environment: Mapping[str, str], printed: IO[bytes]) -> None:
        self._printed = printed
        try:
            self._process = subprocess.Popen(
                _words(command),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # its children are ended with it
            )
        except OSError as error:
            raise SourceError(f"--start: {command}: cannot be started: {error.strerror}") from None

    @property
    def printed(self) -> str:
        """The last lines that it has printed."""
        self._printed.seek(0)
        return "\n".join(self._printed.read().decode("utf-8", "replace").splitlines()[-LINES:])

    def when_it_answers(self, ask: Callable[[], T], seconds: int) -> T:
        """Result of `ask` once the program answers.

        Raises SourceError: it has ended, does not answer within so many seconds, or gives a wrong answer.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                return ask()
            except NoResponseError as error:
                code = self._process.poll()
                if code is not None:
                    raise SourceError(f"--start: the program has ended with {code}, before it answered") from None
                if time.monotonic() > deadline:
                    late = f"--start: the program did not answer within {seconds} seconds: {error.message}"
                    raise SourceError(late, "give it more time: --wait") from None
            time.sleep(PAUSE)

    def stop(self) -> None:
        """End it and its children: first kindly, then not."""
        deadline = time.monotonic() + GRACE
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
            while time.monotonic() < deadline:
                self._process.poll()
                os.killpg(self._process.pid, 0)  # raises once the last one has gone
                time.sleep(PAUSE / 5)
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextlib.contextmanager
def started(command: str, url: str, environment: Mapping[str, str]) -> Iterator[StartedProgram]:
    """A program that runs within the block. The port of `url` is its `PORT`.

    It is stopped whatever happens: where this process is asked to end, too.

    Raises:
        UsageError: the command is none.
        SourceError: it cannot be started, or something else listens at the address.
    """
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    _refuse_taken(parts.hostname or "", port)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    with tempfile.TemporaryFile() as printed:
        program = StartedProgram(command, {**environment, "PORT": str(port)}, printed)
        try:
            yield program
        finally:
            program.stop()


def _end(*_: object) -> None:
    raise KeyboardInterrupt


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--start {command!r}: {error}", "quote it as for a shell") from None
    if not words:
        raise UsageError("--start: there is no command", 'for example --start "npm start"')
    return words


def _refuse_taken(host: str, port: int) -> None:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
        raise SourceError(f"--start: something else listens at {host}:{port} already", "stop it, or name another port")
