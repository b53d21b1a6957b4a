"""Runs the rules over a catalog: each is called with the catalog, or with its parameter schemas one by one."""

from __future__ import annotations

import json
from typing import Any

from osbctl.findings import Finding, Severity
from osbctl.paths import Path
from osbctl.rule import Rule, Scope
from osbctl.validation.node import CatalogNode, Node
from osbctl.validation.options import ValidationOptions
from osbctl.validation.rules import load_checks


def run_rules(data: dict[str, Any], options: ValidationOptions) -> list[Finding]:
    """What the specification's rules and the advice say against the catalog `data`.

    Rules see only what has the right shape: a wrong shape is the schema's finding, reported once.
    """
    catalog = CatalogNode(data, options.api_version)
    rules = [rule for rule in load_checks() if is_wanted(rule, options)]
    found = [finding for rule in rules if rule.scope is Scope.CATALOG for finding in _findings(rule, catalog)]
    return found + _of_parameters([rule for rule in rules if rule.scope is Scope.PARAMETERS], catalog)


def _of_parameters(rules: list[Rule], catalog: CatalogNode) -> list[Finding]:
    """What `rules` say of each parameter schema, at its own place; those of one text are looked at once."""
    found: list[Finding] = []
    known: dict[str, list[Finding]] = {}
    for plan, place, schema in catalog.parameters:
        text = json.dumps(schema)
        if text not in known:
            known[text] = [finding for rule in rules for finding in _findings(rule, Node(schema))]
        path = (*plan.path, "schemas", *place, "parameters")
        found += [_below(path, finding) for finding in known[text]]
    return found


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
