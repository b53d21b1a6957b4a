"""The parameter schemas of a plan before the Cloud Controller.

Its JSON Schema library loads a schema that is valid draft-04 with all schemas inside it, which may refer to nothing
outside, and then validates `{}` with it. It does not matter whether `{}` is valid; a refusal is what stops the library
on the way: an unknown `$schema`, an external reference, one that leads nowhere, a pattern that Ruby does not compile. A
reference that leads back to itself crashes it. Where only the library itself can tell (base URIs of `id`, keywords of
draft-03, patterns of Ruby's own) the answer is unclear, never a guess.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_schemas.rb and schema.rb; the gem json-schema
6.2.0, lib/json-schema/validator.rb, lib/json-schema/schema.rb, lib/json-schema/attributes/.
"""

import re
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any
from urllib.parse import unquote

from osbctl.jsonschemas.dialects import DRAFT_4, find_older_draft
from osbctl.jsonschemas.sentences import metaschema_errors
from osbctl.messages import Message, Value
from osbctl.paths import JsonPath, entries, resolve_pointer, value_at
from osbctl.platforms.cloudfoundry.ruby import Errors, RubyCrash, equality_key, inspect, json_length
from osbctl.platforms.verdict import Refusal

_LONGEST_SCHEMA = 65_536
_PLACES = {"service_instance": ("create", "update"), "service_binding": ("create",)}
_MUST_CONFORM = "Must conform to JSON Schema Draft 04 (experimental support for later versions): …"
_NO_DOCUMENT = "copy what it refers to into this schema"


class SchemaChecks:
    """Judges the schemas of one plan after another, since the library remembers their ids.

    `doubts` are the reasons why the platform's answer on a schema is unclear.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self.doubts: list[Refusal] = []

    def find_errors(self, schemas: dict[str, Any], path: JsonPath) -> Errors:
        """Errors of a plan's `schemas`. Raises RubyCrash.

        The lines of parameters come before those of what holds them, and so on outwards.
        """
        errors, last = Errors("Schemas"), Errors()
        for outer, inners in _PLACES.items():
            if instances := _read_hash(schemas, path, (outer,), last):
                after = Errors()
                for inner in inners:
                    if operation := _read_hash(instances, path, (outer, inner), after):
                        self._check_parameters(operation, path, (outer, inner, "parameters"), errors)
                errors.own += after.own
        errors.own += last.own
        return errors

    def _check_parameters(
        self, operation: dict[str, Any], path: JsonPath, keys: tuple[str, ...], errors: Errors
    ) -> None:
        """Add the faults of the parameter schema at the last of `keys`; `path` is that of the plan's `schemas`."""
        schema, place = _read_hash(operation, path, keys, errors), (*path, *keys)
        try:
            refusals = () if schema is None else self._find_refusals(schema)
        except RubyCrash as crash:
            raise RubyCrash(place) from crash
        except UnclearSchemaError as unclear:
            refusals = ()
            self.doubts.append(Refusal("cloudfoundry-schema-unclear", (*place, *unclear.path), unclear.reason))
        except RecursionError:
            refusals = ()
            self.doubts.append(Refusal("cloudfoundry-schema-unclear", place, "it is nested too deep"))
        for refusal in refusals:
            whole = Message("Schema {} is not valid. {}", ".".join(keys), refusal.sentence)
            errors.add(refusal.rule, (*place, *refusal.path), whole, refusal.hint)

    def _find_refusals(self, schema: dict[str, Any]) -> tuple[Refusal, ...]:
        """Reasons to refuse a schema, with paths in it; its ids join `_ids`. Raises RubyCrash, UnclearSchemaError."""
        if json_length(schema) > _LONGEST_SCHEMA:
            return (Refusal("cloudfoundry-schema-size", (), "Must not be larger than 64KB"),)
        if schema.get("$schema") is None or schema["$schema"] is False:
            text = "Schema must have $schema key but was not present"
            return (Refusal("cloudfoundry-schema-dialect", ("$schema",), text),)
        # Cloud Foundry treats every schema as draft-04, regardless of its `$schema`.
        wrong = tuple(
            Refusal("cloudfoundry-schema-metaschema", path, _MUST_CONFORM, Message("in draft-04, {}", message))
            for path, message in chain(metaschema_errors(schema, DRAFT_4), _faulty_addresses(schema))
            if not _is_tolerated_error(schema, path)
        )
        if wrong:
            return wrong
        refused = find_library_refusal(schema, self._ids)
        return (refused,) if refused else ()


