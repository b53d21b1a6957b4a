"""A part of osbctl that runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def start(module: str, *arguments: str, stdin: int) -> subprocess.Popen[bytes]:
    """Run a module as a child, with a pipe for its standard output. Nothing else is inherited."""
    # The child finds the packages where this process does, but never in its own working folder (-P).
    folders = (entry or str(Path.cwd()) for entry in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        # Ctrl-C at the terminal is for the parent.
        start_new_session=True,
    )
