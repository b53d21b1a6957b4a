"""The drafts of JSON Schema: the keywords that each asserts, and whether a schema is valid under it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from osbctl.jsonschemas.walk import UndecidableError, subschemas
from osbctl.paths import JsonValue

_SINCE_DRAFT_4 = (
    "$ref additionalItems additionalProperties allOf anyOf dependencies enum exclusiveMaximum exclusiveMinimum format"
    " items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf not oneOf"
    " pattern patternProperties properties required type uniqueItems"
)
_DRAFT_4 = frozenset(_SINCE_DRAFT_4.split())
_DRAFT_6 = _DRAFT_4 | {"const", "contains", "propertyNames"}
_DRAFT_7 = _DRAFT_6 | {"if", "then", "else"}
_SINCE_2019 = (
    "dependentRequired dependentSchemas maxContains minContains unevaluatedItems unevaluatedProperties $recursiveRef"
)
_DRAFT_2019 = (_DRAFT_7 - {"dependencies"}).union(_SINCE_2019.split())
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


_OLD, _NEW = "http://json-schema.org/draft-{}/schema", "https://json-schema.org/draft/{}/schema"
DRAFT_4 = Dialect("draft-04", 2013, _OLD.format("04"), "Draft4Validator", _DRAFT_4)
DRAFT_4_ADDRESS = f"{DRAFT_4.uri}#"  # as schemas write it
DRAFT_6 = Dialect("draft-06", 2017, _OLD.format("06"), "Draft6Validator", _DRAFT_6)
DRAFT_7 = Dialect("draft-07", 2018, _OLD.format("07"), "Draft7Validator", _DRAFT_7)
_ALL = (
    DRAFT_4,
    DRAFT_6,
    DRAFT_7,
    Dialect("2019-09", 2019, _NEW.format("2019-09"), "Draft201909Validator", _DRAFT_2019),
    Dialect("2020-12", 2020, _NEW.format("2020-12"), "Draft202012Validator", _DRAFT_2020),
)
DRAFTS = {dialect.uri: dialect for dialect in _ALL}
"""By `$schema` without its empty fragment."""

KEYWORDS = frozenset[str]().union(*(dialect.keywords for dialect in _ALL))
"""The keywords of all drafts that can refuse a value."""

_FOR_DISPLAY = "binary double float hidden html int32 int64 markdown multiline password text textarea"
DISPLAY_FORMATS = frozenset(_FOR_DISPLAY.split())
"""Values of `format` for user interfaces and code generators, which refuse no text."""


def find_dialect(uri: JsonValue) -> Dialect | None:
    """The draft that a value of `$schema` names; None if it names none."""
    scheme, _, rest = uri.removesuffix("#").rpartition("://") if isinstance(uri, str) else ("", "", "")
    found = DRAFTS.get(f"http://{rest}") or DRAFTS.get(f"https://{rest}")  # both schemes are written
    return found if scheme in ("", "http", "https") else None


def misspelled_schema_key(schema: dict[str, JsonValue]) -> str:
    """The key under which a schema names its draft, such as `schema`, if that is not `$schema`; empty if none does."""
    for key, value in schema.items() if "$schema" not in schema else ():
        if isinstance(key, str) and key.strip("$ ").lower() == "schema" and find_dialect(value):
            return key
    return ""


def detect_dialect(schema: JsonValue) -> Dialect:
    """The draft that `$schema` names; if it names none, draft-04, as the rules read it.

    That is draft-07 where such a schema is not valid under draft-04, or uses a keyword that draft-04 ignores: a `const`
    that changed is a change, even with a wrong `$schema`. Raises `UndecidableError` for an unknown draft.
    """
    if not isinstance(schema, dict):
        return DRAFT_4 if isinstance(schema, bool) else DRAFT_7
    if "$schema" not in schema:
        has_later = any(not (_DRAFT_7 - _DRAFT_4).isdisjoint(place.value) for place in subschemas(schema))
        is_draft_4 = not has_later and _meets_metaschema(schema, DRAFT_4)
        return DRAFT_4 if is_draft_4 else DRAFT_7
    if known := find_dialect(schema["$schema"]):
        return known
    raise UndecidableError("has a $schema that names no draft from 04 to 2020-12")


def make_fast_validator(schema: dict[str, Any], dialect: Dialect = DRAFT_7) -> Callable[[Any], bool]:
    """A function that returns whether a value meets a schema: in milliseconds for a whole catalog.

    It ignores `format`, and refuses values that are nested too deeply or hold a lone surrogate.
    """
    import jsonschema_rs

    validator = getattr(jsonschema_rs, dialect.validator)(schema, validate_formats=False)

    def is_accepted(value: Any) -> bool:
        try:
            return bool(validator.is_valid(value))
        except ValueError:
            return False

    return is_accepted


def is_valid_schema(schema: dict[str, Any], dialect: Dialect) -> bool:
    """Return whether a schema is valid under a draft, whichever it names; faster than `metaschema_errors`."""
    # The library's draft-04 takes an enum that is empty or holds an item twice.
    enums = [place.value["enum"] for place in subschemas(schema) if "enum" in place.value and dialect == DRAFT_4]
    is_enum = make_fast_validator({"type": "array", "minItems": 1, "uniqueItems": True}, DRAFT_4)
    return _meets_metaschema(schema, dialect) and all(map(is_enum, enums))


def _meets_metaschema(schema: dict[str, Any], dialect: Dialect) -> bool:
    import jsonschema_rs

    # The library chooses the metaschema by `$schema`; one that is not a string is an error.
    named = {**schema, "$schema": dialect.uri} if isinstance(schema.get("$schema", ""), str) else schema
    try:
        return bool(jsonschema_rs.meta.is_valid(named))
    except (ValueError, jsonschema_rs.ReferencingError):
        return False
