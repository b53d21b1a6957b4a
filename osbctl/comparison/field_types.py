"""Known fields with values of the wrong type; their meaning is undefined."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.rules import fields as rules
from osbctl.comparison.values import same

FLAGS = ("instances_retrievable", "bindings_retrievable", "allow_context_updates", "binding_rotatable")
INHERITED = ("bindable", "plan_updateable")
"""Fields that a plan inherits from its service offering."""

WRONG_TYPE = "{} changed, and has the wrong type in one catalog or both"
"""Message for a changed field of a wrong type."""

_TYPES: dict[str, type] = {
    "metadata": dict,
    "dashboard_client": dict,
    "maintenance_info": dict,
    "schemas": dict,
    "tags": list,
    "requires": list,
    "plans": list,
    "id": str,
    "name": str,
    "maximum_polling_duration": int,
    **dict.fromkeys((*INHERITED, *FLAGS, "free"), bool),
}


def has_wrong_type(key: str, *sides: Mapping[str, Any]) -> bool:
    """Return whether the known field `key` has a wrong type on any side. Null counts as omitted."""
    return not all(has_type(side.get(key), _TYPES[key]) for side in sides)


def has_type(value: Any, shape: type) -> bool:
    """Return whether a value is of this type, or null."""
    if shape is int:  # JSON has one kind of number, and no boolean is one
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0)
    return value is None or isinstance(value, shape)


def without_wrong_types(
    to: Collector, pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Report changed fields of a wrong type, and return both sides without the fields of a wrong type."""
    wrong = [key for key in _TYPES if (key in old or key in new) and has_wrong_type(key, old, new)]
    for key in wrong:
        if not same(old.get(key), new.get(key)):
            to.add(rules.OTHER, pair, WRONG_TYPE.format(key), (key,))
    if not wrong:  # nearly always
        return old, new
    return _without(old, wrong), _without(new, wrong)


def _without(data: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in keys}
