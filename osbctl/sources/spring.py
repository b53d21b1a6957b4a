"""Read the catalog in a Spring configuration as Spring's broker sends it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from osbctl.fields import PARTS, known
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.paths import Path, get_at
from osbctl.sources.document import Document

if TYPE_CHECKING:
    from osbctl.sources.origins import Origin, PathOrigins

_PROPERTY = "spring.cloud.openservicebroker.catalog"
_SERVICES = f"{_PROPERTY}.services"
_CONDITIONS = ("spring.config.activate.on-profile", "spring.profiles")
_DEFAULTS = {"service": {"bindable": False}}
"""Fields that Spring's broker sends by default, by kind of object (autoconfigure, ServiceDefinition.java)."""

_IN_BRACKETS = re.compile(r"(.*)\[([^\]]*)\]")
_INNERMOST = re.compile(r"\(([^()]*)\)")


def is_spring(at: str) -> bool:
    """Return whether the JSON pointer is in Spring's property of the catalog, written as a tree or with dots."""
    return f"/{_PROPERTY.replace('.', '/')}/" in (at + "/").replace(".", "/")


def spring_name(name: str) -> str:
    """The name of a field in a Spring configuration: `planUpdateable`."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


# Profiles of the documents in a stream.


def active_document(documents: Sequence[Document], profiles: Sequence[str]) -> int | None:
    """Return the number of the document whose catalog is active under `profiles`; None if no document has a profile.

    A list in a later document replaces the earlier one (Spring Boot reference, Multi-Document Files).

    Raises DocumentError: all catalogs are of other profiles.
    """
    holding = [number for number, document in enumerate(documents) if _property_path(document.data, _SERVICES)]
    conditions = [_condition(document.data) for document in documents]
    if not holding or not any((*profiles, *conditions)):
        return None
    active = [number for number in holding if _holds(conditions[number], profiles or ["default"])]
    if not active:
        raise DocumentError((_of_other_profiles(documents[holding[0]], [conditions[number] for number in holding]),))
    return active[-1]


def _of_other_profiles(document: Document, conditions: list[str]) -> Finding:
    message = f"the catalog is one of other profiles: {', '.join(dict.fromkeys(conditions))}"
    path = _property_path(document.data, _SERVICES)
    place = document.locate([path])[path]
    return Finding("catalog-elsewhere", Severity.ERROR, message, (), place, hint="name one: --profile")


def _property_path(data: Any, name: str) -> Path:
    """The path of a property, written as a tree or with dots; empty without one."""
    for key in data if isinstance(data, dict) else ():
        if key == name:
            return (key,)
        if name.startswith(f"{key}.") and (below := _property_path(data[key], name[len(key) + 1 :])):
            return (key, *below)
    return ()


def _condition(data: Any) -> str:
    """The profile expression of a document; empty for all profiles."""
    value = next((get_at(data, path) for name in _CONDITIONS if (path := _property_path(data, name))), "")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value if isinstance(value, str) else "")


def _holds(condition: str, profiles: Sequence[str]) -> bool:
    """Return whether a profile expression (`!a & (b | c)`) is true; commas mean or."""
    while "(" in condition and _INNERMOST.search(condition):
        condition = _INNERMOST.sub(lambda match: "*" if _holds(match[1], profiles) else "!*", condition)
    known = {*profiles, "*", ""}
    return any(
        all((name.strip(" !") in known) != (name.strip().startswith("!")) for name in one.split("&"))
        for one in re.split(r"[,|]", condition.replace("!!", ""))
    )


# Names and values.


def renamed_fields(document: Document) -> Document:
    """Rename the fields of a catalog to the names that Spring's broker sends.

    Spring binds `planUpdateable`, `plan-updateable` and `PLANUPDATEABLE` to one property, sent as `plan_updateable`
    (Spring Boot reference, Relaxed Binding); `parameters[$schema]` is the key `$schema` of `parameters`, and what is
    in `properties` of metadata is sent as metadata. Keys of parameter schemas and of other maps stay. `bindable`
    is false by default. A field that is also present under the sent name keeps its own. Locations are in the text.
    """
    from osbctl.sources.origins import PathOrigins, SourcePart

    top = (SourcePart(document), ())
    origins = PathOrigins({}, top)
    data = origins.data = _renamed(document.data, "catalog", top, origins)
    # Without `text`, which has other names than `data`.
    return document._replace(data=data, locator=origins.locate, text="") if data != document.data else document


def _renamed(value: Any, kind: str, here: Origin, origins: PathOrigins) -> Any:
    """Copy the object of this kind at `here`, or the list of objects, as it is sent; `kind` is empty for other maps."""
    part, path = here
    if isinstance(value, list):
        return [_renamed(item, kind, (part, (*path, index)), origins) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    return _renamed_object(value, kind, here, origins) if kind else {**value}


def _renamed_object(value: dict[str, Any], kind: str, here: Origin, origins: PathOrigins) -> dict[str, Any]:
    part, path = here
    sent: dict[str, Any] = {**_DEFAULTS.get(kind, {})}
    for key, place, item in _entries(value, kind, path):
        parts = _IN_BRACKETS.fullmatch(key) if kind == "input_parameters" else None
        name = _sent_name(parts[1] if parts else key, kind, value)
        below = _renamed(item, PARTS.get(kind, {}).get(name, ""), (part, place), origins)
        if parts and isinstance(holder := sent.setdefault(name, {}), dict):
            origins.put(holder, parts[2], item, (part, place))
        elif isinstance(below, dict) and isinstance(holder := sent.get(name), dict):
            for one, held in below.items():
                origins.put(holder, one, held, (part, (*place, one)))
        else:
            origins.put(sent, name, below, (part, place))
    return sent


def _sent_name(key: str, kind: str, value: dict[str, Any]) -> str:
    name = _names(kind).get(_uniform(key), key)
    return key if name in value else name


def _entries(value: dict[str, Any], kind: str, path: Path) -> Iterator[tuple[str, Path, Any]]:
    """The entries of the object at `path`, each with its own path; `properties` of metadata belong to the metadata."""
    for key, item in value.items():
        if kind.endswith("metadata") and key == "properties" and isinstance(item, dict):
            yield from ((inner, (*path, key, inner), below) for inner, below in item.items())
        else:
            yield key, (*path, key), item


@cache
def _names(kind: str) -> dict[str, str]:
    return {_uniform(name): name for name in known(kind)}


def _uniform(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()
