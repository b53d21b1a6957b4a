"""The stages of a validation, from a document to its findings and verdicts.

A fault is reported once: the words of a platform that refuses a fault of the specification join that finding. A refusal
of something that the specification allows is a finding of its own.
"""

import json
from collections.abc import Collection, Container, Mapping
from functools import cache
from itertools import chain
from typing import Any

from osbctl.catalog import parameter_holders
from osbctl.fields import LATEST, load_schema
from osbctl.findings import Finding, Location, Severity, ValidationResult, Verdict
from osbctl.jsonschemas.dialects import fast_validator
from osbctl.jsonschemas.walk import text_without_titles
from osbctl.paths import Path, pointer
from osbctl.placeholders import fill_placeholders, placeholders
from osbctl.platforms import ApiVersion, Platform, judge_all
from osbctl.platforms.outcome import Outcome, Refusal, VerdictKind, bounded
from osbctl.rule import Rule
from osbctl.sources.document import Document
from osbctl.text import plural
from osbctl.validation.ignore_comments import faulty_comments, find_comments, without_ignored
from osbctl.validation.node import CatalogNode, Node
from osbctl.validation.options import Selection, ValidationOptions
from osbctl.validation.rules import PARAMETERS, load_checks


def validate_document(document: Document, options: ValidationOptions) -> ValidationResult:
    """Validate a catalog: schema, rules and verdicts of platforms. Raises ConfigError: a user schema is invalid."""
    selection = Selection(options)
    options = options._replace(literal=options.literal or document.syntax == "brokerpak")  # its broker sends `${…}`
    asked = options.platforms if options.errors_only else tuple(Platform)
    judged = (judge_all if options.literal else judge_template)(document.data, asked)
    outcomes = {platform: outcome.redacted for platform, outcome in judged.items()}
    found, unnamed = _check(document, options)
    selected, others = _parted(found, selection)
    hidden = unnamed.union(finding.path for finding in filter(_is_fault, others))
    joined = _join_refusals(selected, outcomes, options, hidden)
    instead = sum(finding.path in hidden for finding in joined[len(selected) :] if finding.refused_by)
    _, others = _parted(_drop_newcomers([*others, *joined]), selection)
    selected, _ = _parted(_drop_newcomers(joined), selection)
    comments = find_comments(document)
    wanted = without_ignored(selection.of(selected, document.data), document, comments)
    wanted += selection.of(faulty_comments(comments), document.data)
    shown = _grouped(graded(wanted, options))
    left_out = max(0, len(_grouped(graded([*others, *selected], options))) - instead - len(shown))
    verdicts = {platform: _verdict(outcome) for platform, outcome in outcomes.items()}
    name, data, read_as = document.name, document.data, document.read_as
    placed = tuple(_located(shown, document))
    return ValidationResult(name, placed, verdicts, left_out, data, outcomes=outcomes, read_as=read_as)


def unreadable(name: str, findings: tuple[Finding, ...]) -> ValidationResult:
    """The result for a source that cannot be read; `findings` are the reasons."""
    return ValidationResult(name, findings, dict.fromkeys(Platform, Verdict(VerdictKind.UNREADABLE)))


