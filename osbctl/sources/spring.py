"""Read the catalog in a Spring configuration as Spring's broker sends it."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from osbctl.fields import BOOLEAN_WORDS, PARTS, field_type, known_fields
from osbctl.paths import JsonPath
from osbctl.sources.document import ComposedDocument, Document

_DEFAULTS = {"service": {"bindable": False}}
"""Fields that Spring's broker sends by default, by kind of object (autoconfigure, ServiceDefinition.java)."""

_IN_BRACKETS = re.compile(r"(.*)\[([^\]]*)\]")


def spring_field_name(name: str) -> str:
    """The name of a field in a Spring configuration: `planUpdateable`."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def rename_spring_fields(document: Document) -> Document:
    """Rename the fields of a catalog to the names that Spring's broker sends.

    Spring binds `planUpdateable`, `plan-updateable` and `PLANUPDATEABLE` to one property, sent as `plan_updateable`
    (Spring Boot reference, Relaxed Binding); `parameters[$schema]`, and `"[$schema]"` in them, are the key `$schema`
    of `parameters`, and what is in `properties` of metadata is sent as metadata. Other keys of parameter schemas and of
    maps stay. `bindable` is false by default, and a word for a boolean is one (Spring, StringToBooleanConverter). A
    field that is also present under the sent name keeps its own. Locations are in the text.
    """
    sent = ComposedDocument.of_part(document, (), {})
    sent.data = _rename_value(document.data, "catalog", document, (), sent)
    return document if sent.data == document.data else sent


def _rename_value(value: Any, kind: str, document: Document, path: JsonPath, origins: ComposedDocument) -> Any:
    """Copy the object of this kind at `path`, or the list of objects, as it is sent; `kind` is empty for other maps."""
    if isinstance(value, list):
        return [_rename_value(item, kind, document, (*path, index), origins) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if kind:
        return _rename_object(value, kind, document, path, origins)
    sent: dict[str, Any] = {}
    for key, item in value.items():
        is_literal = key.startswith("[") and key.endswith("]")
        below = _rename_value(item, "", document, (*path, key), origins)
        origins.put(sent, key[1:-1] if is_literal else key, below, (document, (*path, key)))
    return sent


def _rename_object(
    value: dict[str, Any], kind: str, document: Document, path: JsonPath, origins: ComposedDocument
) -> dict[str, Any]:
    sent: dict[str, Any] = {**_DEFAULTS.get(kind, {})}
    for key, place, item in _entries_with_paths(value, kind, path):
        parts = _IN_BRACKETS.fullmatch(key) if kind == "input_parameters" else None
        written = parts[1] if parts else key
        name = _sent_names_by_normalized(kind).get(_normalize_name(written), written)
        name = written if name in value else name
        item = _bind_boolean(item, kind, name)
        below = _rename_value(item, PARTS.get(kind, {}).get(name, ""), document, place, origins)
        if parts and isinstance(holder := sent.setdefault(name, {}), dict):
            origins.put(holder, parts[2], item, (document, place))
        elif isinstance(below, dict) and isinstance(holder := sent.get(name), dict):
            origins.merge(holder, below)
        else:
            origins.put(sent, name, below, (document, place))
    return sent


def _bind_boolean(value: Any, kind: str, field: str) -> Any:
    """The boolean that Spring reads from a word such as `yes` or "true" in a field; another value is unchanged."""
    is_word = kind in ("service", "plan") and isinstance(value, str) and field_type(kind, field) == "boolean"
    return BOOLEAN_WORDS.get(value.lower(), value) if is_word else value


def _entries_with_paths(value: dict[str, Any], kind: str, path: JsonPath) -> Iterator[tuple[str, JsonPath, Any]]:
    """The entries of the object at `path`, each with its own path; `properties` of metadata belong to the metadata."""
    for key, item in value.items():
        if kind.endswith("metadata") and key == "properties" and isinstance(item, dict):
            yield from ((inner, (*path, key, inner), below) for inner, below in item.items())
        else:
            yield key, (*path, key), item


@cache
def _sent_names_by_normalized(kind: str) -> dict[str, str]:
    """The names of the fields as the broker sends them, by normalized name."""
    return {_normalize_name(name): name for name in known_fields(kind)}


def _normalize_name(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()
