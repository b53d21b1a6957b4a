"""A program: it reads a `CatalogSource` as JSON from its argument, and writes a line of JSON, then the catalog."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import sys
from typing import TYPE_CHECKING

from osbctl.errors import ConfigError, OsbctlError
from osbctl.findings import DocumentError
from osbctl.platforms import ApiVersion, Platform
from osbctl.tasks.load_catalog import CatalogSource, load, memory_for

if TYPE_CHECKING:
    from osbctl.broker.service import LoadedCatalog


def _say(loaded: LoadedCatalog | None, error: OsbctlError | None) -> None:
    findings = error.findings if isinstance(error, DocumentError) else ()
    head = {
        "services": loaded.services if loaded else 0,
        "plans": loaded.plans if loaded else 0,
        "read_as": loaded.read_as if loaded else "",
        "message": error.message if error else "",
        "advice": error.advice if error else "",
        "findings": [
            (
                each.rule,
                each.message,
                each.location and (each.location.source, each.location.line, each.location.column),
            )
            for each in findings
        ],
    }
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + (loaded.body if loaded else b""))


def _main() -> None:
    asked = json.loads(sys.argv[1])
    # Also where the parent is gone. No handler: it ends what waits for a file, too.
    signal.alarm(asked.pop("seconds"))
    memory = memory_for(asked["max_bytes"])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    version = asked.pop("api_version")
    platforms = tuple(map(Platform, asked.pop("platforms")))
    source = CatalogSource(**asked, api_version=version and ApiVersion(version), platforms=platforms)
    _say(*_load_within(source, memory))


def _load_within(source: CatalogSource, memory: int) -> tuple[LoadedCatalog | None, OsbctlError | None]:
    with contextlib.suppress(MemoryError):  # past it, what was made until then is gone
        try:
            return load(source), None
        except OsbctlError as error:
            return None, error
    problem = f"reading and checking it takes more than {memory // 1_000_000} MB of memory"
    return None, ConfigError(problem, "make it smaller, or raise --max-bytes: each byte of it may take 20 of memory")


if __name__ == "__main__":
    _main()
