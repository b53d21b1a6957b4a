"""A release writes its version and its section of the changelog, and does not begin where something stands in the way."""

import subprocess
import sys
from pathlib import Path

import pytest
from release import STEPS, obstacle, write_version

from tests.deploy.harness import repository
from tests.git import ROOT, commit, git

CHANGES = """# Changelog

## [Unreleased]

- A second change.

## [1.0.0] - 2026-11-22

- The first one.
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    version = '"""Catalogs."""\n\n__version__ = "1.0.0"\n'
    return repository(tmp_path, {"osbctl/__init__.py": version, "CHANGELOG.md": CHANGES})


def test_the_version_and_its_changes_are_written(checkout: Path) -> None:
    assert obstacle("1.1.0", checkout) == ""
    write_version("1.1.0", checkout, "2027-01-31")
    assert (checkout / "osbctl" / "__init__.py").read_text() == '"""Catalogs."""\n\n__version__ = "1.1.0"\n'
    expected = CHANGES.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [1.1.0] - 2027-01-31\n")
    assert (checkout / "CHANGELOG.md").read_text() == expected


def test_a_section_that_is_there_gets_the_day_alone(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text(CHANGES.replace("- A second change.\n\n", ""))
    commit(checkout, "nothing unreleased")
    assert obstacle("1.0.0", checkout) == ""
    write_version("1.0.0", checkout, "2027-01-31")
    text = (checkout / "CHANGELOG.md").read_text()
    assert "## [1.0.0] - 2027-01-31\n\n- The first one.\n" in text
    assert "2026-11-22" not in text


def test_what_stands_in_the_way_is_told(checkout: Path) -> None:
    assert "not a version" in obstacle("v1.1", checkout)
    git(checkout, "tag", "v1.1.0")
    assert obstacle("1.1.0", checkout) == "there is a tag v1.1.0 already"
    (checkout / "CHANGELOG.md").write_text(CHANGES.replace("- A second change.\n\n", ""))
    assert obstacle("1.2.0", checkout) == "there are uncommitted changes"
    commit(checkout, "nothing unreleased")
    assert obstacle("1.2.0", checkout) == "CHANGELOG.md has no unreleased changes"


def test_its_steps_are_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [word for program, *words in STEPS if program == "make" for word in words]
    assert [name for name in targets if f"\n{name}:" not in makefile] == []
    assert "\nrelease:" in makefile


def test_it_needs_a_version() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "release.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: python tools/release.py VERSION\n")
