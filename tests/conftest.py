"""Settings of the tests: Hypothesis without deadlines (machines are noisy), and with many examples under `make fuzz`.

A shell starts what runs in the background with interrupts ignored, and whatever that starts inherits it: they are heard
again, since tests interrupt programs."""

import gc
import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests.corpus import EVERY_CASE

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile(
    "short", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("fuzz", settings.get_profile("short"), max_examples=20_000, derandomize=False)
settings.load_profile("fuzz" if EVERY_CASE else "short")


def pytest_configure(config: pytest.Config) -> None:
    """No test asks a host beyond this machine, but for those of releases: its authorities take 30 ms to load each time.

    All workers share one process of tests/cli/warm.py.
    """
    if "not release" in config.option.markexpr:
        os.environ["SSL_CERT_FILE"] = os.devnull
    if getattr(config.option, "dist", "no") != "no":
        from tests.cli import warm

        os.environ["WARM_OSBCTL"] = str(warm.start())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Objects created during collection live to the end: exclude them from garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(200_000, 20, 100)  # less often: the default takes 3 % of the time of all tests
        gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """Number of workers under `-n auto`: two more than processors, since many tests wait for a broker or a program."""
    return (os.cpu_count() or 1) + 2
