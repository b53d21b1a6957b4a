"""`osbctl brokers`: every command, every fault of a broker, and no trace of a password anywhere."""

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from osbctl.commands.passwords import PasswordFinder, read_password_from_stdin
from osbctl.credentials import format_records, make_record, write_record
from osbctl.errors import OsbctlError, UsageError
from osbctl.platforms import Platform
from osbctl.registry.records import RefreshOutcome, Registration
from osbctl.registry.store import Registry
from tests.broker.harness import Authority, until
from tests.case import case
from tests.cli import program, warm
from tests.cli.broker_server import BASIC, PASSWORD, USER, FakeBroker, broker
from tests.cli.machine import registered
from tests.deploy.harness import write
from tests.deploy.running import free_port
from tests.folders import schemas_folder
from tests.git import commit, git
from tests.registry.make import body, catalog, execute, plan, service
from tests.reports.standards import checked_json

OLD = catalog(service("s", plan("p", "small"), plan("q", "large")))
NEW = catalog(service("s", plan("p", "small"), plan("n", "new")))
VARIABLE = {"OSBCTL_BROKER_MY_DB_PASSWORD": PASSWORD}


def at(name: str, url: str) -> dict[str, str]:
    """The variables with a broker's password and address."""
    start = f"OSBCTL_BROKER_{name.upper().replace('-', '_')}_"
    return {f"{start}PASSWORD": PASSWORD, f"{start}URL": url}


class Program:
    """Runs `osbctl brokers` in a folder of its own, and searches all that it leaves for the password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.database = self.home / ".local/share/osbctl/brokers.sqlite"
        self.environment = program.environment(HOME=str(self.home))

    def __call__(self, *words: str, stdin: str = "", code: int = 0, **more: str) -> str:
        """Inside this process; what it printed, standard error last."""
        done = self.run("brokers", *words, stdin=stdin, code=code, **more)
        return done.stdout + done.stderr

    def run(
        self, *words: str, stdin: str = "", code: int | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        done = program.osbctl(*words, cwd=self.folder, stdin=stdin, code=code, **self.environment | more)
        self.search((done.stdout + done.stderr).encode())
        return done

    def act_as(self, platform: str) -> None:
        """Register all brokers at this platform."""
        self.sql(f"UPDATE osbctl_brokers_2 SET platform = '{platform}'")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(words, env=self.environment, cwd=self.folder, stdout=pipe, stderr=subprocess.STDOUT)

    def sql(self, statement: str) -> None:
        """Let another program write to the database in the user's data folder."""
        execute(self.database, statement)

    def search(self, output: bytes = b"") -> int:
        """Fails where the password stands, clear or as in the header; the number of files that were searched."""
        files = [file for file in self.home.rglob("*") if file.is_file()]
        for content in (output, *(file.read_bytes() for file in files)):
            assert PASSWORD.encode() not in content
            assert BASIC.encode() not in content
        return len(files)


