"""Two HTTP clients: curl, and one like Go's net/http. And what the contract asks of answers, through any of them."""

import gzip
import http.client
import json
import ssl
import subprocess
from base64 import b64encode
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

Ask = Callable[..., Response]
"""A request with valid headers, but for those that are given: other values, or None to omit one."""


def basic(text: str) -> str:
    return "Basic " + b64encode(text.encode()).decode()


PATHS = ["/v2/catalog", "//v2/catalog", "/v2/catalog/"]
ANSWERS = [
    ("GET", "/v2/catalog", {"X-Broker-API-Version": None}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": ""}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": "3.0"}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": "two"}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": "2.99"}, 200),
    ("GET", "/v2/service_instances/1", {}, 404),
    ("DELETE", "/v2/catalog", {}, 405),
    ("GET", "/v2/catalog", {"Authorization": None}, 401),
    ("GET", "/anything", {"Authorization": None}, 401),
    ("GET", "/v2/catalog", {"Authorization": "Bearer x"}, 401),
    ("GET", "/v2/catalog", {"Authorization": "Basic ???"}, 401),
    ("GET", "/v2/catalog", {"Authorization": "Basic " + b64encode(b"\xff:x").decode()}, 401),
    ("GET", "/v2/catalog", {"Authorization": basic("nocolon")}, 401),
    ("GET", "/v2/catalog", {"Authorization": basic("platform:wrong")}, 401),
]
"""Method, path and headers of a request, and the status of the answer."""


def check_catalog(ask: Ask, path: str) -> None:
    status, headers, body = ask("GET", path, X_Broker_API_Request_Identity="id-1")
    assert status == 200
    assert json.loads(body)["services"]
    assert headers["content-type"] == "application/json"
    assert headers["x-broker-api-request-identity"] == "id-1"
    assert headers["etag"].startswith('"')
    assert "last-modified" in headers
    assert not {"content-encoding", "location"} & headers.keys()


def check_gzip(ask: Ask) -> None:
    _, plain, body = ask(Accept_Encoding="identity")
    status, headers, data = ask(Accept_Encoding="gzip")
    assert (status, headers["content-encoding"], headers["vary"]) == (200, "gzip", "Accept-Encoding")
    assert gzip.decompress(data) == body
    assert headers["etag"].startswith('"')
    assert headers["etag"] != plain["etag"]
    assert ask(Accept_Encoding="gzip", If_None_Match=headers["etag"])[0] == 304


def check_answer(ask: Ask, method: str, path: str, changes: dict[str, str | None], expected: int) -> None:
    status, headers, body = ask(method, path, **changes)
    assert status == expected
    assert headers.get("www-authenticate", "").startswith("Basic realm=") == (status == 401)
    assert headers.get("allow") == ("GET, HEAD" if status == 405 else None)
    if status != 200:
        assert all(json.loads(body)[name] for name in ("error", "description"))
