"""The fields of a service offering or plan that is in both catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.changes import Effect, Level
from osbctl.comparison.collect import Pair
from osbctl.comparison.parameters import compare_parameters
from osbctl.comparison.rules import fields as rules
from osbctl.comparison.values import same, shown, shown_both, table
from osbctl.platforms import Platform

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from osbctl.catalog import ServiceOffering, ServicePlan
    from osbctl.comparison.collect import Collector
    from osbctl.comparison.kinds import Kind
    from osbctl.findings import Path

_FLAGS = ("instances_retrievable", "bindings_retrievable", "allow_context_updates", "binding_rotatable")
_INHERITED = ("bindable", "plan_updateable")
_IDENTITY = {"id", "name", "plans"}
_TEXTS = {
    "displayName",
    "longDescription",
    "imageUrl",
    "providerDisplayName",
    "documentationUrl",
    "supportUrl",
    "bullets",
    "description",
}
_TOLD = {*_IDENTITY, *_INHERITED, *_FLAGS, "free", "metadata", "schemas", "description", "tags", "requires"} | {
    "dashboard_client",
    "maintenance_info",
    "maximum_polling_duration",
}


def compare_service(
    to: Collector, old: ServiceOffering, new: ServiceOffering, plans: list[tuple[ServicePlan, ServicePlan]]
) -> None:
    """The service offering's own fields; `plans` are those that are in both, for what they inherit."""
    pair = Pair(old, new)
    for name in _INHERITED:
        before, after = getattr(old, name), getattr(new, name)
        if before != after and plans and not any(_inherits(name, *both) for both in plans):
            to.add(rules.SERVICE_FLAG, pair, _changed(name, before, after), (name,), before, after)
        else:
            _flag(to, pair, (name,), before, after)
            _explicitness(to, pair, name, before == after)
    _common(to, pair, old.data, new.data)
    _tags(to, pair, old.tags, new.tags)
    _entries(to, pair, "requires", _texts(old, "requires"), _texts(new, "requires"))
    _dashboard(to, pair, old.data.get("dashboard_client"), new.data.get("dashboard_client"))


def compare_plan(to: Collector, pair: Pair, moved: bool = False) -> None:
    """The plan's own fields; `moved`: it stands under another service offering than before."""
    old, new = pair.old_plan, pair.new_plan
    assert old and new and pair.old_service and pair.new_service
    effective = all(getattr(old, name) == getattr(new, name) for name in _INHERITED)
    if effective and not moved and same(old.data, new.data):
        return  # most plans, most of the time
    for name in _INHERITED:
        before, after = getattr(old, name), getattr(new, name)
        services = getattr(pair.old_service, name), getattr(pair.new_service, name)
        silent = _inherits(name, old, new)
        if moved or not (silent and services == (before, after)):  # else the service offering's change tells it
            _flag(to, pair, (name,), before, after)
            _explicitness(to, pair, name, before == after)
    _free(to, pair, old.free, new.free)
    _common(to, pair, old.data, new.data)
    _maintenance(to, pair, old.data.get("maintenance_info"), new.data.get("maintenance_info"))
    _polling(to, pair, old.data.get("maximum_polling_duration"), new.data.get("maximum_polling_duration"))
    compare_parameters(to, pair, old.data.get("schemas"), new.data.get("schemas"))


