"""Parameter schemas: JSON Schemas that must stand on their own, without references to what platforms do not fetch."""

import json
import re
import warnings
from collections.abc import Container, Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote, urljoin

from osbctl.fields import BOOLEAN_WORDS
from osbctl.findings import Finding, Fix, Severity
from osbctl.jsonschemas.dialects import (
    DRAFT_4,
    DRAFT_4_ADDRESS,
    DRAFTS,
    KEYWORDS,
    Dialect,
    find_older_draft,
    is_valid_schema,
    misspelled_schema_key,
)
from osbctl.messages import Message, Value
from osbctl.paths import (
    BY_NAME,
    IN_PLACE,
    JSON_TYPES,
    JsonPath,
    JsonValue,
    SchemaPlace,
    find_refs,
    get_at,
    resolve_pointer,
    resolve_ref,
    subschemas,
    value_at,
)
from osbctl.placeholders import holds_placeholder
from osbctl.rule import Category, Rule
from osbctl.text import closest_word, did_you_mean
from osbctl.validation.checks import Node, check_schemas

MAX_BYTES = 65_536
"""64 kB (OSB 2.13, Schemas Object: Platforms MUST support schemas of that size)."""

_COMBINED = {*IN_PLACE, "$ref", "patternProperties"}
"""Keywords by which a schema describes properties in other places than its own `properties`."""

_ECMA_ONLY = ("(?<", "\\p{", "\\P{", "\\c", "\\u", "[^]", "[]")
"""Signs of what ECMA 262 knows and Python, which reads the patterns, does not."""


@check_schemas(Rule("parameters-dialect-missing", Severity.ERROR, Category.SPEC))
def parameters_dialect_missing(schema: Node) -> Iterator[Finding]:
    """A parameter schema does not name its draft of JSON Schema.

    Bad: parameters: {type: object}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", type: object}
    Fix: adds draft-04, draft-06 for keywords of later drafts, or renames `schema` if that names a draft; with --unsafe
    if other requests might pass then.
    Source: OSB 2.13, Input Parameters Schema Object: the schema MUST have a $schema keyword
    """
    if "$schema" not in schema:
        slip, older = misspelled_schema_key(schema.value), find_older_draft(schema.value)
        hint = f"rename {slip} to $schema" if slip else older.hint
        if older.address and not slip:
            hint = f'add "$schema": "{older.address}"'
        yield schema.finding("the parameter schema has no $schema", "$schema", hint)


@check_schemas(Rule("parameters-dialect-unknown", Severity.ERROR, Category.SPEC))
def parameters_dialect_unknown(schema: Node) -> Iterator[Finding]:
    """A parameter schema names an unknown draft of JSON Schema.

    The names are exact: draft-07 and before begin with http, later ones with https.

    Bad: parameters: {$schema: "https://json-schema.org/draft-04/schema#"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#"}
    Fix: writes draft-04 or draft-06 for a name with the wrong scheme, if the schema means the same; with --unsafe.
    Source: OSB 2.13, Input Parameters Schema Object: draft-04 or later, no custom metaschema
    """
    dialect = schema.text("$schema")
    if dialect is None and "$schema" in schema:
        yield schema.finding("$schema must be a string", "$schema", f"write {DRAFT_4_ADDRESS}")
    elif dialect is not None and _find_draft(schema) is None:
        older = find_older_draft(schema.value)
        fixes = (Fix("set", (*schema.path, "$schema"), older.address),) if older.address else ()
        message = Message("{} is not a known draft of JSON Schema", Value(dialect, ("$schema",), limit=80))
        yield schema.finding(message, "$schema", older.hint, fixes)


@check_schemas(Rule("parameters-invalid", Severity.ERROR, Category.SPEC))
def parameters_invalid(schema: Node) -> Iterator[Finding]:
    """A parameter schema is not valid under its own draft, or under draft-04 if it names no known draft.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: int}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: integer}}}
    Source: OSB 2.13, Input Parameters Schema Object: parameters MUST be a valid JSON Schema
    """
    from osbctl.jsonschemas.sentences import metaschema_errors

    # Cloud Foundry treats every schema as draft-04, regardless of its $schema.
    for path, text in metaschema_errors(schema.value, _find_draft(schema) or DRAFT_4):
        if path == ("$schema",):  # `parameters-dialect-unknown` reports it
            continue
        hint = _repair_hint(path, get_at(schema.value, path))
        yield schema.finding(Message("not a valid JSON Schema: {}", text), path, hint)


