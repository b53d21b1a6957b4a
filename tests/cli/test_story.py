"""The whole story, each step a process: a broker over HTTPS, registered, changed, drifting, refreshed, at rest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.broker.harness import Authority, certificate

ROOT = Path(__file__).parents[2]
PASSWORD = "correct-horse-battery"


class Machine:
    """One folder with a catalog, a broker that serves it, and a registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = ""
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "OSBCTL_DATABASE": str(folder / "brokers.sqlite"),
            "OSBCTL_BROKER_DATA_PASSWORD": PASSWORD,
        }

    def run(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "osbctl", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment,
            cwd=self.folder,
        )
        self.output += done.stdout + done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def serving(self, cert: Path, key: Path) -> Iterator[str]:
        """Serve catalog.yaml with these; the address."""
        log = self.folder / "serve.log"
        command = [sys.executable, "-m", "osbctl", "serve", "catalog.yaml", "--credentials", "credentials.json"]
        with log.open("wb") as err:
            process = subprocess.Popen(
                [*command, "--tls-cert", str(cert), "--tls-key", str(key), "--port", "0"],
                stdout=err,
                stderr=err,
                env=self.environment,
                cwd=self.folder,
            )
        try:
            port = _until(lambda: re.search(r"listening on https://[^ \n]+:(\d+)", log.read_text()))
            yield f"https://127.0.0.1:{port[1]}"
        finally:
            process.terminate()
            assert process.wait(15) == 0
            self.output += log.read_text()

    def change(self, catalog: dict[str, Any], url: str, authority: Path) -> None:
        """Write the catalog, and wait until the broker has taken it up."""
        before = self.fetch(url, authority)
        (self.folder / "catalog.yaml").write_text(dump(catalog))
        _until(lambda: self.fetch(url, authority) != before)

    def fetch(self, url: str, authority: Path) -> str:
        return self.run(
            "fetch", url, "--user", "platform", "--password-stdin", "--ca-file", str(authority), stdin=PASSWORD
        )


def _until(look: Any) -> Any:
    end = time.monotonic() + 20
    while not (found := look()):
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.1)
    return found


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    from cryptography.hazmat.primitives import serialization

    made = Authority(tmp_path, tmp_path / "ca.pem")
    cert = certificate(made.key, made.key, "test authority", ca=True, days=50)
    made.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    return made


def test_the_whole_story(tmp_path: Path, authority: Authority) -> None:
    machine, ca = Machine(tmp_path), ("--ca-file", str(authority.cert))
    catalog = read_source(str(ROOT / "catalogs" / "data-services.yaml")).data
    (tmp_path / "catalog.yaml").write_text(dump(catalog))
    record = machine.run("hash-password", "platform", "--password-stdin", stdin=PASSWORD)
    (tmp_path / "credentials.json").write_text(record)
    with machine.serving(*authority.issue("broker")) as url:
        assert machine.run("brokers", "add", "data", url, "--user", "platform", *ca) == "data: added\n"
        assert machine.run("drift", "data", *ca) == ""

        service = catalog["services"][0]
        service["plans"][0]["free"] = not service["plans"][0].get("free", True)
        gone = service["plans"].pop()
        machine.change(catalog, url, authority.cert)

        told = machine.run("drift", "data", *ca, code=1)
        name = f"{service['name']}/{gone['name']}"
        assert f"{name}: the platform has it, the broker no longer offers it [change-plan-removed]" in told
        assert machine.run("drift", "--all", *ca, code=1).splitlines()[-1].split()[:2] == ["data", "drift"]
        dry = machine.run("brokers", "refresh", "data", "--dry-run", *ca)
        assert f"deleted plan {name}" in dry
        machine.run("drift", "data", *ca, code=1)

        assert "data: changed as on Cloud Foundry" in machine.run("brokers", "refresh", "data", *ca)
        history = machine.run("brokers", "history", "data")
        assert history.count("changed as on Cloud Foundry") == history.count(": added") == 1
        assert f"deleted plan {name}" in history
        assert machine.run("drift", "data", *ca) == ""
        assert machine.run("drift", "--all", *ca).splitlines()[-1].split()[:2] == ["data", "same"]
        assert json.loads(machine.run("brokers", "show", "data", "--format", "json"))["catalog"] == catalog
    machine.run("drift", "data", *ca, code=3)
    assert PASSWORD not in machine.output
    for file in tmp_path.iterdir():
        assert PASSWORD.encode() not in file.read_bytes(), file.name
