"""Schemas of the user, applied with jsonschema-rs, and the rules that they name; nothing is fetched.

`x-osbctl` in a schema names the rule that a violation of this part of it breaks. Its keys are `rule`, which begins with
`house-`, and optionally `severity`, `message`, `hint` and `url`. The `title` and `description` of the same schema
explain the rule. It applies to all within, except within another `x-osbctl`.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from osbctl.errors import ConfigError
from osbctl.findings import Finding, Severity
from osbctl.jsonschemas.dialects import DRAFTS, find_dialect, refuse_to_fetch
from osbctl.jsonschemas.sentences import describe_error, describe_violation, error_path, leaf_errors
from osbctl.messages import Message, Sentence, text_of
from osbctl.paths import JsonPath, JsonValue, get_at, pointer, resolve_ref, subschemas
from osbctl.rule import RULES, USER_PREFIX, Category, Rule
from osbctl.text import did_you_mean, escape_line
from osbctl.validation.options import MAX_FINDINGS
from osbctl.validation.rules.parameters import References
from osbctl.validation.schema_errors import name_in_object, omission_note, service_and_plan_prefix

KEYWORD = "x-osbctl"
_KEYS = ("rule", "severity", "message", "hint", "url")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ID = re.compile(rf"{USER_PREFIX}[a-z0-9]+(-[a-z0-9]+)*")
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
    return escape_line(text_of(" ".join(text.split())))


def check_user_schema(data: dict[str, Any], schema: Any, name: str) -> list[Finding]:
    """Findings of the user schema `name`. Raises ConfigError: it is invalid, unusable, or refers elsewhere."""
    if reason := _unusable_reason(schema):
        raise ConfigError(f"user schema {name}: {reason}")
    known_dialect = find_dialect(schema.get("$schema")) if isinstance(schema, dict) else None
    dialect = known_dialect or DRAFTS["https://json-schema.org/draft/2020-12/schema"]
    make_validator = getattr(jsonschema_rs, dialect.validator)
    try:
        validator = make_validator(schema, validate_formats=False, retriever=refuse_to_fetch)
        errors = list(islice(leaf_errors(validator.iter_errors(data)), MAX_FINDINGS + 1))
    except ValidationError as error:
        raise _invalid_schema_error(error, schema, name) from error
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        reason = escape_line(str(error).partition("\n")[0])[:200]
        raise ConfigError(f"user schema {name}: it cannot be applied: {reason}") from error
    found = list(dict.fromkeys(finding for error in errors for finding in _error_findings(error, data, schema, name)))
    rest = [omission_note("house-schema", Severity.ERROR)] if len(found) > MAX_FINDINGS else []
    return found[:MAX_FINDINGS] + rest


def _error_findings(error: ValidationError, data: JsonValue, schema: JsonValue, name: str) -> Iterator[Finding]:
    """The findings for an error: of the rule that the schema names at its place, else of `house-schema`."""
    own = find_annotation(schema, tuple(error.evaluation_path), tuple(error.schema_path))
    page = f"see {own['url']}" if "url" in own else ""
    hint = "; ".join(filter(None, (own.get("hint"), page)))
    for path, text in error_sentences(error, data):
        prefix = service_and_plan_prefix(data, path)
        if own:
            severity = Severity(own.get("severity", "error"))
            message = Message("{}{}", prefix, own.get("message") or text)
            yield Finding(own["rule"], severity, message, path, hint=hint)
        else:
            yield Finding("house-schema", Severity.ERROR, Message("{}{} ({})", prefix, text, name), path)


def _unusable_reason(schema: object) -> str:
    """Reason why `schema` cannot be applied. Empty if it can."""
    if not isinstance(schema, dict | bool):
        return "it is not an object"
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema.get("$schema", ""), str):
        return "not a valid schema at /$schema: it must be a string"
    if "draft-03" in schema.get("$schema", ""):
        return "draft-03 is not supported, draft-04 and later are"
    return "its references go round in circles" if any(References(schema).find_loops()) else ""


def _invalid_schema_error(error: ValidationError, schema: JsonValue, name: str) -> ConfigError:
    text = escape_line(error.message.partition("\n")[0])[:200]
    if isinstance(error.kind, ValidationErrorKind.Referencing) or "does not exist" in text:
        return ConfigError(f"user schema {name}: a reference leads nowhere: {text}", "nothing is fetched")
    return ConfigError(f"user schema {name}: not a valid schema at {pointer(error_path(error, schema))}: {text}")


def error_sentences(error: ValidationError, data: JsonValue) -> Iterator[tuple[JsonPath, Sentence]]:
    """Path and sentence of an error of the catalog `data`; one for each missing or additional field."""
    path, kind = error_path(error, data), error.kind
    if isinstance(kind, ValidationErrorKind.Required):
        yield (*path, kind.property), Message("{} is missing", name_in_object((*path, kind.property)))
    elif isinstance(kind, ValidationErrorKind.AdditionalProperties):
        places = [(*path, name) for name in kind.unexpected]
        yield from ((place, f"{name_in_object(place)} is not allowed here") for place in places)
    elif isinstance(kind, ValidationErrorKind.PropertyNames):
        inner = kind.error
        text = describe_violation(inner.kind.name, inner.kind.value, inner.instance, (), "the name of a field")
        yield (*path, str(inner.instance)), text
    else:
        yield path, describe_error(error, path, "the catalog", name=name_in_object(path))
