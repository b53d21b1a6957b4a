"""Many findings of one cause as one, with their number: nobody reads the same sentence four hundred times."""

from __future__ import annotations

from collections.abc import Iterable

from osbctl.findings import Finding


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, with those of one rule that say the same of several (`Finding.several`) joined to the first.

    It keeps the place of the first, and has the other places, the fixes and what platforms say of all.
    """
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.rule, finding.severity, finding.several, finding.hint) if finding.several else number
        groups.setdefault(key, []).append(finding)
    return [_joined(group) for group in groups.values()]


def _joined(group: list[Finding]) -> Finding:
    first = group[0]
    if len(group) == 1:
        return first
    return first._replace(
        message=f"{len(group):,} {first.several}",
        also=tuple(finding.path for finding in group[1:]),
        fixes=tuple(fix for finding in group for fix in finding.fixes),
        refused_by=tuple(dict.fromkeys(platform for finding in group for platform in finding.refused_by)),
        platform_messages=tuple(dict.fromkeys(words for finding in group for words in finding.platform_messages)),
    )
