"""Checks that HEAD can be published; docs/contributing/publish.md describes the release.

    python tools/release_check.py    build into dist/ and check: 0, 1 for a fault, 3 if a check could not run

The tools are in the dependency group `release`. Every check runs, whatever the others find.
A check whose service does not answer is `not checked`, never `ok`.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from io import BytesIO
from pathlib import Path

from release_lines import release, stale

ROOT = Path(__file__).parent.parent
EXTRAS = "postgresql,lsp"
SECONDS = 300
ALLOWED = {
    "0BSD", "Apache Software License", "Apache-2.0", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT",
    "ISC License (ISCL)", "MIT License", "MIT-0", "PSF-2.0", "Python Software Foundation License",
    "Zope Public License",
}  # fmt: skip
"""Licences that leave those who use osbctl as free as its own does."""
ALLOWED_FOR = {"psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only"}
"""Licences of single packages: these are installed beside osbctl with an extra, and can be replaced by their users."""
NO_ADDRESS = "Your package does not have author-email data."
NO_URL = "Your package should have a 'url' field"


class State(StrEnum):
    """Result of a check."""

    OK = "ok"
    FAILED = "FAILED"
    UNKNOWN = "not checked"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one check, with a sentence."""

    name: str
    state: State
    text: str


Outcomes = Iterator[Outcome]


