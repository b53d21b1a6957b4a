"""Every line that says where to get osbctl is the one that pyproject.toml makes, and nothing else names a place."""

import re
import shutil
import textwrap
import tomllib
from pathlib import Path

from tests.case import each
from tests.deploy.harness import ROOT, edit, meets_schema
from tests.git import project_files
from tests.release.world import set_release, write_lines
from tools.release_lines import FILES, release, stale

EVERYWHERE = """
index = "osb-tools"
repository = "https://github.com/acme/osb-tools"
image = "registry.example.com/acme/osbctl"
"""
REPOSITORY = 'index = ""\nrepository = "https://git.example.com/acme/osbctl"\nimage = ""\n'
NOWHERE = 'index = ""\nrepository = ""\nimage = ""\n'


def copied(folder: Path, settings: str) -> Path:
    """The files with lines, written anew for other release settings."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    set_release(folder, settings)
    return folder


def texts(root: Path) -> dict[str, str]:
    return {name: (root / name).read_text(encoding="utf-8") for name in FILES}


def test_the_lines_are_as_pyproject_has_them() -> None:
    assert stale() == {}, "run tools/release_lines.py"


def test_no_other_file_says_where_to_get_it() -> None:
    """No line names an unregistered address, or another project's package."""
    told = re.compile(
        r"your-org|your-group|git\.example\.com/\S*osbctl|\bOWNER/|rev: v\d|osbctl@v\d|osbctl==\d|"
        r"pipx? install (?:--force )?['\"]?(?:osbctl|path/to)"
    )
    skipped = ("tests/", "tools/", "benchmarks/")
    names = [name for file in project_files() if not (name := file.relative_to(ROOT).as_posix()).startswith(skipped)]
    assert len(names) > 100
    for name in names:
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        assert not told.search(text), f"{name}: {told.search(text)}"


@each("settings, lines", [
    (
        EVERYWHERE,
        {
            "README.md": ["- repo: https://github.com/acme/osb-tools\n    rev: v{v}\n", "uses: acme/osb-tools@v{v}\n",
                          "pipx install osb-tools\n", "uv tool install --force 'osb-tools[registry,lsp]'"],
            "SECURITY.md": ["<https://github.com/acme/osb-tools/security/advisories/new>"],
            "catalogs/source/.github/workflows/catalog.yml": ["uses: acme/osb-tools@v{v} "],
            "deploy/README.md": ["pip install osb-tools\n"],
            "deploy/ci/Jenkinsfile": ["OSBCTL_PACKAGE = 'osb-tools=={v}'"],
            "deploy/ci/gitlab.yml": ["OSBCTL_PACKAGE: osb-tools=={v} "],
            "deploy/cloudfoundry/requirements.txt": ["osb-tools=={v}\n"],
            "deploy/kubernetes/deployment.yaml": ["image: registry.example.com/acme/osbctl:{v} "],
            "docs/how-to/check-in-ci.md": ["rev: v{v}\n", "uses: acme/osb-tools@v{v}\n"],
            "docs/how-to/publish-a-page.md": ["run: pipx install osb-tools\n", "- pip install osb-tools\n"],
            "docs/how-to/in-your-editor.md": ["`pipx install --force 'osb-tools[lsp]'`"],
            "docs/how-to/registered-brokers.md": ["`pipx install --force 'osb-tools[registry]'`"],
            "docs/install.md": ["published at <https://github.com/acme/osb-tools>", "uv tool install osb-tools\n"],
            "osbctl/__init__.py": ['"osb-tools", "https://github.com/acme/osb-tools"'],
            "pyproject.toml": ['name = "osb-tools"', 'Repository = "https://github.com/acme/osb-tools"', '["osb-tools[registry]"'],
        },
    ),
    (
        REPOSITORY,
        {
            "README.md": ["- repo: https://git.example.com/acme/osbctl\n    rev: v{v}\n", "uses: ./osbctl\n",
                          "'osbctl[registry,lsp] @ git+https://git.example.com/acme/osbctl@v{v}'"],
            "deploy/ci/gitlab.yml": ["OSBCTL_PACKAGE: git+https://git.example.com/acme/osbctl@v{v} "],
            "deploy/kubernetes/deployment.yaml": ["image: localhost/osbctl:{v} "],
            "docs/install.md": ["\npipx install git+https://git.example.com/acme/osbctl@v{v}\n"],
        },
    ),
])  # fmt: skip
def test_the_lines_follow_the_setting_and_find_their_way_back(
    settings: str, lines: dict[str, list[str]], tmp_path: Path
) -> None:
    here = copied(tmp_path / "osbctl", settings)
    version = release(here).version
    for name, expected in lines.items():
        for line in expected:
            assert line.format(v=version) in (here / name).read_text(encoding="utf-8"), name
    tomllib.loads((here / "pyproject.toml").read_text(encoding="utf-8"))
    set_release(here, NOWHERE)
    assert texts(here) == texts(copied(tmp_path / "again", NOWHERE))


def test_a_new_version_is_everywhere(tmp_path: Path) -> None:
    here = copied(tmp_path / "osbctl", EVERYWHERE)
    edit(here / "osbctl/__init__.py", r'__version__ = ".+"', '__version__ = "7.8.9"')
    write_lines(here)
    assert texts(here)["README.md"].count("v7.8.9") == 2
    assert "osb-tools==7.8.9" in texts(here)["deploy/ci/gitlab.yml"]


def test_the_workflow_of_a_release_is_one_that_github_takes(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(.+?)```", (ROOT / "docs/contributing/publish.md").read_text(), re.DOTALL)
    file = tmp_path / "release.yml"
    file.write_text(textwrap.dedent("   " + block))
    assert meets_schema("vendor.github-workflows", file)
    assert "make release-check" in block
