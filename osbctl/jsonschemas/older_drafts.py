"""The draft to write in `$schema` where Cloud Foundry refuses the one that is there.

It knows draft-04 and draft-06 and nothing later, under their http addresses alone. A schema means the same in an older
draft if that defines all of its keywords, and their values, in the same way.
"""

from typing import Any, NamedTuple

from osbctl.jsonschemas.dialects import DRAFT_4, DRAFT_6, KEYWORDS, Dialect, detect_dialect, is_valid_schema
from osbctl.jsonschemas.walk import UndecidableError, find_refs, subschemas
from osbctl.paths import LITERALS, pointer

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
    """A difference between the meanings of a schema in the `old` and the `new` draft, in words; empty if none."""
    for place in subschemas(schema):
        if what := _find_difference_at(place.value, old, new):
            return f"{what} at {pointer(place.path) or 'the top'}"
    for path, ref in find_refs(schema):
        if not ref.startswith("#/") and ref != "#":
            return f"{ref[:60]!r} at {pointer(path)} leads elsewhere"
        if not LITERALS.isdisjoint(ref.split("/")):  # a schema that the walk above has not seen
            return f"{ref[:60]!r} may not be followed"
    return "it is not valid" if is_valid_schema(schema, old) and not is_valid_schema(schema, new) else ""


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
