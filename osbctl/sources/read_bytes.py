"""Read the bytes of a SOURCE argument: a file, standard input, or a file in a git revision; the limits of readers."""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple, Self

from osbctl.errors import SourceError, UsageError
from osbctl.files import read_bounded
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.messages import Message, SourceName
from osbctl.text import closest_word

MAX_BYTES = 50_000_000
"""The largest source, in bytes: ten times the largest catalog met in the field."""

MAX_DEPTH = 100
"""The deepest nesting. Real catalogs, with schemas in schemas, have 14 levels. Platforms read deeper ones, each up to
where its own stack ends; up to here, Python's 1,000 frames are enough for every recursive function over a value."""

MAX_NODES = 20_000_000
"""The most values, YAML aliases expanded: more than 50 MB of plain text can hold is an alias bomb."""

MAX_DIGITS = 4_300
"""Longer integers are refused: it is what Python itself takes, since reading them costs quadratic time."""


STDIN = "<stdin>"
"""Default name of standard input in reports."""


class Limits(NamedTuple):
    """The limits of one read: bytes of text, levels of nesting, values with aliases expanded.

    `option` is the one of the command that sets the bytes; empty if it has none.
    """

    bytes: int = MAX_BYTES
    depth: int = MAX_DEPTH
    nodes: int = MAX_NODES
    option: str = ""

    @classmethod
    def of_option(cls, max_bytes: int, nodes: int = MAX_NODES) -> Self:
        """The limits of a command with `--max-bytes`."""
        return cls(max_bytes, nodes=nodes, option="--max-bytes")


DEFAULT_LIMITS = Limits()


def read_file(path: str, limits: Limits) -> bytes:
    """Read a file, FIFO or device; errors as in `read_bounded`, and DocumentError: it is larger than the limit."""
    data = read_bounded(path, limits.bytes)
    if len(data) > limits.bytes:
        raise too_large_error(path, limits)
    return data


def too_large_error(name: str, limits: Limits) -> DocumentError:
    """The error of a source that is larger than the limit."""
    message = f"the source is larger than {limits.bytes:,} bytes"
    hint = f"raise the limit with {limits.option}" if limits.option else ""
    return DocumentError((Finding("too-large", Severity.ERROR, message, (), Location(name, 1, 1), hint=hint),))


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
        raise SourceError(Message("{}: cannot be opened: {}", SourceName(source), reason)) from error


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
    id_, kind, size = _find_in_git(source)
    if kind == "tree":
        raise IsADirectoryError(source)
    if size > limits.bytes:
        raise too_large_error(source, limits)
    if (data := run_git("cat-file", "blob", id_) if id_ else None) is None:
        raise _no_blob_error(revision, path)
    return data


def _no_file_error(source: str) -> SourceError:
    if os.path.islink(source):  # noqa: PTH114
        target = os.readlink(source)  # noqa: PTH115
        return SourceError(Message("{}: the link leads nowhere, to {}", SourceName(source), target))
    folder, name = os.path.split(source)
    missing = Message("{}: there is no such file", SourceName(source))
    with suppress(SourceError):  # there is no git
        if is_revision(source):
            return SourceError(missing, f"it is a revision of git: name a file in it, {source}:FILE")
    try:
        names = os.listdir(folder or os.curdir)  # noqa: PTH208
    except OSError:
        return SourceError(missing, f"there is no folder {folder} either")
    stem = os.path.splitext(name)[0]  # noqa: PTH122
    close = next((other for other in names if os.path.splitext(other)[0] == stem), "") or closest_word(name, names)  # noqa: PTH122
    advice = f"did you mean {os.path.join(folder, close)}?" if close else ""  # noqa: PTH118
    return SourceError(missing, advice)


def _no_blob_error(revision: str, path: str) -> SourceError:
    """The error of a path that git does not find, with its cause: no repository, revision, such file or copy of it."""
    name = f"{revision}:{path}"
    if run_git("rev-parse", "--git-dir") is None:
        return SourceError(f"{name}: there is no such file, and this is not a git repository")
    if run_git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") is not None:
        is_partial = run_git("config", "--get-regexp", r"^remote\..*\.promisor$") is not None
        if is_partial and any(run_git("rev-parse", "--verify", "--quiet", one) for one in _names_in_git(name)):
            command = shlex.join(["git", "archive", "--format=tar", "--output", os.devnull, revision, path])
            return SourceError(f"{name}: this partial clone has no copy of it", f"`{command}` gets one")
        command = shlex.join(["git", "ls-tree", "-r", "--name-only", revision])
        advice = f"`{command}` lists the files that {revision} has"
        return SourceError(f"{name}: there is no {path} in {revision}", advice)
    # A remote knows names and hashes, but not `main~3`.
    named = re.split(r"[~^@]", revision.removeprefix("origin/"), maxsplit=1)[0]
    advice = shlex.join(["git", "fetch", "origin", named or "HEAD"])
    if (run_git("rev-parse", "--is-shallow-repository") or b"").strip() == b"true":
        advice = "the clone is shallow: git fetch --unshallow"
    return SourceError(f"{name}: there is no such file, and no revision {revision} in this clone", advice)