@pytest.fixture
def osbctl(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture(scope="module")
def one_server() -> Iterator[FakeBroker]:
    with broker(OLD) as server:
        yield server


@pytest.fixture
def server(one_server: FakeBroker) -> FakeBroker:
    one_server.reset(OLD)
    return one_server


@pytest.fixture(scope="module")
def with_one(one_server: FakeBroker) -> bytes:
    """A database with the broker `my-db`."""
    return registered(["my-db"], OLD, one_server.url, USER)


@pytest.fixture
def added(osbctl: Program, server: FakeBroker, with_one: bytes) -> Program:
    """The program with the broker `my-db` registered, and its password in the environment."""
    osbctl.environment.update(at("my-db", server.url))
    osbctl.database.parent.mkdir(parents=True)
    osbctl.database.write_bytes(with_one)
    return osbctl


def test_the_life_of_a_registered_broker_without_a_trace_of_its_password(
    osbctl: Program, server: FakeBroker, tmp_path: Path
) -> None:
    assert "there is no such database" in osbctl("list", code=3)
    assert osbctl("add", "my-db", server.url, "--user", USER, "--password-stdin", stdin=PASSWORD) == "my-db: added\n"
    osbctl.environment.update(at("my-db", server.url))
    assert osbctl("refresh") == "my-db: unchanged\n"
    assert server.statuses == [200, 200]
    server.put(NEW)
    (tmp_path / "used.txt").write_text("q\n")
    dry = osbctl("refresh", "my-db", "--instances", "used.txt", "--dry-run")
    assert dry.startswith("my-db: would change the stored catalog as Cloud Foundry does: 1 created, 1 kept\n")
    assert osbctl("show", "my-db").count("\n  ") == 2
    done = osbctl("refresh", "my-db", "--instances", "used.txt")
    assert "  kept plan service-s/large: deactivated, as it has instances\n" in done
    assert "  created plan service-s/new\n" in done
    assert "kept, though gone from the catalog:\n  service-s/large  q  inactive since 20" in osbctl("show", "my-db")
    server.put(OLD)
    assert "reactivated plan service-s/large" in osbctl("refresh")
    assert osbctl("remove", "my-db") == "my-db: removed\n"
    assert osbctl("list").count("\n") == 1
    assert osbctl.search() == 1  # the database in the user's data folder, and nothing else


def test_a_dry_run_tells_of_a_renamed_service_offering_and_stores_nothing(added: Program, server: FakeBroker) -> None:
    for name, told, code in (
        ("SERVICE-S", "change-service-name-taken", 1),
        ("service-s-2", "would change the stored catalog as Cloud Foundry does", 0),
    ):
        server.put({"services": [{**OLD["services"][0], "name": name}]})
        assert told in added("refresh", "my-db", "--dry-run", code=code)
        assert json.loads(added("show", "my-db", "--format", "json")) == OLD


def test_list_is_a_table_or_json_and_show_prints_a_catalog_for_a_pipe(added: Program, server: FakeBroker) -> None:
    head, line = added("list").splitlines()
    assert [*line.split()[:4], *line.split()[5:]] == ["my-db", "cloudfoundry", "1", "2", "added", server.url]
    assert head.index("REFRESHED") == line.index(" 20") + 1
    assert "KEPT PLANS" not in head
    (row,) = json.loads(added("list", "--format", "json"))["brokers"]
    assert (row["name"], row["url"], row["username"], row["platform"]) == ("my-db", server.url, USER, "cloudfoundry")
    show = "show", "my-db", "--format", "json"
    assert json.loads(added(*show)) == OLD
    assert "the registry has no previous catalog of my-db" in added(*show, "--version", "-1", code=3)
    server.put(NEW)
    added("refresh")
    assert (json.loads(added(*show)), json.loads(added(*show, "--version", "-1"))) == (NEW, OLD)
    assert "--version" in added(*show, "--version", "-2", code=2)
    assert "q" in added("show", "my-db", "--version", "-1")
    (added.folder / "new.json").write_text(added(*show))
    piped = added.run("diff", "-", "new.json", stdin=added(*show, "--version", "-1"), code=1)
    assert "change-plan-removed" in piped.stdout


def test_json_has_the_shape_of_its_schema(added: Program, server: FakeBroker, tmp_path: Path) -> None:
    schema = json.loads((schemas_folder() / "brokers-1.json").read_text())
    (tmp_path / "used").write_text("q")
    server.put(NEW)
    added("refresh", "--instances", "used")
    server.put({"services": 5})
    added("refresh", code=1)
    (row,) = checked_json(added("list", "--format", "json"), "brokers-1")["brokers"]
    assert (row["outcome"], row["kept_plans"]) == ("refused", 1)
    for kind, values in (("outcome", RefreshOutcome), ("platform", Platform)):
        assert schema["definitions"][kind]["enum"] == list(values)


def test_the_url_is_stored_as_the_base_address_without_userinfo(osbctl: Program, server: FakeBroker) -> None:
    osbctl.environment.update(VARIABLE)
    osbctl("add", "my-db", server.url.replace("//", f"//{USER}@") + "/v2/catalog")
    (row,) = json.loads(osbctl("list", "--format", "json"))["brokers"]
    assert (row["url"], row["username"]) == (server.url, USER)


def test_wrong_usage_is_told_before_anything_is_asked(added: Program, server: FakeBroker) -> None:
    for words, told in (
        (("my-db", "https://u:{p}@broker.example.com"), "stays in the shell's history"),
        (("a b", "https://x.example.com"), "not a broker name"),
        (("my-db", "ftp://x.example.com"), "not the address of a broker"),
        (("my-db", "https://x.example.com/?token={p}"), "it has a query"),
        (("my-db", "https://x.example.com/a\u202eb"), "characters that cannot be shown"),
        (("my-db", "https://x.example.com", "--as", "heroku"), "--as"),
        (("my-db", "https://x.example.com", "--database", "mysql://u:{p}@h/d"), "does not support this database"),
        (("my-db", server.url, "--user", USER), "is already registered"),
        (("MY_DB", server.url, "--user", USER), "would share one variable"),
    ):
        with case(*words):
            assert told in added("add", *(word.format(p=PASSWORD) for word in words), code=2)
    for command in ("show", "remove", "refresh"):
        assert "did you mean my-db?" in added(command, "my-bd", code=2), command
    assert server.statuses == []


# Where the password comes from.


def test_credential_records_give_the_password_where_they_hold_it(osbctl: Program, server: FakeBroker) -> None:
    for name, include in (("with.json", True), ("without.json", False)):
        write_record(osbctl.folder / name, make_record(USER, PASSWORD, rounds=1000, include_password=include))
    add = "add", "my-db", server.url, "--user", USER, "--credentials"
    told = osbctl(*add, "without.json", code=2)
    assert "no valid record holds a password\n  hint: make one with osbctl hash-password --include-password\n" in told
    assert "in the database" not in osbctl(*add, "with.json"), "the address was typed"
    url = {"OSBCTL_BROKER_MY_DB_URL": server.url}
    assert osbctl("refresh", "--credentials", "with.json", **url) == "my-db: unchanged\n"


def test_of_several_records_the_label_and_the_expiry_decide(osbctl: Program, server: FakeBroker) -> None:
    file = osbctl.folder / "credentials.json"
    password = {"rounds": 1000, "include_password": True}
    records = [
        make_record(USER, PASSWORD + "-old", expires="2020-01-01T00:00:00Z", label="my-db", **password),
        make_record(USER, "wr0ng-by-default", **password),
        make_record(USER, PASSWORD, label="my-db", **password),
        make_record("somebody", PASSWORD + "-else", label="my-db", **password),
    ]
    file.write_text("[" + ",".join(format_records(record) for record in records) + "]")
    osbctl("add", "my-db", server.url, "--user", USER, "--credentials", file.name)
    told = osbctl("add", "other", server.url, "--user", USER, "--credentials", file.name, code=3)
    assert "authentication failed" in told
    assert "wr0ng" not in told
    file.write_text("[" + ",".join(format_records(record) for record in (records[0], *records[2:])) + "]")
    asked = len(server.statuses)
    told = osbctl("add", "other", server.url, "--user", USER, "--credentials", file.name, code=3)
    assert "the records of platform are labelled for other brokers\n  hint: set OSBCTL_BROKER_OTHER_PASSWORD" in told
    assert len(server.statuses) == asked, "no other broker's password is sent"


def test_a_prompt_asks_at_a_terminal(osbctl: Program, server: FakeBroker) -> None:
    seen = program.at_terminal(
        "stdin stdout stderr", "brokers", "add", "my-db", server.url, "--user", USER, cwd=osbctl.folder,
        answers=[(f"Password of platform at my-db ({server.url}): ", f"{PASSWORD}\n")],
        **osbctl.environment, NO_COLOR="1",
    )  # fmt: skip
    assert (seen.code, "my-db: added" in seen.screen) == (0, True)
    osbctl.search(seen.screen.encode())


def test_a_prompt_shows_the_stored_address_and_asks_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It confirms the address, which only the database names."""
    prompts: list[str] = []
    terminal = mock.patch.multiple("sys.stdin", isatty=lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt: prompts.append(prompt) or PASSWORD)
    finder = PasswordFinder(stdin=False, credentials=None, is_only_broker=True)
    stored = Registration("my-db", "http://broker.example.com/\x1b[2K", USER, "2.17", Platform.CLOUD_FOUNDRY)
    with terminal:
        assert [finder.find_password(stored) for _ in range(2)] == [PASSWORD, PASSWORD]
    assert prompts == ["Password of platform at my-db (http://broker.example.com/\\x1b[2K): "]
    assert capsys.readouterr().err == ""
    assert finder.find_password(replace(stored, username="")) == ""


def test_no_more_than_a_password_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = io.BytesIO(bytes(100_000))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(endless))
    with pytest.raises(UsageError, match="more than 8192 bytes"):
        read_password_from_stdin()
    assert endless.tell() == 8193


def test_one_password_on_standard_input_serves_one_broker(added: Program, server: FakeBroker) -> None:
    added("add", "second", server.url, "--user", USER, OSBCTL_BROKER_SECOND_PASSWORD=PASSWORD)
    advice = "name one broker, or set OSBCTL_BROKER_<NAME>_PASSWORD"
    told = f"error: standard input has one password, for several brokers\n  hint: {advice}\n"
    assert told in added("refresh", "--password-stdin", stdin=PASSWORD, code=2)
    said = added("refresh", "second", "--password-stdin", stdin=PASSWORD, OSBCTL_BROKER_SECOND_URL=server.url)
    assert said == "second: unchanged\n"


# Faults of brokers.


def stored_now(program: Program) -> dict[str, Any]:
    (row,) = json.loads(program("list", "--format", "json"))["brokers"]
    return {**row, "outcome": "", "catalog": json.loads(program("show", "my-db", "--format", "json"))}


@pytest.mark.parametrize(("fault", "told"), [
    ("down", "the connection was refused"),
    ("slow", "did not answer in time"),
    ("wrong password", "authentication failed (401)"),
    ("quotes", "not ***, ***"),
    ("no password", "no password for platform (set OSBCTL_BROKER_MY_DB_PASSWORD)"),
])  # fmt: skip
def test_a_broker_that_gives_no_catalog(added: Program, server: FakeBroker, fault: str, told: str) -> None:
    before = stored_now(added)
    server.delay, server.quotes = 5.0 * (fault == "slow"), fault == "quotes"
    if fault == "wrong password":
        added.environment["OSBCTL_BROKER_MY_DB_PASSWORD"] = "wr0ng"
    elif fault == "no password":
        del added.environment["OSBCTL_BROKER_MY_DB_PASSWORD"]
    elif fault == "down":
        before["url"] = f"http://127.0.0.1:{free_port()}"
        added.sql(f"UPDATE osbctl_brokers_2 SET url = '{before['url']}'")
        added.environment |= at("my-db", before["url"])
    said = added("refresh", "my-db", "--timeout", "0.3" if fault == "slow" else "20", code=3)
    assert said.startswith("my-db: not fetched: ")
    assert told in said
    assert "wr0ng" not in said
    assert stored_now(added) == before
    assert json.loads(added("list", "--format", "json"))["brokers"][0]["outcome"] == "failed"


def test_a_catalog_that_is_refused_leaves_the_stored_one(added: Program, server: FakeBroker) -> None:
    before = stored_now(added)
    for content, told in (
        (b'{"services": [', "[syntax]"),
        (b'{"x": 1, "x": 1, "services": []}', "[duplicate-key]"),
        (body(service("s", plan("p", "a\ud800"))), "[lone-surrogate]"),
        (body(service("s", plan("p", f"a{PASSWORD}"))), "[password-in-catalog]"),
        (b'{"services": 5}', "/services"),
        (body(service("s", plan("p", "same"), plan("q", "same"))), "same"),
        (body(service("s", plan("x", "small"), plan("q", "large"))), "Plan names must be unique"),
    ):
        who = "not stored by osbctl" if "[" in told else "refused as Cloud Foundry does"
        server.body = content
        with case(content):
            said = added("refresh", code=1)
            assert said.startswith(f"my-db: {who}; what is stored stays as it was\n")
            assert told in said
            assert stored_now(added) == before
            if "Plan names" not in told:
                words = ("add", "new", server.url, "--user", USER)
                assert f"new: {who}; nothing is stored\n" in added(*words, code=1, OSBCTL_BROKER_NEW_PASSWORD=PASSWORD)
                assert "new" not in added("list")


def test_a_secret_in_a_wrong_place_or_below_a_secret_name_is_not_quoted(added: Program, server: FakeBroker) -> None:
    client = {"id": "c", "secret": ["hunter2-and-more"], "redirect_uri": "https://x.example.com"}
    server.put(catalog(service("s", "p", "q", dashboard_client=client)))
    assert "hunter2" not in added("refresh", code=1)
    described = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"password": {"type": "hunter2"}}}
    server.put(catalog(service("s", plan("p", schemas={"service_instance": {"create": {"parameters": described}}}))))
    said = added("refresh", code=1)
    assert "the value is invalid (it may be a secret, and is not shown)" in said
    assert "hunter2" not in said


def test_a_certificate_that_nobody_vouches_for_gets_no_password(osbctl: Program, authority: Authority) -> None:
    osbctl.environment.update(VARIABLE)
    with broker(OLD, authority.issue("broker")) as server:
        assert "TLS failed" in osbctl("add", "my-db", server.url, "--user", USER, code=3)
        assert server.statuses == []
        osbctl("add", "my-db", server.url, "--user", USER, "--ca-file", str(authority.cert))
        assert "TLS failed" in osbctl("refresh", code=3)
        assert server.statuses == [200]
        told = osbctl("refresh", "--insecure")
        assert "INSECURE" in told
        assert "my-db: unchanged" in told


# Many brokers.


def test_a_refused_catalog_and_a_dead_broker_do_not_stop_the_rest(added: Program, server: FakeBroker) -> None:
    added.environment["OSBCTL_BROKER_B_PASSWORD"] = PASSWORD
    with broker(OLD) as other:
        added("add", "b", other.url, "--user", USER)
        server.put({"services": 5})
        assert "osbctl: 2 brokers: 1 unchanged, 1 refused\n" in added("refresh", code=1)
    server.put(NEW)
    said = added("refresh", "--jobs", "2", code=3)
    assert "my-db: changed the stored catalog as" in said
    assert said.count(": not fetched: ") == 1
    assert "osbctl: 2 brokers: 1 changed, 1 failed\n" in said
    assert added("refresh", "my-db", "my-db") == "my-db: unchanged\n"


@pytest.fixture(scope="module")
def with_many(one_server: FakeBroker) -> bytes:
    """A database with 12 brokers at one server."""
    return registered((f"b{number}" for number in range(12)), OLD, one_server.url, USER)


@pytest.fixture
def many(osbctl: Program, server: FakeBroker, with_many: bytes) -> Iterator[Program]:
    """The program with the 12 brokers, and their passwords in the environment."""
    database = osbctl.folder / "many.sqlite"
    database.write_bytes(with_many)
    osbctl.environment["OSBCTL_DATABASE"] = str(database)
    for number in range(12):
        osbctl.environment |= at(f"b{number}", server.url)
    yield osbctl
    osbctl.search(database.read_bytes())


def test_many_are_asked_at_once_and_no_more_than_the_bound(many: Program, server: FakeBroker) -> None:
    server.delay = 0.1
    said = many("refresh", "--jobs", "3")
    assert said.count(": unchanged\n") == 12
    assert "osbctl: 12 brokers: 12 unchanged\n" in said
    assert server.most == 3


def test_a_bar_shows_progress_at_a_terminal_and_spoils_no_line(many: Program, server: FakeBroker) -> None:
    seen = program.at_terminal("stdout stderr", "brokers", "refresh", cwd=many.folder, **many.environment, NO_COLOR="1")
    assert seen.code == 0, seen.screen
    assert "refreshing" in seen.screen
    # What a terminal shows of a line: whatever follows the last erasure of it.
    shown = [line.rstrip("\r").rpartition("\x1b[2K")[2] for line in seen.screen.split("\n")]
    assert sorted(line for line in shown if ": unchanged" in line) == sorted(f"b{n}: unchanged" for n in range(12))


def test_two_processes_that_refresh_all_at_once_lose_nothing(many: Program, server: FakeBroker) -> None:
    server.put(NEW)
    both = [many.start(str(warm.command()), "brokers", "refresh") for _ in range(2)]
    said = [one.communicate(timeout=60)[0].decode() for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert sum(one.count(": changed the stored catalog as ") for one in said) == 12  # each catalog was stored once
    with Registry.open(str(many.folder / "many.sqlite")) as registry:
        for _, row in registry.brokers():
            assert not isinstance(row, OsbctlError)
            assert (row.outcome, row.revision) == ("unchanged", 3)
            assert registry.broker(row.name).data == NEW
            assert registry.broker(row.name, previous=True).data == OLD


def test_an_interrupt_ends_it_at_once_and_harms_nothing(many: Program, server: FakeBroker) -> None:
    server.delay = 1000
    running = many.start(sys.executable, "-m", "osbctl", "brokers", "refresh", "--jobs", "4")
    assert until(lambda: server.now == 4)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, b"")
    assert server.now == 4, "the answers still wait"
    assert many("list").count("  added   http") == 12


@pytest.fixture
def removing(many: Program, server: FakeBroker) -> Program:
    """As `many`, where another process removes one broker as soon as one is asked."""
    answer = server.answer

    def remove_one(headers: Any) -> tuple[int, bytes]:
        with contextlib.suppress(UsageError), Registry.open(str(many.folder / "many.sqlite")) as registry:
            registry.remove("b7")
        return answer(headers)

    server.answer = remove_one  # type: ignore[method-assign]
    return many


def test_a_broker_that_another_process_removes_is_told_and_the_rest_goes_on(removing: Program) -> None:
    said = removing("refresh", "--jobs", "4", code=3)
    assert "b7: not stored: no broker 'b7' is registered (" in said
    assert "osbctl: 12 brokers: 11 unchanged, 1 failed\n" in said


def test_a_broker_that_others_change_again_and_again_ends_only_itself(many: Program, server: FakeBroker) -> None:
    answer = server.answer

    def change_one(headers: Any) -> tuple[int, bytes]:
        execute(many.folder / "many.sqlite", "UPDATE osbctl_brokers_2 SET revision = revision + 1 WHERE name = 'b1'")
        return answer(headers)

    server.answer = change_one  # type: ignore[method-assign]
    said = many("refresh", "--jobs", "1", code=3)
    assert "b1: not stored: another process changed the broker 'b1' at the same time (run it again)\n" in said
    assert "osbctl: 12 brokers: 11 unchanged, 1 failed\n" in said


def test_drift_goes_on_where_another_process_removes_a_broker(removing: Program) -> None:
    done = removing.run("drift", "--all", "--jobs", "1", "--format", "json", code=3)
    brokers = {one["name"]: one for one in json.loads(done.stdout)["brokers"]}
    assert "no broker 'b7' is registered" in brokers["b7"]["error"]
    assert sum(one["report"] is not None for one in brokers.values()) == 11


def test_a_password_in_the_query_of_the_database_is_never_shown(osbctl: Program) -> None:
    said = osbctl("list", "--database", f"postgresql://u@127.0.0.1:9/d?password={PASSWORD}", code=3)
    assert "127.0.0.1:9/d: no server listens there" in said


def test_of_an_address_with_two_at_signs_no_password_is_left(osbctl: Program) -> None:
    """Text before the last `@` is userinfo, as in browsers and curl."""
    for words in (("fetch",), ("diff", "/dev/null"), ("brokers", "add", "x")):
        done = osbctl.run(*words, "https://user:p4ss@w0rd@127.0.0.1:9")
        assert done.returncode in (1, 2, 3), words
        assert not re.search("p4ss|w0rd", done.stdout + done.stderr)


def test_names_cannot_move_the_cursor(added: Program, server: FakeBroker) -> None:
    added.act_as("korifi")
    server.put(catalog(service("s", plan("p", "small"), plan("q", "x\x1b[2J"))))
    said = added("refresh")
    assert "x\\x1b[2J" in said
    assert "\x1b" not in said + added("show", "my-db") + added("list")


FOREIGN = [
    "UPDATE osbctl_brokers_2 SET catalog = x'00ff'",
    "UPDATE osbctl_brokers_2 SET catalog = x'5b5d'",
    "UPDATE osbctl_brokers_2 SET catalog = x'7b227365727669636573223a5b355d7d'",
    "UPDATE osbctl_brokers_2 SET platform = 'heroku'",
    "UPDATE osbctl_brokers_2 SET api_version = '2.14' || char(13, 10) || 'X-Header: 1'",
    "UPDATE osbctl_brokers_2 SET url = 'file:///etc/passwd'",
    "UPDATE osbctl_brokers_2 SET name = char(27) || '[2J'",
    "UPDATE osbctl_brokers_2 SET kept = '[[]]'",
    "UPDATE osbctl_brokers_2 SET kept = 1",
    "DROP TABLE osbctl_brokers_2",
    "ALTER TABLE osbctl_brokers_2 DROP COLUMN plans",
    "UPDATE osbctl_brokers_2 SET services = 'many'",
    "UPDATE osbctl_brokers_2 SET catalog = -1",
    "UPDATE osbctl_brokers_2 SET catalog = '{}'",
    "UPDATE osbctl_brokers_2 SET username = cast(x'ff' AS TEXT)",
]
"""Statements of another program."""


def test_rows_that_other_programs_wrote_end_in_sentences(added: Program, server: FakeBroker, with_one: bytes) -> None:
    server.put(NEW)
    for statement in FOREIGN:
        added.database.write_bytes(with_one)
        added.sql(statement)
        for words in (("list",), ("show", "my-db"), ("refresh",), ("list", "--format", "json")):
            done = added.run("brokers", *words)
            with case(statement, *words):
                assert done.returncode in (0, 2, 3), done.stderr
                assert not {"\x1b", "\r"} & set(done.stdout + done.stderr)


def test_a_quiet_refresh_tells_only_of_what_went_wrong(many: Program, server: FakeBroker) -> None:
    assert many("refresh", "--quiet") == ""
    server.put({"services": 5})
    said = many("refresh", "--quiet", code=1)
    assert said.count("refused as Cloud Foundry does") == 12
    assert "12 brokers" not in said


ON_A_REGISTRY = ("brokers list", "brokers show x", "brokers remove x", "brokers refresh", "drift x", "drift --all")


def test_a_registry_that_is_lost_or_not_there_is_never_green(osbctl: Program) -> None:
    execute(osbctl.folder / "other.db", "CREATE TABLE customers (id)")
    (osbctl.folder / "empty.db").touch()
    before = {file: file.read_bytes() for file in osbctl.folder.glob("*.*")}
    for name, told in (
        ("empty.db", "the database is empty"),
        ("other.db", "not a registry of this osbctl"),
        ("none.sqlite", "none.sqlite: there is no such database"),
        ("sqlite:///none.sqlite", "none.sqlite: there is no such database"),
    ):
        for command in ON_A_REGISTRY:
            with case(command, name):
                done = osbctl.run(*command.split(), "--database", name, code=3)
                assert (done.stdout, told in done.stderr) == ("", True)
                assert {file: file.read_bytes() for file in osbctl.folder.glob("*.*")} == before


def test_a_stored_catalog_that_is_damaged_is_called_so(added: Program, server: FakeBroker) -> None:
    added.sql("UPDATE osbctl_brokers_2 SET catalog = x'00'")
    sentence = "what is stored of my-db is not a catalog"
    assert sentence in added("refresh", code=3)
    assert sentence in added.run("drift", "my-db").stderr


def test_another_database_is_named_by_option_or_variable(osbctl: Program, server: FakeBroker) -> None:
    osbctl.environment.update(VARIABLE)
    osbctl("add", "my-db", server.url, "--user", USER, "--database", "one.sqlite")
    assert osbctl("list", OSBCTL_DATABASE="one.sqlite").count("\n") == 2
    assert "two.sqlite: " in osbctl("list", "--database", "two.sqlite", OSBCTL_DATABASE="one.sqlite", code=3)
    assert osbctl.search() == 0


def test_without_the_extra_a_sentence_says_what_to_install(osbctl: Program) -> None:
    code = """if True:
        import sys
        from osbctl.__main__ import _run_to_exit_code
        for missing in ("sqlalchemy", "platformdirs"):  # each is imported after those in front
            sys.modules[missing] = None
            print(missing, _run_to_exit_code(["brokers", "add", "x", "http://127.0.0.1:9"]), file=sys.stderr)
            del sys.modules[missing]
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=osbctl.environment, timeout=60, check=True
    )
    told = re.split("^([a-z]+ 3)\n", done.stderr, flags=re.MULTILINE)
    assert told[1::2] == ["sqlalchemy 3", "platformdirs 3"]
    assert all(" 'sqlalchemy>=" in one for one in told[:-1:2]), told


