"""A known password, its hash and its header must not appear in any output of a broker."""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from base64 import b64encode
from pathlib import Path

from osbctl.credentials.file import write_record
from osbctl.credentials.record import make_record
from tests.broker.harness import until

ROOT = Path(__file__).parents[2]
PASSWORD = "kn0wn-S3cret-p4ssw0rd"


def basic(password: str) -> str:
    return b64encode(f"platform:{password}".encode()).decode()


def test_secrets_do_not_appear_in_any_output(tmp_path: Path, pair: tuple[Path, Path], trust: ssl.SSLContext) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    record = make_record("platform", PASSWORD, rounds=1000, label="spring")
    file = tmp_path / "credentials.json"
    write_record(file, record)
    log, access = tmp_path / "stderr", tmp_path / "stdout"
    command = [sys.executable, "-m", "osbctl", "serve", "catalogs/interface-example.json", "--credentials", str(file)]
    command += ["--tls-cert", str(pair[0]), "--tls-key", str(pair[1]), "--port", "0", "--admin-listen", "127.0.0.1:0"]
    command += ["--log-format", "json", "--log-level", "debug"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with log.open("wb") as errors, access.open("wb") as output:
        broker = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=errors, env=environment)
    seen = b""
    try:
        assert until(lambda: "credentials:" in log.read_text(), 20), log.read_text()
        port, admin = (
            int(re.findall(what + r" on https?://[^\s\"]+:(\d+)", log.read_text())[0])
            for what in ("listening", "admin")
        )

        def send(text: str) -> bytes:
            raw = socket.create_connection(("127.0.0.1", port), timeout=10)
            with trust.wrap_socket(raw, server_hostname="localhost") as connection:
                connection.sendall(text.encode())
                return connection.recv(65_536)

        for number in range(30):
            password = PASSWORD if number % 3 == 0 else PASSWORD + str(number)
            version = "" if number % 2 else "X-Broker-API-Version: 2.14\r\n"
            head = f"Host: x\r\nAuthorization: Basic {basic(password)}\r\n{version}"
            path = ("/v2/catalog", f"/v2/catalog?{PASSWORD}", f"https://platform:{PASSWORD}@x/v2/catalog")[number % 3]
            seen += send(f"GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n").partition(b"\r\n\r\n")[2]
            if number % 10 == 0:
                seen += send(f"GET / HTTP/1.1\r\n{head}Transfer-Encoding: x\r\n\r\n")
                broker.send_signal(signal.SIGHUP)
        file.write_text(file.read_text().replace(record.hash, PASSWORD))  # where the hash belongs, by mistake
        broker.send_signal(signal.SIGHUP)
        assert until(lambda: "credentials" in log.read_text().split("serving")[-1], 10)
        time.sleep(0.5)
        with urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics", timeout=10) as answer:
            seen += answer.read()
        seen += subprocess.run(["ps", "-efww"], capture_output=True, check=True).stdout
    finally:
        broker.terminate()
        assert broker.wait(30) == 0
    seen += log.read_bytes() + b"".join(found.read_bytes() for found in temporary.rglob("*") if found.is_file())
    told = access.read_bytes()
    for text in (record.hash, record.salt, basic(PASSWORD), basic(PASSWORD + "1"), PASSWORD):
        assert text.encode() not in seen + told
    assert b"spring" in told
    assert PASSWORD.encode() not in told