def head_commit_date() -> str:
    """Return the committer's date of HEAD, YYYY-MM-DD. Raises SourceError: no git, no repository, no commit."""
    day = run_git("log", "-1", "--format=%cs", "--no-show-signature")
    if not day:
        raise SourceError("there is no commit here to take the date from", "name the date: --date YYYY-MM-DD")
    return day.decode().strip()


def read_git_folder(source: str, endings: tuple[str, ...], limits: Limits) -> dict[str, bytes]:
    """The files of a folder `REV:path` whose names, in lower case, have one of these endings, by their paths in it.

    Raises SourceError: git does not know it, or a part of a catalog is a link that leads out of it; DocumentError: they
    are larger than the limit.
    """
    tree = _find_in_git(source)[0]
    found: dict[str, tuple[str, int]] = {}
    for path, blob, size in _list_in_git(source, tree, tree):
        if path.lower().endswith(endings):
            if not size.isdigit():  # BAD, with newer versions of git: a partial clone has no copy of it
                raise _no_blob_error(*source.split(":", 1))
            found[path] = blob, int(size)
    if sum(size for _, size in found.values()) > limits.bytes:
        raise too_large_error(source, limits)
    return dict(zip(found, _read_blobs([*found.values()]), strict=True))


def read_files_in_git(sources: Sequence[str]) -> Iterator[bytes]:
    """The content of each file `REV:path`; empty if it is larger than `MAX_BYTES`. Raises SourceError: one is missing.

    Links are not followed.
    """
    for start in range(0, len(sources), 100):  # which are in memory at the same time
        found = _find_blobs(sources[start : start + 100])
        read = iter(_read_blobs([blob for blob in found if blob[1] <= MAX_BYTES]))
        yield from (next(read) if size <= MAX_BYTES else b"" for _, size in found)


def _find_blobs(sources: Sequence[str]) -> list[tuple[str, int]]:
    """The id and the size of the blob of each file `REV:path`. Raises SourceError: one is missing."""
    listed = run_git("cat-file", "--batch-check", stdin=b"".join(map(_batch_line, sources))) or b""
    blobs = [re.fullmatch(rb"(\w+) blob (\d+)", line) for line in listed.split(b"\n")[:-1]]
    if None in blobs or len(blobs) < len(sources):
        missing = next((each for each, blob in zip(sources, blobs, strict=False) if not blob), sources[-1])
        raise _no_blob_error(*missing.split(":", 1))
    return [(blob[1].decode(), int(blob[2])) for blob in blobs if blob]


def _read_blobs(blobs: Sequence[tuple[str, int]]) -> list[bytes]:
    """The content of blobs, each with its id and size."""
    answer = run_git("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob, _ in blobs).encode()) or b""
    found, end = [], 0
    for _, size in blobs:
        start = answer.index(b"\n", end) + 1  # behind the line with the id, the kind and the size
        found.append(answer[start : start + size])
        end = start + size + 1
    return found


_FOLDER_OF_PARTS = re.compile(r"services(?:/[^/]+(?:/plans)?)?")
_PART = re.compile(rf"catalog\.[^/]*|{_FOLDER_OF_PARTS.pattern}|services/[^/]+/plans/[^/]+")
"""Paths of the folders and files that make a source folder: other links are not followed to folders."""


def _list_in_git(source: str, top: str, tree: str, below: str = "") -> Iterator[tuple[str, str, str]]:
    """Path, id and size of the files in a tree that is `below` another, `top`, which `source` names. Links count."""
    listed = run_git("ls-tree", "-r", "-z", "-l", "--full-tree", tree)
    if listed is None:
        raise _no_blob_error(*source.split(":", 1))
    for entry in os.fsdecode(listed).split("\0")[:-1]:
        about, _, name = entry.partition("\t")
        mode, kind, id_, size = about.split()
        path = below + name
        if mode == "120000":
            id_, kind, length = _find_in_git(f"{top}:{path}")
            size = str(length)
        if kind == "blob" and (_PART.fullmatch(path) or not below):  # nothing else is looked for behind links
            yield path, id_, size
        elif kind == "tree" and _FOLDER_OF_PARTS.fullmatch(path):
            yield from _list_in_git(source, top, id_, f"{path}/")
        elif not kind and _PART.fullmatch(path):
            raise SourceError(
                f"{source.rstrip('/')}/{path}: the link leads to no file of this folder", "keep it inside"
            )


def path_in_revision(revision: str, path: str) -> str:
    """The source that is `path` (from the working folder) in a revision."""
    relative = path_from_here(path)
    if relative != "." and not path_to_top():
        return f"{revision}:{relative}"
    return f"{revision}:./{'' if relative == '.' else relative}"


def path_to_top() -> str:
    """The path from the working folder to the top of the clone, as `../`; empty there, and outside of a clone."""
    return _path_to_top_from(os.getcwd())  # noqa: PTH109


@cache
def _path_to_top_from(_folder: str) -> str:
    """The path from the working folder. A run asks for each of many files."""
    return os.fsdecode(run_git("rev-parse", "--show-cdup") or b"").strip()


def path_from_here(path: str) -> str:
    """A path from the working folder, with slashes as git writes it. A link to the clone counts, not one in it."""
    relative = os.path.relpath(path)
    if relative.startswith(os.pardir):
        folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)  # noqa: PTH112
        relative = os.path.relpath(os.path.join(os.path.realpath(folder), name))  # noqa: PTH118
    return relative.replace(os.sep, "/")


