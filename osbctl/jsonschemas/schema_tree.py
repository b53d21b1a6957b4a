"""A parameter schema as a tree of nodes, with its local references resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from math import inf

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.dialects import Dialect, dialect_of
from osbctl.jsonschemas.walk import BY_NAME, IN_PLACE, UndecidableError, references, same_value, target_of
from osbctl.paths import JsonValue, Path, depth, value_at

MAX_DEPTH = 64
"""Levels of nesting; real schemas have under 12. Below this no recursion here comes near Python's limit."""

_ONE = ("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LIST = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_SAME_VALUE = (*IN_PLACE, "dependencies", "dependentSchemas")
_IDENTITIES = ("$id", "id")
STRUCTURE = frozenset({*_ONE, *_LIST, *BY_NAME, *_IDENTITIES, "$schema", "default"})
"""The keywords that are kept beside those that the draft asserts."""
_UNSUPPORTED = {"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"}


class Subschema:
    """One schema of a tree. There is one object for each place, so two are equal where they are the same place."""

    def __init__(self, tree: SchemaTree, pointer: Path, value: JsonValue) -> None:
        self.tree = tree
        self.pointer = pointer
        self.value = value

    def get(self, keyword: str) -> JsonValue:
        """The keyword's value; None if it is missing or its draft does not assert it."""
        return self._asserted.get(keyword)

    @cached_property
    def _asserted(self) -> dict[str, JsonValue]:
        """The keywords that the draft asserts."""
        keywords = self.tree.dialect.keywords
        return {k: v for k, v in self.value.items() if k in keywords} if isinstance(self.value, dict) else {}

    def child(self, *steps: str | int) -> Subschema:
        """The subschema that these steps lead to, which must exist."""
        return self.tree.nodes[(*self.pointer, *steps)]

    def optional(self, keyword: str) -> Subschema | None:
        """The subschema in this keyword; None if it is missing."""
        return None if self.get(keyword) is None else self.child(keyword)

    def children(self, keyword: str) -> tuple[Subschema, ...]:
        """The subschemas in a keyword that holds a list of them; none if it is missing."""
        found = self.get(keyword)
        count = len(found) if isinstance(found, list) else 0
        return tuple(self.child(keyword, i) for i in range(count))

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
        if reference is not None and self.tree.dialect.ref_stands_alone:
            return target
        parts = chain.from_iterable(part.conjuncts for part in self.children("allOf"))
        return tuple(dict.fromkeys((*target, self, *parts)))

    @cached_property
    def listed(self) -> list[JsonValue] | None:
        """The only values that it allows: of `enum` or `const`, or of all branches of an `anyOf` or `oneOf`."""
        if isinstance(self.value, dict) and "const" in self.value.keys() & self.tree.dialect.keywords:
            return [self.value["const"]]
        found: list[JsonValue] | None = self.get("enum")
        for branches in self.choices:
            lists = [fewest_values(branch.conjuncts) for branch in branches]
            if found is None and None not in lists:
                found = [value for values in lists for value in values or ()]
        return found


def fewest_values(schemas: Iterable[Subschema]) -> list[JsonValue] | None:
    """The shortest list of values that one of the schemas allows; None if none has a list."""
    return min((schema.listed for schema in schemas if schema.listed is not None), key=len, default=None)


class SchemaTree:
    """A whole schema.

    Raises `UndecidableError` if it is nested too deeply or names an unknown draft.
    """

    def __init__(self, value: JsonValue, dialect: Dialect | None = None) -> None:
        self.value = value
        if depth(value) > MAX_DEPTH:
            raise UndecidableError(f"it is nested deeper than {MAX_DEPTH} levels")
        self.dialect = dialect or dialect_of(value)

    @cached_property
    def nodes(self) -> dict[Path, Subschema]:
        """Every place that holds a schema, by pointer."""
        found: dict[Path, Subschema] = {}
        todo: list[tuple[Path, JsonValue]] = [((), self.value)]
        while todo:
            path, value = todo.pop()
            found[path] = Subschema(self, path, value)
            todo += [((*path, *steps), inner) for steps, inner in _parts(value)]
        return found

    @property
    def top(self) -> Subschema:
        """The whole schema."""
        return self.nodes[()]

    def without_identities(self) -> JsonValue:
        """A copy as its draft reads it, without identities: no reference that is followed leads to one."""
        whole = deepcopy(self.value)
        kept = self.dialect.keywords | STRUCTURE - {*_IDENTITIES, "dependencies"}
        for path in reversed(self.nodes):  # inner places first
            place = value_at(whole, path)
            for keyword in place.keys() - kept if isinstance(place, dict) else ():
                del place[keyword]
        return whole

    @property
    def unread(self) -> Iterator[Subschema]:
        """The schemas under keywords of other drafts: the metaschema skips them, but a reference may lead there."""
        read = self.dialect.keywords | {"definitions", *(("$defs",) if self.dialect.year >= 2019 else ())}
        return (inner for node in self.nodes.values() for keyword, inner in below(node) if keyword not in read)

    @cached_property
    def has_formats(self) -> bool:
        """Return whether anything depends on whether formats are enforced."""
        return any(node.get("format") is not None for node in self.nodes.values())

    @cached_property
    def heaviest_pattern(self) -> int:
        """The weight of the pattern that costs most to run; 0 if there is none."""
        found = {node.get("pattern") for node in self.nodes.values()}
        found.update(*(node.get("patternProperties") or () for node in self.nodes.values()))
        return max((patterns.weight(pattern) for pattern in found if pattern), default=0)

    def resolve(self, ref: JsonValue) -> Subschema:
        """The schema that a local `$ref` names. Raises `UndecidableError`."""
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise UndecidableError("it has a $ref that leaves the schema, or is not a JSON pointer")
        node = self.nodes.get(pointer) if (pointer := target_of(self.value, ref)) is not None else None
        if node is None:
            raise UndecidableError("it has a $ref to a place that holds no schema")
        return node

    def check_supported(self) -> None:
        """Raises `UndecidableError` if this comparison does not support its references or keywords."""
        used = {keyword for node in self.nodes.values() if isinstance(node.value, dict) for keyword in node.value}
        for keyword in sorted(_UNSUPPORTED & used & self.dialect.keywords):
            raise UndecidableError(f"it uses {keyword}, which this comparison does not read")
        if any(_stands_apart(node, "$ref" in used) for node in self.nodes.values()):
            raise UndecidableError("a part of it has an identity or a draft of its own")
        if "$ref" in used and self.most_applied == inf:
            raise UndecidableError("its references run in a loop")

    @cached_property
    def most_applied(self) -> float:
        """The number of schemas that judge one value at most, each as often as references lead to it.

        Infinite if they run in a loop that never enters a part of the value.
        """
        graph = {node: [*self._of_same_value(node)] for node in self.nodes.values()}
        counts: dict[Subschema, int] = {}
        try:
            for node in TopologicalSorter(graph).static_order():
                counts[node] = 1 + sum(counts[inner] for inner in graph[node])
        except CycleError:
            return inf
        return max(counts.values())

    def _of_same_value(self, node: Subschema) -> Iterator[Subschema]:
        if isinstance(node.value, dict) and "$ref" in node.value:
            yield self.resolve(node.value["$ref"])
        yield from (inner for keyword, inner in below(node) if keyword in _SAME_VALUE)


def below(node: Subschema) -> Iterator[tuple[str, Subschema]]:
    """The schemas one step further down, each with the keyword that holds it."""
    return ((steps[0], node.child(*steps)) for steps, _ in _parts(node.value))


def _stands_apart(node: Subschema, refers: bool) -> bool:
    """Return whether references in this part of a schema may mean something else than in the rest."""
    if not node.pointer or not isinstance(node.value, dict):
        return False
    return "$schema" in node.value or (refers and any(isinstance(node.value.get(name), str) for name in _IDENTITIES))


def _parts(schema: JsonValue) -> Iterator[tuple[tuple[str, *tuple[str | int, ...]], JsonValue]]:
    """The schemas directly within a schema, each with the steps that lead there."""
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        yield from (((keyword, *steps), inner) for steps, inner in _held(keyword, value))


def _held(keyword: str, value: JsonValue) -> list[tuple[Path, JsonValue]]:
    if keyword in BY_NAME and isinstance(value, dict):
        return [((name,), inner) for name, inner in value.items() if isinstance(inner, dict | bool)]
    if keyword in _LIST and isinstance(value, list):
        return [((index,), inner) for index, inner in enumerate(value)]
    return [((), value)] if keyword in _ONE and isinstance(value, dict | bool) else []


def same_schema(left: Subschema, right: Subschema, *keywords: str) -> bool:
    """Return whether both schemas and their references are equal under one draft; `keywords`: compare only these."""
    if left.tree.dialect != right.tree.dialect:
        return False
    todo = [({k: left.get(k) for k in keywords}, {k: right.get(k) for k in keywords})]
    todo, seen = todo if keywords else [(left.value, right.value)], set()
    while todo:
        a, b = todo.pop()
        if not same_value(a, b):
            return False
        for _, ref in references(a):
            if ref not in seen:
                seen.add(ref)
                try:
                    todo.append((left.tree.resolve(ref).value, right.tree.resolve(ref).value))
                except UndecidableError:  # A value that only looks like a reference.
                    return False
    return True
