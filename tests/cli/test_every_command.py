"""Every command and every file that it reads or writes, against what goes wrong with files and standard output.

No traceback, no hang, no exit 0 unless the work was done, and no file changed that the command did not say it wrote.
A command, option or argument that has no row here fails.
"""

import gc
import json
import os
import re
import shutil
import signal
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn
from unittest import mock

import pytest

from osbctl.credentials import make_record, write_record
from tests.broker.harness import Authority
from tests.case import case
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import commands, osbctl
from tests.corpus import EVERY_CASE
from tests.deploy.harness import write
from tests.folders import catalogs_folder
from tests.sources.folder import brokerpaks

SECONDS = 60.0
"""Time limit of a command: generous, since the machine may be busy; its own timeouts are set to a fraction."""


@dataclass(frozen=True)
class Row:
    """One command: a call that does its work, and the same call for each file, `@`, that it reads or writes.

    `onto` makes a call with a file that is read one that writes over it; empty where no option can name that file.
    """

    call: str
    reads: dict[str, str] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)
    prints: bool = True
    changes: tuple[str, ...] = ()
    onto: str = ""


ACCESS = "--user platform --password-stdin --ca-file ca.pem"
TLS = {"ca_file": "--user platform --password-stdin --ca-file @", "client_cert": f"{ACCESS} --client-cert @"}
DATABASE = {"database": "--database @"}
ENV = {"env": "pak --env @"}
TWO = "catalog.json other.json --fail-on never"
PORT = "--port 0 --tls-cert cert.pem --tls-key key.pem"
HASH = "a --generate --rounds 1000"
ADD = "two URL --as cloudfoundry"
STORED = "--database brokers.sqlite"
ONE = "one --password-stdin --ca-file ca.pem"
REGISTERED = {
    "credentials": f"--ca-file ca.pem {STORED} --credentials @",
    "database": "--password-stdin --ca-file ca.pem --database @",
}


def below(call: str, words: dict[str, str]) -> dict[str, str]:
    return {name: f"{call} {more}" for name, more in words.items()}


def options(call: str, *names: str) -> dict[str, str]:
    return {name: f"{call} --{name} @" for name in names}


def writing(call: str, reads: dict[str, str], changes: tuple[str, ...] = (), **writes: str) -> Row:
    """A command with -o."""
    return Row(call, reads, {"output": f"{call} -o @", **writes}, changes=changes, onto="{} -o @")


