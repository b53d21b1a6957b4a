"""The units behind a real nginx: processes on systemd's socket are restarted under load, and no request is lost."""

from __future__ import annotations

import shutil
import socket
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.broker.harness import until
from tests.broker.processes import Crowd
from tests.cli.warm import Fork
from tests.deploy.harness import DEPLOY
from tests.deploy.running import ask, free_port, started
from tests.deploy.test_front import accepts, nginx_config
from tests.deploy.test_systemd import command_of, loaded

if TYPE_CHECKING:
    import ssl

__all__ = ["loaded"]


@dataclass
class Clients(Crowd):
    """Platforms that ask through a front, each time on a new connection."""

    answers: Counter[int | str] = field(default_factory=Counter)

    def ask(self) -> None:
        try:
            self.answers[ask(self.port, self.trust)[0]] += 1
        except OSError as error:
            self.answers[repr(error)] += 1


def instance(folder: Path, loaded: Path, listener: socket.socket) -> Fork:
    """A process as `systemctl start osbctl@N` makes it, with front/service.conf, once it serves."""
    folder.mkdir()
    log = folder / "log"
    _, *words = command_of(DEPLOY / "systemd/front/service.conf", loaded)
    with log.open("wb") as file:
        process = Fork("osbctl.__main__", words, (file.fileno(), file.fileno()), sockets=[listener])
    assert until(lambda: "credentials: " in log.read_text() or process.poll() is not None, 20), log.read_text()
    assert process.poll() is None, log.read_text()
    return process


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed")
def test_a_process_is_restarted_behind_nginx_without_a_lost_request(
    tmp_path: Path, loaded: Path, pair: tuple[Path, Path], trust: ssl.SSLContext
) -> None:
    """Requests wait in the queue of the socket until the next one has started."""
    path, port = tmp_path / "osbctl.sock", free_port()
    nginx = nginx_config(tmp_path, (DEPLOY / "nginx/osbctl.conf").read_text(), port, pair, path)
    clients = Clients(port, trust)
    with socket.socket(socket.AF_UNIX) as listener, ExitStack() as stack:
        listener.bind(str(path))
        path.chmod(0o666)  # instead of SocketGroup=
        listener.listen(1024)

        def start(name: str) -> Fork:
            process = instance(tmp_path / name, loaded, listener)
            stack.callback(process.wait, 30)
            stack.callback(process.kill)
            return process

        first = start("osbctl@1")
        stack.enter_context(started(nginx, tmp_path, "start worker processes", code=None, cwd=tmp_path))
        assert until(lambda: accepts(port), 10)

        def some_are_answered() -> bool:
            before = clients.answers[200]
            return until(lambda: clients.answers[200] > before + 10, 30)

        with clients.running(4):
            assert some_are_answered()
            first.terminate()
            assert first.wait(30) == 0
            start("again")
            assert some_are_answered()
    assert set(clients.answers) == {200}
