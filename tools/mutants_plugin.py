"""Plugin for `make mutants`: runs quick tests first, skips generated cases, and hides mutmut from child processes.

While mutmut records which test reaches which function, each process with its environment variable reads
`[tool.mutmut]` from the current folder, and fails without one. Child processes of tests run in other folders,
so they start without the variable in that phase.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_init = subprocess.Popen.__init__


def _without_the_phase(self: Any, *args: Any, env: Any = None, **options: Any) -> None:
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":
        env = {**(os.environ if env is None else env)}
        env.pop("MUTANT_UNDER_TEST", None)
    _init(self, *args, env=env, **options)


subprocess.Popen.__init__ = _without_the_phase  # type: ignore[method-assign]


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Fail a test at once if a change ends a thread by an exception (`filterwarnings`)."""
    if "__mutmut_" in os.environ.get("MUTANT_UNDER_TEST", ""):
        threading.excepthook = lambda _: os._exit(pytest.ExitCode.TESTS_FAILED)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests of Hypothesis; sort the others by the durations that mutmut measured."""
    generated = [item for item in items if getattr(getattr(item, "function", None), "is_hypothesis_test", False)]
    if generated:
        config.hook.pytest_deselected(items=generated)
    items[:] = sorted((item for item in items if item not in generated), key=_measured())


def _measured() -> Callable[[pytest.Item], float]:
    try:
        durations = json.loads(Path("mutmut-stats.json").read_text())["duration_by_test"]
    except FileNotFoundError:
        durations = {}
    return lambda item: float(durations.get(item.nodeid, 0))
