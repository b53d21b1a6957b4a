"""Source folders: composed, overlaid, bundled, locked; every fault a finding at its file and line."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

from osbctl.errors import SourceError
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.sources.catalogs import find_only_catalog
from osbctl.sources.document import parse_document, parse_stream
from osbctl.sources.folder import compose, read_folder, read_lock
from osbctl.sources.folder.scaffold import split_catalog
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import Limits
from tests.case import each
from tests.corpus import catalogs, needs_corpus
from tests.deploy.harness import write as write_files
from tests.fragments import DRAFT_04
from tests.git import commit

SERVICE = """\
name: postgres
id: S1
description: A database.
bindable: true
plans:
  - {name: small, id: P1, description: Small.}
"""


def write(folder: Path, **texts: str) -> Path:
    """A source folder: `services__postgres` stands for services/postgres.yaml, `lock` for catalog.lock."""
    for name, text in texts.items():
        stem, ending = (name.removesuffix("_json"), "json") if name.endswith("_json") else (name, "yaml")
        file = "catalog.lock" if name == "lock" else f"{stem.replace('__', '/')}.{ending}"
        write_files(folder, {file: text})
    return folder


def built(folder: Path, **options: Any) -> dict[str, Any]:
    return read_folder(str(folder), **options).data


def faults(folder: Path, **options: Any) -> list[Finding]:
    with pytest.raises(DocumentError) as caught:
        read_folder(str(folder), **options)
    return list(caught.value.findings)


def only(found: list[Finding]) -> tuple[str, str, int]:
    (finding,) = found
    assert finding.location
    return finding.rule, Path(finding.location.source).name, finding.location.line


def names(catalog: dict[str, Any]) -> list[Any]:
    return [(s["name"], [p["name"] for p in s["plans"]]) for s in catalog["services"]]


def test_a_prohibited_update_is_judged_as_in_the_built_catalog(tmp_path: Path) -> None:
    schema = "{type: object, properties: {size: {type: integer, prohibitUpdate: true}}}"
    plan = f"free: true, schemas: {{service_instance: {{create: {{parameters: {schema}}}}}}}}}"
    folder = read_folder(str(write(tmp_path, services__a=SERVICE.replace("description: Small.}", plan))))
    file = parse_document(json.dumps(folder.data).encode(), "a.json")
    text = json.dumps({"data": {"catalog.yaml": json.dumps(folder.data)}})
    config_map = find_only_catalog(parse_stream(text, "m.yaml"))
    (expected,), (found,), (in_string,) = (list(document.catalog.plans) for document in (file, folder, config_map))
    assert found.judged == in_string.judged == expected.judged
    assert found.judged


def test_plans_inside_and_in_files_in_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        services__b=SERVICE.replace("postgres", "b"),
        services__a="name: a\nid: S2\n",
        services__a__plans__two="name: two\n",
        services__a__plans__one="name: one\n",
        services__b__plans__big="name: big\n",
    )
    assert names(built(tmp_path)) == [("a", ["one", "two"]), ("b", ["small", "big"])]
    write(tmp_path, catalog="services: [b, a]\n", services__a="name: a\nplans: [two, one, {name: three}]\n")
    assert names(built(tmp_path)) == [("b", ["small", "big"]), ("a", ["two", "one", "three"])]


def test_defaults_fill_what_is_not_said(tmp_path: Path) -> None:
    settings = """\
defaults:
  service: {bindable: false, metadata: {shareable: true, displayName: X}}
  plan: {free: false, bindable: null}
