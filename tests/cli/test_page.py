"""`osbctl page`: its sources, what they are compared with, and wrong words."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from osbctl.cli.page import _old_name
from tests.case import each
from tests.cli.program import osbctl
from tests.folders import catalogs_folder

GOOD = catalogs_folder() / "data-services.yaml"


def page(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run("page", folder, *words)


def run(name: str, folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return osbctl(name, *words, cwd=folder, **variables)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(GOOD.read_text())
    (tmp_path / "b.yaml").write_text(GOOD.read_text())
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["commit", "-q", "-m", "x", "--date", "2026-11-01T00:00:00Z"],
    ):
        settings = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
        subprocess.run(["git", *settings, *words], cwd=tmp_path, check=True)
    (tmp_path / "a.yaml").write_text(GOOD.read_text().replace("A relational database", "One more database"))
    return tmp_path


def test_each_service_names_its_broker_and_a_revision_is_for_all_sources(repository: Path) -> None:
    done = page(repository, "a.yaml", "b.yaml", "--since", "main", "--date", "2026-11-02", "-o", "out.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    html = (repository / "out.html").read_text()
    assert "from a</span>" in html
    assert "from b</span>" in html
    assert "Since main." in html
    assert '<time datetime="2026-11-02">' in html
    assert html.count('class="badge changed"') == 1


def test_branding_comes_from_the_configuration(repository: Path) -> None:
    (repository / "l.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (repository / "osbctl.toml").write_text('[page]\ntitle = "House"\nlogo = "l.svg"\naccent = "#112233"\n')
    html = page(repository, "a.yaml").stdout
    assert "<title>House</title>" in html
    assert 'class="logo" src="data:image/svg+xml;base64,' in html
    assert "<title>Other</title>" in page(repository, "a.yaml", "--title", "Other").stdout


def test_the_date_of_the_commit(repository: Path) -> None:
    date = subprocess.check_output(["git", "log", "-1", "--format=%cs"], cwd=repository, text=True).strip()
    assert f'<time datetime="{date}">' in page(repository, "a.yaml", "--date", "commit").stdout


@each("command", ["show", "validate"])
def test_a_missing_file_makes_no_registry_folder(tmp_path: Path, command: str) -> None:
    pytest.importorskip("sqlalchemy")
    for home in ("/dev/null", str(tmp_path)):
        done = run(command, tmp_path, "typo.yaml", HOME=home)
        assert (done.returncode, "typo.yaml: there is no such file" in done.stdout + done.stderr) == (3, True)
    assert list(tmp_path.iterdir()) == []


@each(
    "words, code, told",
    [
        (["a.yaml", "--accent", "red"], 2, "is not a colour"),
        (["a.yaml", "--date", "yesterday"], 2, "is not a date"),
        (["a.yaml", "--date", "2026-11-22T24:00:00Z"], 2, "is not a date"),
        (["a.yaml", "b.yaml", "--since", "a.yaml"], 2, "--since needs"),
        (["a.yaml", "--logo", "a.yaml"], 3, "not an image"),
        (["a.yaml", "--since", "nowhere"], 3, "no revision nowhere"),
        (["-", "-"], 2, "only once"),
        (["gone.yaml"], 3, "no such file"),
    ],
)
def test_wrong_options_are_errors_and_leave_no_file(repository: Path, words: list[str], code: int, told: str) -> None:
    done = page(repository, *words, "-o", "out.html")
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert not (repository / "out.html").exists()


def test_names_are_no_commands_of_ci_systems(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"##[error]k": {"type": "string"}}}
    plan = {
        "id": "p",
        "name": "##[plan]",
        "description": "d",
        "schemas": {"service_instance": {"create": {"parameters": schema}}},
    }
    service = {"id": "s", "name": "##[group]", "description": "##vso[x]", "bindable": True, "plans": [plan]}
    (tmp_path / "c.json").write_text(json.dumps({"services": [service]}))
    done = osbctl("page", "c.json", cwd=tmp_path)
    assert done.returncode == 0
    assert "[error]k" in done.stdout
    assert not re.search(r"##\w*\[", done.stdout)


def test_findings_do_not_name_the_folder_of_the_catalog(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text("services:\n- id: a\n  name: b\n  description: c\n  bindable: true\n  plans: []\n")
    shown = osbctl("page", str(catalog), "--findings").stdout
    assert "catalog.yaml:2:3" in shown
    assert str(tmp_path) not in shown


def test_a_page_names_no_folder_and_no_password(tmp_path: Path) -> None:
    sources = []
    for folder in ("one", "two", "old"):
        (tmp_path / folder).mkdir()
        source = tmp_path / folder / "catalog.yaml"
        source.write_text(GOOD.read_text())
        sources.append(str(source))
    done = osbctl("page", *sources[:2], "--since", sources[2], "--since", sources[2], "--findings")
    assert done.stderr == ""
    assert "from one/catalog.yaml</span>" in done.stdout
    assert "from two/catalog.yaml</span>" in done.stdout
    assert "Since catalog.yaml, catalog.yaml." in done.stdout
    assert str(tmp_path) not in done.stdout
    assert _old_name("https://me:hunter2@broker.example/?key=x") == "https://broker.example/v2/catalog?***"


def test_a_long_text_is_cut_with_a_note(tmp_path: Path) -> None:
    for length, note in (20_000, ""), (20_001, " … (20,001 characters)"):
        service = {"id": "s", "name": "a", "description": "x" * length, "bindable": True, "plans": []}
        (tmp_path / "c.json").write_text(json.dumps({"services": [service]}))
        shown = osbctl("page", "c.json", cwd=tmp_path).stdout
        assert f"{'x' * 20_000}{note}<" in shown
        assert "x" * 20_001 not in shown
