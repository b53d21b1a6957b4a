"""Comments in YAML that silence a finding, and those that silence nothing."""

from __future__ import annotations

from osbctl.sources.parse import parse_document
from osbctl.validation.judge import judge
from osbctl.validation.options import ValidationOptions

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
    judgement = judge(parse_document(text.encode(), "c.yaml"), options or ValidationOptions())
    return [(finding.rule, finding.location.line) for finding in judgement.findings if finding.location]


def test_a_comment_silences_its_line_or_the_entry_below_it() -> None:
    assert found(TEXT) == [("name-characters", 10), ("default-implicit", 15)]
    assert found(TEXT.replace("osbctl:", "osbctl :")) == [
        ("name-characters", 4),
        ("default-implicit", 8),
        ("name-characters", 10),
    ]


def test_above_a_key_it_holds_for_the_list_in_its_column() -> None:
    text = TEXT.replace("    plans:\n", "    # osbctl: ignore[default-*]\n    plans:\n")
    assert found(text) == [("name-characters", 11)]


def test_what_silences_nothing_is_told() -> None:
    text = TEXT.replace("c_d", "cd  # osbctl: ignore[name-characters, advice, nosuch]")
    assert found(text) == [("ignore-unused", 10)] * 3 + [("default-implicit", 15)]
    only = ValidationOptions(select=frozenset({"name-characters", "ignore-unused"}))
    assert found(text, only) == [("ignore-unused", 10)] * 2  # the other rules were not asked for
    ignored = ValidationOptions(ignore=frozenset({"name-characters", "default-implicit"}))
    assert found(TEXT, ignored) == []  # a comment may serve another configuration
    assert found(text, ValidationOptions(ignore=frozenset({"ignore-unused"}))) == [("default-implicit", 15)]


def test_a_group_silences_all_of_it() -> None:
    assert (
        found(
            f"# osbctl: ignore[advice, spec]\n{TEXT}".replace("  # osbctl: ignore[default", "  # [").replace(
                "# osbctl: ignore[name", "# ["
            )
        )
        == []
    )
