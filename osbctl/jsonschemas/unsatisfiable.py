"""The reasons why no value can meet some constraints.

Sound, not complete: a reason is given only where it is shown. What runs in a circle, or is nested too deeply, has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from osbctl.jsonschemas.constraints import COUNTED, NUMBERS, OBJECT, Constraints
from osbctl.text import safe

if TYPE_CHECKING:
    from osbctl.jsonschemas.comparison.subsumption import Subsumption

_MAX_NESTING = 20
"""Constraints within constraints that are looked into."""


class Unsatisfiable:
    """Looks for reasons within the budget of one comparison; remembers what it has found."""

    def __init__(self, subsumption: Subsumption) -> None:
        self._subsumption = subsumption
        self._known: dict[object, str] = {}

    def reason(self, constraints: Constraints, depth: int = 0) -> str:
        """The reason why no value meets the constraints; empty where one may, or where none is shown."""
        if constraints.key not in self._known:
            self._known[constraints.key] = ""  # for constraints that are met again within themselves
            self._subsumption.spend(constraints)
            if depth <= _MAX_NESTING:
                self._known[constraints.key] = next(filter(None, self._reasons(constraints, depth)), "")
        return self._known[constraints.key]

    def _reasons(self, constraints: Constraints, depth: int) -> Iterator[str]:
        if not constraints.kinds:
            is_request = constraints.within == OBJECT
            yield "it takes no object, and parameters are one" if is_request else "its types rule each other out"
            return
        values = self._subsumption.valid_values(constraints)
        if values is not None and not any(isinstance(v, dict) or constraints.within != OBJECT for v in values):
            yield "none of the listed values meets the rest"
        of_kinds = [self._of_kind(kind, constraints, depth) for kind in kinds_to_name(constraints)]
        if all(of_kinds):
            yield of_kinds[0]
        for schema in constraints.known:
            refused = schema.optional("not")
            if refused and self._subsumption.implies(constraints, refused):
                yield "its `not` refuses all that the rest accepts"
            for keyword in ("anyOf", "oneOf"):
                branches = schema.children(keyword)
                if branches and all(self.reason(constraints.and_also(branch), depth + 1) for branch in branches):
                    yield f"no branch of its {keyword} agrees with the rest"

    def _of_kind(self, kind: str, constraints: Constraints, depth: int) -> str:
        crossed = crossed_limits(kind, constraints)
        if crossed or kind not in ("object", "array"):
            return crossed
        if kind == "array":
            first = constraints.least("minItems") and self.reason(constraints.at_index(0), depth + 1)
            return "its items cannot be" if first else ""
        for name in sorted(constraints.required()):
            inner = constraints.at_key(name)
            why = self.reason(inner, depth + 1)
            if why:
                forbidden = any(schema.value is False for schema in inner.known)
                return f"it requires {safe(name)!r}, " + ("which it forbids" if forbidden else f"where {why}")
        return ""


def kinds_to_name(constraints: Constraints) -> list[str]:
    """The kinds that a value can be of, all numbers as one."""
    return sorted({"number" if kind in NUMBERS else kind for kind in constraints.kinds})


def crossed_limits(kind: str, constraints: Constraints) -> str:
    """The limits of a kind between which there is nothing; empty where there may be something."""
    if kind == "number":
        return _crossed_bounds(constraints)
    if kind not in COUNTED:
        return ""
    low, high = f"min{COUNTED[kind]}", f"max{COUNTED[kind]}"
    least, most = constraints.least(low), constraints.counts(kind)[1]
    if least <= most:
        return ""
    return f"{low} is {least}, " + (
        f"{high} {most}" if most == constraints.most(high) else f"and only {most} are allowed"
    )


def _crossed_bounds(constraints: Constraints) -> str:
    low, above = constraints.lower(constraints.kinds)
    high, under = constraints.upper(constraints.kinds)
    if low < -high or (low == -high and not (above or under)):
        return ""
    named = constraints.lower(NUMBERS)[0], -constraints.upper(NUMBERS)[0]
    return "no number lies between {} and {}".format(*named)
