"""The parent's end of the process that works out slow hashes.

A process, because a thread would hold the interpreter lock for up to a second; only one, so that a
flood of wrong passwords costs one core at most.
"""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import threading
from collections.abc import Sequence

from osbctl.parallel import start_module


class HashingError(Exception):
    """The child could not work out a hash. The message holds no secret."""


class HashingProcess:
    """Starts the child at once and again whenever it has died or does not answer.

    One thread may call `first_match`; any other `stop`, after which that thread calls `close`.

    The child inherits nothing but its two pipes: no socket stays open in it, no secret is in its
    arguments. It ends when the pipe does, so it outlives no parent.
    """

    def __init__(self) -> None:
        self._stopped = False
        self._lock = threading.Lock()
        self._child = _start()

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._child.pid

    def first_match(self, password: str, hashes: Sequence[str], seconds: float) -> int | None:
        """The index of the first of the crypt(3) hashes that the password fits; None for none.

        Raises HashingError where the child dies twice, fails, or takes more than `seconds`; it is then replaced.
        """
        line = json.dumps({"password": password, "hashes": list(hashes)}).encode() + b"\n"
        answer = self._ask(line, seconds)
        if not answer:
            self._restart()
            answer = self._ask(line, seconds)
        if not answer:
            raise HashingError("the hashing process died")
        found = json.loads(answer)
        if isinstance(found, str):
            raise HashingError(f"the hashing process failed: {found}")
        return None if found is None else int(found)

    def _ask(self, line: bytes, seconds: float) -> bytes:
        """The child's answer; b"" where it has died."""
        if self._stopped:
            raise HashingError("the hashing process was ended")
        stdin, stdout = self._child.stdin, self._child.stdout
        assert stdin and stdout
        waiting = select.poll()
        waiting.register(stdout, select.POLLIN)
        try:
            stdin.write(line)  # fits into the pipe: the child has read what came before
            stdin.flush()
        except OSError:
            return b""
        if not waiting.poll(seconds * 1000):
            self._restart()
            raise HashingError(f"the hashing process did not answer in {seconds:.0f} seconds; it was replaced")
        return stdout.readline()

    def _restart(self) -> None:
        with self._lock:
            self._child.kill()
            self._clear_away()
            if not self._stopped:
                self._child = _start()

    def stop(self) -> None:
        """End the child, even in the middle of a hash. From any thread."""
        with self._lock:
            self._stopped = True
            self._child.kill()

    def close(self) -> None:
        """End the child and give back what it held."""
        self.stop()
        self._clear_away()

    def _clear_away(self) -> None:
        with contextlib.suppress(OSError), self._child:  # closes its pipes, and waits for its end
            pass


def _start() -> subprocess.Popen[bytes]:
    return start_module("osbctl.broker.hashing_worker", stdin=subprocess.PIPE)
