"""A service offering and its plans before the Cloud Controller.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_service.rb and catalog_plan.rb.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.fields import (
    MAINTENANCE_INFO_ROWS,
    PLAN_ROWS,
    SERVICE_OBJECT_ROWS,
    SERVICE_ROWS,
    Errors,
    check_rows,
    strings,
    wrong_type,
)  # fmt: skip
from osbctl.platforms.cloudfoundry.ruby import RubyCrash, identity_key, inspect, json_length, to_s
from osbctl.platforms.cloudfoundry.schemas import SchemaChecks

_LONGEST_TAGS = 2048
_LONGEST_MAINTENANCE_INFO = 2000
_MAINTENANCE_INFO_KEYS = ("version", "description")
_REQUIRES = frozenset({"syslog_drain", "route_forwarding", "volume_mount"})


def judge_service(service: dict[str, Any], path: Path, judge: SchemaChecks) -> Errors:
    """Errors of a service offering and its plans. Raises RubyCrash if the platform crashes."""
    errors = Errors(f"Service {to_s(service.get('name'))}")
    check_rows(SERVICE_ROWS, service, path, errors)
    _check_strings(service, path, errors)
    check_rows(SERVICE_OBJECT_ROWS, service, path, errors)
    _check_requires_values(service.get("requires"), (*path, "requires"), errors)
    _check_plans(service, path, errors, judge)
    return errors


def _check_strings(service: dict[str, Any], path: Path, errors: Errors) -> None:
    tags = service.get("tags", [])
    if problem := strings(tags):
        errors.add(problem.rule, (*path, "tags"), f"Service tags {problem.message}")
    elif sum(map(len, tags)) > _LONGEST_TAGS:
        text = f"Tags for the service {to_s(service.get('name'))} must be {_LONGEST_TAGS} characters or less."
        errors.add("cloudfoundry-tags", (*path, "tags"), text)
    if problem := strings(service.get("requires", [])):
        errors.add(problem.rule, (*path, "requires"), f'Service "requires" field {problem.message}')


def _check_requires_values(requires: Any, path: Path, errors: Errors) -> None:
    for at, item in enumerate(requires) if isinstance(requires, list) else ():
        if to_s(item) not in _REQUIRES:
            message = f'Service "requires" field contains unsupported value "{to_s(item)}"'
            errors.add("cloudfoundry-requires", (*path, at), message)


def _check_plans(service: dict[str, Any], path: Path, errors: Errors, judge: SchemaChecks) -> None:
    plans = service.get("plans") or []
    at: Path = (*path, "plans")
    if not plans:
        errors.add("cloudfoundry-no-plan", at, "At least one plan is required")
        return
    wrong = next((i for i, plan in enumerate(plans) if not isinstance(plan, dict)), None)
    if wrong is not None:
        text = f"Service plans list must be an array of hashes, but has value {inspect(plans)}"
        errors.add("cloudfoundry-type", (*at, wrong), text)
        return
    for number, plan in enumerate(plans):
        errors.nest(_judge_plan(plan, (*at, number), judge))
    _check_unique_in_service(service, plans, at, errors)


def _check_unique_in_service(service: dict[str, Any], plans: list[dict[str, Any]], path: Path, errors: Errors) -> None:
    start = f"Service {to_s(service.get('name'))} already has a plan"
    for second, value in _repeated([plan.get("id") for plan in plans]):
        text = f"Plan ids must be unique. {start} with id '{to_s(value)}'"
        errors.add("cloudfoundry-plan-ids", (*path, second, "id"), text)
    for second, value in _repeated([plan.get("name") for plan in plans]):
        text = f"Plan names must be unique within a service. {start} named {to_s(value)}"
        errors.add("cloudfoundry-plan-names", (*path, second, "name"), text)


def _repeated(values: list[Any]) -> Iterator[tuple[int, Any]]:
    """Each value that stands there more than once, with its second place. 1 and 1.0 are equal, but both are named."""
    places: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value if type(value) in (int, float) else identity_key(value), []).append(place)
    for equal in places.values():
        if len(equal) > 1:
            for value in {identity_key(values[place]): values[place] for place in equal}.values():
                yield equal[1], value


def _judge_plan(plan: dict[str, Any], path: Path, judge: SchemaChecks) -> Errors:
    """Errors of a plan and its schemas. Raises RubyCrash if the platform crashes."""
    errors = Errors(f"Plan {to_s(plan.get('name'))}")
    check_rows(PLAN_ROWS, plan, path, errors)
    info = plan.get("maintenance_info")
    if info is not None and info is not False:
        _check_maintenance_info(info, (*path, "maintenance_info"), errors)
    schemas = plan.get("schemas")
    if isinstance(schemas, dict) and schemas:
        errors.nest(judge(schemas, (*path, "schemas")))
    return errors


def _check_maintenance_info(info: Any, path: Path, errors: Errors) -> None:
    """A String passes through every check, each answered by what it contains; other types crash."""
    rule = "cloudfoundry-maintenance-info"
    if not isinstance(info, dict):
        if not isinstance(info, str):
            raise RubyCrash(path, "maintenance_info is no object")
        problem = wrong_type("a hash", info)
        errors.add(problem.rule, path, f"Maintenance info {problem.message}")
    check_rows(MAINTENANCE_INFO_ROWS, info, path, errors)
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
