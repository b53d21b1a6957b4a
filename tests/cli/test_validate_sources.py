"""Validation without a terminal: what an editor's server and other programs call."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from osbctl.commands.settings import ValidationSettings, all_rules, resolve_config
from osbctl.commands.validate import Validation, validate_sources
from osbctl.config import Config, load_config
from osbctl.errors import ConfigError, UsageError
from osbctl.findings import FailOn
from osbctl.rule import Category
from tests.cli.program import failure, osbctl
from tests.folders import catalogs_folder
from tests.git import commit

FAULTY = str(catalogs_folder() / "faulty.yaml")


def test_validation_returns_a_report_and_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gone = str(tmp_path / "gone.yaml")
    done = validate_sources(ValidationSettings((FAULTY, gone)), Config())
    assert [judgement.name for judgement in done.results] == [FAULTY, gone]
    assert (done.failed, done.notes) == (1, ())
    assert {judgement.fail_on for judgement in done.results} == {FailOn.ERROR}
    assert capfd.readouterr() == ("", "")


def rules(*sources: Path, **asked: tuple[str, ...]) -> list[set[str]]:
    """The rules that say something of each source."""
    done = validate_sources(ValidationSettings(tuple(map(str, sources)), **asked))  # type: ignore[arg-type]  # the fields of rules alone
    return [{finding.rule for finding in judgement.findings} for judgement in done.results]


def test_the_configuration_closest_to_each_source_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(FAULTY, tmp_path / name / "c.yaml")
    (tmp_path / "a/osbctl.toml").write_text('select = ["id-duplicate"]\nfail-on = "never"\n')
    (tmp_path / "osbctl.toml").write_text('select = ["plan-*"]\n')
    a, b = tmp_path / "a/c.yaml", tmp_path / "b/c.yaml"
    assert rules(a, b) == [{"id-duplicate"}, {"plan-name-duplicate"}]
    done = validate_sources(ValidationSettings((str(a), str(b))))
    assert [judgement.fail_on for judgement in done.results] == [FailOn.NEVER, FailOn.ERROR]
    commit(tmp_path)
    for folder in ("", "a", "b"):
        monkeypatch.chdir(tmp_path / folder)
        assert rules(Path("HEAD:a/c.yaml"), Path("HEAD:b/c.yaml")) == [{"id-duplicate"}, {"plan-name-duplicate"}]
    monkeypatch.chdir(tmp_path / "b")
    assert rules(Path("HEAD:./c.yaml"), Path("HEAD:../a/c.yaml")) == [{"plan-name-duplicate"}, {"id-duplicate"}]
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "osbctl.toml").write_text('select = ["id-duplicate"]\n')
    monkeypatch.chdir(elsewhere)
    assert rules(Path(FAULTY)) == [{"id-duplicate"}]  # nothing stands above it: that of the working folder holds


def test_rules_are_chosen_by_group_and_by_beginning(tmp_path: Path) -> None:
    (everything,) = rules(Path(FAULTY))
    of_schema = {rule for rule in everything if all_rules()[rule].category is Category.SCHEMA}
    assert rules(Path(FAULTY), select=("schema",)) == [of_schema]
    others = {rule for rule in everything if not rule.startswith("schema-")}
    assert rules(Path(FAULTY), ignore=("schema-*",)) == [others]
    with pytest.raises(UsageError, match="there is no rule 'schemas-\\*'"):
        rules(Path(FAULTY), select=("schemas-*",))


def test_a_severity_is_that_of_the_configuration(tmp_path: Path) -> None:
    shutil.copy(FAULTY, tmp_path / "c.yaml")
    (tmp_path / "osbctl.toml").write_text('[severity]\n"*" = "info"\nschema = "warning"\n')
    (judgement,) = validate_sources(ValidationSettings((str(tmp_path / "c.yaml"),))).results
    found = {(all_rules()[f.rule].category is Category.SCHEMA, f.severity.value) for f in judgement.findings}
    assert found == {(True, "warning"), (False, "info")}
    (tmp_path / "osbctl.toml").write_text('[severity]\nspec = "off"\n')
    with pytest.raises(ConfigError, match=r"osbctl\.toml: severity: 'off' is not one of: error, warning, info"):
        validate_sources(ValidationSettings((str(tmp_path / "c.yaml"),)))


def test_settings_of_a_path_hold_for_its_files_alone(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        shutil.copy(FAULTY, tmp_path / name)
    (tmp_path / "osbctl.toml").write_text(
        'ignore = ["secret-in-metadata"]\n[[per-path]]\npaths = ["b.*"]\nignore = ["schema"]\n'
    )
    assert resolve_config("-", None, load_config(str(tmp_path / "osbctl.toml"))).ignore == ("secret-in-metadata",)
    one, two = rules(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert one - two == {rule for rule in one if all_rules()[rule].category is Category.SCHEMA} != set()


def test_what_catalogs_share_is_reported_with_the_settings_of_the_file_that_it_is_reported_of(tmp_path: Path) -> None:
    names = ("first.yaml", "graded.yaml", "ignored.yaml", "counted.yaml")
    for name in names:
        shutil.copy(catalogs_folder() / "data-services.yaml", tmp_path / name)
    (tmp_path / "osbctl.toml").write_text(
        '[[per-path]]\npaths = ["graded.*"]\nseverity = {"shared-id" = "info"}\n'
        '[[per-path]]\npaths = ["ignored.*"]\nignore = ["shared-id"]\n'
        '[[per-path]]\npaths = ["counted.*"]\nplatform = ["kubernetes"]\n'
    )
    done = validate_sources(ValidationSettings(tuple(str(tmp_path / name) for name in names), together=True))
    severities = [{f.severity.value for f in one.findings if f.rule == "shared-id"} for one in done.results]
    assert severities == [set(), {"info"}, set(), {"error"}]
    assert done.notes == ()


PLAN = "  - {{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E{0:03}, name: p{0}, description: d}}\n"
TEXT = """\
services:
- id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  name: a_b
  description: d
  bindable: true
  plans:
