"""Validation of several catalogs whose brokers are registered with one platform."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from osbctl.findings import Finding, Location, Severity, ValidationResult
from osbctl.messages import Message, Value
from osbctl.paths import JsonPath
from osbctl.placeholders import holds_placeholder
from osbctl.platforms import Identity
from osbctl.platforms.shared_identities import SharedIdentity, describe_reactions, find_shared_identities
from osbctl.platforms.verdict import VerdictKind
from osbctl.rule import RULES, Category
from osbctl.sources.document import Document
from osbctl.validation.checks import load_rules
from osbctl.validation.options import ValidationOptions, find_comments
from osbctl.validation.pipeline import document_order_key, keep_new_findings

_RULES = {
    Identity.SERVICE_ID: "shared-id",
    Identity.PLAN_ID: "shared-id",
    Identity.SERVICE_NAME: "shared-service-name",
    Identity.CLIENT_ID: "shared-dashboard-client",
}


class ValidatedCatalog(NamedTuple):
    """A catalog, its own validation result, and the options of that validation."""

    document: Document
    result: ValidationResult
    options: ValidationOptions


def add_shared_identity_findings(catalogs: Sequence[ValidatedCatalog]) -> list[ValidationResult]:
    """The results, completed with the ids and names that a catalog shares with earlier ones.

    Each is reported in the later catalog, with its options; a platform that refuses one of two refuses the later.
    """
    load_rules()
    found: list[list[SharedIdentity]] = [[] for _ in catalogs]
    paths: list[set[JsonPath]] = [set() for _ in catalogs]
    numbered = ((str(number), catalog.document.data) for number, catalog in enumerate(catalogs))
    for identity in find_shared_identities(numbered):
        if not holds_placeholder(identity.value):
            found[int(identity.second)].append(identity)
            paths[int(identity.second)].add(identity.second_path)
            paths[int(identity.first)].add(identity.first_path)
    locations = [catalog.document.locate(wanted) for catalog, wanted in zip(catalogs, paths, strict=True)]
    return [_add_findings(catalog, own, locations) for catalog, own in zip(catalogs, found, strict=True)]


def _shared_identity_finding(
    duplicate: SharedIdentity, locations: Sequence[Mapping[JsonPath, Location]], options: ValidationOptions
) -> Finding | None:
    """The finding for an identity that two catalogs share. None if it concerns only platforms that are not chosen."""
    first = locations[int(duplicate.first)][duplicate.first_path]
    second = locations[int(duplicate.second)][duplicate.second_path]
    rule = RULES[_RULES[duplicate.identity]]
    refused_by = tuple(platform for platform in rule.refused_by if platform in options.judged)
    if rule.category is Category.PLATFORM and not refused_by:
        return None
    severity = Severity.ERROR if options.platforms and refused_by else rule.severity
    template = "the {} {} of {} is also that of {} at {}"
    value = Value(duplicate.value, duplicate.second_path, str)
    message = Message(template, duplicate.identity, value, duplicate.second_object, duplicate.first_object, first)
    hint = describe_reactions(duplicate.identity, options.judged)
    return Finding(rule.id, severity, message, duplicate.second_path, second, hint, refused_by=refused_by)


def _add_findings(
    catalog: ValidatedCatalog, shared: list[SharedIdentity], locations: Sequence[Mapping[JsonPath, Location]]
) -> ValidationResult:
    """The catalog's result with the new findings that are selected and not ignored; all of them change verdicts."""
    document, result, options = catalog
    found = [*filter(None, (_shared_identity_finding(each, locations, options) for each in shared))]
    new, hidden, known = keep_new_findings(found, document, options, find_comments(document, options.user_rules))
    verdicts = dict(result.verdicts)
    for platform, count in Counter(platform for finding in found for platform in finding.refused_by).items():
        old = verdicts[platform]
        if old.kind not in (VerdictKind.CRASHES, VerdictKind.UNREADABLE):  # a crash stays a crash
            verdicts[platform] = old._replace(kind=VerdictKind.REFUSES, reasons=old.reasons + count, why="")
    left_out = result.left_out + len(hidden)
    findings = tuple(sorted((*result.findings, *new), key=document_order_key))
    return result._replace(findings=findings, verdicts=verdicts, left_out=left_out, known=result.known | known)
