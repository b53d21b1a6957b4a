"""Faults of a catalog under a shipped schema, in sentences with the object, field, expected and actual value."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from osbctl.catalog import object_path, service_and_plan_names
from osbctl.fields import BOOLEAN_WORDS, CONVENTIONS, LATEST, is_boolean_field, is_newer_field, load_schema
from osbctl.findings import Finding, Fix, Group, Severity
from osbctl.jsonschemas.sentences import describe_violation
from osbctl.messages import Message, Sentence, Value
from osbctl.paths import JSON_TYPES, JsonPath, entries, get_at, pointer
from osbctl.platforms import ApiVersion
from osbctl.platforms.verdict import MAX_REFUSALS
from osbctl.sources.catalogs import catalog_below_hint
from osbctl.text import LIST_HINT, did_you_mean, format_key
from osbctl.validation.checks import CatalogNode, is_numbered
from osbctl.validation.options import MAX_FINDINGS

_LISTS = {"services", "plans", "tags", "requires", "bullets", "costs"}
_TO_WRITE = {
    "name": "name it as users should type it",
    "description": "describe it to users in a sentence",
    "plans": "a service offering needs a plan",
    "bindable": "write true or false",
    "secret": "write a secret, or leave dashboard_client out",
    "parameters": "write the schema itself, an object",
}
_LEFT_OUT = ("tags", "requires", "bindings_retrievable", "instances_retrievable", "allow_context_updates")
_NULL_IS_REFUSED = (*_LEFT_OUT, "redirect_uri")
"""Fields that may be left out, but must not be null: Cloud Foundry refuses it, or crashes."""
_NO_SPACE = re.compile(r"[a-zA-Z_]\w*:[^\s/]")
_REST = {Severity.ERROR: "schema-other", Severity.WARNING: "metadata-type"}


class CatalogFault(NamedTuple):
    """A keyword of the schema with the value `wanted`, and the catalog's value that breaks it. None if missing.

    `is_optional`: the field may be left out.
    """

    path: JsonPath
    keyword: str
    wanted: Any
    value: Any
    is_optional: bool = False

    @property
    def sentence(self) -> Message:
        """The fault as a sentence."""
        if self.keyword == "required":
            return Message("{} is missing", name_in_object(self.path))
        name = name_in_object(self.path) or "the catalog"
        return describe_violation(self.keyword, self.wanted, self.value, self.path, name)


def explain_schema_errors(data: dict[str, Any], version: ApiVersion) -> tuple[list[Finding], set[JsonPath]]:
    """Findings for the faults of `data` under the newest schema, at most `MAX_FINDINGS` of each severity and a note.

    A fault in a field newer than `version` is a warning. Also the paths of the errors beyond, up to `MAX_REFUSALS`.
    """
    count: Counter[Severity] = Counter()
    findings = []
    omitted_paths: set[JsonPath] = set()
    schema, lacks_ids = load_schema(LATEST), _lacks_all_ids(data)
    for fault in find_faults(data, schema, schema["definitions"]):
        is_warning = _is_metadata_convention(fault.path) or is_newer_field(fault.path, version)
        severity = Severity.WARNING if is_warning else Severity.ERROR
        count[severity] += 1
        if count[severity] <= MAX_FINDINGS:
            findings.append(_fault_finding(data, lacks_ids, fault, severity))
        elif severity is Severity.ERROR:
            omitted_paths.add(fault.path)
            if len(omitted_paths) == MAX_REFUSALS:
                break
        # Warnings beyond the limit are skipped, because an error may follow them.
    if not findings:  # Never report success if this walk finds nothing; a test checks that it knows all keywords.
        findings = [Finding("schema-other", Severity.ERROR, f"the schema of API version {LATEST} refuses the catalog")]
    findings += [omission_note(_REST[severity], severity) for severity, total in count.items() if total > MAX_FINDINGS]
    return findings, omitted_paths


def find_faults(
    value: Any, schema: dict[str, Any], definitions: dict[str, Any], path: JsonPath = (), is_optional: bool = False
) -> Iterator[CatalogFault]:
    """The faults under a shipped schema, in order. A walk of our own: jsonschema-rs gives no path of an empty key."""
    reference = schema.get("allOf", [schema])[0].get("$ref")
    if reference:
        schema = definitions[reference.rpartition("/")[2]]
    for keyword, breaks in _BREAKS.items():
        if keyword in schema and breaks(value, schema[keyword]):
            yield CatalogFault(path, keyword, schema[keyword], value, is_optional)
            return
    required = schema.get("required", ())
    for key in required:
        if key not in value:
            yield CatalogFault((*path, key), "required", True, None)
    fields, others = schema.get("properties", {}), schema.get("items", schema.get("additionalProperties"))
    for step, item in entries(value):
        if subschema := fields.get(step, others):
            may_be_left_out = isinstance(step, str) and step not in required
            yield from find_faults(item, subschema, definitions, (*path, step), may_be_left_out)


def _has_wrong_type(value: Any, json_type: str) -> bool:
    if json_type in ("number", "integer"):
        return type(value) is not int and not (type(value) is float and (json_type == "number" or value.is_integer()))
    return JSON_TYPES.get(type(value)) != json_type


_BREAKS: dict[str, Callable[[Any, Any], bool]] = {
    "type": _has_wrong_type,
    "enum": lambda value, allowed: value not in allowed,
    "minLength": lambda text, least: len(text) < least,
    "minItems": lambda items, least: len(items) < least,
}
"""Keywords about a value as a whole; the walk skips what is inside a value that breaks one."""


def omission_note(rule: str, severity: Severity) -> Finding:
    """The note on findings beyond the limit."""
    kind = "errors" if severity is Severity.ERROR else "warnings"
    return Finding(rule, severity, f"more than {MAX_FINDINGS} {kind} of the schema; the rest is omitted")


def _lacks_all_ids(data: dict[str, Any]) -> bool:
    """Return whether there are several service offerings and plans, and none has an id."""
    objects = CatalogNode(data).services_and_plans
    return len(objects) > 1 and not any(thing.get("id") for thing in objects)


def _fault_finding(data: dict[str, Any], lacks_ids: bool, fault: CatalogFault, severity: Severity) -> Finding:
    """The finding for a fault; a field outside its service offering and a null object are special cases."""
    path, keyword = fault.path, fault.keyword
    prefix = service_and_plan_prefix(data, path)
    message = Message("{}{}", prefix, fault.sentence)
    if keyword == "required" and path[0] == "services" and len(path) == 3 and path[-1] in data:
        message = Message("{}{} stands at the top, not in the service offering", prefix, str(path[-1]))
        hint = "indent it, and what is below it"
        return Finding("schema-required", Severity.ERROR, message, path, hint=hint, related_path=(str(path[-1]),))
    if _is_metadata_convention(path):
        return _metadata_finding(fault, severity, message)
    if keyword == "type" and fault.value is None and fault.is_optional and path[-1] not in _NULL_IS_REFUSED:
        # Every platform treats it as a missing field; brokers of Go's SDK send `parameters` this way.
        group, fixes = Group("nulls stand where a field may be left out"), (Fix("remove", path, safe=True),)
        return Finding("null-object", Severity.INFO, message, path, None, "leave it out", fixes, group)
    return _specification_finding(data, lacks_ids, fault, severity, message)


def _specification_finding(
    data: dict[str, Any], lacks_ids: bool, fault: CatalogFault, severity: Severity, message: Message
) -> Finding:
    path = fault.path
    rule = "schema-empty" if fault.keyword in ("minLength", "minItems") else f"schema-{fault.keyword}"
    if lacks_ids and _is_id_path(path) and not fault.value:  # @sap/sbf, README: it keeps existing ids
        group = Group("service offerings and plans have no id")
        advice = "a GUID each, for example by gen-catalog-ids of @sap/sbf; once published, it never changes"
        return Finding(rule, severity, message, path, hint=advice, group=group)
    if fault.keyword == "required" and path == ("services",):
        return Finding(rule, severity, message, path, hint=catalog_below_hint(data))
    holder = path[:-1]
    if fault.keyword == "required" and holder and isinstance(holder[-1], str) and get_at(data, holder) == {}:
        return Finding(rule, severity, message, path, hint=f"leave {holder[-1]} out, or fill it in")
    hint, fixes = _suggest_repair(fault, safe=True)
    return Finding(rule, severity, message, path, hint=hint, fixes=fixes)


def _metadata_finding(fault: CatalogFault, severity: Severity, message: Message) -> Finding:
    path, value, group = fault.path, fault.value, None
    if fault.keyword == "type" and isinstance(path[-1], str) and value is None:
        group = Group("fields of metadata are null", "null")
        return Finding("metadata-type", Severity.INFO, message, path, hint="leave out what is null", group=group)
    hint, fixes = _suggest_repair(fault, safe=False)
    if isinstance(path[-1], int):  # other items of the list may have the same fault
        holder, sentence = name_in_object(path[:-1]), fault.sentence
        about_items = {**sentence.named, "name": f"items of {holder}"}
        summary = Message(sentence.template.replace("must be", "must each be"), **about_items)
        key = holder, fault.keyword, type(value), None if isinstance(value, dict | list) else value
        group = Group(summary, key)
    return Finding("metadata-type", severity, message, path, hint=hint, fixes=fixes, group=group)


def _is_id_path(path: JsonPath) -> bool:
    return path[-1:] == ("id",) and path[-3:-2] in (("services",), ("plans",))


def _is_metadata_convention(path: JsonPath) -> bool:
    """Return whether a path leads into a field of the metadata conventions."""
    inside = path[path.index("metadata") + 1 :] if "metadata" in path else ()
    return bool(inside) and inside[0] in CONVENTIONS


def _suggest_repair(fault: CatalogFault, safe: bool) -> tuple[Sentence, tuple[Fix, ...]]:
    """Hint and fix for a fault; the fix is `safe` if every platform refuses the value."""
    path = fault.path
    if fault.value is None and fault.keyword == "type" and path and path[-1] in _LEFT_OUT:
        return "leave it out", (Fix("remove", path, safe=safe),)
    if fault.value is None or fault.keyword in ("minLength", "minItems"):  # null, or missing
        guid = "write a GUID; once published, it never changes"
        return guid if _is_id_path(path) else _TO_WRITE.get(str(path[-1]), ""), ()
    if fault.keyword == "enum":
        return did_you_mean(str(fault.value), fault.wanted), ()
    if fault.keyword != "type" or not path:
        return "", ()
    if fault.wanted == "object" and isinstance(fault.value, str) and _NO_SPACE.match(fault.value):
        return "a space is missing behind the colon", ()
    return _suggest_type_repair(path, fault.value, safe)


def _suggest_type_repair(path: JsonPath, value: Any, safe: bool) -> tuple[Sentence, tuple[Fix, ...]]:
    """Hint and fix for a value of the wrong type."""
    field = path[-1]
    if field in _LISTS:
        return _suggest_list(path, value, safe)
    if isinstance(field, int) and isinstance(value, dict) and path[-2] in _LISTS:
        return "write each as one text, in quotes if it has a colon", ()
    if field == "amount":
        return "write each amount under its currency, such as {usd: 9.5}", ()
    if isinstance(value, str):
        return _suggest_scalar_from_text(path, value, safe)
    if is_boolean_field(str(field)):
        return _TO_WRITE["bindable"], ()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "", ()
    if field == "id":
        return "put it in quotes", ()  # `012` may have been published as 10: only the author knows
    is_text = field in ("name", "description", "version", *CONVENTIONS)
    return ("put it in quotes", (Fix("quote", path, safe=safe),)) if is_text else ("", ())


def _suggest_scalar_from_text(path: JsonPath, text: str, safe: bool) -> tuple[str, tuple[Fix, ...]]:
    """Hint and fix for a text in place of a boolean or a number."""
    if text.lower() in BOOLEAN_WORDS and is_boolean_field(str(path[-1])):
        meant = BOOLEAN_WORDS[text.lower()]
        return f"write {json.dumps(meant)}, without quotes", (Fix("set", path, meant, safe),)
    if path[-1] != "maximum_polling_duration" and "amount" not in path:
        return _TO_WRITE.get("bindable" if is_boolean_field(str(path[-1])) else str(path[-1]), ""), ()
    number = _parse_json_number(text)
    if number is None:
        return f"write the number alone, such as {'3600' if 'amount' not in path else '9.5'}", ()
    return "write a number, without quotes", (Fix("set", path, number, safe),)


def _suggest_list(path: JsonPath, value: Any, safe: bool) -> tuple[Sentence, tuple[Fix, ...]]:
    """Hint and fix for a value in place of a list."""
    if isinstance(value, dict):
        if not value:
            return "write an empty list: []" if path[-1] != "plans" else "write a list with a plan in it", ()
        if is_numbered(value):
            return LIST_HINT, ()
        by_name = all(isinstance(entry, dict) for entry in value.values())
        return ("write a list, the key of each entry as its name" if by_name else "put the entry into a list"), ()
    if isinstance(value, str) and path[-1] not in ("services", "plans", "costs"):
        return _suggest_list_from_text(path, value, safe)
    return "write a list, even of a single entry", ()


def _suggest_list_from_text(path: JsonPath, text: str, safe: bool) -> tuple[Sentence, tuple[Fix, ...]]:
    """Hint and fix for a text in place of a list; only a single word is certainly one entry."""
    if re.match(r"-\S", text):
        return "a space is missing behind the hyphen", ()
    if path[-1] != "bullets" and "," in text:  # a comma in a bullet is one of a sentence
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return Message("write a list: {}", Value(parts, path, _format_list)), (Fix("set", path, parts),)
    words = text.split()
    fixes = (Fix("wrap", path, text, safe and words == [text]),) if words and words[0] != "-" else ()
    return "write a list, even of a single entry", fixes


def _format_list(parts: list[str]) -> str:
    return json.dumps(parts, ensure_ascii=False)[:80]


def _parse_json_number(text: str) -> int | float | None:
    try:
        number = json.loads(text)
    except (ValueError, RecursionError):  # any text may stand there
        return None
    return number if isinstance(number, int | float) and not isinstance(number, bool) else None


def service_and_plan_prefix(data: Any, path: JsonPath) -> Message:
    """The service offering and the plan around `path`, by name or else by position: the beginning of a sentence."""
    names = service_and_plan_names(path, data)
    service, plan = _name_or_pointer(names[0], path[:2]), _name_or_pointer(names[1], path[:4])
    template, objects = "", list[Value | str]()
    if path[:1] == ("services",) and (len(path) > 2 or isinstance(service, Value)):
        is_in_plan = path[2:3] == ("plans",) and (len(path) > 4 or isinstance(plan, Value))
        if not is_in_plan or isinstance(service, Value) or isinstance(plan, Value):
            template, objects = "service {}: ", [service]
        if is_in_plan:
            template, objects = template + "plan {}: ", [*objects, plan]
    return Message(template, *objects)


def _name_or_pointer(name: Any, path: JsonPath) -> Value | str:
    return Value(name, (*path, "name"), limit=60) if isinstance(name, str) and name else pointer(path)


def name_in_object(path: JsonPath) -> str:
    """The name of a value in its service offering or plan, with the objects between the two. Empty for the catalog.

    Metadata is left out, as its fields stand nowhere else.
    """
    is_inside = path[:1] == ("services",) and len(path) > 2
    top = object_path(path[:-1])[: 4 if len(path) > 4 else 2] if is_inside else ()
    name = ""
    for step in path[len(top) :]:
        if isinstance(step, int):
            name = f"item {step + 1} of {name}"
        elif name.startswith("item "):
            name = f"{format_key(step)} of {name}"
        else:
            name = f"{name}.{format_key(step)}" if name and name != "metadata" else format_key(step)
    return name
