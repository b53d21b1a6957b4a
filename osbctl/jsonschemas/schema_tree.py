"""A parameter schema as a tree of nodes, with its local references resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from math import inf, prod

from osbctl.jsonschemas.dialects import DISPLAY_FORMATS, DRAFT_4, Dialect, detect_dialect
from osbctl.jsonschemas.walk import IN_PLACE, UndecidableError, find_refs, resolve_ref, same_value, subschemas
from osbctl.paths import BY_NAME, JsonPath, JsonValue, depth, entries, value_at

MAX_DEPTH = 64
"""Levels of nesting; real schemas have under 12. Below this no recursion here comes near Python's limit."""

_ONE = ("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LIST = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_IDENTITIES = ("$id", "id")
STRUCTURE = frozenset({*_ONE, *_LIST, *BY_NAME, *_IDENTITIES, "$schema", "default"})
"""The keywords that are kept beside those that the draft asserts."""
_UNORDERED, _UNORDERED_BY_NAME = {"enum", "required", "type"}, {"dependencies", "dependentRequired"}
_ABSENT = object()
"""Stands for a keyword that a schema does not have."""
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
        keywords = self.value.items() if isinstance(self.value, dict) else ()
        known = self.tree.dialect.keywords
        return {word: value for word, value in keywords if word in known and not _refuses_nothing(word, value)}

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

    @cached_property
    def conjuncts(self) -> tuple[Subschema, ...]:
        """The schemas that must all hold: this one, those of its `allOf` and the target of its `$ref`, flattened.

        `true` adds nothing; `false` stays.
        """
        if self.value is True:
            return ()
        reference = self.get("$ref")
        target = () if reference is None else self.tree.resolve(reference).conjuncts
        if reference is not None and self.tree.dialect.year < 2019:  # it hides its siblings (draft-07 core, 8.3)
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
        """Return whether anything depends on whether formats are enforced."""
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


def same_schema(left: Subschema, right: Subschema, *keywords: str) -> bool:
    """Return whether both schemas assert the same: equal but for annotations, order and the place of definitions.

    `keywords`: compare only these. Each is read as its own draft does.
    """
    todo = [(left, right, keywords)]
    # Pairs to which references lead back need no second look: each step in the loop enters a smaller part of the value.
    seen: set[tuple[Subschema, Subschema]] = set()
    while todo:
        left, right, keywords = todo.pop()
        if not keywords:
            left, right = left.target, right.target
            if (left, right) in seen:
                continue
            seen.add((left, right))
        parts, others = (
            {steps: part for steps, part in node.applied.items() if not keywords or steps[0] in keywords}
            for node in (left, right)
        )
        if parts.keys() != others.keys() or not _same_literals(left, right, keywords):
            return False
        todo += [(part, others[steps], ()) for steps, part in parts.items()]
    return True


def _same_literals(left: Subschema, right: Subschema, keywords: tuple[str, ...]) -> bool:
    if isinstance(left.value, bool) or isinstance(right.value, bool):
        return left.value is right.value
    if (left.tree.dialect == DRAFT_4) != (right.tree.dialect == DRAFT_4) and "integer" in (left.get("type") or ()):
        return False  # is 1.0 one?
    words = keywords or left.literals.keys() | right.literals.keys()
    return all(same_value(left.literals.get(word, _ABSENT), right.literals.get(word, _ABSENT)) for word in words)


def _refuses_nothing(keyword: str, value: JsonValue) -> bool:
    return (keyword, value) == ("uniqueItems", False) or (keyword == "format" and value in DISPLAY_FORMATS)


_COUNTED = re.compile(r"([)}?*+]?)\{(\d{1,9}),?(\d{0,9})\}")


def pattern_weight(pattern: str) -> int:
    """The cost of a pattern for one character of a text: roughly the states that an engine has for it."""
    counts = [(before, min(int(high or low) or 1, 9_999)) for before, low, high in _COUNTED.findall(pattern)]
    parts = len(pattern) + sum(count for before, count in counts if not before)
    groups = prod(count for before, count in counts if before)
    backtracks = re.search(r"\(\?<?[=!]|\\[1-9k]", pattern)  # lookaround and backreferences
    return parts * groups * (100 if backtracks else 1)