fields: {extra: 1}
"""
    service = SERVICE + "metadata: {displayName: null}\n"
    data = built(write(tmp_path, catalog=settings, services__postgres=service))
    (offering,) = data["services"]
    assert offering["bindable"] is True
    assert offering["metadata"] == {"displayName": None, "shareable": True}
    assert offering["plans"][0]["free"] is False
    assert data["extra"] == 1


def test_places_are_those_of_the_source_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        catalog="defaults:\n  plan:\n    free: 0\n",
        services__postgres=SERVICE,
        services__postgres__plans__large="# a plan\nname: large\nid: P2\ndescription: L.\n",
        overlay="services:\n  postgres:\n    plans:\n      small:\n        metadata: {bullets: x}\n",
    )
    document = read_folder(str(tmp_path), overlays=[str(tmp_path / "overlay.yaml")])
    plans = ("services", 0, "plans")
    wanted = {
        ("services", 0, "name"): ("postgres.yaml", 1),
        (*plans, 0, "id"): ("postgres.yaml", 6),
        (*plans, 1, "id"): ("large.yaml", 3),
        (*plans, 1, "free"): ("catalog.yaml", 3),
        (*plans, 0, "metadata", "bullets"): ("overlay.yaml", 5),
    }
    found = document.locate(wanted)
    assert {path: (Path(place.source).name, place.line) for path, place in found.items()} == wanted


OVERLAYS = [
    ("postgres: {description: New.}", lambda s: s["description"] == "New."),
    ("postgres: {bindable: null}", lambda s: "bindable" not in s),
    ("postgres: {tags: [a], metadata: {x: {y: 1, z: null}}}", lambda s: s["metadata"] == {"x": {"y": 1}}),
    ("postgres: {plans: {small: null}, add-plans: [{name: new, id: P9}]}",
        lambda s: [p["id"] for p in s["plans"]] == ["P9"]),
    ("postgres: {plans: {small: {free: true}}}", lambda s: s["plans"][0]["free"] is True),
]  # fmt: skip


@each("patch, holds", OVERLAYS)
def test_overlays(tmp_path: Path, patch: str, holds: Any) -> None:
    write(tmp_path, services__postgres=SERVICE, overlay="services: {" + patch + "}")
    data = built(tmp_path, overlays=[str(tmp_path / "overlay.yaml")])
    assert holds(data["services"][0])


def test_an_overlay_may_stand_outside_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, outside="services: {postgres: {description: New.}}")
    folder = write(tmp_path / "folder", services__postgres=SERVICE)
    data = built(folder, overlays=[str(tmp_path / "outside.yaml"), str(tmp_path / "outside.yaml")])
    assert data["services"][0]["description"] == "New."


def test_an_overlay_may_remove_a_service(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE, services__b="name: b\nplans: []\n", o="services: {b: null}\n")
    assert names(built(tmp_path, overlays=[str(tmp_path / "o.yaml")])) == [("postgres", ["small"])]


@each("overlay, line", [
    ("services:\n  mysql: {free: true}\n", 2),
    ("services:\n  postgres:\n    plans:\n      huge: {free: true}\n", 4),
    ("services:\n  postgres:\n    plans: [{name: x}]\n", 3),
    ("services:\n  postgres:\n    add-plans:\n      - {name: small}\n", 4),
    ("services:\n  postgres: 3\n", 2),
    ("service: {}\n", 1),
    *((f"services:\n  postgres:\n    {key}: [{{name: huge}}]\n", 3) for key in (
        "add_plans", "addPlans", "add-plan", "Add-Plans", "addplans", "additionalPlans", "new-plans", "Plans", "plan",
    )),
    ("services:\n  postgres:\n    plan: {small: {free: true}}\n", 3),
])  # fmt: skip
def test_an_overlay_that_addresses_nothing_is_an_error(tmp_path: Path, overlay: str, line: int) -> None:
    write(tmp_path, services__postgres=SERVICE, overlay=overlay)
    found = faults(tmp_path, overlays=[str(tmp_path / "overlay.yaml")])
    assert only(found[:1]) == ("build-overlay", "overlay.yaml", line)


NO_LIST = "plans can be added to a list only, which the plans of the service are not"


@each("plans, overlay, wanted", [
    *((plans, "description: x", plans) for plans in (None, "ab", {"a": 1}, [1, None], [{"name": ["x"]}, {"name": {}}])),
    *(([{"id": "b"}, one], f"add-plans: [{one}, {one}]", [{"id": "b"}, one, one, one]) for one in ({}, {"name": [1]})),
    ([{"id": "b"}], "add-plans: [{name: a}, {name: a}]", "plan 'a' already exists"),
    *((plans, "add-plans: [{id: c}]", NO_LIST) for plans in (None, "ab", {"a": 1}, 3)),
])  # fmt: skip
def test_an_overlay_of_a_service_with_faulty_plans(tmp_path: Path, plans: Any, overlay: str, wanted: Any) -> None:
    service = json.dumps({"name": "postgres", "plans": plans})
    write(tmp_path, services__postgres=service, overlay=f"services: {{postgres: {{{overlay}}}}}")
    try:
        found = built(tmp_path, overlays=[str(tmp_path / "overlay.yaml")])["services"][0]["plans"]
    except DocumentError as error:
        assert [one.rule for one in error.findings] == ["build-overlay"]
        found = error.findings[0].message
    assert found == wanted


VARIABLES: list[tuple[dict[str, str] | None, str, str | None]] = [
    ({"REGION": "eu"}, "in ${REGION}", "in eu"),
    ({"REGION": "eu"}, "${REGION}${REGION}", "eueu"),
    ({"REGION": "eu"}, "${NONE:-default}", "default"),
    ({"REGION": "eu"}, "${NONE:-}", ""),
    ({"REGION": "eu"}, "$${REGION}", "${REGION}"),
    ({"REGION": "eu"}, "$REGION {x}", "$REGION {x}"),
    *(({"REGION": "eu"}, text, None) for text in ("${NONE}", "${}", "${1x}", "${REGION")),
    (None, "${REGION:-eu} $${X}", "eu ${X}"),
    (None, "${REGION}", None),
]


@each("variables, text, expected", VARIABLES)
def test_variables(tmp_path: Path, variables: dict[str, str] | None, text: str, expected: str | None) -> None:
    write(tmp_path, services__postgres=SERVICE.replace("A database.", f"'{text}'"))
    options = {} if variables is None else {"variables": variables}
    if expected is None:
        assert only(faults(tmp_path, **options)) == ("build-variable", "postgres.yaml", 3)
    else:
        assert built(tmp_path, **options)["services"][0]["description"] == expected


@each("reference, message", [
    ("${NONE}", "${NONE} is not set"),
    ("${1x}", "'${1x}' is not a reference: write ${NAME} or ${NAME:-default}"),
    ("${NONE:default}", "'${NONE:default}' is not a reference: write ${NAME} or ${NAME:-default}"),
])  # fmt: skip
def test_a_reference_without_a_value_is_told_in_place(tmp_path: Path, reference: str, message: str) -> None:
    """In the second value of a list, and in a part of a file that another refers to."""
    hint = "set it with --set NAME=VALUE, give a default (${NAME:-…}), or write $${ for a literal ${"
    refers = "schemas: {service_instance: {create: {parameters: {$ref: ../shared.json#/b}}}}"
    write(tmp_path, shared_json=f'{{"a": {{}},\n "b": {{"enum": ["x",\n  "{reference}"]}}}}')
    for text, place in (
        (SERVICE + f"tags:\n- a\n- '{reference}'\n", ("build-variable", "postgres.yaml", 9)),
        (SERVICE.replace("small, id", f"small, {refers}, id"), ("build-variable", "shared.json", 3)),
    ):
        found = faults(write(tmp_path, services__postgres=text))
        assert only(found) == place
        assert (found[0].message, found[0].hint) == (message, hint)


def test_files_that_are_being_edited_need_not_be_on_disk(tmp_path: Path) -> None:
    """The folder may be called by a link; a file of another folder is no part of it."""
    unsaved = {file: SERVICE.replace("postgres", file.stem).encode() for file in (
        tmp_path / "folder/services/a.yaml", tmp_path / "folder/services/b.yaml", tmp_path / "other/services/c.yaml",
    )}  # fmt: skip
    assert [name for name, _ in names(built(tmp_path / "folder", unsaved=unsaved))] == ["a", "b"]
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    assert [name for name, _ in names(built(tmp_path / "link", unsaved=unsaved))] == ["a", "b"]


def test_plans_that_are_no_list_are_composed_too(tmp_path: Path) -> None:
    service = "name: postgres\nid: S1\nplans: {a: '${REGION}'}\n"
    write(tmp_path, catalog="defaults: {service: {plans: {b: 2}}}\n", services__postgres=service)
    made = built(tmp_path, variables={"REGION": "eu"})
    assert made["services"][0]["plans"] == {"a": "eu", "b": 2}


def test_split_escapes_what_build_would_replace(tmp_path: Path) -> None:
    texts = ["${REGION}", "$${REGION}", "$$${X", "a ${ b", "$$"]
    schema = {"type": "object", "description": "${A}"}
    schemas = {"service_instance": {"create": {"parameters": schema}}}
    plans = [{"name": text, "id": text, "schemas": schemas} for text in texts]
    catalog = {"services": [{"name": "a", "id": "${ID}", "plans": plans}], "extra": {"x": ["${Y}"]}}
    write_files(tmp_path, dict(split_catalog(catalog)))
    assert built(tmp_path) == catalog


UNREAD = [
    "services/redis/plans/small.yaml", "services/redis.YAML", "services/postgres/plan/small.yaml",
    "services/postgres/plans/deep/small.json", "service/redis.yaml", "Services/redis.yaml", "plans/small.yaml",
    "plan/small.yaml", "services/redis.jsonc", "services/redis.yaml.j2", "services/redis.toml", "services/.redis.yaml",
]  # fmt: skip


@each("listed", [True, False])
@each("name", UNREAD)
def test_what_nothing_reads_is_an_error(tmp_path: Path, name: str, listed: bool) -> None:
    write(tmp_path, services__postgres=SERVICE, **({"catalog": "services: [postgres]\n"} if listed else {}))
    write_files(tmp_path, {name: "name: small\nid: P9\n"})
    (finding,) = faults(tmp_path)
    assert (finding.rule, finding.message) == ("folder-unread", f"{tmp_path / name} is not part of the catalog")
    places = "a service stands at services/SERVICE.yaml, a plan at services/SERVICE/plans/PLAN.yaml"
    assert finding.hint == f"{places}; move or remove it"


def test_what_nothing_reads_is_an_error_in_a_revision_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "f", services__postgres=SERVICE)
    write_files(tmp_path / "f", dict.fromkeys((*UNREAD, "services/.b/x.yaml", "services/._a.yaml", "x/a.yaml"), "a: 1"))
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    unread = {f"HEAD:f/{name} is not part of the catalog" for name in UNREAD}
    assert {finding.message for finding in faults(Path("HEAD:f"))} == unread


def test_links_count_in_a_revision_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "f"
    write_files(tmp_path, {"out.yaml": SERVICE})
    write_files(folder, {"real/postgres.yaml": SERVICE, "plan": "name: large\nid: P9\ndescription: L.\n"})
    (folder / "real/postgres/plans").mkdir(parents=True)
    for name, target in {"services": "real", "real/postgres/plans/large.yaml": "../../../plan", "real/a": ".."}.items():
        (folder / name).symlink_to(target)
    (folder / "notes.yaml").symlink_to("nowhere")
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert names(built(Path("HEAD:f"))) == names(built(folder)) == [("postgres", ["small", "large"])]
    for name, target in (("catalog.yaml", "../out.yaml"), ("real/a.yaml", "x"), ("real/postgres/plans/a.yaml", "x")):
        (folder / name).symlink_to(target)
        commit(tmp_path)
        with pytest.raises(SourceError, match="the link leads to no file of this folder"):
            built(Path("HEAD:f"))
        (folder / name).unlink()


def test_files_in_a_misspelt_folder_are_named_where_there_is_no_other(tmp_path: Path) -> None:
    write(tmp_path, service__postgres=SERVICE)
    _, unread = faults(tmp_path)
    assert (unread.rule, unread.message.split("/")[-1]) == ("folder-unread", "postgres.yaml is not part of the catalog")


def test_other_files_under_services_are_nobodys(tmp_path: Path) -> None:
    """An editor's, too; nor is a schema that a plan refers to, wherever it stands."""
    schemas = "schemas: {service_instance: {create: {parameters: {$ref: ../plans/shared.json}}}}"
    write(tmp_path, services__postgres=SERVICE.replace("small, id", f"small, {schemas}, id"))
    write(tmp_path, plans__shared_json='{"type": "object"}')
    others = ("services/README.md", "services/.#a.yaml", "services/._a.yaml", "services/.git/x.yaml", "a.toml")
    write_files(tmp_path, dict.fromkeys(others, "x"))
    assert names(built(tmp_path)) == [("postgres", ["small"])]


