"""Diagnostics in an editor equal the command line's, for the current text."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lsprotocol import types

from osbctl.editor import open_files
from osbctl.editor.open_files import OpenFiles, find_source
from osbctl.editor.server import EditorServer
from osbctl.editor.text_document import SEVERITIES
from osbctl.findings import DocumentError, Finding
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import decode_utf8
from osbctl.text import escape_line
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.case import each
from tests.cli.program import osbctl
from tests.corpus import EVERY_CASE, catalogs, needs_corpus
from tests.editor.client import Editor, editing, editing_in_a_process, in_editor
from tests.folders import catalogs_folder
from tests.sources.folder.brokerpaks import brokerpak

pytestmark = pytest.mark.usefixtures("one_server")

FAULTY = catalogs_folder() / "faulty.yaml"
WORDS = {severity.value: number for severity, number in SEVERITIES.items()}


def shown(found: list[types.Diagnostic]) -> list[tuple[Any, ...]]:
    """Line and character from 0, rule, severity, message."""
    return sorted((*place(d.range.start), d.code, d.severity, d.message.partition("\n")[0]) for d in found)


def place(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def said(report: str) -> dict[str, list[tuple[Any, ...]]]:
    """The findings of a JSON report at each of their places, by file, as `shown` has them."""
    by_file: dict[str, list[tuple[Any, ...]]] = {}
    for source in json.loads(report)["documents"]:
        by_file.setdefault(source["name"], [])
        for one in [{**found, **place} for found in source["findings"] for place in found.get("places", [found])]:
            at = one["location"]
            line = re.split("\r\n?|\n", Path(at["source"]).read_bytes().decode("utf-8-sig"))[at["line"] - 1]
            character = len(line[: at["column"] - 1].encode("utf-16-le")) // 2
            row = (at["line"] - 1, character, one["rule"], WORDS[one["severity"]], one["message"])
            by_file.setdefault(at["source"], []).append(row)
    return {name: sorted(rows) for name, rows in by_file.items()}


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.05)


@needs_corpus
@pytest.mark.fuzz
def test_the_same_as_the_command_line_on_every_real_catalog() -> None:
    """One in eight in `make test`, all in `make test-every-case`."""
    files = catalogs()
    assert len(files) == 76
    files = files if EVERY_CASE else files[::8]
    report = said(osbctl("validate", "--format", "json", *map(str, files)).stdout)

    async def look(editor: Editor) -> None:
        for file in files:
            uri = editor.open(file.resolve(), file.read_bytes().decode())
            assert shown(await editor.heard(uri)) == report[str(file)], file.name
            editor.close(uri)

    in_editor(look)


def test_a_folder_is_judged_as_one_with_what_is_not_saved(folder: Path) -> None:
    changed = sorted((folder / "services").glob("*.yaml"))
    broken = {file: file.read_text() + 'bindable: "yes"\n' for file in changed}

    async def look(editor: Editor) -> None:
        first = editor.open(changed[0])
        assert await editor.heard(first) == []
        second = editor.open(changed[1])
        editor.change(second, broken[changed[1]])
        editor.change(first, broken[changed[0]])
        for file, uri in ((changed[0], first), (changed[1], second)):
            file.write_text(broken[file])
            expected = said(osbctl("validate", "--format", "json", str(folder)).stdout)
            assert shown(await editor.heard(uri)) == expected[str(file)] != []
        editor.close(first)
        editor.close(second)
        await until(lambda: not any(said.diagnostics for said in editor.said.values()))

    in_editor(look)


def test_the_definition_of_a_brokerpak_is_judged_in_its_folder(tmp_path: Path) -> None:
    folder = brokerpak(tmp_path / "pak")
    (folder / "osbctl.toml").write_text('env = ".envrc"\n')
    file = folder / "definitions" / "database.yml"

    async def look(editor: Editor) -> None:
        uri = editor.open(file, file.read_text().replace("acme-database.v1", "acme_database"))
        await until(lambda: uri in editor.said)
        codes = {(found.code, found.range.start.line + 1) for found in editor.said[uri].diagnostics}
        assert {("brokerpak-refused", 2), ("parameters-default", 36), ("parameters-default", 40)} <= codes

    in_editor(look)
    assert find_source(str(folder / "images" / "notes.md"), "") is None


def test_what_is_found_in_another_file_of_the_folder_is_shown_there(folder: Path) -> None:
    settings = folder / "catalog.yaml"

    async def look(editor: Editor) -> None:
        service = next(iter(sorted((folder / "services").glob("*.yaml"))))
        other = service.rename(service.with_name("other.yaml"))
        editor.open(other)
        await until(lambda: settings.as_uri() in editor.said)
        assert {d.code for d in editor.said[settings.as_uri()].diagnostics} == {"folder-order"}

    in_editor(look)


@pytest.mark.parametrize(
    "text",
    ["services:\n- {name: a}\n", '{"services": [{}]}', "services: # ours\n\n  # first\n  - name: a\n", "services: [\n"],
)
def test_a_list_of_services_is_a_catalog(tmp_path: Path, text: str) -> None:
    assert find_source(str(tmp_path / "a.yml"), text) == str(tmp_path / "a.yml")


@each("text", ["on: push\n", "services:\n  web:\n    image: a\n", "a: 1\nb:\n  services:\n  - a\n", ""])
def test_other_files_of_json_and_yaml_are_left_alone(tmp_path: Path, text: str) -> None:
    assert find_source(str(tmp_path / "a.yml"), text) is None
    named = text == "" or text.startswith("services")  # and no more than begun
    assert find_source(str(tmp_path / "catalog.yml"), text) == (str(tmp_path / "catalog.yml") if named else None)
    assert find_source(str(tmp_path / "catalog.md"), text) is None


def test_the_configuration_beside_the_file_holds(tmp_path: Path) -> None:
    file = tmp_path / "catalog.yaml"
    config = tmp_path / "osbctl.toml"
    config.write_text('ignore = ["schema-required"]\n')

    async def look(editor: Editor) -> None:
        uri = editor.open(file, "services: [{name: a}]\n")
        assert "schema-required" not in {d.code for d in await editor.heard(uri)}
        config.write_text('ignore = ["no-such-rule"]\n')
        editor.change(uri, "services: [{name: b}]\n")
        (fault,) = await editor.heard(uri)
        assert "there is no rule 'no-such-rule'" in fault.message
        config.unlink()
        editor.said.clear()
        event = types.FileEvent(config.as_uri(), types.FileChangeType.Deleted)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert "schema-required" in {d.code for d in await editor.heard(uri)}

    in_editor(look)


def test_places_are_counted_in_utf_16(tmp_path: Path) -> None:
    """Also for an editor that would rather have another encoding, as Helix does."""
    text = 'services: [{description: "\U0001f600", bindable: "yes"}]\n'

    async def look(editor: Editor) -> None:
        uri = editor.open(tmp_path / "catalog.yaml", text)
        (found,) = [d for d in await editor.heard(uri) if d.code == "schema-type"]
        start = text.index("bindable") + 1
        assert place(found.range.start) == (0, start)
        assert place(found.range.end) == (0, start + len('bindable: "yes"'))

    async def agreed() -> None:
        async with editing(["utf-8", "utf-16"]) as editor:
            assert editor.encoding == "utf-16"
            await look(editor)

    in_editor(look)
    asyncio.run(agreed())


PIECES = ["", " ", "\n", "\t", "- ", ": ", '"', "{", "}", "[", "]", "&a ", "*a", "<<: ", "|\n", "\U0001f600", "\u2028", "\r",
          "\x00", "\ud800", "\ufeff", "id: ", "services:", "name: x\n", "no", "${A}", "((b))", "---\n", "!!str ", "1e999"]  # fmt: skip


def typed(random: Random, text: str) -> str:
    """The text after one edit: something cut, something put in, something moved."""
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice([0, 0, 0, 1, 3, 40, 400]))
    moved = text[start:end] if random.random() < 0.1 else ""
    return text[:start] + random.choice(PIECES) + moved * 2 + text[end:]


def memory(process: int) -> int:
    """Memory of a process, in kB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


