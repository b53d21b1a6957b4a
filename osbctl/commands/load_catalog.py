"""Load the catalog of `osbctl serve`, also in a child process: so the service neither blocks nor lacks memory."""

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from osbctl.catalog import LoadedCatalog
from osbctl.errors import ConfigError, OsbctlError, unexpected_error
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.platforms import ApiVersion, Platform

if TYPE_CHECKING:
    from osbctl.sources.read import VariablesOf

LARGEST = 10_000_000
"""Default limit in bytes. Validating a catalog of this size takes seconds and 100 to 200 MB."""

SECONDS = 60
"""Timeout of a source, such as a FIFO without a writer."""


def memory_limit(source_bytes: int) -> int:
    """Bytes of memory for the child that loads a source of that size: one and a half times the need of real ones.

    A hostile source of 10 MB can need 3.4 GB. In a container, whose limit is for all, it would end the service, too.
    """
    return 64_000_000 + 20 * source_bytes


class CatalogSource(NamedTuple):
    """A source of a catalog and its checks: a catalog that one of `platforms` refuses is an error.

    `config` is a configuration file; None: the closest one.
    """

    source: str
    at: str = ""
    api_version: ApiVersion | None = None
    platforms: tuple[Platform, ...] = ()
    max_bytes: int = LARGEST
    config: str | None = None


def load(source: CatalogSource, variables_of: "VariablesOf | None" = None) -> LoadedCatalog:
    """Read and validate it in this process. Raises OsbctlError; DocumentError with the errors of the validation."""
    from osbctl.commands.settings import ValidationSettings, first_config, validation_options
    from osbctl.sources.read import read_source
    from osbctl.sources.read_bytes import Limits
    from osbctl.validation.pipeline import validate_document

    # The smallest value takes two bytes, a digit and a comma.
    limits = Limits.of_option(source.max_bytes, nodes=source.max_bytes // 2)
    document = read_source(source.source, at=source.at, limits=limits, allow_nested=False, variables_of=variables_of)
    body = bytearray()
    # Piece by piece, because expanded YAML aliases can be much larger than the source.
    for piece in json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).iterencode(document.data):
        body += piece.encode()
        if len(body) > source.max_bytes:
            raise ConfigError(f"as JSON the catalog is larger than {source.max_bytes:,} bytes", "raise --max-bytes")
    settings = ValidationSettings((source.source,), api_version=source.api_version, platforms=source.platforms)
    options = validation_options(settings, first_config([source.source], source.config))._replace(literal=True)
    result = validate_document(document, options)
    if result.errors:
        raise DocumentError(result.errors)
    return LoadedCatalog(bytes(body), *document.catalog.counts, document.read_as)


def load_in_subprocess(source: CatalogSource) -> LoadedCatalog:
    """Load it in a child process that has `SECONDS` and `memory_limit(source)` bytes. Raises OsbctlError as `load`."""
    import subprocess

    from osbctl.parallel import start_module

    request = json.dumps({**source._asdict(), "seconds": SECONDS})
    child = start_module("osbctl.commands.load_catalog", request, stdin=subprocess.DEVNULL)
    with child:
        head, _, body = child.communicate()[0].partition(b"\n")
    if child.returncode == -signal.SIGALRM:
        raise ConfigError(f"reading and checking it took longer than {SECONDS} seconds")
    if child.returncode:
        raise ConfigError(f"reading and checking it failed (exit code {child.returncode}); is there enough memory?")
    try:
        reply: dict[str, Any] = dict(json.loads(head))
    except (ValueError, TypeError):
        problem = "the process that reads and checks it printed a line that is not its reply"
        raise ConfigError(problem, "does a module sitecustomize print something?") from None
    if "message" in reply:
        raise ConfigError(reply["message"], reply["advice"])
    if "findings" in reply:
        found = (
            Finding(rule, Severity.ERROR, message, location=Location(*place) if place else None, hint=hint)
            for rule, message, place, hint in reply["findings"]
        )
        raise DocumentError(tuple(found))
    return LoadedCatalog(body, **reply)


def _main() -> None:
    """Load the `CatalogSource` that the argument describes in JSON; write a line of JSON, then the catalog."""
    import resource

    from osbctl.commands.settings import variables_lookup

    request = json.loads(sys.argv[1])
    # Ends the process also when its parent is gone. Without a handler, it also ends a read that blocks.
    signal.alarm(request.pop("seconds"))
    memory = memory_limit(request["max_bytes"])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    version = request.pop("api_version")
    platforms = tuple(map(Platform, request.pop("platforms")))
    source = CatalogSource(**request, api_version=version and ApiVersion(version), platforms=platforms)
    head: dict[str, Any] = {}
    body = b""
    try:
        loaded = load(source, variables_lookup(config_file=source.config))
        head, body = {"services": loaded.services, "plans": loaded.plans, "read_as": loaded.read_as}, loaded.body
    except DocumentError as error:
        found = [(one.rule, one.message, one.location and one.location[:3], one.advice) for one in error.findings]
        head = {"findings": found}
    except (OsbctlError, OSError) as error:
        told = error if isinstance(error, OsbctlError) else unexpected_error(error)
        head = {"message": told.message, "advice": told.advice}
    except MemoryError:
        pass
    if not head:  # after the exception, which holds what was read
        message = f"reading and checking it takes more than {memory // 1_000_000} MB of memory"
        advice = "make it smaller, or raise --max-bytes: each byte of it allows 20 bytes of memory"
        head = {"message": message, "advice": advice}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)
    sys.stdout.buffer.flush()
    os._exit(0)  # an orderly end would take a sixth of the time


if __name__ == "__main__":
    _main()
