"""Load the catalog of `osbctl serve` in a child process, so that the service does not block or run out of memory."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

from osbctl.catalog import LoadedCatalog
from osbctl.errors import ConfigError
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.parallel import start_module
from osbctl.tasks.load_catalog import CatalogSource

SECONDS = 60
"""Timeout of a source, such as a FIFO without a writer."""


def load_in_subprocess(source: CatalogSource) -> LoadedCatalog:
    """Load it in a child process, within `SECONDS` and `memory_for` the source. Raises OsbctlError as `load`."""
    request = json.dumps({**source._asdict(), "seconds": SECONDS})
    child = start_module("osbctl.tasks.load_worker", request, stdin=subprocess.DEVNULL)
    with child:
        head, _, body = child.communicate()[0].partition(b"\n")
    if child.returncode == -signal.SIGALRM:
        raise ConfigError(f"reading and checking it took longer than {SECONDS} seconds")
    if child.returncode:
        raise ConfigError(f"reading and checking it failed (exit code {child.returncode}); is there enough memory?")
    reply: dict[str, Any] = json.loads(head)
    if "message" in reply:
        raise ConfigError(reply["message"], reply["advice"])
    if "findings" in reply:
        found = (
            Finding(rule, Severity.ERROR, message, location=Location(*place) if place else None)
            for rule, message, place in reply["findings"]
        )
        raise DocumentError(tuple(found))
    return LoadedCatalog(body, **reply)
