"""A validator of single values with a budget: it fetches nothing, and leaves undecided what would take too long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

import jsonschema_rs

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema
from osbctl.jsonschemas.walk import UndecidableError, references
from osbctl.paths import JsonValue, entries, pointer
from osbctl.text import escape_line

if TYPE_CHECKING:
    from osbctl.jsonschemas.dialects import Dialect

MAX_JUDGEMENTS = 20_000
"""Small values judged by small schemas for one pair of schemas; beyond this differences are left undecided."""

_PARTS = 50
"""So many parts of a schema, keys and values in a value, or errors cost one more judgement."""

_WORK = 5_000
"""Characters times a pattern's weight: so much costs one more judgement."""

_ROOT = "urn:osbctl:schema"


class BoundedValidator:
    """Judges values by the schemas of both sides, until the budget `left` is spent."""

    def __init__(self, left: int = MAX_JUDGEMENTS) -> None:
        self.left = left
        self._compiled: dict[tuple[Subschema, bool], Any] = {}
        self._registries: dict[SchemaTree, Any] = {}
        self._weights: dict[Subschema, int] = {}

    def accepts(self, node: Subschema, value: JsonValue, formats: bool = False) -> bool | None:
        """True if the value is valid there; None if that cannot be decided."""
        if isinstance(node.value, bool):
            return node.value
        errors = self.errors(node, value, formats)
        return None if errors is None else not errors

    def objections(self, node: Subschema, value: JsonValue) -> frozenset[str] | None:
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

    def errors(
        self, node: Subschema, value: JsonValue, formats: bool = True
    ) -> list[jsonschema_rs.ValidationError] | None:
        """The errors of a value; None if it cannot be judged within the budget."""
        if self.left <= 0 or not self._is_affordable(node, value):
            return None
        key = (node, formats and node.tree.has_formats)
        if key not in self._compiled:
            self._compiled[key] = self._compile(*key)
        try:
            errors = list(self._compiled[key].iter_errors(value))
        except Exception:  # On any error the value is undecided.
            return None
        self.left -= len(errors) // _PARTS
        return None if any(map(patterns.gave_up, errors)) else errors

    def _is_affordable(self, node: Subschema, value: JsonValue) -> bool:
        """Pay for one judgement. False if the budget is spent, or a pattern would take too long."""
        heaviest, parts = node.tree.heaviest_pattern, list(_within(value))
        longest = max((len(part) for part in parts if isinstance(part, str)), default=0) if heaviest else 0
        self.left -= 1 + self._weight(node) + len(parts) // _PARTS + longest * heaviest // _WORK
        return self.left >= 0 and (not heaviest or patterns.affordable(longest, heaviest))

    def _compile(self, node: Subschema, formats: bool) -> Any:
        """The validator of this place; None if it cannot be made."""
        tree = node.tree
        draft = tree.dialect.validator
        if tree not in self._registries:
            resources, kind = (
                [(_ROOT, tree.without_identities())],
                getattr(jsonschema_rs, draft.removesuffix("Validator")),
            )
            self._registries[tree] = jsonschema_rs.Registry(resources, draft=kind, retriever=_fetch_nothing)
        reference = {"$ref": f"{_ROOT}#{quote(pointer(node.pointer))}"}
        for engine in patterns.ENGINES:
            with suppress(Exception):  # a pattern that the engine does not take, or takes for too large
                return getattr(jsonschema_rs, draft)(
                    reference,
                    registry=self._registries[tree],
                    retriever=_fetch_nothing,
                    validate_formats=formats,
                    pattern_options=engine,
                )
        return None

    def _weight(self, node: Subschema) -> int:
        """The extra cost of a schema that is not small; a reference in it may lead to the whole."""
        if node not in self._weights:
            parts: float = _tables(node.value)
            if any(True for _ in references(node.value)):
                parts = _tables(node.tree.value) + node.tree.most_applied
            self._weights[node] = int(min(parts, MAX_JUDGEMENTS * _PARTS)) // _PARTS
        return self._weights[node]


def checked_tree(schema: JsonValue, dialect: Dialect | None = None) -> SchemaTree:
    """The schema as a tree that the comparison can read, under `dialect` or else the draft that it names.

    Raises `UndecidableError` with the reason, and with the place of what is not valid under its draft.
    """
    tree = SchemaTree(schema, dialect)
    for node in (tree.top, *tree.unread):
        try:
            if not isinstance(node.value, bool):
                jsonschema_rs.meta.validate({**node.value, "$schema": tree.dialect.uri})
        except (TypeError, ValueError, jsonschema_rs.ReferencingError) as error:
            place = pointer((*node.pointer, *getattr(error, "instance_path", ())))
            where = f" (at {escape_line(place[:80])})" if place else ""
            raise UndecidableError(f"it is not a valid {tree.dialect.name} schema{where}") from None
    tree.check_supported()
    return tree


def _within(value: JsonValue) -> Iterator[JsonValue]:
    """The value, and all keys and values in it."""
    yield value
    for key, inner in entries(value):
        yield key
        yield from _within(inner)


def _tables(value: JsonValue) -> int:
    return sum(isinstance(inner, dict) for inner in _within(value))


def _fetch_nothing(uri: str) -> NoReturn:
    raise ValueError(uri)
