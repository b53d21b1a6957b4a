"""The child process that computes slow hashes (`python -m osbctl.broker.hashing_process`), and its client.

A process, because a thread would hold the interpreter lock for up to a second. Only one, so that a
flood of wrong passwords costs at most one core.

It reads one JSON object per line on standard input, `{"number": N, "password": TEXT, "hashes": [TEXT, …]}`, and
answers each with a line `[N, ERROR, INDEX]`: the name of an exception or null, and the index of the first matching hash
or null. The number tells an answer from a line that something else prints.
It ends with its input, and so with its parent. It ignores signals to stop: the parent may still have requests to
answer.
"""

import contextlib
import json
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

from osbctl.parallel import start_module


class HashingError(Exception):
    """The child could not compute a hash. The message contains no secret."""


class HashingProcess:
    """Starts the child process, and another one when it died or took too long.

    One thread may call `find_matching_hash`; any other `stop`, after which that one calls `close`. The child inherits
    the environment and two pipes: no sockets, and no secrets in its arguments.
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
        line = json.dumps({"number": self._asked, "password": password, "hashes": list(hashes)}).encode() + b"\n"
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
    return start_module("osbctl.broker.hashing_process", stdin=subprocess.PIPE)


def find_matching_hash(password: str, hashes: Sequence[str]) -> int | None:
    """Return the index of the first hash that matches the password, or None. Each comparison takes constant time."""
    from passlib.hash import sha512_crypt  # type: ignore[import-untyped]

    return next((index for index, hashed in enumerate(hashes) if sha512_crypt.verify(password, hashed)), None)


def main() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin.buffer:
        job, failure, index = json.loads(line), None, None
        try:
            index = find_matching_hash(job["password"], job["hashes"])
        except Exception as error:  # its text might contain the password
            failure = type(error).__name__
        try:
            sys.stdout.buffer.write(json.dumps([job["number"], failure, index]).encode() + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            break


if __name__ == "__main__":
    main()
