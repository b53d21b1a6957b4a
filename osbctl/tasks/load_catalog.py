"""A catalog read and checked in a process of its own, so that no service waits for it or pays with its memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import asdict, dataclass
from typing import Any

from osbctl.broker.service import LoadedCatalog
from osbctl.errors import ConfigError
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.parallel import start_module
from osbctl.platforms import ApiVersion, Platform

LARGEST = 10_000_000
"""Bytes, twice the largest catalog met in the field: to check one takes seconds, and 100 to 200 MB meanwhile."""

SECONDS = 60
"""Timeout of a source, such as a FIFO without a writer."""


def memory_for(size: int) -> int:
    """Bytes of memory that the child may take for a source of `size` bytes: what real ones need, and half as much.

    Contrived ones of 10 MB were seen to need 3.4 GB, which would end the service, too, where a container has one limit
    for all its processes.
    """
    return 64_000_000 + 20 * size


@dataclass(frozen=True, slots=True)
class CatalogSource:
    """A source of a catalog, and what is asked of it; what one of `platforms` refuses is not taken."""

    source: str
    at: str = ""
    api_version: ApiVersion | None = None
    platforms: tuple[Platform, ...] = ()
    max_bytes: int = LARGEST


def load(source: CatalogSource) -> LoadedCatalog:
    """Read and check it here. Raises OsbctlError; DocumentError with the errors that validation finds."""
    from osbctl.config import find_config
    from osbctl.sources.limits import Limits
    from osbctl.sources.read import read_source
    from osbctl.tasks.options import Request, pointer_of, validation_options
    from osbctl.validation.pipeline import validate_document

    # The smallest value takes two bytes, itself and a comma: more values do not fit.
    limits = Limits(bytes=source.max_bytes, nodes=source.max_bytes // 2)
    at = pointer_of(source.source, source.at)
    document = read_source(source.source, at=at, limits=limits, nested=False)
    if not _fits(document.data, source.max_bytes):
        raise _too_large(source)
    request = Request((source.source,), api_version=source.api_version, platforms=source.platforms)
    judgement = validate_document(document, validation_options(request, find_config(os.curdir))._replace(literal=True))
    if judgement.errors:
        raise DocumentError(judgement.errors)
    body = json.dumps(document.data, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    if len(body) > source.max_bytes:
        raise _too_large(source)
    catalog = document.catalog
    return LoadedCatalog(body, len(catalog.services), sum(1 for _ in catalog.plans), document.read_as)


def _fits(data: Any, most: int) -> bool:
    """Return whether it takes at most `most` bytes as JSON; expanded YAML aliases may exceed the source's size."""
    stack = [data]
    while stack and most >= 0:
        value = stack.pop()
        if isinstance(value, str | list | dict):
            most -= len(value) + 2
        if isinstance(value, dict):
            most -= sum(len(str(key)) + 3 for key in value)
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    return most >= 0


def _too_large(source: CatalogSource) -> ConfigError:
    return ConfigError(f"as JSON the catalog is larger than {source.max_bytes:,} bytes", "raise --max-bytes")


def load_apart(source: CatalogSource) -> LoadedCatalog:
    """The same in a child process, within `SECONDS` and `memory_for` the source. Raises OsbctlError."""
    told = json.dumps({**asdict(source), "seconds": SECONDS})
    running = start_module("osbctl.tasks.load_worker", told, stdin=subprocess.DEVNULL)
    with running:
        head, _, body = running.communicate()[0].partition(b"\n")
    if running.returncode == -signal.SIGALRM:
        raise ConfigError(f"reading and checking it took longer than {SECONDS} seconds")
    if running.returncode:
        raise ConfigError(f"reading and checking it failed (exit code {running.returncode}); is there enough memory?")
    said: dict[str, Any] = json.loads(head)
    if said["findings"]:
        found = (
            Finding(rule, Severity.ERROR, message, location=Location(*place) if place else None)
            for rule, message, place in said["findings"]
        )
        raise DocumentError(tuple(found))
    if said["message"]:
        raise ConfigError(said["message"], said["advice"])
    return LoadedCatalog(body, said["services"], said["plans"], said["read_as"])
