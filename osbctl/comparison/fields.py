"""Comparison of the fields of a service offering or plan that is in both catalogs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.changes import Level
from osbctl.comparison import kinds
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.flags import (
    always_inherits,
    compare_flag,
    compare_free,
    report_explicitness_change,
    report_flag_that_no_plan_inherits,
)
from osbctl.comparison.kinds import Kind
from osbctl.comparison.values import (
    FLAGS,
    INHERITED,
    TYPES,
    WRONG_TYPE,
    ChangedValue,
    all_keys,
    compared_fields,
    describe_change,
    dict_or_empty,
    equal_or_both_empty,
    format_from_to,
    format_value,
    has_type,
    has_wrong_type,
    narrow_path,
)
from osbctl.fields import CONVENTIONS, PARTS, known_fields
from osbctl.jsonschemas.secrets import is_at_or_below, secret_ref_targets
from osbctl.jsonschemas.walk import same_value
from osbctl.messages import SECRET, text_of
from osbctl.paths import PARAMETER_PLACES, JsonPath, JsonValue, get_at
from osbctl.platforms import Platform
from osbctl.platforms.golang import fold_case

TEXT_LISTS = {
    "tags": ("tag", kinds.TAG_REMOVED, kinds.TAG_ADDED, "the tags"),
    "requires": ("requires", kinds.REQUIRES_REMOVED, kinds.REQUIRES_ADDED, "the permissions in requires"),
}
"""Lists of texts: the word for an entry, the kinds of change to lose and to gain one, the words for all of them."""


def compare_text_list(collector: Collector, pair: MatchedPair, key: str, old: Any, new: Any) -> None:
    """Report added and removed entries of a list of texts. A change's field has the text, its paths the index."""
    if equal_or_both_empty(old, new):
        return
    word, removed, added, _ = TEXT_LISTS[key]
    old_indexes, new_indexes = _first_indexes(old), _first_indexes(new)
    for text, index in old_indexes.items():
        if text not in new_indexes:
            message, field = f"{word} {format_value(text)} removed", (key, text_of(text))
            collector.add(removed, pair, message, field, text, None, old_path=(key, index), new_path=(key,))
    for text, index in new_indexes.items():
        if text not in old_indexes:
            message, field = f"{word} {format_value(text)} added", (key, text_of(text))
            collector.add(added, pair, message, field, None, text, old_path=(key,), new_path=(key, index))
    if old_indexes.keys() == new_indexes.keys():
        _report_same_texts(collector, pair, key, old or [], new or [])


def _report_same_texts(collector: Collector, pair: MatchedPair, key: str, old: list[Any], new: list[Any]) -> None:
    """Report that the same texts are in another order, or listed more or less often, or that other values differ."""
    if not all(isinstance(value, str) for value in (*old, *new)):
        collector.add(kinds.OTHER, pair, describe_change(key, old, new, (key,)), (key,), old, new)
        return
    *_, all_of_them = TEXT_LISTS[key]
    is_reordered = sorted(old) == sorted(new)
    changed = "changed order" if is_reordered else "are the same, except for how often one is listed"
    collector.add(kinds.ORDER, pair, f"{all_of_them} {changed}", (key,), old, new)


def _first_indexes(values: list[Any] | None) -> dict[str, int]:
    """The first index of each text."""
    texts: dict[str, int] = {}
    for index, value in enumerate(values or ()):
        if isinstance(value, str):
            texts.setdefault(value, index)
    return texts


_PLACES: tuple[JsonPath, ...] = tuple((outer, inner, "parameters") for outer, inner in PARAMETER_PLACES)


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
                kinds.SCHEMA_KINDS[change.rule].with_levels(dict.fromkeys(Level, Level(change.level))),
                pair,
                f"{place[0]}.{place[1]}: {change.message}{example}",
                (*where, *change.field),
                None if change.old_path is None else old_schemas.get_redacted((*place, *change.old_path)),
                None if change.new_path is None else new_schemas.get_redacted((*place, *change.new_path)),
                old_path=(*where, *(change.old_path or ())),
                new_path=(*where, *(change.new_path or ())),
            )
    if len(collector.changes) == already:
        values = old_schemas.get_redacted(()), new_schemas.get_redacted(())
        message = f"schemas changed {format_from_to(*values)} in parts that platforms do not read"
        collector.add(kinds.OTHER, pair, message, ("schemas",), *values)


