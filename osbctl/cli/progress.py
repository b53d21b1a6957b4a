"""A progress bar, where somebody sits and watches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")


def progress(results: Iterable[T], total: int, what: str) -> Iterator[T]:
    """`results` as they come, with a bar on standard error where that is a terminal and there are several."""
    if total < 2 or not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(results, what, total, console=Console(stderr=True), transient=True)
