"""jsonschema's errors in our own sentences.

Its own messages hold the whole instance, and point at the object where a field is missing. Ours name the
service offering or plan, the field, what is wanted and, cut short, what stands there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import jsonschema
from jsonschema.exceptions import best_match
from referencing import Registry

from osbctl.catalog import names_at
from osbctl.fields import is_boolean
from osbctl.findings import Finding, Fix, Severity
from osbctl.jsonschemas.sentences import field_name, refusal
from osbctl.paths import value_at
from osbctl.validation.parts import CatalogPart, field_decider, part_decider, part_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from jsonschema.exceptions import ValidationError

    from osbctl.paths import Path
    from osbctl.platforms import ApiVersion

    _Fault: TypeAlias = tuple[Path, str, str]
    """A path, a keyword, and our sentence."""

MAX_FINDINGS = 1_000
"""So many errors, and as many warnings, of a schema are reported of one document: nobody reads more."""

MAX_KEPT = 10_000
"""Characters of a part whose faults are kept: of a thousand, some megabytes."""

_kept: dict[tuple[ApiVersion, CatalogPart, Path, str], tuple[_Fault, ...]] = {}

_CONVENTIONS = {
    "displayName",
    "imageUrl",
    "longDescription",
    "providerDisplayName",
    "documentationUrl",
    "supportUrl",
    "bullets",
    "costs",
}
"""Metadata fields whose types are a convention of the profile, not a rule of the specification."""

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_LISTS = {"services", "plans", "tags", "requires", "bullets", "costs"}
_REST = {Severity.ERROR: "schema-other", Severity.WARNING: "metadata-type"}


def explained(data: dict[str, Any], version: ApiVersion) -> list[Finding]:
    """A finding for each fault of `data` under a shipped schema; of too many, the first and a word on the rest."""
    number: Counter[Severity] = Counter()
    findings = []
    for path, keyword, sentence in (fault for part in _parts(data) for fault in _faults_of(version, *part)):
        severity = _severity(path)
        number[severity] += 1
        if number[severity] <= MAX_FINDINGS:
            findings.append(_finding(data, path, keyword, sentence))
        elif severity is Severity.ERROR:
            break
        # Warnings beyond the bound are passed over, for an error may stand behind them.
    return findings + [more(_REST[severity], severity) for severity, found in number.items() if found > MAX_FINDINGS]


def _parts(data: dict[str, Any]) -> Iterator[tuple[CatalogPart, Path, Any]]:
    """The catalog, each service offering and each plan, with their paths: what is right in itself is passed over."""
    yield CatalogPart.CATALOG, (), data
    for i, service in enumerate(_items(data, "services")):
        yield CatalogPart.SERVICE, ("services", i), service
        for j, plan in enumerate(_items(service, "plans")):
            yield CatalogPart.PLAN, ("services", i, "plans", j), plan


def _items(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _faults_of(version: ApiVersion, kind: CatalogPart, path: Path, part: Any) -> Iterable[_Fault]:
    """The faults of one part, without those of the parts in it.

    Those of small parts are kept: an editor asks for most of them again with the next key.
    """
    if part_decider(version, kind)(part):
        return ()
    key = (version, kind, path, json.dumps(part))
    found = _kept.get(key)
    if found is None:
        validator = jsonschema.Draft7Validator(part_schema(version, kind), registry=Registry())
        found = tuple(f for error in validator.iter_errors(_faulty(part, version, kind)) for f in faults(error, path))
        if len(_kept) >= MAX_FINDINGS:
            _kept.clear()
        if len(key[-1]) < MAX_KEPT:
            _kept[key] = found
    return found


def _faulty(part: Any, version: ApiVersion, kind: CatalogPart) -> Any:
    """The part without objects and lists that are right, which jsonschema would go through step by step."""
    if not isinstance(part, dict):
        return part
    right = [
        key
        for key in ("schemas", "metadata")
        if isinstance(part.get(key), dict) and field_decider(version, kind, key)(part[key])
    ]
    return {key: value for key, value in part.items() if key not in right}


def more(rule: str, severity: Severity) -> Finding:
    """The finding that stands for those beyond the bound: without it, ignoring a rule could hide the others."""
    kind = "errors" if severity is Severity.ERROR else "warnings"
    return Finding(rule, severity, f"more than {MAX_FINDINGS} {kind} of the schema; the rest is left out")


def _innermost(error: ValidationError) -> ValidationError:
    """Of a choice between schemas, the error of the one that was likely meant."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        best = best_match(iter([error])) or error
        likely = [inner for inner in error.context if inner.validator != "type"] or error.context
        error = likely[0] if best is error else best
    return error


def faults(error: ValidationError, above: Path = ()) -> Iterator[_Fault]:
    """The path, the keyword and our sentence of an error; one for each field that is missing or too many.

    `above` is the path of what was held to the schema.
    """
    error = _innermost(error)
    path = (*above, *error.absolute_path)
    keyword, instance = str(error.validator), error.instance
    value: Any = error.validator_value
    if keyword in ("required", "dependentRequired", "dependencies"):
        name = _missing(error)
        if name is not None:
            yield (*path, name), "required", f"{field_name(name)} is missing"
            return
    elif keyword == "additionalProperties":
        for name in _extras(error):
            yield (*path, name), keyword, f"{field_name(name)} is not allowed here"
        return
    elif _is_about_a_name(error):
        yield (*path, str(instance)), keyword, refusal(keyword, value, instance, ("the name of a field",))
        return
    yield path, keyword, refusal(keyword, value, instance, path)


