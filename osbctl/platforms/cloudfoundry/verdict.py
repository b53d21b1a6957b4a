"""Verdict of Cloud Foundry: the Cloud Controller's validation of a catalog, in its order and with its words.

Volume and route services are assumed to be on, so that no catalog is incompatible.
Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog.rb, catalog_service.rb, catalog_plan.rb and
catalog_validation_helper.rb.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from osbctl.messages import Message, Sentence, Value
from osbctl.paths import JsonPath, entries, get_at
from osbctl.platforms.cloudfoundry.ruby import (
    Errors,
    RubyCrash,
    equality_key,
    get_item,
    inspect,
    is_blank,
    json_length,
    normalize_plan_name,
    to_s,
)
from osbctl.platforms.cloudfoundry.schemas import SchemaChecks
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, limit_refusals
from osbctl.text import semantic_version_pattern

_LONGEST_DESCRIPTION = 10_000


class FieldProblem(NamedTuple):
    """Problem of a value: the broken rule, and the rest of the sentence; after it the value if `is_wrong_type`."""

    rule: str
    words: str
    is_wrong_type: bool = False


_MISSING = FieldProblem("cloudfoundry-required", "is required")


FieldCheck: TypeAlias = "Callable[[Any], FieldProblem | None]"
"""A check of a value; None is a missing one."""


class FieldRow(NamedTuple):
    """A field, its label in messages, its check, and the fields inside it."""

    key: str
    label: str
    check: FieldCheck
    inside: "tuple[FieldRow, ...]" = ()


def _add_problem(
    errors: Errors, problem: FieldProblem, path: JsonPath, label: str, value: Any, part: JsonPath = ()
) -> None:
    """Add the problem of the `value` at `path`, or of a `part` of it; messages call the value `label`."""
    sentence: Sentence = f"{label} {problem.words}"
    if problem.is_wrong_type:
        sentence = Message("{}, but has value {}", sentence, Value(value, path, inspect))
    errors.add(problem.rule, (*path, *part), sentence, is_wrong_type=problem.is_wrong_type)


def _check_fields(rows: tuple[FieldRow, ...], value: dict[str, Any] | str, path: JsonPath, errors: Errors) -> None:
    """Check the fields of an object. A String in its place answers a lookup with what it contains."""
    for key, label, check, inside in rows:
        field = get_item(value, key)
        if problem := check(field):
            _add_problem(errors, problem, (*path, key), label, field)
        if inside and isinstance(field, dict):
            _check_fields(inside, field, (*path, key), errors)


def _make_type_check(expected: str, fits: Callable[[Any], bool], *, required: bool = False) -> FieldCheck:
    """Make a check that a value fits. Null passes unless it is `required`; then a blank string does not pass either."""

    def check(value: Any) -> FieldProblem | None:
        if value is None:
            return _MISSING if required else None
        if not fits(value):
            return type_problem(expected)
        return _MISSING if required and isinstance(value, str) and is_blank(value) else None

    return check


def type_problem(expected: str) -> FieldProblem:
    """The problem of a value that is not an `expected` one, which is a phrase: `a string`."""
    return FieldProblem("cloudfoundry-type", f"must be {expected}", is_wrong_type=True)


_required_text = _make_type_check("a string", lambda value: isinstance(value, str), required=True)
_optional_text = _make_type_check("a string", lambda value: isinstance(value, str))
_required_flag = _make_type_check("a boolean", lambda value: isinstance(value, bool), required=True)
_optional_flag = _make_type_check("a boolean", lambda value: isinstance(value, bool))
# Ruby holds false for nothing, as nil.
_optional_object = _make_type_check("a hash", lambda value: isinstance(value, dict) or value is False)
_optional_integer = _make_type_check("an integer", lambda value: type(value) is int or value is False)


def _check_strings(value: Any) -> FieldProblem | None:
    """Check that a value is an array of strings; null is wrong."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return None
    return type_problem("an array of strings")


def _check_description_length(value: Any) -> FieldProblem | None:
    if isinstance(value, str | list | dict) and len(value) > _LONGEST_DESCRIPTION:
        text = f"may not have more than {_LONGEST_DESCRIPTION} characters"
        return FieldProblem("cloudfoundry-description-length", text)
    return None


def _check_semantic_version(value: Any) -> FieldProblem | None:
    """Check for a Semantic Version on any line of the string, as the platform's pattern is anchored to lines."""
    if isinstance(value, str) and any(map(semantic_version_pattern().fullmatch, value.split("\n"))):
        return None
    return type_problem("a Semantic Version")._replace(rule="cloudfoundry-maintenance-info")