def is_in_git(source: str) -> bool:
    """Return whether git knows a file or folder `REV:path`."""
    return _find_in_git(source)[0] != ""


def is_revision(text: str) -> bool:
    """Return whether an argument is a commit of git, and neither a path nor another kind of source."""
    if text.startswith("-") or ":" in text or not text or os.path.lexists(text):
        return False
    return run_git("rev-parse", "--verify", "--quiet", f"{text}^{{commit}}") is not None


def registered_name(source: str) -> str:
    """The name in `broker:NAME`; empty for other sources, also for a file of that name, or one in a branch `broker`."""
    kind, _, name = source.partition(":")
    if kind != "broker" or "/" in name or os.path.lexists(source):
        return ""
    return "" if _is_in_git_at(source, os.getcwd()) else name  # noqa: PTH109


@cache
def _is_in_git_at(source: str, _folder: str) -> bool:
    """Return whether git knows `source` in the working folder. Several parts of a run ask for the same argument."""
    with suppress(SourceError):  # there is no git
        return is_in_git(source)
    return False


def _find_in_git(source: str) -> tuple[str, str, int]:
    """Id, kind (`blob` or `tree`) and size of `REV:path`, with links followed; an empty id if git has no such file."""
    for name in _names_in_git(source):
        about = run_git("cat-file", "--batch-check", "--follow-symlinks", stdin=_batch_line(name))
        if found := re.fullmatch(rb"(\w+) (blob|tree) (\d+)\n", about or b""):
            return found[1].decode(), found[2].decode(), int(found[3])
    return "", "", 0


def _batch_line(name: str) -> bytes:
    """The line of standard input that names an object; the id of one with a line break, which would be two."""
    id_ = run_git("rev-parse", "--verify", "--quiet", name) or b"" if "\n" in name else os.fsencode(name)
    return id_.rstrip(b"\n") + b"\n"


def _names_in_git(source: str) -> tuple[str, str]:
    """The names of `REV:path` for git: from the top of the repository, and from the working folder."""
    revision, _, path = source.partition(":")
    return source, f"{revision}:./{'' if path in ('.', './') else path}"


def run_git(
    *arguments: str, folder: str | None = None, stdin: bytes = b"", told: list[str] | None = None
) -> bytes | None:
    """Output of git, None if it fails; in the repository of `folder`, whatever that of a hook is, if it is given.

    What it prints on standard error is added to `told`.

    Raises SourceError: git is not installed, or refuses the repository of another user, as in a container of a CI job;
    with `folder`, that counts as a failure.
    """
    import subprocess  # only some sources need it, and it slows a start

    env = {**os.environ, "LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX") if folder else ():
        env.pop(name, None)
    if "GIT_DIR" in env and "GIT_WORK_TREE" not in env and _is_found_from(os.getcwd(), env["GIT_DIR"]):  # noqa: PTH109
        del env["GIT_DIR"]  # with it, as in a hook of a worktree, git takes the working folder for the top of the clone
    try:
        # Without the setting, a repository could name a program to run.
        command = [_find_git(), "-c", "core.fsmonitor=false", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, env=env, cwd=folder or None, check=False)
    except FileNotFoundError as error:
        if folder:
            return None
        raise SourceError("git is not installed", "a source REV:path needs it") from error
    except OSError:  # the folder may not be entered
        return None
    if told is not None:
        told.append(os.fsdecode(done.stderr))
    if done.returncode and not folder:
        os.getcwd()  # noqa: PTH109  # raises if the working folder is gone
    if done.returncode and not folder and b"dubious ownership" in done.stderr:
        advice = done.stderr.decode(errors="replace").rstrip().rpartition("\n")[2].strip()
        raise SourceError("git refuses this repository, which belongs to another user", f"`{advice}` allows it")
    return done.stdout if done.returncode == 0 else None


@cache
def _is_found_from(_folder: str, git_dir: str) -> bool:
    """Return whether git finds the repository `git_dir` from the working folder."""
    found = run_git("rev-parse", "--absolute-git-dir", folder=os.curdir)
    return found is not None and os.path.realpath(os.fsdecode(found.rstrip(b"\n"))) == os.path.realpath(git_dir)


def _find_git() -> str:
    """The git of PATH. Windows itself searches the working folder first, and a repository may have a git.exe.

    Raises FileNotFoundError: there is none.
    """
    if os.name != "nt":
        return "git"
    for folder in os.get_exec_path():
        program = os.path.join(folder, "git.exe")  # noqa: PTH118
        if os.path.isabs(folder) and os.path.isfile(program):  # noqa: PTH113, PTH117
            return program
    raise FileNotFoundError("git.exe")
