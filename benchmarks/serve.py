"""`osbctl serve` against its peers under wrk, interleaved in one run, all on loopback.

    python benchmarks/serve.py [--rounds N] [--seconds N] [--memory-seconds N]

Needs wrk and openssl; nginx, gunicorn and openbrokerapi are measured where they are installed. Each server serves the
same catalog; ours does so over HTTPS with credentials, tags and an access log, bare waitress and gunicorn fixed bytes
over plain HTTP.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from validate import catalog

from osbctl.credentials import make_record, write_record
from osbctl.sources.read import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator

IDENTITY, PASSWORD = "platform", "benchmark-password"
CONNECTIONS = (16, 128)
BARE = "bare waitress, plain"

WAITRESS = """
import sys, waitress
body = open(sys.argv[2], "rb").read()
def app(environ, start):
    start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
waitress.serve(app, host="127.0.0.1", port=int(sys.argv[1]), threads=4)
"""
PROCESSES = """
import os, signal, socket, subprocess, sys
sock = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
os.dup2(sock.fileno(), 3)
hand_over = "import os, sys; os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))"
hand_over += "; os.execv(sys.argv[1], sys.argv[1:])"
command = [sys.executable, "-c", hand_over, *sys.argv[3:]]
children = [subprocess.Popen(command, pass_fds=[3]) for _ in range(int(sys.argv[2]))]
signal.signal(signal.SIGTERM, lambda *_: [child.terminate() for child in children])
for child in children:
    child.wait()
"""
GUNICORN = """
import os
body = open(os.environ["BODY"], "rb").read()
def app(environ, start):
    start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
"""
OPENBROKERAPI = """
import logging, sys, waitress
from flask import Flask
from openbrokerapi import api
from openbrokerapi.catalog import ServicePlan
from openbrokerapi.service_broker import Service, ServiceBroker
class Broker(ServiceBroker):
    def catalog(self):
        plans = [ServicePlan(id=f"p{n}", name=f"p{n}", description="A plan.") for n in range(21)]
        return Service(id="s", name="s", description="A service.", bindable=True, plans=plans)
