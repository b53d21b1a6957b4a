"""How the tests run: hypothesis without deadlines (machines are noisy), and for long under `make fuzz`.

A shell starts what runs in the background with interrupts ignored, and whatever that starts inherits it: they are heard
again, since tests interrupt programs."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile(
    "short", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("fuzz", settings.get_profile("short"), max_examples=20_000, derandomize=False)
settings.load_profile("fuzz" if os.environ.get("OSBCTL_FUZZ") else "short")


def pytest_xdist_auto_num_workers() -> int:
    """How many tests run at once under `-n auto`: one more than processors, since many wait for a broker or a program."""
    return (os.cpu_count() or 1) + 1
