"""The whole text report of what each rule's own example shows: a snapshot for each group of rules.

`examples/GROUP.txt` holds, for each rule of a module of rules, of a platform or of what others find, what is said of a
catalog that breaks it and of the same mended. With OSBCTL_WRITE_EXAMPLES=1 the reports are written anew: read them
before they are committed.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from osbctl.findings import DocumentError, FailOn, ValidationResult
from osbctl.platforms import Platform, platforms_refusing
from osbctl.platforms.verdict import VerdictKind
from osbctl.reports import Format, Report, render
from osbctl.rule import Category, Rule
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.parse import decode_utf8
from osbctl.sources.read_bytes import Limits
from osbctl.validation.checks import CATALOG_CHECKS, SCHEMA_CHECKS, load_all
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable_result, validate_document
from tests.fragments import DRAFT_04, PLAN, SERVICE, catalog, source_text, with_parameters

FOLDER = Path(__file__).parent / "examples"
RULES = load_all()
CHECKS = {**CATALOG_CHECKS, **SCHEMA_CHECKS}

JOINED = "the specification forbids the same at the same place, so that the platform joins that finding"
WITHOUT = {
    "cannot-open": "no file can show that a file is missing",
    "internal-error": "no file may show it",
    "schema-other": "the shipped schemas have no keyword beside those that have a rule of their own",
    "cloudfoundry-no-plan": JOINED,
    "cloudfoundry-requires": JOINED,
    "cloudfoundry-type": JOINED,
    "kubernetes-no-plan": JOINED,
    "kubernetes-description": JOINED,
    "service-manager-required": JOINED,
    "service-manager-crash": JOINED,
    **{
        rule.id: "it is about a folder: tests/sources/folder shows it"
        for rule in RULES.values()
        if rule.category is Category.BUILD
    },
    **dict.fromkeys(
        ("shared-id", "shared-service-name", "shared-dashboard-client"),
        "it is about two catalogs: tests/validation/test_cross_catalog.py shows it",
    ),
}
"""The rules that no example shows, each with the reason."""

SHOWN = sorted(set(RULES) - set(WITHOUT))


class Example(NamedTuple):
    """The text of a document, and how it is called."""

    text: str | bytes
    name: str = "catalog.yaml"
    at: str = ""


def dumped(data: Any) -> Example:
    return Example(yaml.safe_dump(data, sort_keys=False, width=100))


def nested(levels: int) -> Example:
    return Example("services: " + "[" * levels + "]" * levels + "\n")


GOOD = dumped(catalog())
CLIENT = {"id": "postgres-ui", "secret": "((secret))", "redirect_uri": "https://postgres.example.com"}
ANCHORED = {
    "$schema": "http://json-schema.org/draft-06/schema#",
    "allOf": [{"$ref": "#size"}],
    "definitions": {"size": {"$id": "#size"}},
}


def with_two_plans(same: str) -> Example:
    """Two plans with the same placeholder for their id or name: the specification's rules wait for its value."""
    plans = catalog()["services"][0]["plans"] * 2
    other = {"id": "0D9B6E72-51C4-4A3F-A6D8-7F1E2C3B4A59", "name": "large"}
    return dumped(catalog({"plans": [{**plans[0], same: "((same))"}, {**plans[1], **other, same: "((same))"}]}))


def with_two_services(same: str) -> Example:
    (first,), (second,) = catalog()["services"], catalog()["services"]
    second["plans"][0]["id"] = "5B8F0C3D-92E6-47A1-B4D7-3A6C1E9F2D80"
    other = {"id": "E2A7B9C4-6D13-4F58-8B0A-1C9D3E5F7A26", "name": "redis"}
    return dumped({"services": [{**first, same: "((same))"}, {**second, **other, same: "((same))"}]})


