"""`make release-check` is green where all is well, and red for each fault that is planted here; nothing unknown is green."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.broker_server import Answer, listening
from tests.deploy.harness import edit
from tests.git import commit, git
from tests.release.test_lines import EVERYWHERE, NOWHERE
from tests.release.world import clone, set_release
from tools import release_check
from tools.release_check import State

NEEDED = ("twine", "pyroma", "piplicenses", "pip_audit", "cyclonedx_py")
pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in NEEDED), reason="no tools (pip install --group release)"
    ),
]
NOTES = "## [Unreleased]\n\n## [1.0.0] - 2026-11-22\n\n- It is here.\n"


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone that is ready: published, with a changelog of its version, committed and tagged."""
    folder = clone(tmp_path_factory.mktemp("ready") / "osbctl", EVERYWHERE)
    version = release_check.release(folder).version
    (folder / "CHANGELOG.md").write_text(NOTES.replace("1.0.0", version))
    commit(folder)
    git(folder, "tag", "--force", f"v{version}")
    return folder


@pytest.fixture
def root(ready: Path, tmp_path: Path) -> Path:
    shutil.copytree(ready, tmp_path / "osbctl")
    return tmp_path / "osbctl"


def test_a_version_that_is_none_and_lines_that_are_old(root: Path) -> None:
    assert release_check.version(root).state is State.OK
    edit(root / "osbctl/__init__.py", r'__version__ = ".+"', '__version__ = "1.1.dev0"')
    found = release_check.version(root)
    assert found.state is State.FAILED
    assert "1.1.dev0 is not" in found.text
    assert "deploy/ci/gitlab.yml is out of date" in found.text


def test_a_changelog_without_the_release(root: Path) -> None:
    assert release_check.changelog(root).state is State.OK
    file = root / "CHANGELOG.md"
    text = file.read_text()
    for old, new, told in (
        (r"## \[\d.+", "## [9.9.9] - 2026-01-01", "its newest release is 9.9.9"),
        (r"## \[\d[\d.]*\] - .+\n", "", "its newest release is none"),
        (r" - 2026.+", "", "nothing is not a date"),
        (r" - 2026.+", " - 2026-22-11", "2026-22-11 is not a date"),
        (r" - 2026.+", " - 9999-01-01", "9999-01-01 has not come yet"),
        (r"\n- It is here.", "", "nothing is said of"),
    ):
        file.write_text(text)
        edit(file, old, new)
        found = release_check.changelog(root)
        assert (found.state, told in found.text) == (State.FAILED, True), found


def test_a_tag_that_is_not_what_stands_here(root: Path) -> None:
    version = release_check.release(root).version

    def fault() -> str:
        found = release_check.tag(root)
        assert found.state is State.FAILED
        return found.text

    assert release_check.tag(root).state is State.OK
    git(root, "tag", "v0.9.0")
    assert "HEAD is tagged v0.9.0, not v" in fault()
    git(root, "tag", "--delete", "v0.9.0")
    (root / "README.md").write_text("changed")
    assert "1 files are not committed, as README.md" in fault()
    git(root, "checkout", "README.md")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "later")
    assert "is another commit: raise the version" in fault()
    git(root, "tag", "--delete", f"v{version}")
    found = release_check.tag(root)
    assert (found.state, found.text.startswith("untagged")) == (State.OK, True)
    edit(root / "CHANGELOG.md", r"## \[Unreleased\]\n", "## [Unreleased]\n\n- A change.\n")
    commit(root)
    git(root, "tag", f"v{version}")
    assert "changes under Unreleased" in fault()


HOOK = """
import time
from pathlib import Path
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        Path(self.root, "when").write_text(str(time.time_ns()))
        build_data["force_include"]["when"] = "osbctl/when"
"""


def test_a_build_that_differs_from_time_to_time(root: Path, tmp_path: Path) -> None:
    (root / "hatch_build.py").write_text(HOOK)
    edit(
        root / "pyproject.toml",
        r"\[tool.hatch.version\]",
        "[tool.hatch.build.targets.wheel.hooks.custom]\n\n[tool.hatch.version]",
    )
    edit(root / "pyproject.toml", '"/LICENSE"', '"/LICENSE", "/hatch_build.py"')
    commit(root)
    builds = [release_check.build(root, tmp_path / name) for name in ("first", "second")]
    found = release_check.reproducible(*builds)
    assert found.state is State.FAILED
    assert re.fullmatch(r"\S+\.whl differs from build to build", found.text)


