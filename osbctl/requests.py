"""Requests to a plan: examples, validation by its schema or as cloud-service-broker does, and commands that send them.

In commands, names are in double quotes if necessary. Parameters are in a separate file, since no quoting of JSON works
in all shells. The platforms' records define the tools.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from textwrap import indent
from typing import Any, NamedTuple

import jsonschema_rs

from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.dialects import DRAFT_4, UndecidableError, is_valid_schema
from osbctl.jsonschemas.schema_tree import BoundedValidator, SchemaTree, build_checked_tree
from osbctl.jsonschemas.secrets import secret_literals
from osbctl.jsonschemas.sentences import describe_error, describe_violation, error_path, leaf_errors
from osbctl.jsonschemas.value_generator import ValueGenerator
from osbctl.messages import Sentence, is_secret_path, may_be_secret_name, redact
from osbctl.parameter_table import Parameter, parameters
from osbctl.paths import JsonPath, JsonValue, SchemaPlace, subschemas
from osbctl.platforms import Platform
from osbctl.platforms.tools import Manifest, ProvisionRequest, Purpose, Tool, tools_of
from osbctl.sources.folder.brokerpak_requests import UNKNOWN, RequestRules
from osbctl.sources.folder.go_yaml import has_no_json
from osbctl.text import did_you_mean, escape_line, format_key, is_safe_character

MAX_MADE = 2_000
"""Maximum number of generated values per example; a schema that refers to itself is infinite."""

_LONGEST_TEXT = 65_536
"""Characters of a text in a request beside patterns: a certificate with its chain has some 5,000."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The smallest and the fullest request that a schema accepts; if None, `why` gives the reason."""

    smallest: dict[str, JsonValue] | None = None
    fullest: dict[str, JsonValue] | None = None
    why: str = ""


def generate_examples(schema: JsonValue) -> Examples:
    """Generate examples for a parameter schema (draft-04 to 2020-12; see `detect_dialect`). Never raises."""
    try:
        tree = build_checked_tree(schema)
    except UndecidableError as error:
        return Examples(why=f"no example can be made for this schema: it {error}")
    smallest = _generate_example(tree, full=False)
    fullest = _generate_example(tree, full=True)
    if smallest is None and fullest is None:
        return Examples(why="no request that this schema accepts was found")
    secrets = secret_literals(schema)
    shown = [redact(example, secrets, by_name=False) for example in (smallest, fullest) if example is not None]
    return Examples(shown[0], shown[-1])


def _generate_example(tree: SchemaTree, *, full: bool) -> dict[str, JsonValue] | None:
    """Generate the smallest or the fullest example. None unless the validator accepts it."""
    values = ValueGenerator(BoundedValidator(), MAX_MADE, full=full, formats=True)
    found = values.valid_values(Constraints(within=OBJECT).and_also(tree.top))
    proved = found and isinstance(found[0], dict) and BoundedValidator().accepts(tree.top, found[0], formats=True)
    return found[0] if proved else None


def request_errors(schema: JsonValue, request: dict[str, JsonValue]) -> list[Finding]:
    """Validate a request, including formats. Findings have the keyword as rule, and no location or secret values.

    Raises SourceError: the schema is invalid, has an unknown draft or an external reference, or a pattern would take
    too long on the longest text of the request.
    """
    try:
        tree = build_checked_tree(schema)
    except UndecidableError as error:
        raise SourceError(f"the plan's schema cannot be applied: it {error}") from None
    errors = BoundedValidator(max_text=_LONGEST_TEXT).errors(tree.top, request)
    if errors is None:
        reason = "it is invalid, or one of its patterns would take too long on the longest text of the request"
        raise SourceError(f"the plan's schema cannot be applied: {reason}")
    secrets = secret_literals(schema)
    names = set(Constraints().and_also(tree.top).property_names())
    found = (_findings_of_error(error, error_path(error, request), names, secrets) for error in leaf_errors(errors))
    return list(dict.fromkeys(chain.from_iterable(found)))


