"""build, init, new and split as whole processes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from osbctl.cli.app import run_app
from osbctl.sources.read import read_source
from tests.case import each
from tests.cli.program import at_terminal, osbctl, process
from tests.corpus import CORPUS, needs_corpus
from tests.git import commit, git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert osbctl("init", "source", "--service", "postgres", cwd=tmp_path).returncode == 0
    return tmp_path


def test_init_builds_at_once_and_overwrites_nothing(folder: Path) -> None:
    told = osbctl("validate", "source", "-f", "json", cwd=folder)
    assert told.returncode == 0
    found = [(one["rule"], one["path"]) for one in json.loads(told.stdout)["documents"][0]["findings"]]
    fields = "/description", "/metadata/longDescription", "/metadata/providerDisplayName"
    assert sorted(found) == [("placeholder-unresolved", f"/services/0{field}") for field in fields]
    done = osbctl("build", "source", "-o", "catalog.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(json.loads((folder / "catalog.json").read_text())["services"][0]["plans"]) == 2
    again = osbctl("init", "source", "--service", "postgres", cwd=folder)
    assert again.returncode == 3
    assert "nothing is overwritten" in again.stderr


def test_init_asks_for_no_name_where_a_folder_stands(folder: Path) -> None:
    done = at_terminal("stdin", "init", "source", cwd=folder)
    assert (done.code, done.stdout) == (3, "")
    assert done.stderr.startswith("error: source/catalog.yaml already exists, and nothing is overwritten\n")


@pytest.mark.parametrize(("words", "number"), [("service redis", 3), ("plan postgres huge", 2)])
def test_what_new_adds_waits_for_its_texts(folder: Path, words: str, number: int) -> None:
    assert osbctl("new", *words.split(), "-C", "source", cwd=folder).returncode == 0
    shown = osbctl("validate", "source", "--concise", cwd=folder).stdout
    assert f"{number} values hold 'REPLACE_WITH_ONE_SENTENCE', which was not replaced" in shown


def test_the_same_input_gives_the_same_bytes(folder: Path) -> None:
    first = process("build", "source", cwd=folder).stdout
    assert first == process("build", "source", cwd=folder, PYTHONHASHSEED="7").stdout
    assert first.endswith("}\n")


def test_check_shows_what_is_stale(folder: Path) -> None:
    assert osbctl("build", "source", "-o", "catalog.yaml", cwd=folder).returncode == 0
    assert osbctl("build", "source", "-o", "catalog.yaml", "--check", cwd=folder).returncode == 0
    assert osbctl("new", "plan", "postgres", "huge", "-C", "source", cwd=folder).returncode == 0
    before = (folder / "catalog.yaml").read_bytes()
    done = osbctl("build", "source", "-o", "catalog.yaml", "--check", cwd=folder)
    assert done.returncode == 1
    assert "+    - id: " in done.stdout.replace("+  - id: ", "+    - id: ") or "+" in done.stdout
    assert "huge" in done.stdout
    assert (folder / "catalog.yaml").read_bytes() == before


def test_new_adds_and_refuses(folder: Path) -> None:
    assert osbctl("new", "service", "redis", "-C", "source", cwd=folder).returncode == 0
    shown = osbctl("show", "source", "--format", "json", cwd=folder)
    assert [s["name"] for s in json.loads(shown.stdout)["services"]] == ["postgres", "redis"]
    for wrong in (("service", "../x"), ("plan", "none", "x"), ("plan", "postgres"), ("service", "a", "b")):
        assert osbctl("new", *wrong, "-C", "source", cwd=folder).returncode == 2


def test_nothing_is_written_on_an_error(folder: Path) -> None:
    assert osbctl("build", "source", "-o", "catalog.json", cwd=folder).returncode == 0
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    (folder / "source" / "services" / "bad.yaml").write_text("name: bad\nid: 1\n")
    done = osbctl("build", "source", "-o", "catalog.json", cwd=folder)
    assert done.returncode == 1
    assert "bad.yaml:2:1: error:" in done.stderr
    assert all(file.read_bytes() == data for file, data in before.items())


def test_a_catalog_that_cannot_be_written_publishes_no_id(folder: Path) -> None:
    done = osbctl("build", "source", "-o", "none/catalog.json", cwd=folder)
    assert done.returncode == 3
    assert not (folder / "source" / "catalog.lock").exists()


def test_a_folder_that_is_not_there_is_3(tmp_path: Path) -> None:
    for command in (("build", "none"), ("validate", "none")):
        assert osbctl(*command, cwd=tmp_path).returncode == 3


def test_new_adds_no_second_file_of_one_thing(folder: Path) -> None:
    services = folder / "source" / "services"
    (services / "cache.json").write_text("{}")
    (services / "queue.v2.yaml").write_text("{}")
    (services / "cache" / "plans").mkdir(parents=True)
    (services / "cache" / "plans" / "small.yml").write_text("{}")
    (services / "inline.yaml").write_text("name: inline\nplans: [{name: small}, {name: large}]\n")
    before = sorted(services.rglob("*"))
    for words, code, told in (
        (("plan", "inline", "large"), 3, "inline.yaml has a plan 'large' already"),
        (("service", "cache"), 3, "cache.json already exists"),
        (("plan", "cache", "small"), 3, "small.yml already exists"),
        (("plan", "queue", "small"), 2, "there is no service 'queue'"),
    ):
        done = osbctl("new", *words, "-C", "source", cwd=folder)
        assert (done.returncode, sorted(services.rglob("*"))) == (code, before)
        assert told in done.stderr


def test_init_beside_attributes_that_stand(tmp_path: Path) -> None:
    (tmp_path / ".gitattributes").write_text("*.png binary\n")
    done = osbctl("init", ".", "--service", "a", cwd=tmp_path)
    assert done.returncode == 0
    assert "add to .gitattributes: catalog.lock merge=union" in done.stderr
    assert (tmp_path / ".gitattributes").read_text() == "*.png binary\n"


def test_a_name_that_counted_platforms_take_does_not_stop_a_build(folder: Path) -> None:
    service = folder / "source" / "services" / "postgres.yaml"
    service.write_text(service.read_text().replace("name: postgres", "name: postgres_big"))
    done = osbctl("build", "source", "-o", "catalog.json", cwd=folder)
    assert done.returncode == 0
    assert "info: the name 'postgres_big' has '_'" in done.stderr
    service.write_text(service.read_text().replace("name: postgres_big", f"name: postgres_{'b' * 63}"))
    (folder / "osbctl.toml").write_text('platform = ["kubernetes"]\n')
    assert osbctl("build", "source", "-o", "other.json", cwd=folder).returncode == 1
    assert not (folder / "other.json").exists()


NAMED = [
    "JamesClonk__compose-broker___fixtures__broker_catalog.json",
    "JamesClonk__compose-broker___fixtures__broker_catalog_trimmed.json",
    "JamesClonk__compose-broker__catalog.yml",
    "eruvanos__openbrokerapi__tests__test_catalog.py--2.json",
    "eruvanos__openbrokerapi__tests__test_catalog.py--3.json",
    "huaweicloud__huaweicloud-service-broker__config.json.json",
    "unknown__find_string-32805266635__mongodb-enterprise-osb-design-notes.md.json",
]
"""The real catalogs that nothing but a `_` or a space in a name kept from being built."""


@needs_corpus
@each("name", NAMED)
def test_real_catalogs_with_such_names_build(tmp_path: Path, name: str) -> None:
    assert CORPUS
    file = str(CORPUS.resolve() / "catalogs" / name)
    assert run_app(["split", file, str(tmp_path / "source")]) == 0
    assert run_app(["build", str(tmp_path / "source"), "-o", str(tmp_path / "built.json")]) == 0
    assert read_source(str(tmp_path / "built.json")).data == read_source(file).data


def test_variables_come_from_options_and_the_environment(folder: Path) -> None:
    service = folder / "source" / "services" / "postgres.yaml"
    service.write_text(service.read_text().replace("REPLACE_WITH_ONE_SENTENCE", "In ${REGION} of ${CLOUD:-none}"))
    done = osbctl("build", "source", "--set", "REGION=eu", "--env-prefix", "MY_", cwd=folder, MY_CLOUD="blue")
    assert "In eu of blue" in done.stdout
    assert osbctl("build", "source", "--set", "CLOUD=x", cwd=folder).returncode == 1
    assert osbctl("build", "source", "--set", "CLOUD", cwd=folder).returncode == 2


@each(
    "pair, says",
    [
        ("REGOIN=eu", "--set REGOIN: no file of the folder has ${REGOIN}\n  hint: did you mean REGION?"),
        ("REG=eu", "no file of the folder has ${REG}"),
        ("=1", "'' is not a name"),
        ("A-B=1", "'A-B' is not a name"),
    ],
)
def test_a_variable_that_nothing_reads(folder: Path, pair: str, says: str) -> None:
    service = folder / "source" / "services" / "postgres.yaml"
    service.write_text(service.read_text().replace("REPLACE_WITH_ONE_SENTENCE", "In ${REGION:-us}"))
    overlay = folder / "overlay.yaml"
    overlay.write_text("services: {postgres: {description: 'In ${ZONE}'}}\n")
    done = osbctl("build", "source", "--set", "REGION=eu", "--set", pair, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert not (folder / "source" / "catalog.lock").exists()
    words = ("--overlay", "overlay.yaml", "--set", "ZONE=b", "--set", "REGION=eu")
    assert osbctl("build", "source", *words, cwd=folder).returncode == 0


def test_split_and_build_come_full_circle(folder: Path) -> None:
    assert osbctl("build", "source", "-o", "catalog.json", cwd=folder).returncode == 0
    assert osbctl("split", "catalog.json", "parts", cwd=folder).returncode == 0
    assert osbctl("build", "parts", "-o", "again.json", cwd=folder).returncode == 0
    assert (folder / "again.json").read_text() == (folder / "catalog.json").read_text()


@each("text, place", [("servces: []\n", "1:1"), ("services:\n- name: a\n- 3\n", "1:1")])
def test_a_catalog_without_services_that_are_objects_is_not_split(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    done = osbctl("split", "c.yaml", "parts", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"c.yaml:{place}: error: `services` must be a list of objects, to be split")
    assert not (tmp_path / "parts").exists()


def test_an_accepted_change_of_an_id_that_nothing_has_is_refused(folder: Path) -> None:
    done = osbctl("build", "source", "--accept-id-change", "postgres/nosuch", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --accept-id-change postgres/nosuch: there is no such service or plan\n")
    assert osbctl("build", "source", "--accept-id-change", "postgres/small", cwd=folder).returncode == 0


@pytest.mark.parametrize("attributes", [True, False])
def test_a_lock_that_git_has_checked_out_on_windows(folder: Path, attributes: bool) -> None:
    source = folder / "source"
    assert osbctl("build", "source", "-o", "catalog.json", cwd=folder).returncode == 0
    if not attributes:
        (source / ".gitattributes").unlink()
    git(source, "init")
    git(source, "config", "core.autocrlf", "true")
    commit(source)
    (source / "catalog.lock").unlink()
    git(source, "checkout", "catalog.lock")
    assert (b"\r\n" in (source / "catalog.lock").read_bytes()) != attributes
    done = osbctl("build", "source", "-o", "catalog.json", "--check", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@each("name", ["10", "null", "true", "1e3", "0x10", "1.0", "On", "1_0", "2001-01-01"])
def test_names_that_yaml_takes_for_something_else(tmp_path: Path, name: str) -> None:
    assert osbctl("init", "s", "--service", name, cwd=tmp_path).returncode == 0
    assert osbctl("new", "plan", name, name, "-C", "s", cwd=tmp_path).returncode == 0
    assert osbctl("new", "service", f"{name}-b", "-C", "s", cwd=tmp_path).returncode == 0
    (tmp_path / "s/catalog.yaml").write_text(
        (tmp_path / "s/catalog.yaml").read_text().replace("# services", "services")
    )
    (tmp_path / f"s/services/{name}-b.yaml").unlink()
    (tmp_path / f"s/services/{name}-b/plans/small.yaml").unlink()
    done = osbctl("build", "s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (service,) = json.loads(done.stdout)["services"]
    assert (service["name"], service["metadata"]["displayName"]) == (name, name.capitalize())
    assert [plan["name"] for plan in service["plans"]] == ["small", "large", name]


def test_a_lock_that_cannot_be_written_keeps_the_catalog_from_being_written(folder: Path) -> None:
    (folder / "source" / "catalog.lock").symlink_to(folder / "none" / "catalog.lock")
    for words in (("-o", "catalog.json"), ()):
        done = osbctl("build", "source", *words, cwd=folder)
        assert (done.returncode, done.stdout) == (3, "")
        assert "catalog.lock: cannot be written" in done.stderr
    assert not (folder / "catalog.json").exists()
    assert sorted(file.name for file in (folder / "source").iterdir() if "lock" in file.name) == ["catalog.lock"]


def test_a_trial_with_an_overlay_records_no_id(folder: Path) -> None:
    plan = "{name: trial, id: 0B9E2C61-D748-4A15-B3F0-7C5D1E8A4296, description: On trial., free: true}"
    (folder / "overlay.yaml").write_text(f"services: {{postgres: {{add-plans: [{plan}]}}}}\n")
    words = ("build", "source", "--overlay", "overlay.yaml")
    lock = folder / "source" / "catalog.lock"
    for out in ((), ("-o", "-")):
        done = osbctl(*words, *out, cwd=folder)
        assert "trial" in done.stdout
        assert "catalog.lock was not changed" in done.stderr
        assert not lock.exists()
    assert osbctl(*words, "-o", "catalog.json", cwd=folder).returncode == 0
    assert "postgres/trial" in lock.read_text()


def test_new_makes_no_folder(tmp_path: Path) -> None:
    done = osbctl("new", "service", "ok", "-C", "nosuch", cwd=tmp_path)
    assert done.returncode == 3
    assert "nosuch: there is no such folder" in done.stderr
    assert not (tmp_path / "nosuch").exists()


def plan_file(folder: Path, service: str, name: str, id_: str) -> Path:
    file = folder / "source" / "services" / service / "plans" / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"name: {name}\nid: {id_}\ndescription: A plan.\nfree: true\n")
    return file


FIRST, SECOND = "0B9E2C61-D748-4A15-B3F0-7C5D1E8A4296", "E47B1D90-35AC-4F6E-8B12-9D0A6C8F5324"


def test_a_plan_that_went_is_remembered_by_name_and_id(folder: Path) -> None:
    file = plan_file(folder, "postgres", "huge", FIRST)
    assert osbctl("build", "source", cwd=folder).returncode == 0
    file.unlink()
    for _ in range(2):  # the second build has it from the lock of the first alone
        assert osbctl("build", "source", cwd=folder).returncode == 0
    assert f'["postgres/huge", "{FIRST}"]' in (folder / "source" / "catalog.lock").read_text()
    plan_file(folder, "postgres", "huge", SECOND)
    back = osbctl("build", "source", cwd=folder)
    assert back.returncode == 1
    assert f"the id of plan 'postgres/huge' has changed; it was '{FIRST}'" in back.stderr


def test_a_plan_that_moves_to_another_service_keeps_no_id(folder: Path) -> None:
    """Platforms take it for the same plan of the old service; so with the id of a service that a plan gets."""
    assert osbctl("new", "service", "redis", "-C", "source", cwd=folder).returncode == 0
    file = plan_file(folder, "postgres", "huge", FIRST)
    assert osbctl("build", "source", cwd=folder).returncode == 0
    file.unlink()
    other = plan_file(folder, "redis", "huge", FIRST)
    done = osbctl("build", "source", cwd=folder)
    assert done.returncode == 1
    assert "the id of 'redis/huge' was that of 'postgres/huge'" in done.stderr
    other.unlink()
    plan_file(folder, "postgres", "vast", FIRST)  # under another name in its own service it is renamed
    assert osbctl("build", "source", cwd=folder).returncode == 0
    assert "huge" not in (folder / "source" / "catalog.lock").read_text()


def test_a_changed_id_is_refused_as_an_update(folder: Path) -> None:
    assert osbctl("build", "source", cwd=folder).returncode == 0
    lock = folder / "source/catalog.lock"
    lock.write_text(re.sub(r'(\["postgres", ")[^"]+', r"\1another", lock.read_text()))
    told = osbctl("validate", "source", cwd=folder).stdout
    assert "    refused as an update by Cloud Foundry, SAP Service Manager\n" in told
    assert "`osbctl build --accept-id-change postgres`" in told


def test_an_output_in_the_source_folder_is_refused(folder: Path) -> None:
    done = osbctl("build", "source", "-o", "source/out.yaml", cwd=folder)
    assert "the next build would read it as part of the catalog" in done.stderr