app = Flask(__name__)
credentials = api.BrokerCredentials("platform", "benchmark-password")
app.register_blueprint(api.get_blueprint(Broker(), credentials, logging.getLogger("x")))
waitress.serve(app, host="127.0.0.1", port=int(sys.argv[1]), threads=4)
"""
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
  access_log {folder}/access.log; client_body_temp_path {folder}; proxy_temp_path {folder};
  fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/tls.crt; ssl_certificate_key {folder}/tls.key;
    location = /v2/catalog {{
      auth_basic broker; auth_basic_user_file {folder}/htpasswd; default_type application/json;
      alias {folder}/catalog.json;
    }}
  }}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def prepare(folder: Path) -> None:
    """The catalog, a certificate, the credentials."""
    data = read_source(str(Path(__file__).parents[1] / "catalogs" / "data-services.yaml")).data
    # About 8 KB, the size of a usual catalog: the figures that the goals come from were taken with that.
    data = {"services": data["services"][:2]}
    (folder / "catalog.json").write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-days", "2", "-keyout", folder / "tls.key", "-out", folder / "tls.crt", "-subj", "/CN=localhost"),
        ],
        check=True,
        capture_output=True,
    )
    write_record(folder / "credentials.json", make_record(IDENTITY, PASSWORD, rounds=5_000))
    (folder / "htpasswd").write_text(f"{IDENTITY}:{{PLAIN}}{PASSWORD}\n")
    (folder / "fixed.py").write_text(GUNICORN)


def servers(folder: Path) -> Iterator[tuple[str, list[str], int, bool]]:
    """Name, command, port and whether it speaks TLS, of each server that can be started here."""
    python = sys.executable
    serve = [python, "-m", "osbctl", "serve", str(folder / "catalog.json")]
    serve += ["--credentials", str(folder / "credentials.json")]
    serve += ["--tls-cert", str(folder / "tls.crt"), "--tls-key", str(folder / "tls.key")]
    port = free_port()
    yield "osbctl, 1 process", [*serve, "--port", str(port)], port, True
    port = free_port()
    yield "osbctl, 2 processes on one socket", [python, "-c", PROCESSES, str(port), "2", *serve], port, True
    port = free_port()
    yield BARE, [python, "-c", WAITRESS, str(port), str(folder / "catalog.json")], port, False
    if shutil.which("gunicorn", path=str(Path(python).parent)):
        port = free_port()
        gunicorn = [str(Path(python).parent / "gunicorn"), "-w", "1", "-b", f"127.0.0.1:{port}", "--chdir", str(folder)]
        yield "gunicorn, plain", [*gunicorn, "fixed:app"], port, False
    if subprocess.run([python, "-c", "import openbrokerapi"], capture_output=True, check=False).returncode == 0:
        port = free_port()
        yield "openbrokerapi on waitress, plain", [python, "-c", OPENBROKERAPI, str(port)], port, False
    if nginx := shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"):
        port = free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        yield "nginx, TLS and basic auth", [nginx, "-c", str(folder / "nginx.conf"), "-p", str(folder)], port, True


@contextlib.contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, "BODY": str(folder / "catalog.json")}
        )
    try:
        for _ in range(1400):  # a large catalog is checked first
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            if process.poll() is not None:
                raise SystemExit((folder / "server.log").read_text())
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def load(port: int, tls: bool, connections: int, seconds: int, *headers: str) -> float:
    """Requests a second under wrk; answers other than 200 and 304 fail the run."""
    token = b64encode(f"{IDENTITY}:{PASSWORD}".encode()).decode()
    done = subprocess.run(
        [
            *("wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-H", f"Authorization: Basic {token}"),
            *(word for header in ("X-Broker-API-Version: 2.14", *headers) for word in ("-H", header)),
            f"{'https' if tls else 'http'}://127.0.0.1:{port}/v2/catalog",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    if "Non-2xx" in done.stdout:
        raise SystemExit(done.stdout)
    match = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    assert match
    return float(match[1])


def peak_memory(process: subprocess.Popen[bytes]) -> int:
    """Resident memory of a process in kB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    match = re.search(r"VmRSS:\s+(\d+)", status)
    return int(match[1]) if match else 0


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """CPU time of a server and its children, including ended ones."""
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
    ticks = 0
    for pid in (process.pid, *map(int, children.stdout.split())):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def steady_memory(folder: Path, seconds: int) -> None:
    """Resident memory under load, measured each tenth of the time, each second of a short one."""
    steps = min(10, seconds)
    _, command, port, tls = next(servers(folder))
    with running(command, port, folder) as process:
        found = []
        for _ in range(steps):
            load(port, tls, 16, seconds // steps)
            found.append(peak_memory(process) / 1000)
    print(f"\nResident memory over {seconds} s of load, MB: {', '.join(f'{value:.1f}' for value in found)}")


def slow_clients(folder: Path) -> None:
    """100 clients that stop reading a 20 MB catalog: what they cost in memory, and others in time."""
    (folder / "catalog.json").write_text(json.dumps(catalog(250, 100)), encoding="utf-8")
    _, command, port, _ = next(servers(folder))
    command += ["--max-bytes", "50000000"]
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    token = b64encode(f"{IDENTITY}:{PASSWORD}".encode()).decode()
    head = f"Host: localhost\r\nX-Broker-API-Version: 2.14\r\nAuthorization: Basic {token}\r\n\r\n"

    def ask(method: str) -> ssl.SSLSocket:
        raw = socket.create_connection(("127.0.0.1", port))
        connection = unverified.wrap_socket(raw, server_hostname="localhost")
        connection.sendall(f"{method} /v2/catalog HTTP/1.1\r\n{head}".encode())
        connection.recv(100)
        return connection

    with running(command, port, folder) as process:
        ask("GET").close()
        time.sleep(1)
        before = peak_memory(process)
        waiting = [ask("GET") for _ in range(100)]
        times = []
        for _ in range(20):
            start = time.perf_counter()
            ask("HEAD").close()
            times.append(time.perf_counter() - start)
        after = peak_memory(process)
        for connection in waiting:
            connection.close()
    cost = (after - before) / 1000
    print(f"\n100 slow clients on 20 MB cost {cost:.1f} MB; others waited {max(times) * 1000:.0f} ms at most.")


class Measured(NamedTuple):
    """One load of one server: requests a second, microseconds of processor time for each."""

    rate: float
    cost: float


def measure(
    process: subprocess.Popen[bytes], port: int, tls: bool, connections: int, seconds: int, *headers: str
) -> Measured:
    before = processor_seconds(process)
    rate = load(port, tls, connections, seconds, *headers)
    return Measured(rate, (processor_seconds(process) - before) / (rate * seconds) * 1e6)


def print_table(found: dict[tuple[str, int], list[Measured]], names: list[str]) -> None:
    """Ratios to the bare waitress of the same run: of the medians, and from the worst to the best pair of a round."""
    heads = [f"{c} connections | worst to best round | µs a request" for c in CONNECTIONS]
    print(f"| server / bare plain waitress | {' | '.join(heads)} |\n|---{'|---:' * 3 * len(CONNECTIONS)}|")
    for name in names:
        cells = []
        for c in CONNECTIONS:
            ours, bare = found[name, c], found[BARE, c]
            pairs = [one.rate / other.rate for one, other in zip(ours, bare, strict=True)]
            ratio = statistics.median(m.rate for m in ours) / statistics.median(m.rate for m in bare)
            cost = statistics.median(m.cost for m in ours)
            cells.append(f"{ratio:.2f} | {min(pairs):.2f} to {max(pairs):.2f} | {cost:.0f}")
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=6, help="of each load; bare waitress needs some to collapse")
    parser.add_argument("--memory-seconds", type=int, default=60)
    options = parser.parse_args()
    found: dict[tuple[str, int], list[Measured]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        all_servers = list(servers(folder))
        for _ in range(options.rounds):
            for server, command, port, tls in all_servers:
                with running(command, port, folder) as process:
                    load(port, tls, 2, 1)
                    for connections in CONNECTIONS:
                        one = measure(process, port, tls, connections, options.seconds)
                        found.setdefault((server, connections), []).append(one)
        print_table(found, [server for server, *_ in all_servers])
        steady_memory(folder, options.memory_seconds)
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        slow_clients(Path(name))


if __name__ == "__main__":
    main()