def _is_tolerated_error(schema: dict[str, Any], path: JsonPath) -> bool:
    """Return whether the platform accepts an error of the metaschema: any `format`, an `enum` with 1 and 1.0."""
    if path[-1:] != ("enum",):
        return path[-1:] == ("format",)
    items = value_at(schema, path)
    return isinstance(items, list) and 0 < len(items) == len({equality_key(item) for item in items})


def _faulty_addresses(schema: dict[str, Any]) -> Iterator[tuple[JsonPath, str]]:
    """The places of `id` and `$schema` that are no URI to the library addressable, which the metaschema asks for."""
    for path, inner in _schemas_inside(schema, (), *_HOLDERS):
        for key in ("id", "$schema"):
            if isinstance(inner.get(key), str) and not _is_uri(inner[key]):
                yield (*path, key), f"{key} must be a URI"


def _is_uri(text: str) -> bool:
    """Return whether Addressable::URI parses a text; it does not mind what follows the host."""
    scheme, authority, path = _URI.match(text).groups()  # type: ignore[union-attr]  # matches any text
    found = _AUTHORITY.fullmatch(authority or "")
    if not found or (found[2] and not re.search("^[0-9]+$", unquote(found[2]), re.MULTILINE)):
        return False
    if scheme is not None and not re.fullmatch("[A-Za-z][A-Za-z0-9.+-]*", scheme):
        return False
    return bool(found[1] or path or (scheme or "").lower() not in _WITH_HOST)


def _read_hash(parent: dict[str, Any], path: JsonPath, keys: tuple[str, ...], errors: Errors) -> dict[str, Any] | None:
    """The object at the last of `keys` in `parent`; other values except null and false are added to `errors`."""
    value = parent.get(keys[-1])
    if isinstance(value, dict):
        return value
    if value is not None and value is not False:
        shown = Value(value, (*path, *keys), inspect)
        sentence = Message("Schemas {} must be a hash, but has value {}", ".".join(keys), shown)
        errors.add("cloudfoundry-type", shown.path, sentence, is_wrong_type=True)
    return None


# The library.

_DRAFT = re.compile(
    r"http://(?:[^/?#]*@)?json-schema\.org(?::[^:@/?#]*)?/draft-0([12346])/(?:hyper-)?schema(?:[?#].*)?", re.DOTALL
)

_OLDER = ("1", "2", "3")
_OTHER_IN_OLDER = {"$ref", "allOf", "anyOf", "oneOf", "disallow"}
_OTHER_IN_OTHERS = {*_OTHER_IN_OLDER, "properties", "patternProperties", "not", "required", "minProperties", "const"}

_MOVED_BASE = "id moves the base of references"
_EXTENDS = "extends is a keyword of draft-03"
_OTHER_PATTERN = "Ruby may read the pattern in another way"
_GROUPS = ("definitions", "properties", "patternProperties", "allOf", "anyOf", "oneOf")
_HOLDERS = (("additionalProperties", "additionalItems", "items", "not"), (*_GROUPS, "dependencies"))
"""Keywords of draft-04 with a schema, and those with several."""
_LOADED = (("additionalProperties", "additionalItems", "items", "dependencies"), (*_GROUPS, "disallow"))
"""The same as the library loads schemas: `dependencies` is one to it, and it does not look into `not`."""

