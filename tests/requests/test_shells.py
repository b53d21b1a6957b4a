"""A word comes out of every shell as it went in, or is not written at all."""

import contextlib
import re
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.catalog import Catalog
from osbctl.platforms.commands import Order, Purpose
from osbctl.requests.commands import Command, UnquotableError, commands, quote_argument
from osbctl.sources.read import read_source
from tests.case import case
from tests.corpus import EVERY_CASE, catalogs, needs_corpus

WORDS = [
    "postgres", "db.small", "a/b:c", "two words", "it's", "a;b", "a&b", "a|b", "<x>", "*", "~root", "#no", "ünïcode", "‘curly’",
    "a=b", "@splat", "{a,b}", "^caret", "a,b", "(x)", "1.0",
]  # fmt: skip
NEVER = ["", "-x", "--version", "a\nb", "a\tb", "\x1b[31m", "a\u202eb", "zero\u200bwidth", "nul\0"]


def powershell(line: str) -> list[str]:
    """The words of a command in PowerShell (about_Parsing, argument mode; about_Quoting_Rules).

    What would be replaced, split, or taken for an operator fails: no command that we print needs it.
    """
    parts = line.split('"')
    operators = set("`$(){};|&<>,#@'\u2018\u2019\u201a\u201b\r\n")
    assert len(parts) % 2, "quotes without an end"
    assert not set("".join(parts[::2])) & operators, "an operator outside of quotes"
    assert not set("".join(parts[1::2])) & set("`$\u201c\u201d\u201e"), "what is acted on in quotes"
    return shlex.split(line)


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
    quote_argument, at = False, 0
    while at < len(line):
        slashes = re.compile(r'(\\*)(")?').match(line, at)
        assert slashes
        if slashes[0]:
            number = len(slashes[1])
            word = (word or "") + "\\" * (number // 2 if slashes[2] else number)
            if slashes[2] and number % 2:
                word += '"'
            elif slashes[2] and quote_argument and line[slashes.end() : slashes.end() + 1] == '"':
                at, word = at + 1, word + '"'
            elif slashes[2]:
                quote_argument = not quote_argument
            at += len(slashes[0])
        elif line[at] in " \t" and not quote_argument:
            words += [word] if word is not None else []
            word, at = None, at + 1
        else:
            word, at = (word or "") + line[at], at + 1
    assert not quote_argument, "a quoted word has no end"
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
def test_program_arguments_follow_the_documented_rules(line: str, words: list[str]) -> None:
    """The examples of "Parsing C command-line arguments"."""
    assert argv(line) == words


def test_powershell_and_cmd_follow_the_documented_rules() -> None:
    assert powershell('cf "it\'s" a -x') == ["cf", "it's", "a", "-x"]
    refused = ("a $b", "a; b", "a (b)", "a 'b'", "a #b", "a @b", "a,b", 'a "$b"', 'a "b\u201c"', 'a "b')
    refused_by_cmd = ("a & b", "a %b%", 'a "b"&c', "a ^b")
    for read, line in [*((powershell, one) for one in refused), *((cmd, one) for one in refused_by_cmd)]:
        with pytest.raises(AssertionError):
            read(line)


READERS = (powershell, lambda line: argv(handed_on(powershell(line))), cmd, shlex.split)
"""Parsers of command lines: PowerShell 7.3, older ones with the program's parser, cmd, bash."""


def test_bash_reads_the_same_words() -> None:
    line = " ".join(map(quote_argument, WORDS))
    ran = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, timeout=10, check=True)
    assert ran.stdout.decode().split("\0")[:-1] == WORDS


NAMES = st.text(max_size=12) | st.sampled_from(WORDS)


@given(NAMES)
def test_every_shell_reads_the_same_word(word: str) -> None:
    with contextlib.suppress(UnquotableError):
        line = quote_argument(word)
        assert [read(line) for read in READERS] == [[word]] * len(READERS)


@given(NAMES, NAMES, NAMES, st.sampled_from(list(Purpose)), st.booleans())
def test_every_shell_reads_a_command_alike(service: str, plan: str, broker: str, purpose: Purpose, sends: bool) -> None:
    order = Order(service, plan, broker, {"size": 3} if sends else None, "my params.json", "{}")
    assert_alike(commands(order, purpose))


@needs_corpus
@pytest.mark.fuzz
def test_every_shell_reads_the_commands_of_real_catalogs_alike() -> None:
    read, step = 0, 1 if EVERY_CASE else 3
    for file in catalogs()[::step]:
        for service in Catalog.of(read_source(str(file)).data).services:
            for plan in service.plans:
                read += assert_alike(commands(Order(service.name, plan.name, "my broker", {}), Purpose.CREATE))
    assert read > 900 // step


def assert_alike(found: list[Command]) -> int:
    """Number of commands for any shell that all shells read."""
    typed = [c for c in found if c.text and not c.shell and c.tool not in ("kubectl", "terraform")]
    for command in typed:
        *others, in_bash = [read(command.text) for read in READERS]
        assert others == [in_bash] * len(others), command.text
    return len(typed)


def test_ambiguous_words_are_not_quoted() -> None:
    for word in [*NEVER, "$(id)", "`id`", 'say "hi"', "50%", "a!", "a\\", "\u201ccurly\u201d"]:
        with case(word), pytest.raises(UnquotableError):
            quote_argument(word)


def test_a_plain_word_needs_no_quotes() -> None:
    assert [quote_argument(word) for word in ("db.small-1", "it's")] == ["db.small-1", '"it\'s"']
