"""One folder with a catalog, a broker that serves it, and a registry: the whole life on one machine."""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from osbctl.registry.records import RefreshOutcome
from osbctl.registry.store import Registry
from osbctl.sources.yaml_text import dump
from tests.broker.harness import until
from tests.cli.program import environment, osbctl
from tests.deploy.running import serving
from tests.registry.make import read, refresh, registration

PASSWORD = "correct-horse-battery"


class Machine:
    """One folder with a catalog, a broker that serves it, and a registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = ""
        self.environment = environment(
            HOME=str(folder), OSBCTL_DATABASE=str(folder / "brokers.sqlite"), OSBCTL_BROKER_DATA_PASSWORD=PASSWORD
        )

    def run(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        done = osbctl(*arguments, cwd=self.folder, stdin=stdin, code=code, **self.environment)
        self.output += done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def serving(self, cert: Path, key: Path) -> Iterator[str]:
        """Serve catalog.yaml with these; the address."""
        credentials = str(self.folder / "credentials.json")
        options = ["--credentials", credentials, "--tls-cert", str(cert), "--tls-key", str(key), "--port", "0"]
        with serving(self.folder, str(self.folder / "catalog.yaml"), *options) as program:
            yield f"https://127.0.0.1:{program.port()}"
        self.output += program.log

    def change(self, catalog: dict[str, Any], url: str, authority: Path) -> None:
        """Write the catalog, and wait until the broker has taken it up."""
        before = self.fetch(url, authority)
        (self.folder / "catalog.yaml").write_text(dump(catalog))

        def has_changed() -> bool:
            time.sleep(0.2)  # each question is a TLS handshake
            return self.fetch(url, authority) != before

        assert until(has_changed)

    def fetch(self, url: str, authority: Path) -> str:
        words = ("fetch", url, "--user", "platform", "--password-stdin", "--ca-file", str(authority))
        return self.run(*words, stdin=PASSWORD)


def registered(names: Iterable[str], catalog: dict[str, Any], url: str, username: str = "") -> bytes:
    """A database with these brokers, each with the catalog; `{}` in the address is its name."""
    content = json.dumps(catalog).encode()
    with TemporaryDirectory() as folder:
        file = Path(folder, "brokers.sqlite")
        with Registry.open(str(file)) as registry:
            for name in names:
                new = registration(name, url=url.format(name), username=username)
                registry.add(new, read(content), refresh(RefreshOutcome.ADDED))
        return file.read_bytes()
