"""An `osbctl` for shell scripts under test: each call is a fork of one process that has loaded the commands.

`command()` is the path of a program that hands its words, folder, environment and three streams to that process, and ends
with the exit code of the fork: the tenth of a start. Scripts are the subject there, not the start of a process.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[2]
LOADED = ("cli.validate", "cli.validation_report", "cli.diff", "cli.build", "cli.page", "cli.brokers", "cli.drift",
          "comparison", "platforms", "reports", "sources", "tasks", "validation")  # fmt: skip
"""Modules and packages that most calls need."""
CLIENT = """#!{python} -ISE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as there:
    there.connect({address!r})
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(there, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    there.sendall(asked)
    sys.exit((there.recv(1) or b"\\x46")[0])
"""


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
    for name in LOADED:
        module = import_module(f"osbctl.{name}")
        for inner in pkgutil.walk_packages(getattr(module, "__path__", []), f"{module.__name__}."):
            import_module(inner.name)
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
        code = _run(streams, *json.loads(data))
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        there.sendall(bytes([code & 255]))
        os._exit(code)


def _run(streams: list[int], words: list[str], folder: str, environment: dict[str, str]) -> int:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = ["osbctl", *words]
    from osbctl.__main__ import main as run

    code: Any = 0
    try:
        run()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    return int(code or 0)


if __name__ == "__main__":
    main(sys.argv[1])
