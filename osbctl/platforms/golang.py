"""JSON decoding of Go, shared by the platforms written in Go.

One value of a wrong type makes the whole answer unreadable to them, and unknown fields are passed over. The name
of a field is matched whatever its case; where one field stands there in several spellings, each is read into what
the one before it left: a scalar is replaced, null leaves it, maps and structs merge, lists merge item by item.
Source: Go's encoding/json, decode.go (`object`, `array`, `literalStore`) and fold.go; measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from osbctl.paths import Path
from osbctl.platforms.outcome import MAX_REFUSALS, Refusal

Shape = Any
"""`string`, `bool`, `int`, `time`, `map`, or `raw`, which takes anything as it is; a list of one shape; `Pointers`;
`Map`; or a struct's fields with theirs."""


class Pointers(NamedTuple):
    """A list of pointers to structs: a null in it stays null, where a list of structs has an empty one."""

    shape: Mapping[str, Shape]


class Map(NamedTuple):
    """A map whose values have one shape; `map` is that of anything."""

    shape: Shape


_PLAIN = {"string": str, "bool": bool}
_SAID = {
    "string": "a string",
    "time": "a time as RFC 3339 has it",
    "bool": "a boolean",
    "int": "an integer of 64 bits",
    "map": "an object",
}
_INT_64 = range(-(2**63), 2**63)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def fields(**names: str) -> dict[str, Shape]:
    """Fields of a struct by their shape: of each word the names, split by blanks."""
    return {name: shape for shape, several in names.items() for name in several.split()}


def wrong_type(platform: str, source: str) -> str:
    """The text of the rule that each of these platforms has for a value of a wrong type."""
    return f"""A value has a type that {platform} cannot decode.

    It is written in Go: one value of a wrong type, and the whole answer is unreadable to it. The names of fields
    match there whatever their case.
    Bad: bindable: "true"
    Good: bindable: true
    Source: {source}"""


class Struct:
    """Go struct decoded from the object at `path`; missing fields are None."""

    __slots__ = ("path", "places", "values")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.values: dict[str, Any] = {}
        self.places: dict[str, str] = {}

    def __getitem__(self, field: str) -> Any:
        return self.values.get(field)

    def at(self, field: str) -> Path:
        """Path of the field in its effective spelling, or in the default one."""
        return (*self.path, self.places.get(field, field))


def decode(data: dict[str, Any], shape: Mapping[str, Shape], platform: str, name: str) -> tuple[Struct, list[Refusal]]:
    """The struct that Go makes of `data`, and a refusal for each value that the platform cannot decode.

    Where there are too many refusals to be kept, the struct is empty.
    """
    decoder = _Decoder()
    try:
        struct = decoder.struct(data, shape, (), Struct(()))
    except _TooManyError:
        struct = Struct(())
    text = f"{name} cannot read the catalog: this must be"
    return struct, [Refusal(f"{platform}-type", path, f"{text} {wanted}") for path, wanted in decoder.misfits]


def folded(key: str) -> str:
    """The field that Go reads such a key into."""
    return key.replace("ſ", "s").lower()  # U+212A, the Kelvin sign, becomes k


def is_respelt(data: Any) -> bool:
    """Return whether a field of a catalog may be in another case; metadata and parameters are not Go's to spell."""
    if isinstance(data, list):
        return any(map(is_respelt, data))
    if not isinstance(data, dict):
        return False
    inside = (value for key, value in data.items() if key not in ("metadata", "parameters"))
    return any(key != folded(key) for key in data) or any(map(is_respelt, inside))


def respelt(data: Any, shape: Shape) -> Any:
    """`data` with the names of the fields of `shape` as Go takes them: in any case, and of several the last counts.

    A null in a list of structs is an empty struct.
    """
    if isinstance(shape, list | Pointers) and isinstance(data, list):
        empty: Any = None if isinstance(shape, Pointers) or not isinstance(_inner(shape), dict) else {}
        return [respelt(empty if item is None else item, _inner(shape)) for item in data]
    if not (isinstance(shape, dict) and isinstance(data, dict)):
        return data
    found: dict[str, Any] = {}
    for key, value in data.items():
        field = key if key in shape or folded(key) not in shape else folded(key)
        value = respelt(value, shape.get(field))
        found[field] = _merged(found[field], value, shape[field]) if field in found else value
    return found


