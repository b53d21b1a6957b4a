"""What Cloud Foundry's Cloud Controller answers to a catalog: worked out its way, told in its words.

It follows `lib/services/service_brokers/v2/` of the Cloud Controller: `catalog.rb`, `catalog_service.rb`,
`catalog_plan.rb`, `catalog_validation_helper.rb`. Volume and route services are taken to be on.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from osbctl.findings import VerdictKind
from osbctl.validation.platforms import Outcome, Refusal, ruby
from osbctl.validation.platforms.cloudfoundry_library import Crash
from osbctl.validation.platforms.cloudfoundry_schemas import SchemaJudge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.findings import Path

MAX_DESCRIPTION = 10_000
MAX_TAGS = 2_048
MAX_MAINTENANCE_INFO = 2_000
REQUIRES = ("syslog_drain", "route_forwarding", "volume_mount")

_SEMVER = re.compile(
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$",
    re.MULTILINE | re.ASCII,
)
"""Semantic Version 2.0; in Ruby `^` and `$` match at every line."""


def judge(data: dict[str, Any]) -> Outcome:
    """What Cloud Foundry does with the catalog `data` when its broker is registered."""
    try:
        errors = _Catalog(data).validated()
    except _CrashAt as crash:
        refusal = Refusal("cloudfoundry-crash", crash.path, crash.reason)
        return Outcome(VerdictKind.CRASHES, (refusal,))
    kind = VerdictKind.REFUSES if errors.any() else VerdictKind.ACCEPTS
    lines = "\n".join(errors.lines(0)).split("\n") if errors.any() else ()
    return Outcome(kind, tuple(errors.refusals()), tuple(lines))


class _CrashAt(Exception):  # noqa: N818  # the platform's, not ours
    """The platform ends in an exception; the operator reads "An unknown error occurred"."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


class _Errors:
    """The platform's tree of errors: messages, and below them those of services, plans, schemas."""

    def __init__(self, heading: str = "") -> None:
        self._heading = heading
        self._messages: list[Refusal] = []
        self._nested: list[_Errors] = []

    def add(self, rule: str, path: Path, message: str) -> None:
        self._messages.append(Refusal(f"cloudfoundry-{rule}", path, message))

    def nest(self, errors: _Errors) -> None:
        if errors.any():
            self._nested.append(errors)

    def any(self) -> bool:
        return bool(self._messages or self._nested)

    def count(self) -> int:
        return len(self._messages)

    def lines(self, depth: int) -> Iterator[str]:
        indent = "  " * depth
        for refusal in self._messages:
            yield indent + refusal.message
        for errors in self._nested:
            yield indent + errors._heading
            yield from errors.lines(depth + 1)

    def refusals(self) -> Iterator[Refusal]:
        yield from self._messages
        for errors in self._nested:
            yield from errors.refusals()


class _Fields:
    """The checks that services and plans share (`catalog_validation_helper.rb`)."""

    def __init__(self, errors: _Errors) -> None:
        self.errors = errors

    def string(self, label: str, value: Any, path: Path, required: bool = True) -> None:
        if value is not None and not isinstance(value, str):
            self._wrong(label, "a string", value, path)
        elif required and (value is None or ruby.is_blank(value)):
            self.errors.add("required", path, f"{label} is required")

    def description(self, label: str, value: Any, path: Path) -> None:
        self.string(label, value, path)
        if isinstance(value, str | list | dict) and len(value) > MAX_DESCRIPTION:
            told = f"{label} may not have more than {MAX_DESCRIPTION} characters"
            self.errors.add("description-length", path, told)

    def boolean(self, label: str, value: Any, path: Path, required: bool = False) -> None:
        if value is not None and not isinstance(value, bool):
            self._wrong(label, "a boolean", value, path)
        elif required and value is None:
            self.errors.add("required", path, f"{label} is required")

    def hash(self, label: str, value: Any, path: Path) -> bool:
        if not isinstance(value, dict):
            self._wrong(label, "a hash", value, path)
        return isinstance(value, dict)

    def integer(self, label: str, value: Any, path: Path) -> None:
        if value is not None and type(value) is not int:
            self._wrong(label, "an integer", value, path)

    def array(self, label: str, of: str, kind: type, value: Any, path: Path) -> bool:
        good = isinstance(value, list) and all(isinstance(item, kind) for item in value)
        if not good:
            self._wrong(label, f"an array of {of}", value, path)
        return good

    def _wrong(self, label: str, wanted: str, value: Any, path: Path) -> None:
        self.errors.add("type", path, f"{label} must be {wanted}, but has value {ruby.inspect(value)}")


