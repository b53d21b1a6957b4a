"""Comparison of the parameter schemas of a plan that is in both catalogs."""

from typing import Any

from osbctl.changes import Level
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.rules.fields import OTHER, SCHEMA_KINDS
from osbctl.comparison.values import equal_or_both_empty, format_from_to
from osbctl.jsonschemas.secrets import is_at_or_below, secret_ref_targets
from osbctl.paths import PARAMETER_PLACES, JsonPath, JsonValue, get_at
from osbctl.redaction import SECRET

_PLACES: tuple[JsonPath, ...] = tuple((outer, inner, "parameters") for outer, inner in PARAMETER_PLACES)


class _RedactedSchemas:
    """A `schemas` object with places, and everything below them, that must not be shown."""

    def __init__(self, value: JsonValue) -> None:
        found = ((place, secret_ref_targets(_schema_or_none(get_at(value, place)))) for place in _PLACES)
        self._places = {(*place, *inside) for place, places in found for inside in places}
        self._value = value

    def get_redacted(self, path: JsonPath) -> JsonValue:
        """Redacted value at the path; None without one."""
        found = get_at(self._value, path)
        return self._redact(found, path) if self._places and found is not None else found

    def _redact(self, value: JsonValue, path: JsonPath) -> JsonValue:
        if is_at_or_below(path, self._places):
            return SECRET
        if isinstance(value, dict):
            return {key: self._redact(inner, (*path, key)) for key, inner in value.items()}
        return [self._redact(inner, (*path, i)) for i, inner in enumerate(value)] if isinstance(value, list) else value


def compare_parameters(collector: Collector, pair: MatchedPair, old: Any, new: Any, *, judged: bool = False) -> None:
    """Compare two `schemas` objects (OSB, Schemas Object), requests first.

    `judged`: they are those by which the broker judges requests; a change of both create and update is reported once.
    """
    if equal_or_both_empty(old, new):
        return
    # It takes a while to load; the schemas of most plans are equal.
    from osbctl.jsonschemas.compare import compare_schemas

    old_schemas, new_schemas = _RedactedSchemas(old), _RedactedSchemas(new)
    already, reported = len(collector.changes), set()
    for place in _PLACES:
        where: JsonPath = ("schemas", *place)
        for change in compare_schemas(_schema_or_none(get_at(old, place)), _schema_or_none(get_at(new, place))):
            if judged and (place[0], change.rule, change.field) in reported:
                continue
            reported.add((place[0], change.rule, change.field))
            example = f"; for example {change.example}" if change.example else ""
            collector.add(
                SCHEMA_KINDS[change.rule],
                pair,
                f"{place[0]}.{place[1]}: {change.message}{example}",
                (*where, *change.field),
                None if change.old_path is None else old_schemas.get_redacted((*place, *change.old_path)),
                None if change.new_path is None else new_schemas.get_redacted((*place, *change.new_path)),
                old_path=(*where, *(change.old_path or ())),
                new_path=(*where, *(change.new_path or ())),
                level=Level(change.level),
            )
    if len(collector.changes) == already:
        values = old_schemas.get_redacted(()), new_schemas.get_redacted(())
        message = f"schemas changed {format_from_to(*values)} in parts that platforms do not read"
        collector.add(OTHER, pair, message, ("schemas",), *values)


def _schema_or_none(value: Any) -> Any:
    return value if isinstance(value, dict | bool) else None
