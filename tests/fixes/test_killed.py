"""`osbctl fix`, killed at any moment, leaves each file as it was or as it shall be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus import EVERY_CASE

TIMES = 500 if EVERY_CASE else 5


@pytest.mark.fuzz
def test_a_kill_leaves_a_whole_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fixes.killing", str(tmp_path), str(TIMES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30 + 10 * TIMES)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["old"] + found["new"] >= TIMES
    assert found["old"] > 0
    assert found["temporary"] > 0, "no kill came while the file was written"