_URI = re.compile(r"(?:((?:\.\.?/)*[^:/?#]*):)?(?://([^/?#]*))?([^?#]*)(?:\?[^#]*)?(?:#.*)?$", re.MULTILINE)
_HOST = r"\[[A-Za-z0-9._~!$&'()*+,;=:-]*\]|(?!\[.*\](?::|\Z))[^<>{}\\@\"\s]*?"
_AUTHORITY = re.compile(rf"(?:[^\[\]]*@)?({_HOST})(?::([^:@\[\]\s]*))?")
_WITH_HOST = frozenset(
    ("http", "https", "ftp", "tftp", "sftp", "ssh", "svn+ssh", "telnet", "nntp", "gopher", "wais", "ldap", "prospero")
)

_SHARED_PATTERN = re.compile(
    r"(?>(?:[^\\\[\](){}*+?|]"  # a character that stands for itself, and . ^ $
    r"|\\[dDwWsSbBAZnrtf\W_]"
    r"|\[\^?\]?+(?:[^\[\]\\&]|\\[dDwWsSnrt\W])*\]"
    r"|\((?:\?:|\?=|\?!|\?<[=!]\w*(?=\))|(?!\?))|\)|\||[*+?]\??|\{\d{1,4}(?:,\d{0,4})?\}|\{(?!\d)|\})*)"
)
"""Patterns that Ruby and Python read alike, or that Ruby surely compiles. Possessive, as `a??` has two readings."""
_RUBY_REFUSES = re.compile(r"\(\?(?![:=!<>~'#(imxadu-])|\(\?<\d|\\u(?![0-9a-fA-F]{4}|\{[0-9a-fA-F])|\\[cCM]\Z")
"""Groups and escapes of other languages, such as (?P<name>...)."""
_BROKEN = re.compile("Ruby|unterminated|missing \\)|unbalanced|nothing to repeat|bad character range|bad escape \\(end")
"""Beginnings of messages for pattern errors that Ruby reports, too."""
_ANCHOR = re.compile(r"(?:[$^]|\\[bBAZ])\Z")