_SERVICE_FLAGS = ("plan_updateable", "bindings_retrievable", "instances_retrievable", "allow_context_updates")
_CLIENT_FIELDS = ("id", "secret", "redirect_uri")

SERVICE_ROWS = (
    FieldRow("id", "Service id", _required_text),
    FieldRow("name", "Service name", _required_text),
    FieldRow("description", "Service description", _required_text),
    FieldRow("description", "Service description", _check_description_length),
    FieldRow("bindable", 'Service "bindable" field', _required_flag),
    *(FieldRow(key, f'Service "{key}" field', _optional_flag) for key in _SERVICE_FLAGS),
)
_SHAREABLE = FieldRow("shareable", "Service metadata shareable", _optional_flag)
_CLIENT_ROWS = tuple(FieldRow(key, f"Service dashboard client {key}", _required_text) for key in _CLIENT_FIELDS)
SERVICE_OBJECT_ROWS = (
    FieldRow("metadata", "Service metadata", _optional_object, (_SHAREABLE,)),
    FieldRow("dashboard_client", "Service dashboard client attributes", _optional_object, _CLIENT_ROWS),
)
PLAN_ROWS = (
    FieldRow("id", "Plan id", _required_text),
    FieldRow("name", "Plan name", _required_text),
    FieldRow("description", "Plan description", _required_text),
    FieldRow("description", "Plan description", _check_description_length),
    FieldRow("metadata", "Plan metadata", _optional_object),
    FieldRow("free", "Plan free", _optional_flag),
    FieldRow("bindable", "Plan bindable", _optional_flag),
    FieldRow("plan_updateable", "Plan updateable", _optional_flag),
    FieldRow("maximum_polling_duration", "Maximum polling duration", _optional_integer),
    FieldRow("schemas", "Plan schemas", _optional_object),
)
MAINTENANCE_INFO_ROWS = (
    FieldRow("version", "Maintenance info version", _required_text),
    FieldRow("version", "Maintenance info version", _check_semantic_version),
    FieldRow("description", "Maintenance info description", _optional_text),
)


def _check_unique_identities(errors: Errors, services: list[dict[str, Any]]) -> None:
    """Report ids and names that service offerings share, ids of plans, and ids of dashboard clients."""
    _check_unique_values(errors, services, ("id",), "service-ids", "Service ids must be unique")
    _check_unique_values(errors, services, ("name",), "service-names", "Service names must be unique within a broker")
    _check_unique_plan_ids(errors, services)
    client_id, text = ("dashboard_client", "id"), "Service dashboard_client id must be unique"
    _check_unique_values(errors, services, client_id, "dashboard-client-ids", text)


def _check_unique_values(
    errors: Errors, services: list[dict[str, Any]], keys: tuple[str, ...], rule: str, text: str
) -> None:
    """Report the first value that an earlier service offering has. Only of missing names are two equal."""
    seen = set()
    for index, service in enumerate(services):
        value = get_at(service, keys)
        key = equality_key(value)
        if key in seen:
            errors.add(f"cloudfoundry-{rule}", ("services", index, *keys), text)
            return
        if value is not None or keys == ("name",):
            seen.add(key)


def _check_unique_plan_ids(errors: Errors, services: list[dict[str, Any]]) -> None:
    """Report each plan whose id an earlier plan has; its message names the last of these."""
    template = (
        "Plan ids must be unique. Unable to register plan with id '{}' {} because "
        "it uses the same id as another plan in the catalog {}"
    )
    seen: dict[str, Message] = {}
    for service_index, service in enumerate(services):
        for plan_index, plan in enumerate(service.get("plans") or []):
            path: JsonPath = ("services", service_index, "plans", plan_index)
            names = _name(get_item(plan, "name"), path), _name(service.get("name"), path[:2])
            plan_label = Message("(plan name '{}', service name '{}')", *names)
            identity = Value(get_item(plan, "id"), (*path, "id"), to_s)
            key = equality_key(identity.value)
            if key in seen:
                errors.add("cloudfoundry-plan-ids", identity.path, Message(template, identity, plan_label, seen[key]))
            seen[key] = plan_label


def _name(name: Any, path: JsonPath) -> Value:
    """The name of the object at `path`, as the platform prints it."""
    return Value(name, (*path, "name"), to_s)


