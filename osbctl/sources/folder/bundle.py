"""Bundle parameter schemas: replace each reference to a file by its target.

A reference is `FILE#/json/pointer`, relative to the file that holds it. Keys beside it replace those of the target. A
reference of a schema to itself (`#/definitions/size`) stays, if the schema is written in a plan, or is a whole file.
"""

import os
import pathlib
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from osbctl.catalog import objects_in_list, parameter_holders
from osbctl.errors import SourceError
from osbctl.jsonschemas.walk import subschemas
from osbctl.paths import JsonPath, resolve_pointer, value_at
from osbctl.redaction import redact_text
from osbctl.sources.document import Document
from osbctl.sources.folder.source_tree import SourceTree
from osbctl.sources.origins import Origin, PathOrigins

_MOST = 1_000
"""The most references in one schema, with those in their targets: targets of targets may grow exponentially."""


def bundle_schemas(tree: SourceTree, origins: PathOrigins) -> None:
    """Bundle every parameter schema of a composed catalog, in place; report references that cannot be resolved."""
    for service, service_path in objects_in_list(origins.data, "services"):
        for plan, path in objects_in_list(service, "plans", service_path):
            for place, holder in parameter_holders(plan):
                schema_path = (*path, "schemas", *place, "parameters")
                _Bundle(tree, origins, holder["parameters"]).bundle_schema(schema_path)


class _Bundle:
    """The bundling of one parameter schema. `_above` are the targets around the present reference."""

    def __init__(self, tree: SourceTree, origins: PathOrigins, schema: dict[str, Any]) -> None:
        self._tree, self._origins, self._schema = tree, origins, schema
        self._dialect = _dialect_of(schema)
        self._above: list[Origin] = []
        self._left = _MOST

    def bundle_schema(self, path: JsonPath) -> None:
        """Bundle the schema, which is at `path` of the catalog, in place."""
        self._replace_refs(self._schema, lambda inner: self._origins.find_origin((*path, *inner)), is_whole=True)

    def _replace_refs(self, schema: dict[str, Any], origin_of: Callable[[JsonPath], Origin], *, is_whole: bool) -> None:
        """Replace the references in a schema; `origin_of` maps paths in it to files. `is_whole`: it is the bundle."""
        for found in reversed([*subschemas(schema)]):  # those beside a reference first
            reference = found.value.get("$ref")
            if not isinstance(reference, str) or (is_whole and reference.startswith("#")):
                continue
            part, place = origin_of((*found.path, "$ref"))
            target = self._resolve_reference(part, place, reference)
            if target in self._above or not self._left:
                hint = "only a schema that is a whole file may refer to itself"
                self._add_problem(part, place, f"{reference!r} leads back to itself, or to too many others", hint)
            elif target:
                is_lone = is_whole and not found.path and found.value.keys() <= {"$ref", "$schema"}
                self._replace_by_target(found.value, (part, place[:-1]), target, is_lone)

    def _replace_by_target(self, schema: dict[str, Any], origin: Origin, target: Origin, is_lone: bool) -> None:
        """Replace a schema, a reference from `origin`, by the target; `is_lone`: it becomes the bundle."""
        self._left -= 1
        file, inside = target
        copy: dict[str, Any] = self._tree.copy_with_variables(file, value_at(file.data, inside), inside)
        dialect = _dialect_of(file.data)
        for key in ("$schema", "$id", "id"):
            if not is_lone and isinstance(copy.get(key), str):
                del copy[key]
        self._dialect = self._dialect or dialect
        if is_lone and self._dialect:
            copy["$schema"] = self._dialect
        if dialect and dialect.rstrip("#") != self._dialect.rstrip("#"):
            message = f"{file.name} is written for {dialect}, the schema that refers to it is not"
            self._add_problem(file, ("$schema",), message, "give both the same $schema")
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema.clear()
        schema |= copy
        self._origins.set_object_origin(schema, target)
        self._above.append(target)
        self._replace_refs(schema, lambda inner: (file, (*inside, *inner)), is_whole=is_lone and not inside)
        self._above.pop()
        for key, value in beside.items():
            self._origins.put(schema, key, value, (origin[0], (*origin[1], key)))

    def _resolve_reference(self, part: Document, path: JsonPath, reference: str) -> Origin | None:
        """Target of a reference at `path` of `part`: a file of the folder, and a path in it."""
        url = urlsplit(reference)
        fragment = unquote(url.fragment)
        if url.scheme or url.netloc:
            self._add_problem(part, path, f"{reference!r} names a URL", "keep the schema in a file of the folder")
            return None
        if fragment and not fragment.startswith("/"):
            self._add_problem(part, path, f"{reference!r}: the part after # must be a JSON pointer")
            return None
        file = self._read_referenced_file(part, path, unquote(url.path)) if url.path else part
        if file is None:
            return None
        inside = resolve_pointer(file.data, fragment)
        if inside is None or not isinstance(value_at(file.data, inside), dict):
            self._add_problem(part, path, f"{reference!r} leads to no schema", f"see {file.name}")
            return None
        return file, inside

    def _read_referenced_file(self, part: Document, path: JsonPath, name: str) -> Document | None:
        if os.path.isabs(name):  # noqa: PTH117
            self._add_problem(part, path, f"{name!r} is an absolute path", "write it relative to this file")
            return None
        parent, folder = pathlib.Path(os.path.realpath(part.name)).parent, self._tree.folder
        file = parent / name
        try:
            resolved = file.resolve()
            if resolved.is_relative_to(folder.resolve()):
                return self._tree.read(folder / resolved.relative_to(folder.resolve()))
            self._add_problem(part, path, f"{name!r} leads out of the source folder", "copy it into the folder")
        except (SourceError, OSError, ValueError, RuntimeError):
            hint = f"it was looked for at {(parent / redact_text(name)).as_posix()}"
            self._add_problem(part, path, f"{name!r} cannot be read: no such file?", hint)
        return None

    def _add_problem(self, part: Document, path: JsonPath, message: str, hint: str = "") -> None:
        self._tree.problems.add("build-reference", message, part, path, hint)


def _dialect_of(schema: dict[str, Any]) -> str:
    """The value of `$schema`; empty if it is no text."""
    dialect = schema.get("$schema")
    return dialect if isinstance(dialect, str) else ""
