"""The stages of a validation, from a document to its findings and verdicts.

A fault is reported once: the words of a platform that refuses a fault of the specification join that finding. A refusal
of something that the specification allows is a finding of its own.
"""

import json
from collections.abc import Callable, Collection, Container, Mapping
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from osbctl.catalog import parameter_holders
from osbctl.fields import LATEST, load_schema
from osbctl.findings import MAX_OTHER_LOCATIONS, Finding, Location, Severity, ValidationResult, Verdict
from osbctl.jsonschemas.dialects import make_fast_validator
from osbctl.jsonschemas.walk import text_without_titles
from osbctl.paths import Path, pointer
from osbctl.placeholders import fill_placeholders, find_placeholders
from osbctl.platforms import ApiVersion, Platform, judge_all
from osbctl.platforms.outcome import Outcome, Refusal, VerdictKind, limit_refusals
from osbctl.rule import Rule
from osbctl.sources.document import Document
from osbctl.text import plural
from osbctl.validation.ignore_comments import check_comments, drop_ignored_findings, find_comments
from osbctl.validation.node import CatalogNode, Node
from osbctl.validation.options import Selection, ValidationOptions
from osbctl.validation.rules import PARAMETERS, load_rules_with_checks


def validate_document(document: Document, options: ValidationOptions) -> ValidationResult:
    """Validate a catalog: schema, rules and verdicts of platforms. Raises ConfigError: a user schema is invalid."""
    options = options._replace(literal=options.literal or document.syntax == "brokerpak")  # its broker sends `${…}`
    outcomes = _judge_on_platforms(document, options)
    found, omitted_paths = _collect_findings(document, options)
    joined = _select_and_join(found, omitted_paths, outcomes, options)
    kept = _drop_ignored(joined.selected, document, options)
    findings = _group_findings(apply_severities(kept, options))
    left_out = _count_left_out(joined, findings, options)
    verdicts = {platform: _verdict_from_outcome(outcome) for platform, outcome in outcomes.items()}
    located = tuple(_locate_and_sort(findings, document))
    data, read_as = document.data, document.read_as
    return ValidationResult(document.name, located, verdicts, left_out, data, outcomes=outcomes, read_as=read_as)


def unreadable_result(name: str, findings: tuple[Finding, ...]) -> ValidationResult:
    """The result for a source that cannot be read; `findings` are the reasons."""
    return ValidationResult(name, findings, dict.fromkeys(Platform, Verdict(VerdictKind.UNREADABLE)))


def _judge_on_platforms(document: Document, options: ValidationOptions) -> dict[Platform, Outcome]:
    """Decisions of all platforms, or of the chosen ones with `errors_only`, without secrets."""
    platforms = options.platforms if options.errors_only else tuple(Platform)
    judge = judge_all if options.literal else judge_template
    return {platform: outcome.redacted for platform, outcome in judge(document.data, platforms).items()}


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


def _template_outcome(unresolved: Mapping[Path, str], original: Outcome, rendered: Outcome) -> Outcome:
    """The outcome of a template with `unresolved` placeholders, from those before and after they are replaced."""
    refusals = tuple(refusal for refusal in rendered.refusals if unresolved.keys().isdisjoint(_prefixes(refusal.path)))
    if refusals:
        return rendered._replace(refusals=refusals)
    met = {path for refusal in original.refusals for path in _prefixes(refusal.path)}
    decisive = [path for path in unresolved if path in met] or unresolved
    doubts = (Refusal("placeholder-unresolved", path, f"it depends on {unresolved[path][:40]!r}") for path in decisive)
    return Outcome(VerdictKind.UNCLEAR, doubts=limit_refusals(doubts))


def _prefixes(path: Path) -> list[Path]:
    """The paths of the value at `path` and of all that it stands in."""
    return [path[:end] for end in range(1, len(path) + 1)]


def _verdict_from_outcome(outcome: Outcome) -> Verdict:
    more = f", and {len(outcome.doubts) - 1:,} more" if len(outcome.doubts) > 1 else ""
    why = "".join(f"{doubt.message} at {pointer(doubt.path)}{more}" for doubt in outcome.doubts[:1])
    return Verdict(outcome.kind, outcome.messages, len(outcome.refusals), why)


