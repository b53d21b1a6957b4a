"""Rules of one's own: `x-osbctl` in a schema of the user names the rule that a violation of this part of it breaks.

Its keys are `rule`, which begins with `house-`, and optionally `severity`, `message`, `hint` and `url`. The `title` and
`description` of the same schema explain the rule. It applies to all within, except within another `x-osbctl`.
"""

import re
from collections.abc import Iterable
from typing import Any

from osbctl.errors import ConfigError
from osbctl.findings import Severity
from osbctl.jsonschemas.walk import resolve_ref, subschemas
from osbctl.paths import JsonPath, JsonValue, get_at, pointer
from osbctl.redaction import redact_text
from osbctl.rule import RULES, Category, Rule
from osbctl.text import did_you_mean, escape_line

KEYWORD = "x-osbctl"
_KEYS = ("rule", "severity", "message", "hint", "url")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ID = re.compile(r"house-[a-z0-9]+(-[a-z0-9]+)*")
_URL = re.compile(r"https?://[^\s@]+")


def read_user_rules(schemas: Iterable[tuple[str, JsonValue]]) -> dict[str, Rule]:
    """The rules that schemas of the user name, by id; each schema comes with its name in reports.

    A rule may stand in several places. What one of them does not say, it takes from the first that does: the schemas
    are completed with it. Raises ConfigError: an `x-osbctl` is wrong, or two of them disagree on a severity.
    """
    rules: dict[str, Rule] = {}
    known: dict[str, dict[str, str]] = {}
    found = [(name, place.path, place.value) for name, schema in schemas for place in subschemas(schema)]
    for name, path, schema in found:
        if KEYWORD in schema:
            own = schema[KEYWORD]
            where = f"user schema {name}: {pointer((*path, KEYWORD))}"
            _check_annotation(own, where)
            first = known.setdefault(own["rule"], own)
            for key in ("severity", "url"):
                if key in own and own[key] != first.setdefault(key, own[key]):
                    raise ConfigError(f"{where}: {own['rule']} has the {key} {first[key]!r} in another place")
            own.update({**first, **own})
            rules.setdefault(own["rule"], _make_rule(name, schema, own))
    return rules


def find_annotation(schema: JsonValue, path: JsonPath, target_path: JsonPath) -> dict[str, str]:
    """The innermost `x-osbctl` around a broken keyword.

    `path` leads to it through references. If one of them is by name (`#name`), `target_path` counts, which leads to it
    without: the place of the keyword in the schema.
    """
    here, found = schema, dict[str, str]()
    for step in path:
        if isinstance(here, dict):
            found = here.get(KEYWORD, found)
        target: JsonPath | None = (step,)
        reference = here.get(step) if isinstance(here, dict) and step in _REFERENCES else None
        if isinstance(reference, str):
            target = resolve_ref(schema, reference)
            if target is None and path != target_path:
                return find_annotation(schema, target_path, target_path) or found
            here = schema
        here = None if target is None else get_at(here, target)
    return found


def _check_annotation(own: Any, where: str) -> None:
    if not isinstance(own, dict) or not all(isinstance(value, str) for value in own.values()):
        raise ConfigError(f"{where}: it must be an object of strings", f"its keys are {', '.join(_KEYS)}")
    for key in own:
        if key not in _KEYS:
            raise ConfigError(f"{where}: unknown key {key!r}", did_you_mean(key, _KEYS) or f"known: {', '.join(_KEYS)}")
    id_ = own.get("rule", "")
    if not _ID.fullmatch(id_):
        advice = "an id is house- and words of a-z and 0-9 with hyphens, such as house-support-url"
        raise ConfigError(f"{where}: {id_!r} is not an id of a rule" if id_ else f"{where}: it has no rule", advice)
    if id_ in RULES:
        raise ConfigError(f"{where}: {id_} is a rule of osbctl", "choose another id")
    if own.get("severity", "error") not in [*Severity]:
        message = f"{where}: the severity {own['severity']!r} is not one of: {', '.join(Severity)}"
        raise ConfigError(message, did_you_mean(own["severity"], [*Severity]))
    if "url" in own and not _URL.fullmatch(own["url"]):
        raise ConfigError(f"{where}: url is not the address of a page", "write https://… without a user")


def _make_rule(name: str, schema: dict[str, Any], own: dict[str, str]) -> Rule:
    texts = (own.get("message"), schema.get("title"), schema.get("description"))
    given = [_one_line(text) for text in texts if isinstance(text, str) and text.strip()]
    summary, *rest = given or [f"A value breaks this rule of {escape_line(name)}."]
    text = "\n\n".join([summary, *rest, *([f"Hint: {_one_line(own['hint'])}"] if own.get("hint") else [])])
    source = " ".join(filter(None, (escape_line(name), own.get("url"))))
    severity = Severity(own.get("severity", "error"))
    return Rule(own["rule"], severity, Category.SCHEMA, f"{text}\nSource: {source}", url=own.get("url", ""))


def _one_line(text: str) -> str:
    return escape_line(redact_text(" ".join(text.split())))
