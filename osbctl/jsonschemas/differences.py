"""The differences of two valid parameter schemas: what the new one refuses, or may refuse, and what refuses nothing."""

from collections.abc import Iterator
from itertools import chain, islice
from urllib.parse import unquote

from osbctl.jsonschemas.candidates import Candidate, PlacePair, Secrets, format_change, format_path, redact_and_cut
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.descriptions import Described, default_changes, description_changes
from osbctl.jsonschemas.dialects import KEYWORDS, UndecidableError
from osbctl.jsonschemas.schema_change import COMBINATION, DESCRIBED, UNDECIDED, SchemaChange, SchemaLevel
from osbctl.jsonschemas.schema_tree import STRUCTURE, BoundedValidator, SchemaTree, Subschema, direct_subschemas
from osbctl.jsonschemas.secrets import is_at_or_below
from osbctl.jsonschemas.subsumption import TOGETHER, Subsumption
from osbctl.jsonschemas.value_generator import ValueGenerator
from osbctl.messages import SECRET
from osbctl.paths import BY_NAME, JsonPath, JsonValue, entries, find_refs, get_at, same_value

_MAX_EXAMPLE, _MAX_BASES, _MAX_WHOLE = 200, 3, 40
"""Characters of an example; values for a place around a value, and requests that are made up around it."""


def find_changes(old: SchemaTree, new: SchemaTree) -> list[SchemaChange]:
    """All differences, in no particular order. Raises UndecidableError: not all of the schemas is read.

    Then those in annotations are found all the same, if there are no others.
    """
    try:
        return _find_changes(old, new)
    except UndecidableError:
        if not differ_in_wording_only(old, new):
            raise
        secrets = Secrets(old, new)
        both = [(node, new.nodes[path]) for path, node in old.nodes.items() if path in new.nodes]
        places = [Described(_steps_to(before.path), (before,), (after,)) for before, after in both]
        defaults = [change for place in places for change in default_changes(place, secrets)]
        return [*defaults, *keyword_changes(old, new, set(), set(), secrets)]


def _find_changes(old: SchemaTree, new: SchemaTree) -> list[SchemaChange]:
    for side, tree in (("old", old), ("new", new)):
        try:
            tree.check_supported()
        except UndecidableError as error:
            raise UndecidableError(f"the {side} schema {error}") from None
    validator = BoundedValidator()
    # OSB 2.17, Input Parameters Schema Object: the schema describes the `parameters` object.
    whole = PlacePair(Constraints(within=OBJECT).and_also(old.top), new.top)
    found = Subsumption(validator).find_candidates(whole)
    first = {(candidate.rule, candidate.field): candidate for candidate in reversed(found)}  # of each rule and field
    candidates = [*first.values()][::-1]
    secrets = Secrets(old, new)
    search = Counterexamples(validator, old, new)
    changes = [_classify_candidate(candidate, search, secrets) for candidate in candidates]
    changes += description_changes(old, new, {candidate.pair.request_path for candidate in candidates}, secrets)
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


_DEFINITIONS = frozenset(("definitions", "$defs"))
_READ_ELSEWHERE = _DEFINITIONS | {"not", "contains", "propertyNames"}
"""The keywords whose schemas describe no part of a request, or only where a reference leads to them."""
_UNREPORTED = frozenset((*_DEFINITIONS, "$schema", "$id", "id", "default"))
_ASSERTING = KEYWORDS | STRUCTURE - {"default"}
_ABSENT = object()
"""Stands for a keyword that a schema does not have."""


def keyword_changes(
    old: SchemaTree, new: SchemaTree, reported: set[JsonPath], properties: set[JsonPath], secrets: Secrets
) -> Iterator[SchemaChange]:
    """The keywords that differ at the same path: those that allow more, and one change for all wording.

    Skips an assertion at, above or below a reported path, and all definitions if anything is reported. `properties`
    are places of properties of which something is reported.
    """
    reworded: list[JsonPath] = []
    read = old.dialect.keywords | new.dialect.keywords | STRUCTURE | {""}
    ancestors = {place[:length] for place in reported for length in range(len(place))} | properties
    for before, after, keyword in _find_differing_keywords(old, new):
        where = (*before.path, keyword) if keyword else before.path
        if keyword not in read:
            reworded.append(where)
        elif keyword == "properties":
            yield from _property_changes(before, after, reported, ancestors)
        elif not _is_reported_nearby(where, reported, ancestors):
            yield _keyword_change(before, after, where, secrets)
    if reworded:
        place = reworded[0][:-1]
        words = redact_and_cut(", ".join(dict.fromkeys(str(path[-1]) for path in reworded)))
        message = f"wording changed ({words}); that refuses nothing"
        yield SchemaChange("safe", "schema-wording", place, place, message, place)


def _property_changes(
    before: Subschema, after: Subschema, reported: set[JsonPath], ancestors: set[JsonPath]
) -> Iterator[SchemaChange]:
    """The properties that only one of two places describes, and of which nothing is reported."""
    names, new_names = (node.value.get("properties", {}) for node in (before, after))
    for name in {**names, **new_names}:
        where = (*before.path, "properties", name)
        if (name in names) != (name in new_names) and not _is_reported_nearby(where, reported, ancestors):
            is_read = _READ_ELSEWHERE.isdisjoint(where) and not before.hides_keywords
            gone = "is described in another place" if is_read else "removed"
            fate = "added" if name in new_names else gone
            old_path, new_path = (where, before.path) if name in names else (before.path, where)
            message = f"{format_path(_steps_to(where))} {fate}"
            yield SchemaChange("safe", "schema-relaxed", old_path, new_path, message, where)


