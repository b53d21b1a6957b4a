"""Client of the child process that computes slow hashes.

A process, because a thread would hold the interpreter lock for up to a second. Only one, so that a
flood of wrong passwords costs at most one core.
"""

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import NoReturn

from osbctl.broker.hashing_worker import BEAT
from osbctl.parallel import start_module

SILENT_SECONDS = 6.0
"""A working child that sends no heartbeat for this long is replaced. A hundredth of a processor is enough for one."""


class HashingError(Exception):
    """The child could not compute a hash. The message contains no secret."""


class HashingProcess:
    """Starts the child process, and restarts it when it dies or does not answer.

    One thread may call `first_match`; any other `stop`, after which that thread calls `close`. The child inherits only
    its two pipes: no sockets, and no secrets in its arguments. It ends with its input, so it never outlives the parent.
    """

    def __init__(self) -> None:
        self._stopped = False
        self._heard = inf
        """Monotonic time of the child's last heartbeat; infinity while it is idle."""
        self._lock = threading.Lock()
        self._child = _start()

    @property
    def silent(self) -> bool:
        """Return whether the child is working and has sent no heartbeat for a while."""
        return time.monotonic() - self._heard > SILENT_SECONDS / 3

    def first_match(
        self, password: str, hashes: Sequence[str], seconds: float, meanwhile: Callable[[], None] = lambda: None
    ) -> int | None:
        """Return the index of the first crypt(3) hash that matches the password, or None.

        `meanwhile` is called at each heartbeat. Raises HashingError if the child dies twice, fails, hangs or takes
        more than `seconds` of CPU time; it is then replaced.
        """
        line = json.dumps({"password": password, "hashes": list(hashes)}).encode() + b"\n"
        try:
            answer = self._ask(line, seconds, meanwhile)
            if not answer:
                self._restart()
                answer = self._ask(line, seconds, meanwhile)
        finally:
            self._heard = inf
        if not answer:
            raise HashingError("the hashing process died")
        found = json.loads(answer)
        if isinstance(found, str):
            raise HashingError(f"the hashing process failed: {found}")
        return None if found is None else int(found)

    def _ask(self, line: bytes, seconds: float, meanwhile: Callable[[], None]) -> bytes:
        """Return the child's answer; b"" if it died."""
        if self._stopped:
            raise HashingError("the hashing process was ended")
        stdin, stdout = self._child.stdin, self._child.stdout
        assert stdin and stdout
        poll, said = select.poll(), b""
        poll.register(stdout, select.POLLIN)
        try:
            stdin.write(line)  # fits into the pipe: the child has read all earlier lines
            stdin.flush()
        except OSError:
            return b""
        while b"\n" not in said:
            self._heard = time.monotonic()
            if not poll.poll(SILENT_SECONDS * 1000):
                self._give_up("did not answer")
            data = os.read(stdout.fileno(), 4096)
            if not data:
                return b""
            said += data
            if said.count(b".") * BEAT > seconds:
                self._give_up(f"took more than {seconds:.0f} seconds of CPU time for a password")
            meanwhile()
        return said.partition(b"\n")[0].lstrip(b".")

    def _give_up(self, reason: str) -> NoReturn:
        self._restart()
        raise HashingError(f"the hashing process {reason}; it was replaced")

    def _restart(self) -> None:
        with self._lock:
            self._child.kill()
            self._clear_away()
            if not self._stopped:
                self._child = _start()

    def stop(self) -> None:
        """Kill the child, even during a hash. From any thread."""
        with self._lock:
            self._stopped = True
            self._child.kill()

    def close(self) -> None:
        """Kill the child and close its pipes."""
        self.stop()
        self._clear_away()

    def _clear_away(self) -> None:
        with contextlib.suppress(OSError), self._child:  # closes its pipes, and waits for its end
            pass


def _start() -> subprocess.Popen[bytes]:
    return start_module("osbctl.broker.hashing_worker", stdin=subprocess.PIPE)
