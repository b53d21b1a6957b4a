"""A text that is read piece by piece says the same as one that is read at once, after whatever edit."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from osbctl.editor import pieces
from osbctl.editor.analysis import analyse
from osbctl.editor.pieces import read_pieces
from osbctl.errors import DocumentError
from osbctl.findings import Finding
from osbctl.resources import catalogs_folder
from osbctl.sources.document import Document
from osbctl.sources.folder import read_folder
from osbctl.sources.parse import parse_document, parse_text
from osbctl.sources.yaml_text import dump
from osbctl.validation.judge import judge
from osbctl.validation.options import ValidationOptions
from tests.corpus import catalogs, needs_corpus
from tests.editor.test_diagnostics import typed
from tests.fixes.generated import catalog, text

LIST = "services:\n- {id: a, name: n}\n- id: b\n  plans:\n  - id: c\n  - id: no\n- id: d\n"
LINES = ["...\n", "---\n", "- ", "- x\n", "-\n", "  - x\n", "a: 1\n", "services:\n", "# c\n", "\r\n", "x: |\n", "x: >+\n\n", "? ",
         "- &a {x: 1}\n", "- *a\n", "- [\n", "- ']\n", "\t", "%YAML 1.2\n", "- |\n", "\u2028", "\x85", "- id: d\n"]  # fmt: skip


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path in a value, and some that lead nowhere."""
    yield path
    yield (*path, "missing")
    yield (*path, 99)
    yield (*path, "missing", 1)
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        yield from paths_of(below, (*path, key))


def outcome(document: Document | None) -> tuple[Any, ...] | None:
    if document is None:
        return None
    places = document.locate(set(paths_of(document.data)))
    return json.dumps(document.data), document.notes, document.syntax, document.text, places


def at_once(name: str, whole: str) -> tuple[Any, ...] | tuple[Finding, ...] | None:
    try:
        return outcome(parse_text(whole, name))
    except DocumentError as error:
        return error.findings


def is_read(name: str, whole: str) -> bool:
    """Whether `whole` is read piece by piece; that it says the same then is asserted."""
    found = outcome(read_pieces(whole, name))
    assert found in (None, at_once(name, whole)), repr(whole)
    return found is not None


@pytest.mark.parametrize(
    "whole",
    [
        LIST,
        LIST.replace("\n", "\r\n"),
        "# ours\n\n---\nservices: # all\n\n  # first\n  - id: a\n# second\n  - id: no\n",
        LIST + "- |+\n\n\n- >\n - id: e\n- 'a\n  b'\n-\n- \n# end\n",
        LIST + "- &x {a: 1, b: *x1}\n".replace("*x1", "2") + "- <<: {a: 1}\n",
    ],
)
def test_what_is_read_piece_by_piece(whole: str) -> None:
    assert is_read("c.yaml", whole)


@pytest.mark.parametrize(
    "whole",
    [
        LIST + "version: 1\n",  # more than the list
        LIST + "...\n- id: e\n",  # another document
        LIST + "---\n",
        *(f"services:\n- a{end}...\n- b\n" for end in "\x85\u2028\u2029"),  # line ends of YAML 1.1
        LIST.replace("- id: b", "- id: b\r  name: x"),  # another line end
        LIST + "- x: 'a\n- b'\n",  # an item's beginning within quotes
        LIST + "- [\n- ]\n",
        LIST + "- &a {x: 1}\n- *a\n",  # an alias from one into another
        LIST + "- a: 1\n  a: 2\n",  # a fault
        "a: 1\n" + LIST,
        "services: [\n- a\n- b\n",
        "services:\n" + "- x\n" * 2_000,
        "services:\n- x\n- " + "[" * 99 + "]" * 99 + "\n",  # too deep by one
        "services:\n- x\n- [&a ["
        + "x, " * 200
        + "], "
        + "*a, " * 200
        + "]\n",  # an alias bomb, if there were a thousand
    ],
)
def test_what_must_be_read_at_once(whole: str) -> None:
    assert not is_read("c.yaml", whole)


