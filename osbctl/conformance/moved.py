"""What changed from one answer of a broker to the next."""

from __future__ import annotations

from typing import Any

from osbctl.changes import SEVERITIES
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.findings import Severity

_MOST_TOLD = 3


def moved(before: Any, after: Any) -> tuple[Severity, str]:
    """How grave it is that the one JSON value became the other, and what changed, the gravest first."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return Severity.ERROR, "one of them is not a JSON object"
    changes = sorted(compare_catalogs(before, after), key=lambda change: -change.level.rank)
    if not changes:
        return Severity.INFO, "only in how it is written"
    sentences = [f"{change.object}: {change.message}".removeprefix(": ") for change in changes[:_MOST_TOLD]]
    more = [f"and {len(changes) - _MOST_TOLD} more"] if len(changes) > _MOST_TOLD else []
    return SEVERITIES[changes[0].level], "; ".join([*sentences, *more])
