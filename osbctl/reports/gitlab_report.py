"""Format `gitlab`: a Code Quality report, a JSON array with every field that GitLab requires."""

from osbctl.findings import Severity, each_place
from osbctl.reports import Report
from osbctl.reports.format_helpers import compute_fingerprints, relative_path
from osbctl.text import json_text

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report) -> str:
    """Render a report for GitLab's `artifacts:reports:codequality`."""
    issues = [
        {
            "description": finding.message,
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": relative_path(report.source_name(finding), report.root),
                "lines": {"begin": finding.location.line if finding.location else 1},
            },
        }
        for finding, fingerprint in compute_fingerprints(each_place(report.findings()), report.root)
    ]
    return json_text(issues)
