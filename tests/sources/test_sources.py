"""Where a source comes from: files, standard input, git, larger documents."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from osbctl.errors import DocumentError, SourceError, UsageError
from osbctl.sources.limits import Limits
from osbctl.sources.pointer import find_catalog
from osbctl.sources.read import parse_document, read_source
from tests.corpus import catalogs, needs_corpus

CATALOG = '{"services": [{"name": "a", "plans": []}]}'


def test_a_file_and_its_name(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(CATALOG)
    document = read_source(str(file))
    assert document.name == str(file)
    assert document.locate([("services", 0, "name")])[("services", 0, "name")].source == str(file)


def test_a_missing_file_has_a_near_name(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text("a: 1")
    with pytest.raises(SourceError, match="no such file") as caught:
        read_source(str(tmp_path / "catalgo.yaml"))
    assert "catalog.yaml" in caught.value.advice


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CATALOG.encode())))
    assert read_source("-", stdin_filename="x.json").name == "x.json"


def test_what_is_larger_than_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(CATALOG)
    with pytest.raises(DocumentError, match="larger than 10 bytes"):
        read_source(str(file), limits=Limits(bytes=10))
    with pytest.raises(DocumentError, match="larger than"):
        read_source("/dev/zero", limits=Limits(bytes=1_000))


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"printf '%s' '{CATALOG}' > '{pipe}'"])
    assert read_source(str(pipe)).data["services"][0]["name"] == "a"
    writer.wait()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "x@example.com")
    git("init", "-q", "-b", "main")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.json").write_text(CATALOG)
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    (tmp_path / "sub" / "c.json").write_text("{}")
    git("commit", "-q", "-a", "-m", "two")
    return tmp_path


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def test_a_revision(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_source("HEAD:sub/c.json").data == {}
    assert read_source("HEAD~1:sub/c.json").data["services"]
    monkeypatch.chdir(repository / "sub")
    assert read_source("main:c.json").data == {}


@pytest.mark.parametrize(
    ("source", "told", "advice"),
    [
        ("nope:sub/c.json", "no revision nope", "git fetch origin nope"),
        ("HEAD:none.json", "there is no none.json in HEAD", "ls-tree"),
        ("HEAD:sub", "folder", "file"),
        ("--output=x:y", "no such file", ""),
    ],
)
def test_a_revision_that_is_not_there(repository: Path, source: str, told: str, advice: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_source(source)
    assert told in caught.value.message
    assert advice in caught.value.advice
    assert not (repository / "x").exists()


def test_a_shallow_clone_says_how_to_deepen(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    git("clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    monkeypatch.chdir(repository / "shallow")
    with pytest.raises(SourceError) as caught:
        read_source("HEAD~1:sub/c.json")
    assert "--unshallow" in caught.value.advice


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(SourceError, match="not a git repository"):
        read_source("HEAD:c.json")


LARGER = """\
spring:
  cloud:
    openservicebroker:
      catalog:
        services:
          - name: a
            plans: []
list:
  - {name: b, plans: []}
"a/b~c": {services: []}
"""


def at(pointer: str, text: str = LARGER) -> Any:
    return parse_document(text.encode(), "application.yml", at=pointer)


def test_a_pointer_leads_in() -> None:
    document = at("/spring/cloud/openservicebroker/catalog")
    path = ("services", 0, "name")
    place = document.locate([path])[path]
    assert (place.line, place.column) == (6, 13)
    assert at("/a~1b~0c").data == {"services": []}


def test_a_list_of_offerings_is_taken_for_services() -> None:
    document = at("/list")
    path = ("services", 0, "name")
    assert document.data == {"services": [{"name": "b", "plans": []}]}
    assert document.locate([path])[path].line == 9


@pytest.mark.parametrize(
    ("pointer", "hint"),
    [("/sprong", "did you mean 'spring'?"), ("/list/7", ""), ("/spring/cloud/x", "openservicebroker")],
)
def test_a_pointer_that_leads_nowhere(pointer: str, hint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        at(pointer)
    (finding,) = caught.value.findings
    assert finding.rule == "pointer-not-found"
    assert hint in finding.hint


def test_what_is_no_pointer() -> None:
    with pytest.raises(UsageError, match="no JSON pointer"):
        at("spring.cloud")


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        ({"catalog": {"services": [{"plans": []}]}}, "/catalog"),
        (
            {"spring": {"cloud": {"openservicebroker": {"catalog": {"services": [{"plans": []}]}}}}},
            "/spring/cloud/openservicebroker/catalog",
        ),
        ({"x": [{"plans": []}]}, "/x"),
        ({"a/b": {"services": [{"plans": []}]}}, "/a~1b"),
        ({"x": {"services": ["a"]}}, None),
        ({}, None),
    ],
)
def test_a_catalog_elsewhere_is_named(data: dict[str, Any], pointer: str | None) -> None:
    assert find_catalog(data) == pointer


@needs_corpus
@pytest.mark.parametrize("file", catalogs(), ids=lambda file: file.name[:60])
def test_real_catalogs_are_read(file: Path) -> None:
    assert read_source(str(file)).data["services"]