async def ask_anything(editor: Editor, uri: str, random: Random, text: str) -> None:
    """Every question, at a random place, also beyond the end of a line and of the text."""
    lines = text.split("\n")
    line = random.randrange(len(lines) + 1)
    at = types.Position(line, random.randrange(len(lines[line]) + 3) if line < len(lines) else 0)
    file, client = types.TextDocumentIdentifier(uri), editor.client
    await client.text_document_completion_async(types.CompletionParams(file, at))
    await client.text_document_hover_async(types.HoverParams(file, at))
    await client.text_document_definition_async(types.DefinitionParams(file, at))
    await client.text_document_document_symbol_async(types.DocumentSymbolParams(file))
    context = types.CodeActionContext([])
    await client.text_document_code_action_async(types.CodeActionParams(file, types.Range(at, at), context))


def from_scratch(name: str, text: str) -> list[tuple[int, str, str]]:
    """Line, rule and message of each finding in a text that nothing is known of, as the command line finds them."""
    try:
        findings = validate_document(
            parse_catalog(decode_utf8(text.encode("utf-8", "surrogatepass"), name), name), ValidationOptions()
        ).findings
    except DocumentError as error:
        findings = error.findings
    return sorted((f.location.line - 1 if f.location else 0, f.rule, escape_line(f.message)) for f in findings)


