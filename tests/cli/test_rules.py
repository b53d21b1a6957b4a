"""`osbctl rules`: lists by group, explanations, and the same for programs."""

import json
import re

import pytest

from osbctl.commands.rules import rules
from osbctl.commands.settings import all_rules
from osbctl.rule import Category
from tests.platforms.known import known
from tests.reports.standards import checked_json

RULES = all_rules()


def shown(capsysbinary: pytest.CaptureFixture[bytes], word: str | None = None, **options: object) -> str:
    assert rules(word, **options) == 0  # type: ignore[arg-type]
    return capsysbinary.readouterr().out.decode()


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    monkeypatch.setattr("osbctl.commands.rules.wrap_width", lambda _: request.param)
    return int(request.param)


@pytest.mark.parametrize("columns", [80, 120], indirect=True)
def test_the_list_fits_the_terminal_and_loses_nothing(columns: int, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    text = shown(capsysbinary)
    assert max(map(len, text.splitlines())) <= columns
    flat = " ".join(text.split())
    for category in Category:
        assert f"{category.value}: {category.meaning}" in flat
    for record in RULES.values():
        marked = f"{record.id} {record.severity.value} {record.summary}{' (fixable)' if record.fix else ''}"
        assert re.search(rf"{re.escape(marked)}(?! \(fixable)", flat)


def test_a_pipe_gets_a_line_a_rule(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    lines = shown(capsysbinary).splitlines()
    _, *group = shown(capsysbinary, "platform").splitlines()
    assert len({re.search(r"  (error|warning|info)  ", line).start() for line in group}) == 1  # type: ignore[union-attr]
    assert sum(line.startswith("  ") for line in lines) == len(RULES)
    assert lines[0] == f"reading: {Category.READING.meaning}"
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize(("word", "pattern"), [("advice", ""), ("id-*", r"id-"), ("cloudfoundry-*", "cloudfoundry-")])
def test_a_group_or_a_prefix_lists_a_part(word: str, pattern: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    listed = re.findall(r"(?m)^  (\S+)", shown(capsysbinary, word))
    wanted = [id_ for id_, record in RULES.items() if (re.match(pattern, id_) if pattern else record.category == word)]
    assert sorted(listed) == sorted(wanted)


@pytest.mark.parametrize("columns", [80], indirect=True)
def test_each_rule_is_explained(columns: int, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for id_, record in RULES.items():
        text = shown(capsysbinary, id_)
        flat = " ".join(text.split())
        for part in (record.summary, record.why, record.source, record.fix, record.bad, record.good):
            assert " ".join(part.split()) in flat, id_
        assert all(len(line) <= columns for line in text.splitlines() if not line.startswith("    ")), id_
    assert "Refused by: Cloud Foundry, SAP Service Manager" in shown(capsysbinary, "change-plan-id")


def test_the_json_meets_its_schema_and_tells_all(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    told = checked_json(shown(capsysbinary, format="json"), "rules-1")
    assert sorted(rule["id"] for rule in told["rules"]) == sorted(RULES)
    (one,) = json.loads(shown(capsysbinary, "id-duplicate", format="json"))["rules"]
    assert known(one["refused_by"]) == ("cloudfoundry", "kubernetes", "service-manager")
    assert one["why"] == RULES["id-duplicate"].why
