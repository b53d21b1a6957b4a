"""Values made up for some constraints, from the defaults, lists, limits and patterns that schemas name.

Plain values come first, values at limits last: the first valid one is an example for readers, and each may be a
counterexample.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, cycle
from typing import Any, TypeAlias

import jsonschema_rs

from osbctl.jsonschemas.bounded_validator import BoundedValidator
from osbctl.jsonschemas.constraints import NUMBERS, Constraints
from osbctl.jsonschemas.schema_tree import Subschema
from osbctl.paths import JsonValue
from osbctl.redaction import may_be_secret_name

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
        self, validator: BoundedValidator, left: int = MAX_MADE, *, full: bool = False, formats: bool = False
    ) -> None:
        self.validator = validator
        self.left = left
        self.full, self.formats = full, formats
        self._most_optional, self._most_missing = (_MAX_OPTIONAL, 0) if full else (_MAX_FEW, _MAX_FEW)
        self._found: dict[Any, list[JsonValue]] = {}
        self._under_way: set[object] = set()

    def valid(self, constraints: Constraints, count: int = 1, depth: int = 0, name: str = "") -> list[JsonValue]:
        """Up to `count` values that the validator accepts under all constraints; `name` is the key before them.

        None within itself: values of a schema that refers to itself would multiply.
        """
        key = (constraints.key, count, depth, may_be_secret_name(name))
        if constraints.known and constraints.key in self._under_way:
            return []
        if key not in self._found:
            found = self._found[key] = []
            self._under_way.add(constraints.key)
            for value in self.candidates(constraints, depth, name):
                if all(self.validator.accepts(schema, value, self.formats) for schema in constraints.known):
                    found.append(value)
                if len(found) == count:
                    break
            self._under_way.discard(constraints.key)
        return self._found[key]

    def candidates(
        self, constraints: Constraints, depth: int = 0, name: str = "", tried: set[object] | None = None
    ) -> Iterator[JsonValue]:
        """Values for the constraints, valid and not; `tried` are choices of branches made already."""
        seen: set[str] = set()
        values = self._all(constraints, depth, name, set() if tried is None else tried)
        for value in values if depth <= MAX_DEPTH else ():
            self.left -= 1
            if len(seen) >= MAX_VALUES or self.left < 0:
                return
            if repr(value) not in seen:
                seen.add(repr(value))
                yield value

    def _all(self, constraints: Constraints, depth: int, name: str, tried: set[object]) -> Iterator[JsonValue]:
        """Values that the author listed or wrote as examples, values of each kind, and those of branches."""
        known, is_secret = constraints.known, may_be_secret_name(name)
        of_kinds: dict[str, Iterator[JsonValue]] = {
            "object": self._objects(constraints, depth),
            "array": self._arrays(constraints, depth, name),
            "string": _strings(known, "change-me" if is_secret else "text"),
            **dict.fromkeys(NUMBERS, _numbers(known)),
            "boolean": iter((False, True)),
            "null": iter((None,)),
        }
        kinds = _kinds(constraints)
        made = chain.from_iterable(of_kinds[kind] for kind in kinds)
        listed = chain.from_iterable((schema.listed or [])[:_MAX_LISTED] for schema in known)
        written = iter(()) if is_secret else _written(known)
        of_branches = self._of_branches(constraints, depth, name, tried)
        if kinds[:1] in (["object"], ["array"]):  # defaults of these are often empty
            made = chain(made, written)
        else:
            listed = chain(written, listed)
        return chain(listed, of_branches, made) if self.full else chain(listed, made, of_branches)

    def _of_branches(self, constraints: Constraints, depth: int, name: str, tried: set[object]) -> Iterator[JsonValue]:
        for schema in constraints.known:
            branches = [*chain.from_iterable(schema.choices)][:_MAX_BRANCHES]
            branches += filter(None, map(schema.optional, ("if", "then", "else", "not")))
            for branch in branches:
                more = constraints.and_also(branch)
                self.left -= 1 + len(more.known) // 32  # hundreds of schemas cost more than their values
                if self.left < 0:
                    return
                if more.key not in tried and more.kinds:  # the same branches in another order give the same values
                    tried.add(more.key)
                    yield from self.candidates(more, depth + 1, name, tried)

    def _objects(self, constraints: Constraints, depth: int) -> Iterator[JsonValue]:
        """With only what is required, with one more property each, with one less, and at limits of their number."""
        known, described, required = constraints.known, constraints.names(), constraints.required()
        needed = [*filter(required.__contains__, described), *sorted(required), *_depending(known, required)]
        least = self._properties(constraints, needed, depth)
        extra = self._properties(constraints, [n for n in described if n not in least][: self._most_optional], depth)
        extra.update(self._of_patterns(known, depth))
        if self.full:
            yield {**least, **extra}
        yield least
        yield from ({**least, name: value} for name, value in extra.items())
        yield {**least, **extra}
        for missing in list(least)[: self._most_missing]:
            yield {name: value for name, value in least.items() if name != missing}
        names = [*extra, *(f"other{i}" for i in range(_MAX_ITEMS))]
        for count in _counts(known, "minProperties", "maxProperties", _MAX_ITEMS):
            yield {**least, **self._properties(constraints, names[: max(count - len(least), 0)], depth)}

    def _of_patterns(self, schemas: Schemas, depth: int) -> dict[str, JsonValue]:
        """A property for each of the first patterns of names."""
        found: dict[str, JsonValue] = {}
        nodes = [s.child("patternProperties", word) for s in schemas for word in s.get("patternProperties") or ()]
        for node in nodes[:_MAX_FEW]:
            values = self.valid(Constraints().and_also(node), 1, depth + 1) or ["text"]
            found.update(dict.fromkeys(samples(str(node.pointer[-1]))[:1], values[0]))
        return found

    def _properties(self, constraints: Constraints, names: list[str], depth: int) -> dict[str, JsonValue]:
        """These properties, as far as a valid value is found for each."""
        return {n: v for n in dict.fromkeys(names) for v in self.valid(constraints.at_key(n), 1, depth + 1, n)}

    def _arrays(self, constraints: Constraints, depth: int, name: str) -> Iterator[JsonValue]:
        items = self.valid(constraints.at_item(), 4, depth + 1, name)
        fewest = int(min(constraints.counts("array")[0], _MAX_ITEMS))
        best = max(fewest, 1) if self.full else fewest
        for count in dict.fromkeys([best, 0, 1, 2, *_counts(constraints.known, "minItems", "maxItems", _MAX_ITEMS)]):
            yield items[:1] * count
            numbered = zip(range(count), cycle(items), strict=False)
            others = (f"{item}{number}" if isinstance(item, str) else number + 4 for number, item in numbered)
            yield [*items, *others][:count]


def _kinds(constraints: Constraints) -> list[str]:
    """The kinds to try; first those that the keywords hint at."""
    used = set[str]().union(*(schema.asserted for schema in constraints.known))
    marked = [kind for kind, words in _MARKS.items() if not used.isdisjoint(words)]
    return [kind for kind in dict.fromkeys([*(marked or ["string"]), *_KINDS]) if kind in constraints.kinds]


def _written(schemas: Schemas) -> Iterator[JsonValue]:
    """The values that the author wrote as examples."""
    for value in (schema.value for schema in schemas if isinstance(schema.value, dict)):
        yield from (value[word] for word in ("default", "example") if word in value)
        yield from value["examples"] if isinstance(value.get("examples"), list) else ()


def _numbers(schemas: Schemas) -> Iterator[JsonValue]:
    """Numbers at, just below and just above each one that the schemas name."""
    for edge in dict.fromkeys([*_limits(schemas, *_MARKS["integer"]), 0]):
        halves = [edge + 0.5, edge - 0.5] if abs(edge) < 2**40 else []
        # Without a needless point: drafts disagree whether 1.0 is an integer.
        for value in (edge, edge + 1, edge - 1, edge * 2, *halves):
            yield int(value) if isinstance(value, float) and value.is_integer() else value


def _depending(schemas: Schemas, required: set[str]) -> Iterator[str]:
    """The properties that required ones depend on."""
    for schema in schemas:
        for name, names in (schema.get("dependencies") or schema.get("dependentRequired") or {}).items():
            yield from names if name in required and isinstance(names, list) else ()


def _limits(schemas: Schemas, *keywords: str) -> list[Any]:
    found = [schema.get(keyword) for schema in schemas for keyword in keywords]
    return [limit for limit in found if limit is not None and not isinstance(limit, bool)]


def _strings(schemas: Schemas, word: str) -> Iterator[JsonValue]:
    yield from (_FORMATS[form] for schema in schemas if (form := schema.get("format")) in _FORMATS)
    shapes = [text for pattern in _limits(schemas, "pattern") for text in samples(pattern)]
    yield from sorted((text for text in shapes if text), key=lambda text: abs(len(text) - 6))
    for count in dict.fromkeys([len(word), *_counts(schemas, "minLength", "maxLength", _MAX_TEXT)]):
        yield (word * (count // len(word) + 1))[:count]
    yield from ("", "a", "0")


def _counts(schemas: Schemas, low: str, high: str, most: int) -> list[int]:
    """Counts at the limits and just beyond them."""
    near = [n for limit in map(int, _limits(schemas, low, high)) for n in (limit, limit + 1, limit - 1)]
    return [n for n in dict.fromkeys(near) if 0 <= n <= most]


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
def samples(pattern: str) -> tuple[str, ...]:
    """Texts that match the pattern if it is a plain one, or that only just do not; the simplest first."""
    if len(pattern) > _MAX_PATTERN:
        return ()
    variants = [(0, 0), (0, 1), *((variant, variant % 2) for variant in range(1, 20)), (0, 64)]
    found = [_sample(pattern, *variant) for variant in variants]
    return tuple(dict.fromkeys([*found, f"{found[0]}-", f"-{found[0]}"]))


def _sample(pattern: str, variant: int, longer: int) -> str:
    """A text made from a pattern; `variant` picks characters and branches, `longer` adds repetitions."""

    def repeated(options: Sequence[str], quantifier: str) -> str:
        low, comma, high = _LIMITS.get(quantifier, quantifier.strip("{}")).partition(",")
        most = int(high or _MAX_SAMPLE) if comma else int(low)
        text = options[variant % len(options)] if options else ""
        return (text * min(int(low) + longer, most, _MAX_SAMPLE))[:_MAX_SAMPLE]

    def of_group(found: re.Match[str]) -> str:
        kind, body, quantifier = found.groups(default="")
        looks_around = kind.endswith(("=", "!"))
        return repeated(() if looks_around else _OR.split(body), quantifier)

    def of_part(found: re.Match[str]) -> str:
        part, quantifier = found.groups(default="")
        return repeated(_chars(part), quantifier)

    inner, groups = f"({pattern})", 1
    while groups and len(inner) <= _MAX_SAMPLE:
        inner, groups = _GROUP.subn(of_group, inner)
    return _PART.sub(of_part, inner[:_MAX_SAMPLE])[:_MAX_SAMPLE]


@lru_cache(maxsize=1024)
def _chars(part: str) -> str:
    """Some of the characters that a class, an escape or a dot stands for, or the one that it is; none for an anchor."""
    if len(part) == 1 and part not in ".^$":
        return part
    try:
        fits = jsonschema_rs.Draft7Validator({"pattern": f"^{part}$"}).is_valid
    except ValueError:
        return ""
    # The class may name characters outside the pool itself.
    return "".join(char for char in dict.fromkeys(_POOL + part) if fits(char))
