"""Two HTTP clients: curl, and one like Go's net/http."""

import gzip
import http.client
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Response = tuple[int, dict[str, str], bytes]
"""Status, headers by lower-case name, body."""


@dataclass
class Broker:
    """A broker on loopback, and the authority of its certificate."""

    port: int
    ca_file: Path
    trust: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        self.trust = ssl.create_default_context(cafile=str(self.ca_file))


def curl(broker: Broker, method: str, path: str, headers: dict[str, str]) -> Response:
    """Options go to standard input, so that credentials do not appear in the list of processes."""
    lines = [
        f'url = "https://localhost:{broker.port}{path}"',
        f'cacert = "{broker.ca_file}"',
        "head" if method == "HEAD" else f'request = "{method}"',
        *(f'header = "{_escaped(f"{name}: {value}" if value else f"{name};")}"' for name, value in headers.items()),
    ]
    command = ["curl", "--silent", "--show-error", "--include", "--path-as-is", "--max-time", "10", "--config", "-"]
    done = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True, check=True)
    top, _, body = done.stdout.partition(b"\r\n\r\n")
    first, *fields = top.decode("latin-1").split("\r\n")
    found = {name.lower(): value for name, _, value in (line.partition(": ") for line in fields)}
    return int(first.split()[1]), found, body


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def go_like(broker: Broker, method: str, path: str, headers: dict[str, str]) -> Response:
    """Like net/http: requests gzip and unpacks it transparently; does not follow redirects here."""
    connection = http.client.HTTPSConnection("localhost", broker.port, timeout=60, context=broker.trust)
    unseen = method != "HEAD" and "Accept-Encoding" not in headers
    sent = {"User-Agent": "Go-http-client/1.1", **({"Accept-Encoding": "gzip"} if unseen else {}), **headers}
    try:
        connection.request(method, path, headers=sent)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    found = {name.lower(): value for name, value in response.getheaders()}
    if unseen and found.get("content-encoding") == "gzip":
        del found["content-encoding"], found["content-length"]
        body = gzip.decompress(body)
    return response.status, found, body


CLIENTS: tuple[Callable[[Broker, str, str, dict[str, str]], Response], ...] = (curl, go_like)