@pytest.mark.parametrize(
    ("old", "new", "name", "told"),
    [
        ('readme = "README.md"', 'readme = { text = "a `broken", content-type = "text/x-rst" }', "twine", "long_description"),
        (r"authors = .+\n", "", "pyroma", "author data"),
        (r'(?:    "Programming Language.+\n)+', "", "pyroma", "what Python versions"),
        (r"\[project.urls\]\n.+\n", "", "address", "'url' field"),
    ],
)  # fmt: skip
def test_metadata_that_no_index_shows(root: Path, tmp_path: Path, old: str, new: str, name: str, told: str) -> None:
    edit(root / "pyproject.toml", old, new)
    commit(root)
    found = {one.name: one for one in release_check.metadata(release_check.build(root, tmp_path / "built"), True)}
    assert found[name].state is State.FAILED
    assert told in found[name].text


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An environment with one package, which is free."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "environment"], check=True)
    plant(tmp_path / "environment/bin/python", "harmless", "MIT")
    return tmp_path / "environment/bin/python"


def plant(python: Path, name: str, licence: str) -> Path:
    """Install a package that has this licence; its folder."""
    (site,) = (python.parent.parent / "lib").glob("python*/site-packages")
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir()
    head = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n"
    (folder / "METADATA").write_text(head)
    return folder


def test_a_licence_that_binds_users(python: Path) -> None:
    for licence, state in (
        ("Apache-2.0 OR GPL-3.0-only", State.OK),
        ("Apache-2.0 AND BSD-2-Clause", State.OK),
        ("GPL-3.0-only", State.FAILED),
        ("MIT AND GPL-3.0-only", State.FAILED),
        ("LGPL-3.0-only", State.FAILED),
    ):
        folder = plant(python, "another", licence)
        found = release_check.licences(python)
        assert found.state is state, found
        assert state is State.OK or found.text == f"another: {licence}", found
        shutil.rmtree(folder)


@pytest.fixture
def service() -> Iterator[tuple[str, list[str]]]:
    """A service as OSV's on loopback, and the names of packages of which it knows a weakness."""
    weak: list[str] = []

    def answer(method: str, path: str, headers: Any, body: bytes) -> Answer:
        query = json.loads(body)
        package = query["package"]
        affected = [{"package": package, "versions": [query["version"]]}]
        known = [{"id": "OSV-2026-1", "affected": affected, "details": "x"}]
        return 200, {}, json.dumps({"vulns": known} if package["name"] in weak else {}).encode()

    with listening(answer) as url:
        yield f"{url}/v1/query", weak


def test_a_weakness_that_is_known(python: Path, service: tuple[str, list[str]]) -> None:
    address, weak = service
    plant(python, "another", "MIT")
    assert release_check.vulnerabilities(python, address).state is State.OK
    weak.append("another")
    found = release_check.vulnerabilities(python, address)
    assert (found.state, found.text) == (State.FAILED, "another 1.0: OSV-2026-1")


def test_a_service_that_does_not_answer_is_not_green(python: Path) -> None:
    found = release_check.vulnerabilities(python, "http://127.0.0.1:9/v1/query")
    assert (found.state, "127.0.0.1" in found.text) == (State.UNKNOWN, True)


def test_a_bill_that_lacks_a_package(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert release_check.bill_of_materials(python, tmp_path / "sbom.json").state is State.OK
    packages = release_check.packages
    monkeypatch.setattr(release_check, "packages", lambda python: [*packages(python), ("unseen", "1", "MIT")])
    found = release_check.bill_of_materials(python, tmp_path / "sbom.json")
    assert (found.state, found.text) == (State.FAILED, "unseen is not in it")


def test_all_of_it(ready: Path, service: tuple[str, list[str]], capsys: Any) -> None:
    """Ready, it is green; unpublished, it is not; and what was checked is what lies in dist/."""
    address, _ = service
    code = release_check.main(ready, address)
    told = capsys.readouterr().out
    if "no index has the dependencies" in told:
        pytest.skip("no index to install from")
    assert (code, [line.split()[0] for line in told.splitlines()]) == (0, ["ok"] * 9), told
    assert sorted(file.suffix for file in (ready / "dist").iterdir()) == [".gz", ".json", ".whl"]
    bill = json.loads(next((ready / "dist").glob("*.json")).read_text())
    assert {"osb-tools", "typer", "pygls", "psycopg"} <= {part["name"] for part in bill["components"]}


def test_a_fault_ends_with_1_and_what_is_unknown_with_3() -> None:
    ok, failed, unknown = State.OK, State.FAILED, State.UNKNOWN
    assert [release_check.code(states) for states in ({ok}, {ok, unknown}, {unknown, failed})] == [0, 3, 1]


def test_what_is_unpublished_is_not_green(root: Path, tmp_path: Path) -> None:
    set_release(root, NOWHERE)
    commit(root)
    checked = release_check.metadata(release_check.build(root, tmp_path / "built"), False)
    assert {one.name: one.state for one in checked} == {"twine": State.OK, "pyroma": State.OK, "address": State.UNKNOWN}
