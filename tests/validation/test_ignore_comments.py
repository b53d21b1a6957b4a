"""Comments in YAML that silence a finding, and those that name no rule."""

import json
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from osbctl.commands.settings import ValidationSettings
from osbctl.commands.validate import validate_sources
from osbctl.findings import Finding
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import parse_document
from osbctl.sources.folder import read_folder
from osbctl.sources.yaml_reader import Builder
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.case import case, each

TEXT = """\
services:
  # osbctl: ignore[default-implicit] sold by hand
  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    name: a_b  # osbctl: ignore[name-characters] published
    description: d
    bindable: true
    plans:
    - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E001, name: p, description: d}
  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5
    name: c_d
    description: |
      # osbctl: ignore[id-duplicate] no comment, but text
    bindable: true
    plans:
    - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E002, name: p, description: d}
"""
MORE_PLANS = """\
    # osbctl: ignore[name-characters]
    - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E003, name: p_2, description: d, free: true}
    - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E004, name: p_3, description: d, free: true}
"""


def findings_in(text: str, **options: Any) -> tuple[Finding, ...]:
    return validate_document(parse_catalog(text, "c.yaml"), ValidationOptions(**options)).findings


def rules_with_lines(text: str, **options: Any) -> list[tuple[str, int]]:
    return [(finding.rule, finding.location.line) for finding in findings_in(text, **options) if finding.location]


def unknown_rules(text: str) -> list[tuple[str, str, str]]:
    """Message, hint and place of the findings on comments that name no rule."""
    return [(f.message, f.advice, str(f.location)) for f in findings_in(text) if f.rule == "ignore-unknown"]


def test_a_comment_silences_its_line_or_the_entry_below_it() -> None:
    assert rules_with_lines(TEXT) == [("name-characters", 10), ("default-implicit", 15)]
    assert rules_with_lines(TEXT.replace("osbctl:", "osbctl :")) == [("name-characters", 4), ("default-implicit", 8)]
    text = TEXT.replace("    plans:\n", "    # osbctl: ignore[default-*]\n    plans:\n")
    assert rules_with_lines(text) == [("name-characters", 11)]
    bare = TEXT.replace("# osbctl: ignore[default", "# [").replace("# osbctl: ignore[name", "# [")
    assert rules_with_lines(f"# osbctl: ignore[advice, spec]\n{bare}") == []
    three_plans = TEXT.replace("c_d", "cd") + MORE_PLANS
    assert rules_with_lines(three_plans) == [("default-implicit", 15), ("name-characters", 18)]
    comment = "# osbctl: ignore[name-characters]"
    for indent in ("", "    "):
        line_above = TEXT.replace("5\n    name: c_d", f"5\n{indent}{comment}\n    tags: [t]\n    name: c_d")
        assert rules_with_lines(line_above) == [("name-characters", 12), ("default-implicit", 17)]
    at_the_end_of_the_line_above = TEXT.replace("E3B5\n", f"E3B5  {comment}\n")
    assert rules_with_lines(at_the_end_of_the_line_above) == rules_with_lines(TEXT)
    below = TEXT.replace("c_d\n", f"c_d\n    {comment}\n").replace("0E002", f"0E002,  {comment}\n      tags: [x]")
    assert rules_with_lines(below)[0] == ("name-characters", 10)
    for last in (f"    {comment}\n    - {{id: x}}\n", "# osbctl: ignore[advice, spec]\n"):
        assert ("name-characters", 10) in rules_with_lines(TEXT + last)
    another_between = TEXT.replace("    name: c_d", f"    {comment}\n    # a name of old\n\n    name: c_d")
    assert rules_with_lines(another_between) == [("default-implicit", 18)]
    lone_dash = TEXT.replace("  - id", "  -\n    id", 1)
    assert rules_with_lines(lone_dash) == [("name-characters", 11), ("default-implicit", 16)]


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    text = """\
a: |
  # osbctl: ignore[text]
# osbctl: ignore[zzz]
b: >-
  x

  # osbctl: ignore[text]
c: 'x # osbctl: ignore[text]'  # osbctl: ignore[zzz]
d: ["x
  # osbctl: ignore[text]", y]  # osbctl: ignore[zzz]
services: []  # osbctl: ignore[zzz]
# osbctl: ignore[zzz]
"""
    lines = [line for rule, line in rules_with_lines(text) if rule == "ignore-unknown"]
    assert lines == [number for number, line in enumerate(text.split("\n"), 1) if "zzz" in line]


