"""A progress bar, where somebody sits and watches."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")

_ERASE = "\r\x1b[2K"
_SECONDS = 0.1


def progress(results: Iterable[T], total: int, what: str) -> Iterator[T]:
    """`results` as they come, with a bar on standard error where that is a terminal and there are several.

    The bar is gone while whoever takes a result prints it: both may go to one terminal.
    """
    if total < 2 or not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(
        console=Console(stderr=True), auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task, drawn = bar.add_task(what, total=total), 0.0
        for result in results:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            yield result
            bar.advance(task)
            if time.monotonic() - drawn > _SECONDS:
                bar.refresh()
                drawn = time.monotonic()
