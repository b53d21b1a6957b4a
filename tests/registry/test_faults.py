"""Faults of the database: each is one sentence, and nothing that was stored is lost or half-written."""

import os
import resource
import sqlite3
import stat
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from osbctl.errors import RegistryError, UsageError
from osbctl.parallel import run_in_parallel
from osbctl.registry.database import Database, parse_database_url
from osbctl.registry.store import Registry
from tests.case import each
from tests.registry import postgres
from tests.registry.make import SMALL, add, body, execute, plan, read, refresh, service

BIG = body(*(service(f"s{number}", "p", metadata={"text": "x" * 2000}) for number in range(200)))


def test_every_connection_to_sqlite_writes_through(tmp_path: Path) -> None:
    """A killed process loses nothing either way: only a power cut tells `synchronous` off or normal from full."""
    wanted = {"synchronous": 2, "journal_mode": "delete"}
    with (
        closing(Database(str(tmp_path / "brokers.sqlite"))) as database,
        database.write_transaction() as first,
        database.read_transaction() as second,
    ):
        for connection in (first, second):
            assert {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in wanted} == wanted


def test_a_database_that_another_process_holds_is_told_after_the_wait(tmp_path: Path) -> None:
    file = tmp_path / "brokers.sqlite"
    with Registry.open(str(file), wait_seconds=0.2) as registry:
        add(registry)
        seen = registry.broker("db").row
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        for call in (lambda: registry.store_refresh(seen, refresh()), registry.names, lambda: registry.remove("db")):
            with pytest.raises(RegistryError, match="another process is writing, and did not finish in time") as error:
                call()
            assert error.value.exit_code == 3
        holder.execute("ROLLBACK")
        holder.close()
        assert registry.broker("db").row == seen


def test_a_row_that_another_session_holds_is_told_after_the_wait(cluster: postgres.Cluster) -> None:
    url = cluster.create()
    with Registry.open(url, wait_seconds=0.2) as registry:
        add(registry)
        with cluster.connect(url.rpartition("/")[2]) as holder:
            holder.execute("BEGIN")
            holder.execute("SELECT * FROM osbctl_brokers_2 FOR UPDATE")
            with pytest.raises(RegistryError, match="another process is writing, and did not finish in time"):
                registry.store_refresh(registry.broker("db").row, refresh())
            holder.execute("ROLLBACK")
        registry.store_refresh(registry.broker("db").row, refresh())


def test_a_quota_that_is_reached_leaves_what_was_stored(tmp_path: Path) -> None:
    fill(tmp_path / "brokers.sqlite", quota=100_000)


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_leaves_what_was_stored(tmp_path: Path) -> None:
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    try:
        fill(tmp_path / "brokers.sqlite", quota=resource.RLIM_INFINITY)
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def fill(file: Path, quota: int) -> None:
    """Store more than fits: each call is refused, and stores nothing."""
    with Registry.open(str(file)) as registry:
        add(registry)
        before = registry.broker("db")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (quota, hard))
        try:
            for call in (
                lambda: registry.store_refresh(registry.broker("db").row, refresh(), catalog=read(BIG), kept=()),
                lambda: add(registry, "other", content=BIG),
            ):
                with pytest.raises(RegistryError, match="full") as error:
                    call()
                assert error.value.advice == "nothing was changed"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with Registry.open(str(file)) as registry:
        assert registry.broker("db") == before
        assert registry.names() == ["db"]
        registry.store_refresh(before.row, refresh(), catalog=read(SMALL))  # and goes on once there is room


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Registry.open(str(tmp_path / "brokers.sqlite")) as registry:
            add(registry)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()] == [0o600]


@pytest.mark.parametrize(("content", "told"), [
    (b"services: []\n" * 100, "this is not an SQLite database"),
    (b"SQLite format 3\0" + b"\xff" * 5000, "this is not an SQLite"),
])  # fmt: skip
def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "catalog.yaml"
    file.write_bytes(content)
    with pytest.raises(RegistryError, match=told) as error:
        Registry.open(str(file))
    assert "\n" not in error.value.message
    assert file.read_bytes() == content