@each("name", ["services/odd.yaml", "catalog.yaml"])
@each("make, words", [(lambda file: file.symlink_to(file.name), "symbolic links"), (os.mkfifo, "not a regular file")])
def test_what_is_no_file_is_an_error(tmp_path: Path, name: str, make: Any, words: str) -> None:
    write(tmp_path, services__postgres=SERVICE)
    make(tmp_path / name)
    with pytest.raises(SourceError, match=words) as caught:
        built(tmp_path)
    assert make is not os.mkfifo or caught.value.advice == "a source folder is made of files"


def test_an_overlay_that_is_a_folder_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE)
    with pytest.raises(SourceError, match=r"services: cannot be opened: Is a directory$"):
        built(tmp_path, overlays=[str(tmp_path / "services")])


def test_each_file_has_at_most_the_bytes_allowed(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE, services__redis=f"{SERVICE}# {'long' * 100}\n")
    assert only(faults(tmp_path, limits=Limits(bytes=300))) == ("too-large", "redis.yaml", 1)
    assert built(tmp_path, limits=Limits(bytes=3000))


def test_a_lock_that_is_no_file_of_text_is_said_to_be_none(tmp_path: Path) -> None:
    lock = tmp_path / "catalog.lock"
    write(tmp_path)
    os.mkfifo(lock)
    with pytest.raises(SourceError, match=r"catalog\.lock: cannot be read: it is not a regular file"):
        read_lock(tmp_path)
    lock.unlink()
    lock.write_bytes(b"\xff")
    with pytest.raises(SourceError, match=r"catalog\.lock: cannot be read: it is not UTF-8"):
        read_lock(tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such folder"):
        compose(str(tmp_path / "none"))
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match=r"file: not a folder$"):
        compose(str(tmp_path / "file"))


