"""The stages of a validation, from a document to its findings and verdicts: schema, rules and platforms together.

A fault is reported once. Where a platform refuses what the specification already forbids, the
platform's words join that finding; only a refusal of something that the specification allows
stands as a finding of its own.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import partial
from typing import Any

from osbctl.findings import Finding, Judgement, Location, Severity, Verdict
from osbctl.paths import Path, pointer, value_at
from osbctl.placeholders import placeholders
from osbctl.platforms import Platform
from osbctl.platforms.judge import judge_all
from osbctl.platforms.outcome import Outcome, VerdictKind
from osbctl.rule import RULES
from osbctl.sources.document import Document
from osbctl.validation.engine import is_wanted, run_rules
from osbctl.validation.fold import folded, once_a_text
from osbctl.validation.inline import without_ignored
from osbctl.validation.options import ValidationOptions
from osbctl.validation.rules import SHARED
from osbctl.validation.schema import check_schema
from osbctl.validation.selection import Selection
from osbctl.validation.verdicts import judge_template


def validate_document(document: Document, options: ValidationOptions, selection: Selection | None = None) -> Judgement:
    """All that is to be said of `document`: each stage is run once, on what the one before it left.

    `selection` says which findings are wanted; pass one and the same to learn, over several documents,
    which of its ignores matched nothing.

    Raises:
        ConfigError: a house schema is broken.
    """
    selection = selection or Selection(options)
    outcomes = _ask_platforms(document, options)
    checked, unnamed = _check(document, options)
    found, separate = _join_refusals([*document.notes, *checked], outcomes, options, selection, unnamed)
    found = _drop_newcomers(found, selection)
    found = _blame_newcomers(found, document.data, selection)
    wanted = selection.of(found, document.data)
    wanted = without_ignored(wanted, document, selection, partial(_sought, options))
    wanted = folded(graded(wanted, options))
    left_out = max(0, len(folded(graded(found, options))) - separate - len(wanted))
    placed = tuple(_located(wanted, document))
    verdicts = {platform: _verdict(outcome) for platform, outcome in outcomes.items()}
    name, data, read_as = document.name, document.data, document.read_as
    return Judgement(name, placed, verdicts, left_out, data, outcomes=outcomes, read_as=read_as)


def _ask_platforms(document: Document, options: ValidationOptions) -> dict[Platform, Outcome]:
    asked = options.platforms if options.errors_alone else tuple(Platform)
    judged = (judge_all if options.literal else judge_template)(document.data, asked)
    return {platform: outcome.redacted for platform, outcome in judged.items()}


def _sought(options: ValidationOptions, rules: frozenset[str]) -> bool:
    """Whether one catalog by itself is looked through for any of `rules`; of a rule that is none, too."""
    return not rules or any(
        is_wanted(RULES[rule], options)
        for rule in rules
        if not rule.startswith(SHARED) and (rule != "house-schema" or options.house_schemas)
    )


def graded(findings: list[Finding], options: ValidationOptions) -> list[Finding]:
    """The findings with the severities that the configuration gives their rules."""
    severity = dict(options.severity)
    if not severity:
        return findings
    return [f._replace(severity=severity[f.rule]) if f.rule in severity else f for f in findings]


def unreadable(name: str, findings: tuple[Finding, ...]) -> Judgement:
    """The judgement of a source that cannot be opened or read; `findings` say why."""
    return Judgement(name, findings, dict.fromkeys(Platform, Verdict(VerdictKind.UNREADABLE)))


def _check(document: Document, options: ValidationOptions) -> tuple[list[Finding], set[Path]]:
    """What the schemas and the rules say; nothing of places that the notes have spoken of as missing already.

    And the places of errors of the schema that were too many to be named.
    """
    reported = {note.path for note in document.notes if note.severity is Severity.ERROR}
    found, left_out = check_schema(document.data, options.api_version, options.max_schema_findings)
    found += run_rules(document.data, options)
    for name, schema in options.house_schemas:
        from osbctl.validation.house import check_house_schema  # loads jsonschema

        found += check_house_schema(document.data, schema, name)
    found = [finding for finding in found if not (finding.rule == "schema-required" and finding.path in reported)]
    unknown = placeholders(document.data) if found and not options.literal else {}
    return [one for one in found if one.path not in unknown or one.rule == "placeholder-unresolved"], left_out


def _join_refusals(
    findings: list[Finding],
    outcomes: Mapping[Platform, Outcome],
    options: ValidationOptions,
    selection: Selection,
    unnamed: Container[Path],
) -> tuple[list[Finding], int]:
    """Join each refusal to the finding of a fault at its place, or let it stand alone; not at places `unnamed`.

    One whose rule was selected stands alone, too, where the finding that it would join was not: the number of those.
    Why the verdict of a platform that counts is unclear is a warning, unless a finding of its rule is there.
    """
    findings = list(findings)
    faults = _faults_by_place(findings, selection)
    separate = 0
    for platform, outcome in outcomes.items():
        counts = platform in options.platforms
        if counts:
            findings += _doubts(platform, outcome, findings)
        for refusal in outcome.refusals:
            at = faults.get(refusal.path)
            hidden = refusal.path in unnamed if at is None else not selection.picks(findings[at].rule)
            if at is not None:
                findings[at] = _joined(findings[at], platform, refusal.message, bool(outcome.messages), counts)
            is_separate = hidden and options.select is not None and selection.picks(refusal.rule)
            if is_separate or (at is None and not hidden):
                severity = Severity.ERROR if counts else Severity.WARNING
                lone = Finding(refusal.rule, severity, refusal.message, refusal.path, refused_by=(platform,))
                findings.append(lone)
                separate += is_separate
    return findings, separate


def _faults_by_place(findings: list[Finding], selection: Selection) -> dict[Path, int]:
    """The first finding at each place that refusals there join; one of a rule that was selected before others."""
    places: dict[Path, int] = {}
    for index, finding in enumerate(findings):
        if finding.severity is Severity.ERROR or finding.rule.startswith("schema-"):
            first = places.setdefault(finding.path, index)
            if selection.picks(finding.rule) and not selection.picks(findings[first].rule):
                places[finding.path] = index
    return places


def _doubts(platform: Platform, outcome: Outcome, findings: list[Finding]) -> list[Finding]:
    known = {(finding.rule, finding.path) for finding in findings if outcome.doubts}
    why = f"the verdict of {platform.label} is unclear"
    doubts = [doubt for doubt in outcome.doubts if (doubt.rule, doubt.path) not in known]
    return [Finding(doubt.rule, Severity.WARNING, f"{why}: {doubt.message}", doubt.path) for doubt in doubts]


def _drop_newcomers(findings: list[Finding], selection: Selection) -> list[Finding]:
    """The findings without those that call a field too new which another one calls wrong, or something in it.

    Where only the first was selected, it stays.
    """
    is_selected = selection.picks("field-too-new")
    wrong = {
        finding.path[:depth]
        for finding in findings
        if finding.rule.startswith("schema-") or finding.refused_by or finding.severity is Severity.ERROR
        if selection.picks(finding.rule) or not is_selected
        for depth in range(len(finding.path) + 1)
    }
    return [finding for finding in findings if finding.rule != "field-too-new" or finding.path not in wrong]


def _joined(finding: Finding, platform: Platform, words: str, own_words: bool, counts: bool) -> Finding:
    """The finding with what a platform says; an error where the platform counts."""
    refused_by = finding.refused_by if platform in finding.refused_by else (*finding.refused_by, platform)
    messages = finding.platform_messages
    if own_words and words not in messages:
        messages = (*messages, words)
    severity = Severity.ERROR if counts else finding.severity
    return finding._replace(refused_by=refused_by, platform_messages=messages, severity=severity)


def _blame_newcomers(findings: list[Finding], data: dict[str, Any], selection: Selection) -> list[Finding]:
    """Where catalog.lock knows which of two things with one id came later, all that is said of it is said there.

    Unless what is said there was not selected, and the other was.
    """
    if selection.picks("id-duplicate") and not selection.picks("build-id-reused"):
        return findings
    newcomers = {value_at(data, one.path): n for n, one in enumerate(findings) if one.rule == "build-id-reused"}
    doubles = [f for f in findings if newcomers and f.rule == "id-duplicate" and value_at(data, f.path) in newcomers]
    merged = list(findings)
    for double in doubles:
        index = newcomers[value_at(data, double.path)]
        platforms = dict.fromkeys((*merged[index].refused_by, *double.refused_by))
        words = dict.fromkeys((*merged[index].platform_messages, *double.platform_messages))
        merged[index] = merged[index]._replace(refused_by=tuple(platforms), platform_messages=tuple(words))
    return [finding for finding in merged if finding not in doubles]


def _verdict(outcome: Outcome) -> Verdict:
    more = f", and {len(outcome.doubts) - 1:,} more" if len(outcome.doubts) > 1 else ""
    why = "".join(f"{doubt.message} at {pointer(doubt.path)}{more}" for doubt in outcome.doubts[:1])
    return Verdict(outcome.kind, outcome.messages, len(outcome.refusals), why)


def _located(findings: Iterable[Finding], document: Document) -> list[Finding]:
    findings = list(findings)
    paths = {path for f in findings if f.location is None for path in (f.path, f.earlier) if path is not None}
    places = document.locate(paths) if paths else {}
    located = [f if f.location else _placed(f, places) for f in findings]
    return sorted(once_a_text(located), key=reading_order)


def _placed(finding: Finding, places: Mapping[Path, Location]) -> Finding:
    """The finding at its place, and in its message the line of the earlier one that it speaks of."""
    here = places[finding.path]
    if finding.earlier is None:
        return finding._replace(location=here)
    there = places[finding.earlier]
    line = f"line {there.line}" if there.source == here.source else f"{there.source}:{there.line}"
    return finding._replace(location=here, message=f"{finding.message} ({line})")


def reading_order(finding: Finding) -> tuple[str, int, int, int, str, str]:
    """What sorts located findings as a reader of the document meets them."""
    place = finding.location
    where = (place.source, place.line, place.column) if place else ("", 0, 0)
    return (*where, -finding.severity.rank, finding.rule, finding.message)
