"""One catalog taken apart into the files of a source folder, which builds to the same catalog again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from osbctl.catalog import objects, parameter_holders
from osbctl.errors import UsageError
from osbctl.sources.folder.starter import ATTRIBUTES
from osbctl.sources.folder.substitute import escaped
from osbctl.sources.yaml_text import dump

if TYPE_CHECKING:
    from collections.abc import Iterator


def files(catalog: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The files of a source folder for `catalog`: paths within the folder, and texts.

    A parameter schema that several plans share gets a file of its own.

    Raises:
        UsageError: the catalog has no list of services that are objects.
    """
    services = catalog.get("services")
    if not isinstance(services, list) or not all(isinstance(service, dict) for service in services):
        raise UsageError(
            "the catalog cannot be split: `services` is not a list of objects", "osbctl validate says more"
        )
    shared = _shared(services)
    stems: list[str] = []
    for service in services:
        stem = _stem(service.get("name"), stems)
        stems.append(stem)
        yield f"services/{stem}.yaml", dump(escaped(_with_references(service, shared)))
    for name, schema in shared.values():
        yield f"schemas/{name}.json", json.dumps(escaped(schema), indent=2, ensure_ascii=False) + "\n"
    further = {key: value for key, value in catalog.items() if key != "services"}
    yield "catalog.yaml", dump({"services": stems, **({"fields": escaped(further)} if further else {})})
    yield ATTRIBUTES


def _stem(name: Any, taken: list[str]) -> str:
    """A file name for a service: its own name where that is one, made unique."""
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") if isinstance(name, str) else ""
    stem, number = word[:80] or "service", 1
    while stem.lower() in (other.lower() for other in taken):
        number += 1
        stem = f"{word[:80] or 'service'}-{number}"
    return stem


def _shared(services: list[dict[str, Any]]) -> dict[str, tuple[str, dict[str, Any]]]:
    """The parameter schemas that stand more than once, by their text, each with a name for its file."""
    seen: dict[str, tuple[str, dict[str, Any], int]] = {}
    for service in services:
        for place, holder in _holders(service):
            schema = holder["parameters"]
            if _is_plain(schema):
                text = json.dumps(schema)
                count = seen[text][2] if text in seen else 0
                seen[text] = (f"{_stem(service.get('name'), [])}-{place}", schema, count + 1)
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    names: list[str] = []
    for text, (name, schema, count) in seen.items():
        if count > 1:
            names.append(_stem(name, names))
            found[text] = (names[-1], schema)
    return found


def _is_plain(schema: dict[str, Any]) -> bool:
    """Whether a schema may stand in a file of its own: not where its references would be read anew."""
    text = json.dumps(schema)
    return '"$ref"' not in text and len(schema) > 1


def _with_references(service: dict[str, Any], shared: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(service))
    for _, holder in _holders(copy):
        known = shared.get(json.dumps(holder["parameters"]))
        if known:
            holder["parameters"] = {"$ref": f"../schemas/{known[0]}.json"}
    return copy


def _holders(service: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for plan, _ in objects(service, "plans"):
        for (outer, inner), holder in parameter_holders(plan):
            yield f"{outer.removeprefix('service_')}-{inner}", holder