ROWS = {
    "validate": writing(
        "catalog.json",
        {"sources": "@", "schemas": "catalog.json --schema @", **options("catalog.json", "config", "baseline"), **ENV},
        baseline="catalog.json --write-baseline --baseline @",
    ),
    "schema": Row(""),
    "show": Row("catalog.json", {"source": "@", **options("catalog.json", "config"), **ENV}),
    "fix": Row("catalog.json", {"sources": "@", **options("catalog.json", "config"), **ENV}, prints=False),
    "build": writing(
        "source",
        {"folder": "@", "overlays": "source --overlay @", **options("source", "config"), **ENV},
        ("source/catalog.lock",),
    ),
    "init": Row("new --service a", writes={"folder": "@ --service a"}, prints=False, changes=("new",)),
    "new": Row("plan postgres big -C source", writes={"folder": "service a -C @"}, prints=False, changes=("source/",)),
    "split": Row(
        "catalog.json new",
        {"source": "@ new", "config": "catalog.json new --config @", "env": "pak new --env @"},
        {"folder": "catalog.json @"},
        prints=False,
        changes=("new",),
        onto="@ @",
    ),
    "diff": writing(
        TWO,
        {
            "old": "@ other.json --fail-on never",
            "new": "catalog.json @ --fail-on never",
            **options(TWO, "instances", "allow", "config"),
            "env": "pak catalog.json --fail-on never --env @",
            **below("URL catalog.json --fail-on never", TLS),
            **below("broker:one catalog.json --fail-on never", REGISTERED),
        },
    ),
    "drift": writing(
        TWO,
        {
            "broker": "@ other.json --fail-on never",
            "stored": "catalog.json @ --fail-on never",
            **options(TWO, "instances", "allow", "config"),
            "env": "pak catalog.json --fail-on never --env @",
            **options(f"one --fail-on never --ca-file ca.pem {STORED}", "credentials"),
            **below("URL catalog.json --fail-on never", TLS),
            **below(f"{ONE} --fail-on never", DATABASE),
        },
    ),
    "fetch": writing(
        f"URL {ACCESS}", {**below("URL", TLS), **options(f"URL {ACCESS}", "config"), **below("one", REGISTERED)}
    ),
    "check": writing(
        f"URL {ACCESS} --fail-on never",
        {
            **below("URL --fail-on never", TLS),
            **options(f"URL {ACCESS} --fail-on never", "config"),
            **below("one --fail-on never", REGISTERED),
        },
    ),
    "serve": Row(
        f"none.json --credentials credentials.json {PORT}",
        {
            "source": f"@ --credentials credentials.json {PORT}",
            "credentials": f"catalog.json --credentials @ {PORT}",
            "config": f"catalog.json --credentials none.json {PORT} --config @",
            "tls_cert": "catalog.json --credentials credentials.json --port 0 --tls-cert @ --tls-key key.pem",
            "tls_key": "catalog.json --credentials credentials.json --port 0 --tls-cert cert.pem --tls-key @",
        },
        prints=False,
    ),
    "params": Row(
        "catalog.json message-queue shared",
        {
            "source": "@ message-queue shared",
            "request": "catalog.json message-queue shared --parameters AT@",
            "previous": "pak acme-database.v1 small --env vars.env --for update --parameters {} --previous AT@",
            "config": "catalog.json message-queue shared --config @",
            "env": "pak acme-database.v1 small --env @",
        },
    ),
    "page": writing(
        "catalog.json",
        {
            "sources": "@",
            **options("catalog.json", "since", "logo", "config"),
            **ENV,
            **below("URL", TLS),
            **below("broker:one", REGISTERED),
        },
    ),
    "hash-password": writing(HASH, options(HASH, "append")),
    "verify-password": Row("credentials.json platform --password-stdin", {"file": "@ platform --password-stdin"}),
    "rules": Row("", {"schemas": "--schema @", "config": "--config @"}),
    "lsp": Row("", prints=False),
    "brokers add": Row(
        f"{ADD} {ACCESS} {STORED}",
        {
            **below(f"{ADD} {STORED}", TLS),
            **options(f"{ADD} --ca-file ca.pem {STORED}", "credentials"),
            **below(f"{ADD} {ACCESS}", DATABASE),
        },
        changes=("brokers.sqlite",),
        onto="{} --database @",
    ),
    "brokers list": Row(STORED, DATABASE, changes=("brokers.sqlite-",)),
    "brokers show": Row(f"one {STORED}", below("one", DATABASE), changes=("brokers.sqlite-",)),
    "brokers refresh": Row(
        f"{ONE} {STORED}",
        {
            "ca_file": f"one --password-stdin {STORED} --ca-file @",
            "client_cert": f"{ONE} {STORED} --client-cert @",
            **options(f"{ONE} {STORED}", "instances"),
            **options(f"one --ca-file ca.pem {STORED}", "credentials"),
            **below(ONE, DATABASE),
        },
        changes=("brokers.sqlite",),
        onto="{} --database @",
    ),
    "brokers remove": Row(f"one {STORED}", below("one", DATABASE), changes=("brokers.sqlite",)),
}

NO_FILE = set(
    """accept access_log admin_host admin_listen allow_empty api_version at base_path check color connections
    expires fail_on force format generate host identity ignore include_password insecure insecure_http jobs label log_format
    log_level max_bytes minimum_version missing_version_status name names password_stdin platform
    platforms plan port quiet rounds rule select service stdin_filename stored_as stored_broker thing timeout long
    trusted_proxy unix_socket url user variables version dry_run purpose broker title accent date findings all_brokers
    connections_per_address trusted_proxy_hops stdio unsafe diff check together write_baseline concise catalogs_only
    exclude strict audience images embed_images internal_images""".split()  # noqa: SIM905
)
"""Options that name no file to read or write. (tests/broker covers Unix sockets.)"""

GOOD = {
    "schemas": "schema.json", "config": "config.toml", "folder": "source", "overlays": "overlay.yaml",
    "instances": "instances.txt", "allow": "allow.toml", "ca_file": "ca.pem", "client_cert": "client.pem",
    "credentials": "credentials.json", "append": "credentials.json", "file": "credentials.json",
    "request": "request.json", "previous": "request.json", "logo": "logo.png", "tls_cert": "cert.pem", "tls_key": "key.pem", "database": "brokers.sqlite", "env": "vars.env",
}  # fmt: skip
"""The file that each holds when all is well, catalog.json where it is not named."""

