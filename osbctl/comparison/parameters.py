"""Comparison of the parameter schemas of a plan that is in both catalogs."""

from typing import Any

from osbctl.changes import Level
from osbctl.comparison import kinds
from osbctl.comparison.collector import MatchedPair
from osbctl.comparison.values import equal_or_both_empty, from_to
from osbctl.jsonschemas.secrets import is_at_or_below, secret_ref_targets
from osbctl.messages import SECRET
from osbctl.paths import PARAMETER_PLACES, JsonPath, JsonValue, get_at

_PLACES: tuple[JsonPath, ...] = tuple((outer, inner, "parameters") for outer, inner in PARAMETER_PLACES)


def compare_parameters(pair: MatchedPair, old: Any, new: Any) -> None:
    """Compare the `schemas` of two plans (OSB, Schemas Object), None if of a wrong type, requests first.

    If the broker judges requests by others (`ServicePlan.judged`), those are compared, and a change of both create and
    update is reported once.
    """
    assert pair.old_plan and pair.new_plan
    if pair.old_plan.judged and pair.new_plan.judged:
        _compare_places(pair, pair.old_plan.judged, pair.new_plan.judged, is_judged=True)
    else:
        _compare_places(pair, old, new)
    old, new = _unread_parts(old), _unread_parts(new)
    if not equal_or_both_empty(old, new):
        message = f"schemas changed {from_to(old, new)} in parts that platforms do not read"
        pair.add(kinds.OTHER, message, ("schemas",), old, new)


def _compare_places(pair: MatchedPair, old: Any, new: Any, *, is_judged: bool = False) -> None:
    if equal_or_both_empty(old, new):
        return
    # It takes a while to load; the schemas of most plans are equal.
    from osbctl.jsonschemas.compare import compare_schemas

    old_schemas, new_schemas = _RedactedSchemas(old), _RedactedSchemas(new)
    reported = set()
    for place in _PLACES:
        where: JsonPath = ("schemas", *place)
        for change in compare_schemas(_schema_or_none(get_at(old, place)), _schema_or_none(get_at(new, place))):
            if is_judged and (place[0], change.rule, change.field) in reported:
                continue
            reported.add((place[0], change.rule, change.field))
            example = f"; for example {change.example}" if change.example else ""
            pair.add(
                kinds.SCHEMA_KINDS[change.rule].with_levels(dict.fromkeys(Level, Level(change.level))),
                f"{place[0]}.{place[1]}: {change.message}{example}",
                (*where, *change.field),
                None if change.old_path is None else old_schemas.get_redacted((*place, *change.old_path)),
                None if change.new_path is None else new_schemas.get_redacted((*place, *change.new_path)),
                old_path=(*where, *(change.old_path or ())),
                new_path=(*where, *(change.new_path or ())),
            )


def _unread_parts(value: Any, path: JsonPath = ()) -> Any:
    """A `schemas` object, or its value at `path`, without parameter schemas and without objects that are empty then."""
    if path in _PLACES and isinstance(value, dict | bool):
        return None
    if not isinstance(value, dict) or len(path) == len(_PLACES[0]):
        return value
    parts = {key: _unread_parts(inner, (*path, key)) for key, inner in value.items()}
    return {key: part for key, part in parts.items() if part not in (None, {}, [])}


class _RedactedSchemas:
    """A `schemas` object with places, and everything below them, that must not be shown."""

    def __init__(self, value: JsonValue) -> None:
        found = ((place, secret_ref_targets(_schema_or_none(get_at(value, place)))) for place in _PLACES)
        self._places = {(*place, *inside) for place, places in found for inside in places}
        self._value = value

    def get_redacted(self, path: JsonPath) -> JsonValue:
        """Redacted value at the path. None if nothing is there."""
        found = get_at(self._value, path)
        return self._redact(found, path) if self._places and found is not None else found

    def _redact(self, value: JsonValue, path: JsonPath) -> JsonValue:
        if is_at_or_below(path, self._places):
            return SECRET
        if isinstance(value, dict):
            return {key: self._redact(inner, (*path, key)) for key, inner in value.items()}
        return [self._redact(inner, (*path, i)) for i, inner in enumerate(value)] if isinstance(value, list) else value


def _schema_or_none(value: Any) -> Any:
    return value if isinstance(value, dict | bool) else None
