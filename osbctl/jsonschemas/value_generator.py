"""Values made up for some constraints, from the defaults, lists, limits and patterns that schemas name.

Plain values come first, values at limits last: the first valid one is an example, and each may be a counterexample.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, cycle, product
from math import isfinite
from typing import Any, TypeAlias

import jsonschema_rs

from osbctl.jsonschemas.constraints import NUMBERS, Constraints
from osbctl.jsonschemas.schema_tree import BoundedValidator, Subschema, defaults_and_examples
from osbctl.messages import may_be_secret_name
from osbctl.paths import JsonValue, entries

Schemas: TypeAlias = tuple[Subschema, ...]

MAX_DEPTH, MAX_VALUES, MAX_MADE = 12, 48, 30_000
"""Nesting of values, values for one place, and values made for one pair of schemas."""
_MAX_TEXT, _MAX_ITEMS, _MAX_LISTED, _MAX_OPTIONAL, _MAX_FEW, _MAX_BRANCHES = 70_000, 300, 16, 100, 8, 6
_FORMATS = {
    "date": "2024-02-29",
    "email": "someone@example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "12:00:00Z",
    "uuid": "2eb1cd1e-8d4b-4b4a-9f3d-2f6d5a0c1b7e",
    "date-time": "2024-02-29T12:00:00Z",
    "uri": "https://example.com/",
}
_MARKS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
    "array": ("items", "minItems", "uniqueItems", "prefixItems"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("pattern", "format", "minLength", "maxLength"),
}
"""Keywords that hint at a kind if `type` is missing."""
_KINDS = ("object", "string", "integer", "fraction", "boolean", "array", "null")


class ValueGenerator:
    """Makes values within a budget. `full`: with all that is optional first; `formats`: valid ones meet formats."""

    def __init__(
        self, validator: BoundedValidator, budget: int = MAX_MADE, *, full: bool = False, formats: bool = False
    ) -> None:
        self.validator = validator
        self.left = budget
        self.full, self.formats = full, formats
        self._most_optional, self._most_missing = (_MAX_OPTIONAL, 0) if full else (_MAX_FEW, _MAX_FEW)
        self._found: dict[Any, list[JsonValue]] = {}
        self._under_way: set[object] = set()

    def valid_values(self, constraints: Constraints, count: int = 1, depth: int = 0, key: str = "") -> list[JsonValue]:
        """Up to `count` values that the validator accepts under all constraints; `key` is that of their property.

        None within itself: values of a schema that refers to itself would multiply.
        """
        cache_key = (constraints.cache_key, count, depth, may_be_secret_name(key))
        if constraints.known and constraints.cache_key in self._under_way:
            return []
        if cache_key not in self._found:
            found = self._found[cache_key] = []
            self._under_way.add(constraints.cache_key)
            for value in self.generate(constraints, depth, key):
                if all(self.validator.accepts(schema, value, self.formats) for schema in constraints.known):
                    found.append(value)
                if len(found) == count:
                    break
            self._under_way.discard(constraints.cache_key)
        return self._found[cache_key]

    def generate(
        self, constraints: Constraints, depth: int = 0, key: str = "", tried: set[object] | None = None
    ) -> Iterator[JsonValue]:
        """Values for the constraints, valid and not.

        `key` is the name of the property: one like a secret gets no examples. `tried` are the combinations of branches
        that were met on the way, so that the same ones in another order are not gone through again.
        """
        seen: set[str] = set()
        values = self._generate_all(constraints, depth, key, set() if tried is None else tried)
        for value in values if depth <= MAX_DEPTH else ():
            self.left -= 1
            if len(seen) >= MAX_VALUES or self.left < 0:
                return
            is_json = not isinstance(value, float) or isfinite(value)  # twice a large number is infinite
            if is_json and repr(value) not in seen:
                seen.add(repr(value))
                yield value

    def _generate_all(self, constraints: Constraints, depth: int, key: str, tried: set[object]) -> Iterator[JsonValue]:
        """Values that the author listed or wrote as examples, values of each kind, and those of branches."""
        known, is_secret = constraints.known, may_be_secret_name(key)
        values_by_kind: dict[str, Iterator[JsonValue]] = {
            "object": self._object_values(constraints, depth),
            "array": self._array_values(constraints, depth, key),
            "string": _string_values(known, "change-me" if is_secret else "text"),
            **dict.fromkeys(NUMBERS, _number_values(known)),
            "boolean": iter((False, True)),
            "null": iter((None,)),
        }
        kinds = _kinds_to_try(constraints)
        generated = chain.from_iterable(values_by_kind[kind] for kind in kinds)
        listed = chain.from_iterable((schema.listed_values or [])[:_MAX_LISTED] for schema in known)
        pairs = chain.from_iterable(defaults_and_examples(schema.value) for schema in known if not is_secret)
        written = (value for _, value in pairs)
        of_branches = self._branch_values(constraints, depth, key, tried)
        if kinds[:1] in (["object"], ["array"]):  # defaults of these are often empty
            generated = chain(generated, written)
        else:
            listed = chain(written, listed)
        return chain(listed, of_branches, generated) if self.full else chain(listed, generated, of_branches)

    def _branch_values(self, constraints: Constraints, depth: int, key: str, tried: set[object]) -> Iterator[JsonValue]:
        for schema in constraints.known:
            branches = [*chain.from_iterable(schema.choices)][:_MAX_BRANCHES]
            branches += filter(None, map(schema.get_child, ("if", "then", "else", "not")))
            for branch in branches:
                more = constraints.and_also(branch)
                self.left -= 1 + len(more.known) // 32  # hundreds of schemas cost more than their values
                if self.left < 0:
                    return
                if more.cache_key not in tried and more.kinds:  # another order of branches gives the same values
                    tried.add(more.cache_key)
                    yield from self.generate(more, depth + 1, key, tried)

    def _object_values(self, constraints: Constraints, depth: int) -> Iterator[JsonValue]:
        """With only what is required, with one more property each, with one less, and at limits of their number."""
        known, described, required = constraints.known, constraints.property_names(), constraints.required_names()
        needed = [*filter(required.__contains__, described), *sorted(required), *_dependent_properties(known, required)]
        least = self._make_object(constraints, needed, depth)
        extra = self._make_object(constraints, [n for n in described if n not in least][: self._most_optional], depth)
        extra.update(self._pattern_properties(known, depth))
        if self.full:
            yield {**least, **extra}
        yield least
        yield from ({**least, name: value} for name, value in extra.items())
        yield {**least, **extra}
        for missing in list(least)[: self._most_missing]:
            yield {name: value for name, value in least.items() if name != missing}
        names = [*extra, *(f"other{i}" for i in range(_MAX_ITEMS))]
        for count in _edge_counts(known, "minProperties", "maxProperties", _MAX_ITEMS):
            yield {**least, **self._make_object(constraints, names[: max(count - len(least), 0)], depth)}

    def _pattern_properties(self, schemas: Schemas, depth: int) -> dict[str, JsonValue]:
        """A property for each of the first patterns of names."""
        found: dict[str, JsonValue] = {}
        nodes = [s.child("patternProperties", word) for s in schemas for word in s.get("patternProperties") or ()]
        for node in nodes[:_MAX_FEW]:
            values = self.valid_values(Constraints().and_also(node), 1, depth + 1) or ["text"]
            found.update(dict.fromkeys(sample_texts(str(node.path[-1]))[:1], values[0]))
        return found

    def _make_object(self, constraints: Constraints, names: list[str], depth: int) -> dict[str, JsonValue]:
        """These properties, as far as a valid value is found for each."""
        inner = {name: constraints.property_constraints(name) for name in names}
        return {n: v for n, part in inner.items() for v in self.valid_values(part, 1, depth + 1, n)}

    def _array_values(self, constraints: Constraints, depth: int, key: str) -> Iterator[JsonValue]:
        items = self.valid_values(constraints.item_constraints(), 4, depth + 1, key)
        fewest = int(min(constraints.size_limits("array")[0], _MAX_ITEMS))
        best = max(fewest, 1) if self.full else fewest
        edges = _edge_counts(constraints.known, "minItems", "maxItems", _MAX_ITEMS)
        for count in dict.fromkeys([best, 0, 1, 2, *edges]):
            yield items[:1] * count
            numbered = zip(range(count), cycle(items), strict=False)
            others = (f"{item}{number}" if isinstance(item, str) else number + 4 for number, item in numbered)
            yield [*items, *others][:count]


def _kinds_to_try(constraints: Constraints) -> list[str]:
    """The kinds to try; first those that the keywords hint at."""
    used = set[str]().union(*(schema.assertions for schema in constraints.known))
    marked = [kind for kind, words in _MARKS.items() if not used.isdisjoint(words)]
    return [kind for kind in dict.fromkeys([*(marked or ["string"]), *_KINDS]) if kind in constraints.kinds]


def _number_values(schemas: Schemas) -> Iterator[JsonValue]:
    """Numbers at, just below and just above each one that the schemas name."""
    for edge in dict.fromkeys([*_keyword_values(schemas, *_MARKS["integer"]), 0]):
        halves = [edge + 0.5, edge - 0.5] if abs(edge) < 2**40 else []
        # Without a needless point: drafts disagree whether 1.0 is an integer.
        for value in (edge, edge + 1, edge - 1, edge * 2, *halves):
            yield int(value) if isinstance(value, float) and value.is_integer() else value


def _dependent_properties(schemas: Schemas, required: set[str]) -> Iterator[str]:
    """The properties that required ones depend on."""
    for schema in schemas:
        for name, names in (schema.get("dependencies") or schema.get("dependentRequired") or {}).items():
            yield from names if name in required and isinstance(names, list) else ()


def _keyword_values(schemas: Schemas, *keywords: str) -> list[Any]:
    found = [schema.get(keyword) for schema in schemas for keyword in keywords]
    return [limit for limit in found if limit is not None and not isinstance(limit, bool)]


def _string_values(schemas: Schemas, filler: str) -> Iterator[JsonValue]:
    """Examples of formats, texts made from patterns, then `filler`, a word, cut or repeated to lengths at the limits.

    Not all are valid; the others may be counterexamples. Of a pattern, a text of about six characters comes first.
    """
    yield from (_FORMATS[form] for schema in schemas if (form := schema.get("format")) in _FORMATS)
    shapes = [text for pattern in _keyword_values(schemas, "pattern") for text in sample_texts(pattern)]
    yield from sorted((text for text in shapes if text), key=lambda text: abs(len(text) - 6))
    for count in dict.fromkeys([len(filler), *_edge_counts(schemas, "minLength", "maxLength", _MAX_TEXT)]):
        yield (filler * (count // len(filler) + 1))[:count]
    yield from ("", "a", "0")


def _edge_counts(schemas: Schemas, low_keyword: str, high_keyword: str, maximum: int) -> list[int]:
    """Counts at the limits and just beyond them."""
    limits = map(int, _keyword_values(schemas, low_keyword, high_keyword))
    near = [n for limit in limits for n in (limit, limit + 1, limit - 1)]
    return [n for n in dict.fromkeys(near) if 0 <= n <= maximum]


_MAX_PATTERN, _MAX_SAMPLE = 300, 4096
_POOL = "a0A-_. bz19BZ/@:+x"
_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_QUANTIFIER = r"([*+?]|\{\d+(?:,\d*)?\})?\??"
_LIMITS = {"": "1", "*": "0,", "+": "1,", "?": "0,1"}
_GROUP = re.compile(rf"(?<!\\)\((\?(?::|<?[=!]|<\w+>))?((?:\\.|{_CLASS}|[^()\\\[])*)\){_QUANTIFIER}")
"""A group that holds no other."""
_OR = re.compile(r"(?<!\\)\|")
_PART = re.compile(rf"({_CLASS}|\\.|.){_QUANTIFIER}")


@lru_cache(maxsize=128)  # each may be 80 kB
def sample_texts(pattern: str) -> tuple[str, ...]:
    """Texts that match the pattern if it is a plain one, or that only just do not; the simplest first."""
    if len(pattern) > _MAX_PATTERN:
        return ()
    variants = [(0, 0), (0, 1), *((variant, variant % 2) for variant in range(1, 20)), (0, 64)]
    found = [_sample_text(pattern, *variant) for variant in variants]
    return tuple(dict.fromkeys([*found, f"{found[0]}-", f"-{found[0]}"]))


def _sample_text(pattern: str, variant: int, extra_repeats: int) -> str:
    """A text made from a pattern; `variant` picks characters and branches."""

    def repeat(options: Sequence[str], quantifier: str) -> str:
        low, comma, high = _LIMITS.get(quantifier, quantifier.strip("{}")).partition(",")
        most = int(high or _MAX_SAMPLE) if comma else int(low)
        text = options[variant % len(options)] if options else ""
        return (text * min(int(low) + extra_repeats, most, _MAX_SAMPLE))[:_MAX_SAMPLE]

    def expand_group(match: re.Match[str]) -> str:
        kind, body, quantifier = match.groups(default="")
        return repeat(() if kind.endswith(("=", "!")) else _OR.split(body), quantifier)

    def expand_part(match: re.Match[str]) -> str:
        part, quantifier = match.groups(default="")
        return repeat(_matching_chars(part), quantifier)

    inner, groups = f"({pattern})", 1
    while groups and len(inner) <= _MAX_SAMPLE:
        inner, groups = _GROUP.subn(expand_group, inner)
    return _PART.sub(expand_part, inner[:_MAX_SAMPLE])[:_MAX_SAMPLE]


@lru_cache(maxsize=1024)
def _matching_chars(part: str) -> str:
    """Some of the characters that a class, an escape or a dot stands for, or the one that it is. Empty: an anchor."""
    if len(part) == 1 and part not in ".^$":
        return part
    try:
        fits = jsonschema_rs.Draft7Validator({"pattern": f"^{part}$"}).is_valid
    except ValueError:
        return ""
    # The class may name characters outside the pool itself.
    return "".join(char for char in dict.fromkeys(_POOL + part) if fits(char))


_MAX_NUMBERS = 8
"""Numbers in one value that are tried in both spellings: 256 values."""


def list_spellings(values: Iterable[JsonValue]) -> list[JsonValue] | None:
    """The values, each followed by its other spellings. None if one of them has too many."""
    found: list[JsonValue] = []
    for value in values:
        if _count_whole_numbers(value) > _MAX_NUMBERS:
            return None
        found += _spell(value)
    return found


def has_needless_point(value: JsonValue) -> bool:
    """Return whether a whole number in the value is written as 1.0."""
    is_pointed = isinstance(value, float) and value.is_integer()
    return is_pointed or any(has_needless_point(inner) for _, inner in entries(value))


def _count_whole_numbers(value: JsonValue) -> int:
    return len(_spell_number(value)) // 2 + sum(_count_whole_numbers(inner) for _, inner in entries(value))


def _spell(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return [dict(zip(value, inner, strict=True)) for inner in product(*map(_spell, value.values()))]
    if isinstance(value, list):
        return [list(inner) for inner in product(*map(_spell, value))]
    return _spell_number(value)


def _spell_number(value: JsonValue) -> list[JsonValue]:
    """The number as it is, and then in its other spelling if it has one; a value that is no number alone."""
    if isinstance(value, float) and value.is_integer():
        return [value, int(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            other = float(value)
        except OverflowError:  # from about 1.8e308
            return [value]
        return [value, other] if other == value else [value]
    return [value]
