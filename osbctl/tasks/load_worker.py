"""A program: it reads a `CatalogSource` as JSON from its argument, and writes a line of JSON, then the catalog."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

from osbctl.errors import DocumentError, OsbctlError
from osbctl.platforms import ApiVersion, Platform
from osbctl.tasks.load_catalog import SECONDS, CatalogSource, load

if TYPE_CHECKING:
    from osbctl.broker.service import LoadedCatalog


def _say(loaded: LoadedCatalog | None, error: OsbctlError | None) -> None:
    findings = error.findings if isinstance(error, DocumentError) else ()
    head = {
        "services": loaded.services if loaded else 0,
        "plans": loaded.plans if loaded else 0,
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
    # Also where the parent is gone. No handler: it ends what waits for a file, too.
    signal.alarm(SECONDS)
    asked = json.loads(sys.argv[1])
    version = asked.pop("api_version")
    platforms = tuple(map(Platform, asked.pop("platforms")))
    source = CatalogSource(**asked, api_version=version and ApiVersion(version), platforms=platforms)
    try:
        _say(load(source), None)
    except OsbctlError as error:
        _say(None, error)


if __name__ == "__main__":
    _main()
