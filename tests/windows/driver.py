"""Runs osbctl in this process for each call of a list: standard input has it as JSON, standard output gets the results.

It imports nothing of the tests, so that a Python for Windows, which has osbctl alone, runs it as Linux does. With
`--without-unix` it first removes from Python what Windows lacks: so Linux shows what would fail there.
"""

import base64
import io
import json
import os
import select
import signal
import socket
import sys
from typing import Any

CODE_PAGE = "cp1252" if os.name == "nt" else "utf-8"
"""The encoding of streams that are no console."""

FLAGS = ["O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC"]
FUNCTIONS = ["fork", "forkpty", "geteuid", "getuid", "getgid", "fchmod", "fchown", "chown", "lchown"]
SIGNALS = ["SIGHUP", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGKILL", "alarm", "setitimer"]
LACKING: dict[Any, list[str]] = {
    os: [*FLAGS, *FUNCTIONS, "mkfifo", "setsid", "getpgid", "killpg", "pipe2", "posix_spawn", "sched_getaffinity"],
    signal: SIGNALS,
    select: ["poll", "epoll"],
    socket: ["AF_UNIX"],
}


def remove_what_windows_lacks() -> None:
    for name in ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "syslog"):
        sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails
    for module, names in LACKING.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


def run(words: list[str], stdin: str, variables: dict[str, str]) -> dict[str, Any]:
    """Exit code and what a call wrote; bytes in base64."""
    from osbctl import __main__ as program

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=CODE_PAGE, write_through=True) for _ in range(2))
    before = sys.stdin, sys.stdout, sys.stderr, sys.argv, dict(os.environ)
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(stdin.encode())), out, err
    sys.argv = ["osbctl", *words]
    os.environ.update(variables)
    try:
        program.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = before[:4]
        os.environ.clear()
        os.environ.update(before[4])
    texts = (base64.b64encode(stream.buffer.getvalue()).decode() for stream in (out, err))
    return {"code": code, **dict(zip(("out", "err"), texts, strict=True))}


def main() -> None:
    sys.modules["_wmi"] = None  # type: ignore[assignment]  # Wine 8 has no more than its beginning; Python does without
    if "--without-unix" in sys.argv:
        remove_what_windows_lacks()
    sys.stdout.write(json.dumps([run(**call) for call in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
