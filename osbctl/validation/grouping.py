"""Findings as a report shows them: with severities and identities, one for each cause, with locations, in order."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

from osbctl.findings import MAX_LOCATED, Finding, LineNumber, Location, fixes_of
from osbctl.messages import Message, Sentence
from osbctl.paths import JsonPath, JsonValue, get_at, pointer
from osbctl.platforms.golang import fold_case
from osbctl.sources.document import Document
from osbctl.text import fingerprint, plural
from osbctl.validation.options import ValidationOptions


def apply_severities(findings: list[Finding], options: ValidationOptions) -> list[Finding]:
    """The findings with the configured severities of their rules."""
    severity = dict(options.severity)
    return [f._replace(severity=severity[f.rule]) if f.rule in severity else f for f in findings]


def identify_findings(findings: list[Finding], data: dict[str, Any]) -> list[Finding]:
    """The findings on the catalog `data` with identities that stay when other objects come or go.

    An identity is the rule, the service offering and plan (by id, else by name), the field, and a running number among
    equals. It has no indexes, and no values, which may be secrets.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    identified = []
    for finding in findings:
        key = (finding.rule, *_object_and_field(finding.path, data))
        identified.append(finding._replace(identity=json.dumps([*key, seen[key]])))
        seen[key] += 1
    return identified


def _object_and_field(path: JsonPath, data: JsonValue) -> tuple[str, ...]:
    """Ids or names of the service offering and plan that `path` leads into, and the keys below them."""
    marks = []
    for key in ("services", "plans"):
        mark = ""
        if len(path) > 1 and fold_case(str(path[0])) == key:
            data, path = get_at(data, path[:2]), path[2:]
            fields = {fold_case(name): value for name, value in data.items()} if isinstance(data, dict) else {}
            named = ((name, fields.get(name)) for name in ("id", "name"))
            mark = next((f"{name} {value}" for name, value in named if isinstance(value, str) and value), "")
        marks.append(mark)
    return (*marks, pointer(tuple("" if isinstance(step, int) else step for step in path)))


def drop_known_findings(findings: list[Finding], known: frozenset[str]) -> tuple[list[Finding], frozenset[str]]:
    """The findings without those whose fingerprints are `known`, and these fingerprints."""
    if not known:
        return findings, known
    fingerprints = [fingerprint(finding.identity) for finding in findings]
    new = [finding for finding, own in zip(findings, fingerprints, strict=True) if own not in known]
    return new, known.intersection(fingerprints)


def group_findings(findings: list[Finding]) -> list[Finding]:
    """Join findings of one rule and group to the first of them."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.rule, finding.severity, finding.group.key) if finding.group else number
        groups.setdefault(key, []).append(finding)
    return [
        _merge_group(findings, findings[0].group.sentence(len(findings)) if findings[0].group else "")
        for findings in groups.values()
    ]


def _merge_group(group: list[Finding], sentence: Sentence) -> Finding:
    """The first finding, with all as its members, and the fixes and quotes of all."""
    if len(group) == 1:
        return group[0]
    return group[0]._replace(
        sentence=sentence,
        related_path=None,  # each member has one of its own
        members=tuple(member for finding in group for member in finding.members or (finding,)),
        fixes=fixes_of(group),
        refused_by=tuple(dict.fromkeys(platform for finding in group for platform in finding.refused_by)),
        quotes=tuple(dict.fromkeys(quote for finding in group for quote in finding.quotes)),
    )


def locate_and_sort(findings: list[Finding], document: Document) -> list[Finding]:
    """The findings with locations, in document order; those that aliases repeat are merged."""
    paths = {
        path
        for finding in findings
        for one in (finding, *finding.members[:MAX_LOCATED])
        if one.location is None
        for path in (one.path, one.related_path)
        if path is not None
    }
    locations = document.locate(paths) if paths else {}
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        located = finding if finding.location else _set_location(finding, locations)
        groups.setdefault((located.rule, located.severity, located.location, located.path[-1:]), []).append(located)
    return sorted(chain.from_iterable(map(_merge_alias_repeats, groups.values())), key=document_order_key)


def _merge_alias_repeats(group: list[Finding]) -> list[Finding]:
    """Join findings of one rule and field at one location, which aliases or merges repeat."""
    if not 1 < len({finding.path for finding in group}) == len(group):
        return group
    more = plural(len(group) - 1, "more place")
    return [_merge_group(group, Message("{} (an alias or a merge repeats it in {})", group[0].sentence, more))]


def _set_location(finding: Finding, locations: Mapping[JsonPath, Location]) -> Finding:
    """The finding with its locations, and with the line of the earlier place in its message."""
    own = locations[finding.path]
    located = [
        member if member.location else _set_location(member, locations) for member in finding.members[:MAX_LOCATED]
    ]
    finding = finding._replace(location=own, members=(*located, *finding.members[MAX_LOCATED:]))
    if finding.related_path is None:
        return finding
    line = LineNumber(locations[finding.related_path], own.source)
    return finding._replace(sentence=Message("{} ({})", finding.sentence, line))


def document_order_key(finding: Finding) -> tuple[str, int, int, int, str, str]:
    """Sort key for located findings, in document order."""
    location = finding.location
    where = (location.source, location.line, location.column) if location else ("", 0, 0)
    return (*where, -finding.severity.rank, finding.rule, finding.message)
