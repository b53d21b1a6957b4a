"""Bundle parameter schemas: the target of each reference to another file becomes a definition of the schema.

A reference is `FILE#/json/pointer`, relative to the file that holds it. Each target is taken once; recursion
among targets is kept, since a target has its name before its own references are followed. The definitions go
where the schema's draft keeps them: `definitions` up to draft-07, `$defs` from 2019-09 on.
"""

import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from osbctl.catalog import objects, parameter_holders
from osbctl.errors import SourceError
from osbctl.jsonschemas.walk import subschemas
from osbctl.paths import Path, pointer, resolve_pointer, value_at
from osbctl.sources.document import Document
from osbctl.sources.folder.source_tree import Parts
from osbctl.sources.origins import Origin, PathOrigins


def bundle_schemas(parts: Parts, origins: PathOrigins) -> None:
    """Bundle every parameter schema of a composed catalog, in place; report references that cannot be resolved."""
    for service, at in objects(origins.data, "services"):
        for plan, path in objects(service, "plans", at):
            for place, holder in parameter_holders(plan):
                schema, here = holder["parameters"], (*path, "schemas", *place, "parameters")
                if any(not inner["$ref"].startswith("#") for inner, _ in _holders(schema, ())):
                    holder["parameters"] = _Bundle(parts, origins, schema, here).made()


class _Bundle:
    """The bundling of one parameter schema.

    `_root` is the origin of the schema: None if it is written in the catalog itself; the file and path of the target if
    the schema is only a reference.
    """

    def __init__(self, parts: Parts, origins: PathOrigins, schema: dict[str, Any], path: Path) -> None:
        self._parts, self._origins, self._path = parts, origins, path
        self._root: Origin | None = None
        self._schema = self._inlined(schema)
        self._store = "$defs" if "/draft/20" in str(self._schema.get("$schema")) else "definitions"
        self._names: dict[Origin, str] = {}
        self._taken = set(self._schema.get(self._store) or ())

    def made(self) -> dict[str, Any]:
        if self._root:
            self._rewrite(self._schema, *self._root)
        else:
            for holder, path in _holders(self._schema, self._path):
                if not holder["$ref"].startswith("#"):
                    self._point(holder, *self._origins.find((*path, "$ref")))
        definitions: dict[str, Any] = {}
        while len(definitions) < len(self._names):
            target = list(self._names)[len(definitions)]
            definitions[self._names[target]] = self._definition(*target)
        if definitions:
            self._schema[self._store] = {**(self._schema.get(self._store) or {}), **definitions}
        return self._schema

    def _inlined(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Resolve a schema that is only a reference, through any number of steps."""
        origin = self._origins.find((*self._path, "$ref"))
        seen = set()
        while set(schema) <= {"$ref", "$schema"} and isinstance(schema.get("$ref"), str):
            if origin in seen:
                self._problem(*origin, f"{schema['$ref']!r} leads back to itself")
                return {}
            seen.add(origin)
            target = self._target(*origin, schema["$ref"])
            if target is None:
                return {}
            dialect = schema.get("$schema") or target[0].data.get("$schema")
            schema = {**({"$schema": dialect} if dialect else {}), **self._copy(*target)}
            self._root, origin = target, (target[0], (*target[1], "$ref"))
        if self._root:
            self._origins.of_object(schema, self._root)
        return schema

    def _definition(self, part: Document, inside: Path) -> dict[str, Any]:
        definition = self._copy(part, inside)
        dialect = part.data.get("$schema")
        if dialect and dialect.rstrip("#") != str(self._schema.get("$schema", dialect)).rstrip("#"):
            message = f"{part.name} is written for {dialect}, the schema that refers to it is not"
            self._problem(part, ("$schema",), message, "give both the same $schema")
        for key in ("$schema", "$id", "id"):
            if isinstance(definition.get(key), str):
                del definition[key]
        self._origins.of_object(definition, (part, inside))
        self._rewrite(definition, part, inside)
        return definition

    def _copy(self, part: Document, inside: Path) -> dict[str, Any]:
        copy: dict[str, Any] = self._parts.copied(part, value_at(part.data, inside), inside)
        return copy

    def _rewrite(self, schema: dict[str, Any], part: Document, inside: Path) -> None:
        for holder, path in _holders(schema, inside):
            self._point(holder, part, (*path, "$ref"))

    def _point(self, holder: dict[str, Any], part: Document, place: Path) -> None:
        """Let the reference in `holder`, which was written at `place` of `part`, point to its target in the bundle."""
        target = self._target(part, place, holder["$ref"])
        if target is None:
            return
        file, inside = target
        if self._root and file is self._root[0] and inside[: len(self._root[1])] == self._root[1]:
            holder["$ref"] = "#" + pointer(inside[len(self._root[1]) :])
            return
        if target not in self._names:
            stem = str(inside[-1]) if inside else _resolved(file).stem
            word = re.sub(r"[^A-Za-z0-9_-]+", "-", stem) or "schema"
            name, number = word, 1
            while name in self._taken:
                number += 1
                name = f"{word}-{number}"
            self._taken.add(name)
            self._names[target] = name
        holder["$ref"] = f"#/{self._store}/{self._names[target]}"

    def _target(self, part: Document, path: Path, reference: str) -> Origin | None:
        """Target of a reference at `path` of `part`: a file of the folder, and a path in it."""
        url = urlsplit(reference)
        fragment = unquote(url.fragment)
        if url.scheme or url.netloc:
            self._problem(part, path, f"{reference!r} names a URL", "keep the schema in a file of the folder")
            return None
        if fragment and not fragment.startswith("/"):
            self._problem(part, path, f"{reference!r}: the part after # must be a JSON pointer")
            return None
        file = self._file(part, path, unquote(url.path)) if url.path else part
        if file is None:
            return None
        inside = resolve_pointer(file.data, fragment)
        if inside is None or not isinstance(value_at(file.data, inside), dict):
            self._problem(part, path, f"{reference!r} leads to no schema", f"see {file.name}")
            return None
        return file, inside

    def _file(self, part: Document, path: Path, name: str) -> Document | None:
        if os.path.isabs(name):  # noqa: PTH117
            self._problem(part, path, f"{name!r} is an absolute path", "write it relative to this file")
            return None
        file, folder = _resolved(part).parent / name, self._parts.folder
        try:
            resolved = file.resolve()
            if resolved.is_relative_to(folder.resolve()):
                return self._parts.read(folder / resolved.relative_to(folder.resolve()))
            self._problem(part, path, f"{name!r} leads out of the source folder", "copy it into the folder")
        except (SourceError, OSError, ValueError, RuntimeError):
            self._problem(part, path, f"{name!r} cannot be read: no such file?", f"it was looked for at {file}")
        return None

    def _problem(self, part: Document, path: Path, message: str, hint: str = "") -> None:
        self._parts.problems.add("build-reference", message, part, path, hint)


def _resolved(part: Document) -> pathlib.Path:
    return pathlib.Path(os.path.realpath(part.name))


def _holders(schema: dict[str, Any], path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The schemas with a `$ref` in `schema`, also itself; keywords whose values are data are skipped."""
    for place in subschemas(schema):
        if isinstance(place.value.get("$ref"), str):
            yield place.value, (*path, *place.path)