def _broken(thing: Any, path: Path, kind: str, strings_too: bool) -> None:
    """Crash as Ruby does on `thing['id']` where it is no Hash (a String has `[]`, but no `fetch`)."""
    if isinstance(thing, dict) or (isinstance(thing, str) and not strings_too):
        return
    raise _CrashAt(path, f"Cloud Foundry crashes on a {kind} that is no object")


class _Catalog:
    def __init__(self, data: dict[str, Any]) -> None:
        services = data.get("services", [])
        if not isinstance(services, list | dict) or (isinstance(services, dict) and services):
            raise _CrashAt(("services",), "Cloud Foundry crashes on services that are no array")
        self._schemas = SchemaJudge()
        self._services = [_Service(value, ("services", index), self._schemas) for index, value in enumerate(services)]

    def validated(self) -> _Errors:
        errors = _Errors()
        for service in self._services:
            errors.nest(service.validated())
        if not self._services:
            errors.add("no-service", ("services",), "Service broker must provide at least one service")
        self._unique(errors, "id", "service-ids", "Service ids must be unique", skip_none=True)
        self._unique(errors, "name", "service-names", "Service names must be unique within a broker", skip_none=False)
        self._unique_plan_ids(errors)
        self._unique_clients(errors)
        return errors

    def _unique(self, errors: _Errors, key: str, rule: str, message: str, skip_none: bool) -> None:
        seen = set()
        for service in self._services:
            value = service.attributes.get(key)
            if value is None and skip_none:
                continue
            if ruby.eql(value) in seen:
                errors.add(rule, (*service.path, key), message)
                return
            seen.add(ruby.eql(value))

    def _unique_plan_ids(self, errors: _Errors) -> None:
        taken: dict[Any, tuple[_Plan, _Service]] = {}
        for service in self._services:
            for plan in service.plans:
                other = taken.get(ruby.eql(plan.id))
                if other:
                    errors.add("plan-ids", (*plan.path, "id"), _taken_plan_id(plan, service, *other))
                taken[ruby.eql(plan.id)] = (plan, service)

    def _unique_clients(self, errors: _Errors) -> None:
        seen = set()
        for service in self._services:
            client = service.attributes.get("dashboard_client")
            value = client.get("id") if isinstance(client, dict) else None
            if value is None:
                continue
            if ruby.eql(value) in seen:
                path = (*service.path, "dashboard_client", "id")
                errors.add("dashboard-client-ids", path, "Service dashboard_client id must be unique")
                return
            seen.add(ruby.eql(value))


def _taken_plan_id(plan: _Plan, service: _Service, other: _Plan, other_service: _Service) -> str:
    return (
        f"Plan ids must be unique. Unable to register plan with id '{ruby.to_s(plan.id)}' "
        f"(plan name '{ruby.to_s(plan.name)}', service name '{ruby.to_s(service.name)}') "
        "because it uses the same id as another plan in the catalog "
        f"(plan name '{ruby.to_s(other.name)}', service name '{ruby.to_s(other_service.name)}')"
    )


