"""A program that loads a `CatalogSource`, JSON in its argument, and writes a line of JSON, then the catalog."""

import json
import os
import resource
import signal
import sys
from typing import Any

from osbctl.errors import OsbctlError
from osbctl.findings import DocumentError
from osbctl.platforms import ApiVersion, Platform
from osbctl.tasks.load_catalog import CatalogSource, load, memory_limit
from osbctl.tasks.options import variables_lookup


def _main() -> None:
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
        loaded = load(source, variables_lookup(os.environ, config_file=source.config))
        head, body = {"services": loaded.services, "plans": loaded.plans, "read_as": loaded.read_as}, loaded.body
    except DocumentError as error:
        found = [(one.rule, one.message, one.location and one.location[:3], one.advice) for one in error.findings]
        head = {"findings": found}
    except OsbctlError as error:
        head = {"message": error.message, "advice": error.advice}
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