"""


class Baseline:
    """A catalog of one plan with two findings, and a baseline that holds them."""

    def __init__(self, folder: Path, text: str = TEXT + PLAN.format(1)) -> None:
        self.catalog, self.file = folder / "c.yaml", folder / "baseline.json"
        self.catalog.write_text(text)
        self.written = self.run(write_baseline=True)

    def run(self, **options: Any) -> Validation:
        return validate_sources(ValidationSettings((str(self.catalog),), baseline=str(self.file), **options))


def test_only_what_is_new_is_reported_from_whatever_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = Baseline(tmp_path)
    assert baseline.written.notes == (f"wrote {baseline.file} (2 findings)",)
    assert {entry["source"] for entry in json.loads(baseline.file.read_text())["findings"]} == {"c.yaml"}
    monkeypatch.chdir(tmp_path)
    baseline.catalog.write_text("# moved down\n" + TEXT + PLAN.format(1))
    done = validate_sources(ValidationSettings(("c.yaml",), baseline="baseline.json"))
    assert (done.results[0].findings, done.results[0].left_out, done.notes) == ((), 2, ())
    baseline.catalog.write_text(TEXT + PLAN.format(1) + PLAN.format(2))
    assert [finding.rule for finding in baseline.run().results[0].findings] == ["default-implicit"]


def test_a_baseline_in_another_folder_holds_in_every_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for clone in ("one", "two"):
        (tmp_path / clone / "ci").mkdir(parents=True)
        (tmp_path / clone / "c.yaml").write_text(TEXT + PLAN.format(1))
    one, two = tmp_path / "one", tmp_path / "two"
    osbctl("validate", "c.yaml", "--baseline", "ci/b.json", "--write-baseline", cwd=one, code=0)
    text = (one / "ci/b.json").read_text()
    (two / "ci/b.json").write_text(text)
    assert "2 hidden" in osbctl("validate", "../c.yaml", "--baseline", "b.json", cwd=two / "ci", code=0).stdout
    (one / "ci/b.json").write_text(text.replace("../c.yaml", str(one / "c.yaml")))  # of an earlier version
    assert "2 hidden" in osbctl("validate", "c.yaml", "--baseline", "ci/b.json", cwd=one, code=0).stdout


SERVICE = """\
- id: 0F4C2B7A-51DE-4B39-A6C8-7E1D93F05B{0}
  name: {1}
  description: d
  bindable: true
  plans:
  - {{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90EF{0}, name: p, description: d, free: true, x: &a {{}}}}
