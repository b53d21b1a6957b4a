"""The store, on SQLite and PostgreSQL alike."""

import datetime
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event, update

from osbctl.errors import RegistryError, SourceError, UsageError, command_to_install
from osbctl.platforms import Identity, Platform, State
from osbctl.platforms.updates import StoredRow
from osbctl.registry import open_registry, records, store
from osbctl.registry.database import BROKERS, Database
from osbctl.registry.records import (
    Action,
    ActionKind,
    DamagedRowError,
    NameTakenError,
    OutdatedError,
    RefreshOutcome,
    Remark,
    UnknownBrokerError,
)
from osbctl.registry.store import Registry
from osbctl.registry.text import broker_lines
from tests.registry.make import AT, SMALL, add, body, catalog, read, refresh, registration, service

ODD = 'quo"te \' 100% \x00 \ud83d "\u202e" ümläut \U0001f600'


def test_times_are_in_utc_to_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    before = int(time.time())
    try:
        told = datetime.datetime.strptime(records.utc_timestamp(), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.UTC)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert before <= told.timestamp() <= time.time()


def test_what_was_added_is_read_again(registry: Registry) -> None:
    content = body(service("s", "p", "q"), service("t", "r"))
    new = registration("db", Platform.KORIFI, username="üser", api_version="2.16")
    registry.add(new, read(content), refresh(RefreshOutcome.ADDED))
    broker = registry.broker("db")
    assert broker.catalog == content
    assert broker.data["services"][1]["plans"][0]["id"] == "r"
    row = broker.row
    assert (row.url, row.username, row.api_version, row.platform) == (
        "https://db.example.com", "üser", "2.16", Platform.KORIFI,
    )  # fmt: skip
    assert (row.services, row.plans, row.kept_plans, row.outcome) == (2, 3, 0, RefreshOutcome.ADDED)
    assert (row.registered_at, row.refreshed_at) == (AT, AT)
    add(registry, "B", "a")
    assert [name for name, _ in registry.brokers()] == registry.names() == ["B", "a", "db"]
    assert row == registry.brokers()[-1][1]


def test_an_unknown_broker_gets_advice(registry: Registry) -> None:
    with pytest.raises(UnknownBrokerError, match="no broker 'db' is registered") as error:
        registry.broker("db")
    assert error.value.advice == "none is registered yet; osbctl brokers add registers one"
    add(registry, "data-services")
    for call in (registry.broker, registry.remove):
        with pytest.raises(UnknownBrokerError) as error:
            call("data-service")
        assert error.value.advice == "did you mean data-services? osbctl brokers add registers one"
        assert error.value.exit_code == 2
    add(registry, "data-eu")
    both, three = "data-eu or data-services", "data-a or data-b or data-eu"
    for name, told in (("data-es", both), ("dat", both), ("da", ""), ("orders", ""), ("data", three)):
        if told == three:
            add(registry, "data-a", "data-b")
        with pytest.raises(UnknownBrokerError) as error:
            registry.broker(name)
        start = f"did you mean {told}?" if told else "osbctl brokers list shows all;"
        assert error.value.advice == f"{start} osbctl brokers add registers one", name


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", "a/b", "ä", "a" * 101, "a\n", "https://x", "a\x1b[2J"])
def test_a_name_of_a_wrong_shape_is_refused(registry: Registry, name: str) -> None:
    with pytest.raises(UsageError, match="not a broker name") as error:
        registry.check_name_available(name)
    assert error.value.advice == "use up to 100 letters, digits and . _ -, first a letter or a digit"


@pytest.mark.parametrize("other", ["my-db", "MY-DB", "my_db", "my.db"])
def test_two_brokers_never_share_the_variable_with_the_password(registry: Registry, other: str) -> None:
    add(registry, "my-db")
    message = f"'{other}' and the registered broker 'my-db' would share one variable for their passwords"
    told = (message, "choose a name that differs in letters or digits, not only in case and punctuation")
    if other == "my-db":
        told = ("a broker 'my-db' is already registered", "osbctl brokers refresh fetches its catalog")
    for call in (registry.check_name_available, lambda name: add(registry, name)):
        with pytest.raises(NameTakenError) as error:
            call(other)
        assert (error.value.message, error.value.advice) == told
    assert store.env_variable_part("my-db.2") == "MY_DB_2"
    assert registry.names() == ["my-db"]


