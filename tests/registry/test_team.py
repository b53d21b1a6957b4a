"""`osbctl brokers` on PostgreSQL, as a team uses it: the same story, and no password anywhere."""

from pathlib import Path
from typing import Any

from osbctl.registry.store import Registry
from tests.cli import program
from tests.cli.broker_server import BASIC, PASSWORD, USER, Answer, broker, listening
from tests.cli.test_brokers import NEW, OLD, VARIABLE, Program
from tests.registry import postgres
from tests.registry.make import SMALL, add


def test_a_team_shares_a_database_but_no_password(cluster: postgres.Cluster, tmp_path: Path) -> None:
    url = cluster.create()
    osbctl = Program(tmp_path)
    osbctl.environment |= {**VARIABLE, "OSBCTL_DATABASE": url}
    said = ""
    with broker(OLD) as server:
        said += osbctl("add", "my-db", server.url, "--user", USER, "--as", "korifi")
        server.put(NEW)
        said += osbctl("refresh")
        said += osbctl("show", "my-db") + osbctl("list")
    said += osbctl("refresh", code=3)
    assert "kept plan service-s/large: still offered: Korifi deletes nothing" in said
    assert "service-s/large  q  offered since 20" in said
    assert stored(cluster, url).count("'my-db'") == 1
    assert not [secret for secret in (PASSWORD, BASIC, postgres.PASSWORD) if secret in said + stored(cluster, url)]
    told = osbctl("list", code=3, OSBCTL_DATABASE=url.replace(f":{cluster.port}/", ":1/"))
    assert "no server listens there" in told
    assert postgres.PASSWORD not in told
    osbctl("remove", "my-db")
    assert stored(cluster, url).count("'my-db'") == 0
    assert osbctl.search() == 0  # no file was made beside it


def test_what_reads_works_where_nothing_may_be_written(cluster: postgres.Cluster, tmp_path: Path) -> None:
    """As on a standby: docs/explanation/capacity.md."""
    url = cluster.create()
    osbctl = Program(tmp_path)
    osbctl.environment |= {**VARIABLE, "OSBCTL_DATABASE": url}
    with broker(OLD) as server:
        osbctl("add", "my-db", server.url, "--user", USER)
        shown = osbctl("show", "my-db")
        osbctl.environment["OSBCTL_DATABASE"] = f"{url}?options=-c%20default_transaction_read_only%3Don"
        assert osbctl("show", "my-db") == shown
        assert "my-db" in osbctl("list")
        assert "unchanged" in osbctl("refresh", "--dry-run")
        for words in (("refresh",), ("remove", "my-db"), ("add", "other", server.url, "--user", USER)):
            assert "the database is read-only" in osbctl(*words, code=3, OSBCTL_BROKER_OTHER_PASSWORD=PASSWORD)


def stored(cluster: postgres.Cluster, url: str) -> str:
    """Everything in the table of the database, with binary columns as text."""
    with cluster.connect(url.rpartition("/")[2]) as connection:
        return repr(connection.execute("SELECT * FROM osbctl_brokers_2").fetchall())


def test_a_server_that_closes_its_connections_during_a_refresh(cluster: postgres.Cluster) -> None:
    """As one does that is restarted."""
    url, names = cluster.create(), ("one", "two", "three")

    def answer(_: str, __: str, ___: Any, ____: bytes) -> Answer:
        with cluster.connect() as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = %s",
                [url.rpartition("/")[2]],
            )
        return 200, {}, SMALL

    with listening(answer) as address:
        with Registry.open(url) as registry:
            for name in names:
                add(registry, name, url=f"{address}/{name}", username="")
        for words in ("drift --all -j 1", "brokers refresh -j 1"):
            done = program.osbctl(*words.split(), code=0, OSBCTL_DATABASE=url)
            assert all(name in done.stdout for name in names), done
