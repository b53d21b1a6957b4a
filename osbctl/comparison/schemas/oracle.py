"""The judge of single values: `jsonschema`, with nothing fetched and no dangerous pattern run."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jsonschema
import jsonschema_rs
from referencing import Registry

from osbctl.comparison.schemas import patterns
from osbctl.comparison.schemas.changes import UndecidableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.comparison.schemas.roots import Root, Subschema
    from osbctl.sources.document import JsonValue

MAX_JUDGEMENTS = 20_000
"""Values judged for one pair of schemas; beyond this differences are left undecided."""

_FORMATS = jsonschema.FormatChecker(sorted(set(jsonschema.FormatChecker.checkers) - {"regex"}))
"""Without `regex`, which would compile texts out of the schema."""


class Oracle:
    """Judges values by the schemas of both sides, at most `MAX_JUDGEMENTS` times."""

    def __init__(self) -> None:
        self.left = MAX_JUDGEMENTS
        self._validators: dict[tuple[int, bool], Any] = {}

    def accepts(self, place: Subschema, value: JsonValue, formats: bool = False) -> bool | None:
        """Whether the value is valid there; None where it cannot be told."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            return bool(self._validator(place, formats).is_valid(value))
        except Exception:  # Whatever jsonschema trips over, the value is not judged.
            return None

    def objections(self, place: Subschema, value: JsonValue) -> frozenset[str] | None:
        """The keywords directly at this place that refuse the value, formats asserted."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            errors = self._validator(place, formats=True).iter_errors(value)
            return frozenset(str(e.absolute_schema_path[0]) if e.absolute_schema_path else "" for e in errors)
        except Exception:  # As above.
            return None

    def _validator(self, place: Subschema, formats: bool) -> Any:
        key = (id(place.root), formats)
        if key not in self._validators:
            self._validators[key] = _guarded(place.root, formats)
        value = place.value
        if isinstance(value, dict):
            # Only the top may hold $schema; jsonschema would follow it back to its own, unguarded class.
            value = {k: v for k, v in value.items() if k != "$schema"} if "$schema" in value else value
        return self._validators[key].evolve(schema=value)


def is_schema(root: Root) -> bool:
    """Whether the schema is valid under the metaschema of its draft. Formats are not looked at."""
    quick, exact = _metaschema(root.dialect.validator)
    try:
        return bool(quick.is_valid(root.value) or exact.is_valid(root.value))
    except (RecursionError, ValueError):
        return False


@lru_cache(maxsize=8)
def _metaschema(name: str) -> tuple[Any, Any]:
    """Two validators of a metaschema: one for a quick yes, one with the last word."""
    kind = getattr(jsonschema, name)
    return jsonschema_rs.validator_for(kind.META_SCHEMA), kind(kind.META_SCHEMA)


def _guarded(root: Root, formats: bool) -> Any:
    value = root.value
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if k != "$schema"}
    kind = _guarded_class(root.dialect.validator)
    return kind(value, registry=Registry(), format_checker=_FORMATS if formats else None)


@lru_cache(maxsize=8)
def _guarded_class(name: str) -> Any:
    original = getattr(jsonschema, name)
    guards = {"pattern": _pattern, "enum": _quick_enum(original.VALIDATORS["enum"])}
    for keyword in ("patternProperties", "additionalProperties"):
        guards[keyword] = _guard_keys(original.VALIDATORS[keyword])
    extend: Any = jsonschema.validators.extend  # Untyped in its stubs.
    return extend(original, guards)


def _pattern(_: Any, pattern: str, value: JsonValue, __: Any) -> Iterator[Any]:
    if isinstance(value, str) and not patterns.search(pattern, value):
        yield jsonschema.ValidationError("pattern")


def _quick_enum(original: Any) -> Any:
    """The original check, but texts are looked up: an `enum` may list thousands."""
    known: dict[int, tuple[list[JsonValue], frozenset[str]]] = {}

    def quick(validator: Any, values: list[JsonValue], value: JsonValue, schema: Any) -> Iterator[Any]:
        if not isinstance(value, str):
            yield from original(validator, values, value, schema)
            return
        kept = known.get(id(values))
        if kept is None or kept[0] is not values:
            known.clear()  # One list at a time: the same one is asked many times in a row.
            kept = known[id(values)] = (values, frozenset(v for v in values if isinstance(v, str)))
        if value not in kept[1]:
            yield jsonschema.ValidationError("enum")

    return quick


def _guard_keys(original: Any) -> Any:
    """The original check of an object's keys, run only where every pattern may be run on every key."""

    def guarded(validator: Any, given: Any, value: JsonValue, schema: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            for pattern in schema.get("patternProperties", ()):
                if any(patterns.matches(pattern, key) is None for key in value):
                    raise UndecidableError
        yield from original(validator, given, value, schema)

    return guarded
