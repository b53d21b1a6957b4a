"""Run the rules of `validate`, each on the catalog or on its distinct parameter schemas."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from osbctl.catalog import parameter_holders
from osbctl.findings import Finding, Severity
from osbctl.paths import BY_NAME, LITERALS, JsonPath, JsonValue
from osbctl.rule import RULES, Rule
from osbctl.validation.checks import CATALOG_CHECKS, SCHEMA_CHECKS, CatalogNode, ParameterSchema, load_rules
from osbctl.validation.options import ValidationOptions


def run_rules(data: dict[str, Any], options: ValidationOptions) -> list[Finding]:
    """Run the rules on the catalog `data`; they skip values of the wrong type, which the schema reports."""
    catalog = CatalogNode(data, options.api_version, options.spoken_version)
    load_rules()
    found = [
        finding
        for id_, check in CATALOG_CHECKS.items()
        if _is_rule_enabled(RULES[id_], options)
        for finding in _of_rule(RULES[id_], check(catalog))
    ]
    return found + _check_parameter_schemas(catalog, options)


def _check_parameter_schemas(catalog: CatalogNode, options: ValidationOptions) -> list[Finding]:
    """Check once the parameter schemas that are the same to all checks; report each occurrence."""
    from osbctl.validation.rules.parameters import MAX_BYTES  # rules are loaded when the first catalog is checked

    checks = [(RULES[id_], check) for id_, check in SCHEMA_CHECKS.items() if _is_rule_enabled(RULES[id_], options)]
    found: list[Finding] = []
    known: dict[tuple[str, int], list[Finding]] = {}
    for plan in catalog.plans:
        for holder_path, holder in parameter_holders(plan.value):
            schema = holder["parameters"]
            # No rule reads titles and descriptions; but they count for the size of the whole.
            content = _text_without_titles(schema), max(len(json.dumps(schema)), MAX_BYTES)
            if content not in known:
                node = ParameterSchema(schema)
                known[content] = [finding for rule, check in checks for finding in _of_rule(rule, check(node))]
            path = (*plan.path, "schemas", *holder_path, "parameters")
            found += [_prefix_paths(path, finding) for finding in known[content]]
    return found


def _text_without_titles(schema: JsonValue) -> str:
    """The schema as JSON, with empty titles and descriptions: plans often repeat a schema with texts of their own."""
    return json.dumps(_copy_without_titles(schema))


def _copy_without_titles(schema: JsonValue) -> JsonValue:
    if isinstance(schema, list):
        return [_copy_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copy: dict[str, JsonValue] = {}
    for key, value in schema.items():
        if key in ("title", "description") and isinstance(value, str):
            copy[key] = ""
        elif key in BY_NAME and isinstance(value, dict):
            copy[key] = {name: _copy_without_titles(inner) for name, inner in value.items()}
        else:
            copy[key] = value if key in LITERALS else _copy_without_titles(value)
    return copy


def _of_rule(rule: Rule, findings: Iterable[Finding]) -> Iterator[Finding]:
    return (finding._replace(rule=rule.id, severity=rule.severity) for finding in findings)


def _prefix_paths(parent_path: JsonPath, finding: Finding) -> Finding:
    """The finding with its paths, and those of its fixes, put below `parent_path`."""
    fixes = tuple(fix._replace(path=(*parent_path, *fix.path)) for fix in finding.fixes)
    return finding._replace(path=(*parent_path, *finding.path), fixes=fixes)


def _is_rule_enabled(rule: Rule, options: ValidationOptions) -> bool:
    """Return whether `rule` is checked with these options."""
    if options.errors_only and rule.severity is not Severity.ERROR:
        return False
    about = rule.only_for or rule.about
    if about and options.platforms:
        return about in options.platforms
    return rule.only_for is None or rule.id in (options.select or ())
