"""For TeamCity: service messages, which become the inspections of a build.

https://www.jetbrains.com/help/teamcity/service-messages.html has the messages, their limits of length and the escapes.
"""

from __future__ import annotations

from osbctl.findings import Finding
from osbctl.reports import Report
from osbctl.reports.places import in_one_line, relative, verdict_lines
from osbctl.rule import Rule
from osbctl.text import safe

_ESCAPES = str.maketrans({"|": "||", "'": "|'", "\n": "|n", "\r": "|r", "[": "|[", "]": "|]"})
_LONGEST = 4000
"""Characters of a description or a message, before they are escaped."""


def render(report: Report) -> str:
    """The kinds of inspection that there are, each finding, then a plain line a document with its verdicts."""
    used = sorted({finding.rule for finding in report.findings()})
    lines = [_kind(report.rules[rule]) for rule in used]
    lines += [_inspection(finding, report) for finding in report.findings()]
    return "".join(f"{line}\n" for line in [*lines, *verdict_lines(report.judgements)])


def _kind(rule: Rule) -> str:
    about = {"id": rule.id, "name": rule.id, "category": f"osbctl {rule.category.value}", "description": rule.summary}
    return _message("inspectionType", about)


def _inspection(finding: Finding, report: Report) -> str:
    where = {"file": relative(report.source(finding), report.root)}
    if finding.location:
        where["line"] = str(finding.location.line)
    severity = finding.severity.value.upper()
    return _message(
        "inspection", {"typeId": finding.rule, "message": in_one_line(finding), **where, "SEVERITY": severity}
    )


def _message(name: str, attributes: dict[str, str]) -> str:
    return f"##teamcity[{name} " + " ".join(f"{key}='{_escaped(text)}'" for key, text in attributes.items()) + "]"


def _escaped(text: str) -> str:
    """Beyond ASCII, `|0xNNNN` for each UTF-16 unit: the agent may read the output in another encoding."""
    shown = safe(text)[:_LONGEST].translate(_ESCAPES)
    return "".join(one if one.isascii() else _units(one) for one in shown)


def _units(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"|0x{units[at : at + 4]}" for at in range(0, len(units), 4))
