"""Parameter schemas made whole: what they refer to in other files becomes a definition of their own.

A reference is `FILE#/json/pointer`, relative to the file that holds it. Each target is taken once; recursion
among targets is kept, since a target has its name before its own references are followed. The definitions go
where the schema's draft keeps them: `definitions` up to draft-07, `$defs` from 2019-09 on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from osbctl.catalog import objects, parameter_holders
from osbctl.errors import SourceError
from osbctl.jsonschemas.walk import subschemas
from osbctl.paths import Path, pointer, resolve_pointer, value_at
from osbctl.sources.folder.source_tree import Parts, copied
from osbctl.sources.origins import Origin, PathOrigins, SourcePart


class Bundler:
    """Bundles the parameter schemas of one composed catalog in place."""

    def __init__(self, parts: Parts, origins: PathOrigins, variables: Mapping[str, str]) -> None:
        self.parts, self.origins, self.variables = parts, origins, variables

    def bundle(self) -> None:
        """Make every parameter schema whole; what cannot be is a problem at its `$ref`."""
        for service, at in objects(self.origins.data, "services"):
            for plan, path in objects(service, "plans", at):
                for place, holder in parameter_holders(plan):
                    if any(not inner["$ref"].startswith("#") for inner, _ in _holders(holder["parameters"], ())):
                        bundle = _Bundle(self, holder["parameters"], (*path, "schemas", *place, "parameters"))
                        holder["parameters"] = bundle.made()

    def target(self, part: SourcePart, reference: str, path: Path) -> Origin | None:
        """Target of a reference in `part`: a file of the folder, and a path in it."""
        url = urlsplit(reference)
        if url.scheme or url.netloc:
            self.problem(part, path, f"{reference!r} names a URL", "keep the schema in a file of the folder")
            return None
        file = self._file(part, unquote(url.path), path)
        fragment = unquote(url.fragment)
        if file is None:
            return None
        if fragment and not fragment.startswith("/"):
            self.problem(part, path, f"{reference!r}: the part after # must be a JSON pointer")
            return None
        inside = resolve_pointer(file.data, fragment)
        if inside is None or not isinstance(value_at(file.data, inside), dict):
            self.problem(part, path, f"{reference!r} leads to no schema", f"see {file.document.name}")
            return None
        return file, inside

    def _file(self, part: SourcePart, name: str, path: Path) -> SourcePart | None:
        if not name:
            return part
        if os.path.isabs(name):  # noqa: PTH117
            self.problem(part, path, f"{name!r} is an absolute path", "write it relative to this file")
            return None
        file = part.file.parent / name
        try:
            resolved = file.resolve()
            if not resolved.is_relative_to(self.parts.folder.resolve()):
                self.problem(part, path, f"{name!r} leads out of the source folder", "copy it into the folder")
                return None
            return self.parts.read(self.parts.folder / resolved.relative_to(self.parts.folder.resolve()))
        except (SourceError, OSError, ValueError, RuntimeError):
            self.problem(part, path, f"{name!r} cannot be read: no such file?", f"it was looked for at {file}")
            return None

    def problem(self, part: SourcePart, path: Path, message: str, hint: str = "") -> None:
        """Note a reference that cannot be followed."""
        self.parts.problems.add("build-reference", message, part, path, hint)


class _Bundle:
    """One parameter schema on its way to being whole.

    `_root` is what the top of the schema is: None for one written in the catalog itself, whose `#` is the
    schema; a file and a path where the schema is nothing but a reference, and so was taken from there.
    """

    def __init__(self, bundler: Bundler, schema: dict[str, Any], path: Path) -> None:
        self._bundler = bundler
        self._path = path
        self._root: Origin | None = None
        self._schema = self._inlined(schema)
        self._store = "$defs" if "/draft/20" in str(self._schema.get("$schema")) else "definitions"
        self._names: dict[Origin, str] = {}
        self._taken = set(self._schema.get(self._store) or ())

    def made(self) -> dict[str, Any]:
        """The whole schema."""
        if self._root:
            self._rewrite(self._schema, *self._root)
        else:
            for holder, path in _holders(self._schema, self._path):
                if not holder["$ref"].startswith("#"):
                    self._point(holder, *self._bundler.origins.find((*path, "$ref")))
        definitions: dict[str, Any] = {}
        while len(definitions) < len(self._names):
            target = list(self._names)[len(definitions)]
            definitions[self._names[target]] = self._definition(*target)
        if definitions:
            self._schema[self._store] = {**(self._schema.get(self._store) or {}), **definitions}
        return self._schema

    def _inlined(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Resolve a schema that is only a reference, through any number of steps."""
        origin = self._bundler.origins.find((*self._path, "$ref"))
        seen = set()
        while set(schema) <= {"$ref", "$schema"} and isinstance(schema.get("$ref"), str):
            if origin in seen:
                self._bundler.problem(*origin, f"{schema['$ref']!r} leads back to itself")
                return {}
            seen.add(origin)
            target = self._bundler.target(*origin[:1], schema["$ref"], origin[1])
            if target is None:
                return {}
            dialect = schema.get("$schema") or target[0].data.get("$schema")
            schema = {**({"$schema": dialect} if dialect else {}), **self._copy(*target)}
            self._root, origin = target, (target[0], (*target[1], "$ref"))
        if self._root:
            self._bundler.origins.of_object(schema, self._root)
        return schema

    def _definition(self, part: SourcePart, inside: Path) -> dict[str, Any]:
        definition = self._copy(part, inside)
        dialect = part.data.get("$schema")
        if dialect and dialect.rstrip("#") != str(self._schema.get("$schema", dialect)).rstrip("#"):
            message = f"{part.document.name} is written for {dialect}, the schema that refers to it is not"
            self._bundler.problem(part, ("$schema",), message, "give both the same $schema")
        for key in ("$schema", "$id", "id"):
            if isinstance(definition.get(key), str):
                del definition[key]
        self._bundler.origins.of_object(definition, (part, inside))
        self._rewrite(definition, part, inside)
        return definition

    def _copy(self, part: SourcePart, inside: Path) -> dict[str, Any]:
        bundler, value = self._bundler, value_at(part.data, inside)
        made: dict[str, Any] = copied(value, bundler.variables, bundler.parts.problems, part, inside)
        return made

    def _rewrite(self, schema: dict[str, Any], part: SourcePart, inside: Path) -> None:
        for holder, path in _holders(schema, inside):
            self._point(holder, part, (*path, "$ref"))

    def _point(self, holder: dict[str, Any], part: SourcePart, place: Path) -> None:
        target = self._bundler.target(part, holder["$ref"], place)
        if target is not None:
            holder["$ref"] = self._reference(target)

    def _reference(self, target: Origin) -> str:
        if self._root and target[0] is self._root[0] and target[1][: len(self._root[1])] == self._root[1]:
            return "#" + pointer(target[1][len(self._root[1]) :])
        if target not in self._names:
            self._names[target] = self._free_name(*target)
        return f"#/{self._store}/{self._names[target]}"

    def _free_name(self, part: SourcePart, inside: Path) -> str:
        word = re.sub(r"[^A-Za-z0-9_-]+", "-", str(inside[-1]) if inside else part.file.stem) or "schema"
        name, number = word, 1
        while name in self._taken:
            number += 1
            name = f"{word}-{number}"
        self._taken.add(name)
        return name


def _holders(schema: dict[str, Any], path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The schemas in `schema`, itself too, that hold a `$ref`; keywords whose values are data are skipped."""
    for place in subschemas(schema):
        if isinstance(place.value.get("$ref"), str):
            yield place.value, (*path, *place.path)
