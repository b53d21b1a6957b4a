"""Verdict of Cloud Foundry: the Cloud Controller's validation of a catalog, in its order.

Volume and route services are assumed to be on, so that no catalog is incompatible.
Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog.rb, catalog_service.rb and catalog_plan.rb.
"""

from collections.abc import Iterator
from typing import Any

from osbctl.paths import JsonPath
from osbctl.platforms.cloudfoundry.fields import (
    MAINTENANCE_INFO_ROWS,
    PLAN_ROWS,
    SERVICE_OBJECT_ROWS,
    SERVICE_ROWS,
    Errors,
    check_fields,
    check_strings,
    type_problem,
)  # fmt: skip
from osbctl.platforms.cloudfoundry.ruby import RubyCrash, inspect, json_length, normalize_plan_name, to_s
from osbctl.platforms.cloudfoundry.schemas import SchemaChecks
from osbctl.platforms.cloudfoundry.uniqueness import check_unique_identities, check_unique_in_service
from osbctl.platforms.outcome import SHARED_PLAN_ID, Outcome, Refusal, VerdictKind, limit_refusals

_LONGEST_TAGS = 2048
_LONGEST_MAINTENANCE_INFO = 2000
_MAINTENANCE_INFO_KEYS = ("version", "description")
_REQUIRES = frozenset({"syslog_drain", "route_forwarding", "volume_mount"})

CATALOG_TYPE = None
"""It is no program in Go."""

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
        check_unique_identities(errors, services)
    except RubyCrash as crash:
        refusal = Refusal("cloudfoundry-crash", crash.path, f"{_UNKNOWN_ERROR}: {crash.reason}")
        return Outcome(VerdictKind.CRASHES, (refusal,))
    if not errors:
        unstored = limit_refusals(_storage_refusals(services))
        if not unstored:
            doubts = limit_refusals(schema_checks.doubts)
            return Outcome(VerdictKind.UNCLEAR if doubts else VerdictKind.ACCEPTS, doubts=doubts)
        refuses = unstored[0].path[-1] == "name"  # the first that fails ends it
        return Outcome(VerdictKind.REFUSES if refuses else VerdictKind.CRASHES, unstored)
    return Outcome(VerdictKind.REFUSES, limit_refusals(errors.refusals()), errors.message_lines())


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
    errors = Errors(f"Service {to_s(service.get('name'))}")
    check_fields(SERVICE_ROWS, service, path, errors)
    tags, requires = service.get("tags", []), service.get("requires", [])
    if problem := check_strings(tags):
        errors.add(problem.rule, (*path, "tags"), f"Service tags {problem.message}")
    elif sum(map(len, tags)) > _LONGEST_TAGS:
        text = f"Tags for the service {to_s(service.get('name'))} must be {_LONGEST_TAGS} characters or less."
        errors.add("cloudfoundry-tags", (*path, "tags"), text)
    if problem := check_strings(requires):
        errors.add(problem.rule, (*path, "requires"), f'Service "requires" field {problem.message}')
    check_fields(SERVICE_OBJECT_ROWS, service, path, errors)
    for index, item in enumerate(requires if isinstance(requires, list) else ()):
        if to_s(item) not in _REQUIRES:
            message = f'Service "requires" field contains unsupported value "{to_s(item)}"'
            errors.add("cloudfoundry-requires", (*path, "requires", index), message)
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
        text = f"Service plans list must be an array of hashes, but has value {inspect(plans)}"
        errors.add("cloudfoundry-type", (*plans_path, misplaced), text)
        return
    for index, plan in enumerate(plans):
        errors.nest(_judge_plan(plan, (*plans_path, index), schema_checks))
    check_unique_in_service(service, plans, plans_path, errors)


def _judge_plan(plan: dict[str, Any], path: JsonPath, schema_checks: SchemaChecks) -> Errors:
    """Errors of a plan and its schemas. Raises RubyCrash if the platform crashes."""
    errors = Errors(f"Plan {to_s(plan.get('name'))}")
    check_fields(PLAN_ROWS, plan, path, errors)
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
        problem = type_problem("a hash", info)
        errors.add(problem.rule, path, f"Maintenance info {problem.message}")
    check_fields(MAINTENANCE_INFO_ROWS, info, path, errors)
    length = json_length(info)
    if length > _LONGEST_MAINTENANCE_INFO:
        errors.add(
            rule,
            path,
            f"Maintenance info must serialize to {_LONGEST_MAINTENANCE_INFO} characters or fewer in JSON, "
            f"but serializes to {length} characters",
        )
    extra = [key for key in info if key not in _MAINTENANCE_INFO_KEYS] if isinstance(info, dict) else []
    if extra:
        text = f"Maintenance info contains invalid key(s): {', '.join(extra)}"
        errors.add(rule, (*path, extra[0]), text)


