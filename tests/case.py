"""Tests of many cases that cost less than a test each: the cases are a loop, and the error names the one that failed."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def case(*name: object) -> Iterator[None]:
    """Add the name of the case to the error that ends it; pytest prints it below the error."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {' '.join(map(str, name))}")
        raise


def each(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, but one test: the rows share its fixtures, except for a `tmp_path` of their own."""
    every = [*rows]
    assert every, "a test without cases"
    split = names.split(", ")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def loop(**fixtures: Any) -> None:
            __tracebackhide__ = True
            above: Path | None = fixtures.get("tmp_path")
            for number, row in enumerate(every):
                values = dict(zip(split, row if len(split) > 1 else [row], strict=True))
                if above:
                    fixtures["tmp_path"] = above / str(number)
                    fixtures["tmp_path"].mkdir()
                with case(*(f"{value!r:.300}" for value in values.values())):
                    test(**fixtures, **values)

        wanted = inspect.signature(test)
        left = [parameter for name, parameter in wanted.parameters.items() if name not in split]
        loop.__signature__ = wanted.replace(parameters=left)  # type: ignore[attr-defined]
        loop.__name__, loop.__doc__, loop.__module__ = test.__name__, test.__doc__, test.__module__
        return loop

    return decorate
