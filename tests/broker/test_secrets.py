"""A known password, its hash and its header must not appear in any output of a broker."""

import signal
import socket
import ssl
import subprocess
import time
from base64 import b64encode
from pathlib import Path

from osbctl.credentials import make_record, write_record
from tests.broker.harness import until
from tests.broker.processes import admin
from tests.deploy.running import OSBCTL, serve_options, started

PASSWORD = "kn0wn-S3cret-p4ssw0rd"


def basic(password: str) -> str:
    return b64encode(f"platform:{password}".encode()).decode()


def test_secrets_do_not_appear_in_any_output(tmp_path: Path, pair: tuple[Path, Path], trust: ssl.SSLContext) -> None:
    temporary, file = tmp_path / "tmp", tmp_path / "credentials.json"
    temporary.mkdir()
    command = [*OSBCTL, "serve", *serve_options(tmp_path, pair), "--admin-listen", "127.0.0.1:0"]
    record = make_record("platform", PASSWORD, rounds=1000, label="spring")
    write_record(file, record)
    command += ["--log-format", "json", "--log-level", "debug"]
    with started(command, tmp_path, "credentials: ", TMPDIR=str(temporary)) as broker:
        assert "serving 1 service with 2 plans" in broker.log

        def send(text: str) -> bytes:
            raw = socket.create_connection(("127.0.0.1", broker.port()), timeout=60)
            with trust.wrap_socket(raw, server_hostname="localhost") as connection:
                connection.sendall(text.encode())
                return connection.recv(65_536)

        seen = b""
        for number in range(30):
            password = PASSWORD if number % 3 == 0 else PASSWORD + str(number)
            version = "" if number % 2 else "X-Broker-API-Version: 2.14\r\n"
            head = f"Host: x\r\nAuthorization: Basic {basic(password)}\r\n{version}"
            path = ("/v2/catalog", f"/v2/catalog?{PASSWORD}", f"https://platform:{PASSWORD}@x/v2/catalog")[number % 3]
            seen += send(f"GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n").partition(b"\r\n\r\n")[2]
            if number % 10 == 0:
                seen += send(f"GET / HTTP/1.1\r\n{head}Transfer-Encoding: x\r\n\r\n")
                broker.process.send_signal(signal.SIGHUP)
        file.write_text(file.read_text().replace(record.hash, PASSWORD))  # where the hash belongs, by mistake
        broker.process.send_signal(signal.SIGHUP)
        assert until(lambda: "credentials" in broker.log.split("serving")[-1])
        time.sleep(0.5)
        seen += admin(broker.port("admin on"), "/metrics")[1]
        seen += subprocess.run(["ps", "-efww"], capture_output=True, check=True).stdout
    seen += b"".join(found.read_bytes() for found in (broker.err, *temporary.rglob("*")) if found.is_file())
    for text in (record.hash, record.salt, basic(PASSWORD), basic(PASSWORD + "1"), PASSWORD):
        assert text.encode() not in seen
    assert '"credential": "spring"' in broker.log
