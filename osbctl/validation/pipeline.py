"""The stages of a validation, from a document to its findings, as a report shows them, and verdicts.

A fault is reported once: the words of a platform that refuses a fault of the specification join that finding. A refusal
of something that the specification allows is a finding of its own.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any, TypeVar

from osbctl.catalog import parameter_holders
from osbctl.fields import LATEST, load_schema
from osbctl.findings import (
    MAX_LOCATED,
    Finding,
    LineNumber,
    Location,
    Quote,
    Severity,
    ValidationResult,
    Verdict,
    fixes_of,
)
from osbctl.jsonschemas.dialects import make_fast_validator
from osbctl.messages import Message, Sentence, text_of
from osbctl.paths import LITERALS, JsonPath, JsonValue, get_at, pointer, subschemas
from osbctl.placeholders import find_placeholders, judge_template
from osbctl.platforms import ApiVersion, Platform
from osbctl.platforms.golang import fold_case
from osbctl.platforms.verdict import Outcome, VerdictKind, judge_all
from osbctl.rule import RULES, Rule, rule_of
from osbctl.sources.document import Document
from osbctl.text import fingerprint, plural
from osbctl.validation.checks import CATALOG_CHECKS, SCHEMA_CHECKS, CatalogNode, Node, load_rules
from osbctl.validation.options import (
    Comment,
    ValidationOptions,
    check_comments,
    drop_ignored_findings,
    find_comments,
    select_findings,
)

_Checked = TypeVar("_Checked", CatalogNode, Node)

_SCHEMA_DEPTH = 8
"""Length of the path of a parameter schema: services, 0, plans, 0, schemas, service_instance, create, parameters."""


def validate_document(document: Document, options: ValidationOptions) -> ValidationResult:
    """Validate a catalog: schema, rules and verdicts of platforms. Raises ConfigError: a user schema is invalid."""
    options = options._replace(literal=options.literal or document.syntax == "brokerpak")  # its broker sends `${…}`
    outcomes = (judge_all if options.literal else judge_template)(document.data, options.judged)
    comments = find_comments(document, options.user_rules)
    found = _join_refusals(*_collect_findings(document, options), outcomes, options)
    found += check_comments(comments, options.user_rules)
    new, hidden, known = keep_new_findings(found, document, options, comments)
    return ValidationResult(
        document.name,
        tuple(locate_and_sort(group_findings(new), document)),
        {platform: _verdict_from_outcome(outcome) for platform, outcome in outcomes.items()},
        len(group_findings(hidden)),
        document.data,
        outcomes=outcomes,
        read_as=document.read_as,
        known=known,
        user_rules=options.user_rules,
    )


def unreadable_result(
    name: str, findings: tuple[Finding, ...], platforms: Collection[Platform] = tuple(Platform)
) -> ValidationResult:
    """The result for a source that cannot be read; `findings` are the reasons, `platforms` have no verdict on it."""
    return ValidationResult(name, findings, dict.fromkeys(platforms, Verdict(VerdictKind.UNREADABLE)))


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
        is_left_to_broker = rule.skips_brokerpaks and document.syntax == "brokerpak"
        if is_left_to_broker or (rule.yields_to_sources and finding.path in in_source):
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
    load_rules()
    catalog = CatalogNode(data, options.api_version, options.spoken_version, syntax)
    return _run_checks(CATALOG_CHECKS, catalog, options) + _check_parameter_schemas(catalog, options)


def _run_checks(
    checks: Mapping[str, Callable[[_Checked], Iterator[Finding]]], checked: _Checked, options: ValidationOptions
) -> list[Finding]:
    found = []
    for id_, check in checks.items():
        rule = RULES[id_]
        if _is_enabled(rule, options):
            found += [finding._replace(rule=id_, severity=rule.severity) for finding in check(checked)]
    return found


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
    # Rules are loaded when the first catalog is checked.
    from osbctl.validation.rules.parameters import MAX_BYTES, count_bytes

    found: list[Finding] = []
    known: dict[tuple[str, int], list[Finding]] = {}
    for plan in catalog.plans:
        for holder_path, holder in parameter_holders(plan.value):
            text = json.dumps(holder["parameters"])
            # No rule reads titles and descriptions, which plans often have of their own; but they count for the size.
            content = _without_titles(text), count_bytes(holder["parameters"]) if len(text) > MAX_BYTES else 0
            if content not in known:
                known[content] = _run_checks(SCHEMA_CHECKS, Node(holder["parameters"]), options)
            path = (*plan.path, "schemas", *holder_path, "parameters")
            for finding in known[content]:
                fixes = tuple(fix._replace(path=(*path, *fix.path)) for fix in finding.fixes)
                found.append(finding._replace(path=(*path, *finding.path), fixes=fixes))
    return found


def _without_titles(text: str) -> str:
    """The schema that is written as JSON in `text`, with empty titles and descriptions."""
    schema = json.loads(text)
    for place in subschemas(schema):
        for key in ("title", "description"):
            if isinstance(place.value.get(key), str):
                place.value[key] = ""
    return json.dumps(schema)


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
                joined[at] = _join_refusal(joined[at], platform, refusal.sentence if outcome.lines else "", is_chosen)
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
    indexes: dict[JsonPath, int] = {}
    for index, finding in enumerate(findings):
        if _is_fault(finding):
            first = findings[indexes.setdefault(finding.path, index)]
            if options.selects(finding.rule) and not options.selects(first.rule):
                indexes[finding.path] = index
    return indexes


def _find_fault_index(path: JsonPath, faults: Mapping[JsonPath, int], findings: list[Finding]) -> int | None:
    """The index of the fault at `path`, else of one of the value around it that covers what is inside."""
    around = faults.get(path[:-1])
    covers = around is not None and rule_of(findings[around]).covers_inside
    return faults.get(path, around if covers else None)


def _unclear_verdict_findings(platform: Platform, outcome: Outcome, findings: list[Finding]) -> list[Finding]:
    """Warnings for the doubts of an unclear verdict, except those that a finding reports already."""
    known = {(finding.rule, finding.path) for finding in findings}
    why = f"the verdict of {platform.label} is unclear"
    new = [doubt for doubt in outcome.doubts if (doubt.rule, doubt.path) not in known]
    return [Finding(one.rule, Severity.WARNING, Message("{}: {}", why, one.sentence), one.path) for one in new]


def _join_refusal(finding: Finding, platform: Platform, words: Sentence, is_chosen: bool) -> Finding:
    """The finding with the refusal of a platform, and its own `words`, if known; an error if the platform is chosen."""
    refused_by = tuple(dict.fromkeys((*finding.refused_by, platform)))
    quotes = tuple(dict.fromkeys((*finding.quotes, Quote(platform, words)))) if words else finding.quotes
    severity = Severity.ERROR if is_chosen else finding.severity
    return finding._replace(refused_by=refused_by, quotes=quotes, severity=severity)


def _drop_beside_faults(findings: list[Finding], options: ValidationOptions) -> list[Finding]:
    """The findings without those that yield to a selected error, schema fault or refusal at or below their path."""
    faults = (fault for fault in findings if options.selects(fault.rule) and (_is_fault(fault) or fault.refused_by))
    with_ancestors = {fault.path[:depth] for fault in faults for depth in range(len(fault.path) + 1)}
    return [one for one in findings if not rule_of(one).yields_to_faults or one.path not in with_ancestors]


def apply_severities(findings: list[Finding], options: ValidationOptions) -> list[Finding]:
    """The findings with the configured severities of their rules."""
    severity = dict(options.severity)
    return [f._replace(severity=severity[f.rule]) if f.rule in severity else f for f in findings]


def keep_new_findings(
    found: list[Finding], document: Document, options: ValidationOptions, comments: list[Comment]
) -> tuple[list[Finding], list[Finding], frozenset[str]]:
    """The findings that are selected, not ignored and not known, with severities and identities.

    Then the others, each once, and the fingerprints of the known ones. An identity stays when other objects come or go:
    the rule, the service offering and plan (by id, else by name), the field, and a running number among equals. It has
    no indexes, and no values, which may be secrets.
    """
    found = apply_severities(found, options)
    selected = drop_ignored_findings(select_findings(found, document.data, options), document, comments)
    new, hidden, known = [], [*set(found).difference(selected)], set()
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in selected:
        key = (finding.rule, *_object_and_field(finding.path, document.data))
        finding = finding._replace(identity=json.dumps([*key, seen[key]]))
        seen[key] += 1
        mark = fingerprint(finding.identity) if options.known else ""
        if mark in options.known:
            hidden.append(finding)
            known.add(mark)
        else:
            new.append(finding)
    return new, hidden, frozenset(known)


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


def group_findings(findings: list[Finding]) -> list[Finding]:
    """Join findings of one rule and group to the first of them."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.rule, finding.severity, finding.group.key) if finding.group else number
        groups.setdefault(key, []).append(finding)
    return [_merge_group(group) for group in groups.values()]


