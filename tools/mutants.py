"""Runs the mutation tests and prints each change that no test notices; `make mutants` calls it, on a quiet machine.

mutmut changes one expression at a time in the files that `[tool.mutmut]` names and runs the tests that reach it. A
change that survives is a line whose promise is not tested, or it changes nothing (an order of work, a free name).
"""

from __future__ import annotations

import os
import subprocess
import sys


def survivors() -> set[tuple[str, str]]:
    """Of each change that no test noticed, the function and the change as its removed and added lines."""
    from mutmut.mutation.data import SourceFileMutationData
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code
    from mutmut.utils.file_utils import walk_mutatable_files

    found = set()
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        for name, code in data.exit_code_by_key.items():
            if status_by_exit_code[code] in ("survived", "no tests"):
                lines = get_diff_for_mutant(name, path=path).splitlines()[3:]
                change = "\n".join(line[0] + line[1:].strip() for line in lines if line[:1] in "-+")
                found.add((f"{path}: {name.rpartition('.')[2].rpartition('__mutmut_')[0].removeprefix('x_')}", change))
    return found


def main() -> int:
    done = subprocess.run([sys.executable, "-m", "mutmut", "run", "--max-children", str(os.cpu_count())], check=False)
    if done.returncode:
        return done.returncode
    found = sorted(survivors())
    for function, change in found:
        print(f"no test notices: {function}\n{change}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
