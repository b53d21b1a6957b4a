"""`osbctl page`: its sources, what they are compared with, and wrong words."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from osbctl.cli.page import _earlier_catalog_name
from osbctl.sources.yaml_text import dump
from tests.case import each
from tests.cli.program import failure, osbctl
from tests.comparison.make import catalog, plan, service
from tests.folders import catalogs_folder
from tests.git import commit
from tests.sources.folder.brokerpaks import DATABASE, brokerpak

GOOD = catalogs_folder() / "data-services.yaml"


def page(folder: Path, *words: str) -> str:
    return osbctl("page", *words, cwd=folder, code=0).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(GOOD.read_text())
    commit(tmp_path)
    (tmp_path / "a.yaml").write_text(GOOD.read_text().replace("A relational database", "One more database"))
    return tmp_path


def test_each_service_names_its_broker_and_a_revision_is_for_all_sources(repository: Path) -> None:
    words = ("a.yaml", "b.yaml", "--since", "main", "--date", "2026-11-02", "-o", "out.html")
    assert failure("page", *words, cwd=repository, code=0) == ""
    html = (repository / "out.html").read_text()
    for shown in ("from a</span>", "from b</span>", "Since main.", '<time datetime="2026-11-02">'):
        assert shown in html
    assert html.count('class="badge changed"') == 1


def test_branding_comes_from_the_configuration(repository: Path) -> None:
    (repository / "l.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (repository / "osbctl.toml").write_text('[page]\ntitle = "House"\nlogo = "l.svg"\naccent = "#112233"\n')
    html = page(repository, "a.yaml")
    assert "<title>House</title>" in html
    assert 'class="logo" src="data:image/svg+xml;base64,' in html
    assert "<title>Other</title>" in page(repository, "a.yaml", "--title", "Other")


def test_the_date_of_the_commit(repository: Path) -> None:
    date = subprocess.check_output(["git", "log", "-1", "--format=%cs"], cwd=repository, text=True).strip()
    assert f'<time datetime="{date}">' in page(repository, "a.yaml", "--date", "commit")


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
    assert told in failure("page", *words, "-o", "out.html", cwd=repository, code=code)
    assert not (repository / "out.html").exists()


def test_names_are_no_commands_of_ci_systems(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"##[error]k": {"type": "string"}}}
    schemas = {"service_instance": {"create": {"parameters": schema}}}
    named = catalog(service("s", "##[group]", plan("p", "##[plan]", schemas=schemas), description="##vso[x]"))
    (tmp_path / "c.json").write_text(json.dumps(named))
    html = page(tmp_path, "c.json")
    assert "[error]k" in html
    assert not re.search(r"##\w*\[", html)


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
    assert _earlier_catalog_name("https://me:hunter2@broker.example/?key=x") == "https://broker.example/v2/catalog?***"
    Path(sources[0]).write_text(dump(catalog(service("a", "b"))))
    shown = osbctl("page", sources[0], "--findings").stdout
    assert "catalog.yaml:2:3" in shown
    assert str(tmp_path) not in shown
    pak = brokerpak(tmp_path / "one" / "pak", database=DATABASE.replace("logo.png", "none.png"))
    shown = osbctl("page", str(pak), "--findings").stdout
    assert "pak/images/none.png: there is no such file" in shown
    assert str(tmp_path) not in shown


def test_changes_are_those_of_the_chosen_platforms(tmp_path: Path) -> None:
    for name, free in (("old.json", True), ("new.json", False)):
        (tmp_path / name).write_text(json.dumps(catalog(service("s", "db", plan("p", "small", free=free)))))
    for platform, shown in (("korifi", "Korifi: "), ("kubernetes", "Kubernetes Service Catalog: ")):
        html = page(tmp_path, "new.json", "--since", "old.json", "-p", platform)
        effects = re.findall(r'<p class="muted">([^<]*: )[^<]*</p>', html)
        assert effects == [shown]


def test_a_long_text_is_cut_with_a_note(tmp_path: Path) -> None:
    for length, note in (20_000, ""), (20_001, " … (20,001 characters)"):
        (tmp_path / "c.json").write_text(json.dumps(catalog(service("s", "a", description="x" * length))))
        shown = page(tmp_path, "c.json")
        assert f"{'x' * 20_000}{note}<" in shown, length
        assert "x" * 20_001 not in shown, length