def test_a_merge_conflict_is_told_at_its_marker(tmp_path: Path) -> None:
    conflict = "<<<<<<< HEAD\n  - {name: a, id: A}\n=======\n  - {name: b, id: B}\n>>>>>>> branch\n"
    write(tmp_path, services__postgres=SERVICE + conflict)
    (finding,) = faults(tmp_path)
    assert only([finding]) == ("syntax", "postgres.yaml", 7)
    assert finding.message == "there is a merge conflict here"
    assert "both sides" in finding.hint


WITH_SCHEMA = """\
name: postgres
id: S1
description: D.
plans:
  - name: small
    id: P1
    description: Small.
    schemas: {service_instance: {create: {parameters: PARAMETERS}}}
"""
PARAMETERS = ("schemas", "service_instance", "create", "parameters")
D4 = '"$schema": "http://json-schema.org/draft-04/schema#"'


def bundled(folder: Path, parameters: str, **texts: str) -> Any:
    write(folder, services__postgres=WITH_SCHEMA.replace("PARAMETERS", parameters), **texts)
    return built(folder)["services"][0]["plans"][0]["schemas"]["service_instance"]["create"]["parameters"]


def test_notes_of_readers_have_paths_in_the_catalog(tmp_path: Path) -> None:
    bare = "name: a\nplans: [{name: p, x: 012}, {name: q}, {name: r, x: {w: 012}}]\nx: 012\n"
    write(tmp_path, services__a="name: z\n", services__b=bare, services__b__plans__s="name: s\nx: [1, 012]\n")
    write(tmp_path, catalog="fields: {x: 012}\n", o="services: {z: null, a: {x: 012, plans: {q: null}}}\n")
    document = read_folder(str(tmp_path), overlays=[str(tmp_path / "o.yaml")])
    notes = [one for one in document.notes if one.rule == "yaml-1.1"]
    plans = ("services", 0, "plans")
    inside = [(*plans, 0, "x"), (*plans, 1, "x", "w"), ("services", 0, "x"), (*plans, 2, "x", 1)]
    assert [note.path for note in notes] == [(), *inside, ()]


