"""Repositories of git, by an author of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True, timeout=30)


def commit(folder: Path) -> None:
    """Commit everything in `folder`, to a new repository where there is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
