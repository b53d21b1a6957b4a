"""One word of a command line, written so that each shell passes it on unchanged, or the reason why none can."""

from __future__ import annotations

import re
import shlex
from enum import StrEnum
from functools import lru_cache

from osbctl.text import is_safe


class Shell(StrEnum):
    """The shells that commands are written for."""

    BASH = "bash"
    POWERSHELL = "powershell"
    CMD = "cmd"

    @property
    def label(self) -> str:
        """What people call it."""
        return "PowerShell" if self is Shell.POWERSHELL else self.value


class UnquotableError(ValueError):
    """No way to write a word is safe; the message says what stands in the way."""


_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*\Z")
_SINGLE_QUOTES = re.compile("['\u2018\u2019\u201a\u201b]")
"""What PowerShell takes for a single quote (about_Quoting_Rules)."""


@lru_cache(1_000)  # a page types the same few words for each plan
def quoted(word: str, shell: Shell) -> str:
    """`word` as it is typed, so that the program gets it letter by letter.

    Raises:
        UnquotableError: it cannot be written safely in this shell.
    """
    if _PLAIN.match(word):
        return word
    if not word:
        raise UnquotableError("it is empty")
    if word.startswith("-"):
        raise UnquotableError("it begins with a hyphen, which the program takes for an option")
    if not all(map(is_safe, word)):
        raise UnquotableError("it contains a character that cannot be seen or typed")
    return {Shell.BASH: shlex.quote, Shell.POWERSHELL: _powershell, Shell.CMD: _cmd}[shell](word)


def _powershell(word: str) -> str:
    # Up to 7.2, quotes and a last backslash are lost on the way to a program (about_Parsing, native arguments).
    if '"' in word or word.endswith("\\"):
        raise UnquotableError("PowerShell loses its quotation mark or last backslash when it calls a program")
    return "'" + _SINGLE_QUOTES.sub(lambda found: found.group() * 2, word) + "'"


def _cmd(word: str) -> str:
    # Within quotes all else is itself; at the prompt no sign keeps a %NAME% or !NAME! from being replaced.
    if set(word) & set('"%!'):
        raise UnquotableError('cmd interprets ", % and !')
    # A program reads backslashes before a quotation mark in pairs (CommandLineToArgvW).
    end = len(word) - len(word.rstrip("\\"))
    return '"' + word + "\\" * end + '"'