def test_references_are_replaced_by_their_targets(tmp_path: Path) -> None:
    """A file has no name of its own where it is a part of another, nor references to itself."""
    made = bundled(
        tmp_path,
        f'{{{D4}, properties: {{a: {{$ref: "../schemas/t.json#/definitions/x",\n      title: A}}, b: {{$ref: "#/properties/a"}}}}}}',
        schemas__t_json='{"$schema": 4, "definitions": {"x": {"title": "X", "items": {"$ref": "#/definitions/y"}}, "y": {"$ref": "s.json"}}}',
        schemas__s_json=f'{{{D4}, "id": "s", "$id": "s",\n"type": "integer", "not": {{"$ref": "#/enum/0"}}, "enum": [{{}}]}}',
    )
    items = {"type": "integer", "not": {}, "enum": [{}]}
    assert made["properties"] == {"a": {"title": "A", "items": items}, "b": {"$ref": "#/properties/a"}}
    inside = ("services", 0, "plans", 0, *PARAMETERS, "properties", "a")
    paths = [(*inside, "title"), (*inside, "items", "type")]
    places = read_folder(str(tmp_path)).locate(paths)
    found = [(Path(place.source).name, place.line) for place in map(places.__getitem__, paths)]
    assert found == [("postgres.yaml", 9), ("s.json", 2)]


