"""Load the catalog of `osbctl serve`, also in a child process: so the service neither blocks nor lacks memory."""

import json
import os
import signal
from typing import Any, NamedTuple

from osbctl.catalog import LoadedCatalog
from osbctl.errors import ConfigError
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.platforms import ApiVersion, Platform

LARGEST = 10_000_000
"""Default limit in bytes. Validating a catalog of this size takes seconds and 100 to 200 MB."""

SECONDS = 60
"""Timeout of a source, such as a FIFO without a writer."""


def memory_limit(source_bytes: int) -> int:
    """Bytes of memory for the child that loads a source of that size: one and a half times the need of real ones.

    A hostile source of 10 MB can need 3.4 GB. In a container, whose limit holds for all processes, that would end the
    service, too.
    """
    return 64_000_000 + 20 * source_bytes


class CatalogSource(NamedTuple):
    """A source of a catalog and its checks: a catalog that one of `platforms` refuses is an error."""

    source: str
    at: str = ""
    api_version: ApiVersion | None = None
    platforms: tuple[Platform, ...] = ()
    max_bytes: int = LARGEST


def load(source: CatalogSource) -> LoadedCatalog:
    """Read and validate it in this process. Raises OsbctlError; DocumentError with the errors of the validation."""
    from osbctl.config import find_config
    from osbctl.sources.limits import Limits
    from osbctl.sources.read import read_source
    from osbctl.tasks.options import Request, validation_options
    from osbctl.validation.pipeline import validate_document

    # The smallest value takes two bytes, a digit and a comma.
    limits = Limits(bytes=source.max_bytes, nodes=source.max_bytes // 2)
    document = read_source(source.source, at=source.at, limits=limits, allow_nested=False)
    if not _may_fit(document.data, source.max_bytes):
        raise _too_large_error(source)
    request = Request((source.source,), api_version=source.api_version, platforms=source.platforms)
    options = validation_options(request, find_config(os.curdir))._replace(literal=True)
    result = validate_document(document, options)
    if result.errors:
        raise DocumentError(result.errors)
    body = json.dumps(document.data, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    if len(body) > source.max_bytes:
        raise _too_large_error(source)
    catalog = document.catalog
    return LoadedCatalog(body, len(catalog.services), sum(1 for _ in catalog.plans), document.read_as)


def _may_fit(data: Any, bytes_left: int) -> bool:
    """Return whether `data` may fit in as many bytes of JSON: expanded YAML aliases can be larger than the source."""
    stack = [data]
    while stack and bytes_left >= 0:
        value = stack.pop()
        if isinstance(value, str | list | dict):
            bytes_left -= len(value) + 2
        if isinstance(value, dict):
            bytes_left -= sum(len(str(key)) + 3 for key in value)
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    return bytes_left >= 0


def _too_large_error(source: CatalogSource) -> ConfigError:
    return ConfigError(f"as JSON the catalog is larger than {source.max_bytes:,} bytes", "raise --max-bytes")


def load_in_subprocess(source: CatalogSource) -> LoadedCatalog:
    """Load it in a child process, within `SECONDS` and `memory_limit` the source. Raises OsbctlError as `load`."""
    import subprocess

    from osbctl.parallel import start_module

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
            Finding(rule, Severity.ERROR, message, location=Location(*place) if place else None, hint=hint)
            for rule, message, place, hint in reply["findings"]
        )
        raise DocumentError(tuple(found))
    return LoadedCatalog(body, **reply)
