"""A PostgreSQL cluster of our own in a temporary folder, on loopback, ended with the tests."""

import contextlib
import fcntl
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

PASSWORD = "pg-p4ss-" + os.environ.get("PYTEST_XDIST_TESTRUNUID", secrets.token_hex(8))[:16]
"""One for all workers, which share a cluster's first data."""
_NUMBERS = count(1)


@dataclass(frozen=True)
class Cluster:
    port: int
    free: list[str] = field(default_factory=list)
    """Databases that are empty again: making one costs ten times as much as emptying one."""

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://osbctl:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> Any:
        import psycopg

        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="osbctl", password=PASSWORD, dbname=database, autocommit=True
        )

    def create(self) -> str:
        """The URL of an empty database."""
        if self.free:
            return self.url(self.free.pop())
        name = f"t{next(_NUMBERS)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def empty(self, url: str) -> None:
        """Empty a database, whose URL another test may get."""
        name = url.rpartition("/")[2]
        with self.connect(name) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        self.free.append(name)


def programs() -> Path | None:
    """The folder with `initdb` and `postgres`; None where PostgreSQL is not installed."""
    found = shutil.which("postgres")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


@contextlib.contextmanager
def cluster(bin: Path, temp: Path) -> Iterator[Cluster]:
    """A running cluster. `temp` is the temporary folder of this worker."""
    with _initialised(bin, temp) as (data, who), _serving(bin, data, who) as served:
        yield served


@contextlib.contextmanager
def _initialised(bin: Path, temp: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The data of a new cluster, and the arguments that start a program as PostgreSQL's user.

    The first worker makes the data, which takes a second, and the others copy it.
    """
    shared = (temp.parent if "PYTEST_XDIST_WORKER" in os.environ else temp) / "postgresql"
    with _folder() as (folder, who):
        data = folder / "data"
        with shared.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not shared.exists():
                _initialise(bin, folder, who)
                shutil.copytree(data, shared.with_suffix(".new"))
                shared.with_suffix(".new").rename(shared)
        if not data.exists():
            shutil.copytree(shared, data)
            for path in (data, *data.rglob("*")) if who else ():
                shutil.chown(path, who["user"], who["group"])
        yield data, who


def _initialise(bin: Path, folder: Path, who: dict[str, Any]) -> None:
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    init = [bin / "initdb", "-D", folder / "data", "-U", "osbctl", "--auth=scram-sha-256", "-E", "UTF8"]
    init += ["--no-sync", "--locale=C", "--wal-segsize=1", f"--pwfile={folder / 'password'}"]
    _run(init, folder, who)


@contextlib.contextmanager
def _folder() -> Iterator[tuple[Path, dict[str, Any]]]:
    """A temporary folder of PostgreSQL's user, and the arguments that start a program as that user."""
    folder, who = Path(tempfile.mkdtemp(prefix="osbctl-pg-")), _user()
    if who:
        os.chown(folder, pwd.getpwnam(who["user"]).pw_uid, -1)
    try:
        yield folder, who
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def restarting(bin: Path, temp: Path) -> Iterator[Callable[[], Cluster]]:
    """A function that starts a cluster, and at each further call stops it and starts it again at the same port."""
    with _initialised(bin, temp) as (data, who), contextlib.ExitStack() as running:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]

        def restart() -> Cluster:
            running.close()
            return running.enter_context(_serving(bin, data, who, port))

        yield restart


@contextlib.contextmanager
def _serving(bin: Path, data: Path, who: dict[str, Any], port: int = 0) -> Iterator[Cluster]:
    folder = data.parent
    with socket.create_server(("127.0.0.1", port)) as free:
        port = free.getsockname()[1]
    options = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}"]
    options += ["fsync=off", "autovacuum=off", "max_connections=40", "shared_buffers=16MB"]
    words = [word for option in options for word in ("-c", option)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([bin / "postgres", "-D", data, *words], stdout=log, stderr=log, cwd=folder, **who)
    try:
        yield _ready(Cluster(port), server, folder / "log")
    finally:
        server.send_signal(2)  # PostgreSQL's "fast" shutdown
        server.wait(60)


def _user() -> dict[str, Any]:
    """A user for PostgreSQL, which refuses to run as root."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    entry = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": entry.pw_name, "group": entry.pw_gid, "extra_groups": []}


def _run(command: list[Any], folder: Path, who: dict[str, Any]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, **who)
    assert done.returncode == 0, done.stderr


def _ready(cluster: Cluster, server: subprocess.Popen[bytes], log: Path) -> Cluster:
    import psycopg

    for _ in range(200):
        assert server.poll() is None, log.read_text()
        try:
            cluster.connect().close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return cluster
    raise AssertionError(log.read_text())