def test_a_schema_that_is_a_whole_file_keeps_its_references_to_itself(tmp_path: Path) -> None:
    tree = (
        '{"definitions": {"tree": {"items": {"$ref": "#/definitions/tree"}}}, "items": {"$ref": "#/definitions/tree"}}'
    )
    made = bundled(tmp_path, f"{{{D4}, $ref: ../schemas/tree.json}}", schemas__tree_json=tree)
    assert made == json.loads(tree) | json.loads(f"{{{D4}}}")


def test_a_file_of_another_draft_is_refused(tmp_path: Path) -> None:
    draft_07 = "http://json-schema.org/draft-07/schema#"
    file = write(tmp_path, schemas__p_json=f'{{"title": "P",\n"$schema": "{draft_07}"}}') / "schemas/p.json"
    for parameters in (f"{{{D4}, items: {{$ref: ../schemas/p.json}}}}", f"{{{D4}, $ref: ../schemas/p.json}}"):
        write(tmp_path, services__postgres=WITH_SCHEMA.replace("PARAMETERS", parameters))
        (finding,) = faults(tmp_path)
        assert only([finding]) == ("build-reference", "p.json", 2)
        assert finding.message == f"{file} is written for {draft_07}, the schema that refers to it is not"
        assert finding.hint == "give both the same $schema"


def test_too_many_references_are_not_followed(tmp_path: Path) -> None:
    twice = {
        f"schemas__s{n}_json": f'{{"items": [{{"$ref": "s{n + 1}.json"}}, {{"$ref": "s{n + 1}.json"}}]}}'
        for n in range(30)
    }
    write(tmp_path, schemas__s30_json="{}", **twice)
    most = ", ".join(["{$ref: ../schemas/s30.json}"] * 1_000)
    assert bundled(tmp_path, f"{{allOf: [{most}]}}") == {"allOf": [{}] * 1_000}
    write(tmp_path, services__postgres=WITH_SCHEMA.replace("PARAMETERS", "{$ref: ../schemas/s0.json}"))
    assert "too many others" in faults(tmp_path)[0].message


def test_a_reference_in_data_is_data(tmp_path: Path) -> None:
    made = bundled(tmp_path, f'{{{D4}, properties: {{a: {{enum: [{{$ref: "x.json"}}]}}, $ref: {{type: string}}}}}}')
    assert made["properties"] == {"a": {"enum": [{"$ref": "x.json"}]}, "$ref": {"type": "string"}}


