"""Format `allow`: an entry of the allow file for each change that makes the run fail; the user adds the reason."""

import json

from osbctl.reports.changes import DiffReport
from osbctl.text import escape_line, escape_text


def render(report: DiffReport) -> str:
    """Render entries as TOML; empty if no change makes the run fail."""
    return "\n".join(
        f"# {change.level.value}: {escape_line(change.message)}\n"
        "[[allow]]\n"
        f"rule = {_toml_string(change.rule)}\n"
        f"object = {_toml_string(change.object)}\n"
        f"field = {_toml_string(change.field)}\n"
        f"level = {_toml_string(change.level)}\n"
        'reason = "say why this is accepted"\n'
        for change in report.changes
        if report.fail_on.is_failure(change)
    )


def _toml_string(text: str) -> str:
    # JSON strings are TOML strings, except that TOML requires DEL to be escaped and has no lone surrogates.
    whole = text.encode("utf-8", "replace").decode()
    return escape_text(json.dumps(whole, ensure_ascii=False))
