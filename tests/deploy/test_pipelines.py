"""The GitLab and Jenkins files: their schema, and their script lines run in order by the shell."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from tests.deploy.harness import DEPLOY, FAULTY, GOOD, ROOT, meets_schema, quick, run, shellcheck, write
from tests.deploy.test_publish import block
from tests.docs.test_readme import FILES

GITLAB = yaml.safe_load((DEPLOY / "ci/gitlab.yml").read_text())
JENKINS = (DEPLOY / "ci/Jenkinsfile").read_text()
CHANGED = GOOD.replace("name: small", "name: tiny", 1)


def test_the_files_meet_the_schema_of_their_system(tmp_path: Path) -> None:
    assert meets_schema("vendor.github-actions", ROOT / "action.yml")
    assert meets_schema("vendor.github-workflows", ROOT / "catalogs/source/.github/workflows/catalog.yml")
    assert meets_schema("vendor.gitlab-ci", DEPLOY / "ci/gitlab.yml", "--data-transform", "gitlab-ci")
    write(tmp_path, {"workflow.yml": "on: push\njobs: {build: {steps: []}}\n"})
    assert not meets_schema("vendor.github-workflows", tmp_path / "workflow.yml")


def test_each_step_gives_inputs_that_the_action_has() -> None:
    """The steps of the example workflow, of README, and of docs/how-to/publish-a-page.md."""
    workflow = yaml.safe_load((ROOT / "catalogs/source/.github/workflows/catalog.yml").read_text())
    steps = workflow["jobs"]["catalog"]["steps"]
    steps += yaml.safe_load(FILES[".github/workflows/catalog.yml"])["jobs"]["catalog"]["steps"]
    steps += yaml.safe_load(block("yaml", "page: true"))
    given = [set(step["with"]) for step in steps if "with" in step]
    inputs = set(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])
    assert len(given) == 3
    assert [names - inputs for names in given] == [set()] * 3


def shell(script: list[str], clone: Path, **variables: str) -> tuple[int, str]:
    bin_folder = clone.parent / "bin"
    quick(bin_folder / "osbctl")
    environment = {"PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin", "OSBCTL_CATALOG": "catalog.yaml", **variables}
    done = run("sh", "-e", "-c", "\n".join(script), cwd=clone, env=environment)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (FAULTY.read_text(), 1)])
def test_gitlab_validates_and_leaves_both_reports(clone: Path, text: str, code: int) -> None:
    write(clone, {"catalog.yaml": text})
    job = GITLAB["osbctl-validate"]
    assert shell(job["script"], clone)[0] == code
    reports = job["artifacts"]["reports"]
    assert bool(json.loads((clone / reports["codequality"]).read_text())) == bool(code)
    assert (ET.fromstring((clone / reports["junit"]).read_text()).find(".//failure") is not None) == bool(code)


def test_gitlab_compares_with_the_target_branch(clone: Path) -> None:
    job = GITLAB["osbctl-diff"]
    target = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    assert shell(job["script"], clone, **target)[0] == 0
    assert json.loads((clone / job["artifacts"]["reports"]["codequality"]).read_text()) == []
    write(clone, {"catalog.yaml": CHANGED})
    assert shell(job["script"], clone, **target)[0] == 1
    assert json.loads((clone / job["artifacts"]["reports"]["codequality"]).read_text())
    write(clone, {"new.yaml": GOOD})
    for script in (job["script"], stage("Compare")):
        code, said = shell(["mkdir -p .osbctl/bin", "ln -sf ../../../bin/osbctl .osbctl/bin", *script], clone,
                           OSBCTL_CATALOG="new.yaml", CHANGE_TARGET="main", **target)  # fmt: skip
        assert (code, "new.yaml is new" in said) == (0, True), said


def stage(name: str) -> list[str]:
    found = re.search(rf"stage\('{name}'\) \{{(.*?)\n    \}}\n", JENKINS, re.DOTALL)
    assert found, name
    return re.findall(r"^ +sh '(.*)'$", found[1], re.MULTILINE)


def test_jenkins_validates_and_compares(clone: Path) -> None:
    assert [line.split()[0] for line in stage("Install")] == ["python3", ".osbctl/bin/pip"]
    quick(clone / ".osbctl/bin/osbctl")
    assert shell(stage("Validate") + stage("Compare"), clone, CHANGE_TARGET="main")[0] == 0
    assert json.loads((clone / "osbctl.sarif").read_text())["version"] == "2.1.0"
    write(clone, {"catalog.yaml": CHANGED})
    code, said = shell(stage("Compare"), clone, CHANGE_TARGET="main")
    assert (code, "tiny" in said) == (1, True)


def test_no_job_leaves_a_variable_unquoted(tmp_path: Path) -> None:
    lines = [line for job in ("osbctl-validate", "osbctl-diff") for line in GITLAB[job]["script"]]
    lines += GITLAB[".osbctl"]["before_script"]
    lines += [line for name in ("Install", "Validate", "Compare") for line in stage(name)]
    script = tmp_path / "script"
    script.write_text("\n".join(lines) + "\n")
    shellcheck(script, "--shell=sh")
