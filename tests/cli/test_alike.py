"""Options that several commands have, and passwords, behave alike in all of them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.case import case
from tests.cli.broker_server import PASSWORD, USER, FakeBroker, broker
from tests.cli.machine import registered
from tests.cli.program import at_terminal, commands, osbctl
from tests.folders import catalogs_folder
from tests.registry.make import catalog, plan, service

SHOP = catalog(service("s", plan("p", "small")))
ASKED = f"URL --user {USER} --password-stdin"
CALLS = {
    "validate": "shop.json",
    "diff": "shop.json other.json -f json",
    "drift": "shop.json other.json -f json",
    "check": f"{ASKED} --fail-on never",
    "fetch": ASKED,
    "page": "shop.json",
    "build": "source",
    "hash-password": "a --password-stdin --rounds 1000",
    "show": "shop.json",
    "params": "shop.json service-s small",
    "rules": "",
    "brokers list": "",
    "brokers show": "data",
}
"""Calls of the commands with `-o` or `--format` that end well."""

PASSWORDS = {
    "hash-password": "a",
    "verify-password": "credentials.json a",
    "check": f"URL --user {USER}",
    "fetch": f"URL --user {USER}",
    "diff": f"URL shop.json --user {USER}",
    "drift": f"URL shop.json --user {USER}",
    "page": f"URL --user {USER}",
    "brokers add": f"x URL --user {USER}",
    "brokers refresh": "data",
}
"""Calls of the commands that ask for a password."""


def with_option(name: str) -> set[str]:
    return {called for called, command in commands().items() if name in {one.name for one in command.params}}


@pytest.fixture(scope="module")
def server() -> Iterator[FakeBroker]:
    with broker(SHOP) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, server: FakeBroker) -> Path:
    for name in ("shop.json", "other.json"):
        (tmp_path / name).write_text(json.dumps(SHOP))
    (tmp_path / "source").symlink_to(catalogs_folder() / "source")
    (tmp_path / "b.sqlite").write_bytes(registered(["data"], SHOP, server.url, USER))
    osbctl(
        "hash-password", "a", "--password-stdin", "--rounds", "1000", "-o", "credentials.json", cwd=tmp_path, stdin="x"
    )
    return tmp_path


def words(command: str, call: str, server: FakeBroker) -> list[str]:
    return [*command.split(), *call.replace("URL", server.url).split()]


def test_an_output_file(desk: Path, server: FakeBroker) -> None:
    (desk / "folder").mkdir()
    for command in with_option("output"):
        call = words(command, CALLS[command], server)
        for target, code, told in (
            ("-", 0, ""),
            ("new.out", 0, ""),
            ("none/new.out", 3, "error: none/new.out: cannot be written: No such file or directory\n"),
            ("folder", 3, "error: folder: cannot be written: Is a directory\n"),
            ("/dev/full", 3, "error: /dev/full: cannot be written: No space left on device\n"),
            ("", 2, "error: -o needs a file name\n  hint: name a file, or leave the option out\n"),
        ):
            with case(command, target):
                done = osbctl(*call, "-o", target, cwd=desk, stdin=PASSWORD, code=code)
                assert bool(done.stdout) == (target == "-")
                assert told in done.stderr
                assert ("error: " in done.stderr) == bool(code)
        assert (desk / "new.out").stat().st_size
        with case(command, "an existing file"):
            (desk / "new.out").write_text("old")
            # Only what cannot be made again is never replaced: records, with their passwords.
            code = 3 if command == "hash-password" else 0
            osbctl(*call, "-o", "new.out", cwd=desk, stdin=PASSWORD, code=code)
            assert ((desk / "new.out").read_text() == "old") == bool(code)
        (desk / "new.out").unlink()
        assert not [*desk.glob("*.tmp"), *(desk / "folder").iterdir()]


def test_a_format_that_is_none(desk: Path, server: FakeBroker) -> None:
    for command in with_option("format"):
        with case(command):
            call = words(command, CALLS[command].replace("-f json", ""), server)
            done = osbctl(*call, "--format", "xml", cwd=desk, stdin=PASSWORD, code=2, OSBCTL_DATABASE="b.sqlite")
            assert done.stdout == ""
            assert done.stderr.startswith("error: invalid value for '--format' / '-f': 'xml' is not one of '")
            assert done.stderr.endswith(f"\n  hint: see osbctl {command} --help\n")
            osbctl(*call, "--format", "json", cwd=desk, stdin=PASSWORD, code=0, OSBCTL_DATABASE="b.sqlite")


def test_an_empty_password(desk: Path, server: FakeBroker) -> None:
    assert PASSWORDS.keys() == with_option("password_stdin")
    told = "error: the password is empty\n"
    asked = len(server.statuses)
    for command, call in PASSWORDS.items():
        for typed in ("", "\n", "\r\n"):
            with case(command, "--password-stdin", typed):
                line = [*words(command, call, server), "--password-stdin"]
                done = osbctl(*line, cwd=desk, stdin=typed, code=2, OSBCTL_DATABASE="b.sqlite")
                assert (done.stdout, done.stderr) == ("", told)
        with case(command, "a prompt"):
            seen = at_terminal(
                "stdin stdout stderr",
                *words(command, call, server),
                answers=[("Password of ", "\n")],
                cwd=desk,
                OSBCTL_DATABASE="b.sqlite",
                NO_COLOR="1",
            )
            one_of_several = command == "brokers refresh"  # which reports each broker, and ends with the code of all
            assert seen.code == (3 if one_of_several else 2)
            said = "data: not fetched: the password is empty\n" if one_of_several else told
            assert seen.screen.replace("\r", "").endswith(f"\n{said}")
    assert len(server.statuses) == asked, "nothing was sent"
