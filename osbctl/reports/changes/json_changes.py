"""Format `json`: osbctl's own JSON (`schemas/diff-1.json`)."""

from dataclasses import asdict
from typing import Any

from osbctl.changes import Change, Level
from osbctl.paths import pointer
from osbctl.reports.changes import DiffReport
from osbctl.reports.format_helpers import location_as_json
from osbctl.text import json_text

VERSION = 1
"""Version of the format; any change except a new field needs a new version."""


def render(report: DiffReport) -> str:
    """Render a comparison as one JSON object."""
    return json_text(report_as_json(report))


def report_as_json(report: DiffReport) -> dict[str, Any]:
    """The JSON object of a report; a report of many brokers contains one for each."""
    ordered = sorted(report.changes, key=lambda change: -change.level.rank)
    changes = [_change_as_json(change, None) for change in ordered]
    whole: dict[str, Any] = {
        "version": VERSION,
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
                "hint": finding.hint,
            }
            for finding in report.errors
        ]
    return whole


def _change_as_json(change: Change, accepted_reason: str | None) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "level": change.level.value,
        "message": change.message,
        "object": change.object,
        "service": asdict(change.service) if change.service else None,
        "plan": asdict(change.plan) if change.plan else None,
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
                "does": effect.does,
                **({"reason": effect.reason} if effect.reason else {}),
            }
            for effect in change.effects
        ],
        "advice": change.advice,
        "fingerprint": change.fingerprint,
        "accepted": accepted_reason,
    }