# What the catalog of a broker must not hold, and where a password must not go.


@pytest.mark.parametrize("how", ["plain", "escaped", "as sent", "in a key", "unreadable"])
def test_a_catalog_that_holds_the_brokers_own_password_is_refused(added: Program, server: FakeBroker, how: str) -> None:
    held = BASIC if how == "as sent" else PASSWORD
    thing = service("s", "p", "q", metadata={held: "x"} if how == "in a key" else {"displayName": f"it is {held}!"})
    content = json.dumps(catalog(thing)).encode()
    if how == "escaped":
        content = content.replace(PASSWORD.encode(), b"\\u006b" + PASSWORD[1:].encode())
    server.body = content[:-1] if how == "unreadable" else content
    assert "the catalog contains the broker's own password: remove it" in added("refresh", code=1)
    told = added("add", "new", server.url, "--user", USER, code=1, OSBCTL_BROKER_NEW_PASSWORD=PASSWORD)
    assert "password-in-catalog" in told
    added.search(added("show", "my-db").encode())
    added.run("drift", "my-db", code=3)


def test_add_finds_the_brokers_own_password_however_it_is_written(osbctl: Program, server: FakeBroker) -> None:
    for form in (PASSWORD.upper(), PASSWORD.replace("-", "%2D"), PASSWORD.replace("-", "%2d").title()):
        link = f"https://db.example.com/?key={form}&x=1"
        server.put(catalog(service("s", "p", "q", metadata={"documentationUrl": link})))
        told = osbctl("add", "db", server.url, "--user", USER, "--password-stdin", stdin=PASSWORD, code=1)
        assert "the catalog contains the broker's own password: remove it, and change the password" in told, form
        assert form not in told
        assert "db" not in osbctl("list")


