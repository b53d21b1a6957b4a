"""The interface of versioning.md is recorded; removals and changes are noticed."""

import json
from pathlib import Path
from typing import Any

import pytest

import osbctl
from osbctl.commands.app import COMMANDS
from tools import surface
from tools.surface import RECORD, differences, main, refusal

NOW = surface.surface()


def recorded() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(RECORD.read_text())
    return found


def test_the_record_is_what_stands_here() -> None:
    assert refusal(*differences(recorded(), NOW), ["--check"]) == ""


def test_every_subject_of_versioning_has_facts() -> None:
    assert {fact for fact in NOW["command line"] if " " not in fact} == set(COMMANDS)
    assert {
        "validate --format sarif", "validate -f", "validate --color: default auto", "validate --select: repeatable",
        "validate SOURCES: repeatable", "fetch --user: may be left out", "serve --no-access-log", "brokers add NAME",
    } <= set(NOW["command line"])  # fmt: skip
    assert {
        "report-1 finding severity: a choice, always", "report-1 finding severity: `info`",
        "report-1 finding refused_by: list of a choice, always", "report-1 version: `1`",
    } < set(NOW["reports and files"])  # fmt: skip
    assert "osbctl_authentications {result, credential}" in NOW["metrics"]
    assert "osbctl_brokers_2 catalog: BLOB" in NOW["database"]
    assert [code.split()[0] for code in NOW["exit codes"]] == ["0", "1", "130", "2", "3"]
    assert all(NOW.values())


@pytest.mark.parametrize("subject", sorted(NOW))
def test_what_goes_or_changes_needs_a_major_version(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(osbctl, "__version__", "1.4.0")
    old = NOW | {subject: [*NOW[subject], "something that was"]}
    gone, new = differences(old, NOW)
    assert refusal(gone, new, []).startswith(f"- {subject}: something that was")
    assert refusal(gone, new, ["--check"])
    assert refusal(gone, new, ["--major"]) == "1.4.0 is not the first of a major version"
    monkeypatch.setattr(osbctl, "__version__", "2.0.0")
    assert refusal(gone, new, ["--major"]) == ""


def test_what_is_new_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    old = NOW | {"rules": NOW["rules"][1:]}
    file = tmp_path / "surface.json"
    file.write_text(json.dumps(old))
    monkeypatch.setattr(surface, "RECORD", file)
    assert main(["--check"]) == 1
    assert f"+ rules: {NOW['rules'][0]}" in capsys.readouterr().out
    assert main([]) == 0
    assert json.loads(file.read_text()) == NOW
    assert main(["--check"]) == 0


def test_a_renamed_option_is_one_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(surface.commands())
    parameter = next(one for one in known["validate"].params if "--fail-on" in one.opts)
    monkeypatch.setattr(parameter, "opts", ["--fails-on"])
    monkeypatch.setattr(surface, "commands", lambda: known.items())
    gone, _ = differences(NOW, NOW | {"command line": sorted(set(surface.command_line()))})
    assert "command line: validate --fail-on" in gone
