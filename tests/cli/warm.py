"""An `osbctl` for tests of scripts, streams and exit codes: each call is a fork of one process that has loaded osbctl.

`command()` is the path of a program that hands its arguments, folder, environment and open streams to that process, and
ends with the exit code of the fork: a tenth of the cost of a start. It is not for tests of signals and start-up. `Fork` is
for tests of signals: a fork that the test knows by its process id.
"""

import atexit
import contextlib
import fcntl
import functools
import gc
import marshal
import os
import pkgutil
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import osbctl

ROOT = Path(__file__).parents[2]
SELDOM = ("__main__", "migrations", "editor", "lsp")
"""Parts of the names of modules that few calls need."""
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


STARTED = os.environ.get("WARM_OSBCTL")
"""The program of the process that tests/conftest.py has started for all workers, since a start takes 0.7 s."""


@functools.cache
def command() -> Path:
    """The program, once its process is ready; without workers it is started here."""
    file = Path(STARTED) if STARTED else start()
    for _ in range(50 * SECONDS):
        if file.with_name("socket").exists():
            return file
        time.sleep(0.02)
    raise AssertionError("the process does not start")


def start() -> Path:
    """Start the process, which ends with this one."""
    folder = Path(tempfile.mkdtemp(prefix="osbctl-warm-"))
    server = subprocess.Popen([sys.executable, "-m", "tests.cli.warm", str(folder / "socket")], cwd=ROOT)
    atexit.register(_end, server, folder)
    file = folder / "osbctl"
    file.write_text(CLIENT.format(python=sys.executable, address=str(folder / "socket")))
    file.chmod(0o755)
    return file


class Fork:
    """A fork that runs `main` of a module, with the methods of `subprocess.Popen` that tests use.

    `streams` are the descriptors of its output and errors. It gets `sockets` like a service of systemd. `file_limit` is
    the number of its descriptors (0: as here).
    """

    def __init__(
        self,
        module: str,
        words: Sequence[str],
        streams: tuple[int, int],
        *,
        folder: Path = ROOT,
        environment: Mapping[str, str] = os.environ,
        sockets: Sequence[socket.socket] = (),
        file_limit: int = 0,
    ) -> None:
        self.returncode: int | None = None
        self._code = -signal.SIGKILL  # of one that ends without a word
        self._there = socket.socket(socket.AF_UNIX)
        with Path(os.devnull).open() as nothing:
            variables = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
            asked = marshal.dumps([[0, 1, 2], [*words], str(folder), variables, [module, file_limit]])
            self._there.connect(str(command().with_name("socket")))
            descriptors = [nothing.fileno(), *streams, *(one.fileno() for one in sockets)]
            socket.send_fds(self._there, [len(asked).to_bytes(4, "big")], descriptors)
            self._there.sendall(asked)
        self.pid = int.from_bytes(self._there.recv(4), "big")

    def poll(self, seconds: float = 0.0) -> int | None:
        """The exit code; None if it has not ended within `seconds`."""
        end = time.monotonic() + seconds
        while self.returncode is None and select.select([self._there], [], [], max(0.0, end - time.monotonic()))[0]:
            said = self._there.recv(1)
            if said:
                self._code = said[0]
            else:
                self._there.close()
                self.returncode = self._code
        return self.returncode

    def wait(self, timeout: float) -> int:
        code = self.poll(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.terminate()
    server.wait(60)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def main(address: str) -> None:
    """Answer calls until this process is ended."""
    for module in pkgutil.walk_packages(osbctl.__path__, "osbctl."):
        if not any(name in module.name for name in SELDOM):
            import_module(module.name)
    _fill_caches()
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{address}.new")
        listener.listen(64)
        os.rename(f"{address}.new", address)  # noqa: PTH104
        while True:
            there, _ = listener.accept()
            with there:
                if not os.fork():
                    listener.close()
                    _be(there)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _fill_caches() -> None:
    """Run what most calls do, since each fork would make options, tables, schemas and templates again."""
    from osbctl.__main__ import _run_to_exit_code
    from osbctl.commands import app

    make = app.make_command_group
    made = {(name,): make([name]) for name in ("validate", "diff", "fix", "page", "serve", "hash-password")}
    app.make_command_group = lambda names: made.get((*names,)) or make(names)
    file = str(ROOT / "catalogs" / "data-services.yaml")
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        for words in (["validate", file], ["diff", file, file], ["page", file]):
            assert _run_to_exit_code(words) == 0


def _be(there: socket.socket) -> NoReturn:
    """Be the process of one call."""
    code = 70
    try:
        head, descriptors, *_ = socket.recv_fds(there, 4, 16)
        data = b""
        while len(data) < int.from_bytes(head, "big"):
            data += there.recv(65_536)
        there, descriptors = socket.socket(fileno=_moved(there.detach())), [*map(_moved, descriptors)]
        code = _run(there, descriptors, *marshal.loads(data))
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        there.sendall(bytes([code & 255]))
        os._exit(code)


def _moved(descriptor: int) -> int:
    """The same file under a number that no stream or socket of the call is to have."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(descriptor)
    return moved


def _run(
    there: socket.socket,
    descriptors: list[int],
    numbers: list[int],
    words: list[str],
    folder: str,
    environment: dict[bytes, bytes],
    known: Sequence[Any] = (),
) -> int:
    """`descriptors` are what standard input, output and error are to be, those of `numbers`, and sockets of systemd."""
    for number in range(3):
        os.close(number)
    sockets = len(descriptors) - len(numbers)
    for number, descriptor in zip([*numbers, *range(3, 3 + sockets)], descriptors, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.alarm(SECONDS)
    os.setsid()
    if numbers[:1] == [0] and os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # as the terminal that has started it: Ctrl-C reaches it
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(environment)
    opened = [open(number, mode, closefd=False) if number in numbers else None for number, mode in enumerate("rww")]  # noqa: SIM115
    sys.stdin, sys.stdout, sys.stderr = opened  # type: ignore[assignment]
    if sys.stderr:
        sys.stderr.reconfigure(line_buffering=True)  # type: ignore[attr-defined]
    sys.argv = ["osbctl", *words]
    module = _be_known(there, sockets, *known) if known else "osbctl.__main__"
    code: Any = 0
    try:
        code = import_module(module).main()
    except SystemExit as end:
        code = end.code
    if sys.stdout:
        sys.stdout.flush()
    return int(code or 0)


def _be_known(there: socket.socket, sockets: int, module: str, file_limit: int) -> str:
    """Be a `Fork`; returns the module to run."""
    if sockets:
        os.environ.update(LISTEN_FDS=str(sockets), LISTEN_PID=str(os.getpid()))
    if file_limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (file_limit, file_limit))
    signal.alarm(10 * SECONDS)  # it may serve all tests of a module
    there.sendall(os.getpid().to_bytes(4, "big"))
    return module


if __name__ == "__main__":
    main(sys.argv[1])