def test_a_stored_catalog_that_holds_the_password_is_not_shown(added: Program, server: FakeBroker) -> None:
    """The password becomes one that the stored catalog has held all along."""
    server.put(catalog(service("s", "p", "q", metadata={"displayName": "it is hunter2-hunter2!"})))
    added("refresh")
    added.environment["OSBCTL_BROKER_MY_DB_PASSWORD"] = "hunter2-hunter2"
    server.put(NEW)
    server.answer = lambda headers: (200, server.body)  # type: ignore[method-assign]
    done = added.run("drift", "my-db", code=3)
    said = added("refresh", code=1)
    assert "the stored catalog contains the broker's password: `osbctl brokers remove` it" in said
    assert "hunter2" not in done.stdout + done.stderr + said


def test_who_writes_to_the_database_cannot_lead_a_password_elsewhere(added: Program, server: FakeBroker) -> None:
    with broker(NEW) as thief:
        added.sql(f"UPDATE osbctl_brokers_2 SET url = '{thief.url}'")
        said = added("refresh", code=3)
        assert "my-db: not fetched: the password is for the address in OSBCTL_BROKER_MY_DB_URL" in said
        assert "(if the broker has moved, set OSBCTL_BROKER_MY_DB_URL; if not, find out who wrote to the" in said
        assert thief.statuses == []
        del added.environment["OSBCTL_BROKER_MY_DB_URL"]
        assert f"osbctl: the password is sent to {thief.url}, the address in the database; " in added("refresh")


