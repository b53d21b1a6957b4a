"""Unfilled placeholders of template languages, valid values to replace them, and the verdicts on a template."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from typing import Any

from osbctl.fields import LATEST, PARTS, known_fields, load_schema
from osbctl.messages import Message, Value
from osbctl.paths import JsonPath, JsonValue, value_at
from osbctl.platforms import Platform
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, judge_all, limit_refusals

_WORDS = re.compile(
    r"\(\(!?[\w./:-]+\)\)"
    r"|(?<![\w%])%[sdv](?![\w%])"
    r"|(?<![A-Za-z])REPLACE_(?:WITH_\w+|ME)(?![A-Za-z])"
)
_WHOLE = re.compile(
    r"\(\(.*\)\)|<[A-Za-z][^<>/=]*>|TODO|TBD|FIXME|X{4,}|CHANGE[-_ ]?ME|__[A-Za-z][A-Za-z0-9_]*__", re.DOTALL
)
"""Spruce's operators, such as (( grab meta.id )), `<plan name>`, and what authors write to fill in later."""
_ANGLES = re.compile(r"[^\s<>]*(<(?!(?:b|i|u|p|br|hr|li|ul|ol)>)[A-Za-z][\w.-]*>)[^\s<>]*")
"""`https://<host>/x`: a value without blanks, and so not HTML."""
_BRACKETS = (("{{", "}}"), ("${", "}"), ("<%", "%>"))
"""Found with `str.find`: a regular expression would search for the end from each start, in quadratic time."""

_SIGN = re.compile(r"\(\(|\{\{|\$\{|<|%[sdv]|REPLACE_|TODO|TBD|FIXME|XXXX|CHANGE|__")
_PASSED_ON = ("service_metadata", "plan_metadata", "cost", "")
"""Kinds of objects of which platforms keep every field; empty for those whose fields have no kind."""
_LITERAL = {"pattern", "default", "examples", "enum", "const"}
"""Keywords of a parameter schema whose text may contain `${…}` for the service."""


def holds_placeholder(text: str) -> bool:
    """Return whether `text` contains a placeholder."""
    return _first_placeholder(text) is not None


def find_placeholders(catalog: dict[str, Any]) -> dict[JsonPath, str]:
    """The first placeholder of each string that a platform reads, by its path."""
    if not _SIGN.search(json.dumps(catalog, ensure_ascii=False)):  # as in most catalogs
        return {}
    found = ((path, _first_placeholder(text)) for path, text in _strings_read_by_platforms(catalog))
    return {path: placeholder for path, placeholder in found if placeholder}


def _first_placeholder(text: str) -> str | None:
    if not _SIGN.search(text):
        return None
    if _WHOLE.fullmatch(text):
        return text
    match = _WORDS.search(text)
    if match:
        return match[0]
    angles = _ANGLES.fullmatch(text)
    return angles[1] if angles else next(filter(None, (_find_enclosed(text, *pair) for pair in _BRACKETS)), None)


def _find_enclosed(text: str, opening: str, closing: str) -> str | None:
    """The first non-empty text enclosed in `opening` and `closing`, including them."""
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            return None
        if end > start + len(opening):
            return text[start : end + len(closing)]
        start = text.find(opening, end)
    return None


def _strings_read_by_platforms(catalog: dict[str, Any]) -> Iterator[tuple[JsonPath, str]]:
    """Every string that a platform reads, in order, except literals of parameter schemas."""
    stack: list[tuple[JsonPath, Any, str]] = [((), catalog, "catalog")]
    while stack:
        path, item, kind = stack.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, dict):
            parts = PARTS.get(kind, {})
            read: Set[str]
            if kind in _PASSED_ON:
                read = item.keys() - (_LITERAL if "parameters" in path else set())
            else:
                read = known_fields(kind)
            stack += [((*path, key), value, parts.get(key, "")) for key, value in reversed(item.items()) if key in read]
        elif isinstance(item, list):
            stack += [((*path, index), value, kind) for index, value in reversed([*enumerate(item)])]


def fill_placeholders(catalog: dict[str, Any], paths: Iterable[JsonPath]) -> dict[str, Any]:
    """The catalog with values of the correct type at `paths`; a placeholder for a string stays."""
    whole: dict[str, Any] = json.loads(json.dumps(catalog))
    for number, path in enumerate(paths):
        schema: Mapping[str, Any] = load_schema(LATEST)
        for step in path:
            inside = schema.get("properties", {}).get(step) if isinstance(step, str) else schema.get("items")
            schema = _resolve(inside or schema.get("additionalProperties") or {})
        value = _sample_value(schema, f"placeholder-{number}")
        if not isinstance(value, str):
            value_at(whole, path[:-1])[path[-1]] = value
    return whole


def _resolve(schema: Any) -> Mapping[str, Any]:
    if not isinstance(schema, dict):
        return {}
    reference = schema.get("allOf", [schema])[0].get("$ref", "")
    found: Mapping[str, Any] = load_schema(LATEST)["definitions"][reference.rpartition("/")[2]] if reference else schema
    return found


def _sample_value(schema: Mapping[str, Any], text: str) -> JsonValue:
    """A small value for `schema` that every platform accepts; `text` if it is a string."""
    match schema.get("type"):
        case "object":
            return {key: _sample_value(_resolve(schema["properties"][key]), text) for key in schema.get("required", ())}
        case "array":
            items = _resolve(schema.get("items", {}))
            return [_sample_value(items, text)] if items.get("required") else []
        case "boolean":
            return True
        case "integer" | "number":
            return 1
    return text


def judge_template(data: dict[str, Any], platforms: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """Verdicts of `platforms` on the catalog `data` once its placeholders are replaced.

    A platform refuses it for errors that no value of a placeholder repairs. Without such errors, and without acceptance
    of the catalog as written, its verdict is unclear.
    """
    outcomes = judge_all(data, platforms)
    not_accepting = [platform for platform, outcome in outcomes.items() if outcome.kind is not VerdictKind.ACCEPTS]
    unresolved = find_placeholders(data) if not_accepting else {}
    if not unresolved:
        return outcomes
    rendered = judge_all(fill_placeholders(data, unresolved), not_accepting)
    return outcomes | {each: _template_outcome(unresolved, outcomes[each], rendered[each]) for each in not_accepting}


def _template_outcome(unresolved: Mapping[JsonPath, str], original: Outcome, rendered: Outcome) -> Outcome:
    """Join the outcomes of a template before and after its placeholders are replaced.

    A refusal that depends on none that is `unresolved` decides; else the outcome is unclear.
    """
    refusals = tuple(refusal for refusal in rendered.refusals if unresolved.keys().isdisjoint(_prefixes(refusal.path)))
    if refusals:
        return rendered._replace(refusals=refusals)
    refused_paths = {path for refusal in original.refusals for path in _prefixes(refusal.path)}
    decisive = [path for path in unresolved if path in refused_paths] or unresolved
    doubts = (
        Refusal("placeholder-unresolved", path, Message("it depends on {}", Value(unresolved[path], limit=40)))
        for path in decisive
    )
    return Outcome(VerdictKind.UNCLEAR, doubts=limit_refusals(doubts))


def _prefixes(path: JsonPath) -> list[JsonPath]:
    """The paths of the value at `path` and of all that it stands in."""
    return [path[:end] for end in range(1, len(path) + 1)]
