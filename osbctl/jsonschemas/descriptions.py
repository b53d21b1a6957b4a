"""What two schemas say of the parts of a request, wherever they say it: properties no longer described, and defaults.

Both are read by their place in a request: a reference, an `allOf` or another order of branches changes neither.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import chain

from osbctl.jsonschemas.candidates import Secrets, add_steps, format_change, format_path, redact_and_cut
from osbctl.jsonschemas.schema_change import SchemaChange
from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema
from osbctl.messages import SECRET
from osbctl.paths import IN_PLACE, JsonPath

_MAX_PAIRS = 5_000
"""Pairs of places whose parts are looked at."""

_SAME_VALUE = frozenset(("$ref", *IN_PLACE)) - {"not"}
_UNNAMED, _LISTED = ("additionalProperties", "patternProperties"), ("items", "prefixItems")
"""Keywords that speak of parts of a value; each may describe what another one did, since patterns are not run."""


@dataclass(frozen=True, slots=True)
class Described:
    """A value in a request, with all schemas on each side that speak of it, whether they must hold or not.

    `is_extract`: with some of them only, which demand the same on both sides.
    """

    path: tuple[str, ...]
    before: tuple[Subschema, ...]
    after: tuple[Subschema, ...]
    is_extract: bool = False


def description_changes(
    old: SchemaTree, new: SchemaTree, reported: Collection[tuple[str, ...]], secrets: Secrets
) -> Iterable[SchemaChange]:
    """Properties that are no longer described, though requests may still contain them, and changed defaults.

    The broker may ignore such a property. Reports the outermost only, once for each place of the schema, and none of
    `reported`, which are paths in a request. A default may stand in several branches: that is a change if the values
    are not the same ones, or if a branch that demands the same has others.
    """
    found: dict[tuple[str, JsonPath], SchemaChange] = {}
    for place in _walk(old.top, new.top) if isinstance(old.value, dict) else ():
        for change in (*_dropped_properties(place, reported), *default_changes(place, secrets)):
            found.setdefault((change.rule, change.field), change)
    return found.values()


def _walk(old: Subschema, new: Subschema) -> Iterator[Described]:
    """The values of a request of which both sides may speak. A definition that leads to itself is entered once."""
    todo = [Described((), _flatten([old]), _flatten([new]))]
    seen: set[object] = set()
    numbers: dict[object, int] = {}
    for place in todo:  # which grows
        yield place
        sides = frozenset(place.before), frozenset(place.after)
        if len(seen) < _MAX_PAIRS and seen.isdisjoint([(*sides, False), (*sides, place.is_extract)]):
            seen.add((*sides, place.is_extract))
            todo += [*_inner_places(place), *_extracts(place, numbers)]


def _flatten(schemas: Iterable[Subschema]) -> tuple[Subschema, ...]:
    """The schemas and all within them that judge the same value: what they speak of, not what they demand.

    One whose `$ref` hides the rest of it is there for its default, which many forms show all the same.
    """
    found: dict[Subschema, None] = {}
    todo = [*schemas]
    for schema in todo:  # which grows
        if schema not in found:
            found[schema] = None
            read = {"$ref"} if schema.hides_keywords else _SAME_VALUE
            todo += [inner for steps, inner in schema.applied.items() if steps[0] in read]
    return tuple(found)


def _parts(schema: Subschema) -> dict[JsonPath, Subschema]:
    """What a schema says of the parts of a value, by keyword and name; of a list by index as in draft 2020-12."""
    found: dict[JsonPath, Subschema] = {}
    for (word, *at), inner in () if schema.hides_keywords else schema.applied.items():
        if word in ("items", "additionalItems"):
            word = "prefixItems" if at else "items"
        if word in ("properties", *_UNNAMED, *_LISTED):
            found[(word, *at)] = inner
    return found


def _inner_places(place: Described) -> Iterator[Described]:
    """The parts of the value of which the old side speaks, without properties that the new one forbids or drops."""
    before, after = ([*map(_parts, schemas)] for schemas in (place.before, place.after))
    for step in dict.fromkeys(chain(*before)):
        old, new = _all_parts_at(before, step), _all_parts_at(after, step)
        is_kept = step[0] != "properties" or any(step in parts for parts in after)
        is_forbidden = bool(new) and all(part.value is False for part in new)
        if is_kept and not is_forbidden:
            yield Described((*place.path, _format_step(step)), _flatten(old), _flatten(new), place.is_extract)


def _all_parts_at(schemas: list[dict[JsonPath, Subschema]], step: JsonPath) -> list[Subschema]:
    return [part for parts in schemas for part in _parts_at(parts, step)]


def _parts_at(parts: dict[JsonPath, Subschema], step: JsonPath) -> list[Subschema]:
    part = parts.get(step)
    if step[0] == "properties":
        part = part or parts.get(("additionalProperties",))
        return [part] if part else []
    if part and part.value is not False:
        return [part]
    others = _UNNAMED if step[0] in _UNNAMED else _LISTED
    return [other for (word, *_), other in parts.items() if word in others]


def _format_step(step: JsonPath) -> str:
    if step[0] in ("items", "prefixItems"):
        return f"[{step[-1] if len(step) > 1 else 0}]"
    return str(step[1]) if step[0] == "properties" else "*"


def _extracts(place: Described, numbers: dict[object, int]) -> Iterator[Described]:
    """The schemas of both sides that demand the same under one keyword or name: a branch may stand at any index."""
    sides: list[dict[object, list[Subschema]]] = [{}, {}]
    for side, schemas in zip(sides, (place.before, place.after), strict=True):
        for schema in schemas if min(len(place.before), len(place.after)) > 1 else ():
            role = [step for step in schema.path[-1:] if isinstance(step, str)]
            side.setdefault((*role, _number_demands(schema.target, numbers)), []).append(schema)
    for key, alike in sides[0].items():
        if key in sides[1]:
            yield Described(place.path, _flatten(alike), _flatten(sides[1][key]), is_extract=True)


def _number_demands(schema: Subschema, numbers: dict[object, int]) -> int:
    """A number that is the same for schemas that demand the same, with references to the same places."""
    if schema not in numbers:
        inner = [
            (steps, part.path if steps == ("$ref",) else _number_demands(part, numbers))
            for steps, part in schema.applied.items()
        ]
        says = schema.literals if isinstance(schema.value, dict) else schema.value
        key = json.dumps(says, sort_keys=True), frozenset(inner)
        numbers[schema] = numbers.setdefault(key, len(numbers))
    return numbers[schema]


def _dropped_properties(place: Described, reported: Collection[tuple[str, ...]]) -> Iterator[SchemaChange]:
    described = {step for schema in place.after for step in _parts(schema)}
    parts = {step: part for schema in reversed(place.before) for step, part in _parts(schema).items()}
    for step, part in parts.items():
        path = (*place.path, _format_step(step))
        if step[0] == "properties" and step not in described and path not in reported:
            why = "is no longer described; requests may still hold it, but the broker may ignore it"
            new_path = place.after[0].path if place.after else ()
            message = f"{format_path(path)} {why}"
            yield SchemaChange("risky", "schema-property-dropped", part.path, new_path, message, part.path)


def default_changes(place: Described, secrets: Secrets) -> Iterator[SchemaChange]:
    """The change of the default of a value, if there is one."""
    before, after = _defaults(place.before), _defaults(place.after)
    removed, added = before.keys() - after.keys(), after.keys() - before.keys()
    if not (removed or added) or (place.is_extract and not (before and after)):
        return
    old, new = _differing_first(before, removed), _differing_first(after, added)
    is_secret = secrets.may_be_secret(*old, *new, steps=place.path)
    texts = [_format_defaults(side, secrets, is_secret=is_secret) for side in (old, new)]
    message = f"the default of {format_path(place.path)} changed{format_change(*texts)}"
    old_path, new_path = _default_path(old, place.before), _default_path(new, place.after)
    field = add_steps(old_path if removed else new_path, place.path)
    yield SchemaChange("risky", "schema-default-changed", old_path, new_path, message, field)


def _differing_first(defaults: dict[str, Subschema], differing: Set[str]) -> list[Subschema]:
    return [defaults[text] for text in sorted(defaults, key=lambda text: text not in differing)]


def _default_path(defaults: list[Subschema], schemas: tuple[Subschema, ...]) -> JsonPath:
    """The path of the first default; without one, of the first schema that speaks of the value."""
    if defaults:
        return (*defaults[0].path, "default")
    return schemas[0].path if schemas else ()


def _defaults(schemas: Iterable[Subschema]) -> dict[str, Subschema]:
    """The schemas with a default, the first of each value, by a text that is the same for 1 and 1.0."""
    found: dict[str, Subschema] = {}
    for schema in schemas:
        if isinstance(schema.value, dict) and "default" in schema.value:
            value = json.loads(json.dumps(schema.value["default"]), parse_float=_parse_float)
            found.setdefault(json.dumps(value, sort_keys=True), schema)
    return found


def _parse_float(text: str) -> float:
    return int(number) if (number := float(text)).is_integer() else number


def _format_defaults(schemas: list[Subschema], secrets: Secrets, *, is_secret: bool) -> str:
    texts = [SECRET if is_secret else secrets.format_value(schema.value["default"]) for schema in schemas]
    return redact_and_cut(" or ".join(dict.fromkeys(texts))) or "none"