def _repair_hint(path: JsonPath, value: JsonValue) -> str:
    """Hint on a wrong value of a keyword. Empty if the sentence says it."""
    if path[-1:] == ("type",):
        return did_you_mean(str(value), JSON_TYPES.values())
    if path[-1:] == ("required",):
        return "leave it out" if value == [] else "write a list of names, beside `properties`"
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?|true|false", value):
        return f"write {value}, without quotes"
    return ""


def _find_draft(schema: Node) -> Dialect | None:
    """The draft that `$schema` names exactly. None if it is missing or unknown."""
    return DRAFTS.get((schema.text("$schema") or "").removesuffix("#"))


@check_schemas(Rule("parameters-too-large", Severity.ERROR, Category.SPEC))
def parameters_too_large(schema: Node) -> Iterator[Finding]:
    """A parameter schema is larger than 64 kB.

    Source: OSB 2.13, Schemas Object: at most 64 kB
    """
    size = count_bytes(schema.value)
    if size > MAX_BYTES:
        message = f"the parameter schema has {size:,} bytes; at most {MAX_BYTES:,} are allowed"
        yield schema.finding(message, hint="shorten it")


def count_bytes(schema: JsonValue) -> int:
    """The size of a parameter schema in JSON, written as short as can be, in UTF-8."""
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


@check_schemas(Rule("parameters-keyword", Severity.WARNING, Category.ADVICE))
def parameters_keyword(schema: Node) -> Iterator[Finding]:
    """An unknown keyword in a parameter schema looks like a misspelt known one.

    JSON Schema ignores unknown keywords silently: `minumum: 1` accepts 0. Reported only if the value fits the known
    keyword, or is a text in place of a boolean or a number.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {minumum: 1}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {minimum: 1}}}
    Fix: renames the keyword, with --unsafe.
    Source: JSON Schema Core: unknown keywords are ignored
    """
    draft = _find_draft(schema) or DRAFT_4
    for place in _subschemas_through(schema.value, KEYWORDS | {"definitions", "$defs"}):
        for key, value in place.value.items():
            meant = _closest_keyword(key)
            if not meant or meant in place.value:
                continue
            fits = is_valid_schema({meant: value}, draft)
            if not fits and not _is_scalar_of_another_type(meant, value):
                continue
            if meant == "$ref" and not isinstance(value, str):  # the metaschema of draft-04 takes anything
                continue
            path = (*place.path, key)
            message = Message("unknown keyword {}: did you mean {}?", Value(key, limit=60), meant)
            # A new name would break a reference that goes through this one.
            targets = (resolve_ref(schema.value, ref) or () for _, ref in find_refs(schema.value))
            is_on_the_way = any(target[: len(path)] == path for target in targets)
            hint = f"rename to {meant}" + (", in the references through it, too" if is_on_the_way else "")
            hint += "" if fits else ", and correct its value"
            fixes = (Fix("rename", path, meant),) if fits and not is_on_the_way else ()
            yield schema.finding(message, path, hint, fixes)


def _is_scalar_of_another_type(meant: str, value: object) -> bool:
    """Return whether a value is a boolean or a number in quotes, for a keyword that takes one."""
    text = value.strip().lower() if isinstance(value, str) else ""
    if text in BOOLEAN_WORDS:
        return is_valid_schema({meant: BOOLEAN_WORDS[text]}, DRAFT_4)
    return text.isascii() and text.isdecimal() and is_valid_schema({meant: int(text[:9])}, DRAFT_4)


@lru_cache(maxsize=1024)
def _closest_keyword(key: str) -> str:
    """The known keyword that an unknown one likely misspells. Empty if there is none."""
    return "" if key in KEYWORDS else closest_word(key, KEYWORDS)


@check_schemas(Rule("parameters-required", Severity.WARNING, Category.ADVICE))
def parameters_required(schema: Node) -> Iterator[Finding]:
    """A parameter schema requires a property that it does not describe.

    A form shows no field for it, and a request without it is refused. Schemas with combinations, references or patterns
    are not checked.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {}}, required: [sise]}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {}}, required: [size]}
    Source: JSON Schema Validation, required and properties
    """
    for place in _subschemas_through(schema.value, {"properties", "items"}):
        described, required = _local_properties(place.value), place.value.get("required")
        for index, name in enumerate(required if described and isinstance(required, list) else ()):
            if isinstance(name, str) and name not in described:
                message = Message("it requires {}, which is not among its properties", Value(name, limit=60))
                hint = did_you_mean(name, described) or "describe the property, or do not require it"
                yield schema.finding(message, (*place.path, "required", index), hint)


def _local_properties(schema: dict[str, Any]) -> dict[str, Any]:
    """The properties of a schema. Empty if other keywords may describe more of them."""
    described, is_alone = schema.get("properties"), isinstance(schema.get("additionalProperties", True), bool)
    return described if isinstance(described, dict) and is_alone and not _COMBINED & schema.keys() else {}


