"""Refusals of the new catalog that the old one did not cause, as changes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from osbctl.changes import Change, Level, ObjectRef
from osbctl.comparison.rules.identity import NOW_REFUSED, REFUSED_IN_PART
from osbctl.comparison.values import table
from osbctl.paths import Path, get_at, pointer
from osbctl.platforms import Platform
from osbctl.platforms.outcome import Refusal, redact_message

Refusals: TypeAlias = Mapping[Platform, Sequence[Refusal]]
"""The refusals of one catalog by the platforms that refuse it."""


class _Place(NamedTuple):
    service: ObjectRef | None
    plan: ObjectRef | None
    field: Path


def new_refusals(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    before: Refusals,
    after: Refusals,
    changes: Sequence[Change],
    partly: Collection[Platform] = (),
) -> list[Change]:
    """The refusals `after` of the catalog `new` that are not among those `before` of `old`.

    `partly` are the platforms that still apply a part of it. Two refusals of a platform are the same if rule, ids and
    field are. Refusals that one of `changes` reports, by the same platform at the same path, are omitted.
    """
    found = []
    for platform, refusals in after.items():
        known = {(one.rule, *_identity(_place(old, one.path))) for one in before.get(platform, ())}
        reported = {c.new_path for c in changes if _is_refused(c, platform)}
        kind = REFUSED_IN_PART if platform in partly else NOW_REFUSED
        for one in refusals:
            place = _place(new, one.path)
            key = (one.rule, *_identity(place))
            if key not in known and one.path not in reported:
                known.add(key)
                words = _naming(place.field, redact_message(one.message, one.path).rstrip("."))
                change = Change(
                    rule=kind.id,
                    message=f"{words} ({one.rule})",
                    effects=kind.effects((platform,), None),
                    service=place.service,
                    plan=place.plan,
                    field="/".join((pointer(place.field)[1:], platform, one.rule)).lstrip("/"),
                    old_path=_path_before(place, old),
                    new_path=one.path,
                    advice=kind.advice,
                )
                found.append(change)
    return found


def _is_refused(change: Change, platform: Platform) -> bool:
    return any(effect.platform is platform and effect.level is Level.REFUSED for effect in change.effects)


def _naming(field: Path, words: str) -> str:
    """`words`, after the field unless they name it: a report shows no path."""
    named = str(field[-1]).replace("_", " ").casefold() if field else ""
    known = named in words.replace("_", " ").casefold()
    return words if known else f"{'.'.join(map(str, field))}: {words}"


def _place(data: Mapping[str, Any], path: Path) -> _Place:
    things: list[ObjectRef | None] = []
    rest, value = path, data
    for key in ("services", "plans"):
        if len(rest) < 2 or rest[0] != key:
            break
        value = table(get_at(value, rest[:2]))
        things.append(ObjectRef(_text(value.get("id")), _text(value.get("name"))))
        rest = rest[2:]
    service, plan = (*things, None, None)[:2]
    return _Place(service, plan, rest)


def _identity(place: _Place) -> tuple[str, str, Path]:
    if place.plan and place.plan.id:  # which is unique in a catalog
        return "", place.plan.id, place.field
    return place.service.id if place.service else "", "", place.field


def _path_before(place: _Place, old: Mapping[str, Any]) -> Path:
    path: Path = ()
    here = old
    for key, thing in (("services", place.service), ("plans", place.plan)):
        if thing is None:
            break
        values = here.get(key)
        values = values if isinstance(values, list) else []
        index = next((i for i, value in enumerate(values) if _text(table(value).get("id")) == thing.id), None)
        if index is None:
            return (*path, key)
        path, here = (*path, key, index), table(values[index])
    return (*path, *place.field)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
