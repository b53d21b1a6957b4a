"""A catalog in a Spring configuration, with the names that Spring's broker sends."""

from __future__ import annotations

from functools import cache
from typing import Any

from osbctl.fields import PARTS, known
from osbctl.paths import Path
from osbctl.sources.document import Document

_PROPERTY = "/spring/cloud/openservicebroker/catalog/"


def is_spring(at: str) -> bool:
    """Return whether the pointer leads into Spring's property of the catalog, written as a tree or with dots."""
    return _PROPERTY in (at + "/").replace(".", "/")


def bound(document: Document) -> Document:
    """`document` with the fields of a catalog under the names that Spring's broker sends them by.

    Spring binds `planUpdateable`, `plan-updateable` and `PLANUPDATEABLE` to one property, sent as `plan_updateable`
    (Spring Boot reference, Relaxed Binding). Keys of parameter schemas and of other maps are taken as they are.
    A name that stands there already is kept. Places are those of the text, under the names that stand in it.
    """
    written: dict[Path, str] = {}
    data = _bound(document.data, "catalog", (), written)

    def as_written(path: Path) -> Path:
        return tuple(written.get(path[:at], path[at - 1]) for at in range(1, len(path) + 1))

    # Without `text`: the names in it are others than those in `data`.
    return document.reshaped(data, as_written)._replace(text="") if written else document


def _bound(value: Any, kind: str, path: Path, written: dict[Path, str]) -> Any:
    if isinstance(value, list):
        return [_bound(item, kind, (*path, index), written) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        bound_to = _names(kind).get(_uniform(key)) or key
        name = key if bound_to in value else bound_to
        if name != key:
            written[*path, name] = key
        inner = PARTS.get(kind, {}).get(name)
        found[name] = _bound(item, inner, (*path, name), written) if inner else item
    return found


@cache
def _names(kind: str) -> dict[str, str]:
    return {_uniform(name): name for name in known(kind)}


def _uniform(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()
