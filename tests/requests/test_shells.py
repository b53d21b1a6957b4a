"""A word comes out of every shell as it went in, or is not written at all."""

import contextlib
import re
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.catalog import Catalog
from osbctl.platforms.tools import ProvisionRequest, Purpose
from osbctl.requests import Command, UnquotableError, build_commands, quote_argument
from osbctl.sources.read import read_source
from tests.case import case
from tests.corpus import EVERY_CASE, catalogs, needs_corpus
from tests.requests.tools import COMMANDS

WORDS = [
    "postgres", "db.small", "a/b:c", "two words", "it's", "a;b", "a&b", "a|b", "<x>", "*", "~root", "#no", "ünïcode", "‘curly’",
    "a=b", "@splat", "a@b", "{a,b}", "^caret", "a,b", "(x)", "1.0",
]  # fmt: skip
NEVER = ["", "-x", "--version", "a\nb", "a\tb", "\x1b[31m", "a\u202eb", "zero\u200bwidth", "nul\0"]


PLAIN = re.compile(r"[A-Za-z0-9_./:= \[\]-]*")
"""Text outside of quotes that all of them take as it is. A word that begins with a hyphen is an option."""
ACTED_ON = set('$`\\%!"\u201c\u201d\u201e\r\n\0')
"""Characters that one of them acts on between double quotes, or that may split a line."""


def words_of(line: str) -> list[str]:
    """The words of a command for which bash, PowerShell, cmd and the programs that they start have the same rules.

    Rules: about_Parsing and about_Quoting_Rules (PowerShell), `cmd /?`, CommandLineToArgvW. PowerShell up to 7.2 hands
    no empty word on, and quotes one with blanks without escaping anything in it.
    """
    parts = line.split('"')
    assert len(parts) % 2, "quotes without an end"
    assert all(map(PLAIN.fullmatch, parts[::2])), "an operator outside of quotes"
    assert not set("".join(parts[1::2])) & ACTED_ON, "what is acted on in quotes"
    words = shlex.split(line)
    assert all(words), "an empty word"
    return words


def test_a_line_that_shells_read_differently_is_found() -> None:
    assert words_of('cf "it\'s" a -x') == ["cf", "it's", "a", "-x"]
    unquoted = "a $b", "a;b", "(b)", "'b'", "#b", "@b", "a,b", "~", "*", "a&b", "^b", "%b%"
    for line in (*unquoted, '"$b"', '"b', '"a\\"', '""'):
        with case(line), pytest.raises(AssertionError):
            words_of(line)


def test_bash_reads_the_same_words() -> None:
    line = " ".join(map(quote_argument, WORDS))
    ran = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, timeout=60, check=True)
    assert ran.stdout.decode().split("\0")[:-1] == WORDS


NAMES = st.text(max_size=12) | st.sampled_from(WORDS)


@given(NAMES)
def test_every_shell_reads_the_same_word(word: str) -> None:
    with contextlib.suppress(UnquotableError):
        line = quote_argument(word)
        assert words_of(line) == [word]
        assert not word.startswith("-")


@given(NAMES, NAMES, NAMES, st.sampled_from(list(Purpose)), st.booleans())
def test_every_shell_reads_a_command_alike(service: str, plan: str, broker: str, purpose: Purpose, sends: bool) -> None:
    order = ProvisionRequest(service, plan, broker, {"size": 3} if sends else None, "my params.json", "{}")
    assert_alike(build_commands(order, purpose))


@needs_corpus
@pytest.mark.fuzz
def test_every_shell_reads_the_commands_of_real_catalogs_alike() -> None:
    read, step = 0, 1 if EVERY_CASE else 3
    for file in catalogs()[::step]:
        for service in Catalog.of(read_source(str(file)).data).services:
            for plan in service.plans:
                read += assert_alike(
                    build_commands(ProvisionRequest(service.name, plan.name, "my broker", {}), Purpose.CREATE)
                )
    assert read > 900 // step


def assert_alike(found: list[Command]) -> int:
    """Number of commands for any shell that all shells read."""
    typed = [c for c in found if c.text and not c.shell and c.tool in COMMANDS]
    for command in typed:
        words_of(command.text)
    return len(typed)


def test_ambiguous_words_are_not_quoted() -> None:
    for word in [*NEVER, "$(id)", "`id`", 'say "hi"', "50%", "a!", "a\\", "\u201c", "\u201d", "\u201e"]:
        with case(word), pytest.raises(UnquotableError):
            quote_argument(word)


def test_a_plain_word_needs_no_quotes() -> None:
    assert [quote_argument(word) for word in ("db.small-1", "it's")] == ["db.small-1", '"it\'s"']
