"""The stages of a validation, from a document to its findings and verdicts.

A fault is reported once: the words of a platform that refuses a fault of the specification join that finding. A refusal
of something that the specification allows is a finding of its own.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from osbctl.fields import LATEST, known_fields, load_schema
from osbctl.findings import Finding, Severity, ValidationResult, Verdict
from osbctl.jsonschemas.dialects import make_fast_validator
from osbctl.messages import Message, Value
from osbctl.paths import LITERALS, JsonPath, get_at, pointer
from osbctl.placeholders import fill_placeholders, find_placeholders
from osbctl.platforms import ApiVersion, Platform
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, judge_all, limit_refusals
from osbctl.rule import rule_of
from osbctl.sources.document import Document
from osbctl.validation.grouping import (
    apply_severities,
    drop_known_findings,
    group_findings,
    identify_findings,
    locate_and_sort,
)
from osbctl.validation.ignore_comments import check_comments, drop_ignored_findings, find_comments
from osbctl.validation.options import ValidationOptions, select_findings
from osbctl.validation.refusals import JoinedFindings, select_and_join
from osbctl.validation.run_rules import run_rules

_SCHEMA_DEPTH = 8
"""Length of the path of a parameter schema: services, 0, plans, 0, schemas, service_instance, create, parameters."""


def validate_document(document: Document, options: ValidationOptions) -> ValidationResult:
    """Validate a catalog: schema, rules and verdicts of platforms. Raises ConfigError: a user schema is invalid."""
    options = options._replace(literal=options.literal or document.syntax == "brokerpak")  # its broker sends `${…}`
    outcomes = _judge_on_platforms(document, options)
    found, omitted_paths = _collect_findings(document, options)
    joined = select_and_join(found, omitted_paths, outcomes, options)
    kept = _drop_ignored(joined.selected, document, options)
    identified = identify_findings(apply_severities(kept, options), document.data)
    findings = group_findings(identified)
    left_out = _count_left_out(joined, findings, options)
    new, known = drop_known_findings(identified, options.known)
    if known:
        left_out += len(findings) - len(findings := group_findings(new))
    return ValidationResult(
        document.name,
        tuple(_hide_secret_line(finding, document) for finding in locate_and_sort(findings, document)),
        {platform: _verdict_from_outcome(outcome) for platform, outcome in outcomes.items()},
        left_out,
        document.data,
        outcomes=outcomes,
        read_as=document.read_as,
        known=known,
        user_rules=options.user_rules,
    )


def _hide_secret_line(finding: Finding, document: Document) -> Finding:
    """The finding without the text of its line, if a parameter with a secret name refers to the literal there."""
    schema_path, below = finding.path[:_SCHEMA_DEPTH], finding.path[_SCHEMA_DEPTH:]
    if finding.location is None or LITERALS.isdisjoint(below):
        return finding
    from osbctl.jsonschemas.secrets import is_at_or_below, secret_ref_targets  # few findings need it

    if is_at_or_below(below, secret_ref_targets(get_at(document.data, schema_path))):
        finding = finding._replace(location=finding.location._replace(excerpt=""))
    return finding


def unreadable_result(
    name: str, findings: tuple[Finding, ...], platforms: Collection[Platform] = tuple(Platform)
) -> ValidationResult:
    """The result for a source that cannot be read; `findings` are the reasons, `platforms` have no verdict on it."""
    return ValidationResult(name, findings, dict.fromkeys(platforms, Verdict(VerdictKind.UNREADABLE)))


def _judge_on_platforms(document: Document, options: ValidationOptions) -> dict[Platform, Outcome]:
    return (judge_all if options.literal else judge_template)(document.data, options.judged)


def judge_template(data: dict[str, Any], platforms: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """Verdicts of `platforms` on the catalog `data` once its placeholders are replaced.

    A platform refuses it for errors that no value of a placeholder repairs. Without such errors, and without acceptance
    of the catalog as written, its verdict is unclear.
    """
    outcomes = judge_all(data, platforms)
    not_accepting = [platform for platform, outcome in outcomes.items() if outcome.kind is not VerdictKind.ACCEPTS]
    unresolved = find_placeholders(data) if not_accepting else {}
    if not unresolved:
        return outcomes
    rendered = judge_all(fill_placeholders(data, unresolved), not_accepting)
    return outcomes | {each: _template_outcome(unresolved, outcomes[each], rendered[each]) for each in not_accepting}


def _template_outcome(unresolved: Mapping[JsonPath, str], original: Outcome, rendered: Outcome) -> Outcome:
    """The outcome of a template with `unresolved` placeholders, from those before and after they are replaced."""
    refusals = tuple(refusal for refusal in rendered.refusals if unresolved.keys().isdisjoint(_prefixes(refusal.path)))
    if refusals:
        return rendered._replace(refusals=refusals)
    met = {path for refusal in original.refusals for path in _prefixes(refusal.path)}
    decisive = [path for path in unresolved if path in met] or unresolved
    doubts = (
        Refusal("placeholder-unresolved", path, Message("it depends on {}", Value(unresolved[path], limit=40)))
        for path in decisive
    )
    return Outcome(VerdictKind.UNCLEAR, doubts=limit_refusals(doubts))


def _prefixes(path: JsonPath) -> list[JsonPath]:
    """The paths of the value at `path` and of all that it stands in."""
    return [path[:end] for end in range(1, len(path) + 1)]


def _verdict_from_outcome(outcome: Outcome) -> Verdict:
    more = f", and {len(outcome.doubts) - 1:,} more" if len(outcome.doubts) > 1 else ""
    why = "".join(f"{doubt.message} at {pointer(doubt.path)}{more}" for doubt in outcome.doubts[:1])
    return Verdict(outcome.kind, outcome.messages, len(outcome.refusals), why)


def _collect_findings(document: Document, options: ValidationOptions) -> tuple[list[Finding], set[JsonPath]]:
    """Findings of reading, schemas and rules; and the paths of schema errors beyond the limit."""
    found, omitted_paths = schema_findings(document.data, options.api_version)
    found += run_rules(document.data, options)
    for name, schema in options.user_schemas:
        from osbctl.validation.user_schema import check_user_schema  # loads jsonschema-rs

        found += check_user_schema(document.data, schema, name)
    reported = {note.path for note in document.notes if note.severity is Severity.ERROR}
    found = [finding for finding in found if not rule_of(finding).yields_to_sources or finding.path not in reported]
    notes = [note.of_platforms(options.judged) for note in document.notes]
    return [*notes, *_drop_template_findings(found, document, options)], omitted_paths


def _drop_template_findings(findings: list[Finding], document: Document, options: ValidationOptions) -> list[Finding]:
    """The findings without those on values that a template, or the broker of a brokerpak, will replace."""
    if document.syntax == "brokerpak":  # its broker sends nulls and `${…}` by itself
        return [finding for finding in findings if not rule_of(finding).skips_brokerpaks]
    if document.syntax == "yaml":  # a broker in Go may read it with structs
        findings = [one for one in findings if one.rule != "field-near-miss" or one.path[-1] not in _go_spellings()]
    unknown = find_placeholders(document.data) if findings and not options.literal else {}
    return [finding for finding in findings if finding.path not in unknown or rule_of(finding).on_placeholders]


@cache
def _go_spellings() -> frozenset[str]:
    """Fields as yaml.v2 reads them into structs of Go without tags: the name of the Go field in lower case."""
    kinds = ("service", "plan", "dashboard_client", "maintenance_info")
    fields = [name.replace("_", "") for kind in kinds for name in known_fields(kind) if "_" in name]
    return frozenset((*fields, "planupdatable"))


def schema_findings(data: dict[str, Any], api_version: ApiVersion) -> tuple[list[Finding], set[JsonPath]]:
    """Validate `data` against the newest catalog schema; also return the locations of omitted errors.

    Faults in fields that are newer than `api_version` are warnings: platforms with a newer version read them. At most
    `MAX_FINDINGS` errors and as many warnings are reported.
    """
    if _latest_schema_validator()(data):
        return [], set()
    from osbctl.validation.schema_errors import explain_schema_errors

    return explain_schema_errors(data, api_version)


@cache
def _latest_schema_validator() -> Callable[[Any], bool]:
    return make_fast_validator(load_schema(LATEST))


def _drop_ignored(findings: list[Finding], document: Document, options: ValidationOptions) -> list[Finding]:
    """The findings that neither options nor comments ignore, and those about comments themselves."""
    comments = find_comments(document, options.user_rules)
    kept = drop_ignored_findings(select_findings(findings, document.data, options), document, comments)
    return kept + select_findings(check_comments(comments, options.user_rules), document.data, options)


def _count_left_out(joined: JoinedFindings, findings: list[Finding], options: ValidationOptions) -> int:
    """The number of findings, grouped as in a report, beyond the reported `findings`: not selected, or ignored."""
    reported = sum(finding.rule != "ignore-unknown" for finding in findings)  # those about comments came later
    grouped = group_findings(apply_severities([*joined.others, *joined.selected], options))
    return max(0, len(grouped) - joined.refusals_at_hidden_paths - reported)
