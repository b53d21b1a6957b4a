"""The steps of action.yml, run by the shell as GitHub runs them; their comment written by the real gh."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.broker_server import Answer, listening
from tests.deploy.harness import FAULTY, GOOD, ROOT, quick, repository, run, shellcheck, write
from tests.git import commit, git

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}
SCRIPTS = [name for name, step in STEPS.items() if "run" in step]
CHANGED = GOOD.replace("name: small", "name: tiny", 1)
GOOD_JSON = (ROOT / "catalogs/interface-example.json").read_text()


def evaluated(expression: str, known: dict[str, str]) -> str:
    """`${{ a || b }}` as GitHub does it, for the plain names that action.yml uses."""
    found = re.fullmatch(r"\$\{\{ (.*) \}\}", expression)
    return next((known[name] for name in found[1].split(" || ") if known[name]), "") if found else expression


@dataclass
class Job:
    """A job on a runner, in a clone with a pull request checked out."""

    workspace: Path
    temp: Path
    known: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    action: Path = ROOT
    named: tuple[object, ...] = ()
    """What the sources were last found from; the same without a pattern finds the same."""

    @property
    def summary(self) -> str:
        return (self.temp / "summary").read_text()

    @property
    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in (self.temp / "output").read_text().splitlines())

    def step(self, name: str, *, code: int | None = 0, **inputs: str) -> str:
        """The output of a step that ends with `code` (None: any); before it the sources are found."""
        named = (inputs.get("sources"), inputs.get("exclude"), self.action)
        if name in ("validate", "diff", "page") and self.named != named:
            self.step("sources", **inputs)
        if name == "sources":
            self.named = named
        known = {**self.known, **{f"inputs.{key.replace('_', '-')}": value for key, value in inputs.items()}}
        script = self.temp / f"{name}.sh"
        script.write_text(STEPS[name]["run"])
        given = {key: evaluated(value, known) for key, value in STEPS[name]["env"].items()}
        runner = {
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary"),
            "GITHUB_OUTPUT": str(self.temp / "output"),
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_REPOSITORY": "owner/catalogs",
            "GITHUB_ACTIONS": "true",
        }
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script]
        done = run(*command, cwd=self.workspace, env={**runner, **given, **self.environment}, timeout=120)
        said = done.stdout + done.stderr
        assert code in (None, done.returncode), said
        return said


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that jobs clone; they do not push to it."""
    made = tmp_path_factory.mktemp("origin") / "origin"
    shutil.copytree(ROOT / "catalogs/source", made / "folder")
    return repository(made, {"catalog.yaml": GOOD, "README.md": "x"})


@pytest.fixture(scope="module")
def clone(origin: Path) -> Path:
    """The clone that each job gets a copy of."""
    made = origin.with_name("clone")
    git(origin, "clone", "--quiet", "--depth=1", f"file://{origin}", str(made))
    git(made, "checkout", "--quiet", "-b", "change")
    return made


@pytest.fixture
def job(tmp_path: Path, clone: Path) -> Job:
    workspace = tmp_path / "work space"
    shutil.copytree(clone, workspace)
    temp = tmp_path / "temp"
    temp.mkdir()
    quick(temp / "osbctl/bin/osbctl")
    (temp / "osbctl/bin/python").symlink_to(sys.executable)
    defaults = {f"inputs.{name}": str(told.get("default", "")) for name, told in ACTION["inputs"].items()}
    known = {"github.base_ref": "main", "github.event.pull_request.number": "7", "inputs.token": "t0ken"}
    return Job(workspace, temp, {**defaults, **known})


def test_no_script_holds_an_expression_and_every_input_is_used() -> None:
    assert not [name for name in SCRIPTS if "${{" in STEPS[name]["run"]]
    text = (ROOT / "action.yml").read_text()
    assert not [name for name in ACTION["inputs"] if f"inputs.{name} " not in text]