def _schema_or_none(value: Any) -> Any:
    return value if isinstance(value, dict | bool) else None


_METADATA = {"description": kinds.WORDING, **dict.fromkeys(CONVENTIONS, kinds.WORDING), "costs": kinds.COSTS}
"""The kind of change of known fields of the metadata."""
_MOST_KEYS = 5
"""Maximum number of keys that a message names if several of an object differ."""

_VISIBILITY_LISTS = {name: hides for platform in Platform for name, hides in platform.record.visibility_lists.items()}
"""As in `PlatformRecord.visibility_lists`, of all platforms."""


def report_and_drop_wrong_types(
    collector: Collector, pair: MatchedPair, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Mapping[str, Any], ...]:
    """Report changed fields of a wrong type; return both sides, objects of this kind, without them."""
    known = compared_fields(kind)
    wrong = [key for key in TYPES if key in known and (key in old or key in new) and has_wrong_type(key, old, new)]
    for key in wrong:
        if not equal_or_both_empty(old.get(key), new.get(key)):
            collector.add(kinds.OTHER, pair, WRONG_TYPE.format(key), (key,))
    return tuple({key: value for key, value in side.items() if key not in wrong} for side in (old, new))


def compare_catalog_fields(collector: Collector, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Compare the catalog's own fields."""
    pair = MatchedPair()
    old, new = report_and_drop_wrong_types(collector, pair, "catalog", old, new)
    _compare_other_fields(collector, pair, "catalog", old, new)


def compare_service_fields(
    collector: Collector, old: ServiceOffering, new: ServiceOffering, plans: list[tuple[ServicePlan, ServicePlan]]
) -> None:
    """Compare the service offering's own fields; `plans`, those in both catalogs, may inherit some."""
    pair = MatchedPair(old, new)
    old_data, new_data = report_and_drop_wrong_types(collector, pair, "service", old.data, new.data)
    for name in INHERITED:
        old_value, new_value = getattr(old, name), getattr(new, name)
        if has_wrong_type(name, old.data, new.data):
            continue
        if old_value != new_value and plans and not any(always_inherits(name, *both) for both in plans):
            report_flag_that_no_plan_inherits(collector, pair, name, old_value, new_value)
        else:
            compare_flag(collector, pair, (name,), old_value, new_value)
            report_explicitness_change(collector, pair, name, old_value == new_value)
    _compare_common_fields(collector, pair, old_data, new_data)
    for key in TEXT_LISTS:
        compare_text_list(collector, pair, key, old_data.get(key), new_data.get(key))
    old_client, new_client = (dict_or_empty(data.get("dashboard_client")) for data in (old_data, new_data))
    _compare_dashboard(collector, pair, old_client, new_client)


def compare_plan_fields(collector: Collector, pair: MatchedPair, moved: bool = False) -> None:
    """Compare the plan's own fields; `moved`: it belonged to another service offering before."""
    old, new = pair.old_plan, pair.new_plan
    assert old and new
    old_data, new_data = report_and_drop_wrong_types(collector, pair, "plan", old.data, new.data)
    for name in INHERITED:
        old_value, new_value = getattr(old, name), getattr(new, name)
        # What a plan inherits is reported of its service offering.
        if (moved or not always_inherits(name, old, new)) and not has_wrong_type(name, old.data, new.data):
            compare_flag(collector, pair, (name,), old_value, new_value)
            report_explicitness_change(collector, pair, name, old_value == new_value)
    if not has_wrong_type("free", old.data, new.data):
        compare_free(collector, pair, old, new)
    _compare_common_fields(collector, pair, old_data, new_data)
    _compare_maintenance_info(collector, pair, old_data.get("maintenance_info"), new_data.get("maintenance_info"))
    _compare_polling_duration(
        collector, pair, old_data.get("maximum_polling_duration"), new_data.get("maximum_polling_duration")
    )
    if old.judged and new.judged:
        compare_parameters(collector, pair, old.judged, new.judged, judged=True)
    else:
        compare_parameters(collector, pair, old_data.get("schemas"), new_data.get("schemas"))


def _compare_common_fields(
    collector: Collector, pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    for name in FLAGS:
        compare_flag(collector, pair, (name,), old.get(name) is True, new.get(name) is True)
    _compare_field(collector, kinds.WORDING, pair, ("description",), old.get("description"), new.get("description"))
    _compare_metadata(collector, pair, dict_or_empty(old.get("metadata")), dict_or_empty(new.get("metadata")))
    _compare_other_fields(collector, pair, "plan" if pair.plan else "service", old, new)


def _compare_other_fields(
    collector: Collector, pair: MatchedPair, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    """Compare all fields of an object of this kind without a comparison of their own: unknown or in another case."""
    old_fields, new_fields = dict(_fields_in_other_case(old, kind)), dict(_fields_in_other_case(new, kind))
    for path in dict.fromkeys((*old_fields, *new_fields)):
        old_value, new_value = old_fields.get(path), new_fields.get(path)
        if not same_value(old_value, new_value):
            message = describe_change(".".join(path), old_value, new_value, path)
            collector.add(kinds.FIELD_CASE, pair, message, path, old_value, new_value)
    for key in all_keys(old, new):
        if key not in compared_fields(kind) and (key,) not in old_fields and (key,) not in new_fields:
            _compare_field(collector, kinds.OTHER, pair, (key,), old.get(key), new.get(key))


def _fields_in_other_case(
    data: Mapping[str, Any], kind: str, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    """The known fields in another case, with their paths; names in metadata and parameters are no fields."""
    for key, value in data.items():
        inner = PARTS.get(kind, {}).get(key)
        if _is_in_other_case(key, kind):
            yield (*path, key), value
        elif inner and key != "metadata" and isinstance(value, dict):
            yield from _fields_in_other_case(value, inner, (*path, key))


def _is_in_other_case(key: str, kind: str) -> bool:
    """Return whether `key` is a field of this kind of object, but for its case."""
    return key != fold_case(key) and fold_case(key) in known_fields(kind)


def _compare_metadata(collector: Collector, pair: MatchedPair, old: dict[str, Any], new: dict[str, Any]) -> None:
    skipped = _VISIBILITY_LISTS if pair.plan and _report_hidden_plan(collector, pair, old, new) else ()
    flag = "supportsInstanceSharing" if pair.plan else "shareable"
    for key in all_keys(old, new):
        path: JsonPath = ("metadata", key)
        if key in skipped:
            continue
        old_value, new_value = old.get(key), new.get(key)
        if key != flag:
            _compare_field(collector, _METADATA.get(key, kinds.METADATA), pair, path, old_value, new_value)
        elif _can_compare_sharing(pair, old_value, new_value):
            compare_flag(collector, pair, path, old_value is True, new_value is True)
        elif not equal_or_both_empty(old_value, new_value):
            collector.add(kinds.OTHER, pair, WRONG_TYPE.format(f"metadata.{key}"), path)


def _can_compare_sharing(pair: MatchedPair, old: Any, new: Any) -> bool:
    """Return whether it is known what both values of the flag for sharing mean.

    To the one platform that reads that of a plan, anything but `true` is false.
    """
    if pair.plan and (old is True) != (new is True):
        return True
    return has_type(old, bool) and has_type(new, bool)


def _report_hidden_plan(
    collector: Collector, pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]
) -> bool:
    """Report platforms that lose the plan, by its metadata before and after; return whether there are any."""
    (old_key, old_list), (new_key, new_list) = _effective_visibility_list(old), _effective_visibility_list(new)
    if old_key == new_key:
        entries, others = (new_list, old_list) if _VISIBILITY_LISTS.get(new_key) else (old_list, new_list)
        whom = ", ".join(format_value(entry) for entry in entries if entry not in others)
    else:
        prefix = "" if _VISIBILITY_LISTS.get(new_key, True) else "all platforms but "
        whom = prefix + ", ".join(map(format_value, new_list))
    if whom:
        message = f"metadata.{new_key} hides the plan from {whom}"
        path, old_path = ("metadata", new_key), ("metadata", old_key or new_key)
        collector.add(
            kinds.PLATFORMS_WITHDRAWN, pair, message, path, old.get(old_key), new.get(new_key), old_path=old_path
        )
    return bool(whom)


def _effective_visibility_list(metadata: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The list that counts, with its field. Other types are ignored, and an empty list allows every platform."""
    for key in _VISIBILITY_LISTS:
        values = metadata.get(key)
        if isinstance(values, list) and values:
            return key, values
    return "", []


def _compare_dashboard(collector: Collector, pair: MatchedPair, old: dict[str, Any], new: dict[str, Any]) -> None:
    if bool(old) != bool(new):
        message = f"dashboard client {'added' if new else 'removed'}"
        kind = replace(kinds.DASHBOARD, advice="")  # there are not two clients to accept
        collector.add(kind, pair, message, ("dashboard_client",), _mask(old or None), _mask(new or None))
        return
    for key in all_keys(old, new):
        old_value, new_value = old.get(key), new.get(key)
        if equal_or_both_empty(old_value, new_value) or _is_in_other_case(key, "dashboard_client"):
            continue
        changed = describe_change(f"dashboard client: {key}", old_value, new_value)
        # Only these two fields are known to hold no secret, and a URI only where it names no user.
        if key not in ("id", "redirect_uri") or "@" in f"{old_value}{new_value}":
            old_value, new_value = _mask(old_value), _mask(new_value)
            changed = ChangedValue(f"dashboard client: {format_value(key)} changed (secret)")
        collector.add(kinds.DASHBOARD, pair, changed, ("dashboard_client", key), old_value, new_value)


def _mask(value: Any) -> str | None:
    """A mark that a secret value is there. None if it is absent."""
    return None if value is None else SECRET


def _compare_maintenance_info(collector: Collector, pair: MatchedPair, old: Any, new: Any) -> None:
    # Platforms treat an empty version like none.
    old, new = ({key: value for key, value in dict_or_empty(side).items() if value != ""} for side in (old, new))
    for key in all_keys(old, new):
        if _is_in_other_case(key, "maintenance_info"):
            continue  # reported as such
        kind = kinds.MAINTENANCE if key == "version" else kinds.WORDING if key == "description" else kinds.OTHER
        _compare_field(collector, kind, pair, ("maintenance_info", key), old.get(key), new.get(key))


def _compare_polling_duration(collector: Collector, pair: MatchedPair, old: Any, new: Any) -> None:
    # None means the platform's default, about a week: longer than any value.
    old_seconds, new_seconds = (float("inf") if value is None else value for value in (old, new))
    if old_seconds == new_seconds:
        return
    kind = kinds.POLLING_LOWERED if new_seconds < old_seconds else kinds.POLLING_RAISED
    path: JsonPath = ("maximum_polling_duration",)
    collector.add(kind, pair, describe_change("maximum_polling_duration", old, new), path, old, new)


def _compare_field(collector: Collector, kind: Kind, pair: MatchedPair, path: JsonPath, old: Any, new: Any) -> None:
    """Report a field that differs, at the innermost path around all differences."""
    if equal_or_both_empty(old, new):
        return
    depth = len(path)
    path, keys = narrow_path(path, old, new)
    old_value, new_value = get_at(old, path[depth:]), get_at(new, path[depth:])
    name = ".".join(map(str, path))
    message = describe_change(name, old_value, new_value, path)
    if len(keys) > 1:
        fates = [f"{format_value(key)[1:-1]} {fate}" for key, fate in islice(keys.items(), _MOST_KEYS)]
        more = f", and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
        message = ChangedValue(f"{format_value(name)[1:-1]} changed: {', '.join(fates)}{more}")
    collector.add(kind, pair, message, path, old_value, new_value)