MADE: dict[str, tuple[Example, Example]] = {
    "empty-document": (Example("# nothing\n"), GOOD),
    "encoding": (Example(str(GOOD.text).replace("A database.", "Une base de données.").encode("latin-1")), GOOD),
    "nesting-too-deep": (nested(100), nested(90)),
    "too-large": (Example("#" * 2001), GOOD),
    "too-many-nodes": (
        Example(
            "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
            + "".join(f"{key}: &{key} [{', '.join([f'*{below}'] * 10)}]\n" for below, key in zip("abcdefg", "bcdefgh", strict=True))
        ),
        GOOD,
    ),
    "several-documents": (Example('{"services": []}\n{"services": []}\n', "catalog.json"), Example('{"services": []}\n', "catalog.json")),
    "pointer-not-found": (GOOD._replace(at="/spring/catalog"), Example("spring: {catalog: {services: []}}\n", at="/spring/catalog")),
    "format-mismatch": (GOOD._replace(name="catalog.json"), GOOD),
    "house-schema": (GOOD, dumped(catalog({"dashboard_client": CLIENT}))),
    "long-name": (dumped(catalog({"name": "p" * 256})), GOOD),
    "parameters-too-large": (dumped(with_parameters({"$schema": DRAFT_04, "title": "x" * 66_000})), GOOD),
    "field-too-new": (dumped(catalog(plan={"maintenance_info": {"version": "1.2.0", "description": "New."}})), GOOD),
    "metadata-type": (dumped(catalog(plan={"metadata": {"bullets": "fast and cheap"}})), GOOD),
    "cloudfoundry-crash": (dumped(with_parameters({"$schema": DRAFT_04, "allOf": [{"$ref": "#"}]})), GOOD),
    "cloudfoundry-plan-ids": (with_two_plans("id"), GOOD),
    "kubernetes-unique": (with_two_plans("id"), GOOD),
    "service-manager-unique": (with_two_plans("id"), GOOD),
    "cloudfoundry-plan-names": (with_two_plans("name"), GOOD),
    "cloudfoundry-service-ids": (with_two_services("id"), GOOD),
    "cloudfoundry-service-names": (with_two_services("name"), GOOD),
    "cloudfoundry-required": (dumped(catalog({"dashboard_client": {**CLIENT, "id": " "}})), dumped(catalog({"dashboard_client": CLIENT}))),
    "cloudfoundry-schema-pattern": (dumped(with_parameters({"$schema": DRAFT_04, "patternProperties": {"^(size": {}}})), GOOD),
    "cloudfoundry-schema-reference": (dumped(with_parameters(ANCHORED)), GOOD),
    "kubernetes-type": (dumped(catalog(plan={"Free": "yes"})), GOOD),
    "service-manager-reserved-name": (dumped(catalog(plan={"name": "reference-instance"})), GOOD),
    "service-manager-sharing": (dumped(catalog(plan={"bindable": False, "metadata": {"supportsInstanceSharing": True}})), GOOD),
    "service-manager-type": (dumped(catalog(plan={"ready": "yes"})), GOOD),
    "korifi-type": (dumped(catalog({"dashboard_client": {**CLIENT, "redirect_url": 5}})), dumped(catalog({"dashboard_client": CLIENT}))),
    "cloudfoundry-description-length": (dumped(catalog({"description": "x" * 10_001})), GOOD),
    "cloudfoundry-tags": (dumped(catalog({"tags": ["t" * 40] * 52})), GOOD),
    "cloudfoundry-schema-size": (dumped(with_parameters({"$schema": DRAFT_04, "title": "<" * 12_000})), GOOD),
}  # fmt: skip
"""The rules whose example is too long for their text, or is about a text as a whole: what breaks it, and what does not."""

USER_SCHEMA = {"properties": {"services": {"items": {"required": ["dashboard_client"]}}}}
COUNTED = ValidationOptions(platforms=frozenset(Platform), literal=True)
CLOUD_FOUNDRY = ValidationOptions(platforms=frozenset({Platform.CLOUD_FOUNDRY}))
OPTIONS = {
    **dict.fromkeys(
        (
            *(f"cloudfoundry-{name}" for name in ("service-ids", "service-names", "plan-ids", "plan-names")),
            *("kubernetes-unique", "service-manager-unique"),
        ),
        COUNTED,
    ),
    **dict.fromkeys(("cloudfoundry-feature", "cloudfoundry-mysql", "cloudfoundry-schema-unclear"), CLOUD_FOUNDRY),
    "korifi-bindable-implicit": ValidationOptions(platforms=frozenset({Platform.KORIFI})),
    "house-schema": ValidationOptions(user_schemas=(("house.json", USER_SCHEMA),)),
}
"""The options of an example that needs some."""


BESIDE = {
    **{rule: {"schema-required"} for rule in ("id-shared", "service-name-duplicate")},
    "parameters-reference-loop": {"cloudfoundry-crash"},
}
"""The other findings on an example that breaks a rule, where its fragment is short or the platform's word is another."""


