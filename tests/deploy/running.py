"""Programs that a test starts and ends, and a client that speaks to them as a platform does."""

import http.client
import os
import signal
import socket
import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from osbctl.credentials import make_record, write_record
from tests.broker.harness import until
from tests.broker.processes import Program
from tests.cli.warm import Fork
from tests.deploy.harness import ROOT

EXAMPLE = ROOT / "catalogs/interface-example.json"
OSBCTL = [sys.executable, "-m", "osbctl"]
GOOD = {"Authorization": "Basic " + b64encode(b"platform:right").decode(), "X-Broker-API-Version": "2.14"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(
    command: list[str], folder: Path, ready: str, *, code: int | None = 0, cwd: Path = ROOT, **environment: str
) -> Iterator[Program]:
    """Run until the block ends: `ready` is what its log says when it is, `code` how it must end (None: any)."""
    file = folder / f"{Path(command[0]).name}.log"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder), **environment}
    with file.open("wb") as log:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    with _until_end(Program(process, file), ready, code) as program:
        yield program


@contextmanager
def _until_end(program: Program, ready: str, code: int | None) -> Iterator[Program]:
    process = program.process
    try:
        assert until(lambda: ready in program.log or process.poll() is not None), program.log
        assert process.poll() is None, program.log
        yield program
    finally:
        process.terminate()
        try:
            ended = process.wait(60)
        finally:
            with suppress(ProcessLookupError):  # whatever a shell left behind
                os.killpg(process.pid, signal.SIGKILL)
    assert code is None or ended == code, program.log


def serve_options(folder: Path, pair: tuple[Path, Path] | None = None, catalog: str | Path = EXAMPLE) -> list[str]:
    """`catalog` on a free port with the record of `GOOD`, over TLS with `pair`, else plain."""
    record = folder / "credentials.json"
    write_record(record, make_record("platform", "right", rounds=1000))
    way = ["--tls-cert", str(pair[0]), "--tls-key", str(pair[1])] if pair else ["--insecure-http"]
    return [str(catalog), "--credentials", str(record), "--port", "0", *way]


@contextmanager
def serving(folder: Path, *options: str, clock: Path | None = None) -> Iterator[Program]:
    """`osbctl serve` with these options, ready to answer; a fork, since its start is not the subject.

    `clock` is a file that says how many seconds its clock is ahead.
    """
    file = folder / "serve.log"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder), "CLOCK": str(clock)}
    module = "tests.deploy.moved_clock" if clock else "osbctl.__main__"
    with file.open("wb") as log:
        process = Fork(module, ["serve", *options], (log.fileno(), log.fileno()), environment=env)
    with _until_end(Program(process, file), "credentials: ", 0) as program:
        yield program


def ask(
    port: int, trust: ssl.SSLContext | None, method: str = "GET", path: str = "/v2/catalog", **changes: str | None
) -> tuple[int, dict[str, str], bytes]:
    """One request over TLS (plain without `trust`); a header that is None is left out."""
    headers = {**GOOD, **{name.replace("_", "-"): value for name, value in changes.items()}}
    if trust:
        connection = http.client.HTTPSConnection("localhost", port, timeout=60, context=trust)
    else:
        connection = http.client.HTTPConnection("localhost", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()
