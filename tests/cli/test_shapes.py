"""Every command that takes a SOURCE with every shape in which people have catalogs: read, or refused with its place.

Never exit 0 with nothing looked at: what has no catalog is refused, and what is read is the catalog.
"""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from osbctl.commands.load_catalog import CatalogSource, load
from osbctl.editor.open_files import analyse_source
from osbctl.findings import DocumentError
from osbctl.sources.yaml_text import dump
from tests.case import case
from tests.cli.program import commands, osbctl
from tests.comparison.make import catalog, plan, service
from tests.corpus import EVERY_CASE

SMALL = plan("A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13", "small", free=True, bindable=True)
LARGE = {**SMALL, "id": "B1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13", "name": "large"}
CATALOG = catalog(service("6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", "postgres", SMALL, LARGE))
CHANGED = catalog(service("6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", "postgres", SMALL))


class RowFields(NamedTuple):
    """A way to write a catalog, and its location: None for no catalog, empty for the top.

    `said` is on standard error, or is the error.
    """

    write: Callable[[Any], str]
    places: tuple[str, ...]
    said: str = ""


def config_map(catalog: Any) -> str:
    return "kind: ConfigMap\ndata:\n  catalog.json: |\n" + textwrap.indent(json.dumps(catalog, indent=1), "    ")


def deep(catalog: Any) -> str:
    for _ in range(12):
        catalog = {"x": catalog}
    return dump(catalog)


SHAPES = {
    "A, JSON": RowFields(json.dumps, ("",)),
    "A, YAML": RowFields(dump, ("",)),
    "B, in a configuration": RowFields(lambda c: json.dumps({"log": 1, "broker": {"catalog": c}}), ("/broker/catalog",)),
    "B, a list in a configuration": RowFields(lambda c: dump({"x": c["services"]}), ("/x",)),
    "B2, deep": RowFields(deep, ("/x" * 12,)),
    "B3, a stream": RowFields(lambda c: f"kind: Deployment\n---\n{dump({'catalog': c})}", ("/1/catalog",)),
    "B3, a text": RowFields(config_map, ("/data/catalog.json",)),
    "B3, a text in a stream": RowFields(lambda c: f"kind: x\n---\n{config_map(c)}", ("/1/data/catalog.json",)),
    "C, a list": RowFields(lambda c: json.dumps(c["services"]), ("",), "read a list of service offerings as a catalog"),
    "D, an offering": RowFields(lambda c: dump(c["services"][0]), ("",), "read a single service offering as a catalog"),
    "several": RowFields(lambda c: json.dumps({"a": c, "b": [{"c": c}]}), ("/a", "/b/0/c")),
    "several in a stream": RowFields(lambda c: f"{dump(c)}---\n{config_map(c)}", ("/0", "/1/data/catalog.json")),
    "a brokerpak": RowFields(lambda _: "packversion: 1\nservice_definitions: [a.yml]\n", (), "a part of a brokerpak"),
    "its definition": RowFields(lambda c: dump({**c["services"][0], "provision": {}, "bind": {}}), (), "a part of a brokerpak"),
    "an on-demand broker": RowFields(
        lambda _: dump({"jobs": [{"service_catalog": {"id": "x", "service_name": "y", "plans": [SMALL]}}]}), (), "no catalog"
    ),
    "a ConfigMap": RowFields(lambda _: "kind: ConfigMap\ndata: {LOG: debug}\n", (), "no catalog"),
    "a template": RowFields(lambda _: "<% if x %>\nservices: []\n", (), "render it first"),
}  # fmt: skip

READING = {
    "validate": "validate -f json @",
    "show": "show -f json @",
    "params": "params @ postgres small",
    "page": "page @",
    "page --since": "page changed.yaml --since @",
    "diff, the old one": "diff -f json --fail-on never @ changed.yaml",
    "diff, the new one": "diff -f json --fail-on never changed.yaml @",
    "drift, the broker": "drift -f json --fail-on never @ changed.yaml",
    "drift, what is stored": "drift -f json --fail-on never changed.yaml @",
}
WRITING = {"fix": "fix --check @", "split": "split @ folder"}
NO_CATALOG_FILES = {
    "build": "FOLDER alone", "serve": "below, without its server", "lsp": "below, without its editor", "fetch": "an address",
    "check": "an address", "init": "none", "new": "none", "rules": "none", "schema": "none", "hash-password": "none",
    "verify-password": "none",
}  # fmt: skip
"""The commands that take no file of a catalog, or have a test of their own, with the reason."""


def test_every_command_is_in_the_table() -> None:
    named = {words.split()[0] for words in (*READING.values(), *WRITING.values())} | NO_CATALOG_FILES.keys()
    assert {name.split()[0] for name in commands() if name} - {"brokers"} == named


