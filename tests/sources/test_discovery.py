"""The catalogs of a project are found by their content, and nothing else is taken."""

import json
import os
import time
from pathlib import Path

import pytest

from osbctl.sources import discovery
from osbctl.sources.discovery import find_sources, is_catalog, is_source_folder
from osbctl.sources.read_bytes import MAX_BYTES
from tests.case import case, each
from tests.corpus import catalogs, needs_corpus
from tests.deploy.harness import write
from tests.editor.test_other_files import OTHERS
from tests.git import ROOT, commit, git

OFFERING = {"id": "a", "name": "a", "description": "A.", "bindable": True, "plans": [{"id": "b", "name": "b"}]}
CATALOG = json.dumps({"services": [OFFERING]})
PART = "id: a\nname: a\ndescription: A.\nbindable: true\nplans: [{id: b, name: b, description: B.}]\n"
STARTED = '{"services": [{"id": "a", "name": "a", "description": "A."}]}'

TAKEN = {
    "any-name.json": CATALOG,
    "UPPER.YAML": f"services: [{json.dumps(OFFERING)}]",
    "list.json": json.dumps([OFFERING]),
    "one.yml": PART,
    "config.json": json.dumps({"catalog": {"services": [OFFERING]}, "port": 80}),
    "jobs/broker/spec": f"properties:\n  services:\n    default: [{json.dumps(OFFERING)}]\n",
    "configmap.yaml": f"kind: ConfigMap\ndata:\n  catalog.json: {json.dumps(CATALOG)}\n",
    "stream.yaml": f"kind: Service\n---\nspec: {CATALOG}\n",
    "no-plans.json": STARTED,
    "no-id.json": '{"services": [{"name": "a", "bindable": true, "plans": [{"name": "b"}]}]}',
    "broken.json": CATALOG.replace('"name": "b"}', '"name": "b",}'),
    "broken.yml": "services:\n  - name: a\n    bindable: true\n    plans: [\n",
    "anchored.yml": "a: 1\na: 2\nservices: &services\n  - name: a\n    plans:\n      - name: b\n",
    "conflict.yaml": f"<<<<<<< ours\nservices: [{PART}]\n=======\nservices:\n  - name: a\n    plans: []\n>>>>>>> theirs\n",
    "empty/catalog.json": '{"services": []}',
    "begun/my-catalog.yaml": "services:\n- name: a\n",
    "begun/catalog.json": '{"services": [{"id": "x", "name": "db",}]}',
}
LEFT = {
    **OTHERS,
    "ci/services.gitlab-ci.yml": "services:\n  - name: postgres:16\n",
    "ci/.gitlab-ci.yml": "image: x\nservices:\n  - name: docker:dind\n",
    "compose.catalog.yml": "services:\n  web: {image: nginx}\n",
    "ci/catalog.gitlab-ci.yml": "services:\n  - docker:dind\n",
    "k8s/services.yaml": "kind: List\nitems:\n- kind: Service\n  metadata: {name: a, id: a}\n  spec: {services: [{name: x}]}\n",
    "consultancy/services.yml": "services:\n- {name: Training, description: Two days.}\n",
    "helm/templates/catalog.yaml": "kind: ConfigMap\ndata:\n  catalog: |\n    {{ .Values.catalog }}\n  {{- if x }}\nservices:\n- plans: []\n",
    "templates/catalog.json": CATALOG.replace('"plans": [', '"plans": [<% x %>'),
    "blank/catalog.yaml": "",
    "text/catalog.yaml": "our services: plans",
    "README": "The services: plans, bindable: all.\n",
    "bin/tool": "\0\1services: plans: bindable:",
    "catalog.md": CATALOG,
    "instances/a/instance.yml": f"serviceInstanceId: x\nserviceDefinition: {json.dumps(OFFERING)}\ncontext: !<Platform>\n  a: 1\n",
    "site/services.yml": "services:\n- {name: Training, description: On video.}\n",
    "site/portfolio.json": STARTED.replace("{", '{"version": "1", ', 1),
    "openapi.yaml": "components:\n  schemas:\n    Service:\n      properties: {id: {type: string}, plans: {type: array}}\n",
}
SKIPPED = {
    "node_modules/a/catalog.json": CATALOG,
    "web/vendor/github.com/x/catalog.json": CATALOG,
    ".github/catalog.yml": CATALOG,
    "my-env/pyvenv.cfg": "",
    "my-env/lib/catalog.json": CATALOG,
    "ignored/catalog.json": CATALOG,
    "notes.json": CATALOG,
}