def _findings_of_error(error: Any, path: JsonPath, names: set[str], secrets: frozenset[Any]) -> Iterator[Finding]:
    """Convert an error of the validator at `path`; `names` are the parameters at the top of the schema."""
    kind = error.kind
    if kind.name == "required":
        yield _fault((*path, kind.property), f"{format_key(kind.property)} is missing", kind.name)
    elif kind.name in ("additionalProperties", "unevaluatedProperties"):
        for name in kind.unexpected:
            hint = (not path and did_you_mean(name, names)) or "`osbctl params` without -c lists what the plan accepts"
            yield _fault((*path, name), f"the schema does not allow {format_key(name)} here", kind.name, hint)
    elif kind.name == "propertyNames":
        name = kind.error.instance
        about = describe_violation(kind.error.kind.name, kind.error.kind.value, name, (), "the name of a parameter")
        yield _fault((*path, name), about, kind.name)
    elif is_secret_path(path) or any(map(may_be_secret_name, path)):
        yield _fault(path, f"{format_key(str(path[-1]))} does not meet `{kind.name}` of the schema", kind.name)
    else:
        yield _fault(path, describe_error(error, path, "the request", secrets), kind.name)


def _fault(path: JsonPath, message: Sentence, rule: str = "cloud-service-broker", hint: str = "") -> Finding:
    return Finding(rule, Severity.ERROR, message, path, hint=hint)


