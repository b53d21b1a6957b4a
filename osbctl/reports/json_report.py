"""Format `json`: osbctl's own JSON of findings, and of changes."""

from typing import TYPE_CHECKING, Any

from osbctl.findings import Finding, Severity
from osbctl.paths import pointer
from osbctl.reports import Report, location_as_json
from osbctl.text import json_text

if TYPE_CHECKING:
    from osbctl.changes import Change, ObjectRef
    from osbctl.reports.changes import DiffReport

_VERSION = 1
"""Version of both formats; any change except a new field needs a new version."""


def render_json(report: Report) -> str:
    """A report of findings as one JSON object (`schemas/report-1.json`)."""
    findings = list(report.findings())
    whole = {
        "version": _VERSION,
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
        "hint": finding.advice,
        **({"places": [_place_as_json(place) for place in places]} if len(places) > 1 else {}),
    }


def _place_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "message": finding.message,
        "path": pointer(finding.path),
        "location": location_as_json(finding.location),
    }


def render_changes(report: "DiffReport") -> str:
    """A report of changes as one JSON object."""
    return json_text(diff_report_as_json(report))


def diff_report_as_json(report: "DiffReport") -> dict[str, Any]:
    """The JSON object of a report of changes (`schemas/diff-1.json`); that of many brokers has one for each."""
    from osbctl.changes import Level  # a report of findings needs no changes

    ordered = sorted(report.changes, key=lambda change: -change.level.rank)
    changes = [_change_as_json(change, None) for change in ordered]
    whole: dict[str, Any] = {
        "version": _VERSION,
        "old": report.old,
        "new": report.new,
        "same": report.same,
        "changes": changes + [_change_as_json(change, reason) for change, reason in report.accepted],
        "allow_problems": list(report.problems),
        "notes": list(report.notes),
        "summary": {
            **{level.value: sum(change.level is level for change in report.changes) for level in Level},
            "accepted": len(report.accepted),
        },
    }
    if report.new_catalogs:
        whole["new_catalogs"] = list(report.new_catalogs)
    if report.errors:
        whole["errors"] = [
            {
                "rule": finding.rule,
                "message": finding.message,
                "location": location_as_json(finding.location),
                "hint": finding.advice,
            }
            for finding in report.errors
        ]
    return whole


def _change_as_json(change: "Change", accepted_reason: str | None) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "level": change.level.value,
        "message": change.message,
        "object": change.object,
        "service": _object_as_json(change.service),
        "plan": _object_as_json(change.plan),
        "field": change.field,
        "old": change.old,
        "new": change.new,
        "old_path": pointer(change.old_path),
        "new_path": pointer(change.new_path),
        "old_location": location_as_json(change.old_location),
        "new_location": location_as_json(change.new_location),
        "effects": [
            {
                "platform": effect.platform.value,
                "level": effect.level.value,
                "does": effect.reaction,
                **({"reason": effect.reason} if effect.reason else {}),
            }
            for effect in change.effects
        ],
        "advice": change.advice,
        "fingerprint": change.fingerprint,
        "accepted": accepted_reason,
    }


def _object_as_json(ref: "ObjectRef | None") -> dict[str, str] | None:
    return {"id": ref.id, "name": ref.name} if ref else None