def found_in(folder: Path) -> list[str]:
    """Sources that are found in a folder, as paths from there."""
    return [Path(name).relative_to(folder).as_posix() for name in find_sources(str(folder)).sources]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, TAKEN | LEFT | SKIPPED | {".gitignore": "ignored/\n/notes.json\n"})
    commit(tmp_path)
    return tmp_path


@each("name", TAKEN)
def test_what_is_taken(name: str) -> None:
    assert is_catalog(name, TAKEN[name].encode())


@each("name", LEFT)
def test_what_is_left(name: str) -> None:
    assert not is_catalog(name, LEFT[name].encode()) or not discovery.may_be_catalog(name)


def test_a_repository(project: Path) -> None:
    assert found_in(project) == sorted(TAKEN)
    write(project, {"untracked/services.json": CATALOG})
    (project / "one.yml").unlink()
    assert found_in(project) == sorted({*TAKEN, "untracked/services.json"} - {"one.yml"})


def test_a_folder_without_git_has_no_ignored_files(project: Path) -> None:
    (project / ".git").rename(project.parent / f"{project.name}-git")
    assert found_in(project) == sorted({*TAKEN, "ignored/catalog.json", "notes.json"})


def test_a_folder_that_is_named_is_searched_even_if_it_is_ignored_or_hidden(project: Path) -> None:
    for name in ("ignored", "node_modules", ".github"):
        with case(name):
            assert len(found_in(project / name)) == 1


def test_names_are_as_the_folder_was_spelled(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "jobs")
    for folder, prefix in ((".", ""), ("./", ""), ("broker/", ""), ("../jobs", "../jobs/")):
        with case(folder):
            assert find_sources(folder).sources == (f"{prefix}broker/spec",)


def test_the_repository_of_a_hook_is_not_that_of_the_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = write(project.parent / "other", {"x.json": CATALOG})
    commit(other)
    write(other, {"y.json": CATALOG, ".git/info/exclude": "y.json\n"})
    monkeypatch.chdir(project)
    monkeypatch.setenv("GIT_DIR", str(project / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert found_in(other) == ["x.json"]


def test_a_repository_names_no_program_to_run(project: Path) -> None:
    git(project, "config", "core.fsmonitor", f"touch {project}/hacked;")
    assert found_in(project)
    assert not (project / "hacked").exists()


def test_source_folders_and_brokerpaks_are_one_source_each(tmp_path: Path) -> None:
    pak = {"manifest.yml": "service_definitions: [a.yml]\n", "a.yml": PART, "examples/b.json": CATALOG}
    folders = {
        "locked": {"catalog.lock": "", "services/a.yaml": PART},
        "settings": {"catalog.yaml": "services: [a]\n", "services/a.yaml": PART, "built.json": CATALOG},
        "misspelt": {"catalog.yaml": "service: [a]\n", "services/a.yaml": "name: a\n"},
        "bare": {"services/a.yaml": PART},
        "plans": {"services/a.yaml": "name: a\n", "services/a/plans/b.yaml": "name: b\n"},
        "deep/pak": pak,
        "deep/pak/inner": {"catalog.yaml": "services: []\n", "services/a.yaml": PART},
    }
    write(tmp_path, {f"{folder}/{name}": text for folder, files in folders.items() for name, text in files.items()})
    write(tmp_path, {"cf/manifest.yml": "applications: []\n", "k8s/services/a.yaml": "kind: Service\nmetadata: {}\n"})
    assert found_in(tmp_path) == sorted(folders.keys() - {"deep/pak/inner"})
    for folder in folders:
        with case(folder):
            assert found_in(tmp_path / folder) == ["."]


def test_a_whole_catalog_beside_services_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"catalog.yaml": CATALOG, "services/a.yaml": "kind: Service\n", "services/b.json": CATALOG})
    assert not is_source_folder(tmp_path)
    assert found_in(tmp_path) == ["catalog.yaml", "services/b.json"]


