"""Generates the parts of the documentation that come from the program.

    python tools/make_docs.py            write docs/reference/, docs/images/, man/ and the transcripts in Markdown files
    python tools/make_docs.py --check    write nothing; exit 1 with a diff where a file is out of date

A transcript is a fenced block after a line `<!-- run: COMMAND -->`: the command is run in the
repository, and its output replaces the block. `<!-- run(1): COMMAND -->` expects exit code 1.
The number of rules replaces the line after `<!-- rules -->`.
tools/walk.py handles the markers of pages whose commands run in an empty folder.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from architecture import drawing
from images import PICTURES, picture
from man_page import man_page
from reference import READERS, environment_page, reports_page
from reference_commands import command_pages
from reference_rules import rule_pages, summary
from walk import walked

from osbctl.config import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
TRANSCRIPT = re.compile(r"(<!-- run(?:\((\d)\))?: (.+?) -->\n)```console\n.*?```", re.DOTALL)

NUMBERS = re.compile(r"(<!-- rules -->\n).*\n")


def output(command: str, code: int = 0) -> str:
    """Output of `command`, including standard error; it must exit with `code`.

    It runs in the checkout, with this Python's `osbctl`.
    """
    words = shlex.split(command)
    if words[0] == "osbctl":
        words[:1] = [sys.executable, "-m", "osbctl"]
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != code:
        raise SystemExit(f"{command}: ended with {done.returncode}, not {code}:\n{done.stdout}")
    return done.stdout


def with_transcripts(text: str) -> str:
    """Run every transcript of `text` again."""

    def run(match: re.Match[str]) -> str:
        head, code, command = match.groups()
        return f"{head}```console\n$ {command}\n{output(command, int(code or 0))}```"

    return NUMBERS.sub(f"\\g<1>{summary()}\n", TRANSCRIPT.sub(run, text))


def configuration_page() -> Iterator[str]:
    yield "# Configuration\n\n<!-- Written from the program by `tools/make_docs.py` -->\n"
    yield "Keys of `osbctl.toml`, or of `[tool.osbctl]` in `pyproject.toml`. For each source the closest file above"
    yield "it counts, and where there is none, the closest above the working folder; `--config` names another. Only the"
    yield "nearest file is read, and the files that it extends. From weak to strong: the defaults; the file that is"
    yield "extended; the keys at the top; the matching entries of `per-path`, one after the other; options of the"
    yield "command line. `ignore`, `ignore-at`, `schema`, `severity` and `page` add up, the others replace. A rule is"
    yield "an id (`default-implicit`), a group (`advice`: a heading of `osbctl rules`) or a beginning"
    yield "(`cloudfoundry-*`). An example: [accept findings](../how-to/accept-findings.md).\n"
    yield "| key | meaning |\n|---|---|"
    for key, meaning in KEYS.items():
        yield f"| `{key}` | {meaning} |"
    yield "\n## Which command reads which key\n"
    yield "A key that a command does not read has no effect on it. `diff` and `drift` take the file closest to the"
    yield "first of NEW, OLD or BROKER, STORED that is a file. A command that asks a broker takes the one closest to"
    yield "the working folder, and asks with its `api-version`. The `page` table is that of the working folder, else of"
    yield "the first source. In `drift` the platform of an export or a registered broker wins.\n"
    names = sorted({command for readers in READERS.values() for command in readers.split()})
    yield f"| command | {' | '.join(f'`{key}`' for key in KEYS)} |\n|---|{'---|' * len(KEYS)}"
    for name in names:
        yield f"| `{name}` | {' | '.join('✓' if name in READERS[key].split() else '' for key in KEYS)} |"


def pages() -> Iterator[tuple[Path, str]]:
    """Every generated file with its text."""
    reference = ROOT / "docs" / "reference"
    yield from command_pages(reference)
    yield from rule_pages(reference)
    yield reference / "configuration.md", "\n".join(configuration_page()) + "\n"
    yield reference / "environment.md", "\n".join(environment_page()) + "\n"
    yield reference / "reports.md", "\n".join(reports_page())
    yield ROOT / "man" / "osbctl.1", "\n".join(man_page()) + "\n"
    yield ROOT / "docs" / "images" / "architecture.svg", drawing()
    for name in PICTURES:
        yield ROOT / "docs" / "images" / name, picture(name)
    for page in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        if "Written from " not in page.read_text(encoding="utf-8")[:200]:
            text = page.read_text(encoding="utf-8")
            yield page, walked(with_transcripts(text))


def main() -> int:
    stale = 0
    for file, text in pages():
        stands = file.read_text(encoding="utf-8") if file.exists() else ""
        if stands == text:
            continue
        stale = 1
        name = str(file.relative_to(ROOT))
        if "--check" in sys.argv:
            lines = difflib.unified_diff(
                stands.splitlines(), text.splitlines(), name, f"{name} (made anew)", lineterm=""
            )
            print("\n".join(lines))
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
