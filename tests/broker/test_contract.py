"""The HTTP contract of the real command over TLS, with two clients."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.broker import clients
from tests.broker.clients import CLIENTS, Ask, Broker, Response, basic, curl
from tests.broker.harness import Authority
from tests.deploy import running


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


@pytest.mark.parametrize("path", clients.PATHS)
def test_catalog_response(osb: Ask, path: str) -> None:
    clients.check_catalog(osb, path)


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
    clients.check_gzip(osb)
    assert "content-encoding" not in osb(Accept_Encoding="gzip;q=0")[1]


@pytest.mark.parametrize(("method", "path", "changes", "expected"), clients.ANSWERS)
def test_error_responses(osb: Ask, method: str, path: str, changes: dict[str, Any], expected: int) -> None:
    clients.check_answer(osb, method, path, changes, expected)


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
