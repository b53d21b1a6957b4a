"""Icons: what is a picture, what is fetched and from where, and what stands in place of one."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from osbctl.catalog import Catalog
from osbctl.pages.pictures import MAX_BYTES, as_data_url, from_data_url, monogram
from osbctl.tasks import icons
from osbctl.tasks.icons import fetch_icons

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'
ANSWERS: dict[str, tuple[int, bytes, dict[str, str]]] = {
    "/good.png": (200, PNG, {"Content-Type": "text/html"}),
    "/good.svg": (200, SVG, {}),
    "/page": (200, b"<html></html>", {"Content-Type": "image/png"}),
    "/large": (200, PNG + b"x" * MAX_BYTES, {}),
    "/gone": (404, PNG, {}),
    "/away": (302, b"", {"Location": "/good.png"}),
    "/round": (302, b"", {"Location": "/round"}),
    "/file": (302, b"", {"Location": "file:///etc/passwd"}),
}


@pytest.fixture
def site() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, headers = ANSWERS[self.path]
            self.send_response(status)
            for name, value in (*headers.items(), ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def catalog(*urls: str) -> Catalog:
    return Catalog.of({"services": [{"metadata": {"imageUrl": url}} for url in urls]})


def test_pictures_come_into_the_page(site: str) -> None:
    urls = [f"{site}/good.png", f"{site}/good.svg", f"{site}/away"]
    found = fetch_icons([catalog(*urls)], private=True)
    assert found.problems == []
    assert list(found.pictures) == urls
    assert found.pictures[urls[0]] == found.pictures[urls[2]] == as_data_url(PNG)
    assert found.pictures[urls[1]].startswith("data:image/svg+xml;base64,")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/page", "not an image"),
        ("/large", "larger than"),
        ("/gone", "status 404"),
        ("/round", "redirects"),
        ("/file", "not a web address"),
    ],
)
def test_what_is_no_picture_stays_out(site: str, path: str, told: str) -> None:
    found = fetch_icons([catalog(site + path)], private=True)
    assert found.pictures == {}
    assert told in found.problems[0]


def test_private_addresses_are_not_asked(site: str) -> None:
    found = fetch_icons(
        [catalog(f"{site}/good.png", site.replace("127.0.0.1", "localhost") + "/good.png")], private=False
    )
    assert found.pictures == {}
    assert len(found.problems) == 2
    assert all("private address" in problem for problem in found.problems)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "https://me:pw@img.example/x", "x.png"])
def test_only_the_web_is_asked(url: str) -> None:
    assert fetch_icons([catalog(url)], private=True) == ({}, [])


def test_all_icons_together_are_bounded(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icons, "ALL_BYTES", 10)
    found = fetch_icons([catalog(f"{site}/good.png")], private=True)
    assert found.pictures == {}
    assert "some are left out" in found.problems[-1]


@pytest.mark.parametrize("data", [PNG, SVG, b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF1234WEBP", b"<!-- x -->\n<svg >"])
def test_pictures_are_known_by_their_first_bytes(data: bytes) -> None:
    assert from_data_url(f"data:image/png;base64,{b64encode(data).decode()}") == as_data_url(data) != ""


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,%%%",
        "data:text/html;base64," + b64encode(PNG).decode(),
        "data:image/svg+xml,<html><svg>",
        "data:image/png;base64," + b64encode(b"<html>").decode(),
        "data:image/png",
        "https://img.example/x.png",
        None,
    ],
)
def test_what_is_no_picture_gets_a_monogram(url: Any) -> None:
    assert from_data_url(url) == ""


def test_a_picture_has_its_largest_size() -> None:
    assert as_data_url(PNG.ljust(MAX_BYTES)) != ""
    assert as_data_url(PNG.ljust(MAX_BYTES + 1)) == ""


@pytest.mark.parametrize(
    ("name", "letters"), [("Object Storage", "OS"), ("redis", "RE"), ("", "?"), ("--", "?"), ("ß x", "SS")]
)
def test_monograms(name: str, letters: str) -> None:
    assert monogram(name).letters == letters