def _check_unique_in_service(
    service: dict[str, Any], plans: list[dict[str, Any]], path: JsonPath, errors: Errors
) -> None:
    """Report ids and names that `plans`, those of `service` at `path`, share."""
    for key, template in (
        ("id", "Plan ids must be unique. Service {} already has a plan with id '{}'"),
        ("name", "Plan names must be unique within a service. Service {} already has a plan named {}"),
    ):
        for index, value in _find_repeated([plan.get(key) for plan in plans]):
            sentence = Message(template, _name(service.get("name"), path[:2]), Value(value, (*path, index, key), to_s))
            errors.add(f"cloudfoundry-plan-{key}s", (*path, index, key), sentence)


def _find_repeated(values: list[Any]) -> Iterator[tuple[int, Any]]:
    """The index of a repeated value's second occurrence, and the value. 1 and 1.0 are equal, but both are named."""
    indexes: dict[Any, list[int]] = {}
    for index, value in enumerate(values):
        indexes.setdefault(value if type(value) in (int, float) else equality_key(value), []).append(index)
    for equal in indexes.values():
        if len(equal) > 1:
            for value in {equality_key(values[index]): values[index] for index in equal}.values():
                yield equal[1], value


_LONGEST_TAGS = 2048
_LONGEST_MAINTENANCE_INFO = 2000
_MAINTENANCE_INFO_KEYS = ("version", "description")
_REQUIRES = frozenset({"syslog_drain", "route_forwarding", "volume_mount"})

_INT_32 = range(-(2**31), 2**31)
_UNKNOWN_ERROR = 'the Cloud Controller crashes here, and the operator reads "An unknown error occurred"'


def judge(data: dict[str, Any]) -> Outcome:
    """Outcome in the Cloud Controller: its error lines, and a refusal for each reason.

    If it crashes, there is one refusal, `cloudfoundry-crash`, and no line, as it prints none.
    """
    try:
        services = _extract_services(data)
        schema_checks = SchemaChecks()
        errors = Errors()
        for index, service in enumerate(services):
            errors.nest(_judge_service(service, ("services", index), schema_checks))
        if not services:
            text = "Service broker must provide at least one service"
            errors.add("cloudfoundry-no-service", ("services",), text, "add a service offering")
        _check_unique_identities(errors, services)
    except RubyCrash as crash:
        refusal = Refusal("cloudfoundry-crash", crash.path, f"{_UNKNOWN_ERROR}: {crash.reason}", crashes=True)
        return Outcome(VerdictKind.CRASHES, (refusal,))
    if not errors:
        unstored = limit_refusals(_storage_refusals(services))
        if not unstored:
            doubts = limit_refusals(schema_checks.doubts)
            return Outcome(VerdictKind.UNCLEAR if doubts else VerdictKind.ACCEPTS, doubts=doubts)
        refuses = unstored[0].path[-1] == "name"  # the first that fails ends it
        return Outcome(VerdictKind.REFUSES if refuses else VerdictKind.CRASHES, unstored)
    return Outcome(VerdictKind.REFUSES, limit_refusals(errors.refusals()), tuple(errors.lines()))


