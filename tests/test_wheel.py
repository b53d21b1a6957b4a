"""The built distributions have the right content, and are reproducible.

The wheel is then installed with run-time dependencies only into a fresh environment, and does its work.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[1]
PARTS = ("osbctl", "schemas", "catalogs", "man", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", ".gitignore")


def copy(folder: Path, *, umask: int) -> Path:
    """A copy of what a build reads, with the file modes and times of another machine."""
    before = os.umask(umask)
    try:
        folder.mkdir(parents=True)
        for name in PARTS:
            if (ROOT / name).is_dir():
                kept = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, folder / name, ignore=kept, copy_function=shutil.copyfile)
            else:
                shutil.copyfile(ROOT / name, folder / name)
    finally:
        os.umask(before)
    return folder


def build(folder: Path) -> dict[str, Path]:
    """The sdist and the wheel of `folder`, by the ending of their names."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", "dist"]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return {"".join(file.suffixes[-1:]): file for file in (folder / "dist").iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(copy(tmp_path_factory.mktemp("here") / "osbctl", umask=0o022))


@pytest.fixture(scope="module")
def program(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin" / "pip", "install", "--quiet", built[".whl"]], check=True)
    return environment / "bin" / "osbctl"


def digests(files: dict[str, Path]) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files.values()}


def test_builds_are_reproducible(built: dict[str, Path], tmp_path: Path) -> None:
    there = build(copy(tmp_path / "elsewhere" / "checkout", umask=0o077))
    assert digests(there) == digests(built)
    assert len(there) == 2


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_checkout(built: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(built[".gz"]) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    assert digests(build(folder))[built[".whl"].name] == digests(built)[built[".whl"].name]


def test_the_wheel_contains_exactly_the_needed_files(built: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(built[".whl"]).namelist())
    code = {f"osbctl/{file.relative_to(ROOT / 'osbctl')}" for file in (ROOT / "osbctl").rglob("*.py")}
    data = {
        f"osbctl/{file.relative_to(ROOT)}"
        for folder in ("schemas", "catalogs")
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and ".github" not in file.parts
    }
    assets = {f"osbctl/{file.relative_to(ROOT / 'osbctl')}" for file in (ROOT / "osbctl/pages/assets").iterdir()}
    about = {name for name in names if name.startswith("osbctl-") and ".dist-info/" in name}
    assert {"osbctl/schemas/report-1.json", "osbctl/catalogs/source/catalog.lock"} <= data
    beside = {"osbctl/py.typed", "osbctl/platforms/accepted_by_all.json"}
    (manual,) = (name for name in names if ".data/" in name)
    assert manual.endswith(".data/data/share/man/man1/osbctl.1")
    assert names == code | data | assets | about | beside | {manual}
    assert {name.rpartition("/")[2] for name in about} == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE"}


def test_the_sdist_holds_what_a_wheel_is_built_from(built: dict[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as archive:
        tops = {Path(name).parts[1] for name in archive.getnames()}
    assert tops == {*PARTS, "PKG-INFO"}


def test_the_installed_program_validates_and_shows(program: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False)

    find = "import osbctl; print(osbctl.__path__[0] + '/catalogs')"
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
    assert "-m pip install 'platformdirs>=" in registry.stderr
    packages = subprocess.run(
        [program.parent / "python", "-m", "pip", "list"], capture_output=True, text=True, check=True
    ).stdout
    assert "pytest" not in packages


def test_the_wheel_can_create_a_database(built: dict[str, Path], tmp_path: Path) -> None:
    zipfile.ZipFile(built[".whl"]).extractall(tmp_path / "wheel")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "wheel"), "HOME": str(tmp_path)}
    make = "from osbctl.registry.store import Registry; Registry.open('brokers.sqlite').close()"
    for arguments in (["-c", make], ["-m", "osbctl", "brokers", "list", "--database", "brokers.sqlite"]):
        command = [sys.executable, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("NAME  PLATFORM")
