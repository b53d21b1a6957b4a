"""Each install line of README, docs, deploy, action, hooks and hints is run as it is printed.

The lines are collected, so a new one is run too; pip finds every package in a folder, and no place outside is asked.
"""

import fcntl
import re
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.deploy.harness import ROOT, write
from tests.git import git, project_files
from tests.release.test_lines import EVERYWHERE, NOWHERE, REPOSITORY
from tests.release.world import World, filled, world
from tools.release_lines import FILES

pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(find_spec("pipx") is None, reason="no pipx (pip install --group release)"),
]

COMMAND = re.compile(
    r"(?:(?<=[\s`])|(?<=^))(?:\S+/)?(?:python3 -m venv \S+ && \S*)?(?:pipx? (?:install|wheel|run)|uv tool install) (?!.*\$)[^`#\n]+"
)
LOOKS_LIKE_ONE = re.compile(r"pipx? (?:install|wheel|run|inject|download)\b|\buvx\b|\buv (?:pip|tool)\b|easy_install")


def commands(name: str, root: Path) -> list[str]:
    return [found.strip() for found in COMMAND.findall((root / name).read_text(encoding="utf-8"))]


def installs(root: Path) -> set[tuple[str, str]]:
    """Each line that people type, with the clone as seen from where they type it."""
    return {(line, clone) for name, clone in FILES.items() if clone for line in commands(name, root)}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """One folder for all processes of a run; the first one fills it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "wheels"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder if folder.exists() else filled(folder)


@pytest.fixture(scope="module")
def unpublished(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> World:
    made = world(tmp_path_factory.mktemp("unpublished"), wheels, NOWHERE)
    # As the documentation says: a pipeline takes it from a copy in the repository.
    (line,) = re.findall(r"(?m)^(git -C .+)$", (made.clone / "docs/install.md").read_text())
    made.run(line, made.project, made.environment())
    return made


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> World:
    return world(tmp_path_factory.mktemp("published"), wheels, EVERYWHERE)


def try_it(here: World, line: str, clone: str) -> None:
    env = here.environment()
    said = here.run(line, here.clone if clone == "." else here.project, env)
    if line.startswith("pipx run"):
        assert "no findings" in said
        return
    if line.startswith("pip wheel"):
        here.run("pip install -r requirements.txt", here.clone / "deploy/cloudfoundry", env)
    place = re.search(r"-m venv (\S+) &&", line)
    program = f"{place[1]}/bin/osbctl" if place else "osbctl"
    assert "no findings" in here.run(f"{program} validate catalog.yaml", here.project, env)
    if "[registry]" in line:
        listed = here.run(f"{program} brokers list 2>&1 || test $? = 3", here.project, env)
        assert "there is no such database" in listed, "what the registry needs is installed"


def test_no_line_goes_unseen() -> None:
    """Every install line is collected here, or is for developers of osbctl."""
    ours = ("Makefile", "tools/", "tests/", ".ci/", "benchmarks/", "pyproject.toml", "CHANGELOG.md", "CONTRIBUTING.md")
    seen = 0
    for file in project_files():
        name = file.relative_to(ROOT).as_posix()
        if name.startswith(ours) or not (text := file.read_bytes().decode("utf-8", "ignore")):
            continue
        for line in filter(LOOKS_LIKE_ONE.search, text.splitlines()):
            through_a_variable = re.search(r"pip install [^`]*\"\$(OSBCTL_PACKAGE|GITHUB_ACTION_PATH)\"", line)
            in_the_image = name == "deploy/Containerfile" and "pip install --no-cache-dir" in line
            found = name in FILES and COMMAND.search(line)
            assert through_a_variable or in_the_image or found, f"{name}: {line}"
            seen += 1
    assert seen >= 10


@pytest.mark.parametrize(("line", "clone"), sorted(installs(ROOT)))
def test_a_line_works_as_printed(unpublished: World, line: str, clone: str) -> None:
    try_it(unpublished, line, clone)


def test_where_it_is_published_the_lines_work_too(published: World) -> None:
    lines = installs(published.clone)
    assert {line for line, _ in lines if "osb-tools" in line} >= {"pipx install osb-tools", "pip install osb-tools"}
    venv = "python3 -m venv /opt/osbctl && /opt/osbctl/bin/pip install osb-tools"
    for line in ("pipx install --force 'osb-tools[registry]'", venv):
        assert any(line == found for found, _ in lines), lines
        try_it(published, line, "../osbctl")


def test_where_only_its_repository_is_published_the_lines_work_too(tmp_path: Path, wheels: Path) -> None:
    here = world(tmp_path, wheels, REPOSITORY)
    (line,) = commands("docs/how-to/registered-brokers.md", here.clone)
    assert " @ git+https://git.example.com/acme/osbctl@v" in line
    try_it(here, line, "../osbctl")


def pipeline(system: str, clone: Path) -> list[str]:
    """The lines by which a job installs osbctl, with what they read from the environment."""
    if system == "gitlab":
        file = yaml.safe_load((clone / "deploy/ci/gitlab.yml").read_text())
        package, script = file["variables"]["OSBCTL_PACKAGE"], file[".osbctl"]["before_script"]
    elif system == "jenkins":
        text = (clone / "deploy/ci/Jenkinsfile").read_text()
        package = re.findall(r"OSBCTL_PACKAGE = '(.+?)'", text)[0]
        script = re.findall(r"stage\('Install'\).*?\n    }", text, re.DOTALL)
        script = [*re.findall(r"sh '(.+)'", script[0]), "ln -s $PWD/.osbctl/bin/osbctl $HOME/bin/"]
    return [f"OSBCTL_PACKAGE='{package}'", *script]


@pytest.mark.parametrize(
    ("system", "state"), [("gitlab", "unpublished"), ("jenkins", "unpublished"), ("gitlab", "published")]
)
def test_a_pipeline_installs_it(system: str, state: str, request: pytest.FixtureRequest) -> None:
    here: World = request.getfixturevalue(state)
    try_it(here, "\n".join(pipeline(system, here.clone)), "./osbctl")


def test_the_action_is_where_a_workflow_finds_it_and_installs_itself(unpublished: World) -> None:
    text = "".join((unpublished.clone / file).read_text() for file in FILES if file.endswith((".md", ".yml")))
    (used,) = set(re.findall(r"uses: (?!actions/)(\S+)", text))
    folder = unpublished.project / used
    steps = yaml.safe_load((folder / "action.yml").read_text())["runs"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("id") == "install"]
    env = unpublished.environment() | {"GITHUB_ACTION_PATH": str(folder), "PYTHON": "python"}
    unpublished.run(script, unpublished.project, env)
    unpublished.run("$RUNNER_TEMP/osbctl/bin/osbctl validate catalog.yaml", unpublished.project, env)


@pytest.mark.parametrize("state", ["unpublished", "published"])
def test_the_hooks_are_installed_from_the_lines_of_the_readme(state: str, request: pytest.FixtureRequest) -> None:
    here: World = request.getfixturevalue(state)
    (whole,) = re.findall(r"```yaml\n# \S+\n(repos:\n(?:  .+\n)+)```", (here.clone / "README.md").read_text())
    write(here.project, {".pre-commit-config.yaml": whole})
    git(here.project, "add", "catalog.yaml", ".pre-commit-config.yaml")
    said = here.run(f"{sys.executable} -m pre_commit run --all-files osbctl-validate", here.project, here.environment())
    assert "Passed" in said


EXTRAS = {"registry": "sqlalchemy", "postgresql": "psycopg", "lsp": "pygls"}


def test_a_hint_adds_what_is_missing(unpublished: World) -> None:
    code = "".join(file.read_text() for file in (ROOT / "osbctl").rglob("*.py"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"command_to_install\(['\"](\S+?)['\"]\)", code)) == set(EXTRAS) == set(extras)
    env = unpublished.environment()
    unpublished.run("pip install --quiet .", unpublished.clone, env)
    for extra, module in EXTRAS.items():
        missing = f"python -c 'import importlib.util as i; assert not i.find_spec(\"{module}\")'"
        unpublished.run(missing, unpublished.project, env)
        hint = f"python -c 'from osbctl.errors import command_to_install as c; print(c(\"{extra}\"))'"
        unpublished.run(unpublished.run(hint, unpublished.project, env), unpublished.project, env)
        unpublished.run(f"python -c 'import {module}'", unpublished.project, env)
