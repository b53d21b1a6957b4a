"""Reloads of the real command under load: every response is complete and matches its tag."""

from __future__ import annotations

import hashlib
import json
import signal
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.broker.harness import ask, until
from tests.broker.processes import PAUSE, Crowd
from tests.deploy.running import EXAMPLE, GOOD, serve_options, serving

LINES = "".join(f"{name}: {value}\r\n" for name, value in GOOD.items())
REQUEST = f"GET /v2/catalog HTTP/1.1\r\nHost: broker\r\n{LINES}\r\n".encode()


@dataclass
class Readers(Crowd):
    """Each keeps one connection to the end."""

    problems: list[Any] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def ask(self) -> None:
        try:
            raw = socket.create_connection(("127.0.0.1", self.port), timeout=10)
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
                assert until(lambda b=before, s=sentence: broker.log.count(s) > b, 20), broker.log
                assert until(lambda n=number, bad=bad: bad or f"version {n}" in crowd.seen)
    assert not crowd.problems
    assert crowd.seen <= {f"version {number}" for number in (0, 1, 3)}
