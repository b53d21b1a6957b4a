"""`osbctl fix`, as an author calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_validate import osbctl

TEXT = """services:
- name: a
  id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  description: d
  bindable: "yes"  # well
  plans:
  - {id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4, name: p, description: d}
"""


def test_it_mends_in_place_and_says_what_is_left(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    file.chmod(0o640)
    done = osbctl("fix", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert file.read_text() == TEXT.replace('"yes"', "true")
    assert file.stat().st_mode & 0o777 == 0o640
    assert f"{file}:5:3: fixed: " in done.stderr
    assert "fixed 1, 1 more with --unsafe; 0 left for you" in done.stderr
    assert "fixed 0" in osbctl("fix", str(file)).stderr


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_it_writes_nothing_where_it_is_asked_to_look(tmp_path: Path, option: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    done = osbctl("fix", option, str(file))
    assert done.returncode == 1
    assert file.read_text() == TEXT
    assert ('-  bindable: "yes"  # well\n+  bindable: true  # well\n' in done.stdout) == (option == "--diff")
    file.write_text(TEXT.replace('"yes"', "true"))
    assert osbctl("fix", option, str(file)).returncode == 0


def test_standard_input_goes_to_standard_output() -> None:
    done = osbctl("fix", "-", "--unsafe", stdin=TEXT)
    assert done.returncode == 0
    assert done.stdout == TEXT.replace('"yes"', "true").replace("name: p,", "name: p, free: true,")


def test_a_selected_rule_alone_is_mended() -> None:
    done = osbctl("fix", "-", "--unsafe", "--select", "default-implicit", stdin=TEXT)
    assert '"yes"' in done.stdout and "free: true" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nosuch.yaml"], 3, "there is no such file"),
        (["HEAD:nosuch.yaml"], 3, ""),
        (["--select", "nosuch", "-"], 2, "nosuch"),
        (["http://localhost/"], 2, "not an address"),
    ],
)
def test_what_cannot_be_mended_is_said(words: list[str], code: int, says: str) -> None:
    done = osbctl("fix", *words)
    assert done.returncode == code
    assert says in done.stderr


def test_an_unreadable_text_is_told_at_its_place() -> None:
    done = osbctl("fix", "-", stdin="services: [")
    assert done.returncode == 1
    assert "<stdin>:1:" in done.stderr and done.stdout == ""