@each("value", [
    "|  {}\n      x_y\n", ">-  {}\n      x_y\n", "\n      |+  {}\n      x_y\n", "x_\n      y  {}\n", "\n      x_y  {}\n",
    "'x_\n      y'  {}\n", '"x_\n\n      y"  {}\n', "[{{a: 1,\n      b: 2}}]  {}\n", "[x,\n      z]  {}\n",
])  # fmt: skip
def test_a_comment_after_a_value_of_several_lines_is_about_its_entry(value: str) -> None:
    without, ignored, unknown = (
        findings_in(TEXT.replace("name: c_d\n", f"name: {value.format(comment)}"))
        for comment in ("# none", "# osbctl: ignore[name-*, schema-type]", "# osbctl: ignore[zzz]")
    )
    assert [finding.rule for finding in ignored] == ["default-implicit"]
    assert len(without) == 2
    assert "there is no rule 'zzz' to ignore" in [finding.message for finding in unknown]


def test_a_comment_after_a_value_is_not_about_what_is_around_it() -> None:
    comment = "# osbctl: ignore[name-characters]"
    for text in (
        TEXT.replace("name: c_d\n    description: |\n", f"name: c_d\n    description: |  {comment}\n"),
        TEXT.replace("name: c_d\n", f"name: c_d\n    metadata:\n      longDescription: x\n        y  {comment}\n"),
        TEXT.replace(
            "    name: c_d\n", f"    metadata:\n      a: x\n    name: c_d\n    tags: [x,\n      y]  {comment}\n"
        ),
    ):
        assert "name-characters" in [rule for rule, _ in rules_with_lines(text)]
    first = TEXT.partition("  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5")[0]
    flow = "  - {name: c_d, metadata: {a: 1,\n      b: 2},  #1\n    id: a, description: d, bindable: true, plans: []}  #2\n"
    for number, told in ("#1", True), ("#2", False):
        assert (("name-characters", 9) in rules_with_lines(first + flow.replace(number, comment))) is told
    one_blank = TEXT.replace(
        "name: c_d\n", f"name: [c_d,\n      x] {comment.replace('name-characters', 'schema-type')}\n"
    )
    assert "schema-type" not in [rule for rule, _ in rules_with_lines(one_blank)]
    plan = "- {metadata: {bullets: [a,\n        b]}  # osbctl: ignore[default-implicit]\n      , id: "
    assert ("default-implicit", 15) in rules_with_lines(
        TEXT.replace("- {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E002", plan + "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E002")
    )


def test_a_comment_holds_in_a_spring_configuration() -> None:
    own_names = TEXT.replace("bindable: true", "planUpdateable: true")
    text = "spring.cloud.openservicebroker.catalog:\n" + textwrap.indent(own_names, "  ")
    assert [line for rule, line in rules_with_lines(text) if rule == "name-characters"] == [11]


def test_a_comment_holds_in_a_block_of_another_file_and_around_it() -> None:
    head = "kind: ConfigMap\ndata:\n  catalog.yaml: {}"
    block = head.format("|\n") + textwrap.indent(TEXT, "    ")
    assert rules_with_lines(block) == [("name-characters", 13), ("default-implicit", 18)]
    unknown = block.replace("c_d", "cd  # osbctl: ignore[zzz]")
    assert rules_with_lines(unknown) == [("ignore-unknown", 13), ("default-implicit", 18)]
    unnamed = block.replace("# osbctl: ignore[name-characters] published", "")
    later = unnamed.replace("c_d", "c_d  # osbctl: ignore[name-*]")
    assert rules_with_lines(later) == [("name-characters", 7), ("default-implicit", 18)]
    around = block.replace("  catalog", "  # osbctl: ignore[default-implicit]\n  catalog").replace("c_d", "cd")
    assert rules_with_lines(around) == []
    # The lines of such a text are not those of the file: one comment would cover all of it.
    assert rules_with_lines(head.format(json.dumps(TEXT))) == [("default-implicit", 3), ("name-characters", 3)]


def test_an_unknown_rule_is_told_where_its_finding_is_selected() -> None:
    text = TEXT.replace("c_d", "cd  # osbctl: ignore[name-characters, advice, nosuch]")
    assert rules_with_lines(text) == [("ignore-unknown", 10), ("default-implicit", 15)]
    assert rules_with_lines(text, select=frozenset({"name-characters"})) == []
    assert rules_with_lines(text, ignore=frozenset({"ignore-unknown"})) == [("default-implicit", 15)]


