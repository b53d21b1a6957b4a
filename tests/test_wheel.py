"""The wheel, installed with run-time dependencies only into a fresh environment, does its work."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], check=True
    )
    (built,) = folder.glob("osbctl-*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin" / "pip", "install", "--quiet", wheel], check=True)
    return environment / "bin" / "osbctl"


def test_the_wheel_holds_schemas_and_catalogs_but_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "osbctl/schemas/catalog-2.14.json" in names
    assert "osbctl/catalogs/interface-example.json" in names
    assert "osbctl/py.typed" in names
    assert "osbctl/registry/migrations/env.py" in names
    assert "osbctl/registry/migrations/versions/0001_registered_brokers.py" in names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "docs", "tools"))]


def test_the_installed_program_validates_and_shows(program: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False)

    find = "from osbctl.resources import catalogs_folder as f; print(f())"
    folder = subprocess.run(
        [program.parent / "python", "-c", find], capture_output=True, text=True, cwd=tmp_path, check=True
    ).stdout.strip()
    assert run("validate", f"{folder}/interface-example.json").returncode == 0
    assert run("validate", f"{folder}/faulty.yaml").returncode == 1
    shown = run("show", f"{folder}/interface-example.json")
    assert shown.returncode == 0, shown.stderr
    assert run("rules").returncode == 0
    registry = run("brokers", "list")
    assert registry.returncode == 3
    assert "pip install 'osbctl[registry]'" in registry.stderr
    packages = subprocess.run(
        [program.parent / "python", "-m", "pip", "list"], capture_output=True, text=True, check=True
    ).stdout
    assert "pytest" not in packages


def test_the_wheel_alone_makes_a_database(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "wheel")
    command = [sys.executable, "-m", "osbctl", "brokers", "list", "--database", "brokers.sqlite"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "wheel")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("NAME\t")
