"""Format `json`: osbctl's own JSON (`schemas/report-1.json`)."""

from typing import Any

from osbctl.findings import Finding, Severity
from osbctl.paths import pointer
from osbctl.reports import Report
from osbctl.reports.format_helpers import location_as_json
from osbctl.text import json_text

VERSION = 1
"""Version of the format; any change except a new field needs a new version."""


def render(report: Report) -> str:
    """Render a report as one JSON object."""
    findings = list(report.findings())
    whole = {
        "version": VERSION,
        "documents": [
            {
                "name": result.name,
                "findings": [_finding_as_json(finding) for finding in result.findings],
                "left_out": result.left_out,
                "platforms": {
                    platform.value: {
                        "verdict": verdict.kind.value,
                        "reasons": verdict.reasons,
                        "messages": list(verdict.messages),
                        "why": verdict.why,
                    }
                    for platform, verdict in result.verdicts.items()
                },
            }
            for result in report.results
        ],
        "summary": {f"{s.value}s": sum(f.severity is s for f in findings) for s in Severity},
    }
    return json_text(whole)


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    places = finding.at_each_place()
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": pointer(finding.path),
        "also": [pointer(path) for path in finding.other_paths],
        "location": location_as_json(finding.location),
        "refused_by": [platform.value for platform in finding.refused_by],
        "platform_messages": list(finding.platform_messages),
        "hint": finding.hint,
        **({"places": [_place_as_json(place) for place in places]} if len(places) > 1 else {}),
    }


def _place_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "message": finding.message,
        "path": pointer(finding.path),
        "location": location_as_json(finding.location),
    }