def test_an_unknown_rule_in_a_comment_hides_nothing() -> None:
    """The number of hidden findings stays."""
    options = ValidationOptions(ignore=frozenset({"default-implicit"}))
    for comment in ("", "  # osbctl: ignore[nosuch]"):
        document = parse_document(TEXT.replace("c_d", f"cd{comment}").encode(), "c.yaml")
        assert validate_document(document, options).left_out == 2


def test_a_comment_that_names_no_rule_or_an_unknown_one_is_told() -> None:
    assert unknown_rules("services: []  # osbctl: ignore[nme-characters, zzz]\n") == [
        ("there is no rule 'nme-characters' to ignore", "did you mean name-characters?", "c.yaml:1:15"),
        ("there is no rule 'zzz' to ignore", "remove the comment", "c.yaml:1:15"),
    ]
    told = "the comment does not say which rule to ignore", "write the rule in brackets: ignore[RULE]", "c.yaml:1:15"
    for comment in ("ignore", "ignore legacy readers", "ignore[]", "ignore[ , ]", "ignore[schema"):
        with case(comment):
            assert unknown_rules(f"services: []  # osbctl: {comment}\n") == [told]
    assert unknown_rules("services: []  # osbctl: ignores nothing\n") == []


def test_a_comment_holds_in_its_file_of_a_source_folder(tmp_path: Path) -> None:
    plans = tmp_path / "services" / "a" / "plans"
    plans.mkdir(parents=True)
    service = TEXT.partition("  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5")[0]
    service = "\n".join(line[4:] for line in service.splitlines()[2:6])
    (tmp_path / "services" / "a.yaml").write_text(f"{service}\nmetadata: {{}}  # osbctl: ignore[no-such]\n")
    (tmp_path / "catalog.yaml").write_text("# osbctl: ignore[no-rule]\nservices: [a]\n")
    plan = "id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E00{}\ndescription: d\n"
    (plans / "p.yaml").write_text(f"# osbctl: ignore[default-implicit]\nname: p_q\n{plan.format(1)}")
    (plans / "q.yaml").write_text(f"name: q  # osbctl: ignore[default-implicit]\n{plan.format(2)}")
    found = validate_document(read_folder(str(tmp_path)), ValidationOptions()).findings
    assert [(Path(f.location.source).name, f.location.line, f.rule) for f in found if f.location] == [
        ("catalog.yaml", 1, "ignore-unknown"),
        ("a.yaml", 5, "ignore-unknown"),
        ("p.yaml", 2, "name-characters"),
    ]


def test_a_comment_ignores_what_its_catalog_shares_with_another(tmp_path: Path) -> None:
    text = TEXT.replace("_", "-").partition("  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5")[0]
    files = tmp_path / "a.yaml", tmp_path / "b.yaml"
    files[0].write_text(text)
    for written, shared in (
        ("name-characters", ["shared-id", "shared-id", "shared-service-name"]),
        ("shared-*", ["shared-id"] * 2),
    ):
        files[1].write_text(text.replace("name-characters", written))
        judged = validate_sources(ValidationSettings(tuple(map(str, files)), together=True)).results
        assert sorted(finding.rule for judgement in judged for finding in judgement.findings) == shared


def test_thousands_of_comments_cost_no_more_than_their_number() -> None:
    plan = "    # osbctl: ignore[advice]\n    - {{id: i{0}, name: a_{0}, description: d}}  # osbctl: ignore[spec]\n"
    text = TEXT.partition("    - {id")[0] + "".join(plan.format(number) for number in range(1_500))
    begun = time.process_time()
    assert rules_with_lines(text) == []
    assert time.process_time() - begun < 20  # half a second on a quiet machine


def test_a_text_is_parsed_once_for_its_values_and_once_for_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    build = Builder.build

    def counted(builder: Builder) -> None:
        parsed.append(builder)
        build(builder)

    monkeypatch.setattr(Builder, "build", counted)
    clean = TEXT.replace("osbctl:", "").replace("a_b", "ab").replace("c_d", "cd")
    clean = clean.replace("name: p,", "name: p, free: true,")
    for text, findings, parses in ((clean, 0, 1), (TEXT, 2, 2), (TEXT.replace("osbctl:", ""), 2, 2)):
        parsed.clear()
        assert len(rules_with_lines(text)) == findings
        assert len(parsed) == parses
