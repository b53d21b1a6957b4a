"""Client of the child process that computes slow hashes.

A process, because a thread would hold the interpreter lock for up to a second. Only one, so that a
flood of wrong passwords costs at most one core.
"""

import contextlib
import json
import select
import subprocess
import threading
from collections.abc import Sequence

from osbctl.parallel import start_module


class HashingError(Exception):
    """The child could not compute a hash. The message contains no secret."""


class HashingProcess:
    """Starts the child process, and another one when it died or took too long.

    One thread may call `find_matching_hash`; any other `stop`, after which that one calls `close`. The child inherits
    the environment and two pipes: no sockets, and no secrets in its arguments. It ends with its input, so never after
    the parent.
    """

    def __init__(self) -> None:
        self._stopped = False
        self._asked = 0
        self._lock = threading.Lock()
        self._child = _start_worker()

    def find_matching_hash(self, password: str, hashes: Sequence[str], timeout: float) -> int | None:
        """Return the index of the first crypt(3) hash that matches the password, or None.

        Raises HashingError if the child dies twice, fails or takes more than `timeout` seconds; OSError if none starts.
        """
        self._asked += 1
        job = {"number": self._asked, "password": password, "hashes": list(hashes)}
        line = json.dumps(job).encode() + b"\n"
        answer = self._query_child(line, timeout) or self._query_child(line, timeout)
        if not answer:
            raise HashingError("the hashing process died")
        try:
            number, error, index = json.loads(answer)
            if number != self._asked:
                raise ValueError("the answer to another line")
        except (ValueError, TypeError):  # something in the child prints, as a module `sitecustomize` may
            self._kill_and_reap_child()
            raise HashingError("the hashing process printed a line that is not an answer; it was ended") from None
        if error:
            raise HashingError(f"the hashing process failed: {error}")
        return None if index is None else int(index)

    def _query_child(self, line: bytes, timeout: float) -> bytes:
        """Send a line to the child, started anew if it died, and return its answer; b"" if it dies again."""
        with self._lock:
            if self._stopped:
                raise HashingError("the hashing process was ended")
            if self._child.returncode is not None:
                self._child = _start_worker()
        stdin, stdout = self._child.stdin, self._child.stdout
        assert stdin and stdout
        answer = b""
        try:
            with contextlib.suppress(BrokenPipeError):  # it died
                stdin.write(line)  # fits into the pipe: the child has read all earlier lines
                stdin.flush()
            poll = select.poll()
            poll.register(stdout, select.POLLIN)
            if not poll.poll(timeout * 1000):
                text = f"the hashing process took more than {timeout:.0f} seconds for a password; it was ended"
                raise HashingError(text)
            answer = stdout.readline()
        finally:  # after any failure: the next answer must not be mistaken for this one
            if not answer:
                self._kill_and_reap_child()
        return answer

    def stop(self) -> None:
        """Kill the child, even during a hash. From any thread."""
        with self._lock:
            self._stopped = True
            self._child.kill()

    def close(self) -> None:
        """Kill the child and close its pipes."""
        self.stop()
        self._kill_and_reap_child()

    def _kill_and_reap_child(self) -> None:
        self._child.kill()
        with contextlib.suppress(OSError), self._child:  # closes its pipes, and waits for its end
            pass


def _start_worker() -> subprocess.Popen[bytes]:
    return start_module("osbctl.broker.hashing_worker", stdin=subprocess.PIPE)
