"""Reloads after a rename, a write in place and a switched link; invalid versions are rejected."""

import hashlib
import json
import signal
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from osbctl.broker.reload import WatchedFiles, Watcher
from osbctl.credentials import make_record, write_record
from osbctl.findings import DocumentError, Finding, Location, Severity
from tests.broker.harness import PATIENCE, ask, until
from tests.broker.processes import PAUSE, Crowd
from tests.deploy.running import EXAMPLE, GOOD, serve_options, serving


class Held:
    def __init__(self, path: Path) -> None:
        self.path, self.value, self.loads = path, path.read_text(), 0

    def load(self) -> str:
        self.loads += 1
        text = self.path.read_text()
        if text == "bad":
            place = Location("catalog.json", 3, 7)
            fault = Finding("rule-x", Severity.ERROR, "no such thing", location=place, hint="remove it")
            raise DocumentError((fault, fault._replace(sentence="nor this")))
        if text == "crash":
            raise RuntimeError("crash")
        return text

    def swap(self, value: str) -> None:
        self.value = value


@contextmanager
def watching(path: Path) -> Iterator[tuple[Held, Watcher, Counter[tuple[str, str]]]]:
    held, reloads = Held(path), Counter[tuple[str, str]]()
    watcher = Watcher([WatchedFiles("catalog", lambda: [path], held.load, held.swap)], reloads, seconds=0.02)
    watcher.start()
    try:
        yield held, watcher, reloads
    finally:
        watcher.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.json"
    path.write_text("one")
    return path


def rename(file: Path) -> None:
    new = file.with_name("new")
    new.write_text("second")
    new.rename(file)


@pytest.mark.parametrize(("change", "content"), [
    (lambda file: file.write_text("second"), "second"),
    (rename, "second"),
    (lambda file: file.chmod(0o600), "one"),
])  # fmt: skip
def test_changed_file_is_reloaded(file: Path, change: Callable[[Path], object], content: str) -> None:
    with watching(file) as (held, _, reloads):
        change(file)
        assert until(lambda: held.loads == 1 and held.value == content)
        assert until(lambda: reloads == {("catalog", "ok"): 1})


def test_switched_symbolic_link_is_reloaded(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "catalog.json").write_text(name)
    (tmp_path / "data").symlink_to("a")
    with watching(tmp_path / "data" / "catalog.json") as (held, _, _):
        (tmp_path / "next").symlink_to("b")
        (tmp_path / "next").replace(tmp_path / "data")
        assert until(lambda: held.value == "b")


