"""A catalog that breaks each rule, the same catalog mended, and what osbctl says of the two.

`examples/err/ID.yaml` breaks the rule ID, `examples/ok/ID.yaml` does not; `ID.out` beside each is the whole text
report. With OSBCTL_WRITE_EXAMPLES=1 the reports are written anew: read them before they are committed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from osbctl.errors import DocumentError
from osbctl.findings import FailOn
from osbctl.platforms import Platform
from osbctl.reports import Format, Report, render
from osbctl.rule import Category
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.limits import Limits
from osbctl.sources.parse import decoded
from osbctl.sources.read import read_source
from osbctl.validation.judge import judge, unreadable
from osbctl.validation.options import ValidationOptions
from osbctl.validation.rules import load_all

if TYPE_CHECKING:
    from osbctl.findings import Judgement

FOLDER = Path(__file__).parent / "examples"

JOINED = "the specification forbids the same at the same place, so that the platform joins that finding"
WITHOUT = {
    "cannot-open": "no file can show that a file is missing",
    "schema-other": "the shipped schemas have no keyword beside those that have a rule of their own",
    "cloudfoundry-no-plan": JOINED,
    "kubernetes-no-plan": JOINED,
    "kubernetes-description": JOINED,
    "service-manager-required": JOINED,
    "service-manager-crash": JOINED,
    **{
        rule.id: "it is about a folder: tests/sources/folder shows it"
        for rule in load_all().values()
        if rule.category is Category.BUILD
    },
    **dict.fromkeys(
        ("shared-id", "shared-service-name", "shared-dashboard-client"),
        "it is about two catalogs: tests/validation/test_together.py shows it",
    ),
}
"""The rules that no example shows, each with the reason."""

HOUSE = {"properties": {"services": {"items": {"required": ["metadata"]}}}}
COUNTED = ValidationOptions(platforms=frozenset(Platform), literal=True)
OPTIONS = {
    "cloudfoundry-service-ids": COUNTED,
    "cloudfoundry-service-names": COUNTED,
    "cloudfoundry-plan-ids": COUNTED,
    "cloudfoundry-plan-names": COUNTED,
    "kubernetes-unique": COUNTED,
    "cloudfoundry-crash": ValidationOptions(select=frozenset({"cloudfoundry-crash"})),
    "cloudfoundry-type": ValidationOptions(select=frozenset({"cloudfoundry-type"})),
    "cloudfoundry-feature": ValidationOptions(platforms=frozenset({Platform.CLOUD_FOUNDRY})),
    "cloudfoundry-mysql": ValidationOptions(platforms=frozenset({Platform.CLOUD_FOUNDRY})),
    "cloudfoundry-schema-unclear": ValidationOptions(platforms=frozenset({Platform.CLOUD_FOUNDRY})),
    "korifi-bindable-implicit": ValidationOptions(platforms=frozenset({Platform.KORIFI})),
    "service-manager-unique": COUNTED,
    "house-schema": ValidationOptions(house_schemas=(("house.json", HOUSE),)),
}
"""The options of an example that needs some."""

RULES = load_all()
SHOWN = sorted(set(RULES) - set(WITHOUT))


def example(kind: str, rule: str) -> Path:
    found = [path for path in (FOLDER / kind).glob(f"{rule}.*") if path.suffix in (".yaml", ".json")]
    assert len(found) == 1, f"{rule} has no example {kind}/{rule}.yaml"
    return found[0]


def judged(path: Path, rule: str) -> Judgement:
    limits = Limits(bytes=300) if rule == "too-large" else Limits()
    at = "/spring/catalog" if rule == "pointer-not-found" else ""
    try:
        if rule == "too-large":
            read_source(str(path), limits=limits)
        document = parse_catalog(decoded(path.read_bytes(), path.name), path.name, limits, at=at)
    except DocumentError as error:
        return unreadable(path.name, error.findings)
    return judge(document, OPTIONS.get(rule, ValidationOptions()))


def report(judgement: Judgement, path: Path) -> str:
    text = render(Report([judgement], RULES, FailOn.ERROR, "", False), Format.TEXT)
    return text.replace(str(path), path.name)


@pytest.mark.parametrize("rule", SHOWN)
@pytest.mark.parametrize("kind", ["err", "ok"])
def test_example(kind: str, rule: str) -> None:
    path = example(kind, rule)
    judgement = judged(path, rule)
    assert (rule in {finding.rule for finding in judgement.findings}) == (kind == "err")
    text, expected = report(judgement, path), path.with_suffix(".out")
    if os.environ.get("OSBCTL_WRITE_EXAMPLES"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_every_example_belongs_to_a_rule() -> None:
    assert {path.name.removesuffix(path.suffix) for path in FOLDER.glob("*/*")} <= set(SHOWN)
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
    for file in sorted((FOLDER / "err").glob("*.yaml")):
        try:
            document = read_source(str(file))
        except DocumentError:
            continue
        mended |= {finding.rule for finding in judge(document, COUNTED).findings if finding.fixes}
    assert mended == {rule.id for rule in RULES.values() if rule.fix}
