"""A baseline holds what a project starts with: only what is new is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from osbctl.errors import ConfigError
from osbctl.tasks.options import Request
from osbctl.tasks.validate import Validation, validate

PLAN = "  - {{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E{0:03}, name: p{0}, description: d}}\n"
TEXT = """\
services:
- id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  name: a_b
  description: d
  bindable: true
  plans:
"""


def run(file: Path, baseline: Path, *, write: bool = False) -> Validation:
    return validate(Request((str(file),), baseline=str(baseline), write_baseline=write))


def test_only_what_is_new_is_reported_from_whatever_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, baseline = tmp_path / "c.yaml", tmp_path / "baseline.json"
    file.write_text(TEXT + PLAN.format(1))
    assert run(file, baseline, write=True).notes == (f"wrote {baseline} (2 findings)",)
    assert {entry["source"] for entry in json.loads(baseline.read_text())["findings"]} == {"c.yaml"}
    monkeypatch.chdir(tmp_path)
    file.write_text("# moved down\n" + TEXT + PLAN.format(1))
    done = validate(Request(("c.yaml",), baseline="baseline.json"))
    assert (done.results[0].findings, done.results[0].left_out, done.notes) == ((), 2, ())
    file.write_text(TEXT + PLAN.format(1) + PLAN.format(2))
    assert [finding.rule for finding in run(file, baseline).results[0].findings] == ["default-implicit"]


def test_what_is_gone_is_told(tmp_path: Path) -> None:
    file, baseline = tmp_path / "c.yaml", tmp_path / "baseline.json"
    file.write_text(TEXT + PLAN.format(1))
    run(file, baseline, write=True)
    file.write_text(TEXT.replace("a_b", "ab") + PLAN.format(1))
    assert run(file, baseline).notes == (f"{baseline}: 1 of its findings are gone: update it with --write-baseline",)


@pytest.mark.parametrize("narrowed", [{"select": ("default-implicit",)}, {"ignore": ("name-characters",)}])
def test_what_was_not_asked_for_is_not_called_gone(tmp_path: Path, narrowed: dict[str, tuple[str, ...]]) -> None:
    file, baseline = tmp_path / "c.yaml", tmp_path / "baseline.json"
    file.write_text(TEXT + PLAN.format(1))
    run(file, baseline, write=True)
    assert validate(Request((str(file),), baseline=str(baseline), **narrowed)).notes == ()


def test_what_cannot_be_read_is_never_in_a_baseline(tmp_path: Path) -> None:
    file, baseline = tmp_path / "c.yaml", tmp_path / "baseline.json"
    file.write_text("services: [")
    run(file, baseline, write=True)
    assert run(file, baseline).results[0].findings


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "findings": []}', '{"version": 1, "findings": [1]}'])
def test_another_file_is_no_baseline(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yaml").write_text(TEXT + PLAN.format(1))
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(ConfigError, match="not an osbctl baseline"):
        run(tmp_path / "c.yaml", tmp_path / "b.json")
