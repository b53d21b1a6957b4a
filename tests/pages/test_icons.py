"""Icons: what is a picture, what is fetched and from where, and what stands in place of one."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import Mock

import pytest

from osbctl.catalog import Catalog
from osbctl.errors import SourceError
from osbctl.pages.pictures import MAX_BYTES, as_data_url, from_data_url, monogram
from osbctl.sources.access import Access
from osbctl.tasks import icons
from osbctl.tasks.icons import PublicLine, fetch_icons
from tests.broker.harness import Authority
from tests.cli.conftest import authority as authority

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


ASKED: list[str] = []
"""The paths that were asked for, at all servers."""


@contextmanager
def serving(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a web server of `ANSWERS`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ASKED.append(self.path)
            status, body, headers = ANSWERS[self.path]
            self.send_response(status)
            for name, value in (*headers.items(), ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://{host}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site() -> Iterator[str]:
    with serving() as address:
        yield address


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


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("::ffff:8.8.8.8", True),
        ("::ffff:10.0.0.1", False),
        ("::ffff:127.0.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.251", False),
        ("ff02::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("0.0.0.0", False),
    ],
)
def test_what_a_private_address_is(address: str, asked: bool) -> None:
    sock = Mock(**{"getpeername.return_value": (address, 443)})
    line = PublicLine("https://icons.example/a.png", Access())
    with nullcontext() if asked else pytest.raises(SourceError, match="private address"):
        line.watch(sock)
    assert sock.close.called is not asked


def test_a_server_must_be_trusted(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*authority.issue("icons"))
    with serving(tls=tls) as site:
        refused = fetch_icons([catalog(f"{site}/good.png")], private=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.cert))
        taken = fetch_icons([catalog(f"{site}/good.png")], private=True)
    assert (refused.pictures, len(refused.problems)) == ({}, 1)
    assert "certificate" in refused.problems[0]
    assert (list(taken.pictures), taken.problems) == ([f"{site}/good.png"], [])


PUBLIC = "93.184.216.34"
IN_A_NETWORK_OF_ITS_OWN = f"""
import json, subprocess
for words in ("link set lo up", "address add {PUBLIC}/32 dev lo"):
    subprocess.run(["ip", *words.split()], check=True)
from osbctl.tasks.icons import fetch_icons
from tests.pages.test_icons import ANSWERS, ASKED, catalog, serving
with serving("{PUBLIC}") as public, serving() as private:
    ANSWERS["/inside"] = (200, ANSWERS["/good.png"][1], {{}})
    ANSWERS["/into"] = (302, b"", {{"Location": f"{{private}}/inside"}})
    urls = [f"{{public}}/good.png", f"{{public}}/away", f"{{public}}/into", f"{{private}}/inside"]
    found = fetch_icons([catalog(*urls)], private=False)
print(json.dumps([sorted(url.rpartition("/")[2] for url in found.pictures), found.problems, ASKED]))
"""


def test_a_redirect_into_a_private_network_is_not_followed() -> None:
    """A public address, which a network namespace has for itself, may send to others, but not to a private one."""
    apart = ["unshare", "--map-root-user", "--net"]
    if not (shutil.which("unshare") and shutil.which("ip")) or subprocess.run([*apart, "true"], check=False).returncode:
        pytest.skip("no network namespace can be made here")
    ran = subprocess.run(
        [*apart, sys.executable, "-c", IN_A_NETWORK_OF_ITS_OWN], capture_output=True, text=True, check=True, timeout=60
    )
    pictures, problems, asked = json.loads(ran.stdout)
    assert pictures == ["away", "good.png"]
    assert [problem.rpartition(": ")[2] for problem in problems] == ["it leads to a private address"] * 2
    assert "/into" in asked
    assert "/inside" not in asked


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
