"""Helpers for tests of pipelines and deployments: scratch repositories, shells, osbctl on the path."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli import warm
from tests.git import NOBODY, commit

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CATALOG = ROOT / "catalogs" / "data-services.yaml"
FAULTY = ROOT / "catalogs" / "faulty.yaml"
_HEAD, *_SERVICES = re.split("(?m)^(?=- id: )", CATALOG.read_text())
GOOD = _HEAD + min((one for one in _SERVICES if "name: small" in one), key=len)
"""The part of `CATALOG` with the smallest service offering that has such a plan, for scripts that read it often."""


def run(
    *command: str | Path, cwd: Path, env: dict[str, str] | None = None, timeout: float = 60, code: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command with `env`, the path and an unprivileged git user alone; it must end with `code` (None: any)."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    fixed = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    environment = {**fixed, **kept, **NOBODY, **(env or {})}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=timeout, check=False,
    )  # fmt: skip
    assert code in (None, done.returncode), f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A git repository with one commit on `main`."""
    commit(write(folder, files), "begin")
    return folder


def shellcheck(script: Path, *options: str) -> None:
    done = run(Path(sys.executable).with_name("shellcheck"), *options, script, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "")


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def edit(file: Path, pattern: str, new: str) -> None:
    """Replace all that matches in a text file, in which something must."""
    text, count = re.subn(pattern, new, file.read_text(encoding="utf-8"))
    assert count, pattern
    file.write_text(text, encoding="utf-8")


def meets_schema(schema: str, file: Path, *options: str) -> bool:
    """Validate a file by a schema of check-jsonschema, in this process: its start takes 0.3 s. It prints what is wrong."""
    from check_jsonschema.cli import main

    return main(["--builtin-schema", schema, *options, str(file)], standalone_mode=False) == 0


def shim(file: Path) -> Path:
    """A program `osbctl` that runs this checkout: a test of what calls it need not install it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m osbctl "$@"\n')
    file.chmod(0o755)
    return file


def quick(file: Path) -> Path:
    """The same for scripts that call it often and neither signal it nor leave it running: tests/cli/warm.py."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(warm.command(), file))
