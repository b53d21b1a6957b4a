"""A program that loads a `CatalogSource`, JSON in its argument, and writes a line of JSON, then the catalog."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any

from osbctl.errors import OsbctlError
from osbctl.findings import DocumentError, Finding
from osbctl.platforms import ApiVersion, Platform
from osbctl.tasks.load_catalog import CatalogSource, load, memory_for


def _main() -> None:
    request = json.loads(sys.argv[1])
    # Ends the process also when its parent is gone. Without a handler, it also ends a read that blocks.
    signal.alarm(request.pop("seconds"))
    memory = memory_for(request["max_bytes"])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    version = request.pop("api_version")
    platforms = tuple(map(Platform, request.pop("platforms")))
    source = CatalogSource(**request, api_version=version and ApiVersion(version), platforms=platforms)
    head, body = _load(source) or _out_of_memory(memory)
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)
    sys.stdout.buffer.flush()
    os._exit(0)  # an orderly end would take a sixth of the time


def _load(source: CatalogSource) -> tuple[dict[str, Any], bytes] | None:
    """The reply to the parent and the catalog; None if memory does not suffice."""
    try:
        loaded = load(source)
        return {"services": loaded.services, "plans": loaded.plans, "read_as": loaded.read_as}, loaded.body
    except DocumentError as error:
        return {"findings": list(map(_finding, error.findings))}, b""
    except OsbctlError as error:
        return {"message": error.message, "advice": error.advice}, b""
    except MemoryError:
        return None


def _finding(finding: Finding) -> tuple[str, str, tuple[str, int, int] | None]:
    place = finding.location
    return finding.rule, finding.message, (place.source, place.line, place.column) if place else None


def _out_of_memory(memory: int) -> tuple[dict[str, Any], bytes]:
    message = f"reading and checking it takes more than {memory // 1_000_000} MB of memory"
    advice = "make it smaller, or raise --max-bytes: each byte of it allows 20 bytes of memory"
    return {"message": message, "advice": advice}, b""


if __name__ == "__main__":
    _main()
