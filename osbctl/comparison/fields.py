"""Comparison of the fields of a service offering or plan that is in both catalogs.

Of a boolean, that of a plan counts, or else that of its service offering, or else the default. `WITHDRAWN` of `kinds`
has the usual level of one that is withdrawn, `REACTIONS` of a platform its own, and `platforms.updates` those of
platforms that read omitted values or booleans of plans in their own way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.comparison import kinds
from osbctl.comparison.collector import MatchedPair
from osbctl.comparison.kinds import Kind
from osbctl.comparison.parameters import compare_parameters
from osbctl.comparison.values import (
    FLAGS,
    INHERITED,
    TYPES,
    WRONG_TYPE,
    ChangedValue,
    compared_fields,
    describe_change,
    equal_or_both_empty,
    format_value,
    has_type,
    has_wrong_type,
    narrow_path,
)
from osbctl.fields import CONVENTIONS, PARTS, known_fields
from osbctl.messages import SECRET, text_of
from osbctl.paths import JsonPath, JsonValue, get_at, same_value
from osbctl.platforms import Platform
from osbctl.platforms.golang import fold_case
from osbctl.platforms.updates import Reaction, reactions_to_omission, reactions_without_plan_flag, risky

_TEXT_LISTS = {
    "tags": ("tag", kinds.TAG_REMOVED, kinds.TAG_ADDED, "the tags"),
    "requires": ("requires", kinds.REQUIRES_REMOVED, kinds.REQUIRES_ADDED, "the permissions in requires"),
}
"""Lists of texts: the word for an entry, the kinds of change to lose and to gain one, the words for all of them."""
_METADATA = {"description": kinds.WORDING, **dict.fromkeys(CONVENTIONS, kinds.WORDING), "costs": kinds.COSTS}
"""The kind of change of known fields of the metadata."""
_MOST_KEYS = 5
"""Maximum number of keys that a message names if several of an object differ."""
_VISIBILITY_LISTS = {name: hides for platform in Platform for name, hides in platform.record.visibility_lists.items()}
"""As in `PlatformRecord.visibility_lists`, of all platforms."""


def compare_catalog_fields(pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Compare the catalog's own fields; `pair` is empty."""
    _compare_other_fields(pair, "catalog", *_report_and_drop_wrong_types(pair, "catalog", old, new))


def compare_service_fields(pair: MatchedPair, plans: list[tuple[ServicePlan, ServicePlan]]) -> None:
    """Compare the service offering's own fields; `plans`, those in both catalogs, may inherit some."""
    old, new = _both(pair)
    old_data, new_data = _report_and_drop_wrong_types(pair, "service", old.data, new.data)
    for name in INHERITED:
        old_value, new_value = getattr(old, name), getattr(new, name)
        if has_wrong_type(name, old.data, new.data):
            continue
        if old_value != new_value and plans and not any(_always_inherits(name, *both) for both in plans):
            _report_flag_that_no_plan_inherits(pair, name, old_value, new_value)
        else:
            _compare_flag(pair, (name,), old_value, new_value)
            _report_explicitness_change(pair, name, old_value == new_value)
    _compare_common_fields(pair, "service", old_data, new_data)
    for key in _TEXT_LISTS:
        _compare_text_list(pair, key, old_data.get(key), new_data.get(key))
    _compare_dashboard(pair, old_data.get("dashboard_client") or {}, new_data.get("dashboard_client") or {})


def compare_plan_fields(pair: MatchedPair, moved: bool = False) -> None:
    """Compare the plan's own fields; `moved`: it belonged to another service offering before."""
    old, new = pair.old_plan, pair.new_plan
    assert old and new
    old_data, new_data = _report_and_drop_wrong_types(pair, "plan", old.data, new.data)
    for name in INHERITED:
        old_value, new_value = getattr(old, name), getattr(new, name)
        # What a plan inherits is reported of its service offering.
        if (moved or not _always_inherits(name, old, new)) and not has_wrong_type(name, old.data, new.data):
            _compare_flag(pair, (name,), old_value, new_value)
            _report_explicitness_change(pair, name, old_value == new_value)
    if not has_wrong_type("free", old.data, new.data):
        _compare_free(pair, old, new)
    _compare_common_fields(pair, "plan", old_data, new_data)
    _compare_maintenance_info(pair, old_data.get("maintenance_info"), new_data.get("maintenance_info"))
    _compare_polling_duration(pair, old_data.get("maximum_polling_duration"), new_data.get("maximum_polling_duration"))
    compare_parameters(pair, old_data.get("schemas"), new_data.get("schemas"))