"""


def lines(result: Validation) -> list[str]:
    return [f"{finding.location.line}: {finding.message}" for finding in result.results[0].findings if finding.location]


def test_a_baseline_knows_objects_and_not_indexes(tmp_path: Path) -> None:
    head, old, new = "services:\n", SERVICE.format("01", "a_b"), SERVICE.format("02", "c_d")
    baseline = Baseline(tmp_path, head + old)
    assert lines(baseline.run()) == []
    for text, number in ((new + old, 3), (old + new, 9), (new, 3)):  # the last one mends what was known
        baseline.catalog.write_text(head + text)
        done = baseline.run()
        assert lines(done) == [f"{number}: the name 'c_d' has '_', which API version 2.14 forbids"]
        assert done.notes == (
            () if old in text else (f"{baseline.file}: 1 of its findings are gone: update it with --write-baseline",)
        )
    baseline.catalog.write_text(head + SERVICE.format("02", "cd") + old)
    assert (lines(baseline.run()), baseline.run().results[0].left_out) == ([], 1)


def test_a_group_shows_its_new_places_alone(tmp_path: Path) -> None:
    baseline = Baseline(tmp_path, TEXT + PLAN.format(1) + PLAN.format(2))
    mended = PLAN.format(1).replace("}", ", free: true}")
    baseline.catalog.write_text(TEXT + PLAN.format(3) + mended + PLAN.format(4) + PLAN.format(2))
    done = baseline.run()
    [message] = lines(done)
    assert message == "7: 2 plans do not set `free`, and platforms disagree on the default"
    _, other = done.results[0].findings[0].at_each_place()
    assert other.location and other.location.line == 9
    assert done.notes == (f"{baseline.file}: 1 of its findings are gone: update it with --write-baseline",)


def test_a_baseline_of_a_folder_tells_what_is_gone(tmp_path: Path) -> None:
    source, file = tmp_path / "source", str(tmp_path / "known.json")
    shutil.copytree(catalogs_folder() / "source", source)
    changed = source / "services" / "redis" / "plans" / "cache.yaml"
    text = changed.read_text()
    changed.write_text(text.replace("free: true\n", ""))
    asked = {"sources": (str(source),), "baseline": file}
    assert validate_sources(ValidationSettings(**asked, write_baseline=True)).results[0].left_out == 1
    assert lines(validate_sources(ValidationSettings(**asked))) == []
    changed.write_text(text)
    assert "1 of its findings are gone" in validate_sources(ValidationSettings(**asked)).notes[-1]


def test_a_baseline_holds_what_catalogs_share(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a.yaml", "b.yaml")]
    for name in names:
        Path(name).write_text("services:\n" + SERVICE.format("01", "ab"))
    asked: dict[str, Any] = {"together": True, "baseline": str(tmp_path / "known.json")}
    assert any(result.findings for result in validate_sources(ValidationSettings(tuple(names), together=True)).results)
    for write in (True, False):
        done = validate_sources(ValidationSettings(tuple(names), write_baseline=write, **asked))
        assert [result.findings for result in done.results] == [(), ()]
        assert sum(result.left_out for result in done.results) == 3
    Path(names[0]).write_text("services: []\n")
    assert "3 of its findings are gone" in validate_sources(ValidationSettings(tuple(names), **asked)).notes[-1]


def test_a_baseline_of_indexes_is_refused_in_a_sentence(tmp_path: Path) -> None:
    baseline = Baseline(tmp_path)
    entry = {"rule": "id-not-guid", "source": "c.yaml", "message": "m", "places": 1, "fingerprint": "0" * 32}
    baseline.file.write_text(json.dumps({"version": 1, "findings": [entry]}))
    with pytest.raises(ConfigError, match=r"it knows findings by their index") as caught:
        baseline.run()
    assert caught.value.advice == "write it with --write-baseline anew"
    assert lines(baseline.run(write_baseline=True)) == lines(baseline.run()) == []


def test_what_is_gone_is_told_unless_it_was_not_asked_for(tmp_path: Path) -> None:
    baseline = Baseline(tmp_path)
    assert baseline.run(select=("default-implicit",)).notes == baseline.run(ignore=("name-characters",)).notes == ()
    baseline.catalog.write_text(TEXT.replace("a_b", "ab") + PLAN.format(1))
    gone = "1 of its findings are gone: update it with --write-baseline"
    assert baseline.run().notes == (f"{baseline.file}: {gone}",)


def test_what_cannot_be_read_is_never_in_a_baseline(tmp_path: Path) -> None:
    assert Baseline(tmp_path, "services: [").run().results[0].findings


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 3, "findings": []}', '{"version": 2, "findings": [1]}'])
def test_another_file_is_no_baseline(tmp_path: Path, text: str) -> None:
    baseline = Baseline(tmp_path)
    baseline.file.write_text(text)
    with pytest.raises(ConfigError, match="not an osbctl baseline"):
        baseline.run()


def test_a_report_does_not_replace_the_baseline_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(TEXT)
    words = ("validate", "c.yaml", "--baseline", "same.json", "--write-baseline", "-o", "./same.json")
    assert "./same.json is the file of the baseline, too" in failure(*words, cwd=tmp_path, code=2)
    assert not (tmp_path / "same.json").exists()
    for words in (("--baseline", "-"), ("--baseline", "-", "--write-baseline")):
        assert "--baseline names a file" in failure("validate", "c.yaml", *words, cwd=tmp_path, code=2)
    assert [file.name for file in tmp_path.iterdir()] == ["c.yaml"]
