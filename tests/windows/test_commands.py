"""Commands on Windows give what they give on Linux; a command without Unix's modules works, or says what it needs."""

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from osbctl.credentials import make_record, read_credentials, write_record
from tests.broker.harness import Authority
from tests.case import case
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import osbctl
from tests.corpus import EVERY_CASE, catalogs, needs_corpus
from tests.deploy.harness import edit
from tests.git import commit, git
from tests.windows import machine
from tests.windows.machine import LINUX, ROOT, WINDOWS, run_calls

Call = dict[str, Any]


def on_windows(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.windows(pytest.mark.usefixtures("windows")(test))


def call(*words: str, stdin: str = "", **variables: str) -> Call:
    return {"words": words, "stdin": stdin, "variables": {"COLUMNS": "100", **variables}}


def calls_on(name: str) -> Iterator[Call]:
    """Each way of reading one catalog."""
    for options in ([], ["-f", "json"], ["-f", "sarif"], ["-f", "github"], ["--platform", "cloudfoundry"]):
        yield call("validate", name, *options)
    yield from (call("show", name, *options) for options in ([], ["-f", "json"], ["-f", "markdown"]))
    yield call("fix", "--diff", name)
    yield call("page", name, "-o", f"{name}.html")
    yield call("diff", "data-services.yaml", name)
    yield call("split", name, f"{name}.parts")
    yield call("build", f"{name}.parts", "-o", f"{name}.built.json")
    yield call("validate", f"{name}.parts")


SHIPPED = ("faulty.yaml", "data-services.yaml", "interface-example.json")

FILES = {
    "two words.yaml": '# a comment\r\nservices:\r\n- name: db\r\n  id: 1\r\n  bindable: "yes"\r\n',
    "größe.json": '{"services": [{"name": "grün", "id": "日本"}]}',
    "broken.yaml": "services: [",
    "sub/inner.yaml": "services:\n- {name: Db, id: db, description: A database, bindable: true, plans: []}\n",
    "sub/osbctl.toml": 'ignore = ["advice"]\n\n[[per-path]]\npaths = ["in*.yaml"]\nfail-on = "never"\n',
}

CALLS = [
    *map(call, ("--version", "--help", "rules", "schema")),
    call("validate", "--help"),
    call("rules", "schema-type"),
    *(one for name in (SHIPPED[0], "two words.yaml", "größe.json", "sub/inner.yaml") for one in calls_on(name)),
    call("validate", "two words.yaml", "größe.json", "broken.yaml", "absent.yaml", "sub", *SHIPPED),
    call("validate", "sub/inner.yaml", "-f", "gitlab", "-o", "report.json"),
    call("validate", "-", "-f", "json", stdin='{"services": [{"name": "größe"}]}'),
    call("validate", "-", "--stdin-filename", "größe.json", stdin='{"services": [{"name": "größe"}]}'),
    call("validate", "--baseline", "known.json", "--write-baseline", "faulty.yaml", "sub/inner.yaml"),
    call("validate", "--baseline", "known.json", "faulty.yaml", "sub/inner.yaml"),
    call("fix", "--unsafe", "two words.yaml"),  # its lines still end with CRLF
    *(call("diff", *SHIPPED[1:], "-f", form) for form in ("text", "json", "markdown", "github", "allow")),
    call("params", "data-services.yaml", "search", "small"),
    call("params", "data-services.yaml", "search", "small", "-f", "json"),
    call("page", *SHIPPED[1:], "-o", "all.html"),
    call("build", "absent", "-o", "absent/built.json"),
    call("hash-password", "other", "--password-stdin", "--append", "record.json", stdin=""),
    call("verify-password", "record.json", "platform", "--password-stdin", stdin="right\n"),
    call("verify-password", "record.json", "platform", "--password-stdin", stdin="wrong\n"),
    call("brokers", "list", "--database", "brokers.sqlite"),
]
"""Calls whose output does not depend on chance, of all commands but those that ask a broker."""
MORE_CALLS = [one for name in SHIPPED[1:] for one in calls_on(name)]


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders of the same content and name, for Linux and for Windows."""
    record = make_record("platform", "right", rounds=1000)
    linux, windows = tmp_path / "linux" / "here", tmp_path / "windows" / "here"
    for folder in (linux, windows):
        folder.mkdir(parents=True)
        for name in SHIPPED:
            shutil.copy(ROOT / "catalogs" / name, folder)
        for name, text in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(text.encode())
        write_record(folder / "record.json", record)
    return linux, windows


ADD = ("hash-password", "new", "--rounds", "1000", "--password-stdin", "--append", "record.json")
FRESH = re.compile(r"(?<=a fresh one: id: )[0-9A-F-]{36}")
"""A GUID of a hint, which chance makes."""


def output(answer: dict[str, Any]) -> tuple[int, str, str]:
    code, *texts = answer["code"], *(base64.b64decode(answer[name]).decode() for name in ("out", "err"))
    assert "internal error" not in texts[1], texts[1]
    return code, FRESH.sub("", texts[0]), FRESH.sub("", texts[1])


def assert_same(calls: list[Call], linux: list[Any], windows: list[Any]) -> None:
    for one, here, there in zip(calls, linux, windows, strict=True):
        with case(" ".join(one["words"])):
            assert output(there) == output(here)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.fuzz
def test_every_command_works_without_what_windows_lacks(tmp_path: Path) -> None:
    linux, windows = folders(tmp_path)
    calls = [*(MORE_CALLS if EVERY_CASE else ()), *CALLS]
    for one, there in zip(calls, run_calls(calls, windows, LINUX, "--without-unix"), strict=True):
        here = osbctl(*one["words"], cwd=linux, stdin=one["stdin"], **one["variables"])
        with case(" ".join(one["words"])):
            assert output(there) == (here.returncode, FRESH.sub("", here.stdout), FRESH.sub("", here.stderr))
    assert files_of(windows) == files_of(linux)


def test_without_what_windows_lacks_records_are_added_and_serve_says_so(tmp_path: Path) -> None:
    _, windows = folders(tmp_path)
    add = call(*ADD, stdin="more\n")
    serve = call("serve", "faulty.yaml", "--credentials", "record.json")
    *added, (code, _, told) = map(output, run_calls([add, add, serve], windows, LINUX, "--without-unix"))
    assert [code for code, _, _ in added] == [0, 0]
    assert len(read_credentials(windows / "record.json")) == 3
    assert not (windows / ".osbctl-lock").exists()
    assert (code, "serve needs Linux or macOS" in told, "WSL" in told) == (3, True, True)


@pytest.fixture(scope="module")
def windows() -> Iterator[None]:
    """A Python for Windows with osbctl."""
    try:
        machine.install()
    except machine.UnavailableError as why:
        pytest.skip(f"no Python for Windows: {why}")
    # Wine's services start with the first process and inherit its streams: with one that stays, no test waits for their end.
    command = [*WINDOWS, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, env=machine.environment(), stdin=PIPE, stdout=PIPE, stderr=PIPE) as kept:
        yield
        kept.communicate(b"")


@on_windows
def test_every_command_gives_on_windows_what_it_gives_on_linux(tmp_path: Path) -> None:
    linux, windows = folders(tmp_path)
    every = [*MORE_CALLS, *CALLS]
    assert_same(every, run_calls(every, linux, LINUX), run_calls(every, windows, WINDOWS))
    assert files_of(windows) == files_of(linux)


@on_windows
@needs_corpus
def test_real_catalogs_give_on_windows_what_they_give_on_linux(tmp_path: Path) -> None:
    linux, windows = folders(tmp_path)
    real = catalogs()
    chosen = real[:: len(real) // 20][:20]
    for file in chosen:
        shutil.copy(file, linux)
        shutil.copy(file, windows)
    calls = [one for file in chosen for one in calls_on(file.name)]
    assert_same(calls, run_calls(calls, linux, LINUX), run_calls(calls, windows, WINDOWS))
    assert files_of(windows) == files_of(linux)


@on_windows
def test_both_spellings_of_a_path_name_the_same_file_in_reports(tmp_path: Path) -> None:
    _, windows = folders(tmp_path)
    names = ("sub/inner.yaml", "sub\\inner.yaml", "./sub/inner.yaml", ".\\sub\\inner.yaml")
    calls = [call("validate", name, "-f", "json") for name in names]
    outputs = [output(answer) for answer in run_calls(calls, windows, WINDOWS)]
    assert {code for code, _, _ in outputs} == {0}  # `per-path` of its osbctl.toml
    assert (outputs[0], outputs[2]) == (outputs[1], outputs[3])
    assert '"sub/inner.yaml"' in outputs[0][1]
    absent = run_calls([call("validate", "C:\\absent\\catalog.yaml"), call("page", "C:/absent.yaml")], windows, WINDOWS)
    assert [output(answer)[0] for answer in absent] == [3, 3]
    assert "C:/absent/catalog.yaml: there is no such file" in output(absent[0])[1]


@on_windows
def test_commands_of_brokers_give_on_windows_what_they_give_on_linux(
    tmp_path: Path, pair: Any, authority: Authority
) -> None:
    linux, windows = folders(tmp_path)
    catalog = json.loads((ROOT / "catalogs" / "interface-example.json").read_text())
    changed = {"services": [{**catalog["services"][0], "description": "Another one."}]}
    with broker(catalog, pair) as server:
        ask = ["--user", USER, "--ca-file", str(authority.cert), "--password-stdin"]
        stored = ["--database", "brokers.sqlite"]
        again = ["--password-stdin", "--ca-file", str(authority.cert), *stored]
        first = [
            call("fetch", server.url, *ask, "-o", "fetched.json", stdin=f"{PASSWORD}\n"),
            call("check", server.url, *ask, stdin=f"{PASSWORD}\n"),
            call("check", server.url, *ask, stdin="wrong\n"),
            call("diff", server.url, "faulty.yaml", *ask, stdin=f"{PASSWORD}\n"),
            call("brokers", "add", "one", server.url, "--as", "cloudfoundry", *ask, *stored, stdin=f"{PASSWORD}\n"),
            call("brokers", "list", *stored),
            call("brokers", "show", "one", *stored),
        ]
        then = [
            call("drift", "one", *again, stdin=f"{PASSWORD}\n"),
            call("brokers", "refresh", "one", *again, stdin=f"{PASSWORD}\n"),
            call("brokers", "remove", "one", *stored),
        ]
        answers = []
        for folder, python in ((linux, LINUX), (windows, WINDOWS)):
            server.put(catalog)
            before = run_calls(first, folder, python)
            server.put(changed)
            answers.append([*before, *run_calls(then, folder, python)])
    times = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?|\d+(\.\d+)? m?s\b")
    for one, here, there in zip([*first, *then], *answers, strict=True):
        with case(" ".join(one["words"])):
            found, expected = ([times.sub("", str(part)) for part in output(one)] for one in (there, here))
            assert found == expected
    assert (windows / "fetched.json").read_bytes() == (linux / "fetched.json").read_bytes()


WHILE_OPEN = """
import sys, threading, time
from osbctl import files
from osbctl.errors import SourceError
files.REPLACE_WAIT = float(sys.argv[1])
reader = open("faulty.yaml", "rb")
threading.Timer(1, reader.close).start()
try:
    files.write_file("faulty.yaml", b"new")
except SourceError as error:
    print(error.message)
"""


@on_windows
@pytest.mark.parametrize(
    ("seconds", "told"),
    [("5", ""), ("0", "faulty.yaml: cannot be written: it is write-protected, or another program has it open")],
)
def test_a_file_is_replaced_once_other_programs_have_closed_it(tmp_path: Path, seconds: str, told: str) -> None:
    _, windows = folders(tmp_path)
    before = (windows / "faulty.yaml").read_bytes()
    command = [*WINDOWS, "-c", WHILE_OPEN, seconds]
    done = subprocess.run(command, cwd=windows, env=machine.environment(), input="", capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == (told, 0), done.stderr
    assert (windows / "faulty.yaml").read_bytes() == (before if told else b"new")
    assert not list(windows.glob(".faulty*"))


@on_windows
def test_records_added_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    _, windows = folders(tmp_path)
    words = [*WINDOWS, "-m", "osbctl", *ADD]
    running = [
        subprocess.Popen(words, cwd=windows, env=machine.environment(), stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        for _ in range(4)
    ]
    told = [process.communicate(f"secret-{number}\n", timeout=120)[1] for number, process in enumerate(running)]
    assert [process.returncode for process in running] == [0] * 4, told
    assert len(read_credentials(windows / "record.json")) == 5
    assert all("restrict it with icacls" in text for text in told)
    assert not (windows / ".osbctl-lock").exists()


@on_windows
def test_whole_processes_write_utf_8_with_lf(tmp_path: Path) -> None:
    linux, windows = folders(tmp_path)
    on_linux = machine.environment(PYTHONPATH=str(ROOT))
    for words in (["validate", "größe.json"], ["validate", "--help"], ["show", "größe.json"]):
        here, there = (
            subprocess.run([*python, "-m", "osbctl", *words], cwd=folder, env=env, input=b"", capture_output=True)
            for folder, python, env in ((linux, LINUX, on_linux), (windows, WINDOWS, machine.environment()))
        )
        assert (there.stdout, there.returncode) == (here.stdout, here.returncode), words


@on_windows
def test_the_language_server_answers(tmp_path: Path) -> None:
    _, windows = folders(tmp_path)

    def message(**fields: Any) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    uri = "file:///C:/catalogs/faulty.yaml"
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": (windows / "faulty.yaml").read_text()}
    command = [*WINDOWS, "-m", "osbctl", "lsp"]
    with subprocess.Popen(
        command, cwd=windows, env=machine.environment(), stdin=PIPE, stdout=PIPE, stderr=PIPE
    ) as server:
        assert server.stdin and server.stdout
        server.stdin.write(
            message(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}})
            + message(method="initialized", params={})
            + message(method="textDocument/didOpen", params={"textDocument": document})
        )
        server.stdin.flush()
        answers = b""
        while b"publishDiagnostics" not in answers or b"schema-type" not in answers:
            piece = server.stdout.read1()
            assert piece, answers
            answers += piece
        server.stdin.write(message(id=2, method="shutdown") + message(method="exit"))
        server.stdin.flush()
        server.stdout.read()
    assert server.returncode == 0


@pytest.fixture(scope="module")
def windows_git(windows: None) -> None:
    """A git for Windows on the PATH of Wine."""
    try:
        machine.install_git()
    except machine.UnavailableError as why:
        pytest.skip(f"no git for Windows: {why}")


def commit_and_change(folder: Path) -> None:
    """Commit all files of a folder; then change, move, delete and ignore some."""
    shutil.copytree(ROOT / "catalogs" / "source", folder / "source")
    shutil.copy(folder / "two words.yaml", folder / "sub" / "größe und mehr.yaml")
    commit(folder)
    edit(folder / "data-services.yaml", "name: small", "name: tiny")
    edit(folder / "source/services/redis/plans/cache.yaml", "free: ", "bindable: false\nfree: ")
    git(folder, "mv", "sub/inner.yaml", "moved.yaml")
    git(folder, "rm", "-q", "interface-example.json")
    (folder / ".gitignore").write_text("ignored.yaml\n")
    shutil.copy(folder / "faulty.yaml", folder / "ignored.yaml")


@on_windows
@pytest.mark.usefixtures("windows_git")
def test_sources_in_git_give_on_windows_what_they_give_on_linux(tmp_path: Path) -> None:
    linux, windows = folders(tmp_path)
    for folder in (linux, windows):
        commit_and_change(folder)
    sources = ["data-services.yaml", "./data-services.yaml", "two words.yaml"]
    sources += ["sub/größe und mehr.yaml", "größe.json", "source"]
    calls = [
        *(call(command, f"main:{source}") for command in ("validate", "show") for source in sources),
        *(call("diff", f"main:{name}", name, "-f", "json") for name in ("data-services.yaml", "source", "./source/")),
        *(call("diff", "main", *words) for words in ([], ["sub"], ["source"], ["moved.yaml"], ["-f", "json"])),
        call("diff", "HEAD~0", "data-services.yaml"),
        call("diff", "main:data-services.yaml", "-", stdin='{"services": []}'),
        call("validate"),
        call("validate", ".", "-f", "json"),
        call("validate", "sub"),
        call("build", "main:source", "-o", "built.json"),
        call("page", "main:source", "-o", "source.html"),
        *(
            call("validate", name)
            for name in ("main:absent.yaml", "HEAD~3:faulty.yaml", "none:faulty.yaml", "main:sub")
        ),
    ]
    here, there = run_calls(calls, linux, LINUX), run_calls(calls, windows, WINDOWS)
    assert_same(calls, here, there)
    assert {one["code"] for one in here} == {0, 1, 3}
    assert (windows / "source.html").read_bytes() == (linux / "source.html").read_bytes()
    names = ("main:sub\\größe und mehr.yaml", "main:.\\source", "main:source\\services", ".\\source", "source\\absent")
    spelled = [call("validate", name.replace("\\", slash), "-f", "json") for name in names for slash in ("\\", "/")]
    answers = [output(one) for one in run_calls(spelled, windows, WINDOWS)]
    assert answers[::2] == answers[1::2]
    assert [code for code, _, _ in answers[::2]] == [1, 0, 3, 0, 3]


WRITES = 'int main(void) { FILE *file = fopen("RAN", "w"); fclose(file); return 0; }'


@on_windows
@pytest.mark.usefixtures("windows_git")
def test_a_git_of_the_working_folder_is_not_run(tmp_path: Path) -> None:
    """Windows looks there first, and the folder may be a stranger's repository."""
    _, windows = folders(tmp_path)
    commit_and_change(windows)
    machine.compile_program(f"#include <stdio.h>\n{WRITES}", windows / "git.exe")
    calls = [call("validate"), call("validate", "main:data-services.yaml"), call("diff", "main")]
    answers = [output(one) for one in run_calls(calls, windows, WINDOWS)]
    assert not (windows / "RAN").exists()
    assert "data-services.yaml" in answers[1][1] and answers[1][0] == 0
