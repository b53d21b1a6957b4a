"""An `osbctl` for tests of scripts, streams and exit codes: each call is a fork of one process that has loaded osbctl.

`command()` is the path of a program that hands its arguments, folder, environment and open streams to that process, and
ends with the exit code of the fork: a tenth of the cost of a start. It is not for tests of signals and start-up.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import marshal
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import osbctl
from osbctl import files

ROOT = Path(__file__).parents[2]
SELDOM = ("__main__", "migrations", "editor", "lsp")
"""Parts of the names of modules that few calls need."""
WAIT = "OSBCTL_TEST_WAIT"
"""A variable with the seconds to wait for the other end of a named pipe."""
SECONDS = 60
"""A call that takes longer is ended."""
CLIENT = """#!{python} -ISE
import _socket, marshal, posix, sys
streams = []
for number in range(3):
    try:
        posix.fstat(number)
    except OSError:
        continue
    streams.append(number)
sent = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
asked = marshal.dumps([streams, sys.argv[1:], posix.getcwd(), dict(posix.environ)])
there = _socket.socket(_socket.AF_UNIX)
there.connect({address!r})
there.sendmsg([len(asked).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, sent)])
there.sendall(asked)
posix._exit((there.recv(1) or b"\\x46")[0])
"""
"""The program: it imports nothing that costs time, since a script may call it often."""


@functools.cache
def command() -> Path:
    """Start the process, once for all tests of this one."""
    folder = Path(tempfile.mkdtemp(prefix="osbctl-warm-"))
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.warm", str(folder / "socket")], cwd=ROOT, stdout=subprocess.PIPE
    )
    atexit.register(_end, server, folder)
    assert server.stdout
    assert server.stdout.readline() == b"ready\n"
    file = folder / "osbctl"
    file.write_text(CLIENT.format(python=sys.executable, address=str(folder / "socket")))
    file.chmod(0o755)
    return file


def call(words: Sequence[str], folder: Path, environment: Mapping[str, str], streams: Mapping[int, int]) -> int:
    """The exit code of a call with `streams`: a descriptor for each standard stream that is not closed."""
    variables = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
    asked = marshal.dumps([[*streams], [*words], str(folder), variables])
    with socket.socket(socket.AF_UNIX) as there:
        there.settimeout(SECONDS)
        there.connect(str(command().with_name("socket")))
        socket.send_fds(there, [len(asked).to_bytes(4, "big")], [*streams.values()])
        there.sendall(asked)
        return (there.recv(1) or b"\x46")[0]


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    assert server.stdout
    server.terminate()
    server.wait(10)
    server.stdout.close()
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def main(address: str) -> None:
    """Answer calls until this process is ended."""
    for module in pkgutil.walk_packages(osbctl.__path__, "osbctl."):
        if not any(name in module.name for name in SELDOM):
            import_module(module.name)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(16)
        print("ready", flush=True)
        while True:
            there, _ = listener.accept()
            with there:
                if not os.fork():
                    listener.close()
                    _be(there)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _be(there: socket.socket) -> NoReturn:
    """Be the osbctl of one call."""
    code = 70
    try:
        head, streams, *_ = socket.recv_fds(there, 4, 3)
        data = b""
        while len(data) < int.from_bytes(head, "big"):
            data += there.recv(65_536)
        code = _run(streams, *marshal.loads(data))
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        there.sendall(bytes([code & 255]))
        os._exit(code)


def _run(streams: list[int], numbers: list[int], words: list[str], folder: str, environment: dict[bytes, bytes]) -> int:
    """`streams` are what standard input, output and error are to be: those of `numbers`, the others are closed."""
    for number in range(3):
        os.close(number)
    for number, stream in zip(numbers, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    signal.alarm(SECONDS)
    os.setsid()
    if numbers[:1] == [0] and os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # as the terminal that has started it: Ctrl-C reaches it
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(environment)
    if WAIT in os.environ:
        files.WRITER_WAIT = files.READER_WAIT = float(os.environ.pop(WAIT))
    opened = [open(number, mode, closefd=False) if number in numbers else None for number, mode in enumerate("rww")]  # noqa: SIM115
    sys.stdin, sys.stdout, sys.stderr = opened  # type: ignore[assignment]
    if sys.stderr:
        sys.stderr.reconfigure(line_buffering=True)  # type: ignore[attr-defined]
    sys.argv = ["osbctl", *words]
    from osbctl.__main__ import main as run

    code: Any = 0
    try:
        run()
    except SystemExit as end:
        code = end.code
    if sys.stdout:
        sys.stdout.flush()
    return int(code or 0)


if __name__ == "__main__":
    main(sys.argv[1])
