"""Groups of findings with one cause, each reported once with its number of places."""

from __future__ import annotations

from collections.abc import Iterable

from osbctl.findings import Finding
from osbctl.text import plural


def group_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Join findings of one rule with the same group text (`Finding.group_summary`) to the first of them.

    It keeps the path of the first, and gets the other paths, and the fixes and platform messages of all.
    """
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.rule, finding.severity, finding.group_summary, finding.hint) if finding.group_summary else number
        groups.setdefault(key, []).append(finding)
    return [_joined(group, f"{len(group):,} {group[0].group_summary}") for group in groups.values()]


def once_a_text(located: Iterable[Finding]) -> list[Finding]:
    """Join findings of one rule and field at one location, which aliases or merges repeat."""
    groups: dict[object, list[Finding]] = {}
    for finding in located:
        groups.setdefault((finding.rule, finding.severity, finding.location, finding.path[-1:]), []).append(finding)
    return [one for group in groups.values() for one in _at_one_text(group)]


def _at_one_text(group: list[Finding]) -> list[Finding]:
    paths = {finding.path for finding in group}
    if len(paths) < 2 or len(paths) < len(group):
        return group
    more = plural(len(group) - 1, "more place")
    return [_joined(group, f"{group[0].message} (an alias or a merge repeats it in {more})")]


def _joined(group: list[Finding], message: str) -> Finding:
    first = group[0]
    if len(group) == 1:
        return first
    return first._replace(
        message=message,
        other_paths=(
            *first.other_paths,
            *(path for finding in group[1:] for path in (finding.path, *finding.other_paths)),
        ),
        fixes=tuple(fix for finding in group for fix in finding.fixes),
        refused_by=tuple(dict.fromkeys(platform for finding in group for platform in finding.refused_by)),
        platform_messages=tuple(dict.fromkeys(words for finding in group for words in finding.platform_messages)),
    )
