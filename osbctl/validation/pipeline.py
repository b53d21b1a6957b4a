"""The stages of a validation, from a document to its findings and verdicts.

A fault is reported once: the words of a platform that refuses a fault of the specification join that finding. A refusal
of something that the specification allows is a finding of its own.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from osbctl.catalog import parameter_holders
from osbctl.fields import LATEST, load_schema
from osbctl.findings import Finding, Quote, Severity, ValidationResult, Verdict
from osbctl.jsonschemas.dialects import make_fast_validator
from osbctl.messages import Message, Sentence, Value
from osbctl.paths import BY_NAME, LITERALS, JsonPath, JsonValue, get_at, pointer
from osbctl.placeholders import fill_placeholders, find_placeholders
from osbctl.platforms import ApiVersion, Platform
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, judge_all, limit_refusals
from osbctl.rule import RULES, Rule, rule_of
from osbctl.sources.document import Document
from osbctl.validation.checks import CATALOG_CHECKS, SCHEMA_CHECKS, CatalogNode, ParameterSchema, load_rules
from osbctl.validation.grouping import (
    apply_severities,
    drop_known_findings,
    group_findings,
    identify_findings,
    locate_and_sort,
)
from osbctl.validation.options import (
    ValidationOptions,
    check_comments,
    drop_ignored_findings,
    find_comments,
    select_findings,
)

_Checked = TypeVar("_Checked", CatalogNode, ParameterSchema)

_SCHEMA_DEPTH = 8
"""Length of the path of a parameter schema: services, 0, plans, 0, schemas, service_instance, create, parameters."""


def validate_document(document: Document, options: ValidationOptions) -> ValidationResult:
    """Validate a catalog: schema, rules and verdicts of platforms. Raises ConfigError: a user schema is invalid."""
    options = options._replace(literal=options.literal or document.syntax == "brokerpak")  # its broker sends `${…}`
    outcomes = (judge_all if options.literal else judge_template)(document.data, options.judged)
    comments = find_comments(document, options.user_rules)
    found = _join_refusals(*_collect_findings(document, options), outcomes, options)
    found = apply_severities([*found, *check_comments(comments, options.user_rules)], options)
    selected = drop_ignored_findings(select_findings(found, document.data, options), document, comments)
    identified = identify_findings(selected, document.data)
    new, known = drop_known_findings(identified, options.known)
    hidden = [*set(found).difference(selected), *set(identified).difference(new)]
    return ValidationResult(
        document.name,
        tuple(_hide_secret_line(finding, document) for finding in locate_and_sort(group_findings(new), document)),
        {platform: _verdict_from_outcome(outcome) for platform, outcome in outcomes.items()},
        len(group_findings(hidden)),
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
    refused_paths = {path for refusal in original.refusals for path in _prefixes(refusal.path)}
    decisive = [path for path in unresolved if path in refused_paths] or unresolved
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
    found += run_rules(document.data, options, document.syntax)
    for name, schema in options.user_schemas:
        from osbctl.validation.user_schema import check_user_schema  # loads jsonschema-rs

        found += check_user_schema(document.data, schema, name)
    in_source = {note.path for note in document.notes if note.severity is Severity.ERROR}
    unresolved = find_placeholders(document.data) if found and not options.literal else {}

    def is_reported(finding: Finding) -> bool:
        rule = rule_of(finding)
        if (rule.skips_brokerpaks and document.syntax == "brokerpak") or (
            rule.yields_to_sources and finding.path in in_source
        ):
            return False
        return rule.on_placeholders or finding.path not in unresolved

    notes = [note.of_platforms(options.judged) for note in document.notes]
    return [*notes, *filter(is_reported, found)], omitted_paths


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


def run_rules(data: dict[str, Any], options: ValidationOptions, syntax: str = "") -> list[Finding]:
    """Run the rules on the catalog `data`; they skip values of the wrong type, which the schema reports.

    `syntax` is as in `Document`.
    """
    catalog = CatalogNode(data, options.api_version, options.spoken_version, syntax)
    load_rules()
    return _run_checks(CATALOG_CHECKS, catalog, options) + _check_parameter_schemas(catalog, options)


def _run_checks(
    checks: Mapping[str, Callable[[_Checked], Iterator[Finding]]], checked: _Checked, options: ValidationOptions
) -> list[Finding]:
    return [
        finding._replace(rule=id_, severity=RULES[id_].severity)
        for id_, check in checks.items()
        if _is_enabled(RULES[id_], options)
        for finding in check(checked)
    ]


def _is_enabled(rule: Rule, options: ValidationOptions) -> bool:
    """Return whether `rule` is checked with these options."""
    if options.errors_only and rule.severity is not Severity.ERROR:
        return False
    about = rule.only_for or rule.about
    if about and options.platforms:
        return about in options.platforms
    return rule.only_for is None or rule.id in (options.select or ())


def _check_parameter_schemas(catalog: CatalogNode, options: ValidationOptions) -> list[Finding]:
    """Check once the parameter schemas that are the same to all checks; report each occurrence."""
    from osbctl.validation.rules.parameters import MAX_BYTES  # rules are loaded when the first catalog is checked

    found: list[Finding] = []
    known: dict[tuple[str, int], list[Finding]] = {}
    for plan in catalog.plans:
        for holder_path, holder in parameter_holders(plan.value):
            schema = holder["parameters"]
            # No rule reads titles and descriptions, which plans often have of their own; but they count for the size.
            content = json.dumps(_copy_without_titles(schema)), max(len(json.dumps(schema)), MAX_BYTES)
            if content not in known:
                known[content] = _run_checks(SCHEMA_CHECKS, ParameterSchema(schema), options)
            path = (*plan.path, "schemas", *holder_path, "parameters")
            found += [_prefix_paths(path, finding) for finding in known[content]]
    return found


def _copy_without_titles(schema: JsonValue) -> JsonValue:
    """The schema with empty titles and descriptions."""
    if isinstance(schema, list):
        return [_copy_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copy: dict[str, JsonValue] = {}
    for key, value in schema.items():
        if key in ("title", "description") and isinstance(value, str):
            copy[key] = ""
        elif key in BY_NAME and isinstance(value, dict):
            copy[key] = {name: _copy_without_titles(inner) for name, inner in value.items()}
        else:
            copy[key] = value if key in LITERALS else _copy_without_titles(value)
    return copy


def _prefix_paths(parent_path: JsonPath, finding: Finding) -> Finding:
    """The finding with its paths, and those of its fixes, put below `parent_path`."""
    fixes = tuple(fix._replace(path=(*parent_path, *fix.path)) for fix in finding.fixes)
    return finding._replace(path=(*parent_path, *finding.path), fixes=fixes)


def _join_refusals(
    findings: list[Finding],
    omitted_paths: set[JsonPath],
    outcomes: Mapping[Platform, Outcome],
    options: ValidationOptions,
) -> list[Finding]:
    """Join each refusal to the first fault at its path, or make it a finding: an error if the platform is chosen.

    It joins no fault that is not selected if its own rule is. At `omitted_paths` (of faults beyond the limit) it is a
    finding only if its rule was selected. The reason why the verdict of a chosen platform is unclear is a warning.
    """
    joined = list(findings)
    faults = _fault_indexes_by_path(findings, options)
    for platform, outcome in outcomes.items():
        is_chosen = platform in options.platforms
        if is_chosen:
            joined += _unclear_verdict_findings(platform, outcome, joined)
        for refusal in outcome.refusals:
            at = _find_fault_index(refusal.path, faults, findings)
            is_wanted = refusal.rule in (options.select or ())
            if at is not None and not (is_wanted and not options.selects(findings[at].rule)):
                joined[at] = _join_refusal(joined[at], platform, refusal.sentence, bool(outcome.lines), is_chosen)
            elif is_wanted or refusal.path not in omitted_paths:
                severity = Severity.ERROR if is_chosen else Severity.WARNING
                reaction = "crashes" if refusal.crashes else ""
                finding = Finding(refusal.rule, severity, refusal.sentence, refusal.path, hint=refusal.hint)
                joined.append(finding._replace(refused_by=(platform,), reaction=reaction))
    return _drop_beside_faults(joined, options)


def _is_fault(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR or rule_of(finding).is_schema_fault


def _fault_indexes_by_path(findings: list[Finding], options: ValidationOptions) -> dict[JsonPath, int]:
    """Index of the first error or schema fault at each path; a selected one comes first."""
    last_first = [(index, finding) for index, finding in enumerate(findings) if _is_fault(finding)][::-1]
    last_first.sort(key=lambda fault: options.selects(fault[1].rule))
    return {finding.path: index for index, finding in last_first}


def _find_fault_index(path: JsonPath, faults: Mapping[JsonPath, int], findings: list[Finding]) -> int | None:
    """The index of the fault at `path`, else of one of the value around it that covers what is inside."""
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


def _drop_beside_faults(findings: list[Finding], options: ValidationOptions) -> list[Finding]:
    """The findings without those that yield to a selected error, schema fault or refusal at or below their path."""
    faults = (fault for fault in findings if options.selects(fault.rule) and (_is_fault(fault) or fault.refused_by))
    with_ancestors = {fault.path[:depth] for fault in faults for depth in range(len(fault.path) + 1)}
    return [
        finding for finding in findings if not rule_of(finding).yields_to_faults or finding.path not in with_ancestors
    ]
