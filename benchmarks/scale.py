"""Capacity of one machine: cost of a poll, and of catalogs with up to 100,000 plans.

    python benchmarks/scale.py [--seconds N] [--plans N]

Reports CPU time, which depends least on other load. Polls use TLS and credentials, against one process with an access
log and a catalog of 8 KB; needs wrk and openssl. The catalogs are JSON on one line, as brokers send it; for `diff`, 1 %
of the plans changed.
"""

import argparse
import http.client
import json
import ssl
import sys
import tempfile
from base64 import b64encode
from pathlib import Path

from diff import changed
from serve import IDENTITY, PASSWORD, measure, peak_memory, prepare, processor_seconds, running, servers
from validate import catalog, used

OWN = "Connection: close"


def polls(seconds: int) -> None:
    """Cost of one polling platform for the broker."""
    print("| poll | a second | processor time, µs | polls a minute that fill one processor |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        _, command, port, tls = next(servers(Path(name)))
        with running(command, port, Path(name)) as process:
            measure(process, port, tls, 2, 1)
            for what, connections, *headers in (
                ("200 on a kept connection", 16),
                ("200 on a connection of its own", 16, OWN),
                ("304 on a connection of its own", 16, OWN, "If-None-Match: *"),
                ("200 on a connection of its own, 200 at a time", 200, OWN),
            ):
                one = measure(process, port, tls, connections, seconds, *headers)
                print(f"| {what} | {one.rate:,.0f} | {one.cost:.0f} | {60e6 / one.cost:,.0f} |", flush=True)


def first_answer(port: int) -> None:
    """Ask once, and wait for the whole answer."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=300, context=ssl._create_unverified_context())
    token = b64encode(f"{IDENTITY}:{PASSWORD}".encode()).decode()
    headers = {"Authorization": f"Basic {token}", "X-Broker-API-Version": "2.14"}
    connection.request("GET", "/v2/catalog", headers=headers)
    answer = connection.getresponse()
    if answer.status != 200 or not answer.read():
        raise SystemExit(f"osbctl serve answered {answer.status}")


def catalogs(plans: int) -> None:
    """Seconds of a processor and peak memory of each command."""
    print(f"\n| catalog of {plans:,} plans | processor, s | peak memory, MB | memory / file |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        old, new = Path(name) / "catalog.json", Path(name) / "new.json"
        data = catalog(plans // 100, 100)
        old.write_text(json.dumps(data), encoding="utf-8")
        new.write_text(json.dumps(changed(data, 100)), encoding="utf-8")
        size, most = old.stat().st_size, "--max-bytes=1000000000"
        for words in (
            ["validate", most, str(old)],
            ["diff", "--fail-on", "never", most, str(old), str(new)],
            ["page", most, "-o", f"{name}/page.html", str(old)],
        ):
            memory, seconds, code = used([sys.executable, "-m", "osbctl", *words])
            if code > 1:
                raise SystemExit(f"osbctl {words[0]} ended with {code}")
            print(f"| {words[0]} | {seconds:.1f} | {memory / 1e6:,.0f} | {memory / size:.1f} |", flush=True)
        _, command, port, _ = next(servers(Path(name)))
        with running([*command, most], port, Path(name)) as process:
            first_answer(port)
            seconds, memory = processor_seconds(process), peak_memory(process) * 1024
        print(f"| serve: until it answers; from then on | {seconds:.1f} | {memory / 1e6:,.0f} | {memory / size:.1f} |")
        page = (Path(name) / "page.html").stat().st_size
        print(f"\nThe catalog has {size / 1e6:.1f} MB, its page {page / 1e6:.1f} MB.", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=6, help="of each load")
    parser.add_argument("--plans", type=int, default=100_000)
    options = parser.parse_args()
    polls(options.seconds)
    for plans in (options.plans // 10, options.plans):
        catalogs(plans)


if __name__ == "__main__":
    main()
