"""An environment to run install lines as printed: a clone, a project beside it, and an index of wheels.

Nothing is fetched while a line runs: pip finds every package in one folder, which is filled once from whatever index the
machine has.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pip
import pytest

from tests.deploy.harness import CATALOG, ROOT, repository, run
from tests.git import commit, git
from tools.release_lines import release, stale

BUILD_NEEDS = ("hatchling", "pip", "setuptools", "wheel")
"""Build requirements of pip's and pre-commit's environments."""


def set_release(root: Path, settings: str) -> None:
    """Put `settings` in place of [tool.osbctl-release] of a clone's pyproject.toml, and write its lines anew."""
    file = root / "pyproject.toml"
    before, header, after = file.read_text(encoding="utf-8").partition("[tool.osbctl-release]\n")
    file.write_text(before + header + settings + "\n" + after[after.index("[tool.hatch") :], encoding="utf-8")
    write_lines(root)


def write_lines(root: Path) -> None:
    """Do what tools/release_lines.py does, in `root`."""
    for file, text in stale(root).items():
        file.write_text(text, encoding="utf-8")


def clone(folder: Path, settings: str | None = None) -> Path:
    """A repository with what is tracked here as it stands now; with other release settings, written anew and tagged."""
    names = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    kept = {name: ROOT / name for name in names if not name.startswith(("tests/", "tools/web/", "benchmarks/"))}
    for name, file in kept.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(file.read_bytes())
        (folder / name).chmod(file.stat().st_mode)
    if settings is not None:
        set_release(folder, settings)
    commit(folder)
    git(folder, "tag", f"v{release(folder).version}")
    return folder


@dataclass
class World:
    """A clone and a project side by side, and an environment of its own for each line."""

    folder: Path
    wheels: Path
    number: int = 0

    @property
    def clone(self) -> Path:
        return self.folder / "osbctl"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def environment(self) -> dict[str, str]:
        """A new virtual environment in front of PATH, a home and places for pipx that nothing else uses."""
        self.number += 1
        home = self.folder / f"home{self.number}"
        # Its pip is this Python's: a virtual environment is made in a tenth of the time without one of its own.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
        (site,) = (home / "venv").glob("lib/python*/site-packages")
        (site / "pip").symlink_to(Path(pip.__file__).parent)
        binaries = home / "bin"
        binaries.mkdir()
        for program, command in (
            ("pipx", f'{sys.executable}" -m pipx'),
            ("pip", f'{home}/venv/bin/python" -m pip'),
            ("uv", f'{sys.executable}" -m uv'),
        ):
            (binaries / program).write_text(f'#!/bin/sh\nexec "{command} "$@"\n')
            (binaries / program).chmod(0o755)
        address = f"url.file://{self.clone}"
        repository_url = release(self.clone).repository
        found_here = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"{address}.insteadOf",
            "GIT_CONFIG_VALUE_0": repository_url,
        }
        return {
            "HOME": str(home),
            "PATH": f"{binaries}:{home / 'venv/bin'}:/usr/local/bin:/usr/bin:/bin",
            "PIPX_HOME": str(home / "pipx"),
            "PIPX_SHARED_LIBS": str(self.folder / "pipx"),
            "PIPX_BIN_DIR": str(binaries),
            "PIPX_DEFAULT_PYTHON": sys.executable,
            "PRE_COMMIT_HOME": str(home / "pre-commit"),
            "UV_TOOL_DIR": str(home / "uv"),
            "UV_TOOL_BIN_DIR": str(binaries),
            "UV_CACHE_DIR": str(self.folder / "uv-cache"),
            "UV_PYTHON": sys.executable,
            "UV_OFFLINE": "1",
            "UV_FIND_LINKS": str(self.wheels),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_NO_COMPILE": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "RUNNER_TEMP": str(home),
            **(found_here if repository_url else {}),
        }

    def run(self, line: str, cwd: Path, env: dict[str, str]) -> str:
        """Output of `line` in a shell; it must succeed. `/opt/osbctl` is a folder of the environment's own."""
        line = line.replace("/opt/osbctl", env["HOME"] + "/opt")
        return run("bash", "-ec", line, cwd=cwd, env=env, timeout=180, code=0).stdout


def filled(wheels: Path) -> Path:
    """The folder of wheels that osbctl needs with all extras; skips where there is no index to fill it from."""
    wheels.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", wheels]
    done = subprocess.run(
        [*command, f"{ROOT}[postgresql,lsp]", *BUILD_NEEDS],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"no index to install from: {done.stderr.strip().splitlines()[-1]}")
    for own in wheels.glob("osbctl-*.whl"):
        own.unlink()
    return wheels


def world(folder: Path, wheels: Path, settings: str | None = None) -> World:
    """A world in `folder`; with release `settings`, its index has osbctl under the name that they give it."""
    made = World(folder, wheels)
    clone(made.clone, settings)
    if release(made.clone).index:
        made.wheels = folder / "wheels"
        made.wheels.mkdir()
        for file in wheels.iterdir():
            os.link(file, made.wheels / file.name)
        made.run(f"pip wheel --no-deps --wheel-dir {made.wheels} .", made.clone, made.environment())
    repository(made.project, {"catalog.yaml": CATALOG.read_text()})
    return made