def test_an_address_may_be_written_otherwise(added: Program, server: FakeBroker) -> None:
    for same in (f"{server.url}/", f"{server.url}/v2/catalog", server.url.replace("http", "HTTP")):
        assert added("refresh", OSBCTL_BROKER_MY_DB_URL=same) == "my-db: unchanged\n", same
    asked = len(server.statuses)
    port = server.url.rpartition(":")[2]
    elsewhere = f"https://127.0.0.1:{port}", f"http://127.0.0.1:1{port}"[:22], f"http://127.0.0.2:{port}"
    for other in (f"{server.url}/a", *elsewhere):
        said = added("refresh", code=3, OSBCTL_BROKER_MY_DB_URL=other)
        assert "the password is for the address in OSBCTL_BROKER_MY_DB_URL" in said, other
    added.sql(f"UPDATE osbctl_brokers_2 SET url = '{server.url}/b'")  # another broker behind the same front
    assert "none was sent" in added("refresh", code=3, OSBCTL_BROKER_MY_DB_URL=f"{server.url}/a")
    for stored, given, same in (  # no server listens there
        ("http://127.0.0.1", "http://127.0.0.1:80/", True), ("https://127.0.0.1:443", "https://127.0.0.1", True),
        ("http://localhost.", "http://localhost", True), ("http://127.0.0.1:443", "http://127.0.0.1", False),
        ("https://127.0.0.1:80", "https://127.0.0.1", False), ("http://xlocalhost", "http://localhost", False),
        ("http://127.0.0.1/a/", "http://127.0.0.1/a", True), ("http://127.0.0.1/aX", "http://127.0.0.1/a", False),
    ):  # fmt: skip
        added.sql(f"UPDATE osbctl_brokers_2 SET url = '{stored}'")
        told = added("refresh", code=3, OSBCTL_BROKER_MY_DB_URL=given)
        assert ("none was sent" not in told) is same, (stored, given)
    added.sql(f"UPDATE osbctl_brokers_2 SET url = '{server.url}'")
    assert len(server.statuses) == asked
    told = "OSBCTL_BROKER_MY_DB_URL: this is not the address of a broker (write it as https://broker.example.com)"
    assert told in added("refresh", code=3, OSBCTL_BROKER_MY_DB_URL="x")