FINE = {
    ("diff", "allow", "empty"): "an empty file allows nothing",
    ("drift", "allow", "empty"): "an empty file allows nothing",
    ("diff", "instances", "truncated"): "a shorter list of plans is one",
    ("drift", "instances", "truncated"): "a shorter list of plans is one",
    ("brokers refresh", "instances", "truncated"): "a shorter list of plans is one",
    ("hash-password", "append", "gone"): "a missing file is made",
    ("hash-password", "append", "empty"): "a file without a record gets its first one",
    **{
        (command, "env", fault): "other lines than assignments are skipped"
        for command in ("build", "diff", "drift", "fix", "page", "params", "show", "split", "validate")
        for fault in ("empty", "truncated")
    },
    **{
        (command, "config", "empty"): "no settings"
        for command in "build check diff drift fetch fix page params rules show split validate".split()  # noqa: SIM905
    },
    ("page", "logo", "truncated"): "what it begins with says that it is a picture",
    ("brokers add", "database", "empty"): "an empty file is an empty database",
    ("brokers add", "database", "gone"): "a missing database is made",
}
"""Cases with a faulty file and exit code 0, with the reason."""


COMMANDS = {name: command for name, command in commands().items() if not hasattr(command, "commands")}


def test_every_command_has_a_row_and_every_parameter_is_known() -> None:
    assert COMMANDS.keys() == ROWS.keys()
    for name, command in COMMANDS.items():
        known = NO_FILE | ROWS[name].reads.keys() | ROWS[name].writes.keys()
        assert {parameter.name for parameter in command.params} <= known, name


class Ran(NamedTuple):
    code: int
    said: str


Files = dict[str, tuple[int, bytes]]
"""The mode of each file and folder, and the content of each regular file."""


def contents(folder: Path) -> Files:
    found = {}
    waiting = [str(folder)]
    while waiting:
        for entry in os.scandir(waiting.pop()):
            mode, data = entry.stat(follow_symlinks=False).st_mode, b""
            if stat.S_ISREG(mode):
                with open(entry.path, "rb", buffering=0) as file:  # noqa: PTH123  # at a third of the cost
                    data = file.read()
            elif stat.S_ISDIR(mode):
                waiting.append(entry.path)
            found[entry.path.removeprefix(f"{folder}/")] = mode, data
    return found


