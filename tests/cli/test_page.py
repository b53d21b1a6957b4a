"""`osbctl page`: its sources, what they are compared with, and wrong words."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from osbctl.resources import catalogs_folder
from tests.cli.program import osbctl

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


def test_the_looks_of_the_house_come_from_its_configuration(repository: Path) -> None:
    (repository / "l.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (repository / "osbctl.toml").write_text('[page]\ntitle = "House"\nlogo = "l.svg"\naccent = "#112233"\n')
    html = page(repository, "a.yaml").stdout
    assert "<title>House</title>" in html
    assert 'class="logo" src="data:image/svg+xml;base64,' in html
    assert "<title>Other</title>" in page(repository, "a.yaml", "--title", "Other").stdout


def test_the_date_of_the_commit(repository: Path) -> None:
    date = subprocess.check_output(["git", "log", "-1", "--format=%cs"], cwd=repository, text=True).strip()
    assert f'<time datetime="{date}">' in page(repository, "a.yaml", "--date", "commit").stdout


def test_registered_brokers_go_by_their_names_and_a_shared_service_by_its_broker(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    from osbctl.registry.store import Registry
    from tests.registry.make import add

    database = str(tmp_path / "brokers.sqlite")
    with Registry.open(database) as registry:
        add(registry, "north", "south")
    done = page(tmp_path, "north", "south", "--database", database)
    assert done.returncode == 0, done.stderr
    for name in ("north", "south"):
        assert f"from {name}</span>" in done.stdout
        assert f"my-instance -b {name}" in done.stdout
    alone = page(tmp_path, "north", "--database", database).stdout
    assert "my-instance" in alone
    assert "-b north" not in alone
    assert "from north@2026-01-02</span>" in page(tmp_path, "north@2026-01-02", "north", "--database", database).stdout


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A registry with `data.prod`, whose catalog has got a second plan since it was added."""
    pytest.importorskip("sqlalchemy")
    from osbctl.registry.store import Registry
    from tests.registry.make import add, body, read, refresh, service

    url = str(tmp_path / "brokers.sqlite")
    with Registry.open(url) as registry:
        add(registry, "data.prod")
        new = read(body(service("s", "p", "q")))
        registry.store_refresh(registry.row("data.prod"), refresh(at="2026-05-05T00:00:00Z"), catalog=new)
    return url


@pytest.mark.parametrize("old", ["data.prod@-1", "data.prod@2026-02-01", "data.prod@2026-05-04T23:59:59Z"])
def test_what_changed_since_an_earlier_refresh(tmp_path: Path, database: str, old: str) -> None:
    done = page(tmp_path, "data.prod", "--since", old, "--database", database)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Since {old}." in done.stdout
    assert 'data-broker="data.prod"' in done.stdout
    assert done.stdout.count('<span class="badge safe">safe</span> 1 change<') == 1
    changed = run("diff", tmp_path, old, "data.prod", "--format", "json", "--database", database)
    assert [one["rule"] for one in json.loads(changed.stdout)["changes"]] == ["change-plan-added"]


def test_a_stored_catalog_beside_a_file(tmp_path: Path, database: str) -> None:
    from osbctl.registry.location import registered

    file = tmp_path / "catalog.json"
    file.write_bytes(registered("data.prod@-1", database).catalog)
    done = page(tmp_path, "catalog.json", "--since", "data.prod", "--database", database)
    assert (done.returncode, done.stderr) == (0, "")
    assert "change-plan-removed" in done.stdout
    assert run("diff", tmp_path, "data.prod", "catalog.json", "--database", database).returncode == 1
    assert run("diff", tmp_path, "data.prod@-1", "catalog.json", "--database", database).stdout == ""
    drifted = run("drift", tmp_path, "catalog.json", "data.prod@-1", "--database", database)
    assert (drifted.returncode, drifted.stdout) == (0, "")
    assert run("drift", tmp_path, "catalog.json", "data.prod", "--database", database).returncode == 1


@pytest.mark.parametrize("command", [("show",), ("params", "s", "q")])
def test_show_and_params_take_what_the_registry_has(tmp_path: Path, database: str, command: tuple[str, ...]) -> None:
    def asked(source: str) -> subprocess.CompletedProcess[str]:
        return run(command[0], tmp_path, source, *command[1:], "--database", database)

    assert re.search(r"\bq\b", asked("data.prod").stdout)
    assert not re.search(r"\bq\b", asked("data.prod@-1").stdout)
    for source in ("data.prod@-2", "data.prod@2025-12-31", "nobody", "nobody@-1"):
        wrong, diffed = asked(source), run("diff", tmp_path, source, "data.prod", "--database", database)
        assert (wrong.returncode, wrong.stdout, wrong.stderr) == (3, "", diffed.stderr)


@pytest.mark.parametrize("command", ["show", "validate"])
def test_a_file_that_is_not_there_needs_no_folder_of_a_registry(tmp_path: Path, command: str) -> None:
    pytest.importorskip("sqlalchemy")
    for home in ("/dev/null", str(tmp_path)):
        done = run(command, tmp_path, "typo.yaml", HOME=home)
        assert (done.returncode, "typo.yaml: there is no such file" in done.stdout + done.stderr) == (3, True)
    assert list(tmp_path.iterdir()) == []


def test_validate_and_split_take_what_the_registry_has(tmp_path: Path, database: str) -> None:
    for source in ("data.prod", "data.prod@-1"):
        done = run("validate", tmp_path, source, "--database", database, "--format", "json")
        (document,) = json.loads(done.stdout)["documents"]
        assert (document["name"], done.returncode) == (f"{source} (stored)", 0), done.stderr
        assert (
            run("validate", tmp_path, source, OSBCTL_DATABASE=database).returncode == 0
        )  # without a parser of options
    gone = run("validate", tmp_path, "data.prod@-2", "--database", database)
    assert (gone.returncode, "no catalog data.prod@-2" in gone.stdout) == (3, True)
    assert run("split", tmp_path, "data.prod@-1", "made", "--database", database).returncode == 0
    assert '"q"' not in run("show", tmp_path, "made", "--format", "json").stdout
    assert '"q"' in run("show", tmp_path, "data.prod", "--format", "json", "--database", database).stdout


@pytest.mark.parametrize(
    ("since", "code", "told"),
    [
        ("data.prod", 2, "data.prod@-1 is the one before"),
        ("data.prod@-2", 3, "no catalog data.prod@-2"),
        ("data.prod@2025-12-31", 3, "there are those of 2026-05-05T00:00:00Z, 2026-01-02T03:04:05Z"),
    ],
)
def test_an_earlier_catalog_that_is_not_there_is_told(
    tmp_path: Path, database: str, since: str, code: int, told: str
) -> None:
    done = page(tmp_path, "data.prod", "--since", since, "--database", database)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "told"),
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
def test_wrong_words_are_told_and_no_file_is_left(repository: Path, words: list[str], code: int, told: str) -> None:
    done = page(repository, *words, "-o", "out.html")
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert not (repository / "out.html").exists()


def test_the_names_of_parameters_command_no_runner(tmp_path: Path) -> None:
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
