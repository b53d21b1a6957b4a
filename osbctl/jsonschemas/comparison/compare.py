"""The comparison of two parameter schemas, and the search for counterexamples."""

import marshal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice

from osbctl.jsonschemas.bounded_validator import BoundedValidator, build_valid_tree
from osbctl.jsonschemas.comparison import SchemaChange, SchemaLevel
from osbctl.jsonschemas.comparison.candidates import COMBINATION, DESCRIBED, FORMAT, UNDECIDED, Candidate, PlacePair
from osbctl.jsonschemas.comparison.differences import differ_in_wording_only, dropped_properties, keyword_changes
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.subsumption import TOGETHER, Subsumption
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.dialects import detect_dialect
from osbctl.jsonschemas.schema_tree import SchemaTree
from osbctl.jsonschemas.value_generator import ValueGenerator
from osbctl.jsonschemas.walk import UndecidableError, same_value
from osbctl.paths import JsonValue

MAX_CHANGES = 200
"""Changes reported of one pair of schemas; the rest is one line."""
_MAX_EXAMPLE, _MAX_BASES, _MAX_WHOLE = 200, 3, 40
"""Characters of an example; values for a place around a value, and requests that are made up around it."""


def compare_schemas(old: JsonValue, new: JsonValue) -> list[SchemaChange]:
    """Compare two versions of a plan's `parameters` schema by the requests that they accept.

    Both are JSON Schemas (draft-04 to 2020-12, see `detect_dialect`), `True`, `False`, or None for no schema; `{}`
    counts as none. A request is any JSON *object*; other types that a schema accepts at its top do not
    matter. Formats are annotations to JSON Schema: they matter to the rule `schema-format-changed` alone.

    No schema makes this raise: a broken schema, one with references to elsewhere or in a loop, or one that is too large
    is `risky`, unless only annotations differ, and the message says why. Equal schemas give no change. The result
    depends on the two schemas alone.
    """
    before, after = (None if schema is True or schema == {} else schema for schema in (old, new))
    if same_value(before, after):
        return []
    if after is None:
        return [SchemaChange("safe", "schema-removed", (), None, "the schema was removed; anything is accepted")]
    try:
        changes = list(_compare_marshalled(marshal.dumps((True if before is None else before, after), 2)))
    except (RecursionError, ValueError):  # Depends on the caller's stack depth; do not cache.
        changes = [_undecided_change("they are nested too deeply")]
    return _summarize_added_schema(changes) if before is None else changes


def _summarize_added_schema(changes: list[SchemaChange]) -> list[SchemaChange]:
    """The one change that stands for all; safe if there are none."""
    for change in changes:
        if change.witness is not None and change.rule != FORMAT:  # a format is not enforced everywhere
            message = "a schema was added where none was; it refuses what was accepted"
            return [replace(change, level="breaking", rule="schema-added", old_path=None, message=message)]
    if all(change.level == "safe" for change in changes):
        return [SchemaChange("safe", "schema-added", None, (), "a schema was added; it refuses nothing")]
    message = "a schema was added where none was; whether it refuses anything cannot be decided"
    return [SchemaChange("risky", "schema-added", None, (), message)]


@lru_cache(maxsize=1_000)  # plans often share a schema
def _compare_marshalled(schemas: bytes) -> tuple[SchemaChange, ...]:
    values = marshal.loads(schemas)  # noqa: S302 - our own bytes
    try:
        old, new = _build_trees(*values)
    except UndecidableError as error:
        return (_undecided_change(str(error)),)
    try:
        changes = _find_changes(old, new)
    except UndecidableError as error:
        if not differ_in_wording_only(old, new):
            return (_undecided_change(str(error)),)
        changes = [*keyword_changes(old, new, set(), set(), Secrets(old, new))]
    message = "written differently; refuses nothing that was accepted"
    return tuple(_limit_changes(changes)) or (SchemaChange("safe", "schema-wording", (), (), message),)


def _limit_changes(changes: list[SchemaChange]) -> list[SchemaChange]:
    """The worst changes, and one that stands for the rest at its own worst level."""
    ranked = sorted(changes, key=lambda change: ("breaking", "risky", "safe").index(change.level))
    kept, rest = ranked[:MAX_CHANGES], ranked[MAX_CHANGES:]
    if not rest:
        return changes
    level: SchemaLevel = "safe" if rest[0].level == "safe" else "risky"
    rule = "schema-relaxed" if level == "safe" else UNDECIDED
    return [*kept, SchemaChange(level, rule, (), (), f"and {len(rest)} more differences", (f"{len(rest)} more",))]


def _undecided_change(reason: str) -> SchemaChange:
    return SchemaChange("risky", UNDECIDED, (), (), f"the schemas differ, but cannot be compared: {reason}")


