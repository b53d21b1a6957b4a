"""A parameter schema as a tree of nodes, with its local references resolved, and a validator of values at its places.

The validator has a budget: it fetches nothing, and leaves undecided what would take too long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from math import inf, prod
from typing import Any
from urllib.parse import quote

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from osbctl.jsonschemas.dialects import DISPLAY_FORMATS, Dialect, UndecidableError, detect_dialect, refuse_to_fetch
from osbctl.jsonschemas.sentences import error_path
from osbctl.paths import (
    BY_NAME,
    IN_PLACE,
    JsonPath,
    JsonValue,
    depth,
    entries,
    find_refs,
    pointer,
    resolve_ref,
    subschemas,
    value_at,
)
from osbctl.text import escape_line

MAX_DEPTH = 64
"""Levels of nesting; real schemas have under 12. Below this no recursion here comes near Python's limit."""

_ONE = ("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LIST = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_IDENTITIES = ("$id", "id")
STRUCTURE = frozenset({*_ONE, *_LIST, *BY_NAME, *_IDENTITIES, "$schema", "default"})
"""The keywords that are kept beside those that the draft asserts."""
_UNORDERED, _UNORDERED_BY_NAME = {"enum", "required", "type"}, {"dependencies", "dependentRequired"}
_UNSUPPORTED = {"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"}


class Subschema:
    """One schema of a tree. There is one object for each place, so two are equal where they are the same place."""

    def __init__(self, tree: SchemaTree, path: JsonPath, value: JsonValue) -> None:
        self.tree = tree
        self.path = path
        self.value = value

    @cached_property
    def assertions(self) -> dict[str, JsonValue]:
        """The keywords that its draft asserts, with their values, except for values that refuse nothing."""
        found = {}
        for word, value in self.value.items() if isinstance(self.value, dict) else ():
            refuses_nothing = value in DISPLAY_FORMATS if word == "format" else (word, value) == ("uniqueItems", False)
            if word in self.tree.dialect.keywords and not refuses_nothing:
                found[word] = value
        return found

    @cached_property
    def target(self) -> Subschema:
        """The schema itself, or the one that its `$ref` names, if that is all that counts in it."""
        reference = self.get("$ref")
        if reference is None or (self.tree.dialect.year >= 2019 and len(self.assertions) > 1):
            return self
        return self.tree.resolve(reference).target

    @cached_property
    def applied(self) -> dict[JsonPath, Subschema]:
        """The schemas that its assertions apply, by the steps that lead to them."""
        found = {node.path[len(self.path) :]: node for word, node in direct_subschemas(self) if word in self.assertions}
        reference = self.get("$ref")
        return found if reference is None else {**found, ("$ref",): self.tree.resolve(reference)}

    @cached_property
    def literals(self) -> dict[str, JsonValue]:
        """Its assertions without the schemas in them; a list is sorted if its order says nothing."""
        found: dict[str, JsonValue] = {}
        holding_schemas = {steps[0] for steps in self.applied}
        for word, value in self.assertions.items():
            if word in _UNORDERED_BY_NAME:
                found[word] = {name: sorted(part) for name, part in value.items() if (word, name) not in self.applied}
            elif word in _UNORDERED and isinstance(value, list):
                found[word] = sorted(value, key=repr)
            elif word not in holding_schemas:
                found[word] = value
        return found

    def get(self, keyword: str) -> JsonValue:
        """The keyword's value. None if it is missing or its draft does not assert it."""
        return self.assertions.get(keyword)

    def child(self, *steps: str | int) -> Subschema:
        """The subschema that these steps lead to, which must exist."""
        return self.tree.nodes[(*self.path, *steps)]

    def get_child(self, keyword: str) -> Subschema | None:
        """The subschema in this keyword. None if it is missing."""
        return None if self.get(keyword) is None else self.child(keyword)

    def children(self, keyword: str) -> tuple[Subschema, ...]:
        """The subschemas in a keyword that holds a list of them. Empty if it is missing."""
        found = self.get(keyword)
        return tuple(self.child(keyword, i) for i in range(len(found))) if isinstance(found, list) else ()

    @cached_property
    def choices(self) -> list[tuple[Subschema, ...]]:
        """The branches of `anyOf` and of `oneOf`, where there are any."""
        return [branches for keyword in ("anyOf", "oneOf") if (branches := self.children(keyword))]

    @property
    def hides_keywords(self) -> bool:
        """True if it has a `$ref` that hides all other keywords (draft-07 core, 8.3)."""
        return self.get("$ref") is not None and self.tree.dialect.year < 2019

    @cached_property
    def conjuncts(self) -> tuple[Subschema, ...]:
        """The schemas that must all hold: this one, those of its `allOf` and the target of its `$ref`, flattened.

        `true` adds nothing; `false` stays.
        """
        if self.value is True:
            return ()
        reference = self.get("$ref")
        target = () if reference is None else self.tree.resolve(reference).conjuncts
        if self.hides_keywords:
            return target
        parts = chain.from_iterable(part.conjuncts for part in self.children("allOf"))
        return tuple(dict.fromkeys((*target, self, *parts)))

    @cached_property
    def listed_values(self) -> list[JsonValue] | None:
        """The only values that it allows: of `enum` or `const`, or of all branches of an `anyOf` or `oneOf`."""
        if "const" in self.assertions:
            return [self.assertions["const"]]
        found: list[JsonValue] | None = self.get("enum")
        for branches in self.choices:
            lists = [shortest_value_list(branch.conjuncts) for branch in branches]
            if found is None and None not in lists:
                found = [value for values in lists for value in values or ()]
        return found

    @cached_property
    def validation_cost(self) -> float:
        """The number of schemas that may judge a value here and its parts; a reference may lead to the whole."""
        if any(find_refs(self.value)):
            return len(self.tree.nodes) + self.tree.max_schemas_per_value
        return sum(1 for _ in subschemas(self.value))


def shortest_value_list(schemas: Iterable[Subschema]) -> list[JsonValue] | None:
    """The shortest list of values that one of the schemas allows. None if none has a list."""
    return min((schema.listed_values for schema in schemas if schema.listed_values is not None), key=len, default=None)


class SchemaTree:
    """A whole schema. Raises `UndecidableError` if it is nested too deeply or names an unknown draft."""

    def __init__(self, value: JsonValue, dialect: Dialect | None = None) -> None:
        self.value = value
        if depth(value) > MAX_DEPTH:
            raise UndecidableError(f"is nested deeper than {MAX_DEPTH} levels")
        self.dialect = dialect or detect_dialect(value)
        self.nodes: dict[JsonPath, Subschema] = {}
        """Every place that holds a schema, by path."""
        todo: list[tuple[JsonPath, JsonValue]] = [((), value)]
        while todo:
            path, schema = todo.pop()
            self.nodes[path] = Subschema(self, path, schema)
            todo += [((*path, *steps), inner) for steps, inner in _direct_schemas(schema)]
        self.top = self.nodes[()]

    def copy_for_validation(self) -> JsonValue:
        """A copy as its draft reads it, without identities: no reference that is followed leads to one."""
        whole = deepcopy(self.value)
        kept = self.dialect.keywords | STRUCTURE - {*_IDENTITIES, "dependencies"}
        for path in reversed(self.nodes):  # inner places first
            place = value_at(whole, path)
            for keyword in place.keys() - kept if isinstance(place, dict) else ():
                del place[keyword]
        return whole

    @cached_property
    def has_formats(self) -> bool:
        """True if anything depends on whether formats are enforced."""
        return any("format" in node.assertions for node in self.nodes.values())

    @cached_property
    def max_pattern_weight(self) -> int:
        """The weight of the pattern that costs most to run; 0 if there is none."""
        found = {node.get("pattern") or "" for node in self.nodes.values()}
        found.update(*(node.get("patternProperties") or () for node in self.nodes.values()))
        return max(map(pattern_weight, found))

    def resolve(self, ref: JsonValue) -> Subschema:
        """The schema that a local `$ref` names. Raises `UndecidableError`."""
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise UndecidableError("has a $ref that leaves the schema, or is not a JSON pointer")
        place = resolve_ref(self.value, ref)
        if place not in self.nodes:
            raise UndecidableError("has a $ref to a place that holds no schema")
        return self.nodes[place]

    def check_supported(self) -> None:
        """Raise `UndecidableError` if this comparison does not support its references or keywords."""
        schemas = {path: node.value for path, node in self.nodes.items() if isinstance(node.value, dict)}
        used = set[str]().union(*schemas.values())
        for keyword in sorted(_UNSUPPORTED & used & self.dialect.keywords):
            raise UndecidableError(f"uses {keyword}, which this comparison does not read")
        # References in a part with a name or a draft of its own may mean something else than in the rest.
        names = {"$schema", *_IDENTITIES} if "$ref" in used else {"$schema"}
        if any(path and not names.isdisjoint(schema) for path, schema in schemas.items()):
            raise UndecidableError("has a part with an identity or a draft of its own")
        if "$ref" in used and self.max_schemas_per_value == inf:
            raise UndecidableError("has references that run in a loop")

    @cached_property
    def max_schemas_per_value(self) -> float:
        """The number of schemas that judge one value at most, each as often as references lead to it.

        Infinite if they run in a loop that never enters a part of the value.
        """
        graph = {n: [inner for word, inner in direct_subschemas(n) if word in IN_PLACE] for n in self.nodes.values()}
        for node, applied in graph.items():
            if isinstance(node.value, dict) and "$ref" in node.value:
                applied.append(self.resolve(node.value["$ref"]))
        counts: dict[Subschema, int] = {}
        try:
            for node in TopologicalSorter(graph).static_order():
                counts[node] = 1 + sum(counts[inner] for inner in graph[node])
        except CycleError:
            return inf
        return max(counts.values())


def direct_subschemas(node: Subschema) -> Iterator[tuple[str, Subschema]]:
    """The schemas one step further down, each with the keyword that holds it."""
    return ((steps[0], node.child(*steps)) for steps, _ in _direct_schemas(node.value))


def _direct_schemas(schema: JsonValue) -> Iterator[tuple[tuple[str, *tuple[str | int, ...]], JsonValue]]:
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        found: list[tuple[JsonPath, JsonValue]] = [((), value)] if keyword in _ONE else []
        if keyword in BY_NAME or (keyword in _LIST and isinstance(value, list)):
            found = [((key,), part) for key, part in entries(value)]
        yield from (((keyword, *steps), part) for steps, part in found if isinstance(part, dict | bool))


_COUNTED = re.compile(r"([)}?*+]?)\{(\d{1,9}),?(\d{0,9})\}")


def pattern_weight(pattern: str) -> int:
    """The cost of a pattern for one character of a text: roughly the states that an engine has for it."""
    counts = [(before, min(int(high or low) or 1, 9_999)) for before, low, high in _COUNTED.findall(pattern)]
    parts = len(pattern) + sum(count for before, count in counts if not before)
    groups = prod(count for before, count in counts if before)
    backtracks = re.search(r"\(\?<?[=!]|\\[1-9k]", pattern)  # lookaround and backreferences
    return parts * groups * (100 if backtracks else 1)


MAX_JUDGEMENTS = 20_000
"""Small values judged by small schemas for one pair of schemas; beyond this differences are left undecided."""

_PARTS, _WORK = 50, 5_000
"""So many parts of a schema, keys and values in a value, or errors cost one more judgement; and so do so many
characters times a pattern's weight.
"""
_MAX_TEXT, _MAX_WORK = 1_500, 500_000
"""Characters in a text that patterns may be run on, and these times the pattern's weight: a few milliseconds."""

_ENGINES = jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""The first that supports a pattern runs it, as ECMA 262 defines it: in time in proportion to the text and to the
pattern's weight (Python's `re` takes seconds for `^(a+)+$` on 30 characters), or, with lookaround, in a limited number
of steps. The second is the fallback, since it finds `^a+b?a+$` in `a` (0.60).
"""
_GAVE_UP = (ValidationErrorKind.BacktrackLimitExceeded, ValidationErrorKind.RegexEngineFailure)
_ROOT = "urn:osbctl:schema"


class BoundedValidator:
    """Judges values by the schemas of both sides, until the budget `left` is spent, with texts up to `max_text`."""

    def __init__(self, budget: int = MAX_JUDGEMENTS, max_text: int = _MAX_TEXT) -> None:
        self.left, self._max_text = budget, max_text
        self._compiled: dict[tuple[Subschema, bool], Any] = {}
        self._registries: dict[SchemaTree, Any] = {}

    def accepts(self, node: Subschema, value: JsonValue, formats: bool = False) -> bool | None:
        """Return whether the value is valid there. None if that cannot be decided. `formats`: assert formats, too."""
        if isinstance(node.value, bool):
            return node.value
        errors = self.errors(node, value, formats)
        return None if errors is None else not errors

    def refusing_keywords(self, node: Subschema, value: JsonValue) -> frozenset[str] | None:
        """The keywords directly at this place that refuse the value, whether formats are asserted or not.

        Under a `not`, to assert a format is to refuse less.
        """
        if isinstance(node.value, bool):
            return frozenset() if node.value else frozenset({""})
        found: set[str] = set()
        for formats in {False, node.tree.has_formats}:
            errors = self.errors(node, value, formats)
            if errors is None:
                return None
            # The first step is our own reference to the place.
            found.update(str(error.evaluation_path[1]) for error in errors)
        return frozenset(found)

    def errors(self, node: Subschema, value: JsonValue, formats: bool = True) -> list[ValidationError] | None:
        """The errors of a value. None if it cannot be judged within the budget."""
        if self.left <= 0 or not self._spend_budget(node, value):
            return None
        key = (node, formats and node.tree.has_formats)
        if key not in self._compiled:
            self._compiled[key] = self._compile_validator(*key)
        try:
            errors = list(self._compiled[key].iter_errors(value))
        except Exception:  # On any error the value is undecided.
            return None
        self.left -= len(errors) // _PARTS
        # A pattern that took too long, wherever it stands, leaves the whole value undecided.
        return None if any(isinstance(error.kind, _GAVE_UP) for error in errors) else errors

    def _spend_budget(self, node: Subschema, value: JsonValue) -> bool:
        """Pay for one judgement. False if the budget is spent, or a pattern would take too long."""
        heaviest, parts = node.tree.max_pattern_weight, list(_all_keys_and_values(value))
        longest = max((len(part) for part in parts if isinstance(part, str)), default=0) if heaviest else 0
        self.left -= 1 + (int(node.validation_cost) + len(parts)) // _PARTS + longest * heaviest // _WORK
        return self.left >= 0 and longest <= self._max_text and longest * heaviest <= _MAX_WORK

    def _compile_validator(self, node: Subschema, formats: bool) -> Any:
        """The validator of this place. None if it cannot be made."""
        tree = node.tree
        name = tree.dialect.validator
        if tree not in self._registries:
            resources = [(_ROOT, tree.copy_for_validation())]
            draft = getattr(jsonschema_rs, name.removesuffix("Validator"))
            self._registries[tree] = jsonschema_rs.Registry(resources, draft=draft, retriever=refuse_to_fetch)
        reference = {"$ref": f"{_ROOT}#{quote(pointer(node.path))}"}
        options = {"registry": self._registries[tree], "retriever": refuse_to_fetch, "validate_formats": formats}
        for engine in _ENGINES:
            with suppress(Exception):  # a pattern that the engine does not take, or takes for too large
                return getattr(jsonschema_rs, name)(reference, pattern_options=engine, **options)
        return None


def build_checked_tree(schema: JsonValue) -> SchemaTree:
    """The schema as a tree of which all references and keywords are read. Raises `UndecidableError` with the reason."""
    tree = build_valid_tree(schema)
    tree.check_supported()
    return tree


def build_valid_tree(schema: JsonValue, dialect: Dialect | None = None) -> SchemaTree:
    """The schema as a tree, valid under `dialect` or else the draft that it names.

    Raises `UndecidableError` with the place of what is not valid.
    """
    tree = SchemaTree(schema, dialect)
    # The metaschema skips keywords of other drafts, but a reference may lead there.
    read = tree.dialect.keywords | ({"definitions"} if tree.dialect.year < 2019 else {"definitions", "$defs"})
    unread = [inner for node in tree.nodes.values() for word, inner in direct_subschemas(node) if word not in read]
    for node in (tree.top, *unread):
        try:
            if not isinstance(node.value, bool):
                jsonschema_rs.meta.validate({**node.value, "$schema": tree.dialect.uri})
        except (TypeError, ValueError, jsonschema_rs.ReferencingError) as error:
            inside = error_path(error, node.value) if isinstance(error, ValidationError) else ()
            place = pointer((*node.path, *inside))
            where = f" (at {escape_line(place[:80])})" if place else ""
            raise UndecidableError(f"is not a valid {tree.dialect.name} schema{where}") from None
    return tree


def _all_keys_and_values(value: JsonValue) -> Iterator[JsonValue]:
    yield value
    for key, inner in entries(value):
        yield key
        yield from _all_keys_and_values(inner)


def find_refused_values(schema: JsonValue) -> Iterator[tuple[JsonPath, tuple[str, ...]]]:
    """The defaults and examples that their own schema refuses, with the keywords; never raises.

    Sound, not complete: patterns and formats as above, and no result for a schema that the comparison cannot read.
    """
    found = [(place.path, *value) for place in subschemas(schema) for value in defaults_and_examples(place.value)]
    if not found:  # as in most schemas
        return
    try:
        tree = build_checked_tree(schema)
    except UndecidableError:
        return
    validator = BoundedValidator(2_000)  # a tenth of a second for one schema
    for place, inside, value in found:
        node = tree.nodes.get(place)
        if node and all(validator.accepts(node, value, formats) is False for formats in (False, True)):
            yield (*place, *inside), tuple(sorted(validator.refusing_keywords(node, value) or ()))


def defaults_and_examples(schema: JsonValue) -> Iterator[tuple[JsonPath, JsonValue]]:
    """The values that a schema gives as examples of its own, with the steps to each."""
    if isinstance(schema, dict):
        yield from (((key,), schema[key]) for key in ("default", "example") if key in schema)
        examples = schema.get("examples")
        yield from ((("examples", n), value) for n, value in enumerate(examples if isinstance(examples, list) else ()))