async def edit_at_random(edits: int, folder: Path) -> tuple[int, int]:
    """Type into three files; from time to time compare with what is to be said. Memory after a quarter, and at the end."""
    random = Random(edits)
    sizes: list[int] = []
    starts = [FAULTY.read_text(), (catalogs_folder() / "interface-example.json").read_text(), FAULTY.read_text()]
    names = ["catalog.yaml", "catalog.json", "third-catalog.yml"]
    async with editing_in_a_process() as (editor, process):
        texts = {editor.open(folder / name, text): text for name, text in zip(names, starts, strict=True)}
        fresh = dict(texts)
        for number in range(edits):
            uri = random.choice(list(texts))
            texts[uri] = fresh[uri] if random.random() < 0.02 else typed(random, texts[uri])
            editor.change(uri, texts[uri])
            if number % 7 == 0:
                await ask_anything(editor, uri, random, texts[uri])
            if number % 20 == 0 or number == edits - 1:
                for one, text in texts.items():
                    found = await editor.heard(one)
                    lines = [(d.range.start.line, d.code, d.message.partition("\n")[0]) for d in found]
                    assert sorted(lines) == from_scratch(one, text)
            if number in (edits // 4, edits - 1):
                sizes.append(memory(process))
        assert editor.log == []
    return sizes[0], sizes[1]


HOSTILE = {
    "deep.json": '{"services": ' + "[" * 2_500,
    "deep.yaml": "services: " + "[" * 2_500,
    "deep-whole.json": '{"services": ' + "[" * 2_500 + "]" * 2_500 + "}",
    "deep-whole.yaml": "services: " + "[" * 2_500 + "]" * 2_500,
    "bomb-catalog.yaml": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghij"))
    + "services: [*j]\n",
    "spaces-catalog.yaml": "services:" + " " * 200_000 + "x\n- a" + " " * 200_000 + ": b",
    "quotes-catalog.json": '{"services": [' + '"\\' * 100_000,
    "hyphens-catalog.yaml": "- " * 50_000,
    "colons-catalog.yaml": "a: " * 50_000,
    "surrogate-catalog.yaml": "services: [\ud800",
    "python-catalog.yaml": "services: !!python/object/apply:os.system ['touch ran']\n",
    "pattern-catalog.json": '{"services": [{"plans": [{"schemas": {"service_instance": {"create": {"parameters": '
    '{"properties": {"a": {"pattern": "^(a+)+$", "default": "' + "a" * 50 + '!"}}}}}}}]}]}',
}


def test_hostile_texts_are_answered_in_time(tmp_path: Path) -> None:
    async def look(editor: Editor) -> None:
        for name, text in HOSTILE.items():
            uri = editor.open(tmp_path / f"catalog-{name}", "services: []")  # what is a catalog stays one
            editor.change(uri, text)
            assert await editor.heard(uri), name
            async with asyncio.timeout(60):
                await ask_anything(editor, uri, Random(1), text)
            assert editor.log == [], name
            editor.close(uri)

    in_editor(look)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_never_saved_and_one_with_odd_letters(tmp_path: Path) -> None:
    odd = tmp_path / "ä b%20#catalog?.yaml"

    async def look(editor: Editor) -> None:
        for uri in ("untitled:Untitled-1", odd.as_uri()):
            assert editor.open(uri, "services:\n- name: a\n") == uri
            assert "schema-required" in {d.code for d in await editor.heard(uri)}
            await ask_anything(editor, uri, Random(1), "")

    in_editor(look)


def test_a_fault_of_ours_ends_no_session_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told: list[list[Finding]] = []
    failed: list[Exception] = []

    async def look() -> None:
        files = OpenFiles(lambda _, findings: told.append(findings), failed.append)
        uri = (tmp_path / "catalog.yaml").as_uri()
        files.update(uri, "services: 1", 1)
        await files.wait_for_analysis(uri)
        monkeypatch.setattr(open_files, "analyse_source", lambda *_: 1 // 0)
        files.update(uri, "services: 2", 2)
        await files.wait_for_analysis(uri)
        monkeypatch.undo()
        files.update(uri, "services: 3", 3)
        await files.wait_for_analysis(uri)

    asyncio.run(look())
    assert [bool(findings) for findings in told] == [True, False, True]
    assert [type(error) for error in failed] == [ZeroDivisionError]


def test_findings_that_cannot_be_shown_keep_nobody_waiting(tmp_path: Path) -> None:
    failed: list[Exception] = []

    async def look() -> None:
        files = OpenFiles(lambda *_: 1 // 0, failed.append)
        uri = (tmp_path / "catalog.yaml").as_uri()
        for version in (1, 2):  # and the file is analysed again
            files.update(uri, f"services: {version}", version)
            await asyncio.wait_for(files.wait_for_analysis(uri), 60)

    asyncio.run(look())
    assert [type(error) for error in failed] == [ZeroDivisionError] * 2


@pytest.mark.fuzz
def test_random_edits_crash_nothing_and_leave_nothing_stale_and_memory_stays(tmp_path: Path) -> None:
    early, late = asyncio.run(edit_at_random(1_000 if EVERY_CASE else 40, tmp_path))
    assert late < early * 1.2 + 5_000


@pytest.mark.parametrize(("said", "code"), [([types.EXIT], 1), ([], 0)])
def test_the_exit_code_says_whether_the_editor_asked_for_the_end(said: list[str], code: int) -> None:
    """With both messages it is 0: `editing` looks at each end."""
    messages = [{"jsonrpc": "2.0", "id": 1, "method": types.INITIALIZE, "params": {"capabilities": {}}}]
    messages += [{"jsonrpc": "2.0", "method": method} for method in said]
    bodies = [json.dumps(message).encode() for message in messages]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    assert EditorServer().run(io.BytesIO(sent), io.BytesIO()) == code
    if code:  # 0 of a process: `editing_in_a_process`
        done = subprocess.run([sys.executable, "-m", "osbctl", "lsp"], input=sent, capture_output=True, timeout=60)
        assert done.returncode == code


def test_an_interrupt_at_a_terminal_ends_the_server() -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "osbctl", "lsp"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as server:
        assert server.stderr
        assert b"waiting for an editor; Ctrl-C ends it" in server.stderr.readline()
        tasks = Path(f"/proc/{server.pid}/task")
        while server.poll() is None and tasks.exists() and len([*tasks.iterdir()]) == 1:
            time.sleep(0.02)  # until it has a thread that reads
        time.sleep(0.05 if tasks.exists() else 1)
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 130
        assert server.stderr.read() == b""
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("address", ["", "https://git.example.com/acme/osbctl"])
def test_a_finding_links_to_the_page_of_its_rule_once_osbctl_has_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr("osbctl.REPOSITORY", address)

    async def look(editor: Editor) -> list[types.Diagnostic]:
        return await editor.heard(editor.open(tmp_path / "catalog.yaml", "services:\n- name: a\n  bindable: 1\n"))

    found = {one.code: one.code_description for one in in_editor(look)}
    page = f"{address}/blob/HEAD/docs/reference/rules/schema.md#schema-type"
    assert found["schema-type"] == (types.CodeDescription(page) if address else None)