class _Service:
    def __init__(self, attributes: Any, path: Path, schemas: SchemaJudge) -> None:
        _broken(attributes, path, "service", strings_too=True)
        self.attributes: dict[str, Any] = attributes
        self.path = path
        self.name = attributes.get("name")
        self._plans_data = attributes.get("plans")
        if ruby.truthy(self._plans_data) and not isinstance(self._plans_data, list):
            raise _CrashAt((*path, "plans"), "Cloud Foundry crashes on plans that are no array")
        self.plans = [
            _Plan(value, (*path, "plans", index), schemas) for index, value in enumerate(self._plans_data or [])
        ]

    def validated(self) -> _Errors:
        errors = _Errors(f"Service {ruby.to_s(self.name)}")
        fields = _Fields(errors)
        self._fields(fields)
        self._plans(fields)
        return errors

    def _fields(self, fields: _Fields) -> None:
        get, path = self.attributes.get, self.path
        fields.string("Service id", get("id"), (*path, "id"))
        fields.string("Service name", self.name, (*path, "name"))
        fields.description("Service description", get("description"), (*path, "description"))
        fields.boolean('Service "bindable" field', get("bindable"), (*path, "bindable"), required=True)
        fields.boolean('Service "plan_updateable" field', get("plan_updateable"), (*path, "plan_updateable"))
        for key in ("bindings_retrievable", "instances_retrievable", "allow_context_updates"):
            fields.boolean(f'Service "{key}" field', get(key), (*path, key))
        self._tags(fields)
        requires = get("requires", [])
        fields.array('Service "requires" field', "strings", str, requires, (*path, "requires"))
        self._metadata(fields)
        self._dashboard_client(fields)
        self._requires(fields, requires)

    def _tags(self, fields: _Fields) -> None:
        tags, path = self.attributes.get("tags", []), (*self.path, "tags")
        if fields.array("Service tags", "strings", str, tags, path) and sum(map(len, tags)) > MAX_TAGS:
            name = ruby.to_s(self.name)
            fields.errors.add("tags", path, f"Tags for the service {name} must be {MAX_TAGS} characters or less.")

    def _metadata(self, fields: _Fields) -> None:
        metadata: Any = self.attributes.get("metadata")
        path = (*self.path, "metadata")
        if ruby.truthy(metadata) and fields.hash("Service metadata", metadata, path):
            fields.boolean("Service metadata shareable", metadata.get("shareable"), (*path, "shareable"))

    def _dashboard_client(self, fields: _Fields) -> None:
        client: Any = self.attributes.get("dashboard_client")
        path = (*self.path, "dashboard_client")
        if ruby.truthy(client) and fields.hash("Service dashboard client attributes", client, path):
            for key in ("id", "secret", "redirect_uri"):
                fields.string(f"Service dashboard client {key}", client.get(key), (*path, key))

    def _requires(self, fields: _Fields, requires: Any) -> None:
        if isinstance(requires, dict):  # a Hash is Enumerable too, and yields pairs
            values = [(key, [key, value]) for key, value in requires.items()]
        else:
            values = [(value, value) for value in requires] if isinstance(requires, list) else []
        for index, (value, shown) in enumerate(values):
            if value not in REQUIRES:
                told = f'Service "requires" field contains unsupported value "{ruby.to_s(shown)}"'
                fields.errors.add("requires", (*self.path, "requires", index), told)

    def _plans(self, fields: _Fields) -> None:
        path = (*self.path, "plans")
        if not self.plans:
            fields.errors.add("no-plan", path, "At least one plan is required")
        elif fields.array("Service plans list", "hashes", dict, self._plans_data, path):
            for plan in self.plans:
                fields.errors.nest(plan.validated())
            self._unique(fields.errors, "id", "plan-ids", "Plan ids must be unique.", "with id '{}'")
            names = "Plan names must be unique within a service."
            self._unique(fields.errors, "name", "plan-names", names, "named {}")

    def _unique(self, errors: _Errors, key: str, rule: str, message: str, which: str) -> None:
        values = [plan.attributes.get(key) for plan in self.plans]
        counts = Counter(map(ruby.equal, values))
        told = set()
        for plan, value in zip(self.plans, values, strict=True):
            if counts[ruby.equal(value)] > 1 and ruby.eql(value) not in told:
                told.add(ruby.eql(value))
                where = self._last(key, value, plan)
                shown = which.format(ruby.to_s(value))
                errors.add(rule, where, f"{message} Service {ruby.to_s(self.name)} already has a plan {shown}")

    def _last(self, key: str, value: Any, plan: _Plan) -> Path:
        """The place of the last plan with that value: the one to change."""
        same = [other for other in self.plans if ruby.equal(other.attributes.get(key)) == ruby.equal(value)]
        return (*(same[-1] if same else plan).path, key)