def test_links_and_what_is_no_file_are_not_read(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"a.json": CATALOG})
    inside = write(tmp_path / "inside", {"b.json": CATALOG})
    (inside / "link.json").symlink_to(outside / "a.json")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    os.mkfifo(inside / "fifo.json")
    assert found_in(inside) == ["b.json"]
    commit(inside)
    with (inside / "catalog-of-everything.json").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert found_in(inside) == ["b.json"]


def test_other_clones_are_not_searched(tmp_path: Path) -> None:
    commit(write(tmp_path, {"a.json": CATALOG}))
    for name in ("nested", "submodule"):
        commit(write(tmp_path / name, {"b.json": CATALOG}))
    git(tmp_path, "add", "submodule")
    assert find_sources(str(tmp_path)) == ((str(tmp_path / "a.json"),), 3, ())
    assert found_in(tmp_path / "nested") == found_in(tmp_path / "submodule") == ["b.json"]


def test_files_in_conflict_are_found_once(tmp_path: Path) -> None:
    commit(write(tmp_path, {"a.json": CATALOG}))
    git(tmp_path, "checkout", "--quiet", "-b", "other")
    write(tmp_path, {"a.json": CATALOG.replace("A.", "B.")})
    commit(tmp_path)
    git(tmp_path, "checkout", "--quiet", "main")
    write(tmp_path, {"a.json": CATALOG.replace("A.", "C.")})
    commit(tmp_path)
    with pytest.raises(AssertionError):
        git(tmp_path, "merge", "--quiet", "other")
    assert found_in(tmp_path) == ["a.json"]


def test_only_files_with_the_words_of_a_catalog_are_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = {name.replace("/", "-"): text for name, text in OTHERS.items()}
    write(tmp_path, {f"{number}/{name}": text for number in range(20) for name, text in others.items()})
    parsed: list[str] = []
    monkeypatch.setattr(discovery, "parse_if_possible", lambda text, name: parsed.append(name) or ())
    progress: list[tuple[int, int]] = []
    search = find_sources(str(tmp_path), lambda done, total: progress.append((done, total)))
    assert search[:2] == ((), 20 * sum(1 for name in OTHERS if discovery.may_be_catalog(name)))
    assert len(parsed) <= search.searched / 2
    assert progress == [(0, search.searched)]


@each("text", ['"services": # ' * 40_000, "services:\n" * 25_000, "services: [" + " " * 400_000, '"' * 400_000])
def test_a_text_that_cannot_be_parsed_costs_no_more_than_its_length(text: str) -> None:
    before = time.process_time()
    assert not is_catalog("x.yaml", f"{text}\nplans: [}}\n".encode())
    assert time.process_time() - before < 5  # quadratic, it took minutes


@needs_corpus
def test_every_real_catalog_is_taken() -> None:
    assert [file.name for file in catalogs() if not is_catalog(file.name, file.read_bytes())] == []


def test_the_project_itself() -> None:
    found = found_in(ROOT)
    assert {"catalogs/data-services.yaml", "catalogs/faulty.yaml", "catalogs/source"} <= set(found)
    assert not [name for name in found if name.startswith(("docs/", "schemas/", "osbctl/", "editors/", "benchmarks/"))]
