"""Work on many things at once, within a bound, and a part of osbctl in a process of its own."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import subprocess

T = TypeVar("T")
R = TypeVar("R")


def in_parallel(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[tuple[T, R]]:
    """Each item with what `work` makes of it, in the order in which they are done; `jobs` threads at most.

    No more than `jobs` items are taken before their results are: memory does not grow with their number. What `work`
    raises is raised here, and ends it. The threads are daemons: an interrupt need not wait for them.
    """
    todo: SimpleQueue[list[T]] = SimpleQueue()
    done: SimpleQueue[tuple[T, R | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        for (item,) in iter(todo.get, []):
            try:
                done.put((item, work(item), None))
            except BaseException as error:  # passed on to the waiting thread
                done.put((item, None, error))

    threads = under_way = 0
    try:
        for item in items:
            if under_way == jobs:
                yield _taken(done)
                under_way -= 1
            if threads < jobs:
                threading.Thread(target=run, daemon=True).start()
                threads += 1
            todo.put([item])
            under_way += 1
        for _ in range(under_way):
            yield _taken(done)
    finally:
        for _ in range(threads):
            todo.put([])


def _taken(done: SimpleQueue[tuple[T, R | None, BaseException | None]]) -> tuple[T, R]:
    item, result, error = done.get()
    if error:
        raise error
    return item, result  # type: ignore[return-value]  # a result may be None only where R is


def start_module(module: str, *arguments: str, stdin: int) -> subprocess.Popen[bytes]:
    """Run a module as a child, with a pipe for its standard output. Nothing else is inherited."""
    import subprocess

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
