"""Comparison of the fields of a service offering or plan that is in both catalogs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.changes import Effect, Level
from osbctl.comparison.kinds import Kind
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.values import (
    FLAGS,
    INHERITED,
    WRONG_TYPE,
    compared_fields,
    has_type,
    has_wrong_type,
    report_and_drop_wrong_types,
)
from osbctl.comparison.fields import compare_parameters
from osbctl.comparison.rules import fields as rules
from osbctl.comparison.fields import TEXT_LISTS, compare_text_list
from osbctl.comparison.values import (
    all_keys,
    describe_change,
    dict_or_empty,
    equal_or_both_empty,
    format_value,
    narrow_path,
)
from osbctl.fields import CONVENTIONS, PARTS, known_fields
from osbctl.jsonschemas.walk import same_value
from osbctl.paths import JsonPath, JsonValue, get_at
from osbctl.platforms import Platform
from osbctl.platforms.golang import fold_case
from osbctl.redaction import SECRET

_METADATA = {"description": rules.WORDING, **dict.fromkeys(CONVENTIONS, rules.WORDING), "costs": rules.COSTS}
"""The kind of change of known fields of the metadata."""
_MOST_KEYS = 5
"""Maximum number of keys that a message names if several of an object differ."""

_EXCLUDED = "excludedPlatformNames"
_VISIBILITY_LISTS = (_EXCLUDED, "supportedPlatformNames", "supportedPlatforms")
"""Lists of platforms in the metadata of a plan, which SAP Service Manager reads; the first that is there counts."""

_OMITTED_IS_FALSE = {
    (False, False): (Level.SAFE, "reads an omitted value as false: nothing changes"),
    (False, True): (Level.SAFE, "read the omitted value as false; it is true now"),
    (True, False): (Level.RISKY, "reads an omitted value as false"),
}
"""Reaction of a platform that reads omitted values as false, by old and new value."""


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
        if old_value != new_value and plans and not any(_always_inherits(name, *both) for both in plans):
            _report_flag_that_no_plan_inherits(collector, pair, name, old_value, new_value)
        else:
            _compare_flag(collector, pair, (name,), old_value, new_value)
            _report_explicitness_change(collector, pair, name, old_value == new_value)
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
        if (moved or not _always_inherits(name, old, new)) and not has_wrong_type(name, old.data, new.data):
            _compare_flag(collector, pair, (name,), old_value, new_value)
            _report_explicitness_change(collector, pair, name, old_value == new_value)
    if not has_wrong_type("free", old.data, new.data):
        _compare_free(collector, pair, old, new)
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
        _compare_flag(collector, pair, (name,), old.get(name) is True, new.get(name) is True)
    _compare_field(collector, rules.WORDING, pair, ("description",), old.get("description"), new.get("description"))
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
            collector.add(rules.FIELD_CASE, pair, message, path, old_value, new_value)
    for key in all_keys(old, new):
        if key not in compared_fields(kind) and (key,) not in old_fields and (key,) not in new_fields:
            _compare_field(collector, rules.OTHER, pair, (key,), old.get(key), new.get(key))


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


def _compare_flag(collector: Collector, pair: MatchedPair, path: JsonPath, old: bool, new: bool) -> None:
    """Report a boolean that differs, with the effects of platforms that read or store it in their own way."""
    if old == new:
        return
    name = "/".join(map(str, path))
    kind = rules.GRANTED if new else rules.WITHDRAWN[name]
    effects = _adapt_omitted_effects(kind.effects(collector.platforms, None), name, pair)
    if pair.plan:
        effects = tuple(
            Effect(e.platform, Level.SAFE, "does not store it for plans")
            if name in e.platform.record.service_only
            else e
            for e in effects
        )
    message, old_value, new_value = _describe_flag(pair, path, old, new)
    collector.add(kind, pair, message, path, old_value, new_value, effects=effects)


def _report_flag_that_no_plan_inherits(
    collector: Collector, pair: MatchedPair, name: str, old: bool, new: bool
) -> None:
    """Report a boolean of a service offering that its plans set themselves: some platforms do not read theirs."""
    message, *values = _describe_flag(pair, (name,), old, new)
    kind = rules.SERVICE_FLAG
    effects = kind.effects(collector.platforms, None)
    # The kind must not depend on the platforms in view: an accepted change is known by it.
    if any(name in platform.record.service_only for platform in Platform):
        kind = rules.GRANTED if new else rules.WITHDRAWN[name]
    own = {e.platform: e for e in kind.effects(collector.platforms, None) if name in e.platform.record.service_only}
    collector.add(kind, pair, message, (name,), *values, effects=effects, overrides=own)


def _describe_flag(pair: MatchedPair, path: JsonPath, old: bool, new: bool) -> tuple[str, bool | None, bool | None]:
    """The sentence about a boolean, and its values in the catalogs; `old` and `new` also count where it is omitted."""
    old_value, new_value = (get_at(item.data, path) for item in _compared_objects(pair))
    name, origin = ".".join(map(str, path)), "inherited" if pair.plan and path[-1] in INHERITED else "default"
    if old_value is None and new_value is None:  # a plan that moved
        return f"{describe_change(name, old, new)} ({origin})", None, None
    omitted = f"{origin} {format_value(old if old_value is None else new)}"
    return describe_change(name, old_value, new_value, if_omitted=omitted), old_value, new_value


def _compared_objects(pair: MatchedPair) -> tuple[ServiceOffering | ServicePlan, ServiceOffering | ServicePlan]:
    """The plans of a pair, or else its service offerings; both are there."""
    old, new = (pair.old_plan, pair.new_plan) if pair.plan else (pair.old_service, pair.new_service)
    assert old and new
    return old, new


def _report_explicitness_change(collector: Collector, pair: MatchedPair, name: str, same_effect: bool) -> None:
    """Report a value that is explicit on one side only, if it means the same."""
    old_object, new_object = _compared_objects(pair)
    old_is_explicit, new_is_explicit = _is_explicit(old_object, name), _is_explicit(new_object, name)
    if not same_effect or old_is_explicit == new_is_explicit:
        return
    value = getattr(old_object, name)
    kind = rules.EXPLICIT_ADDED if new_is_explicit else rules.EXPLICIT_DROPPED
    message = f"{name}: {format_value(value)} is {'now' if new_is_explicit else 'no longer'} set explicitly"
    values = (None, value) if new_is_explicit else (value, None)
    effects = _adapt_omitted_effects(kind.effects(collector.platforms, None), name, pair)
    collector.add(kind, pair, message, (name,), *values, effects=effects)


def _adapt_omitted_effects(effects: tuple[Effect, ...], name: str, pair: MatchedPair) -> tuple[Effect, ...]:
    """`effects` of a change of a plan's boolean, adapted for platforms that read an omitted one as false."""
    old, new = pair.old_plan, pair.new_plan
    differ = {effect.platform for effect in effects if name in effect.platform.record.omitted_is_false}
    if not (old and new and differ):
        return effects
    stored_values = old.data.get(name) is True, new.data.get(name) is True
    if stored_values == (getattr(old, name), getattr(new, name)):
        return effects
    level, does = _OMITTED_IS_FALSE[stored_values]
    return tuple(Effect(e.platform, level, does) if e.platform in differ else e for e in effects)