def group(rule: Rule) -> str:
    """The module of a rule's check, else who finds it."""
    if check := CHECKS.get(rule.id):
        return check.__module__.rpartition(".")[2]
    platform = next((platform for platform in Platform if rule.id.startswith(f"{platform}-")), None)
    return platform.value if platform else rule.category.value


def examples(rule: Rule) -> tuple[Example, Example]:
    """Examples that break a rule, and some that do not."""
    if rule.id in MADE:
        return MADE[rule.id]
    return Example(source_text(rule, rule.bad)), Example(source_text(rule, rule.good))


def judged(example: Example, rule: str) -> ValidationResult:
    data = example.text if isinstance(example.text, bytes) else example.text.encode()
    limits = Limits(bytes=2_000) if rule == "too-large" else Limits()
    try:
        if len(data) > limits.bytes:
            from osbctl.sources.read_bytes import too_large_error

            raise too_large_error(example.name, limits)
        document = parse_catalog(decode_utf8(data, example.name), example.name, limits, at=example.at)
    except DocumentError as error:
        return unreadable_result(example.name, error.findings)
    return validate_document(document, OPTIONS.get(rule, ValidationOptions()))


def snapshot(rules: list[str]) -> Iterator[str]:
    """The reports of the examples of some rules; each example must break its rule and no other, and its twin must not."""
    for rule in rules:
        for heading, example, breaks in zip(("breaks", "meets"), examples(RULES[rule]), (True, False), strict=True):
            judgement = judged(example, rule)
            found = {finding.rule for finding in judgement.findings}
            assert (rule in found) is breaks, rule
            if breaks and rule in CHECKS and RULES[rule].bad:
                assert found == {rule} | BESIDE.get(rule, set())
            text = render(Report([judgement], lambda: RULES, FailOn.ERROR, "", False), Format.TEXT)
            yield f"=== {heading} {rule}\n{text}"


GROUPS: dict[str, list[str]] = defaultdict(list)
for name in SHOWN:
    GROUPS[group(RULES[name])].append(name)


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_examples(group: str) -> None:
    text, file = "\n".join(snapshot(GROUPS[group])), FOLDER / f"{group}.txt"
    if os.environ.get("OSBCTL_WRITE_EXAMPLES"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_each_rule_reaches_the_last_of_three_service_offerings() -> None:
    first, second = (SERVICE | {"id": f"{n}{SERVICE['id'][1:]}", "name": f"sound-{n}"} for n in "12")
    for service, n in ((first, "3"), (second, "4")):
        service["plans"] = [PLAN | {"id": f"{n}{PLAN['id'][1:]}"}]
    reached = set()
    for name in SHOWN:
        if RULES[name].category is Category.READING or name in ("yaml-1.1", "ignore-unknown"):  # of the text
            continue
        data = yaml.safe_load(examples(RULES[name])[0].text)
        if isinstance(data["services"], list) and len(data["services"]) == 1:
            data["services"] = [first, second, *data["services"]]
            found = judged(dumped(data), name).findings
            assert name in {one.rule for one in found if one.path[:2] == ("services", 2)}, name
            reached.add(name)
    assert CHECKS.keys() - reached == {"service-name-duplicate"}  # two service offerings break it


def test_every_snapshot_belongs_to_a_group() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(GROUPS)
    assert set(WITHOUT) <= set(RULES)


def test_records() -> None:
    for rule, record in RULES.items():
        assert record.source.strip(), rule
        assert record.summary.endswith((".", '".')), rule
        assert ". " not in record.summary, rule
        assert record.severity.rank, rule
        assert bool(record.bad) == bool(record.good), rule
        for text in filter(None, (record.bad, record.good)):
            assert rule in ("syntax", "duplicate-key") or yaml.compose(text) is not None, rule


def test_a_rule_says_how_it_is_mended_where_it_is() -> None:
    mended = {"cloudfoundry-schema-dialect", "parameters-dialect-missing"}  # by a proof: tests/fixes has the cases
    for rule in SHOWN:
        example = examples(RULES[rule])[0]
        if isinstance(example.text, str) and rule != "too-large":
            mended |= {finding.rule for finding in judged(example, rule).findings if finding.fixes}
    assert mended == {rule.id for rule in RULES.values() if rule.fix}


def test_platforms_refuse_the_examples_of_the_rules_in_their_records() -> None:
    for rule in SHOWN:
        verdicts = judged(examples(RULES[rule])[0], rule).verdicts
        assert [each for each in platforms_refusing(rule) if verdicts[each].kind is VerdictKind.ACCEPTS] == [], rule
