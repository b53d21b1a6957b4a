"""Work in several threads, or in a child process."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from osbctl.errors import OsbctlError, run_contained

T = TypeVar("T")
R = TypeVar("R")


def run_in_parallel(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[tuple[T, R | OsbctlError]]:
    """Yield each item with its result of `work`, or the error that ended it, as they complete, each in a thread.

    At most `jobs` items are in progress, so memory does not grow with their number. Errors are as in `run_contained`:
    what ends the whole run is raised here. The threads are daemons, so that an interrupt need not wait for them.
    """
    results: SimpleQueue[tuple[T, R | OsbctlError | None, BaseException | None]] = SimpleQueue()

    def run(item: T) -> None:
        try:
            results.put((item, run_contained(work, item), None))
        except BaseException as error:  # passed on to the waiting thread
            results.put((item, None, error))

    running = 0
    for item in items:
        if running == jobs:
            yield _take_result(results)
            running -= 1
        threading.Thread(target=run, args=(item,), daemon=True).start()
        running += 1
    for _ in range(running):
        yield _take_result(results)


def _take_result(
    results: SimpleQueue[tuple[T, R | OsbctlError | None, BaseException | None]],
) -> tuple[T, R | OsbctlError]:
    item, result, error = results.get()
    if error:
        raise error
    return item, result  # type: ignore[return-value]  # a result may be None only where R is


def start_module(module: str, *arguments: str, stdin: int) -> subprocess.Popen[bytes]:
    """Run a module in a child process with a pipe for its standard output. It inherits the environment alone."""
    # The child imports from the same folders, but never from its working folder (-P).
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
