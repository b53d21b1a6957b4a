"""Schemas that hit every keyword, small enough that random requests often meet them."""

import copy
import random
from typing import Any

from hypothesis import strategies as st

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"

NAMES = ("a", "b", "c", "d")
SCALARS = (None, True, False, 0, 1, 2, 3, -1, 0.5, 1.5, "", "a", "b", "ab", "abc", "2024-01-01")
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
PATTERNS = ("^a", "b$", "^[ab]+$", "^(a+)+$", "a|b", "^.{2}$")


class SchemaMaker:
    """Makes schemas of one draft out of a source of random choices."""

    def __init__(self, choose: random.Random, draft: str) -> None:
        self.choose, self.draft = choose, draft

    def top(self) -> dict[str, Any]:
        schema = {"$schema": self.draft, **self.object_keywords(2), "definitions": {"d": self.keywords(0)}}
        if self.choose.random() < 0.3:
            schema.update(self.keywords(1))
        if self.choose.random() < 0.7:
            schema["type"] = "object"
        return schema

    def schema(self, depth: int) -> Any:
        roll = self.choose.random()
        if roll < 0.1 and self.draft != DRAFT_4:
            return self.choose.random() < 0.7
        if roll < 0.2:
            return {"$ref": "#" if depth > 0 and roll < 0.12 else "#/definitions/d"}
        return self.keywords(depth)

    def keywords(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.choose.random() < 0.6:
            found["type"] = self.types()
        makers = [self.scalar, self.scalar]
        if depth > 0:
            makers += [self.object_keywords, self.array, self.combination]
        for maker in self.choose.sample(makers, self.choose.randint(0, 2)):
            found.update(maker(depth - 1))
        if self.choose.random() < 0.1:
            found["default"] = self.choose.choice(SCALARS)
        return found

    def types(self) -> Any:
        if self.choose.random() < 0.7:
            return self.choose.choice(TYPES)
        return self.choose.sample(TYPES, self.choose.randint(1, 3))

    def scalar(self, _: int = 0) -> dict[str, Any]:
        c = self.choose
        exclusive: Any = c.random() < 0.5 if self.draft == DRAFT_4 else c.randint(-1, 3)
        options: list[dict[str, Any]] = [
            {"enum": [*map(str, c.sample(range(5), c.randint(1, 4))), *c.sample(SCALARS[3:], c.randint(0, 3))]},
            {"minimum": c.choice([-1, 0, 0.5, 1, 2])},
            {"maximum": c.choice([0, 1, 1.5, 2, 3])},
            {"minimum": c.choice([0, 1]), "exclusiveMinimum": exclusive},
            {"maximum": c.choice([2, 3]), "exclusiveMaximum": exclusive},
            {"multipleOf": c.choice([1, 2, 3, 0.5])},
            {"minLength": c.randint(0, 3)},
            {"maxLength": c.randint(0, 3)},
            {"pattern": c.choice(PATTERNS)},
            {"format": c.choice(["date", "email", "hostname"])},
            {"title": c.choice("xy")},
        ]
        if self.draft != DRAFT_4:
            options.append({"const": c.choice(SCALARS)})
        return c.choice(options)

    def object_keywords(self, depth: int = 0) -> dict[str, Any]:
        c = self.choose
        options: list[dict[str, Any]] = [
            {"properties": {name: self.schema(depth) for name in c.sample(NAMES, c.randint(1, 4))}},
            {"required": c.sample(NAMES, c.randint(1, 4))},
            {"additionalProperties": self.schema(depth) if c.random() < 0.4 else c.random() < 0.4},
            {"patternProperties": {c.choice(["^a", "[bc]", "^(a+)+$"]): self.schema(depth)}},
            {"minProperties": c.randint(0, 3)},
            {"maxProperties": c.randint(0, 3)},
            {"dependencies": {name: self.dependency() for name in c.sample(NAMES, c.randint(1, 3))}},
        ]
        if self.draft != DRAFT_4:
            options.append({"propertyNames": self.schema(0)})
        found: dict[str, Any] = {}
        for part in c.sample(options, c.randint(1, 3)):
            found.update(part)
        return found

    def dependency(self) -> Any:
        names = self.choose.sample(NAMES, self.choose.randint(1, 3))
        return names if self.choose.random() < 0.5 else {"required": names}

    def array(self, depth: int = 0) -> dict[str, Any]:
        c = self.choose
        options: list[dict[str, Any]] = [
            {"items": self.keywords(depth)},
            {"items": self.several(depth), "additionalItems": self.choose.random() < 0.5},
            {"items": self.several(depth), "additionalItems": self.keywords(depth)},
            {"minItems": c.randint(0, 3)},
            {"maxItems": c.randint(0, 3)},
            {"uniqueItems": c.random() < 0.7},
        ]
        if self.draft != DRAFT_4:
            options.append({"contains": self.schema(depth)})
        return {**c.choice(options), **c.choice(options)}

    def several(self, depth: int) -> list[dict[str, Any]]:
        return [self.keywords(depth) for _ in range(self.choose.randint(1, 3))]

    def combination(self, depth: int = 0) -> dict[str, Any]:
        c = self.choose
        options: list[dict[str, Any]] = [
            {c.choice(["allOf", "anyOf", "oneOf"]): [self.schema(depth) for _ in range(c.randint(1, 4))]},
            {"not": self.schema(depth)},
        ]
        if self.draft == DRAFT_7:
            options.append({"if": self.schema(depth), "then": self.schema(depth), "else": self.schema(depth)})
        return c.choice(options)

    def changed(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema with one to three places changed: most real changes are small."""
        new = copy.deepcopy(schema)
        for _ in range(self.choose.randint(1, 3)):
            self._change(self.choose.choice(list(_dicts(new))))
        return new

    def _change(self, place: dict[str, Any]) -> None:
        roll = self.choose.random()
        names = [name for name in place if name != "$schema"]
        if roll < 0.4 and names:
            del place[self.choose.choice(names)]
        elif roll < 0.55 and names:
            inner = {name: place.pop(name) for name in names if name != "definitions"}
            place[self.choose.choice(["anyOf", "allOf", "oneOf"])] = [inner, self.keywords(0)]
        else:
            place.update(self.choose.choice([self.scalar, self.object_keywords, self.array, self.combination])(0))


def request(choose: random.Random, depth: int = 2) -> dict[str, Any]:
    """A request's `parameters`."""
    return {name: value(choose, depth) for name in NAMES if choose.random() < 0.5}


def value(choose: random.Random, depth: int) -> Any:
    """Any JSON value, small."""
    roll = choose.random()
    if depth > 0 and roll < 0.2:
        return [value(choose, depth - 1) for _ in range(choose.randint(0, 3))]
    if depth > 0 and roll < 0.4:
        return request(choose, depth - 1)
    return choose.choice((*SCALARS, 1.0))


def _dicts(schema: Any) -> list[dict[str, Any]]:
    """The schemas within a schema, itself first."""
    if not isinstance(schema, dict):
        return []
    found = [schema]
    for keyword, value in schema.items():
        if keyword in ("properties", "patternProperties", "definitions"):
            parts = list(value.values())
        elif keyword in ("allOf", "anyOf", "oneOf", "items"):
            parts = value if isinstance(value, list) else [value]
        else:
            parts = [value] if keyword in ("not", "if", "then", "else", "additionalProperties") else []
        found += [place for part in parts for place in _dicts(part)]
    return found


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], random.Random]:
    """Two schemas, mostly related, of draft-04, 06 or 07 or one of each; and choices for requests."""
    choose = random.Random(draw(st.integers(0, 2**48)))  # many times as fast as choices drawn one by one
    drafts = [choose.choice([DRAFT_4, DRAFT_6, DRAFT_7])] * 2
    maker = SchemaMaker(choose, drafts[0])
    old = maker.top()
    new = maker.changed(old) if choose.random() < 0.8 else maker.top()
    if choose.random() < 0.1:
        new["$schema"] = choose.choice([DRAFT_4, DRAFT_6, DRAFT_7])
    return (old, new, choose) if choose.random() < 0.5 else (new, old, choose)
