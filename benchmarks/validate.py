"""`osbctl validate` against its peers, as whole processes, interleaved in one run.

    python benchmarks/validate.py [--rounds N] [--catalogs FOLDER]

Peers (check-jsonschema, yamllint) must be beside this Python. Prints a Markdown table of ratios; machines
are noisy, so the medians of interleaved rounds are compared, never two runs. FOLDER holds real catalogs.
"""

import argparse
import copy
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

BIN = Path(sys.executable).parent
SCHEMA = str(Path(__file__).parents[1] / "schemas" / "catalog-2.14.json")
PARAMETERS = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 512, "description": "Gigabytes of storage."},
        "engine": {"type": "string", "enum": ["14", "15", "16"]},
        "backup": {"type": "object", "properties": {"hour": {"type": "integer"}, "keep": {"type": "integer"}}},
    },
}


def guid(number: int) -> str:
    text = f"{number * 2654435761 % 2**128:032X}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def plan(number: int) -> dict[str, Any]:
    # A copy of its own: PyYAML would write one that is shared as an alias.
    schema = {**copy.deepcopy(PARAMETERS), "title": f"Parameters of plan {number}"}
    return {
        "id": guid(2 * number + 1),
        "name": f"plan-{number}",
        "description": f"Plan number {number}, with backups and a good night's sleep.",
        "free": number % 7 == 0,
        "bindable": True,
        "metadata": {
            "displayName": f"Plan {number}",
            "bullets": ["10 GB storage", "20 connections", "daily backup"],
            # A free plan with a price would be a finding, and cost a look for its place.
            "costs": [{"amount": {"usd": 10.5 + number, "eur": 9.5 + number}, "unit": "MONTHLY"}][: number % 7],
        },
        "schemas": {"service_instance": {"create": {"parameters": schema}}},
    }


def catalog(services: int, plans: int) -> dict[str, Any]:
    """A valid catalog with that many service offerings and plans in each."""
    return {
        "services": [
            {
                "id": guid(2 * number + 2_000_000_000),
                "name": f"service-{number}",
                "description": f"Service number {number}",
                "bindable": True,
                "plan_updateable": True,
                "tags": ["database", "relational"],
                "metadata": {"displayName": f"Service {number}", "shareable": True},
                "plans": [plan(number * plans + index) for index in range(plans)],
            }
            for number in range(services)
        ]
    }


def noted(services: int, plans: int) -> dict[str, Any]:
    """The same, valid, with something to say of each plan: two fields that are too new, and a name or a price."""
    data = catalog(services, plans)
    for number, each in enumerate(each for service in data["services"] for each in service["plans"]):
        each |= {"maximum_polling_duration": 3600, "maintenance_info": {"version": "1.0.0"}}
        if number % 4 == 0:
            each["metadata"]["costs"] = [{"amount": {"usd": 1.0}, "unit": ""}]
        elif number % 4 == 1:
            each["name"] = f"Plan {number}"
    return data


def faulty(services: int, plans: int) -> dict[str, Any]:
    """The same with errors: empty descriptions, and texts in the place of booleans."""
    data = noted(services, plans)
    for number, each in enumerate(each for service in data["services"] for each in service["plans"]):
        if number % 3 == 0:
            each["description"] = ""
        if number % 5 == 0:
            each["free"] = "yes"
    return data


def write(folder: Path, name: str, data: dict[str, Any]) -> tuple[str, str]:
    """The same catalog as NAME.json and NAME.yaml."""
    as_json, as_yaml = folder / f"{name}.json", folder / f"{name}.yaml"
    as_json.write_text(json.dumps(data, indent=2), encoding="utf-8")
    as_yaml.write_text(yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False), encoding="utf-8")
    return str(as_json), str(as_yaml)


@dataclass
class Run:
    seconds: float


def run(command: list[str]) -> Run:
    """One whole process; a peer may end with findings (1), but not with a failure."""
    # What is installed has its bytecode; a checkout's is written by the first run, whatever the environment says.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    status = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, check=False
    ).returncode
    seconds = time.perf_counter() - start
    if status not in (0, 1):
        raise SystemExit(f"{command}: ended with {status}")
    return Run(seconds)


PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime, done.returncode)
"""


def used(command: list[str]) -> tuple[int, float, int]:
    """Peak resident memory of a process in bytes, its processor seconds, its exit code.

    Measured from a small process: a child inherits its parent's peak.
    """
    done = subprocess.run([sys.executable, "-c", PEAK, *command], check=True, capture_output=True, text=True)
    memory, seconds, code = done.stdout.split()
    return int(memory) * 1024, float(seconds), int(code)


def peak(command: list[str]) -> int:
    """Peak resident memory of a process in bytes."""
    return used(command)[0]


def medians(commands: dict[str, list[str]], rounds: int) -> dict[str, Run]:
    """The median time of each command, over interleaved rounds."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for name, command in commands.items():
        run(command)  # warm the caches of files and bytecode
        runs[name].clear()
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(run(command))
    return {name: Run(statistics.median(r.seconds for r in told)) for name, told in runs.items()}


