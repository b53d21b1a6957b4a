"""The help of every command: it fits, names values by words, and has colours only where they are wanted."""

import re
from collections.abc import Callable
from typing import TypeAlias

import pytest

from osbctl.cli.app import _HEADINGS, GROUPS, build, run_app
from tests.case import each
from tests.cli.program import commands, failure
from tests.reports.standards import assert_only_escapes

Help: TypeAlias = Callable[..., str]


@pytest.fixture
def help_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Help:
    monkeypatch.setenv("COLUMNS", "80")

    def ask(words: str = "") -> str:
        assert run_app([*words.split(), "--help"]) == 0
        return capsys.readouterr().out

    return ask


@each("words", commands())
def test_it_fits_80_columns_no_type_leaks_and_there_is_an_example(words: str, help_of: Help) -> None:
    text = help_of(words)
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"<(int|float|str)\b|<(text|path)>|range>|x[<>]=|[<>]=x", text, re.IGNORECASE)
    assert not re.search(r"\b(TEXT|INTEGER|FLOAT)\b", text)
    assert "{" not in text.split("\n\n")[0]
    assert "\x1b" not in text
    if not hasattr(commands()[words], "commands"):
        assert re.search(rf"(?m)^  (?:.*\| )?osbctl {words}\b", text)


def test_colours_add_escapes_alone(help_of: Help, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = help_of("diff")
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = help_of("diff")
    assert "\x1b[1mOptions" in painted
    assert "\x1b[36m--fail-on" in painted
    assert_only_escapes(painted, bare)


def test_it_can_be_asked_for_again_and_again_in_one_process(help_of: Help) -> None:
    build([])
    depth = len(build([]).context_class.formatter_class.__mro__)
    assert help_of("lsp")
    assert len(build([]).context_class.formatter_class.__mro__) == depth


@each(
    "words, told",
    [
        (("brokers", "refresh", "--jobs", "x"), "'--jobs' / '-j': 'x' is not a valid integer"),
        (("hash-password", "a", "--rounds", "x"), "'--rounds': 'x' is not a valid integer"),
        (("fetch", "x", "--timeout", "x"), "'--timeout': 'x' is not a valid number"),
        (("serve", "x", "--credentials", "x", "--port", "x"),
         "'--port' (env var: 'OSBCTL_PORT or PORT'): 'x' is not a valid integer"),
    ],
)  # fmt: skip
def test_no_type_of_the_program_leaks_into_an_error(words: tuple[str, ...], told: str) -> None:
    assert told in failure(*words, code=2)


@each("words", commands())
def test_at_most_twelve_options_stand_in_front(words: str, help_of: Help) -> None:
    sections = help_of(words).partition("Options:\n")[2].split("\n\n")
    in_front = re.findall(r"(?m)^  -", sections[0])
    assert 1 <= len(in_front) <= 12
    titles = [section.partition(":\n")[0] for section in sections[1:]]
    assert set(titles) <= {*GROUPS, *_HEADINGS, "Commands"}
    assert all(len(re.findall(r"(?m)^  \S", section)) > 1 for section in sections[1:])


def test_commands_stand_under_headings(help_of: Help) -> None:
    for title, names in GROUPS.items():
        listed = help_of().partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"(?m)^  (\S+)", listed) == [*names]


def test_no_option_without_a_place() -> None:
    assert len(commands()) > 25
    options = {name.lstrip("-") for command in commands().values() for one in command.params for name in one.opts}
    assert {name for names in _HEADINGS.values() for name in names.split()} <= options
