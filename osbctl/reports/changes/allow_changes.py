"""For the allow file: an entry for each change that makes the run fail, to be pasted in and given a reason."""

from __future__ import annotations

import json

from osbctl.changes import Change
from osbctl.reports.changes import DiffReport
from osbctl.text import escape_line, escape_text


def render(report: DiffReport) -> str:
    """The entries as TOML; empty where nothing fails."""
    return "\n".join(_entry(change) for change in report.changes if report.fail_on.counts(change))


def _entry(change: Change) -> str:
    lines = [
        f"# {change.level.value}: {escape_line(change.message)}",
        "[[allow]]",
        f"rule = {_string(change.rule)}",
        f"object = {_string(change.object)}",
        f"field = {_string(change.field)}",
        'reason = "say why this is accepted"',
    ]
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    # JSON's strings are TOML's but for the character DEL, which TOML wants escaped, and halves of characters.
    whole = text.encode("utf-8", "replace").decode()
    return escape_text(json.dumps(whole, ensure_ascii=False))