def _missing(error: ValidationError) -> str | None:
    """The field that is missing: jsonschema raises an error a name, and tells it only in front of its message."""
    value: Any = error.validator_value
    lists = value.values() if isinstance(value, dict) else [value]
    names = (name for names in lists if isinstance(names, list) for name in names)
    return next((name for name in names if error.message.startswith(repr(name))), None)


def _extras(error: ValidationError) -> list[str]:
    """The fields that `additionalProperties: false` shuts out."""
    schema: Any = error.schema
    instance: Any = error.instance
    patterns = schema.get("patternProperties", ())
    known = schema.get("properties", ())
    return [n for n in instance if n not in known and not any(re.search(p, n) for p in patterns)]


def _is_about_a_name(error: ValidationError) -> bool:
    """Whether `propertyNames` judged the key of a field, not a value."""
    steps: tuple[Any, ...] = tuple(error.absolute_schema_path)
    return steps[-2:-1] == ("propertyNames",) and steps[-3:-2] != ("properties",)


def sentence(error: ValidationError, whole: str) -> str:
    """One error as a sentence of ours; `whole` is what the top is called."""
    error = _innermost(error)
    return refusal(str(error.validator), error.validator_value, error.instance, tuple(error.absolute_path), whole)


def _finding(data: dict[str, Any], path: Path, keyword: str, text: str) -> Finding:
    if (severity := _severity(path)) is Severity.ERROR:
        hint, fixes = _advice(data, path, keyword, safe=True)
        return Finding(_rule(keyword), severity, about(data, path) + text, path, hint=hint, fixes=fixes)
    if keyword == "type" and isinstance(path[-1], str) and value_at(data, path) is None:
        message, several = about(data, path) + text, "fields of metadata are null"
        return Finding("metadata-type", Severity.INFO, message, path, hint="leave it out", several=several)
    hint, fixes = _advice(data, path, keyword, safe=False)
    items = text.partition(" of ")[2].replace("must be", "must each be") if isinstance(path[-1], int) else ""
    several = f"items of {items}" if items else ""
    return Finding("metadata-type", severity, about(data, path) + text, path, hint=hint, fixes=fixes, several=several)


def _severity(path: Path) -> Severity:
    inside = path[path.index("metadata") + 1 :] if "metadata" in path else ()
    return Severity.WARNING if inside and inside[0] in _CONVENTIONS else Severity.ERROR


def _rule(keyword: str) -> str:
    if keyword in ("minLength", "minItems"):
        return "schema-empty"
    return f"schema-{keyword}" if keyword in ("required", "type", "enum") else "schema-other"


def _advice(data: Any, path: Path, keyword: str, safe: bool) -> tuple[str, tuple[Fix, ...]]:
    """What to do about a fault, in words and as a fix, which is `safe` where every platform refuses the value."""
    if keyword == "required":
        is_id = path[-1] == "id" and path[-3:-2] in (("services",), ("plans",))
        return ("a GUID is recommended; once published, it never changes" if is_id else ""), ()
    if keyword != "type" or not path:
        return "", ()
    return _type_advice(path, value_at(data, path), safe)


def _type_advice(path: Path, value: Any, safe: bool) -> tuple[str, tuple[Fix, ...]]:
    field = path[-1]
    if field in _LISTS and value is not None:
        single = isinstance(value, str) and field not in ("services", "plans", "costs")
        return "write a list, even of a single entry", (Fix("wrap", path, value, safe),) if single else ()
    if isinstance(value, str) and value.lower() in _WORDS and is_boolean(str(field)):
        meant = _WORDS[value.lower()]
        return f"write {json.dumps(meant)}, without quotes", (Fix("set", path, meant, safe),)
    if isinstance(value, str) and (field == "maximum_polling_duration" or "amount" in path):
        number = _number(value)
        return "write a number, without quotes", () if number is None else (Fix("set", path, number, safe),)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if field == "id":
            return "put it in quotes", ()  # `012` may have been published as 10: only the author knows
        texts = field in ("name", "description", "version", *_CONVENTIONS)
        return ("put it in quotes", (Fix("quote", path, safe=safe),)) if texts else ("", ())
    return "", ()


def _number(text: str) -> int | float | None:
    try:
        number = json.loads(text)
    except (ValueError, RecursionError):  # any text may stand there
        return None
    return number if isinstance(number, int | float) and not isinstance(number, bool) else None


def about(data: Any, path: Path) -> str:
    """The names of the service offering and the plan that `path` leads into, as the beginning of a sentence."""
    named = zip(("service", "plan"), names_at(path, data), strict=True)
    return "".join(f"{kind} {name[:60]!r}: " for kind, name in named if isinstance(name, str) and name)