def _report_and_drop_wrong_types(
    pair: MatchedPair, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Report changed fields of a wrong type; return both sides, objects of this kind, without them."""
    known = compared_fields(kind)
    wrong = [key for key in TYPES if key in known and (key in old or key in new) and has_wrong_type(key, old, new)]
    for key in wrong:
        if not equal_or_both_empty(old.get(key), new.get(key)):
            pair.add(kinds.OTHER, WRONG_TYPE.format(key), (key,))
    old, new = ({key: value for key, value in side.items() if key not in wrong} for side in (old, new))
    return old, new


def _compare_common_fields(pair: MatchedPair, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    for name in FLAGS:
        _compare_flag(pair, (name,), old.get(name) is True, new.get(name) is True)
    _compare_field(pair, kinds.WORDING, ("description",), old.get("description"), new.get("description"))
    _compare_metadata(pair, old.get("metadata") or {}, new.get("metadata") or {})
    _compare_other_fields(pair, kind, old, new)


def _compare_other_fields(pair: MatchedPair, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Compare all fields of an object of this kind without a comparison of their own: unknown or in another case."""
    old_fields, new_fields = dict(_fields_in_other_case(old, kind)), dict(_fields_in_other_case(new, kind))
    for path in {**old_fields, **new_fields}:
        old_value, new_value = old_fields.get(path), new_fields.get(path)
        if not same_value(old_value, new_value):
            message = describe_change(".".join(path), old_value, new_value, path)
            pair.add(kinds.FIELD_CASE, message, path, old_value, new_value)
    for key in {**old, **new}:
        if key not in compared_fields(kind) and (key,) not in old_fields and (key,) not in new_fields:
            _compare_field(pair, kinds.OTHER, (key,), old.get(key), new.get(key))


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


def _compare_field(pair: MatchedPair, kind: Kind, path: JsonPath, old: Any, new: Any) -> None:
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
    pair.add(kind, message, path, old_value, new_value)


def _compare_metadata(pair: MatchedPair, old: dict[str, Any], new: dict[str, Any]) -> None:
    skipped = _VISIBILITY_LISTS if pair.is_of_plans and _report_hidden_plan(pair, old, new) else ()
    flag = "supportsInstanceSharing" if pair.is_of_plans else "shareable"
    for key in {**old, **new}:
        path: JsonPath = ("metadata", key)
        if key in skipped:
            continue
        old_value, new_value = old.get(key), new.get(key)
        if key != flag:
            _compare_field(pair, _METADATA.get(key, kinds.METADATA), path, old_value, new_value)
        elif _can_compare_sharing(pair, old_value, new_value):
            _compare_flag(pair, path, old_value is True, new_value is True)
        elif not equal_or_both_empty(old_value, new_value):
            pair.add(kinds.OTHER, WRONG_TYPE.format(f"metadata.{key}"), path)


def _can_compare_sharing(pair: MatchedPair, old: Any, new: Any) -> bool:
    """Return whether it is known what both values of the flag for sharing mean.

    To the one platform that reads that of a plan, anything but `true` is false.
    """
    if pair.is_of_plans and (old is True) != (new is True):
        return True
    return has_type(old, bool) and has_type(new, bool)


def _report_hidden_plan(pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
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
        pair.add(kinds.PLATFORMS_WITHDRAWN, message, path, old.get(old_key), new.get(new_key), old_path=old_path)
    return bool(whom)


def _effective_visibility_list(metadata: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The list that counts, with its field. Other types are ignored, and an empty list allows every platform."""
    for key in _VISIBILITY_LISTS:
        values = metadata.get(key)
        if isinstance(values, list) and values:
            return key, values
    return "", []


def _compare_text_list(pair: MatchedPair, key: str, old: Any, new: Any) -> None:
    """Report added and removed entries of a list of texts. A change's field has the text, its paths the index."""
    if equal_or_both_empty(old, new):
        return
    word, removed, added, _ = _TEXT_LISTS[key]
    old_indexes, new_indexes = _first_indexes(old), _first_indexes(new)
    for text, index in old_indexes.items():
        if text not in new_indexes:
            message, field = f"{word} {format_value(text)} removed", (key, text_of(text))
            pair.add(removed, message, field, text, None, old_path=(key, index), new_path=(key,))
    for text, index in new_indexes.items():
        if text not in old_indexes:
            message, field = f"{word} {format_value(text)} added", (key, text_of(text))
            pair.add(added, message, field, None, text, old_path=(key,), new_path=(key, index))
    if old_indexes.keys() == new_indexes.keys():
        _report_same_texts(pair, key, old or [], new or [])


def _report_same_texts(pair: MatchedPair, key: str, old: list[Any], new: list[Any]) -> None:
    """Report that the same texts are in another order, or listed more or less often, or that other values differ."""
    if not all(isinstance(value, str) for value in (*old, *new)):
        pair.add(kinds.OTHER, describe_change(key, old, new, (key,)), (key,), old, new)
        return
    changed = "changed order" if sorted(old) == sorted(new) else "are the same, except for how often one is listed"
    pair.add(kinds.ORDER, f"{_TEXT_LISTS[key][-1]} {changed}", (key,), old, new)


def _first_indexes(values: list[Any] | None) -> dict[str, int]:
    """The first index of each text."""
    texts: dict[str, int] = {}
    for index, value in enumerate(values or ()):
        if isinstance(value, str):
            texts.setdefault(value, index)
    return texts


def _compare_dashboard(pair: MatchedPair, old: dict[str, Any], new: dict[str, Any]) -> None:
    if bool(old) != bool(new):
        message = f"dashboard client {'added' if new else 'removed'}"
        kind = replace(kinds.DASHBOARD, advice="")  # there are not two clients to accept
        pair.add(kind, message, ("dashboard_client",), _mask(old or None), _mask(new or None))
        return
    for key in {**old, **new}:
        old_value, new_value = old.get(key), new.get(key)
        if equal_or_both_empty(old_value, new_value) or _is_in_other_case(key, "dashboard_client"):
            continue
        changed = describe_change(f"dashboard client: {key}", old_value, new_value)
        # Only these two fields are known to hold no secret, and a URI only where it names no user.
        if key not in ("id", "redirect_uri") or "@" in f"{old_value}{new_value}":
            old_value, new_value = _mask(old_value), _mask(new_value)
            changed = ChangedValue(f"dashboard client: {format_value(key)} changed (secret)")
        pair.add(kinds.DASHBOARD, changed, ("dashboard_client", key), old_value, new_value)


def _mask(value: Any) -> str | None:
    """A mark that a secret value is there. None if it is absent."""
    return None if value is None else SECRET


def _compare_maintenance_info(pair: MatchedPair, old: Any, new: Any) -> None:
    # Platforms treat an empty version like none.
    old, new = ({key: value for key, value in (side or {}).items() if value != ""} for side in (old, new))
    for key in {**old, **new}:
        if not _is_in_other_case(key, "maintenance_info"):  # else it is reported as such
            kind = kinds.MAINTENANCE if key == "version" else kinds.WORDING if key == "description" else kinds.OTHER
            _compare_field(pair, kind, ("maintenance_info", key), old.get(key), new.get(key))


def _compare_polling_duration(pair: MatchedPair, old: Any, new: Any) -> None:
    # None means the platform's default, about a week: longer than any value.
    old_seconds, new_seconds = (float("inf") if value is None else value for value in (old, new))
    if old_seconds != new_seconds:
        kind = kinds.POLLING_LOWERED if new_seconds < old_seconds else kinds.POLLING_RAISED
        name = "maximum_polling_duration"
        pair.add(kind, describe_change(name, old, new), (name,), old, new)


def _compare_flag(pair: MatchedPair, path: JsonPath, old: bool, new: bool) -> None:
    """Report a boolean that differs; `old` and `new` are the values that count."""
    if old == new:
        return
    name = "/".join(map(str, path))
    kind = kinds.GRANTED if new else kinds.WITHDRAWN[name]
    own = reactions_without_plan_flag(name) if pair.is_of_plans else {}
    kind = kind.with_reactions(_reactions_to_omission(name, pair) | own)
    pair.add(kind, *_describe_flag(pair, path, old, new))


def _report_flag_that_no_plan_inherits(pair: MatchedPair, name: str, old: bool, new: bool) -> None:
    """Report a boolean of a service offering that its plans set themselves: some platforms do not read theirs."""
    kind = kinds.SERVICE_FLAG
    # The kind must not depend on the platforms in view: an accepted change is known by it.
    if readers := reactions_without_plan_flag(name).keys():
        of_plans = kinds.GRANTED if new else kinds.WITHDRAWN[name]
        others = {platform: each for platform, each in kind.reactions.items() if platform not in readers}
        kind = of_plans.with_reactions(others)
    pair.add(kind, *_describe_flag(pair, (name,), old, new))


def _describe_flag(
    pair: MatchedPair, path: JsonPath, old: bool, new: bool
) -> tuple[str | ChangedValue, JsonPath, bool | None, bool | None]:
    """The sentence about a boolean, its path, and its values in the catalogs; `old` and `new` count if omitted, too."""
    old_value, new_value = (get_at(item.data, path) for item in _both(pair))
    name, origin = ".".join(map(str, path)), "inherited" if pair.is_of_plans and path[-1] in INHERITED else "default"
    if old_value is None and new_value is None:  # a plan that moved
        return f"{describe_change(name, old, new)} ({origin})", path, None, None
    omitted = f"{origin} {format_value(old if old_value is None else new)}"
    return describe_change(name, old_value, new_value, if_omitted=omitted), path, old_value, new_value


def _report_explicitness_change(pair: MatchedPair, name: str, same_effect: bool) -> None:
    """Report a value that is explicit on one side only, if it means the same."""
    old, new = _both(pair)
    is_explicit = _is_explicit(new, name)
    if not same_effect or _is_explicit(old, name) == is_explicit:
        return
    value = getattr(old, name)
    kind = kinds.EXPLICIT_ADDED if is_explicit else kinds.EXPLICIT_DROPPED
    message = f"{name}: {format_value(value)} is {'now' if is_explicit else 'no longer'} set explicitly"
    values = (None, value) if is_explicit else (value, None)
    pair.add(kind.with_reactions(_reactions_to_omission(name, pair)), message, (name,), *values)


def _compare_free(pair: MatchedPair, old: ServicePlan, new: ServicePlan) -> None:
    """Compare `free` of a plan; an omitted one is true, but on some platforms false."""
    _report_explicitness_change(pair, "free", old.free == new.free)
    if old.free == new.free:
        return
    kind = kinds.FREE if new.free else kinds.PAID
    if not _is_explicit(new, "free"):
        # The new catalog does not say that the plan is free: a line may be lost.
        kind = kind.with_reactions(dict.fromkeys(Platform, risky("reads an omitted value as true: it is free now")))
    values = old.data.get("free"), new.data.get("free")
    message = describe_change("free", *values, if_omitted="default true")
    pair.add(kind.with_reactions(_reactions_to_omission("free", pair)), message, ("free",), *values)


def _reactions_to_omission(name: str, pair: MatchedPair) -> dict[Platform, Reaction]:
    """Reactions of platforms to which another value of a plan's boolean counts, as one catalog omits it."""
    old, new = pair.old_plan, pair.new_plan
    if not (old and new):
        return {}
    is_true = old.data.get(name) is True, new.data.get(name) is True
    reactions = reactions_to_omission(name, *is_true)
    return reactions if reactions and is_true != (getattr(old, name), getattr(new, name)) else {}


def _both(pair: MatchedPair) -> tuple[ServiceOffering | ServicePlan, ServiceOffering | ServicePlan]:
    """The plans of a pair, or else its service offerings; both are there."""
    old, new = (pair.old_plan, pair.new_plan) if pair.is_of_plans else (pair.old_service, pair.new_service)
    assert old and new
    return old, new


def _always_inherits(name: str, old: ServicePlan, new: ServicePlan) -> bool:
    """Return whether the plan leaves this to its service offering, before and after."""
    return not _is_explicit(old, name) and not _is_explicit(new, name)


def _is_explicit(item: ServiceOffering | ServicePlan, name: str) -> bool:
    return isinstance(item.data.get(name), bool)
