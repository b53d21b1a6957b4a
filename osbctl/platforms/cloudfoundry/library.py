"""The Cloud Controller's JSON Schema library put to work on one schema after another.

A schema that conforms to draft-04 is loaded, with all schemas inside it and what they refer to, and then
`{}` is validated with it; the Cloud Controller looks only at what goes wrong on the way. That `{}` is not
valid is of no interest.

Source: the gem json-schema 6.2.0, lib/json-schema/validator.rb, schema.rb and schema/reader.rb.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple

from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.ruby import RubyError, index, no_method, ruby_class
from osbctl.platforms.cloudfoundry.uris import URI, as_file, join, parse

_DRAFTS = {
    f"http://json-schema.org/draft-0{number}/{kind}": number
    for number in (1, 2, 3, 4, 6)
    for kind in ("schema", "hyper-schema")
}
_RESOURCES = "/usr/local/bundle/gems/json-schema-6.2.0/resources"
"""Where the gem's own metaschemas stand: it depends on the installation, and the refusal names it."""

_NAMELESS = parse("00000000-0000-5000-8000-000000000000")
"""The library names a schema by a hash of it; relative references are resolved against that."""

_METASCHEMA = "http://json-schema.org/draft-04/schema#"


class LibraryRefusal(Exception):  # noqa: N818  # an answer of the library, not an error of ours
    """The library stops at something that the Cloud Controller tells the operator."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


class Schema(NamedTuple):
    """A schema as the library holds it: value, URI, the draft that it follows, and its place."""

    value: Any
    uri: URI
    draft: int
    path: Path


class Library:
    """What the library has loaded so far, by URI; the draft-04 metaschema from the start."""

    def __init__(self) -> None:
        self._schemas: dict[str, Schema] = {_METASCHEMA: Schema({}, parse(_METASCHEMA), 4, ())}
        self._count = 0

    @property
    def loaded(self) -> int:
        """How many schemas that name themselves are loaded: what a reference finds depends on them."""
        return len(self._schemas)

    def load(self, schema: dict[str, Any], trail: Trail) -> Schema:
        """A schema that conforms to draft-04, loaded with all inside it. Raises what the library raises."""
        root = self.new(schema, _NAMELESS, 4, (), trail)
        self._add(root)
        self._build(root, trail)
        return root

    def forget(self) -> None:
        """Drop what has no name of its own: the next schema takes its place."""
        self._schemas.pop(_key(_NAMELESS), None)

    def new(self, value: Any, uri: URI, draft: int, path: Path, trail: Trail) -> Schema:
        """The library's object for `value`: `id` moves its URI, `$schema` chooses the draft.

        Raises Refusal for a `$schema` that it does not know, RubyError or InvalidURI for odd values.
        """
        trail.path = (*path, "id")
        own = index(value, "id")
        if isinstance(own, str):
            parsed = parse(own)
            uri = join(uri, own) if parsed.is_relative else parsed
        trail.path = (*path, "$schema")
        named = index(value, "$schema")
        if named is not None and named is not False:
            draft = _draft(named)
        trail.path = path
        return Schema(value, uri.bare(), draft, path)

    def find(self, key: str) -> Schema | None:
        """The loaded schema of that URI, without its fragment."""
        found = self._schemas.get(_key(parse(key)))
        return found._replace(value=_metaschema()) if found and str(found.uri) == _METASCHEMA else found

    def _add(self, schema: Schema) -> None:
        self._schemas.setdefault(_key(schema.uri), schema)

    def _build(self, schema: Schema, trail: Trail) -> None:
        reference = schema.value.get("$ref")
        if reference is not None and reference is not False:
            self._load(reference, schema, "$ref", trail)
        if isinstance(schema.value.get("extends"), str):
            self._load(schema.value["extends"], schema, "extends", trail)
        for place, inner in _inner(schema.value):
            if isinstance(inner, dict):
                path = (*schema.path, *place)
                below = self.new(inner, schema.uri, schema.draft, path, trail)
                if inner.get("id") is not None and inner["id"] is not False:
                    self._add(below)
                self._build(below, trail)

    def _load(self, reference: Any, schema: Schema, keyword: str, trail: Trail) -> None:
        trail.path = (*schema.path, keyword)
        uri = as_uri(reference).bare()
        if uri.is_relative:
            if not uri.path:
                return
            uri = as_file(join(schema.uri.bare(), uri.path))
        if _key(uri) not in self._schemas:
            raise LibraryRefusal(
                "cloudfoundry-schema-reference",
                f"No external references are allowed: Read of {_location(uri)} refused",
            )


def _metaschema() -> Any:
    """The draft-04 metaschema, read only where a schema refers to it."""
    from jsonschema import Draft4Validator

    return Draft4Validator.META_SCHEMA


class Trail:
    """Where the library is, so that what it raises gets a place."""

    def __init__(self) -> None:
        self.path: Path = ()


def as_uri(value: Any) -> URI:
    """The URI that a value of `$ref` or `$schema` is read as. Raises RubyError where it is no string."""
    if not isinstance(value, str):
        raise RubyError(f"Can't convert {ruby_class(value)} into String.")
    return parse(value)


def _draft(named: Any) -> int:
    uri = as_uri(named)
    draft = _DRAFTS.get(f"{uri.scheme or ''}://{uri.host}{uri.path}")
    if draft is None:
        raise LibraryRefusal("cloudfoundry-schema-dialect", "Custom meta schemas are not supported.")
    return draft


def _key(uri: URI) -> str:
    text = str(as_file(uri))
    return text if text.endswith("#") else text + "#"


def _location(uri: URI) -> str:
    """What the refusal calls the place that it does not read."""
    draft = _DRAFTS.get(f"{uri.scheme}://{uri.host}{uri.path}")
    if draft is not None:
        return f"file at {_RESOURCES}/draft-0{draft}.json"
    if uri.scheme == "file":
        path = as_file(URI(path=uri.path)).path
        return f"file at {posixpath.normpath(path)}"
    return f"URI at {uri}"


def _inner(value: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """What the library takes for schemas inside a schema, in its order; it does not look into `not`."""
    yield from _items("extends", value.get("extends"))
    for key in ("type", "disallow"):
        yield from _items(key, value.get(key))
    for key in ("definitions", "properties", "patternProperties"):
        yield from _members(key, value.get(key))
    for key in ("additionalProperties", "additionalItems", "dependencies", "extends"):
        yield (key,), value.get(key)
    for key in ("allOf", "anyOf", "oneOf", "not"):
        yield from _items(key, value.get(key))
    items = value.get("items")
    yield from _items("items", items) if isinstance(items, list) else [(("items",), items)]


def _items(key: str, value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield (key, place), item


def _members(key: str, value: Any) -> Iterator[tuple[Path, Any]]:
    """The values of an object, or of the pairs in an array; what cannot be gone through raises RubyError."""
    if value is None or value is False:
        return
    if isinstance(value, dict):
        for name, item in value.items():
            yield (key, name), item
    elif isinstance(value, list):
        for place, pair in enumerate(value):
            if isinstance(pair, list) and len(pair) > 1:
                yield (key, place, 1), pair[1]
    else:
        raise no_method("each", value)
