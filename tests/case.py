"""The name of the case that failed, for tests that are a loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def case(*name: object) -> Iterator[None]:
    """Add the name of the case to the error that ends it; pytest prints it below the error."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {' '.join(map(str, name))}")
        raise