def _compare_free(collector: Collector, pair: MatchedPair, old: ServicePlan, new: ServicePlan) -> None:
    """Compare `free`; an omitted one is true, and for platforms that differ see `_adapt_omitted_effects`."""
    _report_explicitness_change(collector, pair, "free", old.free == new.free)
    if old.free == new.free:
        return
    kind = rules.FREE if new.free else rules.PAID
    effects = kind.effects(collector.platforms, None)
    if not _is_explicit(new, "free"):
        # The new catalog does not say that the plan is free: a line may be lost.
        effects = tuple(
            Effect(e.platform, Level.RISKY, "reads an omitted value as true: it is free now") for e in effects
        )
    values = old.data.get("free"), new.data.get("free")
    message = describe_change("free", *values, if_omitted="default true")
    collector.add(kind, pair, message, ("free",), *values, effects=_adapt_omitted_effects(effects, "free", pair))


def _compare_metadata(collector: Collector, pair: MatchedPair, old: dict[str, Any], new: dict[str, Any]) -> None:
    skipped = _VISIBILITY_LISTS if pair.plan and _report_hidden_plan(collector, pair, old, new) else ()
    flag = "supportsInstanceSharing" if pair.plan else "shareable"
    for key in all_keys(old, new):
        path: JsonPath = ("metadata", key)
        if key in skipped:
            continue
        old_value, new_value = old.get(key), new.get(key)
        if key != flag:
            _compare_field(collector, _METADATA.get(key, rules.METADATA), pair, path, old_value, new_value)
        elif _can_compare_sharing(pair, old_value, new_value):
            _compare_flag(collector, pair, path, old_value is True, new_value is True)
        elif not equal_or_both_empty(old_value, new_value):
            collector.add(rules.OTHER, pair, WRONG_TYPE.format(f"metadata.{key}"), path)


