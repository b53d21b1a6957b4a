"""A fault in the work on one source or broker leaves the results of the others as they are, in every such command.

Faults are planted in the program itself: while a command runs on three sources, of which the second is marked, the
functions of osbctl that are called about that one alone are found, and each then raises an exception in a run of its own.
"""

import functools
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from subprocess import CompletedProcess
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest

import osbctl
from osbctl.errors import OutputError
from osbctl.registry.store import Registry
from osbctl.sources.yaml_text import dump
from tests.case import case, each
from tests.cli import program
from tests.cli.broker_server import Answer, listening
from tests.cli.machine import registered
from tests.corpus import EVERY_CASE
from tests.git import commit
from tests.registry.make import execute

PACKAGE = f"{Path(osbctl.__file__).parent}/"
NAMES = ("firstone", "marked", "thirdone")
MARKED = "marked"
SAMPLE = 4
"""Functions of each command in which a fault is planted; `make test-every-case` takes all of them."""


class PlantedError(Exception):
    """An exception that no code expects."""


def catalog(name: str, *, dear: bool = False) -> dict[str, Any]:
    """A catalog with faults, so that much is to be said about it."""
    number = NAMES.index(name)
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "required": ["sise"]}
    parameters = {"service_instance": {"create": {"parameters": {**schema, "properties": {"size": {"minumum": 1}}}}}}
    ids = [f"{number}b54c3a5-2d9b-4ba7-8a4c-6a1c0e1f2a{end}" for end in (30, 31, 32)]
    plans = [
        {"id": ids[1], "name": f"{name}-small", "description": f"A {name}.", "free": not dear, "schemas": parameters},
        {"id": ids[2], "name": f"{name}-large", "description": f"A {name}."},
    ]
    service = {"id": ids[0], "name": f"{name}-db", "description": f"A {name}.", "bindable": "true", "plans": plans}
    return {"services": [service | ({"bindable": True} if dear else {})]}


COLLECTIONS = (list, tuple, set, frozenset)


def names_in(value: Any, depth: int = 3) -> set[str]:
    """The names that are found in a value of the program, as far as can be seen from its parts."""
    texts = [*texts_in(value, depth)]
    return {name for name in NAMES if any(name in text for text in texts)}


def texts_in(value: Any, depth: int) -> Iterator[str]:
    """The texts in a value and in its parts, as far as they are quickly found."""
    parts: list[Any] = []
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif not depth:
        return
    elif isinstance(value, dict):
        parts = [*islice(value.items(), 20)]
    elif isinstance(value, COLLECTIONS):
        parts = [*islice(value, 20)]
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, one.name, None) for one in fields(value)]
    for part in parts:
        yield from texts_in(part, depth - 1)


BESIDE = ("parallel.py", "errors.py", "rule.py", "commands/output.py")
"""Modules that are not part of the work on a source."""
AROUND = {"validate_contained"}
"""Functions about one source that contain what happens in it."""


