"""The drafts of JSON Schema: the keywords that each asserts, whether a schema is valid under it, and older ones.

Cloud Foundry refuses a draft that it does not know. It knows draft-04 and draft-06, under their http addresses alone. A
schema means the same in an older draft if that defines all of its keywords, and their values, in the same way.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, NoReturn

from osbctl.paths import JsonPath, JsonValue, entries, find_refs, pointer, resolve_ref, subschemas, value_at


class UndecidableError(Exception):
    """A schema is too complex or not valid; the text is the reason."""


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
    """The draft that a value of `$schema` names. None if it names none."""
    scheme, _, rest = uri.removesuffix("#").rpartition("://") if isinstance(uri, str) else ("", "", "")
    found = DRAFTS.get(f"http://{rest}") or DRAFTS.get(f"https://{rest}")  # both schemes are written
    return found if scheme in ("", "http", "https") else None


def misspelled_schema_key(schema: dict[str, JsonValue]) -> str:
    """The key under which a schema names its draft, such as `schema`, if that is not `$schema`. Empty if none does."""
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
        parts = _judged_parts(schema, DRAFT_4).values()
        is_draft_4 = not has_later and all(_meets_metaschema({"not": part}, DRAFT_4) for part in parts)
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


def refuse_to_fetch(uri: str) -> NoReturn:
    """The retriever of a validator that fetches nothing."""
    raise ValueError(uri)


def is_valid_schema(schema: dict[str, Any], dialect: Dialect) -> bool:
    """Return whether a schema is valid under a draft, whichever it names; faster than `metaschema_errors`."""
    if not _meets_metaschema(schema, dialect):
        return False
    if dialect != DRAFT_4:
        return True
    # The library's draft-04 takes an enum that is empty or holds an item twice.
    enums = [place.value["enum"] for place in subschemas(schema) if "enum" in place.value]
    return all(_is_draft_4_enum()(enum) for enum in enums)


@cache
def _is_draft_4_enum() -> Callable[[JsonValue], bool]:
    return make_fast_validator({"type": "array", "minItems": 1, "uniqueItems": True}, DRAFT_4)


def _meets_metaschema(schema: dict[str, Any], dialect: Dialect) -> bool:
    import jsonschema_rs

    # The library chooses the metaschema by `$schema`; one that is not a string is an error.
    named = {**schema, "$schema": dialect.uri} if isinstance(schema.get("$schema", ""), str) else schema
    try:
        return bool(jsonschema_rs.meta.is_valid(named))
    except (ValueError, jsonschema_rs.ReferencingError):
        return False


_FORMATS_BY_YEAR = {
    2017: "uri-reference uri-template json-pointer",
    2018: "date time regex idn-email idn-hostname iri iri-reference relative-json-pointer",
    2019: "duration uuid",
}
"""Formats by the year of the draft that brought them; draft-04 has those that are not here, or ignores them."""


class OlderDraft(NamedTuple):
    """A draft that means the same; `address` is empty if there is none, and `hint` says what to do.

    `is_safe` is False if a validator that checks formats may check fewer of them.
    """

    address: str
    hint: str
    is_safe: bool = False


def find_older_draft(schema: dict[str, Any]) -> OlderDraft:
    """The oldest draft that Cloud Foundry knows and in which a schema means the same."""
    try:
        old = detect_dialect(schema)
    except UndecidableError:
        return OlderDraft("", f"write {DRAFT_4.uri}# or {DRAFT_6.uri}#: Cloud Foundry refuses every other")
    difference = ""
    for new in (DRAFT_4, DRAFT_6):
        difference = _find_difference(schema, old, new)
        if not difference:
            later = {name for year, names in _FORMATS_BY_YEAR.items() if year > new.year for name in names.split()}
            formats = [place.value.get("format") for place in subschemas(schema)]
            lost = [name for name in formats if isinstance(name, str) and name in later and old != new]
            less = f", but for the format {lost[0]!r}, which it does not define" if lost else ""
            same = f", where the schema means the same{less}" if old != new else ""
            return OlderDraft(f"{new.uri}#", f"write {new.uri}#{same}", not lost)
    hint = f"express it otherwise, and write {DRAFT_6.uri}#, the latest that Cloud Foundry accepts: there, {difference}"
    return OlderDraft("", hint)


def _find_difference(schema: dict[str, Any], old: Dialect, new: Dialect) -> str:
    """A difference between the meanings of a schema in the `old` and the `new` draft, in words. Empty if equal."""
    for place in subschemas(schema):
        if what := _find_difference_at(place.value, old, new):
            return f"{what} at {pointer(place.path) or 'the top'}"
    if what := next(_unfollowed_refs(schema), ""):
        return what
    parts = [{"not": part} for part in _judged_parts(schema, new).values()]
    is_lost = any(not is_valid_schema(part, new) and is_valid_schema(part, old) for part in parts)
    return "it is not valid" if is_lost else ""


def _unfollowed_refs(schema: dict[str, Any]) -> Iterator[str]:
    """The references that lead elsewhere, or to what `subschemas` does not take for a schema, each with the reason."""
    places = {place.path for place in subschemas(schema)}
    for path, ref in find_refs(schema):
        target = resolve_ref(schema, ref)
        if not ref.startswith("#/") and ref != "#":
            yield f"{ref[:60]!r} at {pointer(path)} leads elsewhere"
        elif target is not None and target not in places and isinstance(value_at(schema, target), dict):
            yield f"{ref[:60]!r} may not be followed"


def _judged_parts(schema: dict[str, Any], dialect: Dialect) -> dict[JsonPath, JsonValue]:
    """The whole schema, and the parts that a metaschema skips though a reference may lead there, each by its path."""
    skipped = (KEYWORDS - dialect.keywords) | {"$defs"}
    paths: list[JsonPath | None] = [(), *(resolve_ref(schema, ref) for _, ref in find_refs(schema))]
    for place in subschemas(schema):
        for keyword in skipped & place.value.keys():
            paths += ((*place.path, keyword, name) for name, _ in entries(place.value[keyword]))
    parts = {path: value_at(schema, path) for path in paths if path is not None}
    return {path: part for path, part in parts.items() if isinstance(part, dict | bool)}


def _find_difference_at(schema: dict[str, Any], old: Dialect, new: Dialect) -> str:
    changed = next((key for key in schema if key in old.keywords ^ new.keywords), "")
    if changed:
        return f"{changed} has no meaning" if changed in old.keywords else f"{changed} has a meaning"
    types = schema.get("type")
    types = types if isinstance(types, list) else [types]
    if new == DRAFT_4 != old and "integer" in types and "number" not in types:
        return "1.0 is no integer"
    if old != new and any(isinstance(schema.get(key), str) for key in ("id", "$id")):
        return "the id is read otherwise"
    if old.year >= 2019 and "$ref" in schema and not KEYWORDS.isdisjoint(schema.keys() - {"$ref"}):
        return "keywords beside $ref are ignored"
    if old.year >= 2020 and isinstance(schema.get("items"), list):
        return "items may be a list"
    return ""
