"""The commands by which a developer orders a plan, updates an instance and binds it, ready to copy.

Names go in the way each shell needs; parameters go by a file beside the command, since no quoting of JSON
is right in all shells. What is sent, each platform's tools know.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from textwrap import indent
from typing import NamedTuple

from osbctl.platforms import Platform
from osbctl.platforms.commands import PARAMETERS, Manifest, Order, Purpose, Raw, Snippet, Tool, Words
from osbctl.text import is_safe

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*\Z")
_SINGLE_QUOTES = re.compile("['\u2018\u2019\u201a\u201b]")
"""Characters that PowerShell treats as a single quote (about_Quoting_Rules)."""


class Shell(StrEnum):
    """The shells that commands are written for."""

    BASH = "bash"
    POWERSHELL = "powershell"
    CMD = "cmd"

    @property
    def label(self) -> str:
        """Display name."""
        return "PowerShell" if self is Shell.POWERSHELL else self.value


class UnquotableError(ValueError):
    """No way to write a word is safe; the message says what stands in the way."""


class Command(NamedTuple):
    """One way to send a request: `tool`, the shell that it is written for, and what to type.

    `content` is the text of the file `file` that has to stand beside it, where the command reads one. Where there
    is no safe way, `text` is empty and `why` says so.
    """

    tool: str
    shell: str
    text: str = ""
    file: str = ""
    content: str = ""
    why: str = ""


def commands(order: Order, purpose: Purpose) -> list[Command]:
    """Every way to send the request, in the order of the platforms."""
    tools = dict.fromkeys(tool for platform in Platform for tool in platform.record.tools)
    return [command for tool in tools for command in _of_tool(tool, order, purpose)]


def _of_tool(tool: Tool, order: Order, purpose: Purpose) -> Iterator[Command]:
    sent = tool.sends(order, purpose)
    if isinstance(sent, Manifest):
        yield Command(tool.name, "", sent.command, sent.file, _filled(sent, order))
    elif isinstance(sent, Snippet):
        yield Command(tool.name, "", sent.text, *_file(order))
    else:
        yield from _typed(tool, sent, order)


def _typed(tool: Tool, words: Words, order: Order) -> Iterator[Command]:
    """The command in each shell; none where the tool has none for this purpose."""
    bash_alone, file = PARAMETERS in words and not tool.reads_files, _file(order)
    for shell in Shell if words else ():
        if bash_alone and shell is not Shell.BASH:
            why = f"{tool.name} takes no file, and only bash passes JSON safely: use bash, or the manifest"
            yield Command(tool.name, shell, why=why)
            continue
        try:
            text = " ".join([_word(word, shell, order, tool.reads_files) for word in words])
        except UnquotableError as error:
            yield Command(tool.name, shell, why=f"a name in it cannot be typed here: {error}")
        else:
            yield Command(tool.name, shell, text, *file)


def _word(word: Raw | str, shell: Shell, order: Order, reads_files: bool) -> str:
    if word is PARAMETERS:
        file = quoted(order.file, shell)
        return file if reads_files else f'"$(cat {file})"'
    return word.text if isinstance(word, Raw) else quoted(word, shell)


def _file(order: Order) -> tuple[str, str]:
    return (order.file, order.content) if order.parameters is not None else ("", "")


def _filled(manifest: Manifest, order: Order) -> str:
    from osbctl.sources.yaml_text import dump_text

    given = "" if order.parameters is None else _yaml_parameters(json.dumps(order.parameters))
    return manifest.content.format(service=dump_text(order.service), plan=dump_text(order.plan), parameters=given)


@lru_cache(1_000)
def _yaml_parameters(text: str) -> str:
    """The parameters within `spec`; the plans of a catalog often take the same."""
    from osbctl.sources.yaml_text import dump

    return indent(dump({"parameters": json.loads(text)}), "  ")


@lru_cache(1_000)  # a page types the same few words for each plan
def quoted(word: str, shell: Shell) -> str:
    """`word` as it is typed in a shell, so that the program gets it letter by letter.

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