class _Plan:
    def __init__(self, attributes: Any, path: Path, schemas: SchemaJudge) -> None:
        _broken(attributes, path, "plan", strings_too=False)
        self.attributes: Any = attributes
        self.path = path
        self.id = ruby.at(attributes, "id")
        self.name = ruby.at(attributes, "name")
        self._schemas = schemas

    def validated(self) -> _Errors:
        errors = _Errors(f"Plan {ruby.to_s(self.name)}")
        fields = _Fields(errors)
        get, path = self.attributes.get, self.path
        fields.string("Plan id", self.id, (*path, "id"))
        fields.string("Plan name", self.name, (*path, "name"))
        fields.description("Plan description", get("description"), (*path, "description"))
        if ruby.truthy(get("metadata")):
            fields.hash("Plan metadata", get("metadata"), (*path, "metadata"))
        fields.boolean("Plan free", get("free"), (*path, "free"))
        fields.boolean("Plan bindable", get("bindable"), (*path, "bindable"))
        fields.boolean("Plan updateable", get("plan_updateable"), (*path, "plan_updateable"))
        if ruby.truthy(get("schemas")):
            self._schemas_fields(fields, get("schemas"))
        if ruby.truthy(get("maximum_polling_duration")):
            polling = (*path, "maximum_polling_duration")
            fields.integer("Maximum polling duration", get("maximum_polling_duration"), polling)
        if ruby.truthy(get("maintenance_info")):
            self._maintenance_info(fields, get("maintenance_info"))
        return errors

    def _maintenance_info(self, fields: _Fields, info: Any) -> None:
        path = (*self.path, "maintenance_info")
        fields.hash("Maintenance info", info, path)
        if not isinstance(info, dict | str):
            raise _CrashAt(path, "Cloud Foundry crashes on a maintenance_info that is neither object nor string")
        version = ruby.at(info, "version")
        fields.string("Maintenance info version", version, (*path, "version"))
        if not isinstance(version, str) or not _SEMVER.search(version):
            told = f"Maintenance info version must be a Semantic Version, but has value {ruby.inspect(version)}"
            fields.errors.add("maintenance-info", (*path, "version"), told)
        description = ruby.at(info, "description")
        fields.string("Maintenance info description", description, (*path, "description"), required=False)
        self._maintenance_info_whole(fields, info, path)

    def _maintenance_info_whole(self, fields: _Fields, info: Any, path: Path) -> None:
        length = ruby.json_length(info)
        if length > MAX_MAINTENANCE_INFO:
            told = (
                f"Maintenance info must serialize to {MAX_MAINTENANCE_INFO} characters or fewer in JSON, "
                f"but serializes to {length} characters"
            )
            fields.errors.add("maintenance-info", path, told)
        unknown = [key for key in info if key not in ("version", "description")] if isinstance(info, dict) else []
        if unknown:
            told = f"Maintenance info contains invalid key(s): {', '.join(unknown)}"
            fields.errors.add("maintenance-info", (*path, unknown[0]), told)

    def _schemas_fields(self, fields: _Fields, schemas: Any) -> None:
        """The shape of `schemas` first; only where that is right, the parameter schemas in it."""
        path = (*self.path, "schemas")
        if not fields.hash("Plan schemas", schemas, path):
            return
        errors = _Errors("Schemas")
        found = [
            parameters
            for outer, inners in (("service_instance", ("create", "update")), ("service_binding", ("create",)))
            for parameters in self._level(_Fields(errors), schemas, (outer,), path, inners)
        ]
        if not errors.any():
            for schema, label, here in found:
                self._parameters(_Fields(errors), schema, label, here)
        fields.errors.nest(errors)

    def _level(
        self, fields: _Fields, holder: Any, keys: Path, path: Path, inners: tuple[str, ...]
    ) -> Iterator[tuple[Any, str, Path]]:
        """One level of the schemas: `service_instance`, `create`, `parameters`; null and false count as absent."""
        value: Any = holder.get(str(keys[-1]))
        here = (*path, keys[-1])
        label = ".".join(map(str, keys))
        if not ruby.truthy(value) or not fields.hash(f"Schemas {label}", value, here):
            return
        for inner in inners:
            below = () if inner == "parameters" else ("parameters",)
            yield from self._level(fields, value, (*keys, inner), here, below)
        if keys[-1] == "parameters":
            yield value, label, here

    def _parameters(self, fields: _Fields, schema: Any, label: str, path: Path) -> None:
        try:
            faults = self._schemas.faults(schema)
        except Crash:
            raise _CrashAt(path, "Cloud Foundry crashes on this schema: a loop of references") from None
        for fault in faults:
            told = f"Schema {label} is not valid. {fault.message}"
            fields.errors.add(fault.rule.removeprefix("cloudfoundry-"), (*path, *fault.path), told)