def run(folder: Path, words: str, write: Callable[[Any], str], *more: str) -> Any:
    """Run the command on files written so, both sides alike where it takes two."""
    (folder / "source.yaml").write_text(write(CATALOG))
    (folder / "changed.yaml").write_text(write(CHANGED))
    return osbctl(*words.replace("@", "source.yaml").split(), *more, cwd=folder)


def content(text: str) -> Any:
    """Output of a command, without the locations in JSON of findings and changes."""
    if not text.startswith("{"):
        return text
    found = json.loads(text)
    return [one["rule"] for one in found.get("changes", [])] or list(found)


def refused(done: Any, shape: RowFields, code: int) -> None:
    told = done.stdout + done.stderr
    assert done.returncode == code, told
    assert all(f"{place}" in told for place in shape.places)
    exports = "neither a catalog nor an export of a platform" in told  # what is stored may be one of these, too
    assert shape.said in told or (code == 3 and exports)
    if code == 1:
        assert ("catalog-elsewhere" in told) == bool(shape.places)


@pytest.mark.fuzz
@pytest.mark.parametrize("command", [*READING, *WRITING])
def test_it_is_read_or_refused(tmp_path: Path, command: str) -> None:
    """Every shape by `validate` and `fix`; by each other command every second one, unless every case is tried."""
    words = (READING | WRITING)[command]
    plain = content(run(tmp_path, words, dump).stdout)
    shapes = [*SHAPES.items()]
    if not EVERY_CASE and command not in ("validate", "fix"):
        shapes = shapes[[*READING, *WRITING].index(command) % 2 :: 2]
    for name, shape in shapes:
        with case(name):
            read_or_refused(folder_in(tmp_path, name), command, words, name, shape, plain)


def folder_in(parent: Path, name: str) -> Path:
    (parent / name).mkdir()
    return parent / name


def read_or_refused(folder: Path, command: str, words: str, name: str, shape: RowFields, plain: Any) -> None:
    done = run(folder, words, shape.write)
    whole = shape.places == ("",)
    if command == "fix" and len(shape.places) == 1 and (name.startswith("B3") or "stream" in name):
        for more in ([], ["--at", shape.places[0]]):
            told = run(folder, words, shape.write, *more)
            assert (told.returncode, "edits no text inside a string" in told.stderr) == (2, True), told.stderr
        return
    if len(shape.places) != 1 or (command in WRITING and not whole):
        refused(done, shape, 3 if command.startswith("drift") else 1)  # to a script, 1 would be a drift
        if shape.places:
            pointed = run(folder, words, shape.write, "--at", shape.places[0])
            assert pointed.returncode == (2 if command == "fix" and "stream" in name else 0), pointed.stderr
        return
    assert done.returncode == 0, done.stderr
    assert (shape.said or f" at {shape.places[0]}" if shape.said or not whole else "") in done.stderr
    assert content(done.stdout) == plain


def test_what_is_served_stands_at_the_top(tmp_path: Path) -> None:
    file = tmp_path / "source.yaml"
    for name, shape in SHAPES.items():
        file.write_text(shape.write(CATALOG))
        with case(name):
            if shape.places == ("",):
                loaded = load(CatalogSource(str(file)))
                assert (json.loads(loaded.body), shape.said in loaded.read_as) == (CATALOG, True)
                continue
            with pytest.raises(DocumentError) as caught:
                load(CatalogSource(str(file)))
            (finding,) = caught.value.findings
            assert all(place in finding.message for place in shape.places)
            assert (finding.rule == "catalog-elsewhere") == bool(shape.places)
            if shape.places:
                assert json.loads(load(CatalogSource(str(file), at=shape.places[0])).body) == CATALOG


def test_an_editor_reads_what_validate_reads(tmp_path: Path) -> None:
    file = str(tmp_path / "source.yaml")
    for name, shape in SHAPES.items():
        analysis = analyse_source(file, {file: shape.write(CATALOG)})
        with case(name):
            if len(shape.places) == 1:
                assert analysis.document
                assert analysis.document.data == CATALOG
                continue
            assert analysis.document is None
            assert analysis.verdicts is None
            assert [finding.rule == "catalog-elsewhere" for finding in analysis.findings] == [bool(shape.places)]


def test_a_breaking_change_in_nested_catalogs_is_no_safe_one(tmp_path: Path) -> None:
    for name, nested in (("old.json", CATALOG), ("new.json", CHANGED)):
        (tmp_path / name).write_text(json.dumps({"rds_broker": {"catalog": nested}}))
    done = osbctl("diff", "old.json", "new.json", cwd=tmp_path, code=1)
    assert "change-plan-removed" in done.stdout
    assert done.stderr.count("read the catalog at /rds_broker/catalog") == 2