def test_who_comes_in_between_takes_the_name(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    add(registry, "db")
    monkeypatch.setattr(store, "_check_name_available", lambda *_: None)
    with pytest.raises(NameTakenError) as error:
        add(registry, "db")
    assert error.value.message == "a broker 'db' is already registered"
    assert registry.names() == ["db"]


def test_a_refresh_stores_catalog_and_kept_objects_together(registry: Registry) -> None:
    add(registry, "db", "other")
    kept = (
        StoredRow("s", None, {"id": "s", "name": ODD}, State.INACTIVE, AT),
        StoredRow("s", "p", {"id": "p", "name": ODD, "metadata": {ODD: [1.5, None]}}, State.INACTIVE, AT),
    )
    done = refresh(actions=(Action(ActionKind.KEPT, ODD, ODD, ODD),), remarks=(Remark("rule", "breaking", ODD, ODD),))
    content = body(service("t", "q"))
    registry.store_refresh(registry.broker("db").row, done, catalog=read(content), kept=kept)
    broker = registry.broker("db")
    assert (broker.catalog, broker.kept, broker.row.kept_plans) == (content, kept, 1)
    assert registry.broker("other").catalog == SMALL
    registry.store_refresh(broker.row, done, catalog=read(content), kept=())
    assert (registry.broker("db").kept, registry.broker("db").row.kept_plans) == ((), 0)


@pytest.mark.parametrize("outcome", [RefreshOutcome.REFUSED, RefreshOutcome.FAILED])
def test_what_brings_no_catalog_leaves_the_stored_one(registry: Registry, outcome: RefreshOutcome) -> None:
    add(registry)
    before = registry.broker("db")
    registry.store_refresh(before.row, refresh(outcome, at="2026-05-05T00:00:00Z"))
    assert registry.broker("db") == replace(before, row=replace(before.row, outcome=outcome, revision=2))


def test_an_update_saved_in_part_is_no_refresh(registry: Registry) -> None:
    add(registry)
    before, content = registry.broker("db").row, body(service("t", "q"))
    registry.store_refresh(before, refresh(RefreshOutcome.REFUSED, at="2026-05-05T00:00:00Z"), catalog=read(content))
    after = registry.broker("db")
    assert (after.catalog, after.row.refreshed_at) == (content, before.refreshed_at)
    registry.store_refresh(after.row, refresh(at="2026-05-06T00:00:00Z"), catalog=read(content))
    assert registry.broker("db").row.refreshed_at == "2026-05-06T00:00:00Z"


def test_only_who_asks_for_it_makes_a_registry(tmp_path: Path) -> None:
    for file in (tmp_path / "missing.db", tmp_path / "empty.db"):
        if file.stem == "empty":
            file.touch()
        with pytest.raises(RegistryError):
            Registry.open(str(file), create=False)
    assert not (tmp_path / "missing.db").exists()
    assert (tmp_path / "empty.db").stat().st_size == 0


def test_the_catalog_before_is_kept(registry: Registry) -> None:
    add(registry, "db", "other")
    with pytest.raises(SourceError, match="the registry has no previous catalog of db") as error:
        registry.broker("db", previous=True)
    assert error.value.advice == "omit --version"
    contents = [body(service("s", *"pqr"[:number])) for number in (2, 3)]
    for content, before in zip(contents, (SMALL, contents[0]), strict=True):
        registry.store_refresh(registry.broker("db").row, refresh(), catalog=read(content))
        registry.store_refresh(registry.broker("db").row, refresh(RefreshOutcome.UNCHANGED))
        found = registry.broker("db", previous=True)
        assert (registry.broker("db").catalog, found.catalog, found.kept) == (content, before, ())
        assert found.row == registry.broker("db").row
    with pytest.raises(SourceError):
        registry.broker("other", previous=True)


def test_an_unchanged_catalog_moves_the_time(registry: Registry) -> None:
    add(registry)
    registry.store_refresh(registry.broker("db").row, refresh(RefreshOutcome.UNCHANGED, at="2026-05-05T00:00:00Z"))
    row = registry.broker("db").row
    assert (row.refreshed_at, row.registered_at) == ("2026-05-05T00:00:00Z", AT)


def test_a_refresh_is_one_statement(registry: Registry) -> None:
    """So no other process, and none that was killed, sees half of it."""
    add(registry)
    seen, statements = registry.broker("db").row, []
    with registry._database.write_transaction() as connection:
        event.listen(connection.engine, "before_cursor_execute", lambda *words: statements.append(words[2]))
    kept = (StoredRow("s", "p", {}, State.INACTIVE, AT),)
    registry.store_refresh(seen, refresh(), catalog=read(body(service("t", "q"))), kept=kept)
    assert [one.split()[0] for one in statements if one.split()[0] in ("INSERT", "UPDATE", "DELETE")] == ["UPDATE"]


def test_an_outdated_refresh_stores_nothing(registry: Registry) -> None:
    add(registry)
    seen = registry.broker("db").row
    registry.store_refresh(seen, refresh(), catalog=read(body(service("first", "p"))))
    stands = registry.broker("db")
    with pytest.raises(OutdatedError, match="another process changed the broker 'db' at the same time") as error:
        registry.store_refresh(seen, refresh(), catalog=read(body(service("second", "p"))), kept=())
    assert error.value.advice == "run it again"
    assert registry.broker("db") == stands
    registry.remove("db")
    add(registry)
    with pytest.raises(OutdatedError):  # another broker of the same name
        registry.store_refresh(stands.row, refresh())


def test_one_broker_is_removed(registry: Registry) -> None:
    add(registry, "db", "other")
    registry.remove("db")
    assert registry.names() == ["other"]


def test_several_that_open_a_new_database_at_once_all_succeed(url: str) -> None:
    gate = threading.Barrier(6)

    def work(number: int) -> None:
        gate.wait(60)
        with Registry.open(url) as registry:
            add(registry, f"b{number}")

    _together(work, 6)
    with Registry.open(url) as registry:
        assert len(registry.names()) == 6


def test_of_two_that_add_one_name_one_wins(url: str) -> None:
    Registry.open(url).close()
    gate, won, lost = threading.Barrier(4), [], []

    def work(number: int) -> None:
        with Registry.open(url) as registry:
            gate.wait(60)
            try:
                add(registry, "db", username=f"u{number}")
                won.append(number)
            except (NameTakenError, RegistryError) as error:
                lost.append(error)

    _together(work, 4)
    assert len(won) == 1, lost
    assert [type(error) for error in lost] == [NameTakenError] * 3
    with Registry.open(url) as registry:
        assert registry.broker("db").row.username == f"u{won[0]}"


def test_several_writers_lose_nothing(url: str) -> None:
    """Each adds its own services to the one catalog; at the end all are there."""
    with Registry.open(url) as registry:
        add(registry, content=body())
    each, writers = 8, 4

    def work(number: int) -> None:
        with Registry.open(url, wait_seconds=30) as registry:
            done = 0
            while done < each:
                stored = registry.broker("db")
                content = body(*stored.data["services"], service(f"{number}-{done}", "p"))
                with suppress(OutdatedError):
                    registry.store_refresh(stored.row, refresh(), catalog=read(content))
                    done += 1

    _together(work, writers)
    with Registry.open(url) as registry:
        broker = registry.broker("db")
    assert {one["id"] for one in broker.data["services"]} == {f"{w}-{n}" for w in range(writers) for n in range(each)}
    assert broker.row.revision == 1 + each * writers


def test_a_current_database_is_opened_without_writing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Registry.open(url).close()
    monkeypatch.setattr(Database, "write_transaction", lambda _: pytest.fail("made again"))
    with Registry.open(url) as registry:
        assert registry.names() == []


def test_ids_of_other_brokers_on_the_platform(registry: Registry) -> None:
    kubernetes = Platform.KUBERNETES
    for name, content in (("one", SMALL), ("two", body(service("t", "q"))), ("broken", body(service("b", "r")))):
        add(registry, name, content=content, platform=kubernetes)
    add(registry, "elsewhere", content=body(service("e", "f")))
    with registry._database.write_transaction() as connection:
        connection.execute(update(BROKERS).where(BROKERS.c.name == "broken").values(services=2))
    damaged = "the stored catalog of broken is damaged: it has 1 service and 1 plan, not 2 services and 1 plan"
    with pytest.raises(DamagedRowError, match=damaged):
        _ = registry.broker("broken").document
    new = catalog(service("s", "q"), service("b", "r"), service("e", "f"))
    one, two = {(Identity.SERVICE_ID, "s"): "one"}, {(Identity.PLAN_ID, "q"): "two"}
    assert registry.find_taken_ids(registration("new", kubernetes), new) == one | two
    assert registry.find_taken_ids(registration("one", kubernetes), new) == two
    assert registry.find_taken_ids(registration("new", kubernetes), new, registry.broker("two")) == one
    assert registry.find_taken_ids(registration("new"), new) == {}


def test_a_catalog_counts_as_its_platform_reads_it(registry: Registry) -> None:
    content = SMALL.replace(b'"services"', b'"Services"').replace(b'"id"', b'"ID"').replace(b'"plans"', b'"Plans"')
    offered = ["\nservice-s  s", "  plan-p  p"]
    for name, counts in (("kubernetes", (1, 1)), ("korifi", (1, 1)), ("cloudfoundry", (0, 0))):
        add(registry, name, content=content, platform=Platform(name))
        broker = registry.broker(name)
        assert (name, broker.counts, [*broker_lines(broker)][8:]) == (name, counts, offered if any(counts) else [])
    taken = {(Identity.SERVICE_ID, "s"): "kubernetes", (Identity.PLAN_ID, "p"): "kubernetes"}
    assert registry.find_taken_ids(registration("new", Platform.KUBERNETES), catalog(service("s", "p"))) == taken
    with registry._database.write_transaction() as connection:  # as osbctl counted before
        connection.execute(update(BROKERS).where(BROKERS.c.name == "korifi").values(services=0, plans=0))
    assert registry.broker("korifi").offered.counts == (1, 1)


def test_a_library_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    with pytest.raises(RegistryError, match=r"^the registry of brokers needs SQLAlchemy and platformdirs$") as error:
        open_registry(None)
    assert error.value.advice == command_to_install("registry")


def _together(work: Callable[[int], None], number: int) -> None:
    with ThreadPoolExecutor(number) as pool:
        list(pool.map(work, range(number), timeout=60))
