"""Sources: files, standard input, pipes, git history, and errors of others."""

import io
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from osbctl.commands.fix import fix_source
from osbctl.errors import SourceError, UsageError
from osbctl.findings import DocumentError
from osbctl.sources import read_bytes
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import Limits, registered_name
from osbctl.validation.options import ValidationOptions
from tests.case import each
from tests.deploy.harness import write
from tests.git import commit, git

CATALOG = '{"services": []}'


def refusal(source: str, **options: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_source(source, **options)
    return caught.value


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def test_a_file(here: Path) -> None:
    (here / "catalog.json").write_text(CATALOG)
    document = read_source("catalog.json")
    assert (document.name, document.data, document.syntax) == ("catalog.json", {"services": []}, "json")


def test_a_place_in_a_folder_is_not_ignored_silently(here: Path) -> None:
    write(here, {"services/a.yaml": "name: a\nplans: []\n"})
    for read in (read_source, lambda source, at: fix_source(source, ValidationOptions(), at=at)):
        assert [read(".", at=at).read_as for at in ("", "/x")] == ["", ".: read as a folder; --at is for files"]


@each("asked, there, advice", [
    ("catalog.jsn", ["catalog.json"], "did you mean catalog.json?"),
    ("catalog.json", ["catalog.yaml", "other.json"], "did you mean catalog.yaml?"),
    ("vault.yaml", ["catalog.yaml", "values.yaml"], ""),
    ("Catalog.yaml", ["catalog.yaml"], "did you mean catalog.yaml?"),
    ("nowhere/catalog.json", [], "there is no folder nowhere either"),
    ("catalog.json/inner.json", ["catalog.json"], "there is no folder catalog.json either"),
])  # fmt: skip
def test_a_missing_file_names_a_neighbour_that_is_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, there: list[str], advice: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, dict.fromkeys(there, CATALOG))
    error = refusal(asked)
    assert (error.message, error.advice) == (f"{asked}: there is no such file", advice)


@each("scheme", ["http", "https"])
def test_an_address_is_no_source_and_is_not_repeated(here: Path, scheme: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_source(f"{scheme}://user:s3cret@broker.example.com/v2/catalog")
    assert "osbctl fetch" in caught.value.advice
    assert "s3cret" not in f"{caught.value.message}{caught.value.advice}"


def test_a_folder_without_a_catalog(here: Path) -> None:
    write(here, {"empty/x.yml": "services: []"})
    error = refusal("empty")
    assert error.message == "empty: there is no catalog in this folder (1 file searched)"
    assert "osbctl init" in error.advice


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no /dev/fd here")
def test_an_open_descriptor_as_in_process_substitution() -> None:
    reading, writing = os.pipe()
    os.write(writing, CATALOG.encode())
    os.close(writing)
    try:
        assert read_source(f"/dev/fd/{reading}").data == {"services": []}
    finally:
        os.close(reading)


def test_a_link_that_leads_nowhere_says_where(here: Path) -> None:
    (here / "dangling.yaml").symlink_to("nowhere.yaml")
    error = refusal("dangling.yaml")
    assert (error.message, error.advice) == ("dangling.yaml: the link leads nowhere, to nowhere.yaml", "")


@each("source", ["", "a\0b", "x" * 5000])
def test_names_that_no_file_can_have(here: Path, source: str) -> None:
    assert refusal(source).exit_code == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(here: Path) -> None:
    (here / "catalog.json").write_text(CATALOG)
    (here / "catalog.json").chmod(0)
    assert "Permission denied" in refusal("catalog.json").message


@each("source", ["catalog.json", "HEAD:catalog.json", "/dev/zero"])
def test_every_source_is_bounded(repository: Path, source: str) -> None:
    size = (repository / "catalog.json").stat().st_size
    if source != "/dev/zero":
        assert read_source(source, limits=Limits(bytes=size)).data
    with pytest.raises(DocumentError, match="larger than") as caught:
        read_source(source, limits=Limits(bytes=size - 1))
    (finding,) = caught.value.findings
    assert finding.rule == "too-large"
    assert finding.hint == ""


class Stdin:
    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(CATALOG.encode())))
    assert read_source("-").name == "<stdin>"
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(b"services: []\n")))
    document = read_source("-", stdin_filename="catalog.json")
    assert document.name == document.locate([()])[()].source == "catalog.json"
    assert [note.rule for note in document.notes] == ["format-mismatch"]
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(b" " * 100)))
    with pytest.raises(DocumentError, match="larger than"):
        read_source("-", limits=Limits(bytes=99))