def _common(to: Collector, pair: Pair, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    _misshapen(to, pair, old, new)
    for name in _FLAGS:
        _flag(to, pair, (name,), old.get(name) is True, new.get(name) is True)
    _field(to, rules.WORDING, pair, ("description",), old.get("description"), new.get("description"))
    _metadata(to, pair, table(old.get("metadata")), table(new.get("metadata")))
    for key in _keys(old, new):
        if key not in _TOLD:
            _field(to, rules.OTHER, pair, (key,), old.get(key), new.get(key))


_SHAPES: dict[str, type] = {
    "metadata": dict,
    "dashboard_client": dict,
    "maintenance_info": dict,
    "schemas": dict,
    "tags": list,
    "requires": list,
    "plans": list,
    "id": str,
    "name": str,
    **dict.fromkeys((*_INHERITED, *_FLAGS, "free"), bool),
}


def _misshapen(to: Collector, pair: Pair, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Known fields of a wrong type, which all else here passes over. No value: there is no telling what it is."""
    for key, shape in _SHAPES.items():
        values = [data[key] for data in (old, new) if data.get(key) is not None]
        if not all(isinstance(value, shape) for value in values) and not same(old.get(key), new.get(key)):
            to.add(rules.OTHER, pair, f"{key} changed, and is not of the type that it must have", (key,))


def _flag(to: Collector, pair: Pair, path: Path, old: bool, new: bool) -> None:
    if old == new:
        return
    name = "/".join(map(str, path))
    kind = rules.GRANTED if new else rules.WITHDRAWN[name]
    effects = None
    if pair.plan and name == "plan_updateable":
        # Service Catalog knows this field of service offerings alone.
        effects = tuple(
            Effect(e.platform, Level.SAFE, "does not store it for plans") if e.platform is Platform.KUBERNETES else e
            for e in kind.effects(to.view, None)
        )
    to.add(kind, pair, _changed(".".join(map(str, path)), old, new), path, old, new, effects=effects)


def _explicitness(to: Collector, pair: Pair, name: str, same_effect: bool) -> None:
    """A value written out on one side only, where it means the same."""
    thing_old, thing_new = (pair.old_plan, pair.new_plan) if pair.plan else (pair.old_service, pair.new_service)
    assert thing_old and thing_new
    before, after = name in _explicit(thing_old.data), name in _explicit(thing_new.data)
    if not same_effect or before == after:
        return
    value = getattr(thing_old, name)
    if after:
        to.add(rules.EXPLICIT_ADDED, pair, f"{name}: {shown(value)} is written out now", (name,), None, value)
        return
    effects = tuple(_default(effect, name, value, pair) for effect in rules.EXPLICIT_DROPPED.effects(to.view, None))
    message = f"{name}: {shown(value)} is no longer written out"
    to.add(rules.EXPLICIT_DROPPED, pair, message, (name,), value, None, effects=effects)


_OTHER_DEFAULTS = {
    "free": (Platform.KUBERNETES, Platform.KORIFI),
    "bindable": (Platform.KORIFI,),
    "plan_updateable": (Platform.KORIFI,),
}
"""The platforms that take an omitted field of a plan for false, whatever the specification says."""


def _default(effect: Effect, name: str, value: bool, pair: Pair) -> Effect:
    if pair.plan and value and effect.platform in _OTHER_DEFAULTS[name]:
        return Effect(effect.platform, Level.RISKY, "takes an omitted value for false")
    return effect


def _free(to: Collector, pair: Pair, old: bool, new: bool) -> None:
    if old != new:
        to.add(rules.FREE if new else rules.PAID, pair, _changed("free", old, new), ("free",), old, new)
    _explicitness(to, pair, "free", old == new)


def _metadata(to: Collector, pair: Pair, old: dict[str, Any], new: dict[str, Any]) -> None:
    for key in _keys(old, new):
        path: Path = ("metadata", key)
        if key == "shareable" and not pair.plan:
            _flag(to, pair, path, old.get(key) is True, new.get(key) is True)
        else:
            kind = rules.COSTS if key == "costs" else rules.WORDING if key in _TEXTS else rules.METADATA
            _field(to, kind, pair, path, old.get(key), new.get(key))


def _tags(to: Collector, pair: Pair, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    _entries(to, pair, "tags", _texts(pair.old_service, "tags"), _texts(pair.new_service, "tags"))
    if old != new and set(old) == set(new):
        to.add(rules.ORDER, pair, "the tags are in another order", ("tags",), list(old), list(new))


_ENTRIES = {
    "tags": ("tag", rules.TAG_REMOVED, rules.TAG_ADDED),
    "requires": ("requires", rules.REQUIRES_REMOVED, rules.REQUIRES_ADDED),
}


def _entries(to: Collector, pair: Pair, key: str, old: dict[str, int], new: dict[str, int]) -> None:
    """The entries of a list of texts that came or went; a change's field holds the text, its paths the index."""
    word, removed, added = _ENTRIES[key]
    for text, index in old.items():
        if text not in new:
            message = f"{word} {shown(text)} removed"
            to.add(removed, pair, message, (key, text), text, None, old_at=(key, index), new_at=(key,))
    for text, index in new.items():
        if text not in old:
            message = f"{word} {shown(text)} added"
            to.add(added, pair, message, (key, text), None, text, old_at=(key,), new_at=(key, index))


def _dashboard(to: Collector, pair: Pair, old: Any, new: Any) -> None:
    if same(old, new):
        return
    old, new = table(old), table(new)
    for key in _keys(old, new):
        if same(old.get(key), new.get(key)):
            continue
        path: Path = ("dashboard_client", key)
        # Only these two fields are known to hold no secret, and a URI only where it names no user.
        public = key in ("id", "redirect_uri") and "@" not in f"{old.get(key)}{new.get(key)}"
        message = _changed(key, old.get(key), new.get(key)) if public else f"{shown(key)} changed (secret)"
        values = (old.get(key), new.get(key)) if public else (_hidden(old, key), _hidden(new, key))
        to.add(rules.DASHBOARD, pair, f"dashboard client: {message}", path, *values)


def _maintenance(to: Collector, pair: Pair, old: Any, new: Any) -> None:
    old, new = table(old), table(new)
    for key in _keys(old, new):
        kind = rules.MAINTENANCE if key == "version" else rules.WORDING if key == "description" else rules.OTHER
        _field(to, kind, pair, ("maintenance_info", key), old.get(key), new.get(key))


def _polling(to: Collector, pair: Pair, old: Any, new: Any) -> None:
    before, after = (_seconds(value) for value in (old, new))
    if before == after:
        return
    kind = rules.POLLING_LOWERED if after < before else rules.POLLING_RAISED
    path: Path = ("maximum_polling_duration",)
    to.add(kind, pair, _changed("maximum_polling_duration", old, new), path, old, new)


def _seconds(value: Any) -> float:
    """The duration; none means the platform's own, which is a week or so: longer than any that is set."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")


def _field(to: Collector, kind: Kind, pair: Pair, path: Path, old: Any, new: Any) -> None:
    if not same(old, new):
        name = ".".join(map(str, path))
        to.add(kind, pair, _changed(name, old, new, path), path, old, new)


def _changed(name: str, old: Any, new: Any, path: Path = ()) -> str:
    name = shown(name)[1:-1]
    if old is None:
        return f"{name} added: {shown(new, path)}"
    if new is None:
        return f"{name} removed, was {shown(old, path)}"
    before, after = shown_both(old, new, path)
    return f"{name} changed from {before} to {after}"


def _hidden(value: dict[str, Any], key: str) -> str | None:
    return None if value.get(key) is None else "(secret)"


def _inherits(name: str, old: ServicePlan, new: ServicePlan) -> bool:
    """Whether the plan leaves this to its service offering, before and after."""
    return name not in _explicit(old.data) and name not in _explicit(new.data)


def _explicit(data: Mapping[str, Any]) -> set[str]:
    return {name for name in (*_INHERITED, "free") if isinstance(data.get(name), bool)}


def _texts(service: ServiceOffering | None, key: str) -> dict[str, int]:
    """The texts of a list, each with its first index."""
    values = service.data.get(key) if service else None
    texts: dict[str, int] = {}
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, str):
            texts.setdefault(value, index)
    return texts


def _keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    yield from old
    yield from (key for key in new if key not in old)
