"""Type, values, numbers and strings: whether the facts imply these keywords."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, TypeAlias

from osbctl.jsonschemas.comparison.facts import NUMBERS, kinds_of, listed
from osbctl.jsonschemas.comparison.suspects import UNDECIDED, PlacePair, Suspect
from osbctl.jsonschemas.inclusion import difference
from osbctl.jsonschemas.patterns import ALWAYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.jsonschemas.comparison.prover import Prover
    from osbctl.jsonschemas.roots import Subschema

_A_PATTERN = 100
"""Steps that the comparison of two patterns counts for."""

Bound: TypeAlias = tuple[float, bool]
"""A limit, and whether it is itself excluded."""


def check_type(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`type`. What only draft-04 and later drafts see differently (is 1.0 an integer?) is undecided."""
    lost = pair.facts.kinds - kinds_of(pair.new)
    if lost == {"whole"}:
        yield pair.suspect("type", rule=UNDECIDED)
    elif lost:
        yield pair.suspect("type")


def check_values(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`enum` and `const`, where the old values are not few (that is decided value by value)."""
    if listed(pair.new) is not None:
        yield pair.suspect("const" if pair.new.get("enum") is None else "enum")


def check_bounds(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`minimum`, `maximum` and their exclusive forms, boolean (draft-04) or numeric."""
    numbers = pair.facts.kinds & NUMBERS
    if not numbers:
        return
    whole = "fraction" not in numbers
    if not _implied(lower(pair.new), [lower(s) for s in pair.facts.known], whole):
        yield pair.suspect(_spelling(pair.new, "inimum"))
    if not _implied(upper(pair.new), [upper(s) for s in pair.facts.known], whole):
        yield pair.suspect(_spelling(pair.new, "aximum"))


def check_multiple(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`multipleOf`. Validators differ on fractions (is 0.3 a multiple of 0.1?), so only equal ones count."""
    step = pair.new.get("multipleOf")
    numbers = pair.facts.kinds & NUMBERS
    if step is None or not numbers or (type(step) is int and step == 1 and "fraction" not in numbers):
        return
    for old in (schema.get("multipleOf") for schema in pair.facts.known):
        if type(old) is type(step) and (old == step or (type(step) is int and old % step == 0)):
            return
    yield pair.suspect("multipleOf")


def check_pattern(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`pattern`: implied by an equal one, or by one whose texts all fit it."""
    pattern = pair.new.get("pattern")
    if pattern is None or "string" not in pair.facts.kinds or pattern in ALWAYS:
        return
    known = {old for schema in pair.facts.known if (old := schema.get("pattern")) is not None}
    if pattern not in known:
        prover.spend(pair.facts, _A_PATTERN * len(known))
        texts = [difference(old, pattern) for old in sorted(known)]
        if False not in texts:
            yield pair.suspect("pattern", *(text for text in texts if isinstance(text, str)))


def check_format(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`format`: an annotation to many, but brokers may enforce it."""
    form = pair.new.get("format")
    if form is None or "string" not in pair.facts.kinds:
        return
    if all(schema.get("format") != form for schema in pair.facts.known):
        yield pair.suspect("format")


def lower(schema: Subschema) -> Bound | None:
    """The stronger of `minimum` and `exclusiveMinimum`."""
    return max(_bounds(schema, "minimum", "exclusiveMinimum"), default=None)


def upper(schema: Subschema) -> Bound | None:
    """The stronger of `maximum` and `exclusiveMaximum`, turned round: negated, so that larger is stronger."""
    return max(((-v, x) for v, x in _bounds(schema, "maximum", "exclusiveMaximum")), default=None)


def _bounds(schema: Subschema, plain: str, exclusive: str) -> Iterator[Bound]:
    value, mark = schema.get(plain), schema.get(exclusive)
    if value is not None:
        yield value, mark is True
    if mark is not None and not isinstance(mark, bool):
        yield mark, True


def _implied(new: Bound | None, olds: list[Bound | None], whole: bool) -> bool:
    return new is None or any(old is not None and _stronger(old, new, whole) for old in olds)


def _stronger(old: Bound, new: Bound, whole: bool) -> bool:
    if old[0] > new[0] or (old[0] == new[0] and old[1] >= new[1]):
        return True
    if not whole:
        return False
    # Among integers, more than 4 is at least 5.
    least = floor(old[0]) + 1 if old[1] else ceil(old[0])
    return least > new[0] or (least == new[0] and not new[1])


def _spelling(schema: Subschema, end: str) -> str:
    """The keyword that sets the bound."""
    return f"m{end}" if schema.get(f"m{end}") is not None else f"exclusiveM{end}"
