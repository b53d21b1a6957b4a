"""Refusals of platforms among the findings: each joins the fault that it is about, or is a finding of its own."""

from collections.abc import Container, Mapping
from typing import NamedTuple

from osbctl.findings import Finding, Quote, Severity
from osbctl.messages import Message, Sentence
from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.verdict import Outcome
from osbctl.rule import rule_of
from osbctl.validation.options import ValidationOptions


class JoinedFindings(NamedTuple):
    """Findings of selected rules, and of `others`, once refusals have joined them.

    `refusals_at_hidden_paths` counts the findings for refusals that would have joined one of `others`.
    """

    selected: list[Finding]
    others: list[Finding]
    refusals_at_hidden_paths: int


def select_and_join(
    findings: list[Finding],
    omitted_paths: set[JsonPath],
    outcomes: Mapping[Platform, Outcome],
    options: ValidationOptions,
) -> JoinedFindings:
    """Split findings by the selection of rules, and join the refusals of platforms to the selected ones."""
    selected, others = _split_by_selection(findings, options)
    hidden_paths = omitted_paths.union(finding.path for finding in filter(_is_error_or_schema_fault, others))
    joined, unjoined = _join_refusals(selected, others, outcomes, options, hidden_paths)
    selected_unjoined, other_unjoined = _split_by_selection(unjoined, options)
    return JoinedFindings(
        _drop_too_new_beside_faults([*joined, *selected_unjoined], [*joined, *unjoined]),
        _drop_too_new_beside_faults([*others, *other_unjoined], [*others, *joined, *unjoined]),
        sum(finding.path in hidden_paths for finding in unjoined if finding.refused_by),
    )


def _split_by_selection(findings: list[Finding], options: ValidationOptions) -> tuple[list[Finding], list[Finding]]:
    if options.select is None:
        return findings, []
    selected = [finding for finding in findings if finding.rule in options.select]
    return selected, [finding for finding in findings if finding.rule not in options.select]


def _is_error_or_schema_fault(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR or rule_of(finding).is_schema_fault


def _join_refusals(
    findings: list[Finding],
    others: list[Finding],
    outcomes: Mapping[Platform, Outcome],
    options: ValidationOptions,
    hidden_paths: Container[JsonPath],
) -> tuple[list[Finding], list[Finding]]:
    """Join each refusal to the first fault at its path, or make it a finding: an error if the platform is chosen.

    Returns the findings with their refusals, and the new findings. A refusal below a value of the wrong type joins the
    fault of that value. At `hidden_paths` (of faults without finding), a refusal is a finding only if its rule was
    selected. The reason why the verdict of a chosen platform is unclear is a warning, unless there is a finding of its
    rule, also among `others`, which are not selected.
    """
    joined, new = list(findings), list[Finding]()
    faults = _fault_indexes_by_path(findings)
    for platform, outcome in outcomes.items():
        is_chosen = platform in options.platforms
        if is_chosen and outcome.doubts:
            new += _unclear_verdict_findings(platform, outcome, [*joined, *others, *new])
        for refusal in outcome.refusals:
            at = _find_fault_index(refusal.path, faults, findings)
            if at is not None:
                joined[at] = _join_refusal(joined[at], platform, refusal.sentence, bool(outcome.lines), is_chosen)
            elif refusal.path not in hidden_paths or refusal.rule in (options.select or ()):
                severity = Severity.ERROR if is_chosen else Severity.WARNING
                rule, path, message, hint = refusal
                new.append(Finding(rule, severity, message, path, hint=hint, refused_by=(platform,)))
    return joined, new


def _fault_indexes_by_path(findings: list[Finding]) -> dict[JsonPath, int]:
    """Index of the first error or schema fault at each path."""
    indexed = reversed([*enumerate(findings)])
    return {finding.path: index for index, finding in indexed if _is_error_or_schema_fault(finding)}


def _find_fault_index(path: JsonPath, faults: Mapping[JsonPath, int], findings: list[Finding]) -> int | None:
    """The index of the first fault at `path`, else of the wrong type of the value around it."""
    around = faults.get(path[:-1])
    covers = around is not None and rule_of(findings[around]).covers_inside
    return faults.get(path, around if covers else None)


def _unclear_verdict_findings(platform: Platform, outcome: Outcome, findings: list[Finding]) -> list[Finding]:
    """Warnings for the doubts of an unclear verdict, except those that a finding reports already."""
    known = {(finding.rule, finding.path) for finding in findings}
    why = f"the verdict of {platform.label} is unclear"
    doubts = [doubt for doubt in outcome.doubts if (doubt.rule, doubt.path) not in known]
    return [
        Finding(doubt.rule, Severity.WARNING, Message("{}: {}", why, doubt.sentence), doubt.path) for doubt in doubts
    ]


def _join_refusal(
    finding: Finding, platform: Platform, sentence: Sentence, is_own_message: bool, is_chosen: bool
) -> Finding:
    """The finding with the refusal of a platform; an error if the platform is chosen."""
    refused_by = finding.refused_by if platform in finding.refused_by else (*finding.refused_by, platform)
    quote = Quote(platform, sentence)
    quotes = (*finding.quotes, quote) if is_own_message and quote not in finding.quotes else finding.quotes
    severity = Severity.ERROR if is_chosen else finding.severity
    return finding._replace(refused_by=refused_by, quotes=quotes, severity=severity)


def _drop_too_new_beside_faults(findings: list[Finding], faults: list[Finding]) -> list[Finding]:
    """The findings without those that yield to an error, a schema fault or a refusal in `faults` at or below them."""
    fault_paths = [fault.path for fault in faults if _is_error_or_schema_fault(fault) or fault.refused_by]
    with_ancestors = {path[:depth] for path in fault_paths for depth in range(len(path) + 1)}
    return [
        finding for finding in findings if not rule_of(finding).yields_to_faults or finding.path not in with_ancestors
    ]
