"""The rules of comparison: what each kind of change means, and what each platform does with it."""

from __future__ import annotations

from importlib import import_module

MODULES = ("identity", "fields")


def load_all() -> None:
    """Put every rule of comparison among `osbctl.rule.RULES`."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