class Desk:
    """A folder with a good file of each kind, the address of a broker, and the runs of commands in that folder."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.copy, self.url = folder, folder.with_name("copy"), url
        self.before = self.good = contents(folder)

    def restore(self) -> None:
        """Put back all good files, and remove all others."""
        now = contents(self.folder)
        for name in sorted(now.keys() - self.good.keys(), reverse=True):
            (os.rmdir if stat.S_ISDIR(now.pop(name)[0]) else os.unlink)(self.folder / name)
        if now != self.good:
            shutil.rmtree(self.folder)
            shutil.copytree(self.copy, self.folder)

    def keep(self) -> None:
        """Take the files that are there now for the good ones."""
        self.good = contents(self.folder)
        shutil.copytree(self.folder, self.copy, dirs_exist_ok=True)

    def run(self, command: str, words: str, stdout: str | None = "") -> Ran:
        self.before = contents(self.folder)
        line = [*command.split(), *words.replace("URL", self.url).split()]
        stdin = PASSWORD * ("--password-stdin" in line)
        if command == "lsp" and stdout == "":
            stdout = os.devnull  # it needs a descriptor
        with bounded(), warnings.catch_warnings():
            done = osbctl(*line, cwd=self.folder, stdin=stdin, stdout=stdout, HOME=str(self.folder))
            if command == "lsp":  # it leaves a stream for the end of its process
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()
        ran = Ran(done.returncode, done.stdout + done.stderr)
        assert ran.code in (0, 1, 2, 3), ran.said
        assert "Exception" not in ran.said
        return ran

    def changed(self, before: Files | None = None) -> set[str]:
        """The names of the files that differ from those `before`, by default before the last run."""
        before, after = before or self.before, contents(self.folder)
        return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@contextmanager
def bounded() -> Iterator[None]:
    """Fail a command after `SECONDS`, and restore the handlers of signals that it may set."""

    def late(*_: object) -> NoReturn:
        raise TimeoutError

    handlers = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("good")
    cert, key = authority.issue("every-command")
    certificate, catalog = cert.read_text(), (catalogs_folder() / "interface-example.json").read_text()
    files = {
        "ca.pem": authority.cert.read_text(), "cert.pem": certificate, "key.pem": key.read_text(),
        "client.pem": certificate + key.read_text(),
        "catalog.json": catalog, "other.json": catalog.replace('description": "', 'description": "x'),
        "schema.json": '{"type": "object"}', "request.json": '{"a": 1}', "vars.env": "export A=1\nexport B=2\n", "config.toml": 'fail-on = "error"\n',
        "overlay.yaml": "services: {postgres: {bindable: true}}\n",
        "instances.txt": "\n".join(plan["id"] for plan in json.loads(catalog)["services"][0]["plans"]),
        "allow.toml": '[[allow]]\nrule = "change-plan-removed"\nobject = "a/b"\nreason = "x"\n',
    }  # fmt: skip
    write(folder, files)
    texts = {
        "manifest": brokerpaks.MANIFEST.replace("- redis.yml\n", ""),
        "database": brokerpaks.DATABASE.replace(", beta", ""),
    }
    brokerpaks.brokerpak(folder / "pak", **texts)
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    write_record(folder / "credentials.json", make_record(USER, PASSWORD, rounds=1000, include_password=True))
    with broker(json.loads(catalog), (cert, key)) as server:
        desk = Desk(folder, server.url)
        for line in (
            ("init", "source --service postgres"),
            ("build", "source"),
            ("brokers add", f"one URL --as cloudfoundry {ACCESS} --database brokers.sqlite"),
        ):
            assert desk.run(*line).code == 0
        desk.keep()
        with mock.patch("osbctl.files.WRITER_WAIT", 0.05):
            yield desk


@pytest.fixture
def desk(good: Desk) -> Iterator[Desk]:
    yield good
    good.restore()


def spoil(good: Path, path: Path, fault: str) -> None:
    if fault == "empty":
        path.write_bytes(b"")
    elif fault == "truncated":
        data = (good / "services" / "postgres.yaml" if good.is_dir() else good).read_bytes()
        path.write_bytes(data[: len(data) // 2])
    elif fault == "unreadable":
        path.symlink_to("/proc/self/mem")
    elif fault == "fifo":
        os.mkfifo(path)
    elif fault == "folder":
        path.mkdir()


FAULTS = ["empty", "truncated", "unreadable", "fifo", "gone"]
READS = [(name, parameter) for name, row in ROWS.items() for parameter in row.reads]
WRITES = [(name, parameter) for name, row in ROWS.items() for parameter in row.writes]


def test_every_command_that_writes_is_asked_to_write_over_its_inputs() -> None:
    assert {name for name, row in ROWS.items() if row.writes and not row.onto} == {"init", "new"}  # they read none


def test_an_output_that_is_an_input(desk: Desk) -> None:
    """Also by another name: of a link, or of a file inside of the source folder."""
    (desk.folder / "link").symlink_to("catalog.json")
    for command, parameter in READS:
        onto = ROWS[command].onto
        if not onto or (parameter == "database" and "--database" in onto):  # what is written there is added
            continue
        good = GOOD.get(parameter, "catalog.json")
        call = ROWS[command].reads[parameter].replace("@", good).replace("AT", "@")
        call = re.sub(r"--database brokers.sqlite(?=.*--database)", "", onto.format(call))
        (desk.folder / "link").unlink()
        (desk.folder / "link").symlink_to(good)
        is_folder = (desk.folder / good).is_dir()
        for name in [f"{good}/catalog.json", f"{good}/services/postgres.yaml"] if is_folder else [good, "link"]:
            with case(command, parameter, name):
                ran = desk.run(command, call.replace("@", name if "@ @" not in call else good))
                assert ran.code, ran.said
                if "-o" in onto and command != "hash-password":
                    assert "is an input of this command" in ran.said or "is in the source folder" in ran.said
                assert {one for one in desk.changed() if not one.startswith("brokers.sqlite")} == set()


KEPT = {
    "catalog.json": None,
    "credentials.json": None,
    "source/catalog.lock": None,
    "osbctl.toml": "",
    "shared.toml": 'ignore = ["default-implicit"]\n',
    "htpasswd": "admin:$6$saltsaltsaltsalt$" + 85 * "x" + ".\n",
}


def test_what_nobody_can_make_again(desk: Desk) -> None:
    """A glob after -o, say: what is there is a catalog, though not one that the command reads."""
    for name, text in KEPT.items():
        for command, parameter in WRITES:
            if parameter == "folder":
                continue
            desk.restore()
            kept = desk.folder / (name if name.endswith(".toml") else "kept")
            kept.write_text((desk.folder / name).read_text() if text is None else text)
            with case(command, parameter, name):
                ran = desk.run(command, ROWS[command].writes[parameter].replace("@", kept.name))
                if name == "catalog.json" and command in ("build", "fetch"):
                    assert ran.code == 0, ran.said  # they make catalogs
                else:
                    assert ran.code in (2, 3), ran.said
                    assert desk.changed() == set()


def test_the_call_of_each_row_works(desk: Desk) -> None:
    for command, row in ROWS.items():
        desk.restore()
        with case(command):
            ran = desk.run(command, row.call)
            assert ran.code == (3 if command == "serve" else 0), ran.said
            assert {name for name in desk.changed() if not name.startswith(row.changes or "-")} == set()


@pytest.mark.fuzz
@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_cannot_be_read(desk: Desk, fault: str) -> None:
    """Reading /proc/self/mem fails for root, too."""
    for command, parameter in READS:
        # All commands open these in one place: fetch shows it, or list and add; the others that they ask there.
        alike = parameter in (*TLS, *DATABASE) and command not in ("fetch", "brokers list", "brokers add")
        if alike and fault != "fifo":
            continue
        if parameter in ("config", "env") and not EVERY_CASE and FAULTS.index(fault) % 2 != [*ROWS].index(command) % 2:
            continue
        desk.restore()
        good = GOOD.get(parameter, "catalog.json")
        subject = "subject" + Path(good).suffix
        spoil(desk.folder / good, desk.folder / subject, fault)
        with case(command, parameter):
            ran = desk.run(command, ROWS[command].reads[parameter].replace("@", subject).replace("AT", "@"))
            if (command, parameter, fault) in FINE:
                assert ran.code == 0, ran.said
                continue
            assert ran.code != 0, ran.said
            assert fault != "gone" or ran.code == 3, ran.said
            assert "standard output" not in ran.said  # that is no file which is read
            # A database is made where there is none, and an empty file is one.
            databases = ("brokers.sqlite", "subject.sqlite")
            assert {name for name in desk.changed() if not name.startswith(databases)} == set()


def test_it_says_what_is_wrong(desk: Desk) -> None:
    """With what is there and is no file."""
    for command, parameter, fault, said in (
        ("validate", "config", "fifo", "cannot be read: it did not end"),
        ("validate", "config", "folder", "cannot be read: Is a directory"),
        ("validate", "schemas", "folder", "this is a folder"),
        ("params", "request", "folder", "this is a folder"),
        ("brokers list", "database", "fifo", "cannot be opened: it is not a regular file"),
        ("brokers list", "database", "folder", "cannot be opened: it is not a regular file"),
        ("brokers list", "database", "/dev/full", "cannot be opened: it is not a regular file"),
    ):
        desk.restore()
        spoil(desk.folder, desk.folder / "subject", fault)
        subject = fault if fault.startswith("/") else "subject"
        with case(command, parameter, fault):
            ran = desk.run(command, ROWS[command].reads[parameter].replace("@", subject).replace("AT", "@"))
            assert ran.code == 3
            assert f"{subject}: " in ran.said
            assert said in ran.said


@pytest.mark.parametrize("stdout", ["/dev/full", None])
def test_standard_output_that_takes_nothing(desk: Desk, stdout: str | None) -> None:
    for command, row in ROWS.items():
        desk.restore()
        with case(command):
            ran = desk.run(command, row.call, stdout=stdout)
            if row.prints:
                assert ran.code == 3
                assert "standard output cannot be written" in ran.said
            elif command != "serve":
                assert ran.code == 0, ran.said


def test_what_cannot_be_written(desk: Desk) -> None:
    os.mkfifo(desk.folder / "fifo")
    (desk.folder / "file").write_text("")
    for command, parameter in WRITES:
        for target in ("none/out", "fifo", "/dev/full", "file/out"):
            if command in ("init", "split") and target == "none/out":
                continue  # folders are made
            with case(command, parameter, target):
                ran = desk.run(command, ROWS[command].writes[parameter].replace("@", target))
                assert ran.code == 3, ran.said
                assert desk.changed() == set()