def test_a_database_of_another_program_gets_no_tables(tmp_path: Path) -> None:
    file = tmp_path / "other-app.db"
    execute(file, "CREATE TABLE customers (id INTEGER)")
    before = file.read_bytes()
    for make in (True, False):
        with pytest.raises(RegistryError, match="this is not a registry of this osbctl: it has a table 'customers'"):
            Registry.open(str(file), create=make)
    assert file.read_bytes() == before


def test_a_server_may_be_shared_with_other_programs(cluster: postgres.Cluster) -> None:
    url = cluster.create()
    execute(url, "CREATE TABLE customers (id INTEGER)")
    with pytest.raises(RegistryError, match="a table 'customers'"):
        Registry.open(url, create=False)
    with Registry.open(url) as registry:
        add(registry)
    with Registry.open(url, create=False) as registry:
        assert registry.names() == ["db"]


def test_nothing_is_left_in_a_session_that_a_pool_may_give_to_others(cluster: postgres.Cluster) -> None:
    with closing(Database(cluster.create())) as database:
        for _ in range(9):
            with database.read_transaction() as connection:
                kept = connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar()
                assert (kept, connection.exec_driver_sql("SHOW lock_timeout").scalar()) == (0, "10s")


def test_a_server_without_an_encoding_answers_in_text(cluster: postgres.Cluster) -> None:
    with cluster.connect() as server:
        server.autocommit = True
        server.execute("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
    url = cluster.url("ascii")
    for _ in range(2):
        with Registry.open(url) as registry:
            assert registry.names() == []
    with Registry.open(url) as registry:
        add(registry, content=body(service("s", plan("p", description="größer"))))
        assert registry.broker("db").row.name == "db"


@pytest.mark.parametrize(
    ("place", "length"),
    [(b"", 10**9), (b"CREATE TABLE osbctl_brokers_2", 1), (b"(\n\tid INTEGER", 1)],
    ids=["pages", "no UTF-8 in the name of a table", "no UTF-8 in a column"],
)
def test_a_damaged_database_is_called_so(tmp_path: Path, place: bytes, length: int) -> None:
    file = tmp_path / "brokers.sqlite"
    with Registry.open(str(file)) as registry:
        add(registry, content=BIG)
    data = file.read_bytes()
    start = data.index(place) + 3 if place else 2 * 4096
    file.write_bytes(data[:start] + b"\xff" * len(data[start:][:length]) + data[start + length :])
    with pytest.raises(RegistryError, match="the database is damaged"), Registry.open(str(file)) as registry:
        list(registry.brokers())


def test_a_table_that_others_changed_is_told(url: str) -> None:
    with Registry.open(url) as registry:
        add(registry)
    execute(url, "ALTER TABLE osbctl_brokers_2 DROP COLUMN services")
    with pytest.raises(RegistryError, match="a part of it is missing"), Registry.open(url) as registry:
        registry.brokers()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    file = tmp_path / "böse %20" / "brokers.sqlite"
    with pytest.raises(RegistryError, match="there is no such folder") as error:
        Registry.open(str(file))
    assert error.value.advice
    assert str(file) in error.value.message


@pytest.mark.parametrize(("url", "driver"), [
    ("brokers.sqlite", "sqlite"),
    ("/data/my brokers%20.sqlite", "sqlite"),
    ("sqlite:////data/brokers.sqlite", "sqlite"),
    ("postgresql+psycopg://u@h/d", "postgresql+psycopg"),
    ("postgresql://u@h/d", "postgresql+psycopg"),
])  # fmt: skip
def test_a_path_and_a_url_name_a_database(url: str, driver: str) -> None:
    parsed = parse_database_url(url)
    assert parsed.drivername == driver
    if "://" not in url:
        assert parsed.database == url


@each("url", ["mysql://u:hidden@h/d", "://", "https://u:hidden@h", "sqlite://", "sqlite:///:memory:", ":memory:", "",
    "postgresql://u:S3@hidden@127.0.0.1:1/d", "postgresql://u:S3@hidden/d@h", "postgresql://u:S3@h?hidden@h/d",
])  # fmt: skip
def test_another_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError) as error:
        Registry.open(url)
    assert "hidden" not in error.value.message + error.value.advice


