"""The drafts of JSON Schema, and which keywords each one asserts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from osbctl.comparison.schemas.changes import UndecidableError

if TYPE_CHECKING:
    from osbctl.sources.document import JsonValue


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DRAFT_4 = _words(
    "$ref additionalItems additionalProperties allOf anyOf dependencies enum exclusiveMaximum "
    "exclusiveMinimum format items maxItems maxLength maxProperties maximum minItems minLength "
    "minProperties minimum multipleOf not oneOf pattern patternProperties properties required type "
    "uniqueItems"
)
_DRAFT_6 = _DRAFT_4 | {"const", "contains", "propertyNames"}
_DRAFT_7 = _DRAFT_6 | {"if", "then", "else"}
_DRAFT_2019 = (_DRAFT_7 - {"dependencies"}) | _words(
    "$recursiveRef dependentRequired dependentSchemas maxContains minContains unevaluatedItems unevaluatedProperties"
)
_DRAFT_2020 = (_DRAFT_2019 - {"additionalItems", "$recursiveRef"}) | {"prefixItems", "$dynamicRef"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One draft. `validator` names its class in `jsonschema`; `keywords` are those that can refuse a value.

    Whatever is not among the keywords is an annotation there: `const` says nothing in draft-04.
    """

    name: str
    year: int
    validator: str
    keywords: frozenset[str]

    @property
    def ref_stands_alone(self) -> bool:
        """Up to draft-07 a `$ref` hides its siblings (draft-07 core, 8.3)."""
        return self.year < 2019


DRAFT_7 = Dialect("draft-07", 2018, "Draft7Validator", _DRAFT_7)

_DIALECTS = {
    "json-schema.org/draft-04/schema": Dialect("draft-04", 2013, "Draft4Validator", _DRAFT_4),
    "json-schema.org/draft-06/schema": Dialect("draft-06", 2017, "Draft6Validator", _DRAFT_6),
    "json-schema.org/draft-07/schema": DRAFT_7,
    "json-schema.org/draft/2019-09/schema": Dialect("2019-09", 2019, "Draft201909Validator", _DRAFT_2019),
    "json-schema.org/draft/2020-12/schema": Dialect("2020-12", 2020, "Draft202012Validator", _DRAFT_2020),
}


def dialect_of(schema: JsonValue) -> Dialect:
    """The draft that `$schema` names; draft-07 where it names none.

    Draft-07 is the stricter guess: what draft-04 alone allows (a boolean `exclusiveMinimum`) is
    then a broken schema, never one that is silently misread. Raises `UndecidableError` for an unknown draft.
    """
    if not isinstance(schema, dict) or "$schema" not in schema:
        return DRAFT_7
    uri = schema["$schema"]
    known = isinstance(uri, str) and _DIALECTS.get(uri.removesuffix("#").split("://")[-1])
    if not known:
        raise UndecidableError("its $schema names no draft from 04 to 2020-12")
    return known
