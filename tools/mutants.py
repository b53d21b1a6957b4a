"""Runs the mutation tests and compares survivors with `tests/survivors.toml`; `make mutants` calls it.

mutmut changes one expression at a time in the files of `[tool.mutmut]` and runs the tests that reach it. A
surviving change needs a test, or an entry in the list with the reason why it is harmless. Fails for a survivor that
is not listed and for an entry that no longer survives. `tools/mutants.py authenticator files` runs only files of
these names, `--again` only unlisted survivors of the last run; `--read` prints its results again.

A change is identified by its function and its line, so that entries stay valid when files move.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KNOWN = Path("tests/survivors.toml")
KILLED = {"killed", "timeout", "segfault"}
UNRUN = "not checked"


class Change(NamedTuple):
    """The changed function, such as `Authenticator.check`, and its changed lines."""

    function: str
    lines: str


class Mutant(NamedTuple):
    """A change with mutmut's name and result."""

    change: Change
    name: str
    status: str


def mutants(path: Path) -> Iterator[Mutant]:
    """All changes of a file."""
    from mutmut.mutation.data import SourceFileMutationData
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code

    data = SourceFileMutationData(path=path)
    data.load()
    for name, code in data.exit_code_by_key.items():
        function = name.rpartition(".")[2].rpartition("__mutmut_")[0].removeprefix("x_").removeprefix("xǁ")
        diff = [line[0] + line[1:].strip() for line in get_diff_for_mutant(name, path=path).splitlines()[3:]]
        made = [line[1:] for line in diff if line[0] == "+"] or [line for line in diff if line[0] == "-"]
        change = Change(function.replace("ǁ", "."), "\n".join(made))
        yield Mutant(change, name, status_by_exit_code[code])


def reasons() -> dict[Change, str]:
    """The listed changes with their reasons."""
    return {
        Change(function, lines): group["reason"]
        for group in tomllib.loads(KNOWN.read_text("utf-8"))["group"]
        for function, all_lines in group["changes"].items()
        for lines in all_lines
    }


def tell(paths: Iterable[Path], everything: bool) -> int:
    """Print the figures of each file and the differences from the list; 1 for a difference or an unrun change.

    `everything`: these are all files, so that an entry of a function that none has is gone, too.
    """
    known = reasons()
    new: list[Mutant] = []
    alive: set[Change] = set()
    functions: set[str] = set()
    unrun = 0
    for path in paths:
        found = list(mutants(path))
        counts = Counter(mutant.status for mutant in found)
        left = [mutant for mutant in found if mutant.status not in {*KILLED, UNRUN}]
        here = [mutant for mutant in left if mutant.change not in known]
        killed = sum(counts[status] for status in KILLED)
        print(f"{path}: {len(found)} changes, {killed} killed ({counts['timeout']} by time), ", end="")
        print(f"{len(left) - len(here)} known, {len(here)} new, {counts[UNRUN]} not run")
        new += here
        functions.update(mutant.change.function for mutant in found)
        alive.update(mutant.change for mutant in found if mutant.status != "killed")  # a busy machine runs out of time
        unrun += counts[UNRUN]
    gone = [change for change in known if change not in alive and (everything or change.function in functions)]
    for change, name, status in new:
        print(f"\nnew, {status}: {change.function}  ({name})\n{_entry(change)}")
    for change in gone:
        print(f"\nin {KNOWN}, but does not survive: {change.function}\n{_entry(change)}")
    return int(bool(new or gone or unrun))


def _entry(change: Change) -> str:
    """The lines of a change, as in the list."""
    return f"    {json.dumps(change.lines, ensure_ascii=False)},"


def main() -> int:
    from mutmut.utils.file_utils import walk_mutatable_files

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="files, as authenticator for osbctl/broker/authenticator.py; else all")
    parser.add_argument("--again", action="store_true", help="only what the last run left and the list does not know")
    parser.add_argument("--read", action="store_true", help="run nothing")
    options = parser.parse_args()
    paths = sorted(path for path in walk_mutatable_files() if not options.names or path.stem in options.names)
    if not options.read:
        wanted = [f"{str(path.with_suffix('')).replace('/', '.')}.*" for path in paths] if options.names else []
        if options.again:
            known = reasons()
            left = (mutant for path in paths for mutant in mutants(path) if mutant.status not in KILLED)
            wanted = [mutant.name for mutant in left if mutant.change not in known]
        if wanted or not options.again:
            run = subprocess.run([sys.executable, "-m", "mutmut", "run", "--max-children", "2", *wanted], check=False)
            if run.returncode:
                return run.returncode
    return tell(paths, not options.names)


if __name__ == "__main__":
    sys.exit(main())