def _collect_findings(document: Document, options: ValidationOptions) -> tuple[list[Finding], set[Path]]:
    """Findings of reading, schemas and rules; and the paths of schema errors beyond the limit."""
    found, omitted_paths = schema_findings(document.data, options.api_version)
    found += run_rules(document.data, options)
    for name, schema in options.user_schemas:
        from osbctl.validation.user_schema import check_user_schema  # loads jsonschema-rs

        found += check_user_schema(document.data, schema, name)
    reported = {note.path for note in document.notes if note.severity is Severity.ERROR}
    missing = ("schema-required", "schema-empty")
    found = [finding for finding in found if finding.rule not in missing or finding.path not in reported]
    return [*document.notes, *_drop_template_findings(found, document, options)], omitted_paths


def _drop_template_findings(findings: list[Finding], document: Document, options: ValidationOptions) -> list[Finding]:
    """The findings without those on values that a template, or the broker of a brokerpak, will replace."""
    if document.syntax == "brokerpak":  # its broker sends nulls and `${…}` by itself
        return [finding for finding in findings if finding.rule not in ("null-object", "placeholder-unresolved")]
    unknown = find_placeholders(document.data) if findings and not options.literal else {}
    return [finding for finding in findings if finding.path not in unknown or finding.rule == "placeholder-unresolved"]


def schema_findings(data: dict[str, Any], api_version: ApiVersion) -> tuple[list[Finding], set[Path]]:
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


def run_rules(data: dict[str, Any], options: ValidationOptions) -> list[Finding]:
    """Run the rules on the catalog `data`; they skip values of the wrong type, which the schema reports."""
    catalog = CatalogNode(data, options.api_version)
    catalog_rules, parameter_rules = list[Rule](), list[Rule]()
    for rule in load_rules_with_checks():
        if is_rule_enabled(rule, options):
            (parameter_rules if rule.id.startswith(PARAMETERS) else catalog_rules).append(rule)
    return _run_checks(catalog_rules, catalog) + _run_parameter_rules(parameter_rules, catalog)


def _run_parameter_rules(rules: list[Rule], catalog: CatalogNode) -> list[Finding]:
    """Run `rules` once on the parameter schemas that are the same to them; report each occurrence."""
    from osbctl.validation.rules.parameters import MAX_BYTES  # rules are loaded when the first catalog is checked

    found: list[Finding] = []
    known: dict[tuple[str, int], list[Finding]] = {}
    for plan in catalog.plans:
        for holder_path, holder in parameter_holders(plan.value):
            schema = holder["parameters"]
            # No rule reads titles and descriptions; but they count for the size of the whole.
            content = text_without_titles(schema), max(len(json.dumps(schema)), MAX_BYTES)
            if content not in known:
                known[content] = _run_checks(rules, Node(schema))
            path = (*plan.path, "schemas", *holder_path, "parameters")
            found += [_prefix_paths(path, finding) for finding in known[content]]
    return found


def _run_checks(rules: list[Rule], node: Node) -> list[Finding]:
    return [
        finding._replace(rule=rule.id, severity=rule.severity)
        for rule in rules
        for finding in (rule.check(node) if rule.check else ())
    ]


def _prefix_paths(parent_path: Path, finding: Finding) -> Finding:
    """The finding with its paths, and those of its fixes, put below `parent_path`."""
    fixes = tuple(fix._replace(path=(*parent_path, *fix.path)) for fix in finding.fixes)
    return finding._replace(path=(*parent_path, *finding.path), fixes=fixes)


def is_rule_enabled(rule: Rule, options: ValidationOptions) -> bool:
    """Return whether `rule` is checked with these options."""
    if options.errors_only and rule.severity is not Severity.ERROR:
        return False
    return rule.only_for is None or rule.only_for in options.platforms or rule.id in (options.select or ())


class _JoinedFindings(NamedTuple):
    """Findings of selected rules, and of `others`, once refusals have joined them.

    `refusals_at_hidden_paths` counts the findings for refusals that would have joined one of `others`.
    """

    selected: list[Finding]
    others: list[Finding]
    refusals_at_hidden_paths: int


