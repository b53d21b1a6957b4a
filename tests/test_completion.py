"""Shell completion in a real bash: the script that osbctl prints or installs is sourced and its function called."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.harness import quick

ROOT = Path(__file__).parents[1]
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="no bash here")

ASK = """
source "$1"; shift
COMP_WORDS=(osbctl "$@"); COMP_CWORD=$#; COMPREPLY=()
_osbctl_completion osbctl
printf '%s\\n' "${COMPREPLY[@]}"
"""

BELOW = '"$@"; exit $?'
"""Runs a command as a child of bash: the shell is the closest one above, and the tests may run below another."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A scratch home, and `osbctl` on PATH with this checkout's code."""
    program = tmp_path / "bin" / "osbctl"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom osbctl.__main__ import main\nmain()\n"
    )
    program.chmod(0o755)
    return {"HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}", "SHELL": "/bin/bash"}


@pytest.fixture(scope="module")
def script() -> str:
    """The script that a user's shell sources."""
    command = ["bash", "-c", BELOW, "bash", sys.executable, "-m", "osbctl", "--show-completion"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout


def run(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_bash_completes(environment: dict[str, str], script: str) -> None:
    file = Path(environment["HOME"], "completion.sh")
    file.write_text(script)
    quick(Path(environment["HOME"], "bin", "osbctl"))
    for words, offered in (
        ("val", "validate"),
        ("brokers re", "refresh remove"),
        ("new ", "plan service"),
        ("validate --format s", "sarif"),
        ("serve catalog.yaml --log-f", "--log-format"),
    ):
        told = run(environment, "bash", "--norc", "-c", ASK, "bash", str(file), *words.split(" "))
        assert sorted(told.split()) == offered.split(), words


def test_an_installed_completion_is_there_in_the_next_shell(environment: dict[str, str]) -> None:
    run(environment, "bash", "-c", BELOW, "bash", "osbctl", "--install-completion")
    assert "-F _osbctl_completion osbctl" in run(environment, "bash", "-i", "-c", "complete -p osbctl")
