"""The draft-04 metaschema, as the Cloud Controller's JSON Schema library applies and words it.

One walk over a schema yields the library's messages in its order: the metaschema's keywords in the order
of its file, and of an `anyOf` or `allOf` that it could not be met, but not why. Of formats it checks `uri`.
Source: the gem json-schema 6.2.0, resources/draft-04.json and lib/json-schema/attributes/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.ruby import same
from osbctl.platforms.cloudfoundry.uris import InvalidURI, parse

Fault: TypeAlias = tuple[Path, str]
"""A place in the schema, and what the library says of it."""
Check: TypeAlias = Callable[[Any, Path], Iterator[Fault]]

_SIMPLE_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def faults(schema: Any) -> Iterator[Fault]:
    """All that the library says of `schema`, as "The property '#/…' … in schema …#"."""
    return _schema(schema, ())


def _fault(path: Path, text: str) -> Fault:
    place = "/".join(map(str, path))
    return path, f"The property '#/{place}' {text} in schema http://json-schema.org/draft-04/schema#"


_TYPES = {
    bool: "boolean", str: "string", int: "integer", float: "number", list: "array", dict: "object", type(None): "null",
}  # fmt: skip


def _type_of(value: Any) -> str:
    return _TYPES[type(value)]


def _of_type(wanted: str) -> Check:
    accepted = {wanted, "integer"} if wanted == "number" else {wanted}

    def check(value: Any, path: Path) -> Iterator[Fault]:
        found = _type_of(value)
        if found not in accepted:
            yield _fault(path, f"of type {found} did not match the following type: {wanted}")

    return check


_array, _boolean, _integer, _number, _object, _string = map(
    _of_type, ("array", "boolean", "integer", "number", "object", "string")
)


def _one_of(text: str, needed: Callable[[list[bool]], bool], *checks: Check) -> Check:
    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not needed([next(each(value, path), None) is None for each in checks]):
            yield _fault(path, f"of type {_type_of(value)} did not match {text} of the required schemas")

    return check


def _any_of(*checks: Check) -> Check:
    return _one_of("one or more", any, *checks)


def _in_turn(*checks: Check) -> Check:
    def check(value: Any, path: Path) -> Iterator[Fault]:
        for each in checks:
            yield from each(value, path)

    return check


def _uri(value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, str):
        try:
            parse(value)
        except InvalidURI:
            yield _fault(path, "must be a valid URI")


def _at_least_0(value: Any, path: Path) -> Iterator[Fault]:
    if _type_of(value) in ("integer", "number") and value < 0:
        yield _fault(path, "did not have a minimum value of 0, inclusively")


def _above_0(value: Any, path: Path) -> Iterator[Fault]:
    if _type_of(value) in ("integer", "number") and value <= 0:
        yield _fault(path, "did not have a minimum value of 0, exclusively")


def _not_empty(value: Any, path: Path) -> Iterator[Fault]:
    if value == []:
        yield _fault(path, "did not contain a minimum number of items 1")


def _unique(value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, list) and len({same(item, strict=True) for item in value}) < len(value):
        yield _fault(path, "contained duplicated array values")


def _simple_type(value: Any, path: Path) -> Iterator[Fault]:
    if not isinstance(value, str) or value not in _SIMPLE_TYPES:
        yield _fault(path, "is no type")  # only ever seen through `anyOf`, which does not pass it on


def _each(check: Check) -> Check:
    def of_items(value: Any, path: Path) -> Iterator[Fault]:
        if isinstance(value, list):
            for place, item in enumerate(value):
                yield from check(item, (*path, place))

    return of_items


def _each_member(check: Check) -> Check:
    def of_members(value: Any, path: Path) -> Iterator[Fault]:
        if isinstance(value, dict):
            for key, item in value.items():
                yield from check(item, (*path, key))

    return of_members


def _schema(value: Any, path: Path) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield from _object(value, path)
        return
    for keyword, check in _KEYWORDS.items():
        if keyword in value:
            yield from check(value[keyword], (*path, keyword))
    for keyword, needed in (("exclusiveMaximum", "maximum"), ("exclusiveMinimum", "minimum")):
        if keyword in value and needed not in value:
            text = f"has a property '{keyword}' that depends on a missing property '{needed}'"
            yield _fault(path, text)


_a_uri = _in_turn(_string, _uri)
_count = _in_turn(_integer, _at_least_0)
_count_from_0 = _one_of("all", all, _count)
_schemas = _in_turn(_array, _not_empty, _each(_schema))
_strings = _in_turn(_array, _each(_string), _not_empty, _unique)
_flag_or_schema = _any_of(_boolean, _schema)
_by_name = _in_turn(_object, _each_member(_schema))
_types = _in_turn(_array, _each(_simple_type), _not_empty, _unique)

_KEYWORDS: dict[str, Check] = {
    "id": _a_uri,
    "$schema": _a_uri,
    "title": _string,
    "description": _string,
    "multipleOf": _in_turn(_number, _above_0),
    "maximum": _number,
    "exclusiveMaximum": _boolean,
    "minimum": _number,
    "exclusiveMinimum": _boolean,
    "maxLength": _count,
    "minLength": _count_from_0,
    "pattern": _string,
    "additionalItems": _flag_or_schema,
    "items": _any_of(_schema, _schemas),
    "maxItems": _count,
    "minItems": _count_from_0,
    "uniqueItems": _boolean,
    "maxProperties": _count,
    "minProperties": _count_from_0,
    "required": _strings,
    "additionalProperties": _flag_or_schema,
    "definitions": _by_name,
    "properties": _by_name,
    "patternProperties": _by_name,
    "dependencies": _in_turn(_object, _each_member(_any_of(_schema, _strings))),
    "enum": _in_turn(_array, _not_empty, _unique),
    "type": _any_of(_simple_type, _types),
    "allOf": _schemas,
    "anyOf": _schemas,
    "oneOf": _schemas,
    "not": _schema,
}
