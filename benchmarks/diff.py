"""`osbctl diff` of large catalogs against a process of osbctl that only reads both, and its growth.

    python benchmarks/diff.py [--rounds N]

Whole processes, interleaved in one run; ratios of medians.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validate import catalog, medians, write

if TYPE_CHECKING:
    from collections.abc import Iterator

READ = """
import sys, typer
import osbctl.commands.app, osbctl.commands.diff
from osbctl.sources.read import read_source
for name in sys.argv[1:]:
    read_source(name)
"""


def changed(old: dict[str, Any], every: int, alike: bool = False) -> dict[str, Any]:
    """`old` with each so-manieth plan changed: its price, its description, a bound of its parameters.

    `alike`: the same bound for all; else one for each, so that no comparison of schemas serves twice.
    """
    new = copy.deepcopy(old)
    plans = [plan for service in new["services"] for plan in service["plans"]]
    for number, plan in enumerate(plans[::every], start=1):
        plan["description"] += " Now with more of it."
        plan["free"] = not plan["free"]
        size = plan["schemas"]["service_instance"]["create"]["parameters"]["properties"]["size"]
        size["maximum"] = 256 if alike else 512 - number / 10
    return new


def cases(services: int) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Input: the old and the new catalog; 90 plans in each service."""
    old = catalog(services, 90)
    yield "nothing changed", old, copy.deepcopy(old)
    yield "1 % of the plans changed", old, changed(old, 100)
    yield "every plan changed alike", old, changed(old, 1, alike=True)
    yield "every plan changed otherwise", old, changed(old, 1)


def in_yaml(folder: Path, rounds: int) -> None:
    """The middle case in YAML, where reading costs more."""
    old = catalog(51, 90)
    files = [write(folder, name, data)[1] for name, data in (("old", old), ("new", changed(old, 100)))]
    diff = [sys.executable, "-m", "osbctl", "diff", "--fail-on", "never", *files]
    told = medians({"diff": diff, "read": [sys.executable, "-c", READ, *files]}, rounds)
    size = Path(files[0]).stat().st_size
    ratio = told["diff"].seconds / told["read"].seconds
    print(f"| {size / 1e6:.1f} MB YAML, 1 % of the plans changed / reading both | {ratio:.2f} | < 2 |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print("| what | ratio | goal |\n|---|---|---|")
    times: dict[str, list[float]] = {}
    sizes: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        old_file, new_file = str(Path(name) / "old.json"), str(Path(name) / "new.json")
        for services in (8, 30):
            for what, old, new in cases(services):
                for file, data in ((old_file, old), (new_file, new)):
                    Path(file).write_text(json.dumps(data, indent=2), encoding="utf-8")
                diff = [sys.executable, "-m", "osbctl", "diff", "--fail-on", "never", old_file, new_file]
                told = medians({"diff": diff, "read": [sys.executable, "-c", READ, old_file, new_file]}, rounds)
                size = Path(old_file).stat().st_size
                goal = "" if what.startswith("every") else "< 2"
                ratio = told["diff"].seconds / told["read"].seconds
                print(f"| {size / 1e6:.1f} MB, {what} / reading both | {ratio:.2f} | {goal} |", flush=True)
                times.setdefault(what, []).append(told["diff"].seconds)
            sizes.append(services)
        in_yaml(Path(name), max(rounds // 2, 2))
    for what, (small, large) in times.items():
        exponent = math.log(large / small) / math.log(sizes[1] / sizes[0])
        print(f"| growth of time, {what}: exponent | {exponent:.2f} | < 1.1 |")


if __name__ == "__main__":
    main()
