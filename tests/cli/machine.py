"""One folder with a catalog, a broker that serves it, and a registry: the whole life on one machine."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from osbctl.sources.yaml_text import dump
from tests.cli.program import environment, osbctl

PASSWORD = "correct-horse-battery"


class Machine:
    """One folder with a catalog, a broker that serves it, and a registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = ""
        self.environment = environment(
            HOME=str(folder),
            OSBCTL_DATABASE=str(folder / "brokers.sqlite"),
            OSBCTL_BROKER_DATA_PASSWORD=PASSWORD,
        )

    def run(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        done = osbctl(*arguments, cwd=self.folder, stdin=stdin, **self.environment)
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
