"""How Go reads JSON into its structs: the platforms that are written in Go share it.

One value of a wrong type makes the whole answer unreadable to them; null leaves a field at its zero value,
unknown fields are passed over, and names of fields are matched whatever their case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.platforms.outcome import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import Path

    Shape = Any
    """`string`, `bool`, `int`, `map`, `any`; a list of one shape; or a struct's fields with theirs."""

_KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "bool": (bool,), "int": (int,), "map": (dict,)}
_SAID = {"string": "a string", "bool": "a boolean", "int": "an integer", "map": "an object"}


def misfits(value: Any, shape: Shape, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The places where `value` does not fit `shape`, each with what is wanted there."""
    if value is None or shape == "any":
        return
    if isinstance(shape, str):
        if type(value) not in _KINDS[shape]:
            yield path, _SAID[shape]
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield path, "an array"
            return
        for index, item in enumerate(value):
            yield from misfits(item, shape[0], (*path, index))
    elif not isinstance(value, dict):
        yield path, "an object"
    else:
        for key, item in value.items():
            inner = shape.get(key) or shape.get(key.lower())
            # Most fields are plain and right; a step down for each would be most of the work.
            if inner is not None and not (isinstance(inner, str) and type(item) in _KINDS.get(inner, ())):
                yield from misfits(item, inner, (*path, key))


def undecodable(data: dict[str, Any], shape: Shape, platform: str, name: str) -> Iterator[Refusal]:
    """A refusal for each value that the platform cannot decode."""
    for path, wanted in misfits(data, shape):
        yield Refusal(f"{platform}-type", path, f"{name} cannot read the catalog: this must be {wanted}")


def field(thing: dict[str, Any], key: str) -> Any:
    """The value of the field `key`, whatever the case that it is written in; the last one counts."""
    if key in thing:
        return thing[key]
    return next((value for name, value in reversed(thing.items()) if name.lower() == key), None)


def objects(thing: dict[str, Any], key: str, path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The objects in the array at `key`, a null one as an empty object, each with its path."""
    for index, item in enumerate(field(thing, key) or ()):
        yield item or {}, (*path, key, index)
