"""The site builds without a warning, notices a broken link, and shows its pages without asking another host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
ROOT = Path(__file__).parents[2]
BUILD = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]
LOADED = re.compile(
    r"<(?:script|img|iframe|source)[^>]+src=\"(?:https?:)?//|<link[^>]+href=\"(?:https?:)?//|@import|url\(.?https?:"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([*BUILD, ROOT / "docs", folder], cwd=ROOT, check=True, capture_output=True)
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.suffix in (".html", ".css")]
    assert len(files) > 20
    assert [file.name for file in files if LOADED.search(file.read_text(encoding="utf-8"))] == []


def test_links_out_of_the_site_lead_to_the_repository(site: Path) -> None:
    tutorial = (site / "tutorial.html").read_text(encoding="utf-8")
    assert 'href="https://git.example.com/your-org/osbctl/blob/main/deploy/README.md"' in tutorial


@pytest.mark.parametrize("link", ["tutorial.md#no-such-heading", "no-such-page.md", "../no-such-file.md"])
def test_a_broken_link_stops_the_build(tmp_path: Path, link: str) -> None:
    shutil.copy(ROOT / "docs" / "conf.py", tmp_path)
    (tmp_path / "tutorial.md").write_text("# Tutorial\n")
    (tmp_path / "index.md").write_text(f"# Index\n\n```{{toctree}}\ntutorial\n```\n\n[a link]({link})\n")
    done = subprocess.run([*BUILD, tmp_path, tmp_path / "site"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "index.md:7: WARNING" in done.stderr
