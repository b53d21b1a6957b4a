"""Types of the known fields. What a value of another type means is undefined: it is reported, and not compared."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.rules import fields as rules
from osbctl.comparison.values import equal_or_both_empty
from osbctl.fields import known_fields

FLAGS = ("instances_retrievable", "bindings_retrievable", "allow_context_updates", "binding_rotatable")
INHERITED = ("bindable", "plan_updateable")
"""Fields that a plan inherits from its service offering."""

_OBJECTS = "a list of objects"
TYPES: dict[str, Any] = {
    "metadata": dict,
    "dashboard_client": dict,
    "maintenance_info": dict,
    "schemas": dict,
    "tags": list,
    "requires": list,
    "services": _OBJECTS,
    "plans": _OBJECTS,
    "id": str,
    "name": str,
    "maximum_polling_duration": int,
    **dict.fromkeys((*INHERITED, *FLAGS, "free"), bool),
}
WRONG_TYPE = "{} changed, and has the wrong type in one catalog or both"


@cache
def compared_fields(kind: str) -> frozenset[str]:
    """The fields of a `catalog`, `service` or `plan` with a type and a comparison of their own; others are unknown."""
    return known_fields(kind) if kind == "catalog" else known_fields(kind).union(FLAGS)


def has_wrong_type(key: str, *sides: Mapping[str, Any]) -> bool:
    """Return whether the known field `key` has a wrong type on any side. Null counts as omitted."""
    return not all(has_type(side.get(key), TYPES[key]) for side in sides)


def has_type(value: Any, expected: Any) -> bool:
    """Return whether a value is of a type of `TYPES`, or null."""
    if value is None:
        return True
    if expected is int:  # JSON has one kind of number, and no boolean is one
        return isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    if expected is _OBJECTS:
        return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)
    return isinstance(value, expected)


def report_and_drop_wrong_types(
    collector: Collector, pair: MatchedPair, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Mapping[str, Any], ...]:
    """Report changed fields of a wrong type; return both sides, objects of this kind, without them."""
    known = compared_fields(kind)
    wrong = [key for key in TYPES if key in known and (key in old or key in new) and has_wrong_type(key, old, new)]
    for key in wrong:
        if not equal_or_both_empty(old.get(key), new.get(key)):
            collector.add(rules.OTHER, pair, WRONG_TYPE.format(key), (key,))
    return tuple({key: value for key, value in side.items() if key not in wrong} for side in (old, new))
