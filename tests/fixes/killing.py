"""Kills `osbctl fix` in the middle, and looks at what is left: each file as it was, or as it shall be.

    python -m tests.fixes.killing FOLDER TIMES

Every other kill comes at any moment, the others while a file is being written. Prints as JSON how often the file was left
as it was and as it shall be, and how often a temporary file lay beside it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from osbctl.__main__ import main as osbctl
from osbctl.tasks.fix import fix_bytes
from osbctl.validation.options import ValidationOptions

PLAN = "  - {{id: p{0}, name: p{0}, description: d, free: no, bindable: 'yes'}}\n"
OLD = ("services:\n- id: s\n  name: s\n  description: d\n  bindable: 'no'\n  plans:\n"
       + "".join(PLAN.format(n) for n in range(100))).encode()  # fmt: skip
NEW = OLD.replace(b"free: no", b"free: false").replace(b"'yes'", b"true").replace(b"'no'", b"false")


def fixing(file: Path) -> int:
    """A process of its own that mends the file."""
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.argv = ["osbctl", "fix", str(file)]
        try:
            osbctl()
        finally:
            os._exit(0)
    return child


def kill(child: int, folder: Path, seconds: float, *, writing: bool) -> None:
    """Kill it at a random moment within `seconds`, or once there is a second file in the folder."""
    end = time.monotonic() + (seconds * 5 if writing else random.uniform(0, seconds * 1.2))
    while time.monotonic() < end and not (writing and len([*folder.iterdir()]) > 1):
        if not writing:
            time.sleep(0.001)
    if writing:
        time.sleep(random.choice([0, 0, 0, 0.0001, 0.001]))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main(folder: Path, times: int) -> None:
    file, found = folder / "c.yaml", {"old": 0, "new": 0, "temporary": 0}
    file.write_bytes(OLD)
    # And all is loaded before the first fork.
    assert fix_bytes("c.yaml", OLD, ValidationOptions()).after["c.yaml"] == NEW
    begun = time.monotonic()
    os.waitpid(fixing(file), 0)
    seconds = time.monotonic() - begun
    # A file is written in less than a millisecond: until one kill came in the middle, there are more of them.
    for number in range(times * 20):
        if number >= times and found["temporary"]:
            break
        file.write_bytes(OLD)
        kill(fixing(file), folder, seconds, writing=number % 2 == 1)
        left = file.read_bytes()
        assert left in (OLD, NEW), f"{len(left)} bytes are neither what was nor what shall be"
        found["new" if left == NEW else "old"] += 1
        for other in folder.iterdir():
            if other != file:
                assert other.name.startswith(".c.yaml."), other.name
                found["temporary"] += 1
                other.unlink()
    os.waitpid(fixing(file), 0)
    assert file.read_bytes() == NEW, "what a kill leaves can be mended again"
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