def judge_request(
    rules: RequestRules,
    request: Mapping[str, JsonValue],
    *,
    update: bool = False,
    previous: Mapping[str, Any] | None = None,
) -> list[Finding]:
    """Validate a request by the rules of its plan; findings as those of `request_errors`, with paths in the request.

    `previous` are the parameters that were sent before an update. None if they are not known.
    """
    found = [_fault((name,), message) for name, message in rules.name_faults(request, update=update)]
    schema = as_go_compiles(rules.schema)
    if rules.fault or (fault := _schema_fault(schema)):
        return [*found, _fault((), f"every request to this plan is refused: {rules.fault or fault}")]
    whole = not update or previous is not None
    imported = rules.imported_inputs(request, previous) if update else {}
    values, faults = rules.merge({**(previous or {}), **imported, **request}, whole=whole)
    found += [_fault((), message) for _, message in faults]
    found += [_fault((), message) for message in rules.import_faults(imported, values)]
    unknown = {name for name, value in values.items() if value is UNKNOWN}
    required = [name for name in schema.pop("required", ()) if whole and name not in unknown]
    schema |= {"required": required} if required else {}
    known = {name: _as_go_reads(value) for name, value in values.items() if name not in unknown}
    if bad := [name for name, value in known.items() if has_no_json(value)]:
        return [*found, _fault((), f"every request to this plan is refused: JSON cannot say the value of {bad[0]}")]
    for error in _schema_errors(schema, known):
        is_sent = not error.path or error.path[0] in request or error.rule == "required"
        found.append(
            error if is_sent else _fault((), f"{_origin(rules, str(error.path[0]), previous)}: {error.message}")
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
    examples = [example for example in (found.smallest, found.fullest) if example is not None]
    refusals = [judge_request(rules, example, update=update) for example in examples]
    accepted = [example for example, reasons in zip(examples, refusals, strict=True) if not reasons]
    if accepted:
        return Examples(accepted[0], accepted[-1])
    return Examples(why=refusals[-1][0].message) if refusals else found


def _origin(rules: RequestRules, name: str, previous: Mapping[str, Any] | None) -> str:
    """The origin of a value that the request does not have."""
    if name in rules.properties:
        return f"every request to this plan is refused, since it sets {name}"
    if name in (previous or {}):
        return f"{name} was sent before"
    return f"a request without {name} is refused for its default"


def _schema_fault(schema: Mapping[str, Any]) -> str:
    """The reason why the broker cannot apply its schema. Empty if it can."""
    is_compiled = _compiles(schema)  # if not, a part may be faulty alone, or refer to another input
    for name, one in schema["properties"].items():
        if has_no_json(one):
            return f"JSON cannot say the schema of {name}"
        is_valid = is_valid_schema({"type": "object", "properties": {name: _without_patterns(one)}}, DRAFT_4)
        if not is_valid or any(map(_has_crossed_limits, subschemas(one))):
            return f"the schema of {name} is not valid"
        if not is_compiled and not _compiles(one):
            return f"a pattern of {name} is no regular expression of Go"
    return ""


def _compiles(schema: Any) -> bool:
    try:
        # Go's regular expressions have no lookaround, as those of this engine.
        jsonschema_rs.Draft4Validator(schema, pattern_options=jsonschema_rs.RegexOptions())
    except (ValueError, jsonschema_rs.ReferencingError):
        return False
    return True


def _has_crossed_limits(place: SchemaPlace) -> bool:
    limits = ((place.value.get(f"min{what}"), place.value.get(f"max{what}")) for what in ("Length", "Properties"))
    return any(low is not None and high is not None and low > high for low, high in limits)


_FORMATS = ("date", "hostname", "email", "idn-email", "ipv4", "ipv6", "uri", "uri-reference", "iri-reference", "regex")
_TIMES = [{"format": "time"}, {"pattern": r"^([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]+)?$"}]
_FORMATS_OF_GO: dict[str, Any] = {
    "uuid": {"pattern": "^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}$"},
    "iri": {"pattern": "^[a-zA-Z][a-zA-Z0-9+.-]*:"},
    "json-pointer": {"pattern": "^(/([^~/]|~0|~1)*)*$"},
    "relative-json-pointer": {"pattern": "^(0|[1-9][0-9]*)(#|(/([^~/]|~0|~1)*)*)$"},
    "time": {"anyOf": _TIMES},
    "date-time": {"anyOf": [{"format": "date-time"}, {"format": "date"}, *_TIMES]},
    "uri-template": {"format": "uri-template"},
}
"""The formats of github.com/xeipuuv/gojsonschema, which no number has; those that mean something else in draft-04."""
_MAY_BE_EMPTY = ("allOf", "anyOf", "enum", "oneOf", "required", "type")


def as_go_compiles(schema: Any) -> Any:
    """A schema in draft-04 that means what gojsonschema makes of it: empty lists have no effect, 2.0 is 2."""
    if isinstance(schema, list):
        return [as_go_compiles(item) for item in schema]
    if not isinstance(schema, dict):
        return _as_go_reads(schema)
    made = type(schema)({key: as_go_compiles(item) for key, item in schema.items()})
    for key in _MAY_BE_EMPTY:
        if made.get(key) == []:
            del made[key]
    if isinstance(made.get("pattern"), str):
        made["pattern"] = _as_javascript(made["pattern"])
    name, parts = made.get("format"), made.get("allOf", [])
    if name in (*_FORMATS, *_FORMATS_OF_GO) and isinstance(parts, list):
        made["allOf"] = [*parts, {"not": {"type": "number"}}, _FORMATS_OF_GO.get(name, {"format": name})]
        del made["format"]
    return made


_IN_GO = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\x\{([0-9A-Fa-f]+)\}|\(\?P<|\\[Az]|\[:(\w+):\]|\\.", re.DOTALL)
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s"}
_CLASSES |= {"xdigit": "0-9a-fA-F", "word": r"\w", "blank": r" \t", "punct": r"!-/:-@\[-`{-~"}


def _as_javascript(pattern: str) -> str:
    """A regular expression of Go in JavaScript's syntax, which `jsonschema_rs` asks for; one with flags takes all."""

    def convert(match: re.Match[str]) -> str:
        if match[2] or match[0].startswith("\\Q"):
            return re.escape(chr(int(match[2], 16) % 0x110000) if match[2] else match[1])
        others = {"(?P<": "(?<", "\\A": "^", "\\z": "$"}
        return others.get(match[0]) or _CLASSES.get(match[3], match[0])

    flags = re.match(r"\(\?[imsU]+(?:-[imsU]+)?\)", pattern)
    converted = _IN_GO.sub(convert, pattern[flags.end() :] if flags else pattern)
    return "" if flags and _compiles({"pattern": converted}) else converted


def _schema_errors(schema: dict[str, Any], values: dict[str, Any]) -> list[Finding]:
    try:
        return request_errors(schema, values)
    except SourceError:  # a pattern that Go reads, and JavaScript does not
        validator = jsonschema_rs.Draft4Validator(schema, pattern_options=jsonschema_rs.RegexOptions())
        return [] if validator.is_valid(values) else [_fault((), "a value does not meet its pattern or schema")]


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
        return type(value)({key: _as_go_reads(item) for key, item in value.items()})
    if isinstance(value, list):
        return [_as_go_reads(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_OPTION = re.compile(r"\[([^\]]*)\]")
_PLACE = re.compile(r"\{(\w+)\}")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*\Z")
_READ_DIFFERENTLY = re.compile('["$`\\\\%!\u201c\u201d\u201e]')
"""Special characters between double quotes in bash, PowerShell (with curly quotes) and cmd."""


class UnquotableError(ValueError):
    """A word that cannot be quoted safely; the message says why."""


class Command(NamedTuple):
    """A command that sends a request. `text` works in any shell, or only in bash if `shell` names it.

    `file` and `content` are the name and text of the file that it reads, if any. If no command is safe, `text` is
    empty and `why` says why.
    """

    tool: str
    shell: str = ""
    text: str = ""
    file: str = ""
    content: str = ""
    why: str = ""


def build_commands(
    request: ProvisionRequest, purpose: Purpose, platforms: Collection[Platform] = tuple(Platform)
) -> list[Command]:
    """Build the commands of the platforms' tools for a request, in that order."""
    return [command for tool in tools_of(platforms) for command in _build_tool_commands(tool, request, purpose)]


def _build_tool_commands(tool: Tool, request: ProvisionRequest, purpose: Purpose) -> Iterator[Command]:
    file = (request.file, request.content) if request.parameters is not None else ("", "")
    if callable(tool.sends):
        sent = tool.sends(request, purpose)
        if isinstance(sent, Manifest):
            from osbctl.sources.yaml_text import dump, dump_string

            given = "" if request.parameters is None else indent(dump({"parameters": request.parameters}), "  ")
            service, plan = dump_string(request.service), dump_string(request.plan)
            content = sent.content.format(service=service, plan=plan, parameters=given)
            yield Command(tool.name, "", sent.command, sent.file, content)
        else:
            yield Command(tool.name, "", sent, *file)
    elif template := _drop_missing_parts(tool.sends.get(purpose, ""), request):
        needs_bash = "{parameters}" in template and not tool.reads_files
        try:
            text = _PLACE.sub(lambda match: _fill_placeholder(match[1], request, tool.reads_files), template)
        except UnquotableError as error:
            yield Command(tool.name, why=f"a name in it cannot be quoted: {error}")
        else:
            yield Command(tool.name, "bash" if needs_bash else "", text, *file)


def _drop_missing_parts(template: str, request: ProvisionRequest) -> str:
    """Drop the parts in brackets that lack a value, and all brackets; the result is empty if another part lacks one."""
    given = {"{broker}": bool(request.broker), "{parameters}": request.parameters is not None}
    missing = [place for place, is_given in given.items() if not is_given]
    template = _OPTION.sub(lambda match: "" if any(place in match[1] for place in missing) else match[1], template)
    return "" if any(place in template for place in missing) else template


def _fill_placeholder(name: str, request: ProvisionRequest, reads_files: bool) -> str:
    """The text for the placeholder `name`, quoted: for `parameters` a file, or its content if no file is read.

    Raises UnquotableError.
    """
    if name != "parameters":
        return quote_argument(getattr(request, name))
    file = quote_argument(request.file)
    return file if reads_files else f'"$(cat {file})"'


def quote_argument(word: str) -> str:
    """Quote `word` in a way that bash, PowerShell and cmd read identically. Raises UnquotableError: there is none."""
    if _PLAIN.match(word):
        return word
    if not word:
        raise UnquotableError("it is empty")
    if word.startswith("-"):
        raise UnquotableError("it begins with a hyphen, like an option")
    if not all(map(is_safe_character, word)):
        raise UnquotableError("it contains an invisible character")
    if found := _READ_DIFFERENTLY.search(word):
        raise UnquotableError(f"shells interpret {found.group()} differently")
    return f'"{word}"'
