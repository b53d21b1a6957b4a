"""Commands of platform tools that create, update and bind a service instance, ready to copy.

Names are in double quotes if necessary; parameters are in a separate file, since no quoting of JSON works in all
shells. The platforms' records define the tools.
"""

import re
from collections.abc import Collection, Iterator
from textwrap import indent
from typing import NamedTuple

from osbctl.platforms import Platform
from osbctl.platforms.tools import Manifest, ProvisionRequest, Purpose, Tool, tools_of
from osbctl.text import is_safe_character

_OPTION = re.compile(r"\[([^\]]*)\]")
_PLACE = re.compile(r"\{(\w+)\}")
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


def build_commands(
    request: ProvisionRequest, purpose: Purpose, platforms: Collection[Platform] = tuple(Platform)
) -> list[Command]:
    """Build the commands of the platforms' tools for a request, in that order."""
    return [command for tool in tools_of(platforms) for command in _build_tool_commands(tool, request, purpose)]


def _build_tool_commands(tool: Tool, request: ProvisionRequest, purpose: Purpose) -> Iterator[Command]:
    file = (request.file, request.content) if request.parameters is not None else ("", "")
    if callable(tool.sends):
        sent = tool.sends(request, purpose)
        if isinstance(sent, Manifest):
            from osbctl.sources.yaml_text import dump, dump_string

            given = "" if request.parameters is None else indent(dump({"parameters": request.parameters}), "  ")
            service, plan = dump_string(request.service), dump_string(request.plan)
            content = sent.content.format(service=service, plan=plan, parameters=given)
            yield Command(tool.name, "", sent.command, sent.file, content)
        else:
            yield Command(tool.name, "", sent, *file)
    elif template := _drop_missing_parts(tool.sends.get(purpose, ""), request):
        needs_bash = "{parameters}" in template and not tool.reads_files
        try:
            text = _PLACE.sub(lambda match: _fill_placeholder(match[1], request, tool.reads_files), template)
        except UnquotableError as error:
            yield Command(tool.name, why=f"a name in it cannot be quoted: {error}")
        else:
            yield Command(tool.name, "bash" if needs_bash else "", text, *file)


def _drop_missing_parts(template: str, request: ProvisionRequest) -> str:
    """Drop the parts in brackets that lack a value, and all brackets; the result is empty if another part lacks one."""
    given = {"{broker}": bool(request.broker), "{parameters}": request.parameters is not None}
    missing = [place for place, is_given in given.items() if not is_given]
    template = _OPTION.sub(lambda match: "" if any(place in match[1] for place in missing) else match[1], template)
    return "" if any(place in template for place in missing) else template


def _fill_placeholder(name: str, request: ProvisionRequest, reads_files: bool) -> str:
    """The text for the placeholder `name`, quoted: for `parameters` a file, or its content if no file is read.

    Raises UnquotableError.
    """
    if name != "parameters":
        return quote_argument(getattr(request, name))
    file = quote_argument(request.file)
    return file if reads_files else f'"$(cat {file})"'


def quote_argument(word: str) -> str:
    """Quote `word` in a way that bash, PowerShell and cmd read identically. Raises UnquotableError: there is none."""
    if _PLAIN.match(word):
        return word
    if not word:
        raise UnquotableError("it is empty")
    if word.startswith("-"):
        raise UnquotableError("it begins with a hyphen, like an option")
    if not all(map(is_safe_character, word)):
        raise UnquotableError("it contains an invisible character")
    if found := _READ_DIFFERENTLY.search(word):
        raise UnquotableError(f"shells interpret {found.group()} differently")
    return f'"{word}"'