@each("reference, message, hint", [
    ("https://example.com/x.json", " names a URL", "keep the schema in a file of the folder"),
    ("../../outside.json", " leads out of the source folder", "copy it into the folder"),
    ("/etc/passwd", " is an absolute path", "write it relative to this file"),
    ("../schemas/none.json", " cannot be read: no such file?", "it was looked for at FOLDER/services/../schemas/none.json"),
    ("../schemas/p.json#/definitions/none", " leads to no schema", "see FOLDER/schemas/p.json"),
    ("../schemas/p.json#anchor", ": the part after # must be a JSON pointer", ""),
    ("../schemas/loop.json", " leads back to itself, or to too many others", "only a schema that is a whole file may refer to itself"),
    ("../schemas/link.json", " leads out of the source folder", "copy it into the folder"),
    *((url, " names a URL", "keep the schema in a file of the folder") for url in ("urn:example:x", "//example.com/x.json", "//[::1")),
])  # fmt: skip
def test_a_reference_that_cannot_be_followed(tmp_path: Path, reference: str, message: str, hint: str) -> None:
    folder = tmp_path.resolve() / "folder"
    write(folder, schemas__p_json="{}", schemas__loop_json='{"$ref": "loop.json"}')
    (tmp_path / "outside.json").write_text("{}")
    (folder / "schemas" / "link.json").symlink_to(tmp_path / "outside.json")
    write(folder, services__postgres=WITH_SCHEMA.replace("PARAMETERS", f"{{title: A,\n      $ref: '{reference}'}}"))
    (finding,) = faults(folder)
    loops = reference.endswith("loop.json")
    assert only([finding]) == ("build-reference", *(("loop.json", 1) if loops else ("postgres.yaml", 9)))
    assert finding.message == f"{'loop.json' if loops else reference!r}{message}"
    assert finding.hint == hint.replace("FOLDER", str(folder))


def test_a_whole_catalog_is_not_the_settings_of_a_folder(tmp_path: Path) -> None:
    (finding,) = faults(write(tmp_path, catalog="services:\n- name: a\n"))
    file = tmp_path / "catalog.yaml"
    assert finding.message == "this file is a whole catalog, not the settings of a source folder"
    assert finding.hint == f"`osbctl validate {file}`, or `osbctl split {file}`"


@each("texts, rule", [
    ({"catalog": "services: [none]\n", "services__a": "name: a\n"}, "folder-order"),
    ({"catalog": "services: [a, a]\n", "services__a": "name: a\n"}, "folder-order"),
    ({"catalog": "services: a\n", "services__a": "name: a\n"}, "folder-settings"),
    ({"catalog": "service: [a]\n", "services__a": "name: a\n"}, "folder-settings"),
    ({"catalog": "defaults: {plans: {}}\n", "services__a": "name: a\n"}, "folder-settings"),
    ({"catalog": "fields: {services: []}\n", "services__a": "name: a\n"}, "folder-settings"),
    ({"services__a": "name: a\n", "services__a_json": "{}"}, "folder-two-files"),
    ({"services__a": "name: [\n"}, "syntax"),
    ({"services__a": "- 1\n"}, "not-an-object"),
    ({"services__a": "name: a\nplans: {}\n", "services__a__plans__p": "name: p\n"}, "folder-plans"),
    ({"catalog": "defaults: {}\n"}, "folder-without-services"),
])  # fmt: skip
def test_bad_folders_get_findings(tmp_path: Path, texts: dict[str, str], rule: str) -> None:
    write(tmp_path, **texts)
    assert rule in {finding.rule for finding in faults(tmp_path)}


def test_two_files_of_settings_but_not_a_built_catalog(tmp_path: Path) -> None:
    write(tmp_path, catalog="{}", catalog_json='{"services": []}', services__a=SERVICE)
    assert built(tmp_path)["services"]
    write_files(tmp_path, {"catalog.yml": "fields: {x: 1}\n", "services/a.json": "{}"})
    for finding, pair in zip(
        faults(tmp_path), ("catalog.yml and catalog.yaml", "services/a.yaml and a.json"), strict=True
    ):
        assert finding == Finding("folder-two-files", Severity.ERROR, f"{tmp_path / pair} define the same thing", ())


def test_a_service_file_that_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", services__a="name: a\n")
    for number, outside in enumerate((tmp_path / "outside.yaml", tmp_path / "folder-secret.yaml"), 1):
        outside.write_text(SERVICE)
        (folder / "services" / f"b{number}.yaml").symlink_to(outside)
        assert [(one.rule, one.hint) for one in faults(folder)] == [("folder-escape", "keep it inside")] * number