def test_what_nothing_confirms_is_https_even_with_insecure(added: Program) -> None:
    del added.environment["OSBCTL_BROKER_MY_DB_URL"]
    added.sql("UPDATE osbctl_brokers_2 SET url = 'http://broker.example.com'")
    told = "nothing confirms http://broker.example.com, and it is not https (set OSBCTL_BROKER_MY_DB_URL)"
    assert told in added("refresh", "--insecure", code=3)
    added.sql("UPDATE osbctl_brokers_2 SET url = 'https://0.0.0.0:1'")
    told = "the password is sent to https://0.0.0.0:1, the address in the database; set OSBCTL_BROKER_MY_DB_URL to"
    assert told in added("refresh", code=3)


def test_where_the_password_goes_is_said_once(added: Program, server: FakeBroker) -> None:
    del added.environment["OSBCTL_BROKER_MY_DB_URL"]
    one = f"osbctl: the password is sent to {server.url}, the address in the database; "
    one += "set OSBCTL_BROKER_MY_DB_URL to allow no other\n"
    asked = [("brokers", "refresh"), ("drift", "my-db"), ("drift", "--all"), ("check", "my-db"), ("fetch", "my-db")]
    for words in [*asked, ("diff", "broker:my-db", "-"), ("page", "broker:my-db")]:
        with case(" ".join(words)):
            said = added.run(*words, stdin=json.dumps(OLD)).stderr
            assert (said.count(one), said.count("allow no other")) == (1, 1)
    for name in ("two", "three"):
        added("add", name, server.url, "--user", USER, "--password-stdin", stdin=PASSWORD)
        added.environment[f"OSBCTL_BROKER_{name.upper()}_PASSWORD"] = PASSWORD
    several = "osbctl: passwords are sent to the addresses in the database; "
    several += "set OSBCTL_BROKER_<NAME>_URL to allow no other\n"
    for words in asked[0], asked[2]:
        with case(" ".join(words)):
            said = added.run(*words).stderr
            assert (said.count(several), said.count("allow no other")) == (1, 1)


