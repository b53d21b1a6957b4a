"""Start a program that can only be asked while it runs: a broker whose catalog is code."""

import os
import shlex
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from subprocess import DEVNULL, STDOUT, Popen
from typing import TypeVar
from urllib.parse import urlsplit

from osbctl.client.http_client import NoResponseError
from osbctl.errors import OsbctlError, SourceError, UsageError

T = TypeVar("T")

PAUSE = 0.1
"""Seconds between two requests."""
GRACE = 5.0
"""Seconds that a program and its children get to end after SIGTERM."""
LINES = 30
"""Lines of the program's output that are shown after a failure."""


def ask_started(
    command: str,
    url: str,
    environment: Mapping[str, str],
    seconds: int,
    ask: Callable[[], T],
    show: Callable[[list[str]], None],
) -> T:
    """Start a program, and return the result of `ask` once the program answers at `url`.

    The port of `url` is its `PORT`. The program and its children are stopped in any case, also where this process is
    told to end. `show` gets the last lines that it printed where there is no result.

    Raises:
        UsageError: `command` is not a command.
        SourceError: the program does not start, ends, or does not answer within so many seconds; its answer is wrong;
            or another program listens at the address.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    words = _words(command)
    with suppress(OSError), socket.create_connection((host, port), timeout=1):
        raise SourceError(f"--start: something else listens at {host}:{port} already", "stop it, or name another port")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryFile() as printed:
        try:
            # In a session of its own, so that its children end with it.
            environment = {**environment, "PORT": str(port)}
            program = Popen(
                words, stdin=DEVNULL, stdout=printed, stderr=STDOUT, env=environment, start_new_session=True
            )
        except OSError as error:
            raise SourceError(f"--start: {shlex.join(words)}: cannot be started: {error.strerror}") from None
        try:
            return _answer(program, ask, seconds)
        except OsbctlError:
            printed.seek(0)
            show(printed.read().decode("utf-8", "replace").splitlines()[-LINES:])
            raise
        finally:
            _stop(program)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--start {command!r}: {error}", "quote it as for a shell") from None
    if not words:
        raise UsageError("--start: there is no command", 'for example --start "npm start"')
    return words


def _answer(program: Popen[bytes], ask: Callable[[], T], seconds: int) -> T:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except NoResponseError as error:
            if program.poll() is not None:
                message = f"--start: the program has ended with {program.returncode}, before it answered"
                raise SourceError(message) from None
            if time.monotonic() > deadline:
                message = f"--start: the program did not answer within {seconds} seconds: {error.message}"
                raise SourceError(message, "give it more time: --wait") from None
        time.sleep(PAUSE)


def _stop(program: Popen[bytes]) -> None:
    """End a program and its children: SIGTERM first, SIGKILL after `GRACE` seconds."""
    deadline = time.monotonic() + GRACE
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            program.poll()
            os.killpg(program.pid, 0)  # raises once the last one has gone
            time.sleep(PAUSE / 5)
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