@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_passes(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(STEPS[name]["run"])
    shellcheck(script, "--shell=bash", "--severity=style")


@pytest.mark.release
def test_it_installs_from_its_own_path(job: Job) -> None:
    shutil.rmtree(job.temp / "osbctl")
    job.known["steps.python.outputs.python-path"] = sys.executable
    job.step("install")
    assert run(job.temp / "osbctl/bin/osbctl", "--version", cwd=job.temp).stdout.startswith("osbctl ")


def test_without_sources_all_of_the_repository_is_checked(job: Job) -> None:
    assert "::error" not in job.step("validate")
    assert "    catalog.yaml: no findings" in job.summary
    assert "    folder: no findings" in job.summary
    assert job.outputs == {"findings": "0", "refused": "false"}
    write(job.workspace, dict.fromkeys(("brokers/a.json", "brokers/deep/b.json", "old/[x].json"), GOOD_JSON))
    write(job.workspace, {"brokers/c.txt": "x"})
    for sources, found in (
        ("brokers/**/*.json", ["brokers/a.json", "brokers/deep/b.json"]),
        ("brokers/*.json\n\n old/[x].json", ["brokers/a.json", "old/[x].json"]),
        ("*.nothing", ["*.nothing"]),
    ):
        job.step("sources", sources=sources)
        assert (job.temp / "osbctl-sources").read_text().splitlines() == found


def test_a_copy_of_osbctl_and_what_is_excluded_are_left_out(job: Job) -> None:
    write(job.workspace, {"osbctl/catalogs/faulty.yaml": FAULTY.read_text(), "tests/faulty.yaml": FAULTY.read_text()})
    job.action = job.workspace / "osbctl"
    job.step("validate", exclude="tests/*")
    assert job.step("diff", exclude="tests/*") == "osbctl: found 2 catalogs: catalog.yaml, folder\n"
    job.step("page", exclude="tests/*", page="true")
    job.step("validate", code=1)
    job.action = ROOT
    assert "osbctl/catalogs/faulty.yaml" in job.step("validate", code=1, exclude="tests")


def test_outputs_sarif_and_further_arguments(job: Job) -> None:
    write(job.workspace, {"catalog.yaml": FAULTY.read_text()})
    job.step("validate", code=1, sarif="found.sarif", platforms="kubernetes")
    assert job.outputs == {"findings": "15", "refused": "true"}
    assert len(json.loads((job.workspace / "found.sarif").read_text())["runs"][0]["results"]) == 15
    write(job.workspace, {"with blank.toml": ""})
    arguments = "--select\nid-duplicate\n--config\nwith blank.toml"
    assert job.step("validate", code=1, validate_args=arguments, sources="catalog.yaml").count("::error") == 1
    assert job.outputs["findings"] == "1"
    (job.workspace / "catalog.yaml").write_text("services: [")
    job.step("validate", code=1, sources="catalog.yaml")
    assert job.outputs == {"findings": "1", "refused": "false"}
    job.step("diff", code=1, diff_args="--instances\nnone")
    assert job.outputs["level"] == ""
    for text, level in ((CHANGED, "breaking"), (GOOD.replace("Small", "Tiny"), "safe"), (GOOD, "none")):
        write(job.workspace, {"catalog.yaml": text})
        job.step("diff", diff_fail_on="never", sources="catalog.yaml")
        assert job.outputs["level"] == level


def test_a_good_catalog_passes(job: Job) -> None:
    assert "::error" not in job.step("validate", sources="\ncatalog.yaml\nfolder\n", platforms="cloudfoundry\nkorifi")
    assert "    catalog.yaml: no findings" in job.summary


def test_a_faulty_catalog_fails_with_annotations(job: Job) -> None:
    write(job.workspace, {"catalog.yaml": FAULTY.read_text()})
    assert "::error file=catalog.yaml,line=21,col=9" in job.step("validate", code=1)
    assert "    catalog.yaml:21:9: error" in job.summary
    assert all(line.startswith("    ") or line in ("", "### Catalogs") for line in job.summary.splitlines())
    job.step("validate", fail_on="never")


def test_inputs_are_never_executed(job: Job) -> None:
    """All inputs of a step at once: none keeps it from the others, but for `base`, with which git ends it."""
    hostile = ["$(touch hacked)", "'; touch hacked; '", "--help"]
    program = job.temp / "osbctl/bin/osbctl"
    ours = program.read_text()
    # A program whose every word is hostile, too, on its streams and in its reports.
    program.write_text(
        """#!/bin/bash
        printf '%s\\n' "$@" | tee -a /dev/stderr "$RUNNER_TEMP"/{osbctl-validate.txt,part.md,words}
        exit 1"""
    )
    lines = dict.fromkeys(("sources", "platforms", "exclude", "validate_args", "diff_args"), "\n".join(hostile))
    for name, count, words in (("validate", 21, ("sarif", "fail_on")), ("diff", 48, ("allow", "diff_fail_on"))):
        (job.temp / "words").unlink(missing_ok=True)
        job.step(name, code=1, **lines, **dict.fromkeys(words, "\n".join(hostile)))
        found = (job.temp / "words").read_text().splitlines()
        assert [found.count(bad) for bad in hostile] == [count] * 3  # in each call of osbctl
    for bad in hostile:
        job.step("diff", code=None, base=bad)
    program.write_text(ours)
    job.step("validate", code=3, sources="\n".join(hostile))
    assert not list(job.workspace.parent.rglob("hacked"))


def test_an_unchanged_catalog_compares_in_silence(job: Job) -> None:
    assert job.step("diff", sources="catalog.yaml\nfolder") == job.summary == ""
    job.known["github.base_ref"] = ""  # a push
    assert job.step("diff") == ""


def test_a_breaking_change_is_annotated_and_fails(job: Job) -> None:
    write(job.workspace, {"catalog.yaml": CHANGED})
    assert "file=catalog.yaml,line=" in job.step("diff", code=1)
    assert "### Catalog changes" in job.summary
    job.step("diff", diff_fail_on="never")


def test_a_folder_at_the_top_is_compared_with_the_base(tmp_path: Path, job: Job) -> None:
    """The layout of catalogs/source, where the source is the repository itself."""
    origin = repository(tmp_path / "layout", {"x": ""})
    shutil.copytree(ROOT / "catalogs/source", origin, dirs_exist_ok=True)
    commit(origin)
    job.workspace = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", f"file://{origin}", str(job.workspace))
    job.step("validate", sources=".")
    assert job.step("diff", sources=".") == ""
    plan = job.workspace / "services/redis/plans/cache.yaml"
    text = plan.read_text()
    other = text.replace("free: true", "free: false")
    plan.write_text(other if other != text else text.replace("free: false", "free: true"))
    assert "file=services/redis/plans/cache.yaml" in job.step("diff", code=1, sources=".", diff_fail_on="any")


def test_a_new_catalog_has_nothing_to_compare_with(job: Job) -> None:
    write(job.workspace, {"new/catalog.yaml": GOOD})
    job.step("diff", sources="new/catalog.yaml\nnew\n./new/\n.")
    assert job.summary.count("new/catalog.yaml` is new: there is nothing") == 4
    (job.temp / "summary").write_text("")
    known = ("./catalog.yaml", "folder/", "folder/../catalog.yaml", str(job.workspace / "catalog.yaml"))
    assert job.step("diff", sources="\n".join(known)) == job.summary == ""


def test_what_cannot_be_compared_is_said_and_never_called_unchanged(job: Job) -> None:
    job.step("diff", code=3, allow="missing.toml")
    assert job.summary == ". could not be compared: the log of the job says why.\n\n"
    job.step("diff", code=128, base="nowhere")
    assert "could not be compared" in (job.temp / "osbctl-diff.md").read_text()
    write(job.workspace, {"catalog.yaml": GOOD + "\n  - {"})
    assert "::error file=catalog.yaml,line=" in job.step("diff", code=1, diff_fail_on="never")
    assert "the catalogs could not be compared" in job.summary
    assert "`catalog.yaml:" in job.summary


@dataclass
class GitHub:
    """The few answers of GitHub's API that a comment needs; gh reaches it as a proxy for its own test host."""

    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    status: int = 200

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> Answer:
        self.asked.append((method, path, body.decode()))
        data = json.dumps(self.comments if method == "GET" else {}).encode()
        return self.status, {"Content-Type": "application/json"}, data


@pytest.fixture
def github() -> Iterator[GitHub]:
    if not shutil.which("gh"):
        pytest.skip("gh is not installed")
    made = GitHub()
    with listening(made.answer) as made.url:
        yield made


def comment(job: Job, github: GitHub) -> str:
    job.environment = {"GH_HOST": "github.localhost", "GH_ENTERPRISE_TOKEN": "t0ken"}
    job.environment |= dict.fromkeys(("HTTP_PROXY", "http_proxy"), github.url)
    return job.step("comment")


def test_the_comment_is_written_once_and_then_kept(job: Job, github: GitHub) -> None:
    write(job.workspace, {"catalog.yaml": CHANGED})
    job.step("diff", code=1)
    assert comment(job, github) == ""
    method, path, body = github.asked[-1]
    assert (method, path.partition("/repos/")[2]) == ("POST", "owner/catalogs/issues/7/comments")
    text = json.loads(body)["body"]
    assert text == f"<!-- osbctl -->\n{(job.temp / 'osbctl-diff.md').read_text()}"
    github.comments += [
        {"id": 1, "user": {"type": "User"}, "body": text},
        {"id": 2, "user": {"type": "Bot"}, "body": "another action"},
        {"id": 3, "user": {"type": "Bot"}, "body": text},
    ]
    assert comment(job, github) == ""
    assert github.asked[-1][0] == "PATCH"
    assert github.asked[-1][1].endswith("/issues/comments/3")


def test_no_comment_where_nothing_changes(job: Job, github: GitHub) -> None:
    (job.temp / "osbctl-diff.md").write_text("")
    assert comment(job, github) == ""
    assert [method for method, _, _ in github.asked] == ["GET"]


def test_a_comment_that_may_not_be_written_is_a_warning(job: Job, github: GitHub) -> None:
    (job.temp / "osbctl-diff.md").write_text("### Catalog changes")
    github.status = 403
    said = comment(job, github)
    assert "::warning title=osbctl::the comment could not be written" in said
    assert "t0ken" not in said


def test_the_page_shows_the_changes(job: Job) -> None:
    job.step("page", sources="catalog.yaml", page="true")
    assert "Since refs/remotes/origin/main." in (job.temp / "osbctl-page.html").read_text()
    job.step("page", sources="catalog.yaml\nfolder", page="true")
    assert "Since refs/remotes/origin/main." in (job.temp / "osbctl-page.html").read_text()
    job.step("page", base="nowhere", page="true")
    assert "Since" not in (job.temp / "osbctl-page.html").read_text().split("<script")[0]


def test_the_configuration_counts_where_an_input_is_left_out(job: Job) -> None:
    long_name = CHANGED.replace("name: tiny", f"name: {'t' * 64}", 1)
    settings = 'platform = ["cloudfoundry"]\nfail-on = "warning"\n[page]\ntitle = "Ours"\n'
    write(job.workspace, {"catalog.yaml": long_name, "osbctl.toml": settings})
    others = re.compile("Kubernetes|Service Catalog|Service Manager|Korifi")
    assert not others.search(job.step("validate"))  # which Service Catalog refuses, as a warning
    assert not others.search(job.step("diff", code=None))
    job.step("page", base="")
    page = (job.temp / "osbctl-page.html").read_text()
    assert "Ours" in page and not others.search(page)
    assert others.search(job.step("validate", platforms="kubernetes", code=1))
    job.step("page", base="", platforms="kubernetes")
    assert others.search((job.temp / "osbctl-page.html").read_text())
    write(job.workspace, {"osbctl.toml": settings.replace("cloudfoundry", "kubernetes").replace("warning", "never")})
    job.step("validate")
    job.step("validate", fail_on="error", code=1)
