"""Validation of a request as cloud-service-broker does it, with all values that it adds."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.jsonschemas.dialects import DRAFT_4, is_valid_schema
from osbctl.parameter_table import Parameter, parameters
from osbctl.paths import JsonPath, JsonValue
from osbctl.redaction import may_be_secret_name
from osbctl.requests.parameters import Examples, generate_examples, request_errors
from osbctl.sources.folder.brokerpak_requests import UNKNOWN, RequestRules
from osbctl.sources.folder.go_yaml import has_no_json
from osbctl.text import escape_line

_RULE = "cloud-service-broker"


def judge_request(
    rules: RequestRules,
    request: Mapping[str, JsonValue],
    *,
    update: bool = False,
    previous: Mapping[str, Any] | None = None,
) -> list[Finding]:
    """Validate a request by the rules of its plan; findings as those of `request_errors`, with paths in the request.

    `previous` are the parameters that were sent before an update; None if they are not known.
    """
    found = [_finding((name,), words) for name, words in rules.name_faults(request, update=update)]
    if rules.fault or (fault := _schema_fault(rules)):
        return [*found, _finding((), f"every request to this plan is refused: {rules.fault or fault}")]
    whole = not update or previous is not None
    values, faults = rules.merge({**(previous or {}), **request}, whole=whole)
    found += [_finding((), words) for _, words in faults]
    found += [_finding((), words) for words in rules.import_faults(values) if update]
    schema = rules.schema
    unknown = {name for name, value in values.items() if value is UNKNOWN}
    required = [name for name in schema.pop("required", ()) if whole and name not in unknown]
    schema |= {"required": required} if required else {}
    known = {name: _as_go_reads(value) for name, value in values.items() if name not in unknown}
    if bad := [name for name, value in known.items() if has_no_json(value)]:
        return [*found, _finding((), f"every request to this plan is refused: JSON cannot say the value of {bad[0]}")]
    for error in _schema_errors(schema, known):
        is_sent = not error.path or error.path[0] in request or error.rule == "required"
        found.append(
            error if is_sent else _finding((), f"{_origin(rules, str(error.path[0]), previous)}: {error.message}")
        )
    return found


def describe_inputs(rules: RequestRules, *, update: bool) -> Iterator[Parameter]:
    """The inputs as parameters; what the plan sets, or an update must not have, says so in its limits."""
    for row in parameters(rules.schema):
        if row.name in rules.properties and rules.checks_names:
            value = rules.properties[row.name]
            shown = "***" if may_be_secret_name(row.name) else json.dumps(value, ensure_ascii=False, default=str)
            row = row._replace(
                limits=f"set by the plan to {escape_line(shown)}, not by requests", required=False, default=""
            )
        elif update and rules.inputs.get(row.name, {}).get("prohibit_update"):
            row = row._replace(limits="not for updates")
        yield row


def generate_broker_examples(rules: RequestRules, *, update: bool) -> Examples:
    """Generate examples of what the broker accepts; if there is none, the reason why it refuses the fullest."""
    found = generate_examples(rules.effective_schema(update=update))
    refusals: dict[str, list[Finding]] = {}
    for name in ("smallest", "fullest"):
        if (example := getattr(found, name)) is not None:
            refusals[name] = judge_request(rules, example, update=update)
    accepted = [getattr(found, name) for name, reasons in refusals.items() if not reasons]
    if not accepted and refusals:
        return Examples(why=refusals["fullest"][0].message)
    return Examples(accepted[0], accepted[-1]) if accepted else found


def _origin(rules: RequestRules, name: str, previous: Mapping[str, Any] | None) -> str:
    """The origin of a value that the request does not have."""
    if name in rules.properties:
        return f"every request to this plan is refused, since it sets {name}"
    if name in (previous or {}):
        return f"{name} was sent before"
    return f"a request without {name} is refused for its default"


def _schema_fault(rules: RequestRules) -> str:
    """The reason why the broker cannot apply its schema; empty if it can."""
    for name, one in rules.schema["properties"].items():
        if has_no_json(one):
            return f"JSON cannot say the schema of {name}"
        if not is_valid_schema({"type": "object", "properties": {name: _without_patterns(one)}}, DRAFT_4):
            return f"the schema of {name} is not valid"
        try:
            # Go's regular expressions have no lookaround, as those of this engine.
            jsonschema_rs.Draft4Validator(one, pattern_options=jsonschema_rs.RegexOptions())
        except (ValueError, jsonschema_rs.ReferencingError):
            return f"a pattern of {name} is no regular expression of Go"
    return ""


def _schema_errors(schema: dict[str, Any], values: dict[str, Any]) -> list[Finding]:
    try:
        return request_errors(schema, values)
    except SourceError:  # a pattern that Go reads, and JavaScript does not
        validator = jsonschema_rs.Draft4Validator(schema, pattern_options=jsonschema_rs.RegexOptions())
        return [] if validator.is_valid(values) else [_finding((), "a value does not meet its pattern or schema")]


def _without_patterns(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_patterns(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: "" if key == "pattern" and isinstance(item, str) else _without_patterns(item)
        for key, item in value.items()
    }


def _as_go_reads(value: Any) -> Any:
    """A value with its numbers as Go has them after JSON: 1.0 is 1."""
    if isinstance(value, dict):
        return {key: _as_go_reads(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_go_reads(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _finding(path: JsonPath, message: str) -> Finding:
    return Finding(_RULE, Severity.ERROR, message, path)