def osbctl(*arguments: str) -> list[str]:
    return [str(BIN / "python"), "-m", "osbctl", "validate", *arguments]


def check_jsonschema(file: str) -> list[str]:
    return [str(BIN / "check-jsonschema"), "--schemafile", SCHEMA, file]


BARE_TYPER = """
import typer

app = typer.Typer()


@app.command()
def main(name: str) -> None:
    typer.echo(name)


app()
"""


def small(folder: Path, catalogs: Path | None) -> None:
    """The median over the catalogs of a folder, else over a generated one; each in four rounds."""
    if catalogs is None:
        catalogs = folder / "small"
        catalogs.mkdir()
        write(catalogs, "small", catalog(5, 4))
    program = folder / "bare_typer.py"
    program.write_text(BARE_TYPER, encoding="utf-8")
    ratios: dict[str, list[float]] = {"check-jsonschema": [], "a bare Typer program": []}
    files = sorted(file for file in catalogs.rglob("*") if file.suffix in (".json", ".yaml", ".yml"))
    for file in map(str, files):
        told = medians(
            {
                "osbctl": osbctl(file),
                "check-jsonschema": check_jsonschema(file),
                "a bare Typer program": [str(BIN / "python"), str(program), "name"],
            },
            4,
        )
        for peer, of_peer in ratios.items():
            of_peer.append(told["osbctl"].seconds / told[peer].seconds)
    for peer, goal in (("check-jsonschema", "<= 0.30"), ("a bare Typer program", "<= 1.1")):
        print(f"| {len(files)} small catalogs / {peer} | {statistics.median(ratios[peer]):.2f} | {goal} |", flush=True)


def large(folder: Path, rounds: int) -> None:
    files = write(folder, "large", catalog(30, 90))
    for kind, file in zip(("JSON", "YAML"), files, strict=True):
        size = Path(file).stat().st_size
        told = medians({"osbctl": osbctl(file), "check-jsonschema": check_jsonschema(file)}, rounds)
        goal = "<= 0.8" if kind == "JSON" else "<= 0.06"
        row(f"{size / 1e6:.1f} MB {kind} / check-jsonschema", told["osbctl"], told["check-jsonschema"], goal)
        if kind == "YAML":
            lint = run([str(BIN / "yamllint"), "-d", "relaxed", file])
            row(f"{size / 1e6:.1f} MB {kind} / yamllint", told["osbctl"], lint, "")
        print(f"| peak memory, {size / 1e6:.1f} MB {kind} / file | {peak(osbctl(file)) / size:.1f} | |")


def with_findings(folder: Path, rounds: int) -> None:
    """Some 9,500 findings, those of one cause reported as one; without errors, and with some 2,000."""
    for what, data in (("notes", noted(42, 90)), ("errors", faulty(42, 90))):
        file = write(folder, what, data)[0]
        told = medians({"osbctl": osbctl(file), "check-jsonschema": check_jsonschema(file)}, rounds)
        size = Path(file).stat().st_size
        row(
            f"{size / 1e6:.1f} MB JSON with {what} / check-jsonschema",
            told["osbctl"],
            told["check-jsonschema"],
            "",
        )


def growth(folder: Path) -> None:
    sizes = (1_000, 10_000, 100_000)
    for kind in (0, 1):
        points = []
        for plans in sizes:
            file = write(folder, f"growth-{plans}", catalog(plans // 100, 100))[kind]
            command = osbctl("--max-bytes", "1000000000", file)
            points.append((Path(file).stat().st_size, run(command)))
        exponent = math.log(points[-1][1].seconds / points[-2][1].seconds) / math.log(points[-1][0] / points[-2][0])
        name = ("JSON", "YAML")[kind]
        print(f"| growth of time, 10,000 to 100,000 plans, {name}: exponent | {exponent:.2f} | < 1.1 |")
        size = points[-1][0]
        print(f"| peak memory, {size / 1e6:.0f} MB {name} / file | {peak(command) / size:.1f} | |")


def row(what: str, ours: Run, theirs: Run, goal: str) -> None:
    print(f"| {what} | {ours.seconds / theirs.seconds:.2f} | {goal} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each comparison")
    parser.add_argument("--catalogs", type=Path, help="a folder with real catalogs, such as ../shared/corpus/catalogs")
    options = parser.parse_args()
    print("| what | ratio | goal |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small(folder, options.catalogs)
        large(folder, options.rounds)
        with_findings(folder, max(options.rounds // 2, 2))
        growth(folder)


if __name__ == "__main__":
    main()
