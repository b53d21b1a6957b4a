"""Every command and every file that it reads or writes, against what goes wrong with files and standard output.

No traceback, no hang, no exit 0 unless the work was done, and no file changed that the command did not say it wrote.
A command, option or argument that has no row here fails.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from unittest import mock

import pytest

from osbctl.cli.app import build as application
from tests.broker.harness import Authority, certificate
from tests.cli import warm
from tests.cli.machine import PASSWORD, Machine
from tests.cli.program import osbctl
from tests.folders import catalogs_folder

SECONDS = 20.0
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


def below(call: str, options: dict[str, str]) -> dict[str, str]:
    return {name: f"{call} {words}" for name, words in options.items()}


ROWS = {
    "validate": Row(
        "catalog.json",
        {
            "sources": "@",
            "schemas": "catalog.json --schema @",
            "config": "catalog.json --config @",
            "baseline": "catalog.json --baseline @",
            "env": "catalog.json --env @",
        },
        {"output": "catalog.json -o @", "baseline": "catalog.json --write-baseline --baseline @"},
        onto="{} -o @",
    ),
    "schema": Row(""),
    "show": Row("catalog.json", {"source": "@", "env": "catalog.json --env @"}),
    "fix": Row(
        "catalog.json",
        {"sources": "@", "config": "catalog.json --config @", "env": "catalog.json --env @"},
        prints=False,
    ),
    "build": Row(
        "source",
        {"folder": "@", "overlays": "source --overlay @", "env": "source --env @"},
        {"output": "source -o @"},
        changes=("source/catalog.lock",),
        onto="{} -o @",
    ),
    "init": Row("new --service a", writes={"folder": "@ --service a"}, prints=False, changes=("new/",)),
    "new": Row("plan postgres big -C source", writes={"folder": "service a -C @"}, prints=False, changes=("source/",)),
    "split": Row(
        "catalog.json new",
        {"source": "@ new", "env": "catalog.json new --env @"},
        {"folder": "catalog.json @"},
        prints=False,
        changes=("new/",),
        onto="@ @",
    ),
    "diff": Row(
        "catalog.json other.json --fail-on never",
        {
            "env": "catalog.json other.json --fail-on never --env @",
            "old": "@ other.json --fail-on never",
            "new": "catalog.json @ --fail-on never",
            "instances": "catalog.json other.json --fail-on never --instances @",
            "allow": "catalog.json other.json --fail-on never --allow @",
            **below("URL catalog.json --fail-on never", TLS),
        },
        {"output": "catalog.json other.json --fail-on never -o @"},
        onto="{} -o @",
    ),
    "drift": Row(
        "catalog.json other.json --fail-on never",
        {
            "env": "catalog.json other.json --fail-on never --env @",
            "broker": "@ other.json --fail-on never",
            "stored": "catalog.json @ --fail-on never",
            "instances": "catalog.json other.json --fail-on never --instances @",
            "allow": "catalog.json other.json --fail-on never --allow @",
            "credentials": "one --fail-on never --ca-file ca.pem --database brokers.sqlite --credentials @",
            **below("URL catalog.json --fail-on never", TLS),
            **below("one --password-stdin --ca-file ca.pem --fail-on never", DATABASE),
        },
        {"output": "catalog.json other.json --fail-on never -o @"},
        onto="{} -o @",
    ),
    "fetch": Row(f"URL {ACCESS}", below("URL", TLS), {"output": f"URL {ACCESS} -o @"}, onto="{} -o @"),
    "check": Row(
        f"URL {ACCESS} --fail-on never",
        below("URL --fail-on never", TLS),
        {"output": f"URL {ACCESS} --fail-on never -o @"},
        onto="{} -o @",
    ),
    "serve": Row(
        "none.json --credentials credentials.json --port 0 --tls-cert cert.pem --tls-key key.pem",
        {
            "source": "@ --credentials credentials.json --port 0 --tls-cert cert.pem --tls-key key.pem",
            "credentials": "catalog.json --credentials @ --port 0 --tls-cert cert.pem --tls-key key.pem",
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
            "env": "catalog.json message-queue shared --env @",
        },
    ),
    "page": Row(
        "catalog.json",
        {
            "sources": "@",
            "since": "catalog.json --since @",
            "env": "catalog.json --env @",
            "logo": "catalog.json --logo @",
            "config": "catalog.json --config @",
            **below("URL", TLS),
        },
        {"output": "catalog.json -o @"},
        onto="{} -o @",
    ),
    "hash-password": Row(
        "a --generate --rounds 1000",
        {"append": "a --generate --rounds 1000 --append @"},
        {"output": "a --generate --rounds 1000 -o @"},
        onto="{} -o @",
    ),
    "verify-password": Row("credentials.json platform --password-stdin", {"file": "@ platform --password-stdin"}),
    "rules": Row(""),
    "lsp": Row("", prints=False),
    "brokers add": Row(
        f"two URL --as cloudfoundry {ACCESS} --database brokers.sqlite",
        {
            **below("two URL --as cloudfoundry --database brokers.sqlite", TLS),
            "credentials": "two URL --as cloudfoundry --ca-file ca.pem --database brokers.sqlite --credentials @",
            **below(f"two URL --as cloudfoundry {ACCESS}", DATABASE),
        },
        changes=("brokers.sqlite",),
        onto="{} --database @",
    ),
    "brokers list": Row("--database brokers.sqlite", DATABASE, changes=("brokers.sqlite-",)),
    "brokers show": Row("one --database brokers.sqlite", below("one", DATABASE), changes=("brokers.sqlite-",)),
    "brokers refresh": Row(
        "one --password-stdin --ca-file ca.pem --database brokers.sqlite",
        {
            "instances": "one --password-stdin --ca-file ca.pem --database brokers.sqlite --instances @",
            "credentials": "one --ca-file ca.pem --database brokers.sqlite --credentials @",
            "ca_file": "one --password-stdin --database brokers.sqlite --ca-file @",
            "client_cert": "one --password-stdin --ca-file ca.pem --database brokers.sqlite --client-cert @",
            **below("one --password-stdin --ca-file ca.pem", DATABASE),
        },
        changes=("brokers.sqlite",),
        onto="{} --database @",
    ),
    "brokers remove": Row("one --database brokers.sqlite", below("one", DATABASE), changes=("brokers.sqlite",)),
}

NO_FILE = set(
    """accept access_log admin_host admin_listen allow_empty api_version at base_path check color connections env_prefix
    expires fail_on force format generate host identity ignore include_password insecure insecure_http jobs label log_format
    log_level max_bytes minimum_version missing_version_status name names password_stdin platform
    platforms profiles plan port quiet rounds rule select self_signed service start stdin_filename stored_as stored_broker thing timeout
    trusted_proxy unix_socket url user variables version wait dry_run purpose broker title accent date findings all_brokers
    connections_per_address stdio unsafe diff check together write_baseline concise
    statistics strict""".split()  # noqa: SIM905
)
"""Options that name no file to read or write. (tests/broker covers Unix sockets.)"""

GOOD = {
    "schemas": "schema.json", "config": "config.toml", "folder": "source", "overlays": "overlay.yaml",
    "instances": "instances.txt", "allow": "allow.toml", "ca_file": "ca.pem", "client_cert": "client.pem",
    "credentials": "credentials.json", "append": "credentials.json", "file": "credentials.json",
    "request": "request.json", "logo": "logo.png", "tls_cert": "cert.pem", "tls_key": "key.pem", "database": "brokers.sqlite",
}  # fmt: skip
"""The file that each holds when all is well, catalog.json where it is not named."""

FINE = {
    ("diff", "allow", "empty"): "an empty file allows nothing",
    ("drift", "allow", "empty"): "an empty file allows nothing",
    ("diff", "instances", "truncated"): "a shorter list of plans is one",
    ("drift", "instances", "truncated"): "a shorter list of plans is one",
    ("brokers refresh", "instances", "truncated"): "a shorter list of plans is one",
    ("hash-password", "append", "gone"): "a missing file is made",
    **{
        (command, "env", fault): "other lines than assignments are skipped"
        for command in ("build", "diff", "drift", "fix", "page", "params", "show", "split", "validate")
        for fault in ("empty", "truncated")
    },
    ("validate", "config", "empty"): "no settings",
    ("fix", "config", "empty"): "no settings",
    ("page", "config", "empty"): "no settings",
    ("page", "logo", "truncated"): "what it begins with says that it is a picture",
    ("brokers add", "database", "empty"): "an empty file is an empty database",
    ("brokers add", "database", "gone"): "a missing database is made",
}
"""Cases with a faulty file and exit code 0, with the reason."""

FAULTS = ("empty", "truncated", "unreadable", "fifo", "gone")
"""Faults of input files. Reading /proc/self/mem fails for root, too."""


def commands() -> dict[str, Any]:
    found = {}
    for name, command in application([]).commands.items():
        for below_it, inner in getattr(command, "commands", {"": command}).items():
            found[f"{name} {below_it}".strip()] = inner
    return found


def test_every_command_has_a_row_and_every_parameter_is_known() -> None:
    assert commands().keys() == ROWS.keys()
    for name, command in commands().items():
        known = NO_FILE | ROWS[name].reads.keys() | ROWS[name].writes.keys()
        assert {parameter.name for parameter in command.params} <= known, name


PROCESSES = ("serve", "lsp")
"""Commands that handle signals or use the streams of their process."""
STREAMS = {"": "", "full": " >/dev/full", "closed": " >&-"}
"""Redirections of the shell by the kind of standard output."""


class Ran(NamedTuple):
    code: int
    said: str


class Runner:
    """Runs command lines inside this process; those that need one of their own in a fork of another: tests/cli/warm.py."""

    def __init__(self, good: Path, url: str) -> None:
        self.good = good
        self.url = url

    def run(self, folder: Path, command: str, words: str, stdout: str = "") -> Ran:
        line = [*command.split(), *words.replace("URL", self.url).split()]
        stdin = "--password-stdin" in line
        if not stdout and command not in PROCESSES:
            with bounded():
                done = osbctl(*line, cwd=folder, stdin=PASSWORD * stdin, HOME=str(self.good))
            return Ran(done.returncode, done.stdout + done.stderr)
        shell = ["sh", "-c", f'exec "$0" "$@"{STREAMS[stdout]}', str(warm.command()), *line]
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.good), warm.WAIT: "0.05"}
        done = subprocess.run(
            shell, cwd=folder, env=variables, input=PASSWORD * stdin, capture_output=True, text=True, timeout=SECONDS
        )
        return Ran(done.returncode, done.stdout + done.stderr)


@contextmanager
def bounded() -> Iterator[None]:
    """Fail a command after `SECONDS`."""

    def late(*_: object) -> NoReturn:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with mock.patch.multiple("osbctl.files", WRITER_WAIT=0.05, READER_WAIT=0.05):
        yield from running(tmp_path_factory)


def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    folder = tmp_path_factory.mktemp("good")
    from cryptography.hazmat.primitives import serialization

    authority = Authority(folder, folder / "ca.pem")
    cert = certificate(authority.key, authority.key, "test authority", ca=True, days=50)
    authority.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    cert_file, key_file = authority.issue("cert")
    (folder / "key.pem").write_bytes(key_file.read_bytes())
    (folder / "client.pem").write_bytes(cert_file.read_bytes() + key_file.read_bytes())
    catalog = (catalogs_folder() / "interface-example.json").read_text()
    files = {
        "catalog.json": catalog, "catalog.yaml": catalog, "other.json": catalog.replace("description\": \"", "description\": \"x"),
        "schema.json": '{"type": "object"}', "request.json": '{"a": 1}', "config.toml": 'fail-on = "error"\n', "overlay.yaml": "services: {postgres: {bindable: true}}\n",
        "instances.txt": "\n".join(plan["id"] for plan in json.loads(catalog)["services"][0]["plans"]), "stdin": PASSWORD,
        "allow.toml": '[[allow]]\nrule = "change-plan-removed"\nobject = "a/b"\nreason = "x"\n',
    }  # fmt: skip
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    for name, text in files.items():
        (folder / name).write_text(text)
    machine = Machine(folder)
    machine.run("hash-password", "platform", "--password-stdin", "--rounds", "1000", "-o", "credentials.json",
                "--include-password", stdin=PASSWORD)  # fmt: skip
    machine.run("init", "source", "--service", "postgres")
    machine.run("build", "source")
    with machine.serving(cert_file, key_file) as url:
        line = ["brokers", "add", "one", url, "--as", "cloudfoundry", *ACCESS.split(), "--database", "brokers.sqlite"]
        machine.run(*line, stdin=PASSWORD)
        (folder / "serve.log").rename(folder.with_name("serve.log"))
        yield Runner(folder, url)
        folder.with_name("serve.log").rename(folder / "serve.log")


@pytest.fixture
def folder(runner: Runner, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runner.good, tmp_path / "work"))


def contents(folder: Path) -> dict[str, Any]:
    found = {}
    for top, _, names in os.walk(folder):
        for path in (Path(top, name) for name in names):
            mode = path.lstat().st_mode
            found[str(path.relative_to(folder))] = mode, path.read_bytes() if stat.S_ISREG(mode) else b""
    return found


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def holds(ran: Ran) -> None:
    """Properties of every run."""
    assert ran.code in (0, 1, 2, 3), ran.said
    assert "Traceback" not in ran.said
    assert "internal error" not in ran.said
    assert "Exception" not in ran.said


def spoil(good: Path, path: Path, fault: str) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if fault == "empty":
        path.write_bytes(b"")
    elif fault == "truncated":
        data = (good / "services" / "postgres.yaml" if good.is_dir() else good).read_bytes()
        path.write_bytes(data[: len(data) // 2])
    elif fault == "unreadable":
        path.symlink_to("/proc/self/mem")
    elif fault == "fifo":
        os.mkfifo(path)


READS = [
    (name, parameter, fault)
    for name, row in ROWS.items()
    for parameter in row.reads
    for fault in FAULTS
    # All commands open these in one place: fetch shows it, or list and add; the others that they ask there.
    if name in ("fetch", "brokers list", "brokers add") or parameter not in (*TLS, *DATABASE) or fault == "fifo"
]
WRITES = [(name, parameter) for name, row in ROWS.items() for parameter in row.writes]


ONTO = [(name, parameter) for name, row in ROWS.items() if row.onto for parameter in row.reads]


def test_every_command_that_writes_is_asked_to_write_over_its_inputs() -> None:
    assert {name for name, row in ROWS.items() if row.writes and not row.onto} == {"init", "new"}  # they read none


@pytest.mark.parametrize(("command", "parameter"), ONTO)
def test_an_output_that_is_an_input(runner: Runner, folder: Path, command: str, parameter: str) -> None:
    """Also by another name: of a link, or of a file inside of the source folder."""
    good = GOOD.get(parameter, "catalog.json")
    if "--database" in ROWS[command].onto and parameter == "database":
        return  # what is written there is added
    call = ROWS[command].reads[parameter].replace("@", good).replace("AT", "@")
    call = re.sub(r"--database brokers.sqlite(?=.*--database)", "", ROWS[command].onto.format(call))
    (folder / "link").symlink_to(good)
    names = [f"{good}/catalog.json", f"{good}/services/postgres.yaml"] if (folder / good).is_dir() else [good, "link"]
    for name in names:
        line = call.replace("@", name if "@ @" not in call else good)
        before = contents(folder)
        ran = runner.run(folder, command, line)
        holds(ran)
        assert ran.code, ran.said
        if "-o" in ROWS[command].onto and command != "hash-password":
            assert "is an input of this command" in ran.said or "is in the source folder" in ran.said
        assert {one for one in changed(before, contents(folder)) if not one.startswith("brokers.sqlite")} == set()


KEPT = {
    "catalog.json": None,
    "credentials.json": None,
    "source/catalog.lock": None,
    "osbctl.toml": "",
    "htpasswd": "admin:$6$saltsaltsaltsalt$" + 85 * "x" + ".\n",
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize(("command", "parameter"), [row for row in WRITES if "folder" not in row])
def test_what_nobody_can_make_again(runner: Runner, folder: Path, command: str, parameter: str, name: str) -> None:
    """A glob after -o, say: what is there is a catalog, though not one that the command reads."""
    kept = folder / ("osbctl.toml" if name == "osbctl.toml" else "kept")
    text = KEPT[name]
    kept.write_text((folder / name).read_text() if text is None else text)
    before = contents(folder)
    ran = runner.run(folder, command, ROWS[command].writes[parameter].replace("@", kept.name))
    holds(ran)
    if name == "catalog.json" and command in ("build", "fetch"):
        assert ran.code == 0, ran.said  # they make catalogs
        return
    assert ran.code in (2, 3), ran.said
    assert changed(before, contents(folder)) == set()


@pytest.mark.parametrize(("command", "parameter"), [row for row in WRITES if row[1] == "output"])
def test_an_output_without_a_name(runner: Runner, folder: Path, command: str, parameter: str) -> None:
    line = [*command.split(), *ROWS[command].writes[parameter].replace("URL", runner.url).replace("@", "").split(), ""]
    with bounded():
        done = osbctl(*line, cwd=folder, stdin=PASSWORD * ("--password-stdin" in line))
    assert done.returncode == 2
    assert "-o needs a file name" in done.stderr


@pytest.mark.parametrize("command", ROWS)
def test_the_call_of_the_row_works(runner: Runner, folder: Path, command: str) -> None:
    row, before = ROWS[command], contents(folder)
    ran = runner.run(folder, command, row.call)
    holds(ran)
    assert ran.code == (3 if command == "serve" else 0), ran.said
    undeclared = {name for name in changed(before, contents(folder)) if not name.startswith(row.changes or "-")}
    assert undeclared == set()


@pytest.mark.parametrize(("command", "parameter", "fault"), READS)
def test_a_file_that_cannot_be_read(runner: Runner, folder: Path, command: str, parameter: str, fault: str) -> None:
    good = GOOD.get(parameter, "catalog.json")
    subject = "subject" + Path(good).suffix
    spoil(runner.good / good, folder / subject, fault)
    before = contents(folder)
    ran = runner.run(folder, command, ROWS[command].reads[parameter].replace("@", subject).replace("AT", "@"))
    holds(ran)
    if (command, parameter, fault) in FINE:
        assert ran.code == 0, ran.said
        return
    assert ran.code != 0, ran.said
    assert "standard output" not in ran.said  # that is no file which is read
    # A database is made where there is none, and an empty file is one.
    databases = ("brokers.sqlite", "subject.sqlite")
    assert {name for name in changed(before, contents(folder)) if not name.startswith(databases)} == set()


@pytest.mark.parametrize(
    ("command", "parameter", "fault", "said"),
    [
        ("validate", "config", "fifo", "cannot be read: it did not end"),
        ("validate", "config", "folder", "cannot be read: Is a directory"),
        ("validate", "schemas", "folder", "this is a folder"),
        ("params", "request", "folder", "this is a folder"),
        ("brokers list", "database", "fifo", "cannot be opened: it is not a regular file"),
        ("brokers list", "database", "folder", "cannot be opened: it is not a regular file"),
        ("brokers list", "database", "/dev/full", "cannot be opened: it is not a regular file"),
    ],
)
def test_it_says_what_is_wrong(  # with what is there and is no file
    runner: Runner, folder: Path, command: str, parameter: str, fault: str, said: str
) -> None:
    if fault == "folder":
        (folder / "subject").mkdir()
    else:
        spoil(folder, folder / "subject", fault)
    subject = fault if fault.startswith("/") else "subject"
    ran = runner.run(folder, command, ROWS[command].reads[parameter].replace("@", subject).replace("AT", "@"))
    assert ran.code == 3
    assert f"{subject}: " in ran.said
    assert said in ran.said


@pytest.mark.parametrize("stdout", ["full", "closed"])
@pytest.mark.parametrize("command", ROWS)
def test_standard_output_that_takes_nothing(runner: Runner, folder: Path, command: str, stdout: str) -> None:
    row = ROWS[command]
    ran = runner.run(folder, command, row.call, stdout)
    holds(ran)
    if row.prints:
        assert ran.code == 3
        assert "standard output cannot be written" in ran.said
    elif command != "serve":
        assert ran.code == 0, ran.said


@pytest.mark.parametrize("target", ["none/out", "fifo", "/dev/full", "file/out"])
@pytest.mark.parametrize(("command", "parameter"), WRITES)
def test_what_cannot_be_written(runner: Runner, folder: Path, command: str, parameter: str, target: str) -> None:
    os.mkfifo(folder / "fifo")
    (folder / "file").write_text("")
    if command in ("init", "split") and target == "none/out":
        pytest.skip("folders are made")
    before = contents(folder)
    ran = runner.run(folder, command, ROWS[command].writes[parameter].replace("@", target))
    holds(ran)
    assert ran.code == 3, ran.said
    assert changed(before, contents(folder)) == set()
