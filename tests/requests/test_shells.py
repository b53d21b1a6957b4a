"""A word comes out of each shell as it went in, or is not written at all."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.catalog import Catalog
from osbctl.platforms.commands import Order, Purpose
from osbctl.requests.commands import Command, Shell, UnquotableError, commands, quoted
from osbctl.sources.read import read_source
from tests.corpus import catalogs, needs_corpus

WORDS = [
    "postgres", "db.small", "a/b:c", "two words", "it's", 'say "hi"', "$(id)", "`id`", "${HOME}", "%PATH%", "!!", "a;b", "a&b",
    "a|b", "<x>", "*", "~root", "#no", "a\\", "a\\b", "ünïcode", "‘curly’", "a=b", "@splat", "{a,b}", "^caret", "a,b", "(x)", "1.0",
]  # fmt: skip
NEVER = ["", "-x", "--version", "a\nb", "a\tb", "\x1b[31m", "a\u202eb", "zero\u200bwidth", "nul\0"]


QUOTES = "'\u2018\u2019\u201a\u201b"
DOUBLE_QUOTES = '"\u201c\u201d\u201e'


def powershell(line: str) -> list[str]:
    """The words of a command in PowerShell (about_Parsing, argument mode; about_Quoting_Rules).

    What would be replaced, split, or taken for an operator fails: no command that we print needs it.
    """
    words: list[str] = []
    at, word, begun = 0, "", False
    while at < len(line):
        sign = line[at]
        if sign in QUOTES:
            word, at, begun = *_single_quoted(line, at + 1, word), True
            continue
        assert sign not in "`$(){};|&<>,\r\n" + DOUBLE_QUOTES, "an operator, a variable or a second kind of quotes"
        assert begun or sign not in "#@", "a comment or a splat"
        if sign in " \t":
            words += [word] if begun else []
            word, begun = "", False
        else:
            word, begun = word + sign, True
        at += 1
    words += [word] if begun else []
    assert "--%" not in words, "the token that stops parsing"
    return words


def _single_quoted(line: str, at: int, word: str) -> tuple[str, int]:
    """The word with what is quoted from `at` on, and where it ends: all is itself, but two quotes are one."""
    while True:
        two = line[at] in QUOTES
        if two and line[at + 1 : at + 2] not in set(QUOTES):
            return word, at + 1
        word, at = word + line[at], at + 1 + two


def handed_on(words: list[str]) -> str:
    """The command line that PowerShell up to 7.2 makes of words (PSNativeCommandArgumentPassing, Legacy).

    Words with blanks get quotes, and nothing is escaped.
    """
    return " ".join(f'"{word}"' if any(map(str.isspace, word)) else word for word in words if word)


def cmd(line: str) -> list[str]:
    """The words of a command in cmd: signs that it acts on must be in quotes, `%` and `!` nowhere (cmd /?)."""
    assert not set(line) & set("%!\r\n")
    assert not set("".join(line.split('"')[::2])) & set("&|<>^()"), "an operator outside of quotes"
    return argv(line)


def argv(line: str) -> list[str]:
    """The words of a command line as a program of Windows reads them (CommandLineToArgvW, but for the first)."""
    words: list[str] = []
    word: str | None = None
    quoted, at = False, 0
    while at < len(line):
        slashes = re.compile(r'(\\*)(")?').match(line, at)
        assert slashes
        if slashes[0]:
            number = len(slashes[1])
            word = (word or "") + "\\" * (number // 2 if slashes[2] else number)
            if slashes[2] and number % 2:
                word += '"'
            elif slashes[2] and quoted and line[slashes.end() : slashes.end() + 1] == '"':
                at, word = at + 1, word + '"'
            elif slashes[2]:
                quoted = not quoted
            at += len(slashes[0])
        elif line[at] in " \t" and not quoted:
            words += [word] if word is not None else []
            word, at = None, at + 1
        else:
            word, at = (word or "") + line[at], at + 1
    assert not quoted, "a quoted word has no end"
    return words + ([word] if word is not None else [])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('"a b c" d e', ["a b c", "d", "e"]),
        ('"ab\\"c" "\\\\" d', ['ab"c', "\\", "d"]),
        ('a\\\\\\b d"e f"g h', ["a\\\\\\b", "de fg", "h"]),
        ('a\\\\\\"b c d', ['a\\"b', "c", "d"]),
        ('a\\\\\\\\"b c" d e', ["a\\\\b c", "d", "e"]),
        ('"" "a""b"', ["", 'a"b']),
    ],
)
def test_programs_are_read_as_their_maker_tells(line: str, words: list[str]) -> None:
    """The examples of "Parsing C command-line arguments"."""
    assert argv(line) == words


def test_powershell_is_read_as_its_maker_tells() -> None:
    assert powershell("cf 'it''s' a'b $c'd  -x") == ["cf", "it's", "ab $cd", "-x"]
    with pytest.raises(AssertionError, match="no end"):  # what PowerShell up to 7.2 does to a last backslash
        argv(handed_on(["a b\\"]))
    for line in ("a $b", "a; b", "a (b)", 'a "b"', "a #b", "a @b", "a,b", "a 'b"):
        with pytest.raises((AssertionError, IndexError)):
            powershell(line)
    for line in ("a & b", "a %b%", 'a "b"&c', "a ^b"):
        with pytest.raises(AssertionError):
            cmd(line)


READERS = {"powershell": (powershell, lambda line: argv(handed_on(powershell(line)))), "cmd": (cmd,)}
"""How the words of a line are read: PowerShell by itself from 7.3 on, before that also the program."""


@pytest.mark.parametrize("word", WORDS)
def test_bash_reads_the_same_word(word: str) -> None:
    line = f"printf '%s' {quoted(word, Shell.BASH)}"
    ran = subprocess.run(["bash", "-c", line], capture_output=True, timeout=10, check=True)
    assert ran.stdout.decode() == word


@given(st.text(max_size=12) | st.sampled_from(WORDS))
def test_powershell_and_cmd_read_the_same_word(word: str) -> None:
    for shell, reads in READERS.items():
        try:
            line = quoted(word, shell)
        except UnquotableError:
            continue
        assert [read(line) for read in reads] == [[word]] * len(reads)


NAMES = st.text(max_size=12) | st.sampled_from(WORDS)


@given(NAMES, NAMES, NAMES, st.sampled_from(list(Purpose)), st.booleans())
def test_powershell_and_cmd_read_commands_as_bash_does(
    service: str, plan: str, broker: str, purpose: Purpose, sends: bool
) -> None:
    order = Order(service, plan, broker, {"size": 3} if sends else None, "my params.json", "{}")
    assert_alike(commands(order, purpose))


@needs_corpus
def test_powershell_and_cmd_read_the_commands_of_real_catalogs_as_bash_does() -> None:
    read = 0
    for file in catalogs():
        for service in Catalog.of(read_source(str(file)).data).services:
            for plan in service.plans:
                read += assert_alike(commands(Order(service.name, plan.name, "my broker", {}), Purpose.CREATE))
    assert read > 1_000


def assert_alike(found: list[Command]) -> int:
    """How many commands were compared with those of bash, which a real one reads in other tests."""
    in_bash = {command.tool: shlex.split(command.text) for command in found if command.shell == "bash" and command.text}
    compared = 0
    for command in found:
        for read in READERS.get(command.shell, ()) if command.text else ():
            assert read(command.text) == in_bash[command.tool]
            compared += 1
    return compared


@pytest.mark.parametrize("word", NEVER)
@pytest.mark.parametrize("shell", Shell)
def test_what_a_tool_or_a_reader_would_take_for_something_else_is_not_written(word: str, shell: Shell) -> None:
    with pytest.raises(UnquotableError):
        quoted(word, shell)


@pytest.mark.parametrize(
    ("shell", "word"), [("powershell", 'a"b'), ("powershell", "a b\\"), ("cmd", "50%"), ("cmd", "a!"), ("cmd", 'a"')]
)
def test_what_one_shell_cannot_carry_is_refused_there(shell: str, word: str) -> None:
    with pytest.raises(UnquotableError):
        quoted(word, Shell(shell))
    assert quoted(word, Shell.BASH)


def test_a_plain_word_needs_no_quotes_and_most_others_get_a_command() -> None:
    assert {quoted("db.small-1", shell) for shell in Shell} == {"db.small-1"}
    assert quoted("it's", Shell.POWERSHELL) == "'it''s'"
    assert quoted("a\\", Shell.CMD) == '"a\\\\"'
