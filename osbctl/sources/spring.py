"""A catalog in a Spring configuration, as Spring's broker sends it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from osbctl.fields import PARTS, known
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.paths import Path, get_at
from osbctl.sources.document import Document

_PROPERTY = "spring.cloud.openservicebroker.catalog"
_SERVICES = f"{_PROPERTY}.services"
_CONDITIONS = ("spring.config.activate.on-profile", "spring.profiles")
_IN_BRACKETS = re.compile(r"(.*)\[([^\]]*)\]")
_INNERMOST = re.compile(r"\(([^()]*)\)")


def is_spring(at: str) -> bool:
    """Return whether the pointer leads into Spring's property of the catalog, written as a tree or with dots."""
    return f"/{_PROPERTY.replace('.', '/')}/" in (at + "/").replace(".", "/")


def spelling(name: str) -> str:
    """The name of a field as configurations of Spring's brokers write it: `planUpdateable`."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


# Documents of a stream that hold in some profiles only.


def in_profiles(documents: Sequence[Document], profiles: Sequence[str]) -> int | None:
    """The number of the document whose catalog counts under `profiles`; None where none is for a profile.

    Each list of a later document takes the place of an earlier one (Spring Boot reference, Multi-Document Files), and
    a catalog is a list.

    Raises DocumentError: all catalogs are of other profiles.
    """
    holding = [number for number, document in enumerate(documents) if _at(document.data, _SERVICES)]
    conditions = [_condition(document.data) for document in documents]
    if not holding or not any((*profiles, *conditions)):
        return None
    active = [number for number in holding if _holds(conditions[number], profiles or ["default"])]
    if not active:
        raise DocumentError((_of_other_profiles(documents[holding[0]], [conditions[number] for number in holding]),))
    return active[-1]


def _of_other_profiles(document: Document, conditions: list[str]) -> Finding:
    message = f"the catalog is one of other profiles: {', '.join(dict.fromkeys(conditions))}"
    path = _at(document.data, _SERVICES)
    place = document.locate([path])[path]
    return Finding("catalog-elsewhere", Severity.ERROR, message, (), place, hint="name one: --profile")


def _at(data: Any, name: str) -> Path:
    """Path of the property of this name, as a tree or with dots; empty without one."""
    for key in data if isinstance(data, dict) else ():
        if key == name:
            return (key,)
        if name.startswith(f"{key}.") and (below := _at(data[key], name[len(key) + 1 :])):
            return (key, *below)
    return ()


def _condition(data: Any) -> str:
    """The profiles that a document is for; empty: for all."""
    value = next((get_at(data, path) for name in _CONDITIONS if (path := _at(data, name))), "")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value if isinstance(value, str) else "")


def _holds(condition: str, profiles: Sequence[str]) -> bool:
    """Return whether an expression of profiles (`!a & (b | c)`) holds; one of several behind commas does."""
    while "(" in condition and _INNERMOST.search(condition):
        condition = _INNERMOST.sub(lambda match: "*" if _holds(match[1], profiles) else "!*", condition)
    known = {*profiles, "*", ""}
    return any(
        all((name.strip(" !") in known) != (name.strip().startswith("!")) for name in one.split("&"))
        for one in re.split(r"[,|]", condition.replace("!!", ""))
    )


# Names and values.


def bound(document: Document) -> Document:
    """`document` with the fields of a catalog under the names that Spring's broker sends them by.

    Spring binds `planUpdateable`, `plan-updateable` and `PLANUPDATEABLE` to one property, sent as `plan_updateable`
    (Spring Boot reference, Relaxed Binding); `parameters[$schema]` is the key `$schema` of `parameters`, and what is
    in `properties` of metadata is sent as metadata. Keys of parameter schemas and of other maps are taken as they are.
    A service offering is not bindable unless it says so. A name that stands there already is kept. Places are those of
    the text, under the names that stand in it.
    """
    written: dict[Path, Path] = {}
    data = _bound(document.data, "catalog", (), (), written)

    def as_written(path: Path) -> Path:
        known = next((end for end in range(len(path), 0, -1) if path[:end] in written), 0)
        return (*written.get(path[:known], ()), *path[known:])

    # Without `text`: the names in it are others than those in `data`.
    return document.reshaped(data, as_written)._replace(text="") if written or data != document.data else document


def _bound(value: Any, kind: str, path: Path, here: Path, written: dict[Path, Path]) -> Any:
    """Value to send for `value`, found at `here` and sent at `path`."""
    if isinstance(value, list):
        items = enumerate(value)
        return [_bound(item, kind, (*path, index), (*here, index), written) for index, item in items]
    return _bound_object(value, kind, path, here, written) if isinstance(value, dict) else value


def _bound_object(
    value: dict[str, Any], kind: str, path: Path, here: Path, written: dict[Path, Path]
) -> dict[str, Any]:
    found: dict[str, Any] = {"bindable": False} if kind == "service" else {}
    for key, place, item in _entries(value, kind, path, here, written):
        bound_to = _names(kind).get(_uniform(key)) or key
        name = key if bound_to in value else bound_to
        if place != (*here, name):
            written[*path, name] = place
        inner = PARTS.get(kind, {}).get(name)
        sent = _bound(item, inner, (*path, name), place, written) if inner else item
        found[name] = _merged(found.get(name), sent)
    return found


def _merged(old: Any, new: Any) -> Any:
    return {**old, **new} if isinstance(old, dict) and isinstance(new, dict) else new


def _entries(
    value: dict[str, Any], kind: str, path: Path, here: Path, written: dict[Path, Path]
) -> list[tuple[str, Path, Any]]:
    """The entries of an object, each with the path at which it stands."""
    found = []
    for key, item in value.items():
        parts = _IN_BRACKETS.fullmatch(key)
        if kind.endswith("metadata") and key == "properties" and isinstance(item, dict):
            found += [(inner, (*here, key, inner), below) for inner, below in item.items()]
        elif parts and kind == "input_parameters":
            found.append((parts[1], (*here, parts[1]), {parts[2]: item}))
            written[*path, *parts.groups()] = (*here, key)
        else:
            found.append((key, (*here, key), item))
    return found


@cache
def _names(kind: str) -> dict[str, str]:
    return {_uniform(name): name for name in known(kind)}


def _uniform(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()
