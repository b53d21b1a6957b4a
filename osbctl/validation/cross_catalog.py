"""Validation of several catalogs whose brokers are registered with one platform."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from osbctl.findings import Finding, Location, Severity, ValidationResult, Verdict
from osbctl.paths import Path
from osbctl.placeholders import holds_placeholder
from osbctl.platforms import Identity, Platform
from osbctl.platforms.outcome import VerdictKind
from osbctl.platforms.shared_identities import SharedIdentity, does, shared
from osbctl.rule import RULES
from osbctl.sources.document import Document
from osbctl.validation.ignore_comments import find_comments, without_ignored
from osbctl.validation.options import Selection, ValidationOptions
from osbctl.validation.pipeline import graded, reading_order
from osbctl.validation.rules import SHARED, load_all

_RULES = {
    Identity.SERVICE_ID: "shared-id",
    Identity.PLAN_ID: "shared-id",
    Identity.SERVICE_NAME: "shared-service-name",
    Identity.CLIENT_ID: "shared-dashboard-client",
}


class ValidatedCatalog(NamedTuple):
    """A catalog, its own validation result, and the options of that validation."""

    document: Document
    judgement: ValidationResult
    options: ValidationOptions


def judge_together(judged: Sequence[ValidatedCatalog]) -> list[ValidationResult]:
    """The results, completed with the ids and names that a catalog shares with earlier ones.

    Each is reported in the later catalog, with its options. A platform that refuses one of two catalogs refuses the
    later.
    """
    load_all()
    found: list[list[SharedIdentity]] = [[] for _ in judged]
    paths: list[set[Path]] = [set() for _ in judged]
    for one in shared((str(number), each.document.data) for number, each in enumerate(judged)):
        if not holds_placeholder(one.value):
            found[int(one.second)].append(one)
            paths[int(one.second)].add(one.second_path)
            paths[int(one.first)].add(one.first_path)
    places = [each.document.locate(wanted) for each, wanted in zip(judged, paths, strict=True)]
    return [
        _completed(one, [_finding(same, places, one.options.platforms) for same in identities])
        for one, identities in zip(judged, found, strict=True)
    ]


def _finding(one: SharedIdentity, places: Sequence[Mapping[Path, Location]], counted: frozenset[Platform]) -> Finding:
    first, place = places[int(one.first)][one.first_path], places[int(one.second)][one.second_path]
    rule = RULES[_RULES[one.identity]]
    severity = Severity.ERROR if counted & {*rule.refused_by} else rule.severity
    other = f"{one.first_object} at {first}"
    message = f"the {one.identity} {one.value} of {one.second_object} is also that of {other}"
    hint = does(one.identity, counted or frozenset(Platform))
    return Finding(rule.id, severity, message, one.second_path, place, hint, refused_by=rule.refused_by)


def _completed(one: ValidatedCatalog, found: list[Finding]) -> ValidationResult:
    document, judgement, options = one
    silenced = without_ignored(Selection(options).of(found, document.data), document, find_comments(document))
    wanted = graded(silenced, options)
    refused = Counter(platform for finding in found for platform in finding.refused_by)
    verdicts = {platform: _verdict(verdict, refused[platform]) for platform, verdict in judgement.verdicts.items()}
    left_out = judgement.left_out + len(found) - sum(finding.rule.startswith(SHARED) for finding in wanted)
    findings = sorted((*judgement.findings, *wanted), key=reading_order)
    return judgement._replace(findings=tuple(findings), verdicts=verdicts, left_out=left_out)


def _verdict(alone: Verdict, refusals: int) -> Verdict:
    if not refusals or alone.kind in (VerdictKind.CRASHES, VerdictKind.UNREADABLE):
        return alone
    return alone._replace(kind=VerdictKind.REFUSES, reasons=alone.reasons + refusals, why="")
