"""Refreshing many registered brokers: time, connections at the brokers, and memory.

    python benchmarks/registry.py [--brokers N] [--jobs N] [--database URL | --postgresql]

One server on loopback stands for all brokers: each has a path, and a catalog of two service offerings with ten plans
each, of its own. The database is a new SQLite file; `--database` names an empty PostgreSQL instead, and `--postgresql`
starts one for the time of the run, as the tests do.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from validate import catalog

from osbctl.platforms import Platform
from osbctl.registry.records import BrokerCatalog, Refresh, RefreshOutcome, Registration, utc_timestamp
from osbctl.registry.store import Registry

ROOT = Path(__file__).parent.parent


class Brokers(ThreadingHTTPServer):
    """All brokers. `round` is part of each catalog: raise it, and all catalogs have changed."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.round = self.open = self.most = self.requests = 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def body(self, name: str) -> bytes:
        made = catalog(2, 10)
        made["services"][0]["description"] = f"{name} in round {self.round}"
        return json.dumps(made).encode()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.lock:
            self.open += 1
            self.most = max(self.most, self.open)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self.lock:
            self.open -= 1


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Brokers

    def do_GET(self) -> None:
        body = self.server.body(self.path.split("/")[1])
        self.server.requests += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class Run(NamedTuple):
    """One `osbctl brokers refresh`: seconds, processor seconds, peak memory in MB, most connections at once."""

    seconds: float
    processor: float
    memory: float
    connections: int
    summary: str


def register(database: str, brokers: Brokers, first: int, last: int) -> None:
    base = f"http://127.0.0.1:{brokers.server_port}"
    with Registry.open(database) as registry:
        for number in range(first, last):
            name = f"b{number}"
            body = brokers.body(name)
            new = Registration(name, f"{base}/{name}", "", "2.14", Platform.CLOUD_FOUNDRY)
            added = Refresh(utc_timestamp(), RefreshOutcome.ADDED, Platform.CLOUD_FOUNDRY)
            registry.add(new, BrokerCatalog(body, json.loads(body)), added)


def refresh(database: str, brokers: Brokers, jobs: int) -> Run:
    brokers.most = 0
    command = [sys.executable, "-m", "osbctl", "brokers", "refresh", "--jobs", str(jobs)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OSBCTL_DATABASE": database}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        errors.seek(0)
        summary = errors.read().decode().strip()
    if process.returncode:
        raise SystemExit(summary)
    return Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, brokers.most, summary)


def size(database: str) -> int:
    """Bytes of the database, its indexes and logs among them."""
    if "://" not in database:
        return sum(file.stat().st_size for file in Path(database).parent.iterdir())
    import psycopg

    with psycopg.connect(database.replace("+psycopg", "", 1)) as connection:
        (found,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
        return int(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--database")
    parser.add_argument("--postgresql", action="store_true")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if options.postgresql:
            sys.path.append(str(ROOT))
            from tests.registry import postgres

            programs = postgres.programs()
            if programs is None:
                raise SystemExit("PostgreSQL is not installed")
            temp = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            options.database = stack.enter_context(postgres.cluster(programs, temp)).create()
        measure(options)


def measure(options: argparse.Namespace) -> None:
    print("| brokers | catalogs | seconds | processor ms a broker | peak memory, MB | connections at once |")
    print("|---:|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, Brokers() as brokers:
        database = options.database or f"{folder}/brokers.sqlite"
        done = 0
        for number in (10, options.brokers):
            register(database, brokers, done, number)
            done = number
            refresh(database, brokers, options.jobs)
            for kind in ("unchanged", "changed"):
                brokers.round += kind == "changed"
                run = refresh(database, brokers, options.jobs)
                cost = run.processor / number * 1000
                print(
                    f"| {number:,} | {kind} | {run.seconds:.1f} | {cost:.1f} | {run.memory:.0f} | {run.connections} |"
                )
                if kind not in run.summary:
                    raise SystemExit(f"not {kind}: {run.summary}")
        print(f"\nThe database takes {size(database) / number / 1000:.1f} KB a broker.")


if __name__ == "__main__":
    main()