# A registered broker by its name in commands that take an address.


def test_commands_take_the_name_of_a_registered_broker(added: Program, server: FakeBroker) -> None:
    server.put(NEW)
    write(added.folder, {"old.json": json.dumps(OLD), "my-db/osbctl.toml": "wrong ="})  # of something else
    assert json.loads(added.run("fetch", "my-db", code=0).stdout) == NEW
    checked = added.run("check", "my-db", "--ignore", "wire-*", code=0).stdout
    assert re.search(r"v2/catalog: .*\n  Cloud Foundry  accepts\n$", checked), "judged as its own platform does"
    assert "Korifi" in added.run("check", "my-db", "-p", "korifi", "--ignore", "wire-*", code=0).stdout
    there = added.run("diff", "old.json", "broker:my-db", "-p", "cloudfoundry", code=1).stdout
    assert f"old.json → {server.url}/v2/catalog" in there
    back = added.run("diff", "broker:my-db", "old.json", "-p", "cloudfoundry", code=1).stdout
    assert f"{server.url}/v2/catalog → old.json" in back
    assert "service-s" in added.run("page", "broker:my-db", "--title", "x", code=0).stdout
    added("remove", "my-db")
    assert "no broker 'my-db' is registered" in added.run("diff", "broker:my-db", "old.json", code=2).stderr