def outcome(name: str, faults: list[str], well: str) -> Outcome:
    """FAILED with `faults`, or else OK with the sentence `well`."""
    return Outcome(name, State.FAILED, "; ".join(faults)) if faults else Outcome(name, State.OK, well)


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def tool(module: str, *arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a program of the group `release` with this Python."""
    return run(sys.executable, "-m", module, *arguments, cwd=cwd)


def version(root: Path) -> Outcome:
    """Check that the version is a release, and that install lines name it."""
    here = release(root)
    faults = [] if re.fullmatch(r"\d+\.\d+\.\d+", here.version) else [f"{here.version} is not of the form 1.2.3"]
    faults += [f"{file.relative_to(root)} is out of date: make docs" for file in stale(root)]
    return outcome("version", faults, here.version)


def changelog(root: Path) -> Outcome:
    """Check that the first section of the changelog is this version's, dated, and not empty."""
    wanted, text = release(root).version, (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"(?m)^## \[([^\]]+)\](?: - (\S+))?\n((?:(?!## ).*\n?)*)", text)
    first = next((section for section in sections if section[0] != "Unreleased"), ("", "", ""))
    if first[0] != wanted:
        return outcome("changelog", [f"its newest release is {first[0] or 'none'}, not {wanted}"], "")
    faults = [] if "\n- " in first[2] else [f"nothing is said of {wanted}"]
    try:
        if date.fromisoformat(first[1]) > datetime.now(UTC).date():
            faults.append(f"{first[1]} has not come yet")
    except ValueError:
        faults.append(f"{first[1] or 'nothing'} is not a date")
    return outcome("changelog", faults, f"{wanted} of {first[1]}")


def tag(root: Path) -> Outcome:
    """Check that the work tree is HEAD, with the tag of this version or none."""
    wanted = f"v{release(root).version}"
    here = run("git", "tag", "--points-at", "HEAD", "--list", "v*", cwd=root).stdout.split()
    elsewhere = run("git", "tag", "--list", wanted, cwd=root).stdout.split() if wanted not in here else []
    faults = [f"HEAD is tagged {name}, not {wanted}" for name in here if name != wanted]
    faults += [f"{wanted} is another commit: raise the version" for _ in elsewhere]
    changed = run("git", "status", "--porcelain", cwd=root).stdout.splitlines()
    faults += [f"{len(changed)} files are not committed, as {changed[0][3:]}"] if changed else []
    if here and re.search(r"(?m)^## \[Unreleased\]\n\s*(?!## )\S", (root / "CHANGELOG.md").read_text(encoding="utf-8")):
        faults.append("the changelog has changes under Unreleased")
    return outcome("tag", faults, wanted if here else f"untagged; {wanted} is free")


def build(root: Path, place: Path) -> list[Path]:
    """Build the sdist and wheel of HEAD in `place`, with the time of its commit."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=root, capture_output=True, check=True, timeout=SECONDS)
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(place, filter="data")
    seconds = run("git", "log", "-1", "--format=%ct", cwd=root).stdout.strip()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", "dist"]
    done = run(*command, cwd=place, SOURCE_DATE_EPOCH=seconds)
    if done.returncode:
        raise SystemExit(f"it cannot be built:\n{done.stderr}")
    return sorted((place / "dist").iterdir())


def reproducible(first: list[Path], second: list[Path]) -> Outcome:
    """Check that builds in two folders are identical."""
    digests = [
        {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in built} for built in (first, second)
    ]
    differing = {name for name, digest in digests[0].items() if digests[1].get(name) != digest}
    faults = [f"{name} differs from build to build" for name in sorted(differing)]
    return outcome("build", faults, ", ".join(f"{name} {digest[:12]}" for name, digest in digests[0].items()))


def metadata(files: list[Path], published: bool) -> Outcomes:
    """Check the metadata with twine and pyroma; a package index displays it."""
    done = tool("twine", "check", "--strict", *files)
    lines = [line.strip() for line in done.stdout.splitlines() if re.search("WARNING|ERROR", line)]
    yield outcome("twine", lines or [done.stderr.strip()] if done.returncode else [], "passed")
    (sdist,) = (file for file in files if file.suffix == ".gz")
    told = tool("pyroma", "--min", "10", sdist).stdout.split("-" * 30 + "\n")
    if len(told) < 4:
        yield Outcome("pyroma", State.FAILED, "".join(told).strip() or "it said nothing")
        return
    faults = [line for line in told[2].splitlines() if line and line != NO_ADDRESS]
    without_url = [line for line in faults if line.startswith(NO_URL)]
    yield outcome("pyroma", [line for line in faults if line not in without_url], told[3].split("\n")[0])
    if without_url and published:
        yield Outcome("address", State.FAILED, without_url[0])
    elif not published:
        yield Outcome("address", State.UNKNOWN, "[tool.osbctl-release] of pyproject.toml names no repository")


def installed(wheel: Path, place: Path) -> Path | None:
    """Create an environment with the wheel and all extras. None if no index has them."""
    run(sys.executable, "-m", "venv", "--without-pip", place)
    python = place / "bin/python"
    done = tool("pip", "--python", python, "install", "--quiet", "--no-compile", f"{wheel}[{EXTRAS}]")
    return None if done.returncode else python


def packages(python: Path) -> list[tuple[str, str, str]]:
    """Name, version and licence of each package of that environment."""
    told = tool("piplicenses", f"--python={python}", "--format=json").stdout
    return [(entry["Name"], entry["Version"], entry["License"]) for entry in json.loads(told)]


def licences(python: Path) -> Outcome:
    """Check that the licence of every dependency is permissive."""
    found = packages(python)
    faults = [f"{name}: {licence}" for name, _, licence in found if not allowed(name, licence)]
    return outcome("licences", faults, f"{len(found)} packages")


def allowed(name: str, licence: str) -> bool:
    """Return whether a licence is allowed: every part of an SPDX `AND` or list, one part of an `OR`."""
    parts = re.split(r" AND |; ", licence)
    known = ALLOWED | {ALLOWED_FOR.get(name, "")}
    return all(any(choice.strip("() ") in known or choice in known for choice in part.split(" OR ")) for part in parts)


def vulnerabilities(python: Path, service: str = "") -> Outcome:
    """Check dependencies in the database of open source vulnerabilities (OSV). `service` is another address."""
    (site,) = (python.parent.parent / "lib").glob("python*/site-packages")
    address = ["--osv-url", service] if service else []
    command = ["-s", "osv", *address, "--progress-spinner", "off", "-f", "json", "--timeout", "15", "--path", site]
    done = tool("pip_audit", *command)
    if not done.stdout.startswith("{"):
        return Outcome("vulnerabilities", State.UNKNOWN, (done.stderr.strip().splitlines() or ["no answer"])[-1][:160])
    told = json.loads(done.stdout)["dependencies"]
    faults = [f"{one['name']} {one['version']}: {bad['id']}" for one in told for bad in one.get("vulns", ())]
    # osbctl itself is no dependency; any other that the service does not know was not looked at.
    skipped = [one["name"] for one in told if "skip_reason" in one and one["name"] != "osbctl"]
    if skipped and not faults:
        return Outcome("vulnerabilities", State.UNKNOWN, f"nothing is known of {', '.join(skipped)}")
    return outcome("vulnerabilities", faults, f"none known in {len(told)} packages")


def bill_of_materials(python: Path, file: Path) -> Outcome:
    """Check that the CycloneDX SBOM lists every package with its version."""
    done = tool("cyclonedx_py", "environment", "--output-reproducible", "-o", file, python)
    if done.returncode:
        return outcome("sbom", [done.stderr.strip()], "")
    listed = {(part["name"], part["version"]) for part in json.loads(file.read_text(encoding="utf-8"))["components"]}
    missing = [name for name, number, _ in packages(python) if (name, number) not in listed]
    return outcome("sbom", [f"{name} is not in it" for name in missing], f"{file.name}, {len(listed)} packages")


def checks(root: Path, place: Path, service: str = "") -> Outcomes:
    """Run every check; leaves the builds in `place`/first/dist, with the SBOM."""
    yield version(root)
    yield changelog(root)
    yield tag(root)
    files = build(root, place / "first")
    yield reproducible(files, build(root, place / "second"))
    yield from metadata(files, bool(release(root).repository))
    (wheel,) = (file for file in files if file.suffix == ".whl")
    python = installed(wheel, place / "environment")
    if python is None:
        yield from (
            Outcome(name, State.UNKNOWN, "no index has the dependencies")
            for name in ("licences", "vulnerabilities", "sbom")
        )
        return
    yield licences(python)
    yield vulnerabilities(python, service)
    yield bill_of_materials(python, wheel.parent / f"{wheel.name.removesuffix('-py3-none-any.whl')}.cdx.json")


def code(states: set[State]) -> int:
    """Exit code: 1 for a fault, 3 for a check that could not run."""
    return 1 if State.FAILED in states else 3 if State.UNKNOWN in states else 0


def main(root: Path = ROOT, service: str = "") -> int:
    states: set[State] = set()
    with tempfile.TemporaryDirectory() as scratch:
        for found in checks(root, Path(scratch), service):
            states.add(found.state)
            print(f"{found.state:<12} {found.name:<16} {found.text}", flush=True)
        (root / "dist").mkdir(exist_ok=True)
        for file in (Path(scratch) / "first/dist").iterdir():
            file.replace(root / "dist" / file.name)
    return code(states)


if __name__ == "__main__":
    sys.exit(main())
