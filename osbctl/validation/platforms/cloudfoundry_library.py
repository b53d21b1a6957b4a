"""The Ruby library json-schema as Cloud Foundry puts it to work: a schema applied to `{}`.

It visits all subschemas first and wants what they refer to; then it validates. References that lead outside or
nowhere, and dialects that it does not know, end the run.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from osbctl.validation.platforms import ruby, uris

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.findings import Path
    from osbctl.validation.platforms.uris import Uri

_State: TypeAlias = tuple[int, str, int]
"""A schema by its identity, its address and its draft."""

_DIALECTS = {
    f"http://json-schema.org/draft-0{n}/{kind}": n for n in (1, 2, 3, 4, 6) for kind in ("schema", "hyper-schema")
}
NAMELESS = "schema"
"""The address of a schema without an `id`; to the library it is made of the content, and so is nobody else's."""
_LOADED = "http://json-schema.org/draft-04/schema"


class Fault(NamedTuple):
    """One line of the platform about a schema: the rule, the place inside of the schema, its words."""

    rule: str
    path: Path
    message: str


class Crash(Exception):  # noqa: N818  # the platform's, not ours
    """The platform ends in an exception instead of an answer."""


class Refused(Exception):  # noqa: N818  # an answer, not an error
    """The library stops at this fault."""

    def __init__(self, rule: str, path: Path, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(rule, path, message)


class Invalid(Exception):  # noqa: N818  # `{}` is not valid under the schema: of no interest
    """The library's ValidationError."""


class _Schema(NamedTuple):
    """A schema as the library holds it: its own address, and the draft that it applies."""

    value: dict[str, Any]
    uri: Uri
    draft: int
    path: Path


class Library:
    """The library at work: it visits all subschemas, then validates `{}`."""

    def __init__(self, schema: dict[str, Any], loaded: dict[str, dict[str, Any]]) -> None:
        self._loaded = loaded
        self._active: set[_State] = set()
        self._valid: dict[_State, bool] = {}
        self._root = self._made(schema, uris.parse(NAMELESS), 4, ())
        self._add(self._root)

    def run(self) -> None:
        self._visit(self._root)
        self._validate(self._root)

    def _made(self, value: dict[str, Any], uri: Uri, draft: int, path: Path) -> _Schema:
        own = value.get("id")
        if isinstance(own, str):
            parsed = uris.parse(own)
            uri = parsed if parsed.scheme else uris.joined(uri, parsed.path)
        dialect = value.get("$schema")
        if ruby.truthy(dialect):
            draft = self._draft(dialect, (*path, "$schema"))
        return _Schema(value, uri._replace(fragment=None), draft, path)

    def _draft(self, dialect: Any, path: Path) -> int:
        uri = self._parsed(dialect, path)
        draft = _DIALECTS.get(f"{uri.scheme or ''}://{uri.host}{uri.path}")
        if draft is None:
            raise Refused("cloudfoundry-schema-dialect", path, "Custom meta schemas are not supported.")
        return draft

    def _parsed(self, text: Any, path: Path) -> Uri:
        if not isinstance(text, str):
            told = f"Can't convert {ruby.class_name(text)} into String."
            raise Refused("cloudfoundry-schema-reference", path, told)
        return uris.parse(text)

    def _add(self, schema: _Schema) -> None:
        self._loaded.setdefault(str(schema.uri), schema.value)

    def _visit(self, schema: _Schema) -> None:
        value = schema.value
        if ruby.truthy(value.get("$ref")):
            self._load(schema, "$ref")
        if isinstance(value.get("extends"), str):
            self._load(schema, "extends")
        for path, inner in _subschemas(value):
            if isinstance(inner, dict):
                below = self._made(inner, schema.uri, schema.draft, (*schema.path, *path))
                if ruby.truthy(inner.get("id")):
                    self._add(below)
                self._visit(below)

    def _load(self, schema: _Schema, keyword: str) -> None:
        path = (*schema.path, keyword)
        uri = self._parsed(schema.value[keyword], path)
        if uri.fragment:
            uri = uri._replace(fragment="")
        if uri.scheme is None:
            uri = uris.joined(schema.uri, uri.path)
        if str(uri._replace(fragment=None)) in (*self._loaded, _LOADED):
            return
        raise Refused(
            "cloudfoundry-schema-reference",
            path,
            f"No external references are allowed: Read of {_place(uri)} refused",
        )

    def _validate(self, schema: _Schema) -> None:
        """Validate `{}`: what a keyword says of it ends the run, or leads on into other schemas.

        The instance never changes, so that a schema that leads back to itself has no end, and one look at each
        is enough.
        """
        state = (id(schema.value), str(schema.uri), schema.draft)
        if state in self._active:
            raise Crash
        if state not in self._valid:
            self._active.add(state)
            self._valid[state] = self._meets_keywords(schema)
            self._active.remove(state)
        if not self._valid[state]:
            raise Invalid

    def _meets_keywords(self, schema: _Schema) -> bool:
        try:
            for keyword in schema.value:
                if keyword in _KEYWORDS[schema.draft]:
                    self._keyword(schema, keyword, schema.value[keyword])
        except Invalid:
            return False
        return True

    def _keyword(self, schema: _Schema, keyword: str, value: Any) -> None:
        shape = _SHAPES.get(keyword)
        if shape and not isinstance(value, shape):  # the metaschema has not seen all that a `$ref` may lead to
            told = f"undefined method `each' for {ruby.receiver(value)}"
            raise Refused("cloudfoundry-schema-reference", (*schema.path, keyword), told)
        if keyword == "$ref":
            self._validate(self._referenced(schema))
        elif keyword == "not":
            if self._holds(schema, value, (keyword,)):
                raise Invalid
        elif keyword in ("allOf", "anyOf", "oneOf"):
            self._choice(schema, keyword, value)
        elif keyword in ("patternProperties", "additionalProperties"):
            self._patterns(schema, keyword)
        elif not _accepts_empty_object(keyword, value, schema.draft):
            raise Invalid

    def _patterns(self, schema: _Schema, keyword: str) -> None:
        """Both keywords compile the patterns, though `{}` has no property to match."""
        if keyword == "additionalProperties" and schema.value.get("type") not in (None, "object"):
            return
        patterns = schema.value.get("patternProperties")
        for pattern in patterns if isinstance(patterns, dict) else ():
            if fault := ruby.pattern_fault(pattern):
                path = (*schema.path, "patternProperties", pattern)
                raise Refused("cloudfoundry-schema-pattern", path, fault)

    def _choice(self, schema: _Schema, keyword: str, choices: list[Any]) -> None:
        good = 0
        for index, choice in enumerate(choices):
            good += self._holds(schema, choice, (keyword, index))
            if good and keyword == "anyOf":
                return
        if good != {"allOf": len(choices), "oneOf": 1}.get(keyword):
            raise Invalid

    def _holds(self, schema: _Schema, value: Any, path: Path) -> bool:
        if not isinstance(value, dict):
            raise Refused("cloudfoundry-schema-reference", (*schema.path, *path), ruby.not_a_hash(value))
        try:
            self._validate(self._made(value, schema.uri, schema.draft, (*schema.path, *path)))
        except Invalid:
            return False
        return True

    def _referenced(self, schema: _Schema) -> _Schema:
        path = (*schema.path, "$ref")
        reference = self._parsed(schema.value["$ref"], path)
        uri = reference if reference.scheme else uris.joined(schema.uri, reference.path)
        target: Any = self._loaded.get(str(uri._replace(fragment=None)))
        if target is None:
            raise Invalid
        for step in filter(None, uris.unescaped(reference.fragment or "").split("/")):
            if not isinstance(target, dict | list | str):
                raise Refused("cloudfoundry-schema-reference", path, ruby.not_a_hash(target))
            target = _stepped(target, step.replace("~0", "~").replace("~1", "/"))
            if target is None:
                # The library raises the same exception for this as for a dialect that it does not know.
                raise Refused("cloudfoundry-schema-reference", path, "Custom meta schemas are not supported.")
        if not isinstance(target, dict):
            raise Refused("cloudfoundry-schema-reference", path, ruby.not_a_hash(target))
        return self._made(target, uri, schema.draft, path)


def _stepped(target: Any, step: str) -> Any:
    if isinstance(target, list):
        index = ruby.to_i(step)
        return target[index] if -len(target) <= index < len(target) else None
    return ruby.at(target, step)


def _place(uri: Uri) -> str:
    if uri.scheme in (None, "file"):
        return f"file at {posixpath.normpath('/' + uri.path.lstrip('/'))}"
    return f"URI at {uri}"


def _subschemas(value: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """What the library takes for schemas in a schema, in its order. It never looks into `not`."""
    for key in ("extends", "type", "disallow"):
        if isinstance(value.get(key), list):
            yield from (((key, index), item) for index, item in enumerate(value[key]))
    for key in ("definitions", "properties", "patternProperties"):
        if isinstance(value.get(key), dict):
            yield from (((key, name), item) for name, item in value[key].items())
    for key in ("additionalProperties", "additionalItems", "dependencies", "extends"):
        yield (key,), value.get(key)
    for key in ("allOf", "anyOf", "oneOf", "not"):
        if isinstance(value.get(key), list):
            yield from (((key, index), item) for index, item in enumerate(value[key]))
    items = value.get("items")
    if isinstance(items, list):
        yield from ((("items", index), item) for index, item in enumerate(items))
    else:
        yield ("items",), items


_OLD = frozenset(("type", "enum", "properties", "additionalProperties"))
_DRAFT_3 = _OLD | {"$ref", "patternProperties"}
_DRAFT_4 = (_DRAFT_3 - {"properties"}) | {"allOf", "anyOf", "oneOf", "not", "required", "minProperties"}
_KEYWORDS = {1: _OLD, 2: _OLD, 3: _DRAFT_3, 4: _DRAFT_4, 6: _DRAFT_4 | {"const"}}
"""The keywords of each draft that have something to say of `{}`."""

_SHAPES: dict[str, type] = {
    **dict.fromkeys(("properties", "patternProperties"), dict),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "enum", "required"), list),
}


def _accepts_empty_object(keyword: str, value: Any, draft: int) -> bool:
    if keyword == "type":
        return "object" in (value if isinstance(value, list) else [value])
    if keyword == "enum":
        return {} in value
    if keyword == "const":
        return bool(value == {})
    if keyword == "properties":
        return not any(_wanted(inner, draft) for inner in value.values())
    return not value  # required and minProperties


def _wanted(inner: Any, draft: int) -> bool:
    """Whether a property must be there: unless it is optional in drafts 1 and 2, if it says so in draft 3."""
    if not isinstance(inner, dict):
        return draft < 3
    if draft < 3:
        return not ruby.truthy(inner.get("optional"))
    return bool(inner.get("required"))
