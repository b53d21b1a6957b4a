"""The help of every command fits a terminal, names values by words, and ends with examples."""

import re

import pytest

from osbctl.commands.app import COMMANDS, GROUPS, run_app
from tests.case import case
from tests.cli.program import commands


def test_it_is_narrow_with_an_example(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words, command in commands().items():
        assert run_app([*words.split(), "--help"]) == 0
        text = capsys.readouterr().out
        with case(words):
            assert max(map(len, text.splitlines())) <= 80
            assert not re.search(r"<(int|float|str)\b|<text>|<path>", text)
            if not hasattr(command, "commands"):
                assert re.search(rf"(?m)^  (?:.*\| )?osbctl {words}\b", text)


def test_commands_stand_under_headings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["--help"]) == 0
    text = capsys.readouterr().out
    for title, names in GROUPS.items():
        listed = text.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"(?m)^  (\S+)", listed) == [*names]


def test_the_list_says_of_a_command_what_its_help_begins_with() -> None:
    """The list is made without the modules of the commands."""
    assert {name: commands()[name].get_short_help_str(1_000) for name in COMMANDS} == COMMANDS