def test_a_name_gets_the_password_of_its_broker_alone(added: Program, server: FakeBroker) -> None:
    """As by `drift`: from standard input or its own variable, and to its own address."""
    (added.folder / "new.json").write_text(json.dumps(NEW))
    calls = [("fetch", "my-db"), ("check", "my-db"), ("diff", "broker:my-db", "new.json"), ("drift", "my-db")]
    for words in calls:
        with case(" ".join(words)):
            asked = len(server.statuses)
            done = added.run(*words, OSBCTL_BROKER_MY_DB_PASSWORD="", OSBCTL_PASSWORD=PASSWORD, code=3)
            assert "there is no password for" in done.stderr
            done = added.run(*words, OSBCTL_BROKER_MY_DB_URL="https://x.example.com", code=3)
            assert "the password is for the address in OSBCTL_BROKER_MY_DB_URL" in done.stderr
            assert len(server.statuses) == asked, "nothing was sent"
            done = added.run(*words, "--password-stdin", stdin=PASSWORD, OSBCTL_BROKER_MY_DB_PASSWORD="wrong")
            assert server.statuses[asked] == 200
            told = "is for brokers that are not registered" if words[0] != "drift" else "a user of its own"
            assert told in added.run(*words, "--user", "u", code=2).stderr
            assert "is for brokers that are not registered" in added.run(*words, "--api-version", "2.13", code=2).stderr
    both = added.run("diff", "broker:my-db", server.url, "--password-stdin", stdin=PASSWORD, code=2)
    assert "standard input has one password, for several brokers" in both.stderr


def test_a_word_that_is_no_registered_broker_keeps_its_meaning(added: Program, server: FakeBroker) -> None:
    write(added.folder, dict.fromkeys(("c.json", "broker:my-db"), json.dumps(OLD)))
    for command, name in (("fetch", "my_db"), ("drift", "my-db,")):  # no name can have a comma
        said = added.run(command, name, code=2).stderr
        assert f"error: no broker '{name}' is registered\n  hint: did you mean my-db? osbctl brokers add" in said
    for command in ("check", "fetch"):
        assert "c.json is a file or folder" in added.run(command, "c.json", code=2).stderr
        assert "hint: write it as https://" in added.run(command, "localhost:80", code=2).stderr
        assert "--credentials is for registered" in added.run(command, server.url, "--credentials", "x", code=2).stderr
    asked = len(server.statuses)
    assert added.run("diff", "broker:my-db", "c.json", code=0).stderr == ""
    assert "no broker 'none' is registered" in added.run("diff", "broker:none", "c.json", code=2).stderr
    assert len(server.statuses) == asked, "a file is one, whatever it is called"
    commit(added.folder)
    git(added.folder, "branch", "broker")
    (added.folder / "c.json").write_text(json.dumps(NEW))
    assert "broker:c.json → c.json" in added.run("diff", "broker:c.json", "c.json").stdout
    (added.folder / "my-db").mkdir()
    assert json.loads(added.run("fetch", "my-db", code=0).stdout) == OLD, "a folder means nothing to fetch"


def test_a_broken_registry_is_no_matter_of_an_address_or_file(added: Program, server: FakeBroker) -> None:
    added.database.write_bytes(b"x" * 100)
    (added.folder / "c.json").write_text(json.dumps(OLD))
    assert "not an SQLite database" in added.run("check", "my-db", code=3).stderr
    assert "c.json is a file or folder" in added.run("check", "c.json", code=2).stderr
    words = ["--user", USER, "--password-stdin"]
    assert json.loads(added.run("fetch", server.url, *words, stdin=PASSWORD, code=0).stdout) == OLD
    assert added.run("diff", "c.json", server.url, *words, stdin=PASSWORD, code=0).stdout == ""


def test_an_id_of_another_broker_is_refused_where_the_platform_does(added: Program, server: FakeBroker) -> None:
    added.environment |= at("two", server.url) | at("three", server.url)
    added("add", "two", server.url, "--user", USER, "--as", "kubernetes")
    said = added("add", "three", server.url, "--user", USER, "--as", "kubernetes", code=1)
    assert 'refused: service-s: already exists for Broker "two"' in said
    added("add", "three", server.url, "--user", USER)
    client = {"id": "c", "secret": "x", "redirect_uri": "https://x.example.com"}
    server.put(catalog(service("s", "p", dashboard_client=client)))
    added("refresh", "my-db")
    assert '"Service dashboard client id must be unique"' in added("refresh", "three", code=1)


def test_korifi_takes_what_the_specification_forbids_and_empties_lists(added: Program, server: FakeBroker) -> None:
    added.act_as("korifi")
    emptied = "At each update, Korifi empties the lists of organisations that may see a plan"
    assert added("refresh").startswith(f"my-db: unchanged\n  {emptied}")
    server.put(catalog(service("s", plan("p", "small"), plan("q", "small"))))
    said = added("refresh", "--dry-run")
    assert "my-db: would change the stored catalog as Korifi does: 1 updated" in said
    assert "  warning: /services/0/plans/1/name: " in said


def test_kubernetes_saves_what_stands_before_the_first_fault(added: Program, server: FakeBroker) -> None:
    added.act_as("kubernetes")
    server.put(catalog(service("s", plan("n", "new"), plan("x", "none") | {"description": ""}, name="other")))
    for _ in range(2):  # it tries again
        said = added("refresh", code=1)
        assert "my-db: refused as Kubernetes Service Catalog does; " in said
        assert "plan 'none': description must not be empty" in said
    stored = json.loads(added("show", "my-db", "--format", "json"))["services"][0]
    assert (stored["name"], [one["id"] for one in stored["plans"]]) == ("other", ["p", "q", "n"])
