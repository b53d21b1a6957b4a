"""Format `sarif`: SARIF 2.1.0 (OASIS, 2020) for code scanning."""

import os
from typing import Any
from urllib.parse import quote

import osbctl
from osbctl.findings import Finding, Location, Severity
from osbctl.paths import pointer
from osbctl.reports import Report
from osbctl.reports.format_helpers import compute_fingerprints, relative_path
from osbctl.rule import Rule
from osbctl.text import json_text

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report) -> str:
    """Render a SARIF log with one run, which describes only the rules with findings."""
    used = sorted({finding.rule for finding in report.findings()})
    rules = dict(report.load_rules()) if used else {}
    for result in report.results:
        rules.update(result.user_rules)
    index = {rule: number for number, rule in enumerate(used)}
    run = {
        "tool": {
            "driver": {
                "name": "osbctl",
                "semanticVersion": osbctl.__version__,
                **({"informationUri": osbctl.REPOSITORY} if osbctl.REPOSITORY else {}),
                "rules": [_rule_as_sarif(rules[rule]) for rule in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [
            _finding_as_sarif(finding, fingerprint, index, report.root)
            for finding, fingerprint in compute_fingerprints(report.findings(), report.root)
        ],
    }
    return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule_as_sarif(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why or rule.summary},
        **({"helpUri": rule.documentation_url} if rule.documentation_url else {}),
        "help": {"text": f"{rule.why or rule.summary}\n\nSource: {rule.source}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.category.value]},
    }


def _location_as_sarif(location: Location, root: str) -> dict[str, Any]:
    source = relative_path(location.source, root)
    region = {"startLine": location.line, "startColumn": location.column}
    physical = {
        "artifactLocation": {"uri": source if "://" in source else quote(os.fsencode(source))},
        "region": {**region, "endColumn": location.end} if location.end else region,
    }
    return {"physicalLocation": physical}


def _finding_as_sarif(finding: Finding, fingerprint: str, index: dict[str, int], root: str) -> dict[str, Any]:
    text = f"{finding.message}\nHint: {finding.hint}" if finding.hint else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "partialFingerprints": {"osbctl/v2": fingerprint},
    }
    if place := finding.location:
        logical = {"fullyQualifiedName": pointer(finding.path) or "/"}
        result["locations"] = [{**_location_as_sarif(place, root), "logicalLocations": [logical]}]
    if others := [other.location for other in finding.at_each_place()[1:] if other.location]:
        result["relatedLocations"] = [_location_as_sarif(place, root) for place in others]
    if finding.refused_by:
        result["properties"] = {"refusedBy": [platform.value for platform in finding.refused_by]}
    return result