def _extract_services(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The service offerings. Raises RubyCrash if the platform crashes when it builds its objects from them."""
    services = data.get("services", [])
    # An empty Hash works like an empty Array; each entry of another Hash would be a pair.
    if services == {}:
        return []
    if not isinstance(services, list):
        raise RubyCrash(("services",), "services is no array")
    for index, service in enumerate(services):
        path: JsonPath = ("services", index)
        if not isinstance(service, dict):
            raise RubyCrash(path, "a service is no object")
        plans = service.get("plans")
        if not isinstance(plans, list | None) and plans is not False:
            raise RubyCrash((*path, "plans"), "plans is no array")
        for plan_index, plan in enumerate(plans or ()):
            # A String answers to `[]` as a Hash does: it passes here, and the check of the list names it.
            if not isinstance(plan, dict | str):
                raise RubyCrash((*path, "plans", plan_index), "a plan is no object")
    return services


def _judge_service(service: dict[str, Any], path: JsonPath, schema_checks: SchemaChecks) -> Errors:
    """Errors of a service offering and its plans. Raises RubyCrash if the platform crashes."""
    errors = Errors(Message("Service {}", _name(service.get("name"), path)))
    _check_fields(SERVICE_ROWS, service, path, errors)
    tags, requires = service.get("tags", []), service.get("requires", [])
    if problem := _check_strings(tags):
        _add_problem(errors, problem, (*path, "tags"), "Service tags", tags)
    elif sum(map(len, tags)) > _LONGEST_TAGS:
        template = f"Tags for the service {{}} must be {_LONGEST_TAGS} characters or less."
        errors.add("cloudfoundry-tags", (*path, "tags"), Message(template, _name(service.get("name"), path)))
    if problem := _check_strings(requires):
        _add_problem(errors, problem, (*path, "requires"), 'Service "requires" field', requires)
    _check_fields(SERVICE_OBJECT_ROWS, service, path, errors)
    for key, item in entries(requires):
        # Of a Hash, Ruby compares the key and names the pair.
        permission, shown = (key, [key, item]) if isinstance(requires, dict) else (item, item)
        if to_s(permission) not in _REQUIRES:
            value = Value(shown, (*path, "requires", key), to_s)
            sentence = Message('Service "requires" field contains unsupported value "{}"', value)
            errors.add("cloudfoundry-requires", value.path, sentence)
    _check_plans(service, path, errors, schema_checks)
    return errors


def _check_plans(service: dict[str, Any], path: JsonPath, errors: Errors, schema_checks: SchemaChecks) -> None:
    plans = service.get("plans") or []
    plans_path: JsonPath = (*path, "plans")
    if not plans:
        errors.add("cloudfoundry-no-plan", plans_path, "At least one plan is required")
        return
    misplaced = next((index for index, plan in enumerate(plans) if not isinstance(plan, dict)), None)
    if misplaced is not None:
        problem = type_problem("an array of hashes")
        _add_problem(errors, problem, plans_path, "Service plans list", plans, (misplaced,))
        return
    for index, plan in enumerate(plans):
        errors.nest(_judge_plan(plan, (*plans_path, index), schema_checks))
    _check_unique_in_service(service, plans, plans_path, errors)


def _judge_plan(plan: dict[str, Any], path: JsonPath, schema_checks: SchemaChecks) -> Errors:
    """Errors of a plan and its schemas. Raises RubyCrash if the platform crashes."""
    errors = Errors(Message("Plan {}", _name(plan.get("name"), path)))
    _check_fields(PLAN_ROWS, plan, path, errors)
    info = plan.get("maintenance_info")
    if info is not None and info is not False:
        _check_maintenance_info(info, (*path, "maintenance_info"), errors)
    schemas = plan.get("schemas")
    if isinstance(schemas, dict) and schemas:
        errors.nest(schema_checks.find_errors(schemas, (*path, "schemas")))
    return errors


def _check_maintenance_info(info: Any, path: JsonPath, errors: Errors) -> None:
    """Check an object, or a String, which answers a lookup with what it contains. Raises RubyCrash for other types."""
    rule = "cloudfoundry-maintenance-info"
    if not isinstance(info, dict):
        if not isinstance(info, str):
            raise RubyCrash(path, "maintenance_info is no object")
        _add_problem(errors, type_problem("a hash"), path, "Maintenance info", info)
    _check_fields(MAINTENANCE_INFO_ROWS, info, path, errors)
    length = json_length(info)
    if length > _LONGEST_MAINTENANCE_INFO:
        limit = f"{_LONGEST_MAINTENANCE_INFO} characters or fewer in JSON"
        errors.add(rule, path, f"Maintenance info must serialize to {limit}, but serializes to {length} characters")
    extra = [key for key in info if key not in _MAINTENANCE_INFO_KEYS] if isinstance(info, dict) else []
    if extra:
        text = f"Maintenance info contains invalid key(s): {', '.join(extra)}"
        errors.add(rule, (*path, extra[0]), text)


def _storage_refusals(services: list[dict[str, Any]]) -> Iterator[Refusal]:
    """Refusals by the database, after validation: columns that take no null, a unique index of plan names, an Integer.

    Service offerings come before plans. Measured on PostgreSQL and MariaDB: cloudfoundry_database.jsonl.
    """
    for service_index, service in enumerate(services):
        for key in _SERVICE_FLAGS[1:]:
            if service.get(key, False) is None:
                text = "Cloud Foundry stores the null, which its database does not take, and crashes"
                yield Refusal("cloudfoundry-storage", ("services", service_index, key), text, crashes=True)
    for service_index, service in enumerate(services):
        seen = set()
        for plan_index, plan in enumerate(service["plans"]):
            path: JsonPath = ("services", service_index, "plans", plan_index)
            name = normalize_plan_name(plan["name"])
            if name in seen:
                text = "Cloud Foundry ignores case and outer blanks in names of plans: this name is taken"
                yield Refusal("cloudfoundry-storage", (*path, "name"), text)
            seen.add(name)
            if (plan.get("maximum_polling_duration") or 0) not in _INT_32:
                text = "Cloud Foundry stores a polling duration in 32 bits, and crashes if one does not fit"
                yield Refusal("cloudfoundry-storage", (*path, "maximum_polling_duration"), text, crashes=True)