def test_a_fifo_with_a_writer(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    text = b'{"services": [' + b" " * 200_000 + b"]}"  # more than a pipe holds
    writer = threading.Thread(target=fifo.write_bytes, args=(text,))
    writer.start()
    assert read_source(str(fifo)).data == {"services": []}
    writer.join(60)


def test_standard_input_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise IsADirectoryError(21, "Is a directory")

    monkeypatch.setattr(sys, "stdin", Stdin(Broken()))
    assert "Is a directory" in refusal("-").message


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    files = {
        "catalog.json": '{"services": [], "version": 1}',
        "sub/inner.yaml": "services: []\nversion: 1\n",
        "sub/catalog.json": '{"services": [], "version": "sub"}',
        "sub/two\nlines.yaml": "services: []\nversion: 2 lines\n",
    }
    commit(write(folder, files))
    commit(write(folder, {"catalog.json": '{"services": [], "version": 2}'}))
    return folder


@pytest.fixture
def repository(here: Path, history: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a repository with two commits, where the test is."""
    monkeypatch.chdir(history)
    return history


@each("folder, source, version", [
    ("", "HEAD:catalog.json", 2),
    ("", "HEAD~1:catalog.json", 1),
    ("", "main:sub/inner.yaml", 1),
    ("sub", "main:inner.yaml", 1),
    ("sub", "main:./inner.yaml", 1),
    ("sub", "main:./catalog.json", "sub"),
    ("sub", "main:../catalog.json", 2),
    ("sub", "main:sub/inner.yaml", 1),
    ("sub", "main:catalog.json", 2),
    ("", "main:sub/two\nlines.yaml", "2 lines"),
    ("sub", "main:two\nlines.yaml", "2 lines"),
])  # fmt: skip
def test_a_file_in_git_history(
    repository: Path, monkeypatch: pytest.MonkeyPatch, folder: str, source: str, version: Any
) -> None:
    """Paths count from the top of the repository or from the folder of the call."""
    monkeypatch.chdir(repository / folder)
    document = read_source(source)
    assert document.data["version"] == version
    assert document.locate([()])[()].source == source


def test_a_path_that_exists_wins_over_a_revision(repository: Path) -> None:
    path = repository / "HEAD:catalog.json"
    path.write_text('{"services": [], "version": "file"}')
    try:
        assert read_source("HEAD:catalog.json").data["version"] == "file"
    finally:
        path.unlink()


@each("source, message, advice", [
    ("HEAD~1:gone.json", "there is no gone.json in HEAD~1",
        "`git ls-tree -r --name-only 'HEAD~1'` lists the files that HEAD~1 has"),
    ("HEAD~1:sub/no\nsuch.yaml", "there is no sub/no\nsuch.yaml in HEAD~1", None),
    ("main", "main: there is no such file", "it is a revision of git: name a file in it, main:FILE"),
    ("HEAD:sub", "folder", None),
    ("v9:catalog.json", "no revision v9 in this clone", "git fetch origin v9"),
    ("origin/topic:catalog.json", "no revision origin/topic in this clone", "git fetch origin topic"),
    ("topic~3:catalog.json", "no revision topic~3 in this clone", "git fetch origin topic"),
    ("a b;c:catalog.json", "no revision a b;c in this clone", "git fetch origin 'a b;c'"),
    # A revision is never an option of git.
    ("--output=pwned:catalog.json", "dash", None),
    ("-x:catalog.json", "dash", None),
    ("--help:catalog.json", "dash", None),
    ("--:catalog.json", "dash", None),
])  # fmt: skip
def test_what_is_not_in_the_history(repository: Path, source: str, message: str, advice: str | None) -> None:
    error = refusal(source)
    assert message in error.message
    assert advice is None or error.advice == advice
    assert not (repository / "pwned").exists()


def test_a_shallow_clone_says_so(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", "--depth=1", repository.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    assert refusal("HEAD~1:catalog.json").advice == "the clone is shallow: git fetch --unshallow"


@each("path", ["catalog.json", "sub"])
def test_a_partial_clone_says_so(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", "--filter=blob:none", "--no-checkout", repository.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    git(clone, "remote", "set-url", "origin", "file:///nowhere")  # older versions of git would fetch
    error = refusal(f"HEAD~1:{path}")
    assert error.message == f"HEAD~1:{path}: this partial clone has no copy of it"
    assert "there is no gone.json in HEAD~1" in refusal("HEAD~1:gone.json").message
    git(clone, "remote", "set-url", "origin", repository.as_uri())
    git(clone, *shlex.split(error.advice.split("`")[1])[1:])
    if path == "sub":
        assert "neither a source folder nor" in refusal("HEAD~1:sub").message
    else:
        assert read_source("HEAD~1:catalog.json").data["version"] == 1


def test_a_repository_of_another_user_is_refused_by_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    error = refusal("HEAD:catalog.json")
    assert error.message == "git refuses this repository, which belongs to another user"
    assert error.advice == f"`git config --global --add safe.directory {repository}` allows it"


def test_a_revision_needs_git_and_a_repository(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not a git repository" in refusal("main:catalog.json").message
    monkeypatch.setenv("PATH", str(here))
    assert refusal("main:catalog.json").message == "git is not installed"


def test_git_is_asked_once_whether_a_registered_name_is_a_revision(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(read_bytes, "run_git", lambda *words, **_: asked.append(words))
    assert [registered_name("broker:shop") for _ in range(3)] == ["shop"] * 3
    assert len(asked) == 2, "from the top of the repository, and from the working folder"


def test_git_fetches_nothing_and_locks_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A partial clone would fetch missing objects (git 2.44 and later obey this variable)."""
    environments = []
    run = subprocess.run

    def noted(*arguments: Any, env: dict[str, str], **options: Any) -> Any:
        environments.append(env)
        return run(*arguments, env=env, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    read_source("HEAD:catalog.json")
    wanted = {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    assert environments
    assert all(wanted.items() <= env.items() for env in environments)