def _merged(old: Any, new: Any, shape: Shape) -> Any:
    """Merge `new`, a later spelling of the field, into `old`."""
    if new is None:
        return None if shape in ("map", "raw") or isinstance(shape, list | Pointers | Map) else old
    if isinstance(shape, list | Pointers) and isinstance(old, list) and isinstance(new, list):
        before = [*old, *[None] * len(new)]
        return [_merged(before[at], item, _inner(shape)) for at, item in enumerate(new)]
    if shape != "raw" and isinstance(old, dict) and isinstance(new, dict):
        inner = shape if isinstance(shape, dict) else {}
        return {**old, **{key: _merged(old.get(key), value, inner.get(key)) for key, value in new.items()}}
    return new


def _inner(shape: list[Shape] | Pointers) -> Shape:
    return shape.shape if isinstance(shape, Pointers) else shape[0]


class _TooManyError(Exception):
    """More values do not fit than are kept."""


class _Decoder:
    """Decodes values one into another; `misfits` are the places where one does not fit, with what is wanted there."""

    def __init__(self) -> None:
        self.misfits: list[tuple[Path, str]] = []

    def value(self, value: Any, shape: Shape, path: Path, old: Any) -> Any:
        """Decode `value` into a field that holds `old`."""
        if shape == "raw":
            return value
        if isinstance(shape, str):
            return self._scalar(value, shape, path, old)
        if isinstance(shape, list | Pointers):
            return self._list(value, shape, path, old)
        if isinstance(shape, Map):
            return self._map(value, shape.shape, path, old)
        if isinstance(value, dict):
            return self.struct(value, shape, path, old or Struct(path))
        return self._refused(value, "an object", path, old)

    def struct(self, value: dict[str, Any], shape: Mapping[str, Shape], path: Path, into: Struct) -> Struct:
        """`into`, with the fields of `value` read into it."""
        into.path = path
        values = into.values
        for key, item in value.items():
            field = key if key in shape else folded(key)
            inner = shape.get(field)
            if inner is None:
                continue
            if field != key or field in into.places:
                into.places[field] = key
            # Most fields are plain and right; a call for each would be most of the work.
            if type(inner) is str and type(item) is _PLAIN.get(inner):
                values[field] = item
            else:
                values[field] = self.value(item, inner, (*path, key), values.get(field))
        return into

    def _scalar(self, value: Any, shape: str, path: Path, old: Any) -> Any:
        if value is None:
            return None if shape == "map" else old
        if not _fits(value, shape):
            return self._refused(value, _SAID[shape], path, old)
        return {**old, **value} if shape == "map" and old else value

    def _map(self, value: Any, shape: Shape, path: Path, old: Any) -> Any:
        merged = self._scalar(value, "map", path, old)
        for key in value if isinstance(value, dict) else ():
            merged = {**merged, key: self.value(value[key], shape, (*path, key), None)}
        return merged

    def _list(self, value: Any, shape: list[Shape] | Pointers, path: Path, old: list[Any] | None) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            return self._refused(value, "an array", path, old)
        inner = _inner(shape)
        before = [*(old or ()), *[None] * len(value)]
        if isinstance(inner, str):
            return [self.value(item, inner, (*path, at), before[at]) for at, item in enumerate(value)]
        return [
            None if item is None and isinstance(shape, Pointers) else self._item(item, inner, (*path, at), before[at])
            for at, item in enumerate(value)
        ]

    def _item(self, value: Any, shape: Shape, path: Path, old: Struct | None) -> Struct:
        return self.value(value, shape, path, old) or Struct(path)

    def _refused(self, value: Any, wanted: str, path: Path, old: Any) -> Any:
        if value is not None:
            self.misfits.append((path, wanted))
            if len(self.misfits) > MAX_REFUSALS:
                raise _TooManyError
        return old


def _fits(value: Any, shape: str) -> bool:
    if shape == "int":
        return type(value) is int and value in _INT_64
    if shape == "time":
        return isinstance(value, str) and _TIME.fullmatch(value) is not None
    return type(value) is _PLAIN.get(shape, dict)
