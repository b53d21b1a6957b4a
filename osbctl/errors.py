"""Exceptions that end a run, with their exit codes, and how the work on one source leaves that on the others.

Faults *in* a document are values (`osbctl.findings.Finding`). Every command that takes several sources or brokers does
the work on each with `run_contained`.

OsbctlError             3  base class
├── UsageError          2  invalid command line
├── SourceError         3  a source cannot be opened: missing, forbidden, no such revision
│   └── OutputError     3  standard output cannot be written
├── RegistryError       3  the database of registered brokers cannot be used
├── ConfigError         3  osbctl.toml, pyproject.toml, a user schema or an option file is invalid
├── InternalError       3  a bug of osbctl: an unexpected exception
└── DocumentError       1  a document cannot be parsed, or is not valid (in `osbctl.findings`)
"""

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

if TYPE_CHECKING:
    from osbctl.messages import Sentence

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_OUTPUT_FAILS = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG)
"""Errors of a failed write to standard output."""

_raise_bugs = False


class OsbctlError(Exception):
    """Base of exceptions that a command reports: what happened (`message`) and what to do (`advice`, may be empty).

    Secrets in the message are redacted, such as the password in an address that was taken for a file. `sentence` is the
    message with its values, for a finding that quotes it.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, sentence: "Sentence", advice: str = "") -> None:
        from osbctl.messages import text_of  # most runs have no error

        self.sentence = sentence
        self.message = text_of(sentence)
        super().__init__(self.message)
        self.advice = advice


def error_sentence(error: OsbctlError) -> str:
    """The message of an error with its advice in brackets, on one line."""
    return error.message + (f" ({error.advice})" if error.advice else "")


class UsageError(OsbctlError):
    """The command line is invalid."""

    exit_code = 2


class SourceError(OsbctlError):
    """A source cannot be opened: a missing file, no permission, no such revision."""


class OutputError(SourceError):
    """Standard output cannot be written: this ends the run, whatever it is about."""


class ConfigError(OsbctlError):
    """A configuration file, a user schema or an option file is invalid."""


class RegistryError(OsbctlError):
    """The database of registered brokers cannot be used: missing, locked, full, damaged, or made by a newer osbctl."""


class InternalError(OsbctlError):
    """A bug of osbctl: an unexpected exception. Its text is not shown, since it may quote a secret."""

    def __init__(self, cause: BaseException) -> None:
        advice = "this is a bug; run again with OSBCTL_DEBUG=1 and report what it prints"
        super().__init__(f"internal error: {type(cause).__name__}", advice)


def raise_bugs() -> None:
    """From now on raise unexpected exceptions, so that their tracebacks can be seen."""
    global _raise_bugs  # one setting of the process, made as it starts
    _raise_bugs = True


def run_contained(work: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R | OsbctlError:
    """Return the result of `work`, or the error that ended it: InternalError for an unexpected exception.

    What ends the whole run is raised: an interrupt, too little memory, output that cannot be written.
    """
    try:
        return work(*arguments, **options)
    except (MemoryError, BrokenPipeError, OutputError):
        raise
    except OsbctlError as error:
        return error
    except BaseException as error:
        # A panic of a library in Rust is no Exception.
        is_bug = isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"
        if _raise_bugs or not is_bug or is_output_failure(error):
            raise
        return unexpected_error(error)


def unexpected_error(error: BaseException) -> SourceError | InternalError:
    """The error for any other exception. A file that the system does not let us see is no bug."""
    if isinstance(error, FileNotFoundError) and _is_working_folder_gone():
        return SourceError("the working folder is gone", "go to one that exists")
    if isinstance(error, OSError) and error.filename and error.errno in (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG):
        return SourceError(f"{error.filename}: cannot be opened: {error.strerror}")
    return InternalError(error)


def _is_working_folder_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109  # pathlib costs its import at every start
    except FileNotFoundError:
        return True
    return False


def run_on_each(work: Callable[[T], R], items: Iterable[T]) -> list[R | OsbctlError]:
    """The result of `work` on each item, or its error. Raises UsageError, ConfigError: these are about the run."""
    results = [run_contained(work, item) for item in items]
    for result in results:
        if isinstance(result, UsageError | ConfigError):
            raise result
    return results


def run_without_faulty(work: Callable[[list[T]], R], items: Sequence[T]) -> tuple[R, list[tuple[T, InternalError]]]:
    """Do work on all items at once; if a bug prevents that, on those that it does not concern.

    Also returns the items that were left out, each with its error. Raises OsbctlError: no item can be left out for it.
    """
    result = run_contained(work, [*items])
    if not isinstance(result, OsbctlError):
        return result, []
    if not isinstance(result, InternalError):
        raise result
    alone = [(item, run_contained(work, [item])) for item in items]
    faulty = [(item, error) for item, error in alone if isinstance(error, InternalError)]
    if len(faulty) == len(items):
        raise result
    return work([item for item, done in alone if not isinstance(done, InternalError)]), faulty


def is_output_failure(error: BaseException) -> bool:
    """Return whether a write to standard output failed: an error of the system that names no file."""
    return isinstance(error, OSError) and error.errno in _OUTPUT_FAILS and error.filename is None


def command_to_install(extra: str) -> str:
    """Command that installs the libraries of `extra`, but not osbctl itself, whose source may be gone."""
    # Imported here because importlib.metadata takes longer than the rest of a short command.
    import re
    import shlex
    import sys
    from importlib import metadata
    from importlib.util import find_spec

    from osbctl import DISTRIBUTION

    try:
        found = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        return f"install the extra {extra} of pyproject.toml"
    needed = [line.partition(";")[0].strip() for line in found if re.search(rf"extra == ['\"]{extra}['\"]", line)]
    # Environments created by uv have no pip.
    python = sys.executable
    pip = [python, "-m", "pip", "install"] if find_spec("pip") else ["uv", "pip", "install", "--python", python]
    return shlex.join([*pip, *needed])
