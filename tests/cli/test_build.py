"""build, init, new and split as whole processes."""

import json
import re
from pathlib import Path

import pytest

from tests.case import case, each
from tests.cli.program import failure, osbctl, process
from tests.deploy.harness import edit
from tests.git import commit, git

WARNINGS = "osbctl: 3 warnings: see `osbctl validate`\n"
"""The note of `build` on the texts that `init` leaves to the author."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    osbctl("init", "source", "--service", "postgres", cwd=tmp_path, code=0)
    return tmp_path


def run(folder: Path, line: str, code: int = 0) -> str:
    """The output of a command that ends with `code`."""
    return osbctl(*line.split(), cwd=folder, code=code).stdout


def test_init_builds_at_once_and_overwrites_nothing(folder: Path) -> None:
    told = json.loads(run(folder, "validate source -f json"))["documents"][0]["findings"]
    fields = "/description", "/metadata/longDescription", "/metadata/providerDisplayName"
    found = [("placeholder-unresolved", f"/services/0{field}") for field in fields]
    assert sorted((one["rule"], one["path"]) for one in told) == found
    assert osbctl("build", "source", "-o", "catalog.json", cwd=folder, code=0).stderr.startswith(WARNINGS)
    assert len(json.loads((folder / "catalog.json").read_text())["services"][0]["plans"]) == 2
    refusal = failure("init", "source", "--service", "postgres", cwd=folder, code=3)
    assert refusal.startswith("error: source/catalog.yaml already exists, and nothing is overwritten\n")


def test_what_new_adds_waits_for_its_texts(folder: Path) -> None:
    for words, number in (("service redis", 3), ("plan postgres huge", 4)):
        run(folder, f"new {words} -C source")
        shown = run(folder, "validate source --concise")
        assert f"{number} values hold 'REPLACE_WITH_ONE_SENTENCE', which was not replaced" in shown, words
    shown = json.loads(run(folder, "show source --format json"))
    assert [service["name"] for service in shown["services"]] == ["postgres", "redis"]


def test_the_same_input_gives_the_same_bytes(folder: Path) -> None:
    first = process("build", "source", cwd=folder).stdout
    assert first == process("build", "source", cwd=folder, PYTHONHASHSEED="7").stdout
    assert first.endswith("}\n")


def test_check_shows_what_is_stale(folder: Path) -> None:
    run(folder, "build source -o catalog.yaml")
    run(folder, "build source -o upper.YAML")
    assert (folder / "upper.YAML").read_text() == (folder / "catalog.yaml").read_text()
    run(folder, "build source -o catalog.yaml --check")
    run(folder, "new plan postgres huge -C source")
    before = (folder / "catalog.yaml").read_bytes()
    assert re.search(r"(?m)^\+ +name: huge$", run(folder, "build source -o catalog.yaml --check", code=1))
    assert (folder / "catalog.yaml").read_bytes() == before


def test_nothing_is_written_on_an_error(folder: Path) -> None:
    run(folder, "build source -o none/catalog.json", code=3)
    assert not (folder / "source/catalog.lock").exists()
    run(folder, "build source -o catalog.json")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    (folder / "source/services/bad.yaml").write_text("name: bad\nid: 1\n")
    assert "bad.yaml:2:1: error:" in failure("build", "source", "-o", "catalog.json", cwd=folder, code=1)
    assert all(file.read_bytes() == data for file, data in before.items())


def test_new_adds_no_second_file_of_one_thing(folder: Path) -> None:
    services = folder / "source/services"
    (services / "cache/plans").mkdir(parents=True)
    for name in ("cache.json", "queue.v2.yaml", "cache/plans/small.yml"):
        (services / name).write_text("{}")
    (services / "inline.yaml").write_text("name: inline\nplans: [{name: small}, {name: large}]\n")
    before = sorted(folder.rglob("*"))
    for words, code, told in (
        ("plan inline large -C source", 3, "inline.yaml has a plan 'large' already"),
        ("service cache -C source", 3, "cache.json already exists"),
        ("plan cache small -C source", 3, "small.yml already exists"),
        ("plan queue small -C source", 2, "there is no service 'queue'"),
        ("plan none x -C source", 2, ""),
        ("plan postgres -C source", 2, ""),
        ("service a b -C source", 2, ""),
        ("service ../x -C source", 2, ""),
        ("service ok -C nosuch", 3, "nosuch: there is no such folder"),
    ):
        assert told in failure("new", *words.split(), cwd=folder, code=code)
        assert sorted(folder.rglob("*")) == before, words


def test_init_beside_attributes_that_stand(tmp_path: Path) -> None:
    (tmp_path / ".gitattributes").write_text("*.png binary\n")
    done = osbctl("init", ".", "--service", "a", cwd=tmp_path, code=0)
    assert "add to .gitattributes: catalog.lock merge=union" in done.stderr
    assert (tmp_path / ".gitattributes").read_text() == "*.png binary\n"


def test_a_name_that_counted_platforms_take_does_not_stop_a_build(folder: Path) -> None:
    service = folder / "source/services/postgres.yaml"
    text = service.read_text().replace("name: small", "name: very small")
    for name, info in (("postgres big", ""), ("postgres_big", "info: the name 'postgres_big' has '_'")):
        service.write_text(text.replace("name: postgres", f"name: {name}"))
        assert info in osbctl("build", "source", "-o", "catalog.json", cwd=folder, code=0).stderr
        assert json.loads((folder / "catalog.json").read_text())["services"][0]["name"] == name
    service.write_text(text.replace("name: postgres", f"name: postgres_{'b' * 63}"))
    (folder / "osbctl.toml").write_text('platform = ["kubernetes"]\n')
    run(folder, "build source -o other.json", code=1)
    assert not (folder / "other.json").exists()


def test_the_closest_configuration_counts(folder: Path) -> None:
    (folder / "osbctl.toml").write_text('[severity]\nplaceholder-unresolved = "error"\n')
    (folder / "elsewhere").mkdir()
    assert "[placeholder-unresolved]" in failure("build", "../source", cwd=folder / "elsewhere", code=1)


def test_variables_come_from_options(folder: Path) -> None:
    edit(folder / "source/services/postgres.yaml", "REPLACE_WITH_ONE_SENTENCE", "In ${REGION} of ${CLOUD:-none}")
    assert "In eu of none" in run(folder, "build source --set REGION=eu")
    run(folder, "build source --set CLOUD=x", code=1)
    run(folder, "build source --set CLOUD", code=2)


def test_a_variable_that_nothing_reads(folder: Path) -> None:
    edit(folder / "source/services/postgres.yaml", "REPLACE_WITH_ONE_SENTENCE", "In ${REGION:-us}")
    (folder / "overlay.yaml").write_text("services: {postgres: {description: 'In ${ZONE}'}}\n")
    for pair, says in (
        ("REGOIN=eu", "--set REGOIN: no file of the folder has ${REGOIN}\n  hint: did you mean REGION?"),
        ("REG=eu", "no file of the folder has ${REG}"),
        ("=1", "'' is not a name"),
        ("A-B=1", "'A-B' is not a name"),
    ):
        assert says in failure("build", "source", "--set", "REGION=eu", "--set", pair, cwd=folder, code=2)
        assert not (folder / "source/catalog.lock").exists(), pair
    run(folder, "build source --overlay overlay.yaml --set ZONE=b --set REGION=eu")


def test_split_and_build_come_full_circle(folder: Path) -> None:
    run(folder, "build source -o catalog.json")
    run(folder, "split catalog.json parts")
    run(folder, "build parts -o again.json")
    assert (folder / "again.json").read_text() == (folder / "catalog.json").read_text()


def test_nothing_is_split_into_other_services(folder: Path) -> None:
    run(folder, "build source -o catalog.json")
    plan_file(folder, "postgres", "huge")
    (folder / "source/catalog.yaml").unlink()
    (folder / "source/services/postgres.yaml").unlink()
    assert "source/services has files" in failure("split", "catalog.json", "source", cwd=folder, code=3)
    assert not (folder / "source/catalog.yaml").exists()


NOT_SPLIT = {
    "servces: []\n": "there is no catalog here: it has no `services` [no-catalog]\n",
    "services:\n": "there is no catalog here: `services` is not a list [no-catalog]\n",
    "services: a\n": "`services` must be a list of objects, to be split [schema-type]\n",
    "services:\n- name: a\n- 3\n": "`services` must be a list of objects, to be split [schema-type]\n",
}


@each("text, message", NOT_SPLIT.items())
def test_a_catalog_without_services_that_are_objects_is_not_split(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    assert f"c.yaml:1:1: error: {message}" in failure("split", "c.yaml", "parts", cwd=tmp_path, code=1)
    assert not (tmp_path / "parts").exists()
    (tmp_path / "c.yaml").write_text("services:\n- name: a\n  plans: [small]\n")
    assert "c.yaml:3:3: error: `plans` must be a list" in failure("split", "c.yaml", "parts", cwd=tmp_path, code=1)


def test_a_changed_id_is_refused_as_an_update_and_an_accepted_one_must_be_there(folder: Path) -> None:
    told = failure("build", "source", "--accept-id-change", "postgres/nosuch", cwd=folder, code=2)
    assert told.startswith("error: --accept-id-change postgres/nosuch: there is no such service or plan\n")
    run(folder, "build source --accept-id-change postgres/small")
    edit(folder / "source/catalog.lock", r'(\["postgres", ")[^"]+', r"\1another")
    told = osbctl("validate", "source", cwd=folder).stdout
    assert "    refused as an update by Cloud Foundry, SAP Service Manager\n" in told
    assert "`osbctl build --accept-id-change postgres`" in told


@pytest.mark.parametrize("attributes", [True, False])
def test_a_lock_that_git_has_checked_out_on_windows(folder: Path, attributes: bool) -> None:
    source = folder / "source"
    run(folder, "build source -o catalog.json")
    if not attributes:
        (source / ".gitattributes").unlink()
    git(source, "init")
    git(source, "config", "core.autocrlf", "true")
    commit(source)
    (source / "catalog.lock").unlink()
    git(source, "checkout", "catalog.lock")
    assert (b"\r\n" in (source / "catalog.lock").read_bytes()) != attributes
    assert failure("build", "source", "-o", "catalog.json", "--check", cwd=folder, code=0) == WARNINGS


@each("name", ["10", "null", "true", "1e3", "0x10", "1.0", "On", "1_0", "2001-01-01"])
def test_names_that_yaml_takes_for_something_else(tmp_path: Path, name: str) -> None:
    for line in (f"init s --service {name}", f"new plan {name} {name} -C s", f"new service {name}-b -C s"):
        run(tmp_path, line)
    edit(tmp_path / "s/catalog.yaml", "# services", "services")
    (tmp_path / f"s/services/{name}-b.yaml").unlink()
    (tmp_path / f"s/services/{name}-b/plans/small.yaml").unlink()
    (service,) = json.loads(run(tmp_path, "build s"))["services"]
    assert (service["name"], service["metadata"]["displayName"]) == (name, name.capitalize())
    assert [plan["name"] for plan in service["plans"]] == ["small", "large", name]


def test_a_lock_that_cannot_be_written_keeps_the_catalog_from_being_written(folder: Path) -> None:
    (folder / "source/catalog.lock").symlink_to(folder / "none/catalog.lock")
    for words in (("-o", "catalog.json"), ()):
        assert "catalog.lock: cannot be written" in failure("build", "source", *words, cwd=folder, code=3)
    assert not (folder / "catalog.json").exists()
    assert [file.name for file in (folder / "source").iterdir() if "lock" in file.name] == ["catalog.lock"]


def test_a_trial_with_an_overlay_records_no_id(folder: Path) -> None:
    plan = "{name: trial, id: 0B9E2C61-D748-4A15-B3F0-7C5D1E8A4296, description: On trial., free: true}"
    (folder / "overlay.yaml").write_text(f"services: {{postgres: {{add-plans: [{plan}]}}}}\n")
    lock = folder / "source/catalog.lock"
    for out in ((), ("-o", "-")):
        done = osbctl("build", "source", "--overlay", "overlay.yaml", *out, cwd=folder)
        with case(*out):
            assert "trial" in done.stdout
            assert "catalog.lock was not changed" in done.stderr
            assert not lock.exists()
        refusal = failure("build", "source", "--overlay", "overlay.yaml", *out, "--check", cwd=folder, code=2)
        assert "--check has nothing to compare" in refusal
    run(folder, "build source --overlay overlay.yaml -o catalog.json")
    assert "postgres/trial" in lock.read_text()


def plan_file(folder: Path, service: str, name: str) -> Path:
    file = folder / "source/services" / service / "plans" / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    id_ = "0B9E2C61-D748-4A15-B3F0-7C5D1E8A4296"
    file.write_text(f"name: {name}\nid: {id_}\ndescription: A plan.\nfree: true\n")
    return file


def test_a_plan_that_moves_to_another_service_keeps_no_id(folder: Path) -> None:
    """Platforms take it for the same plan of the old service; so with the id of a service that a plan gets."""
    run(folder, "new service redis -C source")
    file = plan_file(folder, "postgres", "huge")
    run(folder, "build source")
    file.unlink()
    run(folder, "build source")  # the next build has it from the lock alone
    other = plan_file(folder, "redis", "huge")
    assert "the id of 'redis/huge' was that of 'postgres/huge'" in osbctl("build", "source", cwd=folder, code=1).stderr
    other.unlink()
    plan_file(folder, "postgres", "vast")  # under another name in its own service it is renamed
    run(folder, "build source")
    assert "huge" not in (folder / "source/catalog.lock").read_text()


def test_an_output_in_the_source_folder_is_refused(folder: Path) -> None:
    done = osbctl("build", "source", "-o", "source/out.yaml", cwd=folder)
    assert "the next build would read it as part of the catalog" in done.stderr