def _select_and_join(
    findings: list[Finding], omitted_paths: set[Path], outcomes: Mapping[Platform, Outcome], options: ValidationOptions
) -> _JoinedFindings:
    """Split findings by the selection of rules, and join the refusals of platforms to the selected ones."""
    selected, others = _split_by_selection(findings, options)
    hidden_paths = omitted_paths.union(finding.path for finding in filter(_is_error_or_schema_fault, others))
    joined, unjoined = _join_refusals(selected, outcomes, options, hidden_paths)
    selected_unjoined, other_unjoined = _split_by_selection(unjoined, options)
    return _JoinedFindings(
        _drop_too_new_beside_faults([*joined, *selected_unjoined], [*joined, *unjoined]),
        _drop_too_new_beside_faults([*others, *other_unjoined], [*others, *joined, *unjoined]),
        sum(finding.path in hidden_paths for finding in unjoined if finding.refused_by),
    )


def _split_by_selection(findings: list[Finding], options: ValidationOptions) -> tuple[list[Finding], list[Finding]]:
    selection = Selection(options)
    selected = [finding for finding in findings if selection.is_selected(finding.rule)]
    return selected, [finding for finding in findings if not selection.is_selected(finding.rule)]


def _is_error_or_schema_fault(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR or finding.rule.startswith("schema-")


def _join_refusals(
    findings: list[Finding],
    outcomes: Mapping[Platform, Outcome],
    options: ValidationOptions,
    hidden_paths: Container[Path],
) -> tuple[list[Finding], list[Finding]]:
    """Join each refusal to the first fault at its path, or make it a finding: an error if the platform is chosen.

    Returns the findings with their refusals, and the new findings. A refusal below a value of the wrong type joins the
    fault of that value. At `hidden_paths` (of faults without finding), a refusal is a finding only if its rule was
    selected. The reason why the verdict of a chosen platform is unclear is a warning, unless there is a finding of its
    rule.
    """
    joined, new = list(findings), list[Finding]()
    faults = _fault_indexes_by_path(findings)
    for platform, outcome in outcomes.items():
        is_chosen = platform in options.platforms
        new += _unclear_verdict_findings(platform, outcome, [*joined, *new]) if is_chosen else ()
        for refusal in outcome.refusals:
            at = _find_fault_index(refusal.path, faults, findings)
            if at is not None:
                joined[at] = _join_refusal(joined[at], platform, refusal.message, bool(outcome.messages), is_chosen)
            elif refusal.path not in hidden_paths or refusal.rule in (options.select or ()):
                severity = Severity.ERROR if is_chosen else Severity.WARNING
                rule, path, message, hint = refusal
                new.append(Finding(rule, severity, message, path, hint=hint, refused_by=(platform,)))
    return joined, new


def _fault_indexes_by_path(findings: list[Finding]) -> dict[Path, int]:
    """Index of the first error or schema fault at each path."""
    indexed = reversed([*enumerate(findings)])
    return {finding.path: index for index, finding in indexed if _is_error_or_schema_fault(finding)}


def _find_fault_index(path: Path, faults: Mapping[Path, int], findings: list[Finding]) -> int | None:
    """The index of the first fault at `path`, else of the wrong type of the value around it."""
    around = faults.get(path[:-1])
    is_wrong_type = around is not None and findings[around].rule == "schema-type"
    return faults.get(path, around if is_wrong_type else None)


def _unclear_verdict_findings(platform: Platform, outcome: Outcome, findings: list[Finding]) -> list[Finding]:
    """Warnings for the doubts of an unclear verdict, except those that a finding reports already."""
    known = {(finding.rule, finding.path) for finding in findings if outcome.doubts}
    why = f"the verdict of {platform.label} is unclear"
    doubts = [doubt for doubt in outcome.doubts if (doubt.rule, doubt.path) not in known]
    return [Finding(doubt.rule, Severity.WARNING, f"{why}: {doubt.message}", doubt.path) for doubt in doubts]


def _join_refusal(finding: Finding, platform: Platform, message: str, is_own_message: bool, is_chosen: bool) -> Finding:
    """The finding with the refusal of a platform; an error if the platform is chosen."""
    refused_by = finding.refused_by if platform in finding.refused_by else (*finding.refused_by, platform)
    messages = finding.platform_messages
    if is_own_message and message not in messages:
        messages = (*messages, message)
    severity = Severity.ERROR if is_chosen else finding.severity
    return finding._replace(refused_by=refused_by, platform_messages=messages, severity=severity)


def _drop_too_new_beside_faults(findings: list[Finding], faults: list[Finding]) -> list[Finding]:
    """The findings without `field-too-new` at fields in which `faults` has an error, schema fault or refusal."""
    fault_paths = [fault.path for fault in faults if _is_error_or_schema_fault(fault) or fault.refused_by]
    with_ancestors = {path[:depth] for path in fault_paths for depth in range(len(path) + 1)}
    return [finding for finding in findings if finding.rule != "field-too-new" or finding.path not in with_ancestors]


def _drop_ignored(findings: list[Finding], document: Document, options: ValidationOptions) -> list[Finding]:
    """The findings that neither options nor comments ignore, and those about comments themselves."""
    selection, comments = Selection(options), find_comments(document)
    kept = drop_ignored_findings(selection.filter_findings(findings, document.data), document, comments)
    return kept + selection.filter_findings(check_comments(comments), document.data)


def _count_left_out(joined: _JoinedFindings, findings: list[Finding], options: ValidationOptions) -> int:
    """The number of findings, grouped as in a report, beyond the reported `findings`: not selected, or ignored."""
    reported = sum(finding.rule != "ignore-unknown" for finding in findings)  # those about comments came later
    grouped = _group_findings(apply_severities([*joined.others, *joined.selected], options))
    return max(0, len(grouped) - joined.refusals_at_hidden_paths - reported)


def apply_severities(findings: list[Finding], options: ValidationOptions) -> list[Finding]:
    """The findings with the configured severities of their rules."""
    severity = dict(options.severity)
    return [f._replace(severity=severity[f.rule]) if f.rule in severity else f for f in findings]


def _group_findings(findings: list[Finding]) -> list[Finding]:
    """Join findings of one rule with the same group text (`Finding.group_summary`) to the first of them."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.rule, finding.severity, finding.group_summary, finding.hint) if finding.group_summary else number
        groups.setdefault(key, []).append(finding)
    return [_merge_group(group, f"{len(group):,} {group[0].group_summary}") for group in groups.values()]


def _merge_group(group: list[Finding], message: str) -> Finding:
    """The first finding, with the paths of the others, and the fixes and platform messages of all."""
    first = group[0]
    if len(group) == 1:
        return first
    other_paths = (path for finding in group[1:] for path in (finding.path, *finding.other_paths))
    return first._replace(
        message=message,
        other_paths=(*first.other_paths, *other_paths),
        fixes=tuple(fix for finding in group for fix in finding.fixes),
        refused_by=tuple(dict.fromkeys(platform for finding in group for platform in finding.refused_by)),
        platform_messages=tuple(dict.fromkeys(text for finding in group for text in finding.platform_messages)),
    )


def _locate_and_sort(findings: list[Finding], document: Document) -> list[Finding]:
    """The findings with locations, in document order; those that aliases repeat are merged."""
    paths = {
        path
        for finding in findings
        if finding.location is None
        for path in (finding.path, finding.related_path, *finding.other_paths[:MAX_OTHER_LOCATIONS])
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
    return [_merge_group(group, f"{group[0].message} (an alias or a merge repeats it in {more})")]


def _set_location(finding: Finding, locations: Mapping[Path, Location]) -> Finding:
    """The finding with its locations, and with the line of the earlier place in its message."""
    own = locations[finding.path]
    others = dict.fromkeys(locations[path] for path in finding.other_paths[:MAX_OTHER_LOCATIONS])
    finding = finding._replace(location=own, other_locations=tuple(place for place in others if place != own))
    if finding.related_path is None:
        return finding
    related = locations[finding.related_path]
    line = f"line {related.line}" if related.source == own.source else f"{related.source}:{related.line}"
    return finding._replace(message=f"{finding.message} ({line})")


def document_order_key(finding: Finding) -> tuple[str, int, int, int, str, str]:
    """Sort key for located findings, in document order."""
    location = finding.location
    where = (location.source, location.line, location.column) if location else ("", 0, 0)
    return (*where, -finding.severity.rank, finding.rule, finding.message)
