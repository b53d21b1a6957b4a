"""Reference pages of the commands: one page each, one heading per option, so that a link can point to an option."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reference import commands

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = "<!-- Written from the program by `tools/make_docs.py` -->\n"
GENERAL = {"-h", "--help"}
CODE = re.compile(
    r"(\$\{\w+(?::-\w+)?\}"
    r"|(?<![\w`/])(?:--?[a-z][\w-]*|[A-Z]+_[A-Z_<>]+|/[a-z][\w/]*|[\w-]+\.(?:json|toml|yaml|lock)|osbctl [a-z-]+))"
)


def command_pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """The index `commands.md` and the page of each command, with its text."""
    found = dict(commands())
    yield folder / "commands.md", "\n".join(index(found))
    for name, command in found.items():
        yield folder / "commands" / f"{file_name(name)}.md", "\n".join(command_page(name, command))


def file_name(name: str) -> str:
    return name.replace(" ", "-")


def index(found: dict[str, Any]) -> Iterator[str]:
    yield f"# Commands\n\n{HEAD}"
    yield "Every command ends with one of the [exit codes](exit-codes.md) 0, 1, 2, 3 or 130.\n"
    yield "| command | purpose |\n|---|---|"
    for name, command in found.items():
        purpose = prose(command.get_short_help_str(200)).rstrip(".")
        yield f"| [`osbctl {name}`](commands/{file_name(name)}.md) | {purpose} |"
    yield "\n```{toctree}\n:hidden:\n"
    yield from (f"commands/{file_name(name)}" for name in found)
    yield "```\n"


def command_page(name: str, command: Any) -> Iterator[str]:
    """Usage, purpose, examples, then a heading for each argument and option."""
    context = command.make_context(f"osbctl {name}", [], resilient_parsing=True)
    yield f"# osbctl {name}\n\n{HEAD}"
    yield "```text\n" + " ".join([f"osbctl {name}", *command.collect_usage_pieces(context)]) + "\n```\n"
    text, _, examples = (command.help or "").partition("\n\n\b\n")
    yield from (prose(" ".join(part.split())) + "\n" for part in text.split("\n\n"))
    if examples:
        yield f"```console\n{examples.strip()}\n```\n"
    if hasattr(command, "commands"):
        yield from (f"- [`osbctl {name} {one}`]({file_name(f'{name} {one}')}.md)" for one in command.commands)
        yield ""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not GENERAL & set(one.opts)]
    for title, parameters in (("Arguments", arguments), ("Options", options)):
        if parameters:
            yield f"## {title}\n"
        for parameter in parameters:
            yield from entry(parameter, context)


def entry(parameter: Any, context: Any) -> Iterator[str]:
    """One argument or option: heading, syntax, meaning, default and variable."""
    names, text = parameter.get_help_record(context)
    meaning, _, extra = text.partition("  [")
    heading = parameter.opts[0] if parameter.opts[0].startswith("-") else names.strip("[]")
    yield f"### `{heading}`\n"  # as code: a site makes a dash of two hyphens
    if heading != names.strip("[]"):
        yield f"`{names}`\n"
    conditions = "; ".join(part.rstrip("]") for part in extra.split("  ["))
    yield prose(meaning) + (f" ({prose(conditions)})" if extra else "") + "\n"


def prose(text: str) -> str:
    """`text` as Markdown: options, variables, paths and files as code, everything else literally."""
    marked = CODE.sub(r"`\1`", text)
    parts = re.split(r"(`[^`]*`)", marked)
    return "".join(part if part.startswith("`") else re.sub(r"([<>*_\[\]|])", r"\\\1", part) for part in parts)
