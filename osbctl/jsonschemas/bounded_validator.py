"""A validator of single values with a budget: it fetches nothing, and leaves undecided what would take too long."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn
from urllib.parse import quote

import jsonschema_rs
from jsonschema_rs import ValidationError

from osbctl.jsonschemas.dialects import Dialect
from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema, direct_subschemas
from osbctl.jsonschemas.sentences import error_path
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonPath, JsonValue, entries, pointer
from osbctl.text import escape_line

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
_KINDS = jsonschema_rs.ValidationErrorKind
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
        gave_up = any(isinstance(e.kind, _KINDS.BacktrackLimitExceeded | _KINDS.RegexEngineFailure) for e in errors)
        return None if gave_up else errors

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


def refuse_to_fetch(uri: str) -> NoReturn:
    """The retriever of a validator that fetches nothing."""
    raise ValueError(uri)


_JUDGEMENTS_OF_DEFAULTS = 2_000
"""The budget for one schema, a tenth of a second."""


def find_refused_values(schema: JsonValue) -> Iterator[tuple[JsonPath, tuple[str, ...]]]:
    """The defaults and examples that their own schema refuses, with the keywords; never raises.

    Sound, not complete: patterns and formats as above, and no result for a schema that the comparison cannot read.
    """
    try:
        tree = build_checked_tree(schema)
    except UndecidableError:
        return
    validator = BoundedValidator(_JUDGEMENTS_OF_DEFAULTS)
    for node in tree.nodes.values():
        for relative_path, value in _defaults_and_examples(node.value):
            if all(validator.accepts(node, value, formats) is False for formats in (False, True)):
                yield (*node.path, *relative_path), tuple(sorted(validator.refusing_keywords(node, value) or ()))


def _defaults_and_examples(schema: JsonValue) -> Iterator[tuple[JsonPath, JsonValue]]:
    if isinstance(schema, dict):
        yield from (((key,), schema[key]) for key in ("default", "example") if key in schema)
        examples = schema.get("examples")
        yield from ((("examples", n), value) for n, value in enumerate(examples if isinstance(examples, list) else ()))
