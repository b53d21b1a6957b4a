"""Small catalogs for the tests of comparison."""

import copy
from typing import Any

from osbctl.changes import Change
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.refusals import Refusals
from osbctl.platforms import Platform
from osbctl.platforms.verdict import judge_all
from tests.platforms.known import KNOWN


def plan(id: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "description": "a plan", **fields}


def service(id: str, name: str, *plans: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "description": "a service", "bindable": True, "plans": list(plans), **fields}


def catalog(*services: dict[str, Any]) -> dict[str, Any]:
    return {"services": copy.deepcopy(list(services))}


def one(**fields: Any) -> dict[str, Any]:
    """A catalog with one service offering of these fields and one plan."""
    return catalog(service("s1", "db", plan("p1", "small"), **fields))


def with_plan(**fields: Any) -> dict[str, Any]:
    """A catalog with one service offering and one plan of these fields."""
    return catalog(service("s1", "db", plan("p1", "small", **fields)))


def by_rule(old: Any, new: Any, *platforms: Platform, instances: frozenset[str] | None = None) -> dict[str, Change]:
    return {c.rule: c for c in compare_catalogs(old, new, platforms=platforms, used_plans=instances)}


def with_schema(parameters: Any) -> dict[str, Any]:
    """A catalog whose plan has this parameter schema."""
    return with_plan(schemas={"service_instance": {"create": {"parameters": parameters}}})


def refusals(data: Any) -> Refusals:
    return {platform: outcome.refusals for platform, outcome in judge_all(data, KNOWN).items()}
