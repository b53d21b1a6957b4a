"""The HTTP contract of the real command over TLS, with two clients."""

import gzip
import json
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.broker.clients import CLIENTS, Broker, Response, curl
from tests.broker.harness import Authority
from tests.deploy import running

Ask = Callable[..., Response]


def basic(text: str) -> str:
    return "Basic " + b64encode(text.encode()).decode()


@contextmanager
def serving(folder: Path, authority: Authority, *options: str) -> Iterator[Broker]:
    words = running.serve_options(folder, authority.issue("contract"), "catalogs/data-services.yaml")
    with running.serving(folder, *words, *options) as program:
        yield Broker(program.port(), authority.cert)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("contract"), authority) as started:
        yield started


def asking(broker: Broker, client: Any) -> Ask:
    """Sends valid headers; `changes` gives other values, or None to omit one."""

    def request(method: str = "GET", path: str = "/v2/catalog", **changes: str | None) -> Response:
        named = {name.replace("_", "-"): value for name, value in changes.items()}
        return client(broker, method, path, {k: v for k, v in {**running.GOOD, **named}.items() if v is not None})

    return request


@pytest.fixture(params=CLIENTS, ids=lambda client: client.__name__)
def osb(broker: Broker, request: pytest.FixtureRequest) -> Ask:
    """Each test runs with each client."""
    if request.param is curl and not shutil.which("curl"):
        pytest.skip("curl is not installed")
    return asking(broker, request.param)


@pytest.mark.parametrize("path", ["/v2/catalog", "//v2/catalog", "/v2/catalog/"])
def test_catalog_response(osb: Ask, path: str) -> None:
    status, headers, body = osb(path=path, X_Broker_API_Request_Identity="id-1")
    assert status == 200
    assert json.loads(body)["services"]
    assert headers["content-type"] == "application/json"
    assert "content-encoding" not in headers
    assert headers["x-broker-api-request-identity"] == "id-1"
    assert headers["etag"].startswith('"')
    assert "last-modified" in headers
    assert "location" not in headers


def test_head_304_and_gzip(osb: Ask) -> None:
    _, headers, body = osb(Accept_Encoding="identity")
    head = osb("HEAD")
    assert (head[0], head[1]["content-length"], head[2]) == (200, str(len(body)), b"")
    _, own, _ = osb()
    for tag in (own["etag"], "W/" + own["etag"], f'"x", {own["etag"]}', "*"):
        status, fields, empty = osb(If_None_Match=tag)
        assert (status, fields.get("connection"), empty) == (304, None, b"")
    assert osb(If_Modified_Since=headers["last-modified"])[0] == 304
    assert osb(If_None_Match='"other"', If_Modified_Since=headers["last-modified"])[0] == 200, "the tag wins"
    status, zipped, data = osb(Accept_Encoding="gzip")
    assert (status, zipped["content-encoding"], zipped["vary"]) == (200, "gzip", "Accept-Encoding")
    assert gzip.decompress(data) == body
    assert zipped["etag"] != headers["etag"]
    assert "content-encoding" not in osb(Accept_Encoding="gzip;q=0")[1]


@pytest.mark.parametrize(("method", "path", "changes", "expected"), [
    ("GET", "/v2/catalog", {"X-Broker-API-Version": None}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": ""}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": "3.0"}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": "two"}, 412),
    ("GET", "/v2/catalog", {"X-Broker-API-Version": "2.99"}, 200),
    ("GET", "/v2/service_instances/1", {}, 404),
    ("DELETE", "/v2/catalog", {}, 405),
    ("GET", "/anything", {"Authorization": None}, 401),
    ("GET", "/v2/catalog", {"Authorization": "Bearer x"}, 401),
    ("GET", "/v2/catalog", {"Authorization": "Basic ???"}, 401),
    ("GET", "/v2/catalog", {"Authorization": "Basic " + b64encode(b"\xff:x").decode()}, 401),
    ("GET", "/v2/catalog", {"Authorization": basic("nocolon")}, 401),
])  # fmt: skip
def test_error_responses(osb: Ask, method: str, path: str, changes: dict[str, Any], expected: int) -> None:
    status, headers, body = osb(method, path, **changes)
    assert status == expected
    if status == 200:
        return
    assert all(json.loads(body)[name] for name in ("error", "description"))
    assert headers.get("allow") == ("GET, HEAD" if status == 405 else None)
    assert headers.get("www-authenticate", "").startswith("Basic realm=") == (status == 401)


def test_unknown_user_and_wrong_password_get_the_same_response(osb: Ask) -> None:
    unknown = osb(Authorization=basic("nobody:right"))
    wrong = osb(Authorization=basic("platform:wrong"))
    assert unknown[0] == wrong[0] == 401
    assert unknown[2] == wrong[2]


def test_base_path_and_status_400_for_missing_version(tmp_path: Path, authority: Authority) -> None:
    options = ("--base-path", "/one", "--missing-version-status", "400", "--minimum-version", "2.13")
    with serving(tmp_path, authority, *options) as broker:
        for client in CLIENTS:
            request = asking(broker, client)
            assert request(path="/one/v2/catalog")[0] == 200
            assert request(path="/v2/catalog")[0] == 404
            assert request(path="/one/v2/catalog", X_Broker_API_Version=None)[0] == 400
            status, _, body = request(path="/one/v2/catalog", X_Broker_API_Version="2.12")
            assert (status, "2.13" in json.loads(body)["description"]) == (412, True)