def _merge_group(group: list[Finding]) -> Finding:
    """The first finding, with all as its members, the fixes and quotes of all, and a sentence about their number."""
    first = group[0]
    if len(group) == 1:
        return first
    return first._replace(
        sentence=first.group.sentence(len(group)) if first.group else first.sentence,
        related_path=None,  # each member has one of its own
        members=tuple(member for finding in group for member in finding.members or (finding,)),
        fixes=fixes_of(group),
        refused_by=tuple(dict.fromkeys(platform for finding in group for platform in finding.refused_by)),
        quotes=_each_text_once(quote for finding in group for quote in finding.quotes),
    )


def _each_text_once(quotes: Iterable[Quote]) -> tuple[Quote, ...]:
    """The quotes, those of one platform with one text once, although they quote values of different paths."""
    by_text: dict[tuple[Platform, str], Quote] = {}
    for quote in quotes:
        by_text.setdefault((quote.platform, text_of(quote.sentence)), quote)
    return tuple(by_text.values())


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
        where = located.location
        # A place without its line is that of a whole string or document: many values stand there.
        place = (where, located.path[-1:] if where and where.excerpt else located.path)
        groups.setdefault((located.rule, located.severity, place), []).append(located)
    merged = chain.from_iterable(map(_merge_alias_repeats, groups.values()))
    return [_hide_secret_line(finding, document) for finding in sorted(merged, key=document_order_key)]


