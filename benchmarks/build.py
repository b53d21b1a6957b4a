"""`osbctl build` over many files: against reading the same files with PyYAML's CSafeLoader, and its growth.

python benchmarks/build.py
"""

import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from validate import guid, plan

from osbctl.sources.yaml_text import dump

READ = """
import pathlib, sys, yaml
for file in pathlib.Path(sys.argv[1]).rglob("*.yaml"):
    yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
"""


def write(folder: Path, services: int, plans: int) -> None:
    """A source folder of that many services, with that many plans each in the service's file."""
    (folder / "services").mkdir(parents=True)
    for number in range(services):
        service = {
            "name": f"service-{number}",
            "id": guid(2 * number + 2_000_000_000),
            "description": f"Service number {number}",
            "bindable": True,
            "plans": [plan(number * plans + index) for index in range(plans)],
        }
        (folder / "services" / f"service-{number}.yaml").write_text(dump(service), encoding="utf-8")


def seconds(*command: str) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    print("| what | figure |\n|---|---|")
    times = {}
    with tempfile.TemporaryDirectory() as name:
        for services in (100, 1_000):
            folder = Path(name) / str(services)
            write(folder, services, 10)
            pairs = [
                (
                    seconds(sys.executable, "-m", "osbctl", "build", str(folder), "-o", str(folder / "out.json")),
                    seconds(sys.executable, "-c", READ, str(folder)),
                )
                for _ in range(3)
            ]
            ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
            times[services] = ours
            what = f"{services:,} files, {services * 10:,} plans / reading them with CSafeLoader"
            print(f"| {what} | {ours / theirs:.2f} |")
    print(f"| growth from 100 to 1,000 files: exponent | {math.log10(times[1_000] / times[100]):.2f} |")


if __name__ == "__main__":
    main()
