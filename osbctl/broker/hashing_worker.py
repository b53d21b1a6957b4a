"""The child process that computes slow hashes: `python -m osbctl.broker.hashing_worker`.

It reads one JSON object per line on standard input, `{"number": N, "password": TEXT, "hashes": [TEXT, …]}`, and
answers each with a line `[N, ERROR, INDEX]`: the name of an exception or null, and the index of the first matching hash
or null. The number tells an answer from a line that something else prints.
It ends with its input, and so with its parent. It ignores signals to stop: the parent may still have requests to
answer.
"""

import json
import signal
import sys


def main() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin.buffer:
        try:
            sys.stdout.buffer.write(json.dumps(_answer_line(line)).encode() + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            break


def _answer_line(line: bytes) -> tuple[int, str | None, int | None]:
    job = json.loads(line)
    try:
        return job["number"], None, find_matching_hash(job["password"], job["hashes"])
    except Exception as error:  # its text might contain the password
        return job["number"], type(error).__name__, None


def find_matching_hash(password: str, hashes: list[str]) -> int | None:
    """Return the index of the first hash that matches the password, or None. Each comparison takes constant time."""
    from passlib.hash import sha512_crypt  # type: ignore[import-untyped]

    for index, hashed in enumerate(hashes):
        if sha512_crypt.verify(password, hashed):
            return index
    return None


if __name__ == "__main__":
    main()