def _merge_alias_repeats(group: list[Finding]) -> list[Finding]:
    """Join findings of one rule and field at one location, which aliases or merges repeat."""
    if not 1 < len({finding.path for finding in group}) == len(group):
        return group
    more = plural(len(group) - 1, "more place")
    repeated = Message("{} (an alias or a merge repeats it in {})", group[0].sentence, more)
    return [_merge_group(group)._replace(sentence=repeated)]


def _set_location(finding: Finding, locations: Mapping[JsonPath, Location]) -> Finding:
    """The finding with its locations, and with the line of the earlier place in its message."""
    own = locations[finding.path]
    first, rest = finding.members[:MAX_LOCATED], finding.members[MAX_LOCATED:]
    located = (member if member.location else _set_location(member, locations) for member in first)
    finding = finding._replace(location=own, members=(*located, *rest))
    if finding.related_path is None:
        return finding
    line = LineNumber(locations[finding.related_path], own.source)
    return finding._replace(sentence=Message("{} ({})", finding.sentence, line))


def _hide_secret_line(finding: Finding, document: Document) -> Finding:
    """The finding without the text of its line, if a parameter with a secret name refers to the literal there.

    What stands below a secret name itself is hidden when a report is written.
    """
    schema_path, below = finding.path[:_SCHEMA_DEPTH], finding.path[_SCHEMA_DEPTH:]
    if finding.location is None or LITERALS.isdisjoint(below):
        return finding
    from osbctl.jsonschemas.secrets import is_at_or_below, secret_ref_targets  # few findings need it

    if is_at_or_below(below, secret_ref_targets(get_at(document.data, schema_path))):
        finding = finding._replace(location=finding.location._replace(excerpt=""))
    return finding


def document_order_key(finding: Finding) -> tuple[str, int, int, int, str, str]:
    """Sort key for located findings, in document order."""
    location = finding.location
    where = (location.source, location.line, location.column) if location else ("", 0, 0)
    return (*where, -finding.severity.rank, finding.rule, finding.message)