def _steps_to(path: JsonPath) -> tuple[str, ...]:
    """The properties of a request that a path in a schema leads to; in a definition, from there."""
    steps = iter(path)
    names = [(word, str(next(steps))) for word in steps if word in BY_NAME]
    shown = [(word, name) for word, name in names if word in ("properties", *_DEFINITIONS)]
    return tuple(step for word, name in shown for step in ((word, name) if word in _DEFINITIONS else (name,)))


def _is_reported_nearby(where: JsonPath, reported: set[JsonPath], ancestors: set[JsonPath]) -> bool:
    """Return whether a change is reported at, above or below a keyword, or one that works together with it."""
    if reported and not _DEFINITIONS.isdisjoint(where):
        return True
    related = [where, *((*where[:-1], word) for word in TOGETHER.get(str(*where[-1:]), ()))]
    return any(place in ancestors or is_at_or_below(place, reported) for place in related)


def _find_differing_keywords(old: SchemaTree, new: SchemaTree) -> Iterator[tuple[Subschema, Subschema, str]]:
    """The places that both schemas have, with each keyword that differs, and not only in schemas within.

    The keyword is empty if one of the schemas is `true` or `false`.
    """
    for path, before in old.nodes.items():
        after = new.nodes.get(path)
        if after is None or same_value(before.value, after.value):
            continue
        if not isinstance(before.value, dict) or not isinstance(after.value, dict):
            yield before, after, ""
            continue
        for keyword in sorted((before.value.keys() | after.value.keys()) - _UNREPORTED):
            if _keyword_differs(before, after, keyword):
                yield before, after, keyword


def _keyword_differs(before: Subschema, after: Subschema, keyword: str) -> bool:
    """Return whether a keyword differs, and not only in schemas that both places hold under it."""
    values = (node.value.get(keyword, _ABSENT) for node in (before, after))
    parts = [{part.path for word, part in direct_subschemas(node) if word == keyword} for node in (before, after)]
    return not same_value(*values) and not (parts[0] and parts[0] == parts[1])


def _keyword_change(before: Subschema, after: Subschema, where: JsonPath, secrets: Secrets) -> SchemaChange:
    paths, texts = [], []
    for node in (before, after):
        value = get_at(node.tree.value, where, _ABSENT)
        paths.append(before.path if value is _ABSENT else where)
        texts.append(_format_keyword_value(value, where, secrets, is_secret=secrets.may_be_secret(before, after)))
    changed = f"{redact_and_cut(str(where[-1]) if where else 'schema')} changed{format_change(*texts)}"
    message = f"{format_path(_steps_to(before.path))}: {changed}; that refuses nothing"
    return SchemaChange("safe", "schema-relaxed", paths[0], paths[1], message, where)


def _format_keyword_value(value: JsonValue, where: JsonPath, secrets: Secrets, *, is_secret: bool) -> str:
    if value is _ABSENT:
        return "none"
    if is_secret:
        return SECRET
    holds_names = isinstance(value, dict) and where and where[-1] in BY_NAME
    return secrets.format_value(list(value) if holds_names else value)


def differ_in_wording_only(old: SchemaTree, new: SchemaTree) -> bool:
    """Return whether two valid schemas, of which not all references and keywords are read, differ in annotations alone.

    So does a property with annotations alone, where nothing is demanded of properties that are not described.
    """
    refs = [ref for tree in (old, new) for _, ref in find_refs(tree.value)]
    targets = {step for ref in refs for step in unquote(ref).split("/")}
    return same_value(_list_assertions(old, targets), _list_assertions(new, targets))


def _list_assertions(tree: SchemaTree, targets: set[str]) -> dict[JsonPath, JsonValue]:
    """Every schema and what each keyword in it holds beside schemas, by their paths, without annotations.

    `targets` are the steps of all references; what they may lead to is not taken for an annotation.
    """
    found: dict[JsonPath, JsonValue] = {}
    is_closed = any("unevaluatedProperties" in n.value for n in tree.nodes.values() if isinstance(n.value, dict))
    for path, node in tree.nodes.items():
        keywords = node.value if isinstance(node.value, dict) else {}
        assertions = {word: value for word, value in keywords.items() if not _is_annotation(word, value, targets)}
        around = tree.nodes.get(path[:-2]) if path[-2:-1] == ("properties",) else None
        if node.value is False or assertions or is_closed or not around or "additionalProperties" in around.assertions:
            found[path] = {} if isinstance(node.value, dict) else node.value
        for word, value in assertions.items():
            where = (*path, word)
            beside = {key: part for key, part in entries(value) if (*where, key) not in tree.nodes}
            if where not in tree.nodes and (beside or word != "properties"):
                found[where] = beside if isinstance(value, dict | list) else value
    return found


def _is_annotation(keyword: str, value: JsonValue, targets: set[str]) -> bool:
    """Return whether a keyword refuses nothing, and its value holds no schema to which a reference may lead."""
    may_assert = keyword in _ASSERTING or (keyword.startswith("$") and keyword != "$comment")
    return not may_assert and keyword not in targets and not _holds_object(value)


def _holds_object(value: JsonValue) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_holds_object, value)))