def _build_trees(old: JsonValue, new: JsonValue) -> list[SchemaTree]:
    """Both schemas. If neither names a draft, and one is read as draft-07, so is the other."""
    trees = []
    is_named = any(not isinstance(schema, dict) or "$schema" in schema for schema in (old, new))
    shared = None if is_named else max(detect_dialect(old), detect_dialect(new), key=lambda dialect: dialect.year)
    for side, value in (("old", old), ("new", new)):
        with _names_side(side):
            trees.append(build_valid_tree(value, shared))
    return trees


@contextmanager
def _names_side(side: str) -> Iterator[None]:
    try:
        yield
    except UndecidableError as error:
        raise UndecidableError(f"the {side} schema {error}") from None


def _find_changes(old: SchemaTree, new: SchemaTree) -> list[SchemaChange]:
    for side, tree in (("old", old), ("new", new)):
        with _names_side(side):
            tree.check_supported()
    validator = BoundedValidator()
    # OSB 2.17, Input Parameters Schema Object: the schema describes the `parameters` object.
    whole = PlacePair(Constraints(within=OBJECT).and_also(old.top), new.top)
    found = Subsumption(validator).find_candidates(whole)
    first = {(candidate.rule, candidate.field): candidate for candidate in reversed(found)}  # of each rule and field
    candidates = [*first.values()][::-1]
    secrets = Secrets(old, new)
    search = Counterexamples(validator, old, new)
    changes = [_classify_candidate(candidate, search, secrets) for candidate in candidates]
    changes += dropped_properties(old, new, {tuple(step.at for step in c.pair.pairs_from_top) for c in candidates})
    properties = {change.field for change in changes}.union(*(c.property_places for c in candidates))
    return [*changes, *keyword_changes(old, new, {c.new_path for c in candidates}, properties, secrets)]


def _classify_candidate(candidate: Candidate, search: "Counterexamples", secrets: Secrets) -> SchemaChange:
    """The change that a candidate stands for: breaking with a counterexample, risky without one."""
    whole, value = search.find(candidate) if candidate.rule != UNDECIDED else (None, None)
    example = "" if whole is None else secrets.format_value(whole, _MAX_EXAMPLE)
    level: SchemaLevel = "risky" if whole is None or candidate.rule == DESCRIBED else "breaking"
    message = candidate.undecided_message(secrets) if level == "risky" else candidate.refusal_message(value, secrets)
    rule = UNDECIDED if level == "risky" and candidate.rule == COMBINATION else candidate.rule
    places = candidate.pair.old_path(candidate.keyword), candidate.new_path
    return SchemaChange(level, rule, *places, message, candidate.field, whole, example)


class Counterexamples:
    """Searches within the budget of one validator, which confirms each counterexample on the whole schemas."""

    def __init__(self, validator: BoundedValidator, old: SchemaTree, new: SchemaTree) -> None:
        self.validator = validator
        self.values = ValueGenerator(validator)
        self.old, self.new = old, new

    def find(self, candidate: Candidate) -> tuple[dict[str, JsonValue] | None, JsonValue]:
        """A whole request, and the value at the candidate's place in it; None and None if there is none."""
        formats = candidate.keyword == "format"
        wholes = ((w, v) for v in self._refused_values(candidate, formats) for w in self._embed(candidate.pair, v))
        for whole, value in islice(wholes, _MAX_WHOLE if self.validator.left > 0 else 0):
            is_refused = isinstance(whole, dict) and self.validator.accepts(self.new.top, whole, formats) is False
            if is_refused and self.validator.accepts(self.old.top, whole, formats):
                return whole, value
        return None, None

    def _refused_values(self, candidate: Candidate, formats: bool) -> Iterator[JsonValue]:
        """Values for the place itself, valid by its constraints, to which the keyword objects."""
        old, new = candidate.pair.old, candidate.pair.new
        places = [*filter(None, [candidate.case]), Constraints(old.and_also(new).known, old.kinds), old]
        blamed = TOGETHER.get(candidate.keyword, (candidate.keyword,))
        for value in chain(candidate.values, *map(self.values.generate, places)):
            if all(self.validator.accepts(schema, value, formats) for schema in old.known):
                objections = self.validator.refusing_keywords(new, value) or frozenset()
                if not objections.isdisjoint(blamed) or (objections and not candidate.keyword):
                    yield value

    def _embed(self, pair: PlacePair, value: JsonValue) -> Iterator[JsonValue]:
        """Whole requests with the value in its place, made of values for the place around that both sides accept."""
        if pair.parent is None:
            yield value
            return
        around, at = pair.parent, pair.at
        empty: JsonValue = {} if isinstance(at, str) else []
        tries = (around.old.and_also(around.new), around.old)
        bases = [v for c in tries for v in self.values.valid_values(c, _MAX_BASES) if isinstance(v, type(empty))]
        for base in bases[: _MAX_BASES + 1] or [empty]:
            yield from self._embed(around, [value, *base[1:]] if at == 0 else {**base, at: value})
