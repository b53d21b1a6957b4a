"""Runs the rules over a catalog: one walk, each rule called with the objects of its scope."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from functools import cache
from typing import Any

from osbctl.catalog import parameter_holders
from osbctl.findings import Finding, Severity
from osbctl.rule import Rule, Scope
from osbctl.validation.node import CatalogNode, Node
from osbctl.validation.options import ValidationOptions
from osbctl.validation.rules import load_checks
from osbctl.validation.survey import UNKNOWN, Survey

_THINGS = ("service", "service_metadata", "plan", "plan_metadata")
"""The kinds of objects whose fields a rule may name."""


def run_rules(data: dict[str, Any], options: ValidationOptions, survey: Survey = UNKNOWN) -> list[Finding]:
    """What the specification's rules and the advice say against the catalog `data`.

    Rules see only what has the right shape: a wrong shape is the schema's finding, reported once. Those that
    `survey` shows to be needless are not run.
    """
    catalog = CatalogNode(data, (), options.api_version)
    checks = {
        scope: [rule for rule in rules if _is_needed(rule, survey, catalog) and is_wanted(rule, options)]
        for scope, rules in _by_scope().items()
    }
    quiet: set[int] = set()
    found = []
    for scope, node in _nodes(catalog, survey.alike, quiet):
        hits = [(rule, hit) for rule in checks[scope] if rule.check for hit in rule.check(node)]
        if scope is Scope.PARAMETERS and not hits:
            quiet.add(id(node.value))
        found += [Finding(rule.id, rule.severity, hit.message, hit.path, None, *hit[2:]) for rule, hit in hits]
    return found


def _is_needed(rule: Rule, survey: Survey, catalog: CatalogNode) -> bool:
    if rule.fields and all(rule.fields.isdisjoint(catalog.fields.get(kind, ())) for kind in _THINGS):
        return False
    return rule.needs is None or getattr(survey, rule.needs)


def is_wanted(rule: Rule, options: ValidationOptions) -> bool:
    """Whether findings of `rule` are sought with these options."""
    if options.errors_alone and rule.severity is not Severity.ERROR:
        return False
    return rule.only_for is None or rule.only_for in options.platforms or rule.id in (options.select or ())


@cache
def _by_scope() -> dict[Scope, tuple[Rule, ...]]:
    rules = load_checks()
    of_things = dict.fromkeys((Scope.SERVICE, Scope.PLAN), Scope.THING)
    return {scope: tuple(rule for rule in rules if rule.scope in (scope, of_things.get(scope))) for scope in Scope}


def _nodes(catalog: Node, alike: Mapping[int, int], quiet: Container[int]) -> Iterator[tuple[Scope, Node]]:
    """The objects of the catalog; of parameter schemas that are alike no more once nothing is said of one of them."""
    yield Scope.CATALOG, catalog
    for service in catalog.children("services"):
        yield Scope.SERVICE, service
        for plan in service.children("plans"):
            yield Scope.PLAN, plan
            for place, holder in parameter_holders(plan.value):
                schema = holder["parameters"]
                if alike.get(id(schema)) not in quiet:
                    path = (*plan.path, "schemas", *place, "parameters")
                    yield Scope.PARAMETERS, Node(schema, path, plan.api_version)
