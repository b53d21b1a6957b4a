"""Repositories of git, by an author of their own."""

import os
import subprocess
from pathlib import Path

NOBODY = {
    **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull),
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "test"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "test@example.com"),
}
"""git for a test: no configuration of the person who runs it."""


def git(folder: Path, *words: str) -> str:
    command, environment = ["git", *words], os.environ | NOBODY
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path, message: str = "a change") -> None:
    """Commit everything in `folder`, to a new repository where there is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
