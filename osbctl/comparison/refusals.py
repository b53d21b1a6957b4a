"""Refusals of the new catalog that the old one did not cause, as changes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from osbctl.changes import Change, Level, ObjectRef
from osbctl.comparison.rules.identity import NOW_REFUSED, REFUSED_IN_PART
from osbctl.comparison.values import dict_or_empty
from osbctl.paths import Path, get_at, pointer
from osbctl.platforms import Platform
from osbctl.platforms.outcome import Refusal, redact_message

Refusals: TypeAlias = Mapping[Platform, Sequence[Refusal]]
"""The refusals of one catalog by the platforms that refuse it."""


class _Place(NamedTuple):
    service: ObjectRef | None
    plan: ObjectRef | None
    field: Path


def find_new_refusals(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    old_refusals: Refusals,
    new_refusals: Refusals,
    changes: Sequence[Change],
    partly_applying: Collection[Platform] = (),
) -> list[Change]:
    """The refusals of the catalog `new` that are not among those of `old`, as changes.

    `partly_applying` are the platforms that still apply a part of it. Two refusals of a platform are the same if rule,
    ids and field are. Refusals that one of `changes` reports, by the same platform at the same path, are omitted.
    """
    found = []
    for platform, refusals in new_refusals.items():
        known = {(each.rule, *_place_key(_find_place(old, each.path))) for each in old_refusals.get(platform, ())}
        reported = {c.new_path for c in changes if _is_refused_by(c, platform)}
        kind = REFUSED_IN_PART if platform in partly_applying else NOW_REFUSED
        for refusal in refusals:
            place = _find_place(new, refusal.path)
            key = (refusal.rule, *_place_key(place))
            if key not in known and refusal.path not in reported:
                known.add(key)
                words = _prefix_field_name(place.field, redact_message(refusal.message, refusal.path).rstrip("."))
                change = Change(
                    rule=kind.id,
                    message=f"{words} ({refusal.rule})",
                    effects=kind.effects((platform,), None),
                    service=place.service,
                    plan=place.plan,
                    field="/".join((pointer(place.field)[1:], platform, refusal.rule)).lstrip("/"),
                    old_path=_find_old_path(place, old),
                    new_path=refusal.path,
                    advice=kind.advice,
                )
                found.append(change)
    return found


def _is_refused_by(change: Change, platform: Platform) -> bool:
    return any(effect.platform is platform and effect.level is Level.REFUSED for effect in change.effects)


def _prefix_field_name(field: Path, message: str) -> str:
    """`message`, after the field unless it names it: a report shows no path."""
    named = str(field[-1]).replace("_", " ").casefold() if field else ""
    is_named = named in message.replace("_", " ").casefold()
    return message if is_named else f"{'.'.join(map(str, field))}: {message}"


def _find_place(data: Mapping[str, Any], path: Path) -> _Place:
    """Split a path into the service offering, the plan and the field that it leads to."""
    objects: list[ObjectRef | None] = []
    remainder, value = path, data
    for key in ("services", "plans"):
        if len(remainder) < 2 or remainder[0] != key:
            break
        value = dict_or_empty(get_at(value, remainder[:2]))
        objects.append(ObjectRef(_text_or_empty(value.get("id")), _text_or_empty(value.get("name"))))
        remainder = remainder[2:]
    service, plan = (*objects, None, None)[:2]
    return _Place(service, plan, remainder)


def _place_key(place: _Place) -> tuple[str, str, Path]:
    """Equal for the same field of the same object, wherever each catalog lists it."""
    if place.plan and place.plan.id:  # which is unique in a catalog
        return "", place.plan.id, place.field
    return place.service.id if place.service else "", "", place.field


def _find_old_path(place: _Place, old: Mapping[str, Any]) -> Path:
    """The path of the same place in the old catalog, or of the list that lacks its object."""
    path: Path = ()
    node = old
    for key, item in (("services", place.service), ("plans", place.plan)):
        if item is None:
            break
        values = node.get(key)
        values = values if isinstance(values, list) else []
        ids = (_text_or_empty(dict_or_empty(value).get("id")) for value in values)
        index = next((i for i, found in enumerate(ids) if found == item.id), None)
        if index is None:
            return (*path, key)
        path, node = (*path, key, index), dict_or_empty(values[index])
    return (*path, *place.field)


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""