def judge_template(data: dict[str, Any], asked: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """Verdicts of the `asked` platforms on the catalog `data` once its placeholders are replaced.

    A platform refuses it for errors that no value of a placeholder repairs. Without such errors, and without acceptance
    of the catalog as written, its verdict is unclear.
    """
    outcomes = judge_all(data, asked)
    rejecting = [platform for platform, outcome in outcomes.items() if outcome.kind is not VerdictKind.ACCEPTS]
    found = placeholders(data) if rejecting else {}
    if not found:
        return outcomes
    rendered = judge_all(fill_placeholders(data, found), rejecting)
    return outcomes | {one: _of_template(found, outcomes[one], rendered[one]) for one in rejecting}


def _of_template(found: Mapping[Path, str], as_it_stands: Outcome, rendered: Outcome) -> Outcome:
    refusals = tuple(one for one in rendered.refusals if found.keys().isdisjoint(_prefixes(one.path)))
    if refusals:
        return rendered._replace(refusals=refusals)
    met = {path for one in as_it_stands.refusals for path in _prefixes(one.path)}
    decisive = [path for path in found if path in met] or found
    doubts = (Refusal("placeholder-unresolved", path, f"it depends on {found[path][:40]!r}") for path in decisive)
    return Outcome(VerdictKind.UNCLEAR, doubts=bounded(doubts))


def _prefixes(path: Path) -> list[Path]:
    """The paths of the value at `path` and of all that it stands in."""
    return [path[:end] for end in range(1, len(path) + 1)]


def _verdict(outcome: Outcome) -> Verdict:
    more = f", and {len(outcome.doubts) - 1:,} more" if len(outcome.doubts) > 1 else ""
    why = "".join(f"{doubt.message} at {pointer(doubt.path)}{more}" for doubt in outcome.doubts[:1])
    return Verdict(outcome.kind, outcome.messages, len(outcome.refusals), why)


def _check(document: Document, options: ValidationOptions) -> tuple[list[Finding], set[Path]]:
    """Findings of reading, schemas and rules; and the paths of schema errors beyond the limit."""
    found, unnamed = schema_findings(document.data, options.api_version)
    found += run_rules(document.data, options)
    for name, schema in options.user_schemas:
        from osbctl.validation.user_schema import check_user_schema  # loads jsonschema-rs

        found += check_user_schema(document.data, schema, name)
    reported = {note.path for note in document.notes if note.severity is Severity.ERROR}
    missing = ("schema-required", "schema-empty")
    found = [one for one in found if one.rule not in missing or one.path not in reported]
    return [*document.notes, *_without_templates(found, document, options)], unnamed


def _without_templates(findings: list[Finding], document: Document, options: ValidationOptions) -> list[Finding]:
    """The findings without those on values that a template, or the broker of a brokerpak, will replace."""
    if document.syntax == "brokerpak":  # its broker sends nulls and `${…}` by itself
        return [one for one in findings if one.rule not in ("null-object", "placeholder-unresolved")]
    unknown = placeholders(document.data) if findings and not options.literal else {}
    return [one for one in findings if one.path not in unknown or one.rule == "placeholder-unresolved"]


def schema_findings(data: dict[str, Any], api_version: ApiVersion) -> tuple[list[Finding], set[Path]]:
    """Validate `data` against the newest catalog schema; also return the locations of omitted errors.

    Faults in fields that are newer than `api_version` are warnings: platforms with a newer version read them. At most
    `MAX_FINDINGS` errors and as many warnings are reported.
    """
    if _latest_schema_validator()(data):
        return [], set()
    from osbctl.validation.schema_errors import explained

    return explained(data, api_version)


@cache
def _latest_schema_validator() -> Any:
    return fast_validator(load_schema(LATEST))


def run_rules(data: dict[str, Any], options: ValidationOptions) -> list[Finding]:
    """Run the rules on the catalog `data`; they skip values of the wrong type, which the schema reports."""
    catalog = CatalogNode(data, options.api_version)
    of_catalog, of_parameters = list[Rule](), list[Rule]()
    for rule in load_checks():
        if is_wanted(rule, options):
            (of_parameters if rule.id.startswith(PARAMETERS) else of_catalog).append(rule)
    return _findings(of_catalog, catalog) + _of_parameters(of_parameters, catalog)


def _of_parameters(rules: list[Rule], catalog: CatalogNode) -> list[Finding]:
    """Run `rules` once on the parameter schemas that are the same to them; report each occurrence."""
    from osbctl.validation.rules.parameters import MAX_BYTES  # rules are loaded when the first catalog is checked

    found: list[Finding] = []
    known: dict[tuple[str, int], list[Finding]] = {}
    for plan in catalog.plans:
        for place, holder in parameter_holders(plan.value):
            schema = holder["parameters"]
            # No rule reads titles and descriptions; but they count for the size of the whole.
            content = text_without_titles(schema), max(len(json.dumps(schema)), MAX_BYTES)
            if content not in known:
                known[content] = _findings(rules, Node(schema))
            path = (*plan.path, "schemas", *place, "parameters")
            found += [_below(path, finding) for finding in known[content]]
    return found


def _findings(rules: list[Rule], node: Node) -> list[Finding]:
    return [
        finding._replace(rule=rule.id, severity=rule.severity)
        for rule in rules
        for finding in (rule.check(node) if rule.check else ())
    ]


def _below(path: Path, finding: Finding) -> Finding:
    fixes = tuple(fix._replace(path=(*path, *fix.path)) for fix in finding.fixes)
    return finding._replace(path=(*path, *finding.path), fixes=fixes)


def is_wanted(rule: Rule, options: ValidationOptions) -> bool:
    """Return whether `rule` is checked with these options."""
    if options.errors_only and rule.severity is not Severity.ERROR:
        return False
    return rule.only_for is None or rule.only_for in options.platforms or rule.id in (options.select or ())


def _parted(findings: list[Finding], selection: Selection) -> tuple[list[Finding], list[Finding]]:
    selected = [finding for finding in findings if selection.picks(finding.rule)]
    return selected, [finding for finding in findings if not selection.picks(finding.rule)]


def _is_fault(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR or finding.rule.startswith("schema-")


def _join_refusals(
    findings: list[Finding], outcomes: Mapping[Platform, Outcome], options: ValidationOptions, hidden: Container[Path]
) -> list[Finding]:
    """Join each refusal to the first fault at its path, or make it a finding.

    A refusal below a value of the wrong type joins the fault of that value. At `hidden` paths (faults without finding),
    a refusal is a finding only if its rule was selected. The reason why the verdict of a chosen platform
    is unclear is a warning, unless there is a finding of its rule.
    """
    findings = list(findings)
    faults = _faults_by_path(findings)
    for platform, outcome in outcomes.items():
        counts = platform in options.platforms
        findings += _doubts(platform, outcome, findings) if counts else ()
        for refusal in outcome.refusals:
            at = _fault_at(refusal.path, faults, findings)
            if at is not None:
                findings[at] = _joined(findings[at], platform, refusal.message, bool(outcome.messages), counts)
            elif refusal.path not in hidden or refusal.rule in (options.select or ()):
                severity = Severity.ERROR if counts else Severity.WARNING
                findings.append(Finding(refusal.rule, severity, refusal.message, refusal.path, refused_by=(platform,)))
    return findings


def _faults_by_path(findings: list[Finding]) -> dict[Path, int]:
    return {finding.path: at for at, finding in reversed([*enumerate(findings)]) if _is_fault(finding)}


def _fault_at(path: Path, faults: Mapping[Path, int], findings: list[Finding]) -> int | None:
    """The index of the first fault at `path`, else of the wrong type of the value around it."""
    around = faults.get(path[:-1])
    is_wrong_type = around is not None and findings[around].rule == "schema-type"
    return faults.get(path, around if is_wrong_type else None)


def _doubts(platform: Platform, outcome: Outcome, findings: list[Finding]) -> list[Finding]:
    known = {(finding.rule, finding.path) for finding in findings if outcome.doubts}
    why = f"the verdict of {platform.label} is unclear"
    doubts = [doubt for doubt in outcome.doubts if (doubt.rule, doubt.path) not in known]
    return [Finding(doubt.rule, Severity.WARNING, f"{why}: {doubt.message}", doubt.path) for doubt in doubts]


def _joined(finding: Finding, platform: Platform, words: str, own_words: bool, counts: bool) -> Finding:
    """The finding with the words of a platform; an error if the platform counts."""
    refused_by = finding.refused_by if platform in finding.refused_by else (*finding.refused_by, platform)
    messages = finding.platform_messages
    if own_words and words not in messages:
        messages = (*messages, words)
    severity = Severity.ERROR if counts else finding.severity
    return finding._replace(refused_by=refused_by, platform_messages=messages, severity=severity)


def _drop_newcomers(findings: list[Finding]) -> list[Finding]:
    """The findings without `field-too-new` at fields in which there is a fault."""
    wrong = [finding.path for finding in findings if _is_fault(finding) or finding.refused_by]
    known = {path[:depth] for path in wrong for depth in range(len(path) + 1)}
    return [finding for finding in findings if finding.rule != "field-too-new" or finding.path not in known]


def graded(findings: list[Finding], options: ValidationOptions) -> list[Finding]:
    """The findings with the configured severities of their rules."""
    severity = dict(options.severity)
    return [f._replace(severity=severity[f.rule]) if f.rule in severity else f for f in findings]


def _grouped(findings: list[Finding]) -> list[Finding]:
    """Join findings of one rule with the same group text (`Finding.group_summary`) to the first of them."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.rule, finding.severity, finding.group_summary, finding.hint) if finding.group_summary else number
        groups.setdefault(key, []).append(finding)
    return [_as_one(group, f"{len(group):,} {group[0].group_summary}") for group in groups.values()]


def _as_one(group: list[Finding], message: str) -> Finding:
    """The first finding, with the paths of the others, and the fixes and platform messages of all."""
    first = group[0]
    if len(group) == 1:
        return first
    others = (path for finding in group[1:] for path in (finding.path, *finding.other_paths))
    return first._replace(
        message=message,
        other_paths=(*first.other_paths, *others),
        fixes=tuple(fix for finding in group for fix in finding.fixes),
        refused_by=tuple(dict.fromkeys(platform for finding in group for platform in finding.refused_by)),
        platform_messages=tuple(dict.fromkeys(words for finding in group for words in finding.platform_messages)),
    )


def _located(findings: list[Finding], document: Document) -> list[Finding]:
    paths = {path for f in findings if f.location is None for path in (f.path, f.related_path) if path is not None}
    places = document.locate(paths) if paths else {}
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        placed = finding if finding.location else _placed(finding, places)
        groups.setdefault((placed.rule, placed.severity, placed.location, placed.path[-1:]), []).append(placed)
    return sorted(chain.from_iterable(map(_once_a_text, groups.values())), key=reading_order)


def _once_a_text(group: list[Finding]) -> list[Finding]:
    """Join findings of one rule and field at one location, which aliases or merges repeat."""
    if not 1 < len({finding.path for finding in group}) == len(group):
        return group
    more = plural(len(group) - 1, "more place")
    return [_as_one(group, f"{group[0].message} (an alias or a merge repeats it in {more})")]


def _placed(finding: Finding, places: Mapping[Path, Location]) -> Finding:
    """The finding with its location, and with the line of the earlier place in its message."""
    here = places[finding.path]
    if finding.related_path is None:
        return finding._replace(location=here)
    there = places[finding.related_path]
    line = f"line {there.line}" if there.source == here.source else f"{there.source}:{there.line}"
    return finding._replace(location=here, message=f"{finding.message} ({line})")


def reading_order(finding: Finding) -> tuple[str, int, int, int, str, str]:
    """Sort key for located findings, in document order."""
    place = finding.location
    where = (place.source, place.line, place.column) if place else ("", 0, 0)
    return (*where, -finding.severity.rank, finding.rule, finding.message)
