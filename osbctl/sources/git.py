"""A file as it stood in a revision of a git repository."""

from __future__ import annotations

import os
import re
import shlex
import subprocess

from osbctl.errors import SourceError
from osbctl.sources.limits import Limits, too_large


def read_blob(revision: str, path: str, limits: Limits) -> bytes:
    """The bytes of `path` in `revision`; the path counts from the top of the repository, or from here.

    Raises:
        SourceError: no git, no repository, no such revision, no such file in it.
        IsADirectoryError: it is a folder in that revision.
        DocumentError: it is larger than the limit.
    """
    if revision.startswith("-"):
        raise SourceError(f"{revision}:{path}: there is no such file, and no revision begins with a dash")
    below = "" if path in (".", "./") else path
    for name in (f"{revision}:{path}", f"{revision}:./{below}"):
        size = _git("cat-file", "-s", name)
        if size is not None:
            return _blob(name, int(size), limits)
    raise _missing(revision, path)


def commit_date() -> str:
    """The day of the commit that is checked out, YYYY-MM-DD in the committer's time zone.

    Raises SourceError: no git, no repository, no commit.
    """
    day = _git("log", "-1", "--format=%cs")
    if not day:
        raise SourceError("there is no commit here to take the date from", "name the date: --date YYYY-MM-DD")
    return day.decode().strip()


def refuse_folder(source: str) -> SourceError:
    """The error of a folder `REV:path` whose files are not read from git."""
    revision, _, path = source.partition(":")
    worktree = shlex.join(["git", "worktree", "add", "../before", revision])
    folder = shlex.quote(f"../before/{path.removeprefix('./')}")
    message = f"{source}: this is a folder in that revision, and folders are read from the disk"
    return SourceError(message, f"{worktree}, then name {folder}")


def _blob(name: str, size: int, limits: Limits) -> bytes:
    if size > limits.bytes:
        raise too_large(name, limits)
    data = _git("cat-file", "blob", name)
    if data is None:
        raise IsADirectoryError(name)
    return data


def _missing(revision: str, path: str) -> SourceError:
    name = f"{revision}:{path}"
    if _git("rev-parse", "--git-dir") is None:
        return SourceError(f"{name}: there is no such file, and this is not a git repository")
    if _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") is not None:
        return SourceError(
            f"{name}: there is no {path} in {revision}", f"git ls-tree -r --name-only {revision} lists it"
        )
    return SourceError(f"{name}: there is no such file, and no revision {revision} in this clone", _fetch(revision))


def _fetch(revision: str) -> str:
    """The command that may bring the revision. `main~3` cannot be asked for: only what a remote names, and hashes."""
    named = re.split(r"[~^@]", revision.removeprefix("origin/"), maxsplit=1)[0]
    shallow = (_git("rev-parse", "--is-shallow-repository") or b"").strip() == b"true"
    if shallow and named != revision:
        return "the clone is shallow: git fetch --unshallow"
    fetch = shlex.join(["git", "fetch", *(["--depth=1"] if shallow else []), "origin", named or "HEAD"])
    return f"the clone is shallow: {fetch}, or git fetch --unshallow" if shallow else fetch


def _git(*arguments: str) -> bytes | None:
    """Output of git, None if it fails."""
    environment = {**os.environ, "LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, env=environment, check=False)
    except FileNotFoundError as error:
        raise SourceError("git is not installed", "a source REV:path needs it") from error
    return done.stdout if done.returncode == 0 else None
