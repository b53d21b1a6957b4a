"""What an author wrote into a schema against itself: places that no value can meet, defaults that are refused.

Sound, not complete: told is only what is proved. Patterns are run by the bounded oracle alone, formats are annotations,
and what the schema comparison cannot read (references elsewhere, loops, unknown drafts) gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

from osbctl.jsonschemas.comparison.check_combinations import disjoint
from osbctl.jsonschemas.comparison.checks import CHECKS, lower, upper
from osbctl.jsonschemas.comparison.facts import COUNTED, NUMBERS, OBJECT, Facts
from osbctl.jsonschemas.comparison.prover import MAX_STEPS, Prover
from osbctl.jsonschemas.oracle import Oracle, checked
from osbctl.jsonschemas.roots import Root, below
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue, Path
from osbctl.text import safe

_CONDITIONAL = frozenset(("not", "if", "then", "else", "dependencies", "dependentSchemas"))
"""What stands there may be impossible on purpose."""

_STEPS, _JUDGEMENTS = 5_000, 2_000
"""For one schema, of what the prover and the oracle take at most: a tenth of a second."""


def impossible(schema: JsonValue) -> Iterator[tuple[Path, str]]:
    """Where no value can meet a part of the schema, the innermost place, and why; never raises.

    The whole schema describes the `parameters` object (OSB 2.17, Input Parameters Schema Object). A bare `false`
    or `not` is meant, and told only where it stands against another word.
    """
    root = _root(schema)
    if root:
        search = _Search()
        read = root.dialect.keywords - _CONDITIONAL | {"definitions" if root.dialect.year < 2019 else "$defs"}
        todo = [(root.top, Facts((), within=OBJECT).and_also(root.top))]
        told: list[tuple[Path, str]] = []
        while todo:
            place, facts = todo.pop()
            # Or the limits of some kind cross, whatever other kinds are possible.
            why = search.reason(facts) or next(filter(None, (_crossed_of(kind, facts) for kind in _kinds(facts))), "")
            is_meant = not isinstance(place.value, dict) or not set(place.value) & root.dialect.keywords - {"not"}
            if why and not is_meant:
                told.append((place.pointer, why))
            todo += [(inner, Facts(()).and_also(inner)) for keyword, inner in below(place) if keyword in read]
        above = {path[:length] for path, _ in told for length in range(len(path))}
        yield from (one for one in told if one[0] not in above)  # the innermost


def refused_values(schema: JsonValue) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Where a default or an example is refused by its own schema, and the keywords that refuse it; never raises."""
    root = _root(schema)
    oracle = _oracle()
    for place in root.places.values() if root else ():
        for at, value in _written(place.value):
            if oracle.accepts(place, value) is False and oracle.accepts(place, value, formats=True) is False:
                yield (*place.pointer, *at), tuple(sorted(oracle.objections(place, value) or ()))


def _oracle() -> Oracle:
    oracle = Oracle()
    oracle.left = _JUDGEMENTS
    return oracle


def _written(schema: JsonValue) -> Iterator[tuple[Path, JsonValue]]:
    """The values that an author wrote down as good ones."""
    if isinstance(schema, dict):
        yield from (((key,), schema[key]) for key in ("default", "example") if key in schema)
        examples = schema.get("examples")
        yield from ((("examples", n), value) for n, value in enumerate(examples if isinstance(examples, list) else ()))


def _root(schema: JsonValue) -> Root | None:
    try:
        return checked("new", schema)
    except UndecidableError:
        return None


class _Search:
    """Proves that no value meets some facts; remembers what is under way, for schemas may hold themselves."""

    def __init__(self) -> None:
        self.prover = Prover(_oracle(), CHECKS)
        self.prover.steps = MAX_STEPS - _STEPS
        self._under_way: set[object] = set()

    def reason(self, facts: Facts) -> str:
        """Why no value meets the facts; empty where one may, or where it cannot be told."""
        if facts.key in self._under_way:
            return ""
        self._under_way.add(facts.key)
        try:
            self.prover.spend(facts)
            return self._reason(facts)
        except (UndecidableError, RecursionError):
            return ""
        finally:
            self._under_way.discard(facts.key)

    def _reason(self, facts: Facts) -> str:
        if not facts.kinds:
            return (
                "it takes no object, and parameters are one"
                if facts.within == OBJECT
                else "its types rule each other out"
            )
        values = self.prover.valid_values(facts)
        if values is not None and not any(isinstance(v, dict) or facts.within != OBJECT for v in values):
            return "none of the listed values meets the rest"
        reasons = [self._of_kind(kind, facts) for kind in _kinds(facts)]
        if all(reasons):
            return reasons[0]
        for schema in facts.known:
            if schema.get("not") is not None and self.prover.implies(facts, schema.child("not")):
                return "its `not` refuses all that the rest accepts"
            for keyword in ("anyOf", "oneOf"):
                branches = schema.children(keyword)
                if branches and all(
                    disjoint(self.prover, facts, branch) or self.reason(facts.and_also(branch)) for branch in branches
                ):
                    return f"no branch of its {keyword} agrees with the rest"
        return ""

    def _of_kind(self, kind: str, facts: Facts) -> str:
        of_parts = {"object": self._object, "array": self._array}.get(kind)
        return _crossed_of(kind, facts) or (of_parts(facts) if of_parts else "")

    def _object(self, facts: Facts) -> str:
        for name in sorted(facts.required()):
            why = self.reason(facts.at_key(name))
            if why:
                forbidden = any(schema.value is False for schema in facts.at_key(name).known)
                return f"it requires {safe(name)!r}, " + ("which it forbids" if forbidden else f"where {why}")
        fewest, most = facts.least("minProperties"), facts.most_properties()
        return f"minProperties is {fewest}, and only {most} are allowed" if fewest > most else ""

    def _array(self, facts: Facts) -> str:
        fewest = facts.least("minItems")
        if fewest > facts.most_items():
            return f"minItems is {fewest}, and only {facts.most_items()} are allowed"
        return "its items cannot be" if fewest and self.reason(facts.at_index(0)) else ""


def _kinds(facts: Facts) -> list[str]:
    return sorted({"number" if kind in NUMBERS else kind for kind in facts.kinds})


def _crossed_of(kind: str, facts: Facts) -> str:
    if kind == "number":
        return _bounds(facts)
    if kind not in COUNTED:
        return ""
    low, high = f"min{COUNTED[kind]}", f"max{COUNTED[kind]}"
    least, most = facts.least(low), facts.most(high)
    return f"{low} is {least}, {high} {most}" if least > most else ""


def _bounds(facts: Facts) -> str:
    lows = [bound for schema in facts.known if (bound := lower(schema))]
    highs = [bound for schema in facts.known if (bound := upper(schema))]
    if not lows or not highs:
        return ""
    (low, above), (high, under) = max(lows), max(highs)
    high = -high
    least, most = low, high
    if "fraction" not in facts.kinds:
        least, most = floor(low) + 1 if above else ceil(low), ceil(high) - 1 if under else floor(high)
        above = under = False
    return f"no number lies between {low} and {high}" if least > most or (least == most and (above or under)) else ""
