"""A service plan before the Cloud Controller.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_plan.rb.
"""

from __future__ import annotations

from typing import Any

from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.fields import MAINTENANCE_INFO_ROWS, PLAN_ROWS, check_rows, not_an_object
from osbctl.platforms.cloudfoundry.report import Errors
from osbctl.platforms.cloudfoundry.ruby import RubyCrash, RubyError, index, json_length, to_s
from osbctl.platforms.cloudfoundry.schemas import SchemaChecks

_LONGEST_MAINTENANCE_INFO = 2000
_MAINTENANCE_INFO_KEYS = ("version", "description")


def judge_plan(plan: dict[str, Any], path: Path, judge: SchemaChecks) -> Errors:
    """Errors of a plan and its schemas. Raises RubyError if the platform crashes."""
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
        try:
            index(info, "version")
        except RubyError:
            raise RubyCrash(path, "maintenance_info is no object") from None
        problem = not_an_object(info)
        errors.add(problem.rule, path, f"Maintenance info {problem.message}")
    check_rows(MAINTENANCE_INFO_ROWS, info, path, errors)
    length = json_length(info, _LONGEST_MAINTENANCE_INFO)
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
