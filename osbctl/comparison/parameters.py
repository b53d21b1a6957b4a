"""The parameter schemas of a plan that is in both catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.catalog import PARAMETER_PLACES
from osbctl.changes import Level
from osbctl.comparison.kinds import KINDS
from osbctl.comparison.rules import fields, parameters
from osbctl.comparison.schemas import ABSENT, compare_schemas, witness_text
from osbctl.comparison.values import at, same, shown_both

if TYPE_CHECKING:
    from osbctl.comparison.collect import Collector, Pair
    from osbctl.comparison.schemas import SchemaChange
    from osbctl.findings import Path

assert parameters  # its kinds are looked up by name


def compare_parameters(to: Collector, pair: Pair, old: Any, new: Any) -> None:
    """What changed between two `schemas` objects (OSB, Schemas Object), requests first."""
    if same(old, new):
        return
    before = len(to.changes)
    for outer, inner in PARAMETER_PLACES:
        place: Path = (outer, inner, "parameters")
        for change in compare_schemas(_schema(at(old, place)), _schema(at(new, place))):
            _add(to, pair, change, place, old, new)
    if len(to.changes) == before:
        message = "schemas changed in parts that platforms do not read: {} to {}".format(*shown_both(old, new))
        to.add(fields.OTHER, pair, message, ("schemas",), old, new)


def _add(to: Collector, pair: Pair, change: SchemaChange, place: Path, old: Any, new: Any) -> None:
    where: Path = ("schemas", *place)
    message = f"{place[0]}.{place[1]}: {change.message}"
    if change.witness is not ABSENT:
        message += f"; for example {witness_text(change)}"
    to.add(
        KINDS[f"change-{change.rule}"],
        pair,
        message,
        (*where, *change.field),
        None if change.pointer_old is None else at(old, (*place, *change.pointer_old)),
        None if change.pointer_new is None else at(new, (*place, *change.pointer_new)),
        old_at=(*where, *(change.pointer_old or ())),
        new_at=(*where, *(change.pointer_new or ())),
        level=Level(change.level),
    )


def _schema(value: Any) -> Any:
    return value if isinstance(value, dict | bool) else None
