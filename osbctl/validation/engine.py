"""Runs the rules over a catalog: each is called with the catalog, or with its parameter schemas one by one."""

from __future__ import annotations

from typing import Any

from osbctl.findings import Finding, Severity
from osbctl.paths import Path
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
    catalog = CatalogNode(data, options.api_version)
    rules = [rule for rule in load_checks() if _is_needed(rule, survey, catalog) and is_wanted(rule, options)]
    found = [finding for rule in rules if rule.scope is Scope.CATALOG for finding in _findings(rule, catalog)]
    of_schemas = [rule for rule in rules if rule.scope is Scope.PARAMETERS]
    said: dict[int, list[Finding]] = {}
    for plan, place, schema in survey.parameters or catalog.parameters:
        # What is said of the first of those that are alike is said of each, at its own place.
        first = survey.schemas.alike.get(id(schema), id(schema))
        if first not in said:
            said[first] = [finding for rule in of_schemas for finding in _findings(rule, Node(schema))]
        if said[first]:
            path = (*plan.path, "schemas", *place, "parameters")
            found += [_below(path, finding) for finding in said[first]]
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


def _findings(rule: Rule, node: Node) -> list[Finding]:
    hits = rule.check(node) if rule.check else ()
    return [
        Finding(rule.id, rule.severity, message, path, None, hint, fixes, several, earlier)
        for message, path, hint, fixes, several, earlier in hits
    ]


def _below(path: Path, finding: Finding) -> Finding:
    fixes = tuple(fix._replace(path=(*path, *fix.path)) for fix in finding.fixes)
    return finding._replace(path=(*path, *finding.path), fixes=fixes)
