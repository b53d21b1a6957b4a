"""Refusals of the new catalog that the old one did not cause, as changes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from osbctl.catalog import Catalog, Identified, object_path
from osbctl.changes import Change, Effect, Level, ObjectRef
from osbctl.comparison.kinds import NOW_REFUSED, PLAN_NAME_TAKEN, REFUSED_IN_PART, SERVICE_NAME_TAKEN, Kind
from osbctl.comparison.values import format_value
from osbctl.paths import JsonPath, pointer
from osbctl.platforms import Platform
from osbctl.platforms.updates import Clash, Update
from osbctl.platforms.verdict import Refusal

Refusals: TypeAlias = Mapping[Platform, Sequence[Refusal]]
"""The refusals of one catalog by the platforms that refuse it."""

_OTHER_ID = "choose another id; no other object on the platform may have it"


class _RefusalPlace(NamedTuple):
    service: ObjectRef | None
    plan: ObjectRef | None
    field: JsonPath


def find_new_refusals(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    old_refusals: Refusals,
    new_refusals: Refusals,
    changes: Sequence[Change],
    partly_applying: Collection[Platform] = (),
) -> list[Change]:
    """The refusals of the catalog `new` that are not among those of `old`, as changes: one for each path.

    `partly_applying` are the platforms that still apply a part of it. Two refusals of a platform are the same if rule,
    ids and field are. Refusals that one of `changes` reports, by the same platform at the same path, are omitted.
    Those below a value of a wrong type join the refusal of that value.
    """
    found: dict[JsonPath, Change] = {}
    wrong_types = {each.path for reasons in new_refusals.values() for each in reasons if each.is_wrong_type}
    old_catalog, old_objects, new_objects = Catalog.of(old), _objects_by_path(old), _objects_by_path(new)
    for platform, refusals in new_refusals.items():
        reasons = old_refusals.get(platform, ())
        known = {(each.rule, *_place_key(_find_place(old_objects, each.path))) for each in reasons}
        reported = {c.new_path for c in changes if _is_refused_by(c, platform)}
        kind = REFUSED_IN_PART if platform in partly_applying else NOW_REFUSED
        for refusal in refusals:
            place = _find_place(new_objects, refusal.path)
            key = (refusal.rule, *_place_key(place))
            if key not in known and refusal.path not in reported:
                known.add(key)
                words = _prefix_field_name(place.field, refusal.message.rstrip("."))
                reason = f"{words} ({refusal.rule})"
                effects = tuple(replace(effect, reason=reason) for effect in kind.effects((platform,)))
                change = _make_change(kind, reason, effects, place, old_catalog, refusal.path)
                at = next((path for path in (refusal.path, refusal.path[:-1]) if path in found), refusal.path)
                at = at if at in wrong_types else refusal.path
                found[at] = _join(found.get(at), change)
    return list(found.values())


def _join(earlier: Change | None, change: Change) -> Change:
    """An `earlier` refusal at the same path with the effects on further platforms: one mistake is one change."""
    if earlier is None:
        return change
    known = {effect.platform for effect in earlier.effects}
    further = tuple(effect for effect in change.effects if effect.platform not in known)
    return replace(earlier, effects=(*earlier.effects, *further))


def fold_safe_changes(changes: Sequence[Change], refusals: Sequence[Change]) -> list[Change]:
    """Both; a safe change of a field that is refused only gives its values to the refusal."""
    safe = {change.new_path: change for change in changes if change.field and change.level is Level.SAFE}
    refused = {refusal.new_path: refusal for refusal in refusals}
    folded = {path for path in safe.keys() & refused.keys() if safe[path].field == refused[path].field}
    for path in folded:
        refused[path] = replace(refused[path], old=safe[path].old, new=safe[path].new)
    kept = [change for change in changes if change.new_path not in folded or change.level is not Level.SAFE]
    return [*kept, *refused.values()]


def find_clashes(
    old: Mapping[str, Any], new: Mapping[str, Any], updates: Mapping[Platform, Update], changes: Sequence[Change]
) -> list[Change]:
    """The objects of the catalog `new` that cannot be saved beside stored ones, unless one of `changes` says so.

    `updates` are those of the platforms that would accept the catalog at registration, simulated.
    """
    found: dict[tuple[str, JsonPath], Change] = {}
    old_catalog, objects = Catalog.of(old), _objects_by_path(new)
    for platform, update in updates.items():
        reported = {object_path(change.new_path) for change in changes if _is_refused_by(change, platform)}
        for clash in update.clashes:
            # An empty path is that of a removal, which is a change; a refused service offering includes its plans.
            if clash.path and not reported & {clash.path, clash.path[:2]}:
                kind = REFUSED_IN_PART if update.is_applied_in_part else NOW_REFUSED
                effect = Effect(platform, Level.REFUSED, clash.message)
                change = _clash_change(clash, effect, kind, _find_place(objects, clash.path), old_catalog)
                key = (change.message, change.new_path)
                found[key] = _join(found.get(key), change)
    return list(found.values())


def _clash_change(clash: Clash, effect: Effect, kind: Kind, place: _RefusalPlace, old: Catalog) -> Change:
    """The change for a clash at a `place`: of `kind`, unless it is one of names."""
    if clash.is_of_name:
        kind = PLAN_NAME_TAKEN if place.plan else SERVICE_NAME_TAKEN
        place = place._replace(field=("name",))
    else:
        kind = replace(kind, advice=_OTHER_ID)
    return _make_change(kind, _describe_clash(clash), (effect,), place, old, (*clash.path, *place.field))


def _describe_clash(clash: Clash) -> str:
    """Name what is taken, and by which object."""
    what = "its name" if clash.is_of_name else "an id of it"
    if clash.holder is None:
        return f"{what} is taken by another broker"
    holder = f"{format_value(clash.holder.name)} (id {format_value(clash.holder.plan or clash.holder.service)})"
    return f"{what} is that of {holder}" + (", which the platform keeps" if clash.holder.state else "")


def _make_change(
    kind: Kind, sentence: str, effects: tuple[Effect, ...], place: _RefusalPlace, old: Catalog, new_path: JsonPath
) -> Change:
    """The change at a place of the new catalog; `old` is the old catalog."""
    return Change(
        rule=kind.id,
        sentence=sentence,
        effects=effects,
        service=place.service,
        plan=place.plan,
        field=pointer(place.field)[1:],
        old_path=_find_old_path(place, old),
        new_path=new_path,
        advice=kind.advice,
    )


def _is_refused_by(change: Change, platform: Platform) -> bool:
    return any(effect.platform is platform and effect.level is Level.REFUSED for effect in change.effects)


def _prefix_field_name(field: JsonPath, message: str) -> str:
    """`message`, after the field unless it names it: a report shows no path."""
    named = str(field[-1]).replace("_", " ").casefold() if field else ""
    is_named = named in message.replace("_", " ").casefold()
    return message if is_named else f"{'.'.join(map(str, field))}: {message}"


def _objects_by_path(data: Mapping[str, Any]) -> dict[JsonPath, Identified]:
    catalog = Catalog.of(data)
    objects: list[Identified] = [*catalog.services, *catalog.plans]
    return {item.path: item for item in objects}


def _find_place(objects: Mapping[JsonPath, Identified], path: JsonPath) -> _RefusalPlace:
    """Split a path into the service offering, the plan and the field that it leads to."""
    service, plan = objects.get(path[:2]), objects.get(path[:4]) if path[2:3] == ("plans",) else None
    service_ref, plan_ref = (ObjectRef(item.id, item.name) if item else None for item in (service, plan))
    return _RefusalPlace(service_ref, plan_ref, path[4:] if plan else path[2:] if service else path)


def _place_key(place: _RefusalPlace) -> tuple[str, str, JsonPath]:
    """Equal for the same field of the same object, wherever each catalog lists it."""
    if place.plan and place.plan.id:  # which is unique in a catalog
        return "", place.plan.id, place.field
    return place.service.id if place.service else "", "", place.field


def _find_old_path(place: _RefusalPlace, old: Catalog) -> JsonPath:
    """The path of the same place in the old catalog, or of the list that lacks its object."""
    if place.service is None:
        return place.field[:1]
    service = next((item for item in old.services if item.id == place.service.id), None)
    if service is None or place.plan is None:
        return (*service.path, *place.field) if service else ("services",)
    plan = next((item for item in service.plans if item.id == place.plan.id), None)
    return (*plan.path, *place.field) if plan else (*service.path, "plans")