def test_as_deep_and_as_many_as_a_whole_may_be() -> None:
    deepest = "services:\n- x\n- " + "[" * 98 + "]" * 98 + "\n"
    assert parse_text(deepest, "c.yaml").data
    assert is_read("c.yaml", deepest)
    many = "services:\n" + "".join(f"- n{n}: no\n" for n in range(150))
    assert is_read("c.yaml", many), "of many notes, the first"
    assert not is_read("c.json", many), "its name says otherwise, which is a note"


def test_a_key_costs_one_service_offering(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(pieces, "parse_text", lambda one, *given: read.append(one) or parse_text(one, *given))
    pieces._pieces.clear()
    whole = "services:\n" + "".join(f"- name: n{n}\n" for n in range(50))
    assert read_pieces(whole, "c.yaml")
    assert len(read) == 50
    read.clear()
    assert read_pieces(whole.replace("- name: n7\n", "- name: n7\n  id: x\n"), "c.yaml")
    assert read == ["- name: n7\n  id: x\n"]
    read.clear()
    assert not read_pieces(whole.replace("n7", "[n7"), "c.yaml"), "nobody types a bracket and its end at once"
    assert read == ["- name: [n7\n"]
    read.clear()
    assert read_pieces(whole, "c.yaml")
    assert read == ["- name: n7\n"], "what is not in the text any more is not kept"


def test_of_many_files_the_last_are_kept() -> None:
    for number in range(40):
        assert read_pieces(LIST, f"{number}.yaml")
    assert [*pieces._pieces] == [f"{number}.yaml" for number in range(24, 40)]


def test_a_key_in_a_source_folder_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(catalogs_folder() / "source", tmp_path / "source"))
    file = min((folder / "services").glob("*.yaml"))
    begun, read = file.read_text(), list[str]()

    def parse(data: bytes, name: str, **given: Any) -> Document:
        read.append(name)
        return parse_document(data, name, **given)

    monkeypatch.setattr(pieces, "parse_document", parse)
    pieces._files.clear()
    analyse(str(folder), {str(file): begun}, "utf-16")
    assert sorted(read) == sorted(pieces._files) != [str(file)]
    for typed_text in (begun + 'bindable: "yes"\n', "[", begun.replace("name:", "nam:", 1), begun):
        read.clear()
        found = analyse(str(folder), {str(file): typed_text}, "utf-16").findings
        assert read == [str(file)]
        try:
            fresh = judge(read_folder(str(folder), unsaved={file: typed_text.encode()}), ValidationOptions()).findings
        except DocumentError as error:
            fresh = error.findings
        assert found == fresh


def edited(random: Random, whole: str) -> str:
    if random.random() < 0.5:
        return typed(random, whole)
    lines = whole.splitlines(keepends=True)
    lines.insert(random.randrange(len(lines) + 1), random.choice(LINES))
    return "".join(lines)


def test_after_random_edits() -> None:
    rounds = 20_000 if os.environ.get("OSBCTL_FUZZ") else 400
    random, fits = Random(rounds), 0
    for number in range(rounds):
        if number % 3 == 0:
            services = catalog(random)["services"]
            made = [*(services if isinstance(services, list) else []), {"name": "x"}, {"plans": [{"name": "no"}]}]
            name, data = random.choice(
                [
                    ("c.yaml", LIST.encode()),
                    ("c.yaml", dump({"services": made}).encode()),
                    text(random, {"services": made}),
                ]
            )
            whole = data.decode("utf-8-sig")
        whole = edited(random, whole).replace("\ud800", "")  # no text that was decoded holds one
        fits += is_read(name, whole)
    assert fits > rounds // 10


@needs_corpus
def test_real_catalogs() -> None:
    files = [file for file in catalogs() if file.suffix != ".json"]
    assert sum(is_read(file.name, file.read_bytes().decode("utf-8-sig")) for file in files) > len(files) // 2