def _storage_refusals(services: list[dict[str, Any]]) -> Iterator[Refusal]:
    """Refusals by the database, after validation: a unique index of plan names, and an Integer column (db/migrations).

    Measured on PostgreSQL and MariaDB: tests/platforms/cloudfoundry_database.jsonl.
    """
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
                yield Refusal("cloudfoundry-storage", (*path, "maximum_polling_duration"), text)


REFUSALS = {
    "crash": """Cloud Foundry crashes on this, and the operator reads "An unknown error occurred".

    It does not check that lists are lists before it reads them.
    Bad: services: null
    Good: services: []
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "no-service": """Cloud Foundry requires at least one service offering; the specification does not.
    Bad: services: []
    Good: services: [{name: postgres}]
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "service-ids": """Two service offerings share an id.
    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: redis, description: A cache.}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: redis, description: A cache.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "service-names": """Two service offerings share a name.
    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: postgres, description: A cache.}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: redis, description: A cache.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "plan-ids": f"""Two plans of the catalog share an id.
{SHARED_PLAN_ID}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb, catalog_service.rb""",
    "plan-names": """Two plans of a service offering share a name.
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: small, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_service.rb""",
    "dashboard-client-ids": """Two dashboard clients share an id.
    Bad:
        services:
          - {name: postgres, dashboard_client: {id: ui}}
          - {name: redis, dashboard_client: {id: ui}}
    Good:
        services:
          - {name: postgres, dashboard_client: {id: postgres-ui}}
          - {name: redis, dashboard_client: {id: redis-ui}}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "no-plan": """A service offering has no plan.
    Bad: plans: []
    Good: plans: [{name: small}]
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_service.rb""",
    "required": """A field that Cloud Foundry requires is missing, null or blank.

    A string of white space only, no-break spaces included, counts as missing.
    Bad: description: " "
    Good: description: A database.
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "type": """A field has a type that Cloud Foundry does not accept.

    It requires a boolean for `bindable`, strings for ids, names and descriptions, objects for metadata.
    Bad: bindable: "true"
    Good: bindable: true
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "description-length": """A description has more than 10,000 characters.
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "tags": """The tags of a service offering have more than 2,048 characters.
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "requires": """`requires` holds a permission that Cloud Foundry does not know.
    Bad: requires: [syslog]
    Good: requires: [syslog_drain]
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_service.rb""",
    "maintenance-info": """`maintenance_info` is not what Cloud Foundry accepts.

    A Semantic Version, a description, nothing else, and at most 2,000 characters as JSON.
    Bad: maintenance_info: {version: 1.2.3, public: true}
    Good: maintenance_info: {version: 1.2.3, description: A new base image.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_plan.rb""",
    "schema-size": """A parameter schema has more than 65,536 characters as Rails writes JSON.
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-dialect": """A parameter schema is written for a draft that Cloud Foundry does not know.

    It knows draft-01 to draft-04 and draft-06, under their http addresses. draft-07 and later are "custom meta
    schemas" to it.
    Bad: parameters: {$schema: "http://json-schema.org/draft-07/schema#", type: object}
    Good: parameters: {$schema: "http://json-schema.org/draft-06/schema#", type: object}
    Fix: names draft-04 or draft-06 instead if the schema means the same there; with --unsafe if it has a format that is
    newer.
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-metaschema": """A parameter schema is not valid under draft-04.

    Cloud Foundry checks every schema against draft-04, regardless of `$schema`.
    Bad: parameters: {$schema: "http://json-schema.org/draft-06/schema#", exclusiveMinimum: 3}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", minimum: 3, exclusiveMinimum: true}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-pattern": """A key of `patternProperties` is not a regular expression.

    Cloud Foundry compiles these keys, though it accepts any text as a `pattern`.
    Bad: patternProperties: {"^(a": {type: string}}
    Good: patternProperties: {"^(a)": {type: string}}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-reference": """A reference in a parameter schema leads to another document, or to nothing.
    Bad: properties: {size: {$ref: "https://example.com/size.json"}}
    Good: properties: {size: {type: integer}}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-unclear": """The answer of Cloud Foundry to a parameter schema cannot be predicted.

    Its JSON Schema library has rules of its own for base URIs of `id`, keywords of draft-03, and patterns of Ruby as
    keys of `patternProperties`. osbctl does not guess: the verdict is unclear.
    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", patternProperties: {"^\\\\p{Alpha}": {}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", patternProperties: {"^[a-z]": {}}}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "storage": """Cloud Foundry's validator accepts it, and its database does not.

    The names of two plans of a service offering differ only in case or outer blanks: the operator reads "Plan names
    must be unique within a service". Or a polling duration does not fit into 32 bits: the operator reads "An unknown
    error occurred". Measured with its migrations and its code on PostgreSQL and MariaDB.
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: Small, description: Larger.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Larger.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb; db/migrations""",
}
"""The text of each rule that is its alone."""
