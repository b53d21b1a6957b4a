"""Commands of platform tools that create, update and bind a service instance, ready to copy.

Names are in double quotes if necessary; parameters are in a separate file, since no quoting of JSON works in all
shells. The platforms' records define the tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from textwrap import indent
from typing import NamedTuple

from osbctl.platforms import Platform
from osbctl.platforms.commands import PARAMETERS, Manifest, Order, Purpose, Raw, Snippet, Tool
from osbctl.text import is_safe

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*\Z")
_READ_DIFFERENTLY = re.compile('["$`\\\\%!\u201c\u201d\u201e]')
"""Special characters between double quotes in bash, PowerShell (with curly quotes) and cmd."""


class UnquotableError(ValueError):
    """A word that cannot be quoted safely; the message says why."""


class Command(NamedTuple):
    """A command that sends a request. `text` works in any shell, or only in bash if `shell` names it.

    `file` and `content` are the name and text of the file that it reads, if any. If no command is safe, `text` is
    empty and `why` says why.
    """

    tool: str
    shell: str = ""
    text: str = ""
    file: str = ""
    content: str = ""
    why: str = ""


def commands(order: Order, purpose: Purpose) -> list[Command]:
    """The commands of all tools for a request, in the order of the platforms."""
    tools = dict.fromkeys(tool for platform in Platform for tool in platform.record.tools)
    return [command for tool in tools for command in _of_tool(tool, order, purpose)]


def _of_tool(tool: Tool, order: Order, purpose: Purpose) -> Iterator[Command]:
    sent, file = tool.sends(order, purpose), _file(order)
    if isinstance(sent, Manifest):
        yield Command(tool.name, "", sent.command, sent.file, _filled(sent, order))
    elif isinstance(sent, Snippet):
        yield Command(tool.name, "", sent.text, *file)
    elif sent:
        in_bash = PARAMETERS in sent and not tool.reads_files
        try:
            text = " ".join([_word(word, order, tool.reads_files) for word in sent])
        except UnquotableError as error:
            yield Command(tool.name, why=f"a name in it cannot be quoted: {error}")
        else:
            yield Command(tool.name, "bash" if in_bash else "", text, *file)


def _word(word: Raw | str, order: Order, reads_files: bool) -> str:
    if word is PARAMETERS:
        file = quote_argument(order.file)
        return file if reads_files else f'"$(cat {file})"'
    return word.text if isinstance(word, Raw) else quote_argument(word)


def _file(order: Order) -> tuple[str, str]:
    return (order.file, order.content) if order.parameters is not None else ("", "")


def _filled(manifest: Manifest, order: Order) -> str:
    from osbctl.sources.yaml_text import dump_text

    given = "" if order.parameters is None else _yaml_parameters(json.dumps(order.parameters))
    return manifest.content.format(service=dump_text(order.service), plan=dump_text(order.plan), parameters=given)


@lru_cache(1_000)
def _yaml_parameters(text: str) -> str:
    """The parameters as YAML for `spec`; cached, since plans often share them."""
    from osbctl.sources.yaml_text import dump

    return indent(dump({"parameters": json.loads(text)}), "  ")


def quote_argument(word: str) -> str:
    """Quote `word` in a way that bash, PowerShell and cmd read identically.

    Raises UnquotableError: there is none.
    """
    if _PLAIN.match(word):
        return word
    if not word:
        raise UnquotableError("it is empty")
    if word.startswith("-"):
        raise UnquotableError("it begins with a hyphen, like an option")
    if not all(map(is_safe, word)):
        raise UnquotableError("it contains an invisible character")
    if found := _READ_DIFFERENTLY.search(word):
        raise UnquotableError(f"shells interpret {found.group()} differently")
    return f'"{word}"'
