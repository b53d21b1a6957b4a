"""Comments in YAML that silence a finding, and those that silence nothing."""

import time
from pathlib import Path

import pytest
import yaml

from osbctl.platforms import Platform
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.folder import read_folder
from osbctl.sources.parse import parse_document
from osbctl.tasks.options import Request
from osbctl.tasks.validate import validate
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

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


def found(text: str, options: ValidationOptions | None = None) -> list[tuple[str, int]]:
    judgement = validate_document(parse_document(text.encode(), "c.yaml"), options or ValidationOptions())
    return [(finding.rule, finding.location.line) for finding in judgement.findings if finding.location]


def test_a_comment_silences_its_line_or_the_entry_below_it() -> None:
    assert found(TEXT) == [("name-characters", 10), ("default-implicit", 15)]
    assert found(TEXT.replace("osbctl:", "osbctl :")) == [("name-characters", 4), ("default-implicit", 8)]
    text = TEXT.replace("    plans:\n", "    # osbctl: ignore[default-*]\n    plans:\n")
    assert found(text) == [("name-characters", 11)]
    bare = TEXT.replace("# osbctl: ignore[default", "# [").replace("# osbctl: ignore[name", "# [")
    assert found(f"# osbctl: ignore[advice, spec]\n{bare}") == []


def test_what_silences_nothing_is_told() -> None:
    text = TEXT.replace("c_d", "cd  # osbctl: ignore[name-characters, advice, nosuch]")
    assert found(text) == [("ignore-unused", 10)] * 3 + [("default-implicit", 15)]
    only = ValidationOptions(select=frozenset({"name-characters", "ignore-unused"}))
    assert found(text, only) == [("ignore-unused", 10)] * 2  # the other rules were not asked for
    ignored = ValidationOptions(ignore=frozenset({"name-characters", "default-implicit"}))
    assert found(TEXT, ignored) == []  # a comment may serve another configuration
    assert found(text, ValidationOptions(ignore=frozenset({"ignore-unused"}))) == [("default-implicit", 15)]


def test_an_unknown_rule_in_a_comment_has_a_suggestion() -> None:
    text = b"services: []  # osbctl: ignore[nme-characters, zzz]\n"
    findings = validate_document(parse_document(text, "c.yaml"), ValidationOptions()).findings
    hints = [finding.hint for finding in findings if finding.rule == "ignore-unused"]
    assert hints == ["did you mean name-characters?", "remove the comment"]


@pytest.mark.parametrize("comment", ["ignore", "ignore legacy readers", "ignore[]", "ignore[ , ]", "ignore[schema"])
def test_a_comment_that_names_no_rule_is_told(comment: str) -> None:
    text = f"services: []  # osbctl: {comment}\n"
    told = validate_document(parse_document(text.encode(), "c.yaml"), ValidationOptions()).findings
    assert [(f.message, f.hint) for f in told if f.rule == "ignore-unused"] == [
        ("the comment does not say which rule to ignore", "write the rule in brackets: ignore[RULE]")
    ]
    assert "ignore-unused" not in dict(found("services: []  # osbctl: ignores nothing\n"))


def test_a_comment_holds_in_its_file_of_a_source_folder(tmp_path: Path) -> None:
    plans = tmp_path / "services" / "a" / "plans"
    plans.mkdir(parents=True)
    service = TEXT.partition("  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5")[0]
    service = "\n".join(line[4:] for line in service.splitlines()[2:6])
    (tmp_path / "services" / "a.yaml").write_text(f"{service}\nmetadata: {{}}  # osbctl: ignore[id-duplicate]\n")
    (tmp_path / "catalog.yaml").write_text("# osbctl: ignore[name-characters]\nservices: [a]\n")
    plan = "id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E00{}\ndescription: d\n"
    (plans / "p.yaml").write_text(f"# osbctl: ignore[default-implicit]\nname: p_q\n{plan.format(1)}")
    (plans / "q.yaml").write_text(f"name: q  # osbctl: ignore[default-implicit]\n{plan.format(2)}")
    found = validate_document(read_folder(str(tmp_path)), ValidationOptions()).findings
    assert [(Path(f.location.source).name, f.location.line, f.rule) for f in found if f.location] == [
        ("catalog.yaml", 1, "ignore-unused"),
        ("a.yaml", 5, "ignore-unused"),
        ("p.yaml", 2, "name-characters"),
    ]


def together(*files: Path, both: bool) -> list[str]:
    judged = validate(Request(tuple(map(str, files)), together=both)).results
    return [finding.rule for judgement in judged for finding in judgement.findings]


def test_what_only_other_files_could_bring_up_is_not_called_unused(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    text = TEXT.replace("_", "-").partition("  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5")[0]
    text = text.replace("name-characters", "shared-*").replace("default-implicit", "default-implicit, shared-id")
    first.write_text(text.replace("[shared-*]", "[shared-dashboard-client]").replace(", shared-id", ""))
    second.write_text(text)
    assert together(second, both=False) == together(first, both=False) == []
    assert together(first, second, both=True) == ["ignore-unused"]
    second.write_text(text.replace(", shared-id", ""))
    assert together(first, second, both=True) == ["ignore-unused", "shared-id", "shared-id"]


def test_what_this_run_does_not_seek_is_not_called_unused() -> None:
    text = TEXT.replace("c_d", "cd  # osbctl: ignore[korifi-bindable-implicit, house-schema]")
    assert found(text) == [("default-implicit", 15)]
    korifi = ValidationOptions(platforms=frozenset({Platform.KORIFI}), user_schemas=(("house.json", {}),))
    assert [rule for rule, _ in found(text, korifi)].count("ignore-unused") == 2


def test_beside_the_catalog_that_was_pointed_at_no_comment_is_called_unused() -> None:
    inside = "".join(f"  {line}\n" for line in TEXT.splitlines())
    text = f"a:\n{inside}b:\n{inside.replace('a_b', 'ab')}"
    for at, rules in (("/a", []), ("/b", ["ignore-unused"])):
        judgement = validate_document(parse_catalog(text, "c.yaml", at=at), ValidationOptions())
        assert [f.rule for f in judgement.findings if f.rule == "ignore-unused"] == rules


def test_thousands_of_comments_cost_no_more_than_their_number() -> None:
    plan = "    # osbctl: ignore[advice]\n    - {{id: i{0}, name: a_{0}, description: d}}  # osbctl: ignore[spec]\n"
    head = TEXT.partition("    - {id")[0]
    text = head.replace("_", "-") + "".join(plan.format(number) for number in range(1_500))
    begun = time.perf_counter()
    assert found(text) == [("ignore-unused", 4)]
    assert time.perf_counter() - begun < 20  # half a second on a quiet machine


def test_a_text_is_parsed_once_for_its_values_and_once_for_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    loaders = []

    class Counted(yaml.CSafeLoader):
        def __init__(self, stream: object) -> None:
            loaders.append(self)
            super().__init__(stream)  # type: ignore[arg-type]

    monkeypatch.setattr(yaml, "CSafeLoader", Counted)
    clean = TEXT.replace("osbctl:", "").replace("a_b", "ab").replace("c_d", "cd")
    clean = clean.replace("name: p,", "name: p, free: true,")
    for text, findings, parses in ((clean, 0, 1), (TEXT, 2, 2), (TEXT.replace("osbctl:", ""), 2, 2)):
        loaders.clear()
        assert len(found(text)) == findings
        assert len(loaders) == parses