def _subschemas_through(schema: dict[str, Any], keywords: Container[object]) -> Iterator[SchemaPlace]:
    """The schema, and the schemas in it that are reached through these keywords alone."""
    reached = set()
    for place in subschemas(schema):
        if place.parent is None or (place.parent in reached and place.path[len(place.parent.path)] in keywords):
            reached.add(place)
            yield place


@check_schemas(Rule("parameters-pattern", Severity.WARNING, Category.ADVICE))
def parameters_pattern(schema: Node) -> Iterator[Finding]:
    """A pattern in a parameter schema is not a regular expression.

    It is read, never run.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {pattern: "("}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {pattern: "^a"}}}
    Source: JSON Schema Validation, pattern: a regular expression of ECMA 262
    """
    for place in subschemas(schema.value):
        regex = place.value.get("pattern")
        if isinstance(regex, str) and not any(sign in regex for sign in _ECMA_ONLY) and (text := _pattern_error(regex)):
            message = Message("{} is not a regular expression: {}", Value(regex, limit=60), text)
            yield schema.finding(message, (*place.path, "pattern"), "correct it: tools that read the schema fail on it")


def _pattern_error(pattern: str) -> str:
    """Error of a pattern in the words of Python's `re`. Empty if it is valid or unknown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python means to change about sets is no fault of the pattern
        try:
            re.compile(pattern)
        except re.error as error:
            return error.msg
        except (RecursionError, OverflowError):
            pass
    return ""


@check_schemas(Rule("parameters-default", Severity.WARNING, Category.ADVICE))
def parameters_default(schema: Node) -> Iterator[Finding]:
    """A parameter schema refuses its own default or example.

    Forms use it, and the broker or the next check refuses it. Only proven cases are reported.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {type: integer, default: b}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {type: integer, default: 3}}}
    Source: JSON Schema Validation, default: RECOMMENDED to be valid against its schema
    """
    from osbctl.jsonschemas.schema_tree import find_refused_values

    for path, keywords in find_refused_values(schema.value):
        value = value_at(schema.value, path)
        if isinstance(value, str) and holds_placeholder(value):
            continue
        kind = "default" if path[-1] == "default" else "example"
        by = f" by its {', '.join(keywords)}" if all(keywords) and keywords else ""
        yield schema.finding(f"the schema refuses its own {kind}{by}", path, "correct one of the two")


@check_schemas(Rule("parameters-impossible", Severity.WARNING, Category.ADVICE))
def parameters_impossible(schema: Node) -> Iterator[Finding]:
    """A minimum in a parameter schema is above its maximum, or a required text may have at most 0 characters.

    No value that they limit is valid, or none but the empty text.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {minimum: 9, maximum: 3}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {minimum: 3, maximum: 9}}}
    Source: OSB 2.13, Input Parameters Schema Object: the schema describes what may be sent
    """
    for place in subschemas(schema.value):
        for suffix in ("imum", "Length", "Items", "Properties"):
            low, high = f"min{suffix}", f"max{suffix}"
            least, most = place.value.get(low), place.value.get(high)
            if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
                yield schema.finding(f"{low} is above {high}", (*place.path, low), "correct one of the two")
        required = place.value.get("required")
        if not isinstance(required, list):
            continue
        for name, inner in _local_properties(place.value).items():
            if name in required and isinstance(inner, dict) and inner.get("maxLength") == 0:
                message = Message("{} is required, and may have at most 0 characters", Value(name, limit=60))
                yield schema.finding(message, (*place.path, "properties", name, "maxLength"), "correct maxLength")


_KEYWORDS = ("$ref", "$dynamicRef")
_MOST_CIRCLES = 20


@lru_cache(maxsize=1)
def _references(schema: Node) -> "References":
    """The references of the schema that the rules look at, one after the other."""
    return References(schema.value)


@check_schemas(Rule("parameters-reference-external", Severity.ERROR, Category.SPEC))
def parameters_reference_external(schema: Node) -> Iterator[Finding]:
    """A parameter schema refers to something outside of itself.

    Platforms fetch nothing. `osbctl build` includes schemas from separate files.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "https://example.com/size.json"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: integer}}}
    Source: OSB 2.13, Input Parameters Schema Object: schemas MUST NOT contain external references
    """
    references = _references(schema)
    for place, keyword in references.all:
        reference = place.value[keyword]
        if references.resolve(place, keyword) is OUTSIDE and reference.partition("#")[0] not in DRAFTS:
            message = Message("{} leads out of the schema", Value(reference, limit=80))
            yield schema.finding(message, (*place.path, keyword), "put the definition into the schema itself")


@check_schemas(Rule("parameters-reference-missing", Severity.ERROR, Category.SPEC))
def parameters_reference_missing(schema: Node) -> Iterator[Finding]:
    """A reference in a parameter schema has no target.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#/items"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#/items", items: {type: object}}
    Source: JSON Schema, $ref: the reference identifies a schema
    """
    references = _references(schema)
    for place, keyword in references.all:
        if references.resolve(place, keyword) is MISSING:
            message = Message("{} leads nowhere", Value(place.value[keyword], limit=80))
            yield schema.finding(message, (*place.path, keyword), "add the definition, or correct the reference")


@check_schemas(Rule("parameters-reference-loop", Severity.ERROR, Category.SPEC))
def parameters_reference_loop(schema: Node) -> Iterator[Finding]:
    """References in a parameter schema form a circle and never reach a schema.

    Recursion into a part of the value is valid, as in a tree. A reference back to itself is not, neither through
    `allOf` and the like, which check the same value. Each circle is reported once.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {child: {$ref: "#"}}}
    Source: JSON Schema, $ref: a schema MUST NOT be run into an infinite loop; Cloud Foundry crashes on one
    """
    for place in _references(schema).find_loops():
        yield schema.finding("the reference leads back to itself", (*place.path, "$ref"), "let it lead to a schema")


OUTSIDE, MISSING = object(), object()
"""Instead of the target of a reference that leads out of the schema, or nowhere."""


class References:
    """The references of one schema (JSON Schema Core 2020-12, section 8.2, and its counterparts in older drafts)."""

    def __init__(self, schema: dict[str, Any]) -> None:
        dialect = schema.get("$schema")
        old = isinstance(dialect, str) and dialect.removesuffix("#") == DRAFT_4.uri
        self._id = "id" if old else "$id"
        self._resources: dict[str, Any] = {"": schema}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._base: dict[SchemaPlace, str] = {}
        self._places = list(subschemas(schema))
        self.all: list[tuple[SchemaPlace, str]] = []
        for place in self._places:
            self._index_identifiers(place)
            self.all += [(place, key) for key in _KEYWORDS if isinstance(place.value.get(key), str)]

    def _index_identifiers(self, place: SchemaPlace) -> None:
        """Record the base URI, the id and the anchors of a subschema."""
        base = self._base[place.parent] if place.parent else ""
        identity = place.value.get(self._id)
        if isinstance(identity, str):
            address, _, anchor = identity.partition("#")
            if address:
                base = _join_url(base, address)
                self._resources.setdefault(base, place.value)
                self._resources.setdefault(address, place.value)
            if anchor:
                self._anchors[base, anchor] = place.value
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = place.value.get(keyword)
            if isinstance(name, str):
                self._anchors[base, name] = place.value
        self._base[place] = base

    def resolve(self, place: SchemaPlace, keyword: str = "$ref") -> Any:
        """Target of the reference at `place`; `OUTSIDE` or `MISSING` without one."""
        address, _, fragment = place.value[keyword].partition("#")
        base = self._base.get(place, "")
        if address:
            joined = _join_url(base, address)
            base = joined if joined in self._resources else address
        if base not in self._resources:
            return OUTSIDE
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((base, unquote(fragment)), MISSING)
        path = resolve_pointer(self._resources[base], unquote(fragment))
        return MISSING if path is None else value_at(self._resources[base], path)

    def find_loops(self) -> Iterator[SchemaPlace]:
        """Find the first reference of each endless circle, of at most `_MOST_CIRCLES`."""
        place_by_id = {id(place.value): place for place in reversed(self._places)}
        following = {place: list(self._schemas_of_same_value(place, place_by_id)) for place in self._places}
        for _ in range(_MOST_CIRCLES):
            try:
                TopologicalSorter(following).prepare()
                return
            except CycleError as error:
                circle = {place for place in error.args[1] if isinstance(place.value.get("$ref"), str)}
            first = next(place for place in self._places if place in circle)
            following[first] = []
            yield first

    def _schemas_of_same_value(self, place: SchemaPlace, place_by_id: dict[int, SchemaPlace]) -> Iterator[SchemaPlace]:
        """The schemas that a schema applies to its own value; `place_by_id` has the `id()` of each as key."""
        if isinstance(place.value.get("$ref"), str):
            schemas = [self.resolve(place)]  # up to draft-07 nothing beside it counts
        else:
            values = [place.value.get(keyword) for keyword in IN_PLACE if keyword not in BY_NAME]
            schemas = [item for value in values for item in (value if isinstance(value, list) else [value])]
        for value in schemas:
            if id(value) in place_by_id:
                yield place_by_id[id(value)]


def _join_url(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:  # a broken IPv6 address
        return address
