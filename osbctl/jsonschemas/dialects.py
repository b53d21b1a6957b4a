"""The drafts of JSON Schema, and which keywords each one asserts."""

from __future__ import annotations

from typing import NamedTuple

from osbctl.jsonschemas.walk import UndecidableError, subschemas
from osbctl.paths import JsonValue


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


class Dialect(NamedTuple):
    """One draft. `uri` names its metaschema, `validator` its class in `jsonschema_rs`; `keywords` can refuse a value.

    Other keywords are annotations there: `const` says nothing in draft-04.
    """

    name: str
    year: int
    uri: str
    validator: str
    keywords: frozenset[str]

    @property
    def ref_stands_alone(self) -> bool:
        """Up to draft-07 a `$ref` hides its siblings (draft-07 core, 8.3)."""
        return self.year < 2019


_OLD, _NEW = "http://json-schema.org/draft-{}/schema", "https://json-schema.org/draft/{}/schema"
DRAFT_4 = Dialect("draft-04", 2013, _OLD.format("04"), "Draft4Validator", _DRAFT_4)
DRAFT_7 = Dialect("draft-07", 2018, _OLD.format("07"), "Draft7Validator", _DRAFT_7)

DIALECTS = {
    dialect.uri.partition("://")[2]: dialect
    for dialect in (
        DRAFT_4,
        Dialect("draft-06", 2017, _OLD.format("06"), "Draft6Validator", _DRAFT_6),
        DRAFT_7,
        Dialect("2019-09", 2019, _NEW.format("2019-09"), "Draft201909Validator", _DRAFT_2019),
        Dialect("2020-12", 2020, _NEW.format("2020-12"), "Draft202012Validator", _DRAFT_2020),
    )
}
"""By URI, without the scheme: both are written."""

KEYWORDS = frozenset[str]().union(*(dialect.keywords for dialect in DIALECTS.values()))
"""The keywords of all drafts that can refuse a value."""


def misnamed_dialect(schema: dict[str, JsonValue]) -> str:
    """The key under which a schema names its draft, such as `schema`, if that is not `$schema`; empty if none does."""
    for key, value in schema.items() if "$schema" not in schema else ():
        is_slip = isinstance(key, str) and key.strip("$ ").lower() == "schema"
        if is_slip and isinstance(value, str) and value.removesuffix("#").split("://")[-1] in DIALECTS:
            return key
    return ""


def dialect_of(schema: JsonValue) -> Dialect:
    """The draft that `$schema` names; if it names none, draft-04, as the rules read it.

    That is draft-07 where such a schema is not valid under draft-04, or uses a keyword that draft-04 ignores: a `const`
    that changed is a change, even with a wrong `$schema`. Raises `UndecidableError` for an unknown draft.
    """
    if not isinstance(schema, dict) or "$schema" not in schema:
        return DRAFT_4 if _is_draft_4(schema) else DRAFT_7
    uri = schema["$schema"]
    known = isinstance(uri, str) and DIALECTS.get(uri.removesuffix("#").split("://")[-1])
    if not known:
        raise UndecidableError("its $schema names no draft from 04 to 2020-12")
    return known


def _is_draft_4(schema: JsonValue) -> bool:
    import jsonschema_rs

    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    if any(not (_DRAFT_7 - _DRAFT_4).isdisjoint(place.value) for place in subschemas(schema)):
        return False
    try:
        return bool(jsonschema_rs.meta.is_valid({**schema, "$schema": DRAFT_4.uri}))
    except (ValueError, jsonschema_rs.ReferencingError):
        return False
