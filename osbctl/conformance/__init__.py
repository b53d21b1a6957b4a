"""Check of a running broker against the contract of the catalog endpoint."""

from __future__ import annotations

from importlib import import_module


def load_all() -> None:
    """Put every rule of a live broker's answers among `osbctl.rule.RULES`."""
    import_module(f"{__name__}.rules")