def test_a_missing_id_offers_a_fresh_one(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE.replace("id: P1, ", ""))
    first, second = (read_folder(str(tmp_path)).notes for _ in range(2))
    assert [note.rule for note in first] == ["build-id-missing"]
    assert first[0].hint != second[0].hint


@needs_corpus
def test_a_real_catalog_split_and_built_is_the_same(tmp_path: Path) -> None:
    for number, file in enumerate(catalogs()):
        original = read_source(str(file)).data
        write_files(tmp_path / str(number), dict(split_catalog(original)))
        assert read_folder(str(tmp_path / str(number))).data == original, file.name


def test_hostile_names_stay_in_the_folder() -> None:
    catalog = {"services": [{"name": name, "plans": []} for name in ("../../etc/x", "..", "a/b", "", "A", "a", None)]}
    paths = [name for name, _ in split_catalog(catalog)]
    assert len(set(map(str.lower, paths))) == len(paths)
    assert all(".." not in path.split("/") and path.count("/") <= 1 for path in paths)


# A bundled schema means what the files side by side mean: jsonschema gives the same verdict on both.


FILES = ("a.json", "b.json", "c.json")
NAMES = ("x", "y")


def references(*files: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f"{file}#/definitions/{name}" for file in files for name in NAMES])


leaves = st.sampled_from(
    [{"type": "integer"}, {"type": "string"}, {"minimum": 2}, {"enum": [1, "a", None]}, {}, {"required": ["x"]}]
)


def schemas(reference: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    leaf = st.one_of(leaves, st.fixed_dictionaries({"$ref": reference}))

    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from(NAMES), inner, min_size=1)}),
            st.fixed_dictionaries({"items": inner}),
            st.fixed_dictionaries({"properties": st.fixed_dictionaries({"x": inner}), "required": st.just(["x"])}),
            st.fixed_dictionaries({"additionalProperties": inner, "type": st.just("object")}),
        )

    return st.recursive(leaf, grown, max_leaves=4)


files = st.fixed_dictionaries({
    "a.json": st.fixed_dictionaries(dict.fromkeys(NAMES, schemas(references("b.json")))),
    "b.json": st.fixed_dictionaries({"x": schemas(references("c.json") | st.just("#/definitions/y")), "y": leaves}),
    "c.json": st.fixed_dictionaries(dict.fromkeys(NAMES, leaves)),
}).map(lambda made: {name: {"definitions": definitions} for name, definitions in made.items()})  # fmt: skip
values = st.recursive(
    st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "b"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(NAMES), inner, max_size=2)),
    max_leaves=6,
)
tops = schemas(references(*(f"../schemas/{file}" for file in FILES)))


def built_from(top: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), {f"schemas/{file}": json.dumps(content) for file, content in texts.items()})
        plan = {"name": "p", "id": "1", "schemas": {"service_instance": {"create": {"parameters": top}}}}
        write_files(Path(name), {"services/s.json": json.dumps({"name": "s", "id": "2", "plans": [plan]})})
        data = read_folder(name).data
    made: dict[str, Any] = data["services"][0]["plans"][0]["schemas"]["service_instance"]["create"]["parameters"]
    return made


@given(tops, files, st.lists(values, min_size=1, max_size=8))
def test_same_verdicts(top: dict[str, Any], texts: dict[str, Any], instances: list[Any]) -> None:
    top = {"$schema": DRAFT_04, **top}
    beside = Registry().with_resources(
        (f"http://folder/schemas/{name}", Resource.from_contents(content, default_specification=DRAFT4))
        for name, content in texts.items()
    )
    whole = built_from(top, texts)
    text = json.dumps(whole)
    assert ".json" not in text.replace(DRAFT_04, "")
    url = "http://folder/services/s.json"
    beside = beside.with_resource(url, Resource.from_contents(top, default_specification=DRAFT4))
    apart = {"$ref": url}
    for instance in instances:
        expected = jsonschema.Draft4Validator(apart, registry=beside).is_valid(instance)
        assert jsonschema.Draft4Validator(whole).is_valid(instance) is expected
