"""JSON decoding of Go, shared by Kubernetes Service Catalog, Service Manager and Korifi.

One value of a wrong type makes the whole answer unreadable to them, and unknown fields are ignored. Field names
match in any case; the last of several spellings counts, and null keeps the value. If two objects or lists would be
merged, the verdict is unclear.
Source: Go's encoding/json, decode.go (`object`, `array`, `literalStore`) and fold.go; measured.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from osbctl.catalog import Catalog
from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.verdict import MAX_REFUSALS, Outcome, Refusal, VerdictKind, limit_refusals

GoType = Any
"""A type: `string`, `bool`, `int`, `time`, `map`; `raw` for any value; `unclear`, of which only null is predicted; a
list with the type of its items; `Pointers`; `Map`; or the fields of a struct with their types."""


class Pointers(NamedTuple):
    """A list of pointers to structs: null stays null in it, but becomes an empty struct in a list of structs."""

    shape: Mapping[str, GoType]


class Map(NamedTuple):
    """A map whose values have one type; `map` is one of any values."""

    shape: GoType


_INT_64 = range(-(2**63), 2**63)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_PLAIN: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a string", lambda value: type(value) is str),
    "time": ("a time as RFC 3339 has it", lambda value: type(value) is str and _TIME.fullmatch(value) is not None),
    "bool": ("a boolean", lambda value: type(value) is bool),
    "int": ("an integer of 64 bits", lambda value: type(value) is int and value in _INT_64),
    "map": ("an object", lambda value: type(value) is dict),
}
"""Types by name, in words and as a check."""


def struct_fields(**names_by_type: str) -> dict[str, GoType]:
    """The type of each field of a struct. An argument is a type, its value the names, separated by blanks."""
    return {name: shape for shape, names in names_by_type.items() for name in names.split()}


class Struct:
    """Go struct decoded from the object at `path`; missing fields are None."""

    __slots__ = ("path", "spellings", "values")

    def __init__(self, path: JsonPath) -> None:
        self.path = path
        self.values: dict[str, Any] = {}
        self.spellings: dict[str, str] = {}

    def __getitem__(self, field: str) -> Any:
        return self.values.get(field)

    def field_path(self, field: str) -> JsonPath:
        """Path of the field in its effective spelling, or in the default one."""
        return (*self.path, self.spellings.get(field, field))


def decode(data: dict[str, Any], shape: Mapping[str, GoType], platform: str, label: str) -> tuple[Struct, Outcome]:
    """The struct that Go makes of `data`, and the outcome if nothing else is wrong. `label` is for messages."""
    decoder = _Decoder()
    struct = decoder.decode_struct(data, shape, ())
    rule, wrong = f"{platform}-type", f"{label} cannot read the catalog: this must be"
    misfits = (Refusal(rule, path, f"{wrong} {expected}", is_wrong_type=True) for path, expected in decoder.misfits)
    if refusals := limit_refusals(misfits):
        return struct, Outcome(VerdictKind.REFUSES, refusals)
    unclear = (Refusal(rule, path, f"osbctl cannot predict what {label} reads here") for path in decoder.unclear)
    doubts = limit_refusals(unclear)
    return struct, Outcome(VerdictKind.UNCLEAR if doubts else VerdictKind.ACCEPTS, doubts=doubts)


def fold_case(key: str) -> str:
    """The name of the field that Go reads `key` into."""
    return key.replace("ſ", "s").lower()  # U+212A, the Kelvin sign, becomes k


def normalize_field_names(platform: Platform, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The catalog `data` with the field names that the platform reads.

    Go matches them in any case, and the last of several spellings counts; other programs take them as they are.
    """
    if not platform.record.go_source:
        return data
    normalized: Mapping[str, Any] = _normalize_value(data, platform.load_module("verdict").CATALOG_TYPE)
    return data if normalized == data else normalized


def catalog_as_read(platform: Platform, data: Mapping[str, Any] | Catalog) -> Catalog:
    """The catalog as the platform reads it: with the field names of `normalize_field_names`."""
    return Catalog.of(normalize_field_names(platform, data.data if isinstance(data, Catalog) else data))


def _normalize_value(data: Any, shape: GoType) -> Any:
    if isinstance(shape, list | Pointers) and isinstance(data, list):
        inner, items = _item_type_and_values(data, shape)
        return [_normalize_value(item, inner) for item in items]
    return _normalize_struct_fields(data, shape) if isinstance(shape, dict) and isinstance(data, dict) else data


def _normalize_struct_fields(data: dict[str, Any], shape: dict[str, GoType]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        field = key if key in shape or fold_case(key) not in shape else fold_case(key)
        if value is not None or field not in found:
            found[field] = _normalize_value(value, shape.get(field))
    return found


def _may_be_nil(shape: GoType) -> bool:
    """Return whether null sets a field of this type; other fields keep their value."""
    return isinstance(shape, list | Pointers | Map) or shape in ("map", "raw")


def _item_type_and_values(data: list[Any], shape: list[GoType] | Pointers) -> tuple[GoType, list[Any]]:
    """The type of the items of a list, and the items; a null in a list of structs is an empty struct."""
    if isinstance(shape, Pointers):
        return shape.shape, data
    empty: Any = {} if isinstance(shape[0], dict) else None
    return shape[0], [empty if item is None else item for item in data]


class _Decoder:
    """Decodes values; `misfits` are the paths of values of a wrong type, with the expected type."""

    def __init__(self) -> None:
        self.misfits: list[tuple[JsonPath, str]] = []
        self.unclear: list[JsonPath] = []

    def decode_value(self, value: Any, shape: GoType, path: JsonPath) -> Any:
        """Decode `value` into a field of type `shape`. Null stays null; `decode_struct` decides whether it counts."""
        if shape == "raw" or value is None:
            return value
        if shape == "unclear":
            self.unclear.append(path)
            return value
        if isinstance(shape, str):
            expected, fits = _PLAIN[shape]
            return value if fits(value) else self._add_misfit(expected, path)
        if isinstance(shape, list | Pointers):
            return self._decode_list(value, shape, path)
        if not isinstance(value, dict):
            return self._add_misfit("an object", path)
        if isinstance(shape, Map):
            return {key: self.decode_value(item, shape.shape, (*path, key)) for key, item in value.items()}
        return self.decode_struct(value, shape, path)

    def decode_struct(self, value: dict[str, Any], shape: Mapping[str, GoType], path: JsonPath) -> Struct:
        """The struct with the fields of `value` read into it."""
        struct = Struct(path)
        for key, item in value.items():
            field = key if key in shape else fold_case(key)
            if field not in shape:
                continue
            if field != key or field in struct.spellings:
                struct.spellings[field] = key
            if isinstance(item, dict | list) and isinstance(struct[field], dict | list | Struct):
                self.unclear.append((*path, key))
            if item is not None or _may_be_nil(shape[field]):
                struct.values[field] = self.decode_value(item, shape[field], (*path, key))
        return struct

    def _decode_list(self, value: Any, shape: list[GoType] | Pointers, path: JsonPath) -> Any:
        if not isinstance(value, list):
            return self._add_misfit("an array", path)
        inner, items = _item_type_and_values(value, shape)
        return [self.decode_value(item, inner, (*path, at)) for at, item in enumerate(items)]

    def _add_misfit(self, expected: str, path: JsonPath) -> None:
        # One more than are reported, for `limit_refusals` to say so.
        if len(self.misfits) <= MAX_REFUSALS:
            self.misfits.append((path, expected))
