"""The documentation's site, built once for the tests that read it and those that open it in a browser."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that it is in."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([*BUILD, ROOT / "docs", folder], cwd=ROOT, check=True, capture_output=True)
    return folder