class UnclearSchemaError(Exception):
    """The library's answer to a schema cannot be predicted: location and reason."""

    def __init__(self, path: JsonPath, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


class _RefusedError(Exception):
    def __init__(self, rule: str, path: JsonPath, message: str, hint: str = "") -> None:
        self.refusal = Refusal(f"cloudfoundry-schema-{rule}", path, message, hint)


def find_library_refusal(schema: dict[str, Any], loaded_ids: set[str]) -> Refusal | None:
    """The first reason of the library to refuse a schema that is valid draft-04. None if it accepts the schema.

    `loaded_ids` are the values of `id` in schemas that it has loaded before; those of this one are added.

    Raises:
        RubyCrash: references go round in a circle.
        UnclearSchemaError: only the library itself can tell.
    """
    loaded = list(_schemas_inside(schema, (), *_LOADED))
    ids = [value["id"] for _, value in loaded if isinstance(value.get("id"), str)]
    # Where the library finds `#/...` depends on ids: it is certain if only the root has one, and a new one.
    is_base_certain = ids in ([], [schema.get("id")]) and loaded_ids.isdisjoint(ids)
    loaded_ids.update(ids)
    try:
        for path, value in loaded:
            _check_draft(value, path)
            _check_reference(value, path, loaded_ids)
        _check_predictable(loaded, is_base_certain)
        if _draft_number(schema) not in _OLDER:
            _Evaluation(schema).accepts_empty_object(schema, ())
        elif not all(map(_is_shared_pattern, schema.get("patternProperties", ()))):
            raise UnclearSchemaError(("patternProperties",), _OTHER_PATTERN)
    except _RefusedError as refused:
        return refused.refusal
    return None


def _schemas_inside(
    schema: dict[str, Any], path: JsonPath, single: tuple[str, ...], groups: tuple[str, ...]
) -> Iterator[tuple[JsonPath, dict[str, Any]]]:
    """The schema at `path`, and those in it under the keywords `single` and `groups`."""
    yield path, schema
    for key in (*single, *groups):
        value = schema.get(key)
        if isinstance(value, dict) and key in single:
            yield from _schemas_inside(value, (*path, key), single, groups)
        else:
            for place, inner in entries(value):
                if isinstance(inner, dict):
                    yield from _schemas_inside(inner, (*path, key, place), single, groups)


def _check_draft(schema: dict[str, Any], path: JsonPath) -> None:
    """Refuse a `$schema` that is no draft which the library knows."""
    if schema.get("$schema") is not None and not _draft_number(schema):
        hint = find_older_draft(schema).hint
        raise _RefusedError("dialect", (*path, "$schema"), "Custom meta schemas are not supported.", hint)


def _check_reference(schema: dict[str, Any], path: JsonPath, loaded_ids: set[str]) -> None:
    """Refuse a reference to another document, unless it is to the draft-04 metaschema, which is always loaded."""
    reference = schema.get("$ref")
    if reference is None or reference is False:
        return
    if not isinstance(reference, str):
        raise _RefusedError("reference", (*path, "$ref"), "…", "$ref must be a string")
    document = reference.partition("#")[0]
    if not document or document == DRAFT_4.uri:
        return
    if document[0] == "?" or _may_be_loaded(document, loaded_ids):
        raise UnclearSchemaError((*path, "$ref"), _MOVED_BASE)
    raise _RefusedError("reference", (*path, "$ref"), "No external references are allowed: …", _NO_DOCUMENT)


def _may_be_loaded(document: str, loaded_ids: set[str]) -> bool:
    names = [name.rstrip("#") for name in loaded_ids]
    return any(document.endswith(name) or name.endswith(document) for name in names)


def _check_predictable(loaded: list[tuple[JsonPath, dict[str, Any]]], is_base_certain: bool) -> None:
    """Raise UnclearSchemaError if the library follows older drafts, or another base of references."""
    if not is_base_certain and any("$ref" in schema for _, schema in loaded):
        raise UnclearSchemaError(("id",), _MOVED_BASE)
    for path, schema in loaded:
        if "extends" in schema:
            raise UnclearSchemaError((*path, "extends"), _EXTENDS)
        if _draft_number(schema) in _OLDER and not _OTHER_IN_OLDER.isdisjoint(schema):
            raise UnclearSchemaError((*path, "$schema"), "drafts before draft-04 are read by rules of their own")


def _draft_number(schema: dict[str, Any]) -> str:
    """The number of the draft that a schema names; empty if it names none that the library knows."""
    dialect = schema.get("$schema")
    draft = _DRAFT.fullmatch(dialect) if isinstance(dialect, str) else None
    return draft[1] if draft else ""


class _Evaluation:
    """One validation of `{}`, keyword by keyword in the order of the schema, up to the first that fails.

    The schema is valid draft-04.
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._draft = _draft_number(root)
        self._running: set[JsonPath] = set()
        self._known: dict[JsonPath, bool] = {}

    def accepts_empty_object(self, schema: dict[str, Any], path: JsonPath) -> bool:
        """Return whether `{}` is valid under the schema at `path`."""
        if path in self._running:
            raise RubyCrash(path)
        if path not in self._known:
            self._running.add(path)
            _check_draft(schema, path)
            if _draft_number(schema) not in ("", self._draft) and not _OTHER_IN_OTHERS.isdisjoint(schema):
                raise UnclearSchemaError((*path, "$schema"), "it is of another draft than the schema around it")
            self._known[path] = all(self._keyword_accepts(keyword, schema, (*path, keyword)) for keyword in schema)
            self._running.discard(path)
        return self._known[path]

    def _keyword_accepts(self, keyword: str, schema: dict[str, Any], path: JsonPath) -> bool:
        """Return whether `{}` is valid under one keyword of the schema, whose value is at `path`."""
        value = schema[keyword]
        match keyword:
            case "allOf" | "anyOf" | "oneOf":
                fits = (self.accepts_empty_object(item, (*path, number)) for number, item in enumerate(value))
                # Only `anyOf` ends early, at the first schema that holds.
                return any(fits) if keyword == "anyOf" else sum(list(fits)) == (1 if keyword == "oneOf" else len(value))
            case "not":
                return self._not_accepts(value, path)
            case "$ref":
                return self._reference_accepts(value, path)
            case "patternProperties" | "additionalProperties":
                # Additional properties are looked for beside a single type alone.
                if keyword == "patternProperties" or schema.get("type", "object") == "object":
                    _check_patterns(schema.get("patternProperties", {}), path[:-1])
            case "type" | "disallow":  # Since draft-04, `disallow` checks `type` once more.
                return "object" in schema.get("type", "object")
            case "enum":
                return {} in value
            case "const":
                return self._draft != "6" or value == {}
            case "required" | "minProperties":
                return bool(value == 0)
        return True

    def _not_accepts(self, schema: dict[str, Any], path: JsonPath) -> bool:
        """Return whether `{}` is not valid under a schema, which the library has not loaded."""
        keywords = {key for _, inner in _schemas_inside(schema, (), *_HOLDERS) for key in inner}
        if "extends" in keywords or {"id", "$ref"} <= keywords:
            raise UnclearSchemaError(path, _MOVED_BASE if "id" in keywords else _EXTENDS)
        return not self.accepts_empty_object(schema, path)

    def _reference_accepts(self, reference: Any, path: JsonPath) -> bool:
        if not isinstance(reference, str):
            raise _RefusedError("reference", path, "…", "$ref must be a string")
        document, _, fragment = reference.partition("#")
        if document:
            if document == DRAFT_4.uri and fragment:
                raise UnclearSchemaError(path, "it refers into the metaschema")
            return document == DRAFT_4.uri
        target = resolve_pointer(self._root, "".join(f"/{step}" for step in unquote(fragment).split("/") if step))
        value = None if target is None else value_at(self._root, target)
        if target is None or not isinstance(value, dict):
            raise _RefusedError("reference", path, "…", "the reference must lead to a schema")
        if any(metaschema_errors(value, DRAFT_4)):
            raise UnclearSchemaError(path, "the reference leads to a schema that is not valid")
        return self.accepts_empty_object(value, target)


def _check_patterns(pattern_properties: dict[str, Any], path: JsonPath) -> None:
    """Check that Ruby compiles the names of `patternProperties`, which it does though there is nothing to match.

    Raises UnclearSchemaError, or refuses, for one that Ruby may not, or does not, compile.
    """
    for pattern in pattern_properties:
        if not _is_shared_pattern(pattern):
            fault = _pattern_error(pattern)
            pattern_path = (*path, "patternProperties", pattern)
            if _BROKEN.match(fault):
                raise _RefusedError("pattern", pattern_path, "…", f"correct the pattern: {fault}")
            raise UnclearSchemaError(pattern_path, _OTHER_PATTERN)


def _is_shared_pattern(pattern: str) -> bool:
    return not _pattern_error(pattern) and _SHARED_PATTERN.fullmatch(pattern) is not None


def _pattern_error(pattern: str) -> str:
    """The reason why a pattern does not compile. Empty if it does."""
    foreign = _RUBY_REFUSES.search(pattern.replace("\\\\", ""))
    if foreign:
        return f"Ruby does not know {foreign[0]}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except re.error as error:
        # Ruby can repeat an anchor.
        is_anchor = error.msg == "nothing to repeat" and _ANCHOR.search(pattern, 0, error.pos or 0)
        return "it repeats an anchor" if is_anchor else str(error)
    except (OverflowError, RecursionError) as error:
        return str(error)
    return ""
