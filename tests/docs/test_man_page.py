"""The manual page: every command and option, and nothing that roff reads as a request of its own."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.cli.program import ROOT, commands, osbctl
from tools.man_page import man_page, text

PAGE = "\n".join(man_page())


def test_every_command_and_option_is_there() -> None:
    plain = PAGE.replace("\\-", "-")
    for name, command in commands().items():
        assert not name or f"\n.SS osbctl {name}" in plain
        for parameter in command.params if name else ():
            assert parameter.opts[0] == "--help" or not parameter.opts[0].startswith("-") or parameter.opts[0] in plain


def test_text_is_no_request() -> None:
    assert text(".so /etc/passwd\n'x \\fB -p") == "\\&.so /etc/passwd\n\\&'x \\efB \\-p"
    requests = set(re.findall(r"(?m)^[.'](\S+)", PAGE))
    assert requests == {'\\"', "TH", "SH", "SS", "PP", "TP", "B", "I", "nf", "fi", "RS", "RE"}


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff here")
def test_groff_reads_it_without_a_warning() -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", str(ROOT / "man" / "osbctl.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    assert "--password-stdin" in re.sub("\x1b\\[[0-9;]*m", "", done.stdout)


def test_the_module_is_the_program() -> None:
    assert "`python -m osbctl`" in (ROOT / "docs/install.md").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "osbctl", "--version"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    assert printed == osbctl("--version", code=0).stdout
