"""Reloads of the real command under load: every response is complete and matches its tag."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from osbctl.credentials.file import write_record
from osbctl.credentials.record import make_record
from tests.broker.harness import Reader, until
from tests.broker.processes import PAUSE
from tests.broker.test_contract import GOOD, ROOT

LINES = "".join(f"{name}: {value}\r\n" for name, value in GOOD.items())
REQUEST = f"GET /v2/catalog HTTP/1.1\r\nHost: broker\r\n{LINES}\r\n".encode()


def test_reloads_under_load(tmp_path: Path, pair: Any, trust: ssl.SSLContext) -> None:
    record, catalog, log = tmp_path / "credentials.json", tmp_path / "catalog.json", tmp_path / "log"
    write_record(record, make_record("platform", "right", rounds=1000))
    example = json.loads((ROOT / "catalogs/interface-example.json").read_text())

    def put(text: str) -> None:
        new = tmp_path / "new"
        new.write_text(text)
        new.rename(catalog)

    def version(number: int) -> str:
        example["services"][0]["description"] = f"version {number}"
        return json.dumps(example)

    put(version(0))
    command = [sys.executable, "-m", "osbctl", "serve", str(catalog), "--credentials", str(record), "--port", "0"]
    command += ["--tls-cert", str(pair[0]), "--tls-key", str(pair[1]), "--no-access-log"]
    with log.open("wb") as err:
        broker = subprocess.Popen(command, cwd=ROOT, stderr=err)
    stop, problems, seen = threading.Event(), [], set()

    def client(port: int) -> None:
        try:
            raw = socket.create_connection(("127.0.0.1", port), timeout=10)
            with trust.wrap_socket(raw, server_hostname="localhost") as sock:
                reader = Reader(sock)
                while not stop.wait(PAUSE):
                    sock.sendall(REQUEST)
                    status, headers, body = reader.answer()
                    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
                    if status != 200 or headers["etag"] != tag:
                        problems.append((status, headers))
                    seen.add(json.loads(body)["services"][0].get("description"))
        except (OSError, EOFError, ValueError) as error:
            problems.append(error)

    try:
        assert until(lambda: "credentials:" in log.read_text() or broker.poll() is not None, 20), log.read_text()
        found = re.search(r"listening on https://\S+:(\d+)", log.read_text())
        assert found, log.read_text()
        clients = [threading.Thread(target=client, args=[int(found[1])]) for _ in range(2)]
        for each in clients:
            each.start()
        for number in range(1, 5):
            bad = number % 2 == 0
            put('{"services": [{"name": 7}]}' if bad else version(number))
            sentence = "cannot reload the catalog" if bad else "reloaded the catalog"
            before = log.read_text().count(sentence)
            broker.send_signal(signal.SIGHUP)
            assert until(lambda b=before, s=sentence: log.read_text().count(s) > b, 20), log.read_text()
            assert until(lambda n=number, bad=bad: bad or f"version {n}" in seen)
        stop.set()
        for each in clients:
            each.join(10)
        assert not problems
        assert seen <= {f"version {number}" for number in (0, 1, 3)}
    finally:
        stop.set()
        broker.terminate()
        assert broker.wait(30) == 0
