"""Catalogs of one call taken together: what they share, where each has it, and what each platform does with it."""

import json
from typing import Any

import pytest

from osbctl.findings import Severity, ValidationResult
from osbctl.platforms import Identity, Platform, platforms_refusing
from osbctl.platforms.shared_identities import describe_reactions
from osbctl.platforms.verdict import VerdictKind
from osbctl.sources.document import Document, parse_document
from osbctl.validation.cross_catalog import ValidatedCatalog, add_shared_identity_findings
from osbctl.validation.options import IgnoreAt, ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.platforms.known import KNOWN, known

A, B, C, D = (f"6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B{n}" for n in range(4))
RULES = {"shared-id", "shared-service-name", "shared-dashboard-client"}


def catalog(service: str, plan: str, name: str, client: str = "") -> dict[str, Any]:
    dashboard = {"id": client, "secret": "s", "redirect_uri": "https://a.example"}
    plans = [{"id": plan, "name": "small", "description": "Small."}]
    offering = {"id": service, "name": name, "description": "A service.", "bindable": True, "plans": plans}
    return {"services": [{**offering, "dashboard_client": dashboard} if client else offering]}


def document(name: str, data: dict[str, Any]) -> Document:
    return parse_document(json.dumps(data, indent=1).encode(), name)


def validate_together(options: ValidationOptions, *documents: Document) -> list[ValidationResult]:
    return add_shared_identity_findings(
        [ValidatedCatalog(one, validate_document(one, options), options) for one in documents]
    )


def shared_findings(judgement: ValidationResult) -> list[tuple[str, Severity, str]]:
    return [(f.rule, f.severity, f.message) for f in judgement.findings if f.rule in RULES]


FIRST = document("first.json", catalog(A, B, "postgres", "client"))


@pytest.mark.parametrize(("second", "rule", "words", "refused_by"), [
    (catalog(A, D, "redis"), "shared-id", f"the service id {A} of redis is also that of postgres at", "kubernetes"),
    (catalog(C, B, "redis"), "shared-id", f"the plan id {B} of redis/small is also that of", "kubernetes"),
    (catalog(C, D, "postgres"), "shared-service-name", "the service name postgres of postgres is also", ""),
    (catalog(C, D, "redis", "client"), "shared-dashboard-client",
        "the dashboard client id client of redis is also that of postgres at", "cloudfoundry"),
], ids=["service", "plan", "name", "client"])  # fmt: skip
def test_what_two_catalogs_share_is_told_at_the_later_with_the_place_of_the_first(
    second: dict[str, Any], rule: str, words: str, refused_by: str
) -> None:
    alone, later = validate_together(ValidationOptions(), FIRST, document("second.json", second))
    assert not shared_findings(alone)
    (finding,) = (finding for finding in later.findings if finding.rule in RULES)
    assert (finding.rule, finding.location.source) == (rule, "second.json")
    place = FIRST.locate([finding.path])[finding.path]
    assert finding.message.startswith(words)
    assert finding.message.endswith(f"first.json:{place.line}:{place.column}")
    assert known(finding.refused_by) == ((Platform(refused_by),) if refused_by else ())
    refusing_now = {platform for platform, verdict in later.verdicts.items() if verdict.kind is VerdictKind.REFUSES}
    assert refusing_now == set(finding.refused_by)


def test_a_shared_identity_makes_an_unclear_verdict_a_refusal_and_leaves_a_crash() -> None:
    """Cloud Foundry reads this pattern in Ruby's way, and ends with an error at this reference."""
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    for parameters, alone, together in (
        ({}, VerdictKind.ACCEPTS, VerdictKind.REFUSES),
        ({"patternProperties": {"^\\p{Alpha}": {}}}, VerdictKind.UNCLEAR, VerdictKind.REFUSES),
        ({"allOf": [{"$ref": "#"}]}, VerdictKind.CRASHES, VerdictKind.CRASHES),
    ):
        data = catalog(C, D, "redis", "client")
        data["services"][0]["plans"][0]["schemas"] = {
            "service_instance": {"create": {"parameters": draft | parameters}}
        }
        second = document("second.json", data)
        before = validate_document(second, ValidationOptions()).verdicts[Platform.CLOUD_FOUNDRY]
        after = validate_together(ValidationOptions(), FIRST, second)[1].verdicts[Platform.CLOUD_FOUNDRY]
        assert (before.kind, after.kind) == (alone, together)
        if together is VerdictKind.REFUSES:
            assert (after.reasons, after.why) == (1, "")


def test_three_catalogs_are_each_compared_with_the_first_that_has_it() -> None:
    documents = [document(f"{n}.json", catalog(A, plan, f"s{n}")) for n, plan in enumerate((B, C, D))]
    messages = [
        [message for _, _, message in shared_findings(one)]
        for one in validate_together(ValidationOptions(), *documents)
    ]
    assert [len(one) for one in messages] == [0, 1, 1]
    assert all("s0 at 0.json:" in message for one in messages[1:] for message in one)


def test_a_platform_that_counts_makes_its_refusal_an_error_and_says_only_its_own() -> None:
    second = document("second.json", catalog(A, B, "postgres", "client"))
    for platform in KNOWN:
        _, later = validate_together(ValidationOptions(platforms=frozenset({platform})), FIRST, second)
        errors = {rule for rule, severity, _ in shared_findings(later) if severity is Severity.ERROR}
        expected = {Platform.KUBERNETES: {"shared-id"}, Platform.CLOUD_FOUNDRY: {"shared-dashboard-client"}}
        assert errors == expected.get(platform, set())
        hints = [finding.hint for finding in later.findings if finding.rule in RULES and finding.hint]
        assert all(hint.startswith(platform.label) and ";" not in hint for hint in hints)


def test_it_can_be_ignored_and_selected_as_every_rule() -> None:
    second = document("second.json", catalog(A, B, "postgres"))
    at = (IgnoreAt("shared-service-name", "postgres"),)
    _, later = validate_together(ValidationOptions(ignore=frozenset({"shared-id"}), ignore_at=at), FIRST, second)
    assert not shared_findings(later)
    assert later.left_out == 3
    _, later = validate_together(ValidationOptions(select=frozenset({"shared-service-name"})), FIRST, second)
    assert [finding.rule for finding in later.findings] == ["shared-service-name"]


def test_a_placeholder_and_an_empty_id_are_shared_by_nobody() -> None:
    both = [document(f"{n}.json", catalog("((id))", "", "${NAME}")) for n in range(2)]
    assert not any(shared_findings(one) for one in validate_together(ValidationOptions(), *both))


def test_every_kind_is_answered_for_every_platform_but_where_it_does_not_read_the_field() -> None:
    for identity in Identity:
        unknown = {platform for platform in KNOWN if not describe_reactions(identity, {platform})}
        assert unknown == ({Platform.KUBERNETES} if identity is Identity.CLIENT_ID else set())
    assert known(platforms_refusing("shared-service-name")) == ()
