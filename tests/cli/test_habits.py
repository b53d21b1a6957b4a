"""Calls that are habits of other tools, and what is said when all is well."""

import json
import shlex
from pathlib import Path
from typing import Any

from osbctl.commands.app import COMMANDS, MEANT
from tests.broker.harness import Authority
from tests.case import each
from tests.cli.broker_server import PASSWORD, USER, Answer, broker, listening
from tests.cli.program import failure, osbctl
from tests.client.test_connection_options import server_side
from tests.conformance.faulty import PASSWORD as CONFORMANCE_PASSWORD
from tests.conformance.faulty import USER as CONFORMANCE_USER
from tests.conformance.faulty import faulty
from tests.folders import catalogs_folder

GOOD = str(catalogs_folder() / "interface-example.json")


@each("words", ["", "validate", "brokers", "brokers add"])
def test_help_is_a_command_too(words: str) -> None:
    command = shlex.split(words)
    assert osbctl("help", *command, code=0).stdout == osbctl(*command, "--help", code=0).stdout


def test_names_of_other_tools_lead_to_a_command() -> None:
    assert set(MEANT.values()) <= COMMANDS.keys()
    assert not MEANT.keys() & COMMANDS.keys()
    for name, command in MEANT.items():
        assert failure(name, "x", code=2) == f"error: no such command '{name}'\n  hint: osbctl {command} does that\n"
    assert "Did you mean 'drift'?" in failure("drfit", code=2)


def test_check_of_a_file_names_validate(tmp_path: Path) -> None:
    file = tmp_path / "a catalog.json"
    file.write_text("{}")
    for path in (file, tmp_path):
        assert f"hint: osbctl validate {shlex.quote(str(path))}\n" in failure("check", str(path), code=2)


def test_serve_without_credentials_says_how_to_make_them() -> None:
    told = failure("serve", GOOD, code=2)
    assert "missing option '--credentials'" in told
    assert "osbctl hash-password platform --generate -o credentials.json" in told


def test_a_drift_without_a_change_says_so() -> None:
    words = ["drift", "interface-example.json", GOOD, "-f"]
    done = osbctl(*words, "text", cwd=Path(GOOD).parent, code=0)
    assert done.stdout == ""
    assert "osbctl: interface-example.json: same\n" in done.stderr
    done = osbctl(*words, "json", cwd=Path(GOOD).parent, code=0)
    assert json.loads(done.stdout)["same"] is True
    assert "same" not in done.stderr


def test_a_broker_that_is_well_is_told_what_was_tested() -> None:
    with broker(json.loads(Path(GOOD).read_text())) as server:
        words = ["check", server.url, "--user", USER, "--password-stdin"]
        for more in ([], ["--ignore", "wire-*"]):  # what is ignored was not well
            done = osbctl(*words, *more, stdin=f"{PASSWORD}\n")
            assert "tested and well" not in done.stderr
            assert ("[wire-" in done.stdout) == (not more)


def test_a_broker_without_a_fault_is_called_well(authority: Authority) -> None:
    slash, versions = "a doubled slash", "the versions of other platforms"
    with faulty("", server_side(authority.issue("well"))) as (address, _):
        for path, options, said in (
            ("", "", {slash, versions}),
            ("", "--platform korifi --api-version 2.17", set()),
            ("", "--platform korifi", {versions}),
            ("", "--platform cloudfoundry --api-version 2.15", {slash}),
            ("?x=1", "", {slash, versions}),
        ):
            words = ["check", address + path, "--user", CONFORMANCE_USER, "--password-stdin", *options.split()]
            done = osbctl(*words, "--ca-file", str(authority.cert), stdin=CONFORMANCE_PASSWORD, code=0)
            assert "[wire-" not in done.stdout
            told = done.stderr.replace("\nosbctl: ", " ")
            assert "tested and well: status, headers and body of the catalog; compression; old and missing" in told
            assert {name for name in (slash, versions) if name in told} == said, words


def test_the_doubled_slash_is_asked_of_an_address_with_a_slash_at_its_end() -> None:
    asked = []

    def answer(method: str, path: str, *_: Any) -> Answer:
        asked.append(path)
        return 200, {}, Path(GOOD).read_bytes()

    with listening(answer) as url:
        osbctl("check", f"{url}/v2/catalog/", "--user", USER, "--password-stdin", stdin=PASSWORD)
    assert "/v2/catalog" in asked  # the handler has made one slash of two