class Planter:
    """A trace function that notes calls about the marked source alone.

    At a call of `target` it raises: at each that gets a part of the marked catalog, else at the first.
    """

    def __init__(self, target: CodeType | None = None, error: BaseException | None = None) -> None:
        self.target, self.error = target, error
        self.calls: dict[CodeType, None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or (self.target and code is not self.target) or not code.co_filename.startswith(PACKAGE):
            return
        file = code.co_filename.removeprefix(PACKAGE)
        is_known = code in self.calls and not self.target
        if is_known or file in BESIDE or code.co_name in AROUND:
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        arguments = [frame.f_locals.get(name) for name in names]
        if names_in(arguments, 4) == {MARKED} and not _is_of_the_run(frame):
            is_first = code not in self.calls
            self.calls[code] = None
            if self.target and (is_first or any(f"{MARKED}-" in text for text in texts_in(arguments, 4))):
                raise self.error or PlantedError(MARKED)

    def run(self, *words: str) -> CompletedProcess[str]:
        threading.settrace(self)
        before = sys.gettrace()
        sys.settrace(self)
        try:
            return program.osbctl(*words, with_bug=True, OSBCTL_DATABASE="brokers.sqlite")
        finally:
            sys.settrace(before)
            threading.settrace(before)


def _is_of_the_run(frame: FrameType | None) -> bool:
    """Return whether a text is on its way to the terminal, or sources are looked at as a whole."""
    while frame:
        code = frame.f_code
        if code.co_filename == f"{PACKAGE}commands/output.py" or code.co_name in ("_broker_names", "check_used"):
            return True
        frame = frame.f_back
    return False


class Command(NamedTuple):
    """A command on several; `results` tells what became of each of the others, from its output and the folder."""

    words: str
    results: Callable[[CompletedProcess[str]], Any]


FILES = " ".join(f"{name}.yaml" for name in NAMES)
OTHERS = [name for name in NAMES if name != MARKED]


def _of_json(key: str) -> Callable[[CompletedProcess[str]], Any]:
    def results(done: CompletedProcess[str]) -> Any:
        return [one for one in json.loads(done.stdout)[key] if one["name"].removesuffix(".yaml") in OTHERS]

    return results


def _lines_of_others(done: CompletedProcess[str]) -> Any:
    """The lines about the others, without the numbers that count all."""
    return [line for line in done.stdout.split("\n") if names_in(line) & {*OTHERS}]


def _fixed_files(_: CompletedProcess[str]) -> Any:
    return [Path(f"{name}.yaml").read_text() for name in OTHERS]


def _shown_services(_: CompletedProcess[str]) -> Any:
    html = Path("page.html").read_text()
    return [re.findall(rf"\b{name}-\w+", html).count(f"{name}-small") for name in OTHERS]


def _stored(done: CompletedProcess[str]) -> Any:
    with Registry.open("brokers.sqlite") as registry:
        kept = [(registry.broker(name).data, registry.broker(name).row.outcome) for name in OTHERS]
    return kept, sorted(_lines_of_others(done))


COMMANDS = [
    Command(f"validate -f json {FILES}", _of_json("documents")),
    Command(f"validate --together --concise {FILES}", _lines_of_others),
    Command(f"fix --unsafe {FILES}", _fixed_files),
    Command(f"page {FILES} --findings -o page.html", _shown_services),
    Command("drift --all -f json", _of_json("brokers")),
    Command("drift --all", _lines_of_others),
    Command("brokers refresh", _stored),
    Command("brokers refresh -j 1 --dry-run", _lines_of_others),
    Command("brokers list -f json", _of_json("brokers")),
]
"""Every command that takes several sources or brokers."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    def answer(_: str, path: str, __: Any, ___: bytes) -> Answer:
        return 200, {}, json.dumps(catalog(path.split("/")[1], dear=True)).encode()

    with listening(answer) as address:
        yield address


@pytest.fixture(scope="module")
def template(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three files, and three registered brokers whose catalogs have changed since."""
    folder = tmp_path_factory.mktemp("contained")
    for name in NAMES:
        (folder / f"{name}.yaml").write_text(dump(catalog(name)))
    database = folder / "brokers.sqlite"
    database.write_bytes(registered(NAMES, catalog(MARKED), f"{url}/{{}}"))
    for name in NAMES:
        body = json.dumps(catalog(name)).replace('"true"', "true").encode()
        execute(database, "UPDATE osbctl_brokers_2 SET catalog = ? WHERE name = ?", body, name)
    return folder


def _fresh(template: Path, tmp_path: Path) -> None:
    for file in template.iterdir():
        shutil.copy(file, tmp_path)


@functools.cache
def _without_fault(command: Command, template: Path) -> tuple[CompletedProcess[str], Any, list[CodeType]]:
    """A run in a fresh folder, what became of the others, and the functions called about the marked source alone."""
    _fresh(template, Path.cwd())
    finder = Planter()
    usual = finder.run(*command.words.split())
    assert usual.returncode in (0, 1), usual.stderr
    return usual, command.results(usual), [*finder.calls]


def _check(command: Command, template: Path, folder: Path, every: bool) -> None:
    words = command.words.split()
    usual, wanted, targets = _without_fault(command, template)
    assert wanted
    assert targets
    for target in targets if every else targets[:: -(-len(targets) // SAMPLE)]:
        _fresh(template, folder)
        planter = Planter(target)
        done = planter.run(*words)
        with case(command.words, target.co_filename, target.co_qualname, done.stdout + done.stderr):
            assert planter.calls, "the fault was not reached"
            assert command.results(done) == wanted
            if (done.stdout, done.stderr) == (usual.stdout, usual.stderr):
                continue  # something that need not be known
            assert done.returncode == 3
            assert "internal error: PlantedError" in done.stdout + done.stderr
            last = (done.stderr or done.stdout).splitlines()[-1]
            assert re.search(r"\b1 of 3\b|\b1 failed\b", last), last


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, which is new."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.words.replace(FILES, "FILES"))


@pytest.mark.fuzz
@each_command
def test_a_fault_in_one_leaves_the_others(command: Command, template: Path, folder: Path) -> None:
    _check(command, template, folder, every=EVERY_CASE)


DAMAGES = [
    "catalog = x'00ff'", "catalog = -1", "platform = 'heroku'", "api_version = x'ff'", "kept = '[[]]'",
    "services = 'many'", "username = cast(x'ff' AS TEXT)",
]  # fmt: skip
"""Assignments to columns of one row by another program."""


@each("damage", DAMAGES)
def test_a_damaged_row_leaves_the_other_brokers(damage: str, template: Path, folder: Path) -> None:
    (folder / "plans.txt").write_text("0b54c3a5-2d9b-4ba7-8a4c-6a1c0e1f2a31\n")
    for words, failed in (
        ("drift --all --instances plans.txt", "could not be checked"),
        ("brokers refresh --instances plans.txt", "1 failed"),
        ("brokers list", "could not be read"),
    ):
        _fresh(template, folder)
        execute("brokers.sqlite", f"UPDATE osbctl_brokers_2 SET {damage} WHERE name = ?", MARKED)
        done = program.osbctl(*words.split(), OSBCTL_DATABASE="brokers.sqlite")
        if words == "brokers list" and done.returncode == 0:
            assert damage.startswith(("catalog", "kept")), "the list does not read these"
        else:
            assert done.returncode == 3, done
            assert failed in done.stderr.splitlines()[-1]
            assert MARKED in done.stdout + done.stderr, done
        assert names_in(done.stdout) >= {*OTHERS}, done


@each_command
def test_what_ends_a_run_ends_it(command: Command, template: Path, folder: Path) -> None:
    words = command.words.split()
    target = next(code for code in _without_fault(command, template)[2] if code.co_name in FIRST)
    for error, code in ((KeyboardInterrupt(), 130), (MemoryError(), 3), (OutputError("not written"), 3)):
        _fresh(template, folder)
        done = Planter(target, error).run(*words)
        with case(type(error), done):
            assert done.returncode == code
            assert not re.search(r"internal error|\b1 of 3\b|\b1 failed\b|3 brokers:", done.stdout + done.stderr)


FIRST = ("read_source", "read_bytes", "check_bytes", "parse_broker_row", "json")
"""A function about one source in the work of each command."""


def test_a_working_folder_that_is_gone_is_no_bug(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("services: []\n")
    start = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", sys.executable, "-m", "osbctl"]
    for words in ("validate", "fix {}", "diff HEAD", "page {} {}", "validate HEAD:x"):
        done = program.process(*words.format(tmp_path / "c.yaml", "x").split(), program=start, cwd=tmp_path, code=3)
        assert done.stderr == "error: the working folder is gone\n  hint: go to one that exists\n", words


@pytest.fixture
def as_user(tmp_path: Path) -> Iterator[Callable[..., CompletedProcess[str]]]:
    """A run whose user may not open what has no permissions, and that ends with 3; the folder `closed` is such."""
    drop = "-dac_override,-dac_read_search"  # rights of root alone
    as_other = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"] if os.getuid() == 0 else []
    if as_other and not shutil.which("setpriv"):
        pytest.skip("nothing takes the rights of root")
    start = [*as_other, sys.executable, "-m", "osbctl"]
    (tmp_path / "closed").mkdir(0)
    yield lambda words, cwd=tmp_path: program.process(*words.split(), program=start, cwd=cwd, code=3)
    for folder in tmp_path.rglob("closed"):
        folder.chmod(0o700)


def test_a_file_that_may_not_be_read_is_neither_a_bug_nor_wrong_usage(
    tmp_path: Path, as_user: Callable[..., CompletedProcess[str]]
) -> None:
    (tmp_path / "x").touch()
    (tmp_path / "secret").touch(0)
    for words, told in {
        "verify-password secret a": "cannot read secret: Permission denied\n",
        "serve x --credentials closed/c --insecure-http": "cannot read closed/c: Permission denied\n",
        "serve x --credentials x --tls-cert secret --tls-key x": "cannot read secret: Permission denied\n",
        "build closed": "closed/services: cannot be opened: Permission denied\n",
    }.items():
        assert as_user(words).stderr == f"error: {told}", words


def test_what_may_not_be_searched_is_not_passed_over(
    tmp_path: Path, as_user: Callable[..., CompletedProcess[str]]
) -> None:
    (tmp_path / "deep/closed/services").mkdir(parents=True)
    (tmp_path / "deep/a.json").write_text('{"services": [{"name": "a", "plans": []}]}')
    (tmp_path / "deep/closed/services/s.yaml").write_text("name: s\nplans: []\n")
    (tmp_path / "deep/shut.json").touch()
    calls = [
        ("validate", ".", "closed deep/closed deep/shut.json"),
        ("fix .. --exclude ../closed", "deep", "../deep/closed ../deep/shut.json"),
        ("page . -o page.html", "deep", "closed shut.json"), ("show closed", "deep", "closed"),
    ]  # fmt: skip
    for in_clone in ([], [("diff HEAD", "deep", "closed shut.json")]):
        for name in ("deep/closed", "deep/shut.json"):
            (tmp_path / name).chmod(0o700)
        if in_clone:
            commit(tmp_path)
        for name in ("deep/closed", "deep/shut.json"):
            (tmp_path / name).chmod(0)
        for words, folder, wanted in [*calls, *in_clone]:
            done = as_user(words, tmp_path / folder)
            said = re.findall(r"error: (\S+): cannot be opened: Permission denied", done.stdout + done.stderr)
            assert sorted({*said}) == wanted.split(), (words, done)