def test_invalid_version_is_logged_and_the_old_one_stays(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with watching(file) as (held, _, reloads):
        file.write_text("bad")
        assert until(lambda: reloads["catalog", "failed"] == 1)
        file.write_text("crash")
        assert until(lambda: reloads["catalog", "failed"] == 2)
        file.unlink()
        assert until(lambda: reloads["catalog", "failed"] == 3)
        assert held.value == "one"
        file.write_text("good again")
        assert until(lambda: held.value == "good again")
    assert "catalog.json:3:7: no such thing [rule-x]; hint: remove it\n" in caplog.text
    assert "catalog.json:3:7: nor this [rule-x]; hint: remove it\n" in caplog.text
    assert "catalog.json:3:7: no such thing\n" not in caplog.text  # once, with its rule


def test_unchanged_file_is_loaded_on_request_only(file: Path) -> None:
    with watching(file) as (held, _, _):
        assert not until(lambda: held.loads > 0, 0.2)
    with watching(file) as (held, watcher, _):
        watcher.reload_now()
        assert until(lambda: held.loads == 1)
        assert held.value == "one"
        assert not until(lambda: held.loads > 1, 0.2)


def test_file_is_not_read_while_it_is_written(file: Path) -> None:
    held = Held(file)
    watched = WatchedFiles("catalog", lambda: [file], held.load, held.swap)
    watcher = Watcher([watched], Counter())
    for text in ("ha", "half", "half of"):
        file.write_text(text)
        watcher._reload_if_changed(watched, forced=False)
    assert held.loads == 0
    watcher._reload_if_changed(watched, forced=False)
    assert (held.value, held.loads) == ("half of", 1)


def test_file_that_changes_while_it_is_read_is_read_again(file: Path) -> None:
    held = Held(file)

    def load() -> str:
        text = held.load()
        if held.loads == 1:
            file.write_text("newer")
        return text

    watched = WatchedFiles("catalog", lambda: [file], load, held.swap)
    watcher = Watcher([watched], Counter())
    file.write_text("new")
    for _ in range(4):
        watcher._reload_if_changed(watched, forced=False)
    assert (held.value, held.loads) == ("newer", 2)


@pytest.mark.parametrize(
    ("mode", "told"), [(0o640, False), (0o660, True), (0o644, True), (0o602, True), (0o600, False)]
)
def test_readable_secrets_are_a_warning(file: Path, caplog: pytest.LogCaptureFixture, mode: int, told: bool) -> None:
    files = [file, file.with_name("second"), file.with_name("third")]
    for path in files:
        path.touch()
        path.chmod(mode)
    WatchedFiles("key", lambda: files, lambda: "", lambda _: None, files).warn_of_exposed_secrets()
    advice = [f"read or change {path} (mode {mode:04o}): chmod 640 {path}" for path in files if told]
    assert [record.message.removeprefix("other users may ") for record in caplog.records] == advice


def test_a_credential_that_expires_meanwhile_is_logged_once(tmp_path: Path) -> None:
    options, clock = serve_options(tmp_path), tmp_path / "clock"
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    record = make_record("platform", "right", rounds=1000, label="ci", expires=f"{tomorrow:%Y-%m-%dT%H:%M:%SZ}")
    write_record(tmp_path / "credentials.json", record)
    clock.write_text("0")
    with serving(tmp_path, *options, clock=clock) as broker:
        assert "credentials: ci\n" in broker.log
        words = "a credential has expired, its requests are refused from now on: ci"
        for ahead, times in ((80_000, 0), (90_000, 1)):
            (tmp_path / "new").write_text(str(ahead))
            (tmp_path / "new").replace(clock)
            assert until(lambda: broker.log.count(words) >= times)  # noqa: B023
            before = broker.log.count("reloaded the catalog")
            broker.process.send_signal(signal.SIGHUP)  # it looks for expired credentials before each reload
            assert until(lambda: broker.log.count("reloaded the catalog") > before)  # noqa: B023
            assert broker.log.count(words) == times


LINES = "".join(f"{name}: {value}\r\n" for name, value in GOOD.items())
REQUEST = f"GET /v2/catalog HTTP/1.1\r\nHost: broker\r\n{LINES}\r\n".encode()


@dataclass
class Readers(Crowd):
    """Each keeps one connection to the end."""

    problems: list[Any] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def ask(self) -> None:
        try:
            raw = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            with self.trust.wrap_socket(raw, server_hostname="localhost") as sock:
                while not self.ended.wait(PAUSE):
                    status, headers, body = ask(sock, REQUEST)
                    if status != 200 or headers["etag"] != f'"{hashlib.sha256(body).hexdigest()[:32]}"':
                        self.problems.append((status, headers))
                    self.seen.add(json.loads(body)["services"][0].get("description"))
        except (OSError, EOFError, ValueError) as error:
            self.problems.append(error)


def test_reloads_under_load(tmp_path: Path, pair: Any, trust: ssl.SSLContext) -> None:
    catalog = tmp_path / "catalog.json"
    example = json.loads(EXAMPLE.read_text())

    def put(text: str) -> None:
        new = tmp_path / "new"
        new.write_text(text)
        new.rename(catalog)

    def version(number: int) -> str:
        example["services"][0]["description"] = f"version {number}"
        return json.dumps(example)

    put(version(0))
    with serving(tmp_path, *serve_options(tmp_path, pair, catalog), "--no-access-log") as broker:
        crowd = Readers(broker.port(), trust)
        with crowd.running(2):
            for number in range(1, 5):
                bad = number % 2 == 0
                put('{"services": [{"name": 7}]}' if bad else version(number))
                sentence = "cannot reload the catalog" if bad else "reloaded the catalog"
                before = broker.log.count(sentence)
                broker.process.send_signal(signal.SIGHUP)
                assert until(lambda b=before, s=sentence: broker.log.count(s) > b), broker.log
                assert until(lambda n=number, bad=bad: bad or f"version {n}" in crowd.seen)
    assert not crowd.problems
    assert crowd.seen <= {f"version {number}" for number in (0, 1, 3)}
