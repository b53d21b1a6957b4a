"""Command lines in the documentation name commands and options that there are, also where they are not run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.program import commands
from tests.docs.test_links import PAGES

ROOT = Path(__file__).parents[2]
GENERAL = {"-h", "--help", "--version", "--install-completion", "--show-completion"}


def lines(page: Path) -> list[str]:
    """The command lines of `osbctl` in fenced blocks and in code, from the name on."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"(?ms)^ *```(?:console|sh)\n(.*?)^ *```", text)
    joined = "\n".join(fenced).replace("\\\n", " ")
    code = re.findall(r"`(osbctl [^`\n]+)`", text)
    return re.findall(r"(?m)(?<!-[nt] )(?<![\w/.-])osbctl [^\n|&;)`]*", joined) + code


def unknown(line: str) -> list[str]:
    """Words of `line` that are neither a command of osbctl nor an option of that command."""
    words = shlex.split(re.sub(r"[<>]", " ", line), comments=True)[1:]
    named = ""
    while words and hasattr(commands()[named], "commands") and not words[0].startswith("-"):
        if words[0] == "COMMAND":
            return []
        named = f"{named} {words[0]}".strip()
        if named not in commands():
            return [words[0]]
        del words[0]
    command = commands()[named]
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | GENERAL
    given = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [word for word in given if word not in options]


FOUND = [(page, line) for page in PAGES if page.name != "CHANGELOG.md" for line in lines(page)]


def test_each_is_a_command_that_there_is_and_a_wrong_one_is_seen() -> None:
    assert [(page.name, line) for page, line in FOUND if unknown(line)] == []
    assert len(FOUND) > 100
    assert unknown("osbctl validate --platfrom cloudfoundry x.yaml") == ["--platfrom"]
    assert unknown("osbctl brokers forget data") == ["forget"]


def test_the_help_names_no_type_of_python() -> None:
    pages = list((ROOT / "docs/reference/commands").glob("*.md"))
    assert len(pages) > 20
    assert [page.name for page in pages if re.search(r"<(int|str|float)\b", page.read_text(encoding="utf-8"))] == []
