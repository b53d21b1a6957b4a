"""Read the bytes of a SOURCE argument: a file, standard input, or a file in a git revision."""

import os
import re
import shlex
import sys
from collections.abc import Sequence

from osbctl.errors import SourceError, UsageError
from osbctl.sources.limits import DEFAULT_LIMITS, Limits, read_file, too_large_error
from osbctl.text import closest_word

STDIN = "<stdin>"
"""Default name of standard input in reports."""


def report_name(source: str, stdin_filename: str | None = None) -> str:
    """Name of `source` in reports, with forward slashes."""
    return stdin_filename or STDIN if source == "-" else source.replace(os.sep, "/")


def read_bytes(source: str, *, limits: Limits = DEFAULT_LIMITS, stdin_filename: str | None = None) -> tuple[bytes, str]:
    """Bytes and name of a source, no folder. Raises errors as `read_source`; IsADirectoryError: it is a folder."""
    name = report_name(source, stdin_filename)
    try:
        return read_stdin(name, limits) if source == "-" else read_file(source, limits), name
    except IsADirectoryError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        return _read_from_git(source, limits), name
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{source}: cannot be opened: {reason}") from error


def check_stdin_used_once(sources: Sequence[str]) -> None:
    """Raise UsageError if `-` is given twice: standard input can be read only once."""
    if sources.count("-") > 1:
        raise UsageError("standard input can be read only once", "name files for the others")


def read_stdin(name: str, limits: Limits) -> bytes:
    """Read standard input, called `name` in reports. Raises SourceError: unreadable; DocumentError: too large."""
    try:
        data = sys.stdin.buffer.read(limits.bytes + 1)
    except OSError as error:
        raise SourceError(f"standard input cannot be read: {error.strerror}", "pipe a catalog into it") from error
    if len(data) > limits.bytes:
        raise too_large_error(name, limits)
    return data


def _read_from_git(source: str, limits: Limits) -> bytes:
    """Read `path` in a revision, from the top of the repository, or if it is not there, from the working folder."""
    if "://" in source:  # not named in the message: it may hold a password
        advice = "osbctl fetch URL gets a broker's catalog; diff, drift and check take the address itself"
        raise UsageError("a source is a file, not an address", advice)
    source = source.replace(os.sep, "/")
    revision, _, path = source.partition(":")
    if not revision or not path or os.path.splitdrive(source)[0]:  # C:/catalog.yaml is no revision C
        raise _no_file_error(source)
    if revision.startswith("-"):
        raise SourceError(f"{source}: there is no such file, and no revision begins with a dash")
    below = "" if path in (".", "./") else path
    for name in (source, f"{revision}:./{below}"):
        size = _run_git("cat-file", "-s", name)
        if size is None:
            continue
        if int(size) > limits.bytes:
            raise too_large_error(name, limits)
        data = _run_git("cat-file", "blob", name)
        if data is None:
            raise IsADirectoryError(name)
        return data
    raise _no_blob_error(revision, path)


def _no_file_error(source: str) -> SourceError:
    if os.path.islink(source):  # noqa: PTH114
        return SourceError(f"{source}: the link leads nowhere, to {os.readlink(source)}")  # noqa: PTH115
    folder, name = os.path.split(source)
    try:
        names = os.listdir(folder or os.curdir)  # noqa: PTH208
    except OSError:
        return SourceError(f"{source}: there is no such file", f"there is no folder {folder} either")
    stem = os.path.splitext(name)[0]  # noqa: PTH122
    close = next((other for other in names if os.path.splitext(other)[0] == stem), "") or closest_word(name, names)  # noqa: PTH122
    advice = f"did you mean {os.path.join(folder, close)}?" if close else ""  # noqa: PTH118
    return SourceError(f"{source}: there is no such file", advice)


def _no_blob_error(revision: str, path: str) -> SourceError:
    """The error of a path that git does not find, with its cause: no repository, no revision or no such file."""
    name = f"{revision}:{path}"
    if _run_git("rev-parse", "--git-dir") is None:
        return SourceError(f"{name}: there is no such file, and this is not a git repository")
    if _run_git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") is not None:
        command = shlex.join(["git", "ls-tree", "-r", "--name-only", revision])
        advice = f"`{command}` lists the files that {revision} has"
        return SourceError(f"{name}: there is no {path} in {revision}", advice)
    # A remote knows names and hashes, but not `main~3`.
    named = re.split(r"[~^@]", revision.removeprefix("origin/"), maxsplit=1)[0]
    advice = shlex.join(["git", "fetch", "origin", named or "HEAD"])
    if (_run_git("rev-parse", "--is-shallow-repository") or b"").strip() == b"true":
        advice = "the clone is shallow: git fetch --unshallow"
    return SourceError(f"{name}: there is no such file, and no revision {revision} in this clone", advice)


def head_commit_date() -> str:
    """Return the committer's date of HEAD, YYYY-MM-DD. Raises SourceError: no git, no repository, no commit."""
    day = _run_git("log", "-1", "--format=%cs")
    if not day:
        raise SourceError("there is no commit here to take the date from", "name the date: --date YYYY-MM-DD")
    return day.decode().strip()


def folder_in_git_error(source: str) -> SourceError:
    """The error of a folder `REV:path` that is not a brokerpak."""
    revision, _, path = source.partition(":")
    worktree = shlex.join(["git", "worktree", "add", "../before", revision])
    folder = shlex.quote(f"../before/{path.removeprefix('./')}")
    message = f"{source}: this is a folder in that revision, and folders are read from the disk"
    return SourceError(message, f"{worktree}, then name {folder}")


def _run_git(*arguments: str) -> bytes | None:
    """Output of git, None if it fails."""
    import subprocess  # only some sources need it, and it slows a start

    environment = {**os.environ, "LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, env=environment, check=False)
    except FileNotFoundError as error:
        raise SourceError("git is not installed", "a source REV:path needs it") from error
    return done.stdout if done.returncode == 0 else None
