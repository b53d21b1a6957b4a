"""Repositories of git, by an author of their own."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOBODY = {
    **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull),
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "test"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "test@example.com"),
}
"""git for a test: no configuration of the person who runs it."""


def git(folder: Path, *words: str) -> str:
    # Newer versions of git go on in the background after a commit, while a test may copy the repository.
    command, environment = ["git", "-c", "maintenance.auto=false", "-c", "gc.auto=0", *words], os.environ | NOBODY
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def project_files() -> list[Path]:
    """Files that git tracks, without drafts beside them; all files where it tracks none, as in an unpacked archive."""
    if (ROOT / ".git").exists():
        listing = ["git", "-c", "safe.directory=*", "ls-files", "-z"]  # a checkout of another user is none for git
        listed = subprocess.run(listing, cwd=ROOT, env=os.environ | NOBODY, capture_output=True, text=True, check=False)
        if listed.returncode == 0:
            return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    parts = (part for part in ROOT.iterdir() if not part.name.startswith("."))
    return [file for part in parts for file in (part.rglob("*") if part.is_dir() else [part]) if file.is_file()]


def commit(folder: Path, message: str = "a change") -> None:
    """Commit everything in `folder`, to a new repository where there is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main", "--template=")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
