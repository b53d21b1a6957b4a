"""The whole text report of what each rule's own example shows: a snapshot for each group of rules.

`examples/GROUP.txt` holds, for each rule of a module of rules, of a platform or of what others find, what is said of a
catalog that breaks it and of the same mended. With OSBCTL_WRITE_EXAMPLES=1 the reports are written anew: read them
before they are committed.
"""

import functools
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from osbctl.findings import DocumentError, FailOn, ValidationResult
from osbctl.paths import JsonPath
from osbctl.platforms import Platform, platforms_refusing
from osbctl.platforms.verdict import VerdictKind
from osbctl.reports import Format, Report, render
from osbctl.rule import Category, Rule
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import decode_utf8
from osbctl.sources.read_bytes import Limits, too_large_error
from osbctl.validation.checks import CATALOG_CHECKS, SCHEMA_CHECKS, load_all
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable_result, validate_document
from tests.fragments import PLAN, SERVICE, catalog, source_text

FOLDER = Path(__file__).parent / "examples"
RULES = load_all()
CHECKS = {**CATALOG_CHECKS, **SCHEMA_CHECKS}

USER_SCHEMA = {"properties": {"services": {"items": {"required": ["dashboard_client"]}}}}


class Example(NamedTuple):
    """The text of a document, and how it is called."""

    text: bytes
    name: str = "catalog.yaml"


def dumped(data: Any) -> Example:
    return Example(yaml.safe_dump(data, sort_keys=False, width=100).encode())


def group(rule: Rule) -> str:
    """The module of a rule's check, else who finds it."""
    if check := CHECKS.get(rule.id):
        return check.__module__.rpartition(".")[2]
    return rule.refusing[0].value if rule.refusing else rule.category.value


MADE = sorted((FOLDER / "made").iterdir())


@functools.cache
def examples(rule: Rule) -> tuple[Example, ...]:
    """An example that breaks a rule, and one that does not; empty for a rule without any.

    They are files in `made` if they are too long for the rule's text, or about a text as a whole.
    """
    made = {file.stem.rpartition(".")[2]: file for file in MADE if file.name.startswith(f"{rule.id}.")}
    if made:
        found = {kind: Example(file.read_bytes(), f"catalog{file.suffix}") for kind, file in made.items()}
        return found["bad"], found.get("good", dumped(catalog()))
    texts = (source_text(rule, fragment) for fragment in (rule.bad, rule.good) if fragment)
    return tuple(Example(text.encode()) for text in texts)


def is_shown(rule: Rule) -> bool:
    """Return whether an example can show it: not what is about a folder, or about two catalogs."""
    has_examples = rule.bad or any(file.name.startswith(f"{rule.id}.") for file in MADE)
    return bool(has_examples) and rule.category is not Category.BUILD and rule.needs_option != "--together"


SHOWN = sorted(id_ for id_, rule in RULES.items() if is_shown(rule))


def options_for(rule: Rule) -> ValidationOptions:
    """The options that its example needs; the rule of a platform is shown for it alone, by its own words."""
    platform = rule.only_for or (rule.refusing or (None,))[0]
    return ValidationOptions(
        platforms=frozenset(filter(None, [platform])),
        literal=bool(rule.refusing),
        user_schemas=(("house.json", USER_SCHEMA),) if rule.needs_option == "--schema" else (),
    )


@functools.cache
def judged(example: Example, rule: Rule, platforms: frozenset[Platform] | None = None) -> ValidationResult:
    """The result with the options that the rule needs, or for other platforms."""
    options = options_for(rule)
    options = options if platforms is None else options._replace(platforms=platforms)
    limits = Limits(bytes=2_000, option="--max-bytes") if rule.id == "too-large" else Limits()
    try:
        if len(example.text) > limits.bytes:
            raise too_large_error(example.name, limits)
        at = "/spring/catalog" if rule.needs_option == "--at" else ""
        document = parse_catalog(decode_utf8(example.text, example.name), example.name, limits, at=at)
    except DocumentError as error:
        return unreadable_result(example.name, error.findings)
    return validate_document(document, options)


def broken_rules(result: ValidationResult, below: JsonPath = ()) -> set[str]:
    """The rules of findings below a path, and of refusals, which may have joined a finding of the specification."""
    found = [(finding.rule, finding.path) for finding in result.findings]
    found += [(each.rule, each.path) for outcome in result.outcomes.values() for each in outcome.refusals]
    return {rule for rule, path in found if path[: len(below)] == below}


def snapshot(rules: list[str]) -> Iterator[str]:
    """The reports of the examples of some rules; each example must break its rule and no other, and its twin must not."""
    for rule in rules:
        for heading, example, breaks in zip(("breaks", "meets"), examples(RULES[rule]), (True, False), strict=True):
            judgement = judged(example, RULES[rule])
            found = broken_rules(judgement)
            assert (rule in found) is breaks, rule
            if breaks and rule in CHECKS and RULES[rule].bad:
                others = {one for one in found - {rule} if not RULES[one].refusing}
                assert others <= {"field-too-new"}, rule  # of a field that is newer than OSB 2.14
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
        if RULES[name].category is Category.READING:  # of the text
            continue
        data = yaml.safe_load(examples(RULES[name])[0].text)
        if isinstance(data["services"], list) and len(data["services"]) == 1:
            data["services"] = [first, second, *data["services"]]
            assert name in broken_rules(judged(dumped(data), RULES[name]), ("services", 2)), name
            reached.add(name)
    assert CHECKS.keys() - reached == {"service-name-duplicate"}  # two service offerings break it


def test_every_snapshot_belongs_to_a_group() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(GROUPS)
    assert {file.name.partition(".")[0] for file in (FOLDER / "made").iterdir()} <= set(RULES)
    assert CHECKS.keys() <= set(SHOWN)


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
        result = judged(examples(RULES[rule])[0], RULES[rule])
        mended |= {finding.rule for finding in result.findings if finding.fixes}
    assert mended == {rule.id for rule in RULES.values() if rule.fix}


def test_platforms_refuse_the_examples_of_the_rules_in_their_records() -> None:
    for rule in SHOWN:
        verdicts = judged(examples(RULES[rule])[0], RULES[rule]).verdicts
        assert [each for each in platforms_refusing(rule) if verdicts[each].kind is VerdictKind.ACCEPTS] == [], rule
