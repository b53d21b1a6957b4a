"""The rules of comparison: what each kind of change means, and what each platform does with it."""

from __future__ import annotations


def load_all() -> None:
    """Put every rule of comparison among `osbctl.rule.RULES`."""
    from osbctl.comparison.rules import fields, identity, parameters

    assert fields and identity and parameters