@each("query, told", [
    ("sslmode=hidden-pass", "invalid sslmode value: \"***\""),
    ("application_name=a&sslmode=hidden&sslrootcert=hidden-pass", "***"),
])  # fmt: skip
def test_a_value_of_the_query_is_not_quoted(query: str, told: str) -> None:
    with pytest.raises(RegistryError) as error:
        Registry.open(f"postgresql://u:S3cret%40hidden@127.0.0.1:1/d?{query}", wait_seconds=2)
    assert told in error.value.message
    assert "hidden" not in error.value.message


def test_a_server_that_is_not_there_or_refuses_is_told_without_the_password(cluster: postgres.Cluster) -> None:
    url = cluster.create()
    wrong = url.replace(postgres.PASSWORD, "wr0ng-p4ss")
    cases = {
        url.replace(f":{cluster.port}/", ":1/"): "no server listens there",
        wrong: "the server refuses the user or the password",
        url + "_gone": "the server has no such database or user",
        # Names that would match the words of other faults.
        url.replace("://osbctl:", "://readonly:"): "the server refuses the user or the password",
        url + "_column": "the server has no such database or user",
        url.replace("127.0.0.1", "/nonexistent-folder") + "?x=1": "the database failed",
    }
    for bad, told in cases.items():
        with pytest.raises(RegistryError, match=told) as error:
            Registry.open(bad, wait_seconds=2)
        assert error.value.exit_code == 3
        said = f"{error.value} {error.value.message} {error.value.advice}"
        assert postgres.PASSWORD not in said and "wr0ng-p4ss" not in said


def test_libpq_finds_the_password_by_itself(cluster: postgres.Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    url = cluster.create().replace(f":{postgres.PASSWORD}@", "@")
    monkeypatch.setenv("PGPASSFILE", "/nonexistent")
    with pytest.raises(RegistryError, match="the server refuses the user or the password"):
        Registry.open(url)
    monkeypatch.setenv("PGPASSWORD", postgres.PASSWORD)
    with Registry.open(url) as registry:
        assert registry.names() == []
        assert postgres.PASSWORD not in registry._database.name


def test_a_server_that_restarted_meanwhile_is_connected_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = postgres.programs()
    if folder is None:
        pytest.skip("no PostgreSQL here")
    temp = tmp_path_factory.getbasetemp()
    with postgres.restarting(folder, temp) as restart, Registry.open(restart().create()) as registry:
        add(registry, "a", "b")
        restart()
        assert registry.names() == ["a", "b"]
        restart()
        registry.store_refresh(registry.broker("a").row, refresh())
        restart()
        registry.remove("b")
        assert registry.names() == ["a"]


def test_threads_of_one_process_wait_for_each_other_however_long_it_takes(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "brokers.sqlite"), wait_seconds=0.1) as registry:
        add(registry, *map(str, range(8)))

        def refresh_slowly(name: str) -> None:
            row = registry.broker(name).row
            with registry._database.write_transaction():
                time.sleep(0.15)
            registry.store_refresh(row, refresh())

        results = dict(run_in_parallel(refresh_slowly, registry.names(), 8))
        assert set(results.values()) == {None}, results


def test_threads_wait_for_another_process_together(tmp_path: Path) -> None:
    """Each alone would make a run on thousands of brokers a matter of hours."""
    file = tmp_path / "brokers.sqlite"
    with Registry.open(str(file), wait_seconds=1.0) as registry:
        add(registry)
        with closing(sqlite3.connect(file, isolation_level=None)) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            tries: list[object] = []
            event.listen(registry._database.engine, "connect", lambda *connection: tries.append(connection))
            found = [error for _, error in run_in_parallel(lambda _: registry.names(), range(10), 10)]
            assert 0 < len(tries) < 6
            holder.execute("ROLLBACK")
        assert all(isinstance(error, RegistryError) and "another process" in error.message for error in found)
        assert registry.names() == ["db"]
