"""One source or broker whose work fails does not end the work on the others.

Every command that takes several sources or brokers does the work on each with `run_contained`.
"""

import errno
from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar

from osbctl.errors import ConfigError, InternalError, OsbctlError, OutputError, UsageError

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_OUTPUT_FAILS = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG)
"""Errors of a failed write to standard output."""

_raise_bugs = False


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
        return InternalError(error)


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