def _can_compare_sharing(pair: MatchedPair, old: Any, new: Any) -> bool:
    """Return whether it is known what both values of the flag for sharing mean.

    To Service Manager, which alone reads that of a plan, anything but `true` is false.
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
        entries, others = (new_list, old_list) if new_key == _EXCLUDED else (old_list, new_list)
        whom = ", ".join(format_value(entry) for entry in entries if entry not in others)
    else:
        prefix = "" if new_key in (_EXCLUDED, "") else "all platforms but "
        whom = prefix + ", ".join(map(format_value, new_list))
    if whom:
        message = f"metadata.{new_key} hides the plan from {whom}"
        path, old_path = ("metadata", new_key), ("metadata", old_key or new_key)
        collector.add(
            rules.PLATFORMS_WITHDRAWN, pair, message, path, old.get(old_key), new.get(new_key), old_path=old_path
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
        kind = replace(rules.DASHBOARD, advice="")  # there are not two clients to accept
        collector.add(kind, pair, message, ("dashboard_client",), _mask(old or None), _mask(new or None))
        return
    for key in all_keys(old, new):
        old_value, new_value = old.get(key), new.get(key)
        if equal_or_both_empty(old_value, new_value) or _is_in_other_case(key, "dashboard_client"):
            continue
        message = describe_change(key, old_value, new_value)
        # Only these two fields are known to hold no secret, and a URI only where it names no user.
        if key not in ("id", "redirect_uri") or "@" in f"{old_value}{new_value}":
            message, old_value, new_value = f"{format_value(key)} changed (secret)", _mask(old_value), _mask(new_value)
        collector.add(
            rules.DASHBOARD, pair, f"dashboard client: {message}", ("dashboard_client", key), old_value, new_value
        )


def _mask(value: Any) -> str | None:
    """A mark that a secret value is there; None if it is absent."""
    return None if value is None else SECRET


def _compare_maintenance_info(collector: Collector, pair: MatchedPair, old: Any, new: Any) -> None:
    # Platforms treat an empty version like none.
    old, new = ({key: value for key, value in dict_or_empty(side).items() if value != ""} for side in (old, new))
    for key in all_keys(old, new):
        if _is_in_other_case(key, "maintenance_info"):
            continue  # reported as such
        kind = rules.MAINTENANCE if key == "version" else rules.WORDING if key == "description" else rules.OTHER
        _compare_field(collector, kind, pair, ("maintenance_info", key), old.get(key), new.get(key))


def _compare_polling_duration(collector: Collector, pair: MatchedPair, old: Any, new: Any) -> None:
    # None means the platform's default, about a week: longer than any value.
    old_seconds, new_seconds = (float("inf") if value is None else value for value in (old, new))
    if old_seconds == new_seconds:
        return
    kind = rules.POLLING_LOWERED if new_seconds < old_seconds else rules.POLLING_RAISED
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
        message = f"{format_value(name)[1:-1]} changed: {', '.join(fates)}{more}"
    collector.add(kind, pair, message, path, old_value, new_value)


def _always_inherits(name: str, old: ServicePlan, new: ServicePlan) -> bool:
    """Return whether the plan leaves this to its service offering, before and after."""
    return not _is_explicit(old, name) and not _is_explicit(new, name)


def _is_explicit(item: ServiceOffering | ServicePlan, name: str) -> bool:
    return isinstance(item.data.get(name), bool)
