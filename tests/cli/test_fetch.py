"""`osbctl fetch` as a whole process, of brokers that answer anything."""

import json
from pathlib import Path

import click
import pytest

from osbctl.errors import UsageError
from osbctl.text import escape_line
from tests.case import each
from tests.cli.machine import Machine
from tests.cli.program import commands, failure
from tests.client.test_catalog_client import broker, http
from tests.conformance.faulty import CATALOG, PASSWORD, USER, faulty


def test_the_catalog_comes_as_it_is(machine: Machine) -> None:
    with faulty() as (address, _):
        options = ("--user", USER, "--password-stdin")
        base = address.removesuffix("/v2/catalog")
        assert json.loads(machine.run("fetch", base, *options, stdin=PASSWORD)) == CATALOG
        machine.run("fetch", address, *options, "-o", "catalog.json", stdin=PASSWORD)
        assert json.loads((machine.folder / "catalog.json").read_text()) == CATALOG


def test_what_is_printed_steers_no_terminal_and_no_ci_system(machine: Machine) -> None:
    body = '{"services": [], "a": "##vso[task.x]\x9b2J \U0001f418"}'
    with broker(http("200 OK", body.encode())) as (address, _):
        printed = machine.run("fetch", address)
        machine.run("fetch", address, "-o", "catalog.json")
    assert json.loads(printed) == json.loads(body)
    assert escape_line(printed.rstrip()) == printed.rstrip()
    assert (machine.folder / "catalog.json").read_text() == body + "\n"


@each("body, told", [
    (b"{}\n--\n", "not a JSON object: extra data at line 2, column 1"),
    (b'{"a": "\xe9"}', "not a JSON object: it is not UTF-8"),
    (b'{"services": NaN}', "not a JSON object: NaN is not JSON"),
    (b'{"services": [-Infinity]}', "not a JSON object: -Infinity is not JSON"),
])  # fmt: skip
def test_what_is_no_json_is_not_written(tmp_path: Path, body: bytes, told: str) -> None:
    with broker(http("200 OK", body)) as (address, _):
        assert told in failure("fetch", address, "-o", "catalog.json", cwd=tmp_path, code=3)
    assert not (tmp_path / "catalog.json").exists()


@each("words, told", [
    *(((command, "--user", USER), f"there is no password for {USER}") for command in ("fetch", "check")),
    (("fetch", "--user", USER), "OSBCTL_PASSWORD"),
    (("fetch", "--user", "a:b"), "the user contains a colon"),
    (("fetch", "--timeout", "nan"), "error: --timeout "),
    *(
        (("fetch", "--api-version", version), "error: invalid value for '--api-version'")
        for version in ("abc", "2.14\n", "2.14\nX-Injected: 1", "\u0662.14")
    ),
])  # fmt: skip
def test_what_makes_no_sense_is_told_before_anything_is_sent(words: tuple[str, ...], told: str) -> None:
    with faulty() as (address, server):
        for environment in ({}, {"OSBCTL_PASSWORD": ""}):  # as of a secret that a pipeline does not get
            assert told in failure(*words, address, code=2, **environment)
        assert server.asked == 0


def test_every_command_that_waits_refuses_a_time_that_is_none() -> None:
    """Each number with a point of any command: what `inf` and its like do to a socket is no matter of one command."""
    numbers = [(command, one) for command in commands().values() for one in command.params if one.type.name == "float"]
    for command, parameter in numbers:
        for value in ("inf", "-inf", "nan", "0", "-1", "1e400"):
            with pytest.raises(UsageError, match=r"--timeout .* is not a number of seconds to wait"):
                parameter.process_value(click.Context(command), value)
    assert len(numbers) >= 7


@each("command", ["fetch", "check", "diff", "drift"])
def test_a_query_is_not_printed(machine: Machine, command: str) -> None:
    machine.output = ""
    (machine.folder / "catalog.json").write_text(json.dumps(CATALOG))
    words = ["catalog.json"] if command in ("diff", "drift") else []
    words += ["--user", USER, "--password-stdin"]
    form = [] if command == "fetch" else ["--format", "json"]
    with faulty() as (address, _):
        asked = f"{address}?key=hunter2"
        machine.run(command, asked, *words, *form, stdin=PASSWORD)
        machine.run(command, asked, *words, *form, stdin="wrong", code=3)
    machine.run(command, asked, *words, stdin=PASSWORD, code=3)
    assert f"{address}?***: " in machine.output
    assert "hunter2" not in machine.output


@each("word", ["HTTPS://u:hunter2@host/", "ftp://u:hunter2@host/", "postgres://u:hunter2@host/x"])
@each("command", ["validate", "show", "build"])
def test_an_address_that_is_taken_for_a_file_is_not_printed(machine: Machine, command: str, word: str) -> None:
    machine.run(command, word, code=3 if command == "build" else 2)
    assert "hunter2" not in machine.output
