"""The parent's end of the process that works out slow hashes.

A process, because a thread would hold the interpreter lock for up to a second; only one, so that a
flood of wrong passwords costs one core at most.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class HashingError(Exception):
    """The child could not work out a hash. The message holds no secret."""


class HashingProcess:
    """Starts the child at once and again whenever it has died. One thread at a time may call `first_match`.

    The child inherits nothing but its two pipes: no socket stays open in it, no secret is in its
    arguments. It ends when the pipe does, so it outlives no parent; a fork made later must not hold
    the other end, which is why each serving process makes its own.
    """

    def __init__(self) -> None:
        self._closed = False
        self._lock = threading.Lock()
        self._child = _start()

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._child.pid

    def first_match(self, password: str, hashes: Sequence[str]) -> int | None:
        """The index of the first of the crypt(3) hashes that the password fits; None for none.

        Raises HashingError where the child fails twice.
        """
        line = json.dumps({"password": password, "hashes": list(hashes)}).encode() + b"\n"
        answer = self._ask(line)
        if answer is None:
            self._restart()
            answer = self._ask(line)
        if answer is None:
            raise HashingError("the hashing process died")
        found = json.loads(answer)
        if isinstance(found, str):
            raise HashingError(f"the hashing process failed: {found}")
        return None if found is None else int(found)

    def _ask(self, line: bytes) -> bytes | None:
        """The child's answer; None where it has died."""
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            return None
        try:
            stdin.write(line)
            stdin.flush()
            answer = stdout.readline()
        except (OSError, ValueError):  # ValueError: closed meanwhile
            return None
        return answer if answer.endswith(b"\n") else None

    def _restart(self) -> None:
        with self._lock:
            if self._closed:
                raise HashingError("the hashing process was ended")
            _end(self._child)
            self._child = _start()

    def close(self) -> None:
        """End the child, even in the middle of a hash."""
        with self._lock:
            self._closed = True
            _end(self._child)


def _start() -> subprocess.Popen[bytes]:
    # The child finds the packages where this process does, but never in its own working folder (-P).
    folders = (entry or str(Path.cwd()) for entry in sys.path)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "osbctl.broker.hashing_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
        # Ctrl-C at the terminal is for the parent.
        start_new_session=True,
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
