"""`osbctl page`: its sources, what they are compared with, and wrong words."""

import gzip
import json
import re
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from osbctl.client.connection_options import is_internal_address
from osbctl.commands.page import _earlier_catalog_name
from osbctl.sources.yaml_text import dump
from tests.case import each
from tests.cli.program import failure, osbctl
from tests.comparison.make import catalog, plan, service
from tests.folders import catalogs_folder
from tests.git import commit, git
from tests.sources.folder.brokerpaks import DATABASE, brokerpak

GOOD = catalogs_folder() / "data-services.yaml"


def page(folder: Path, *words: str) -> str:
    return osbctl("page", *words, cwd=folder, code=0).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(GOOD.read_text())
    commit(tmp_path)
    (tmp_path / "a.yaml").write_text(GOOD.read_text().replace("A relational database", "One more database"))
    return tmp_path


def test_each_service_names_its_broker_and_a_revision_is_for_all_sources(repository: Path) -> None:
    words = ("a.yaml", "b.yaml", "--since", "main", "--date", "2026-11-02", "-o", "out.html")
    assert failure("page", *words, cwd=repository, code=0) == ""
    html = (repository / "out.html").read_text()
    for shown in ("from a</span>", "from b</span>", "Since main.", '<time datetime="2026-11-02">'):
        assert shown in html
    assert html.count('class="badge changed"') == 1


def test_branding_comes_from_the_configuration(repository: Path) -> None:
    (repository / "l.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (repository / "osbctl.toml").write_text('[page]\ntitle = "House"\nlogo = "l.svg"\naccent = "#112233"\n')
    html = page(repository, "a.yaml")
    assert "<title>House</title>" in html
    assert 'class="logo" src="data:image/svg+xml;base64,' in html
    assert "<title>Other</title>" in page(repository, "a.yaml", "--title", "Other")
    for text, file in (
        ('[page]\naccent = "red"', "osbctl.toml"),
        ('extends = "b.toml"\n[page]\ntitle = "x"', "b.toml"),
    ):
        (repository / "b.toml").write_text('[page]\naccent = "red"')
        (repository / "osbctl.toml").write_text(text)
        wrong = failure("page", "a.yaml", cwd=repository, code=3)
        assert f"{file}: page: accent: 'red' is not a colour" in wrong and "--accent" not in wrong
        assert "#0a7" in page(repository, "a.yaml", "--accent", "#0a7")


def test_the_date_of_the_commit(repository: Path) -> None:
    date = subprocess.check_output(["git", "log", "-1", "--format=%cs"], cwd=repository, text=True).strip()
    assert f'<time datetime="{date}">' in page(repository, "a.yaml", "--date", "commit")
    signed = repository / "signed"
    signed.write_text(git(repository, "cat-file", "commit", "HEAD").replace("\n\n", "\ngpgsig x\n\n", 1))
    git(repository, "update-ref", "HEAD", git(repository, "hash-object", "-t", "commit", "-w", "signed"))
    git(repository, "config", "log.showSignature", "true")
    assert f'<time datetime="{date}">' in page(repository, "a.yaml", "--date", "commit")


@each("words, code, told", [
    (["a.yaml", "--accent", "red"], 2, "is not a colour"),
    (["a.yaml", "--date", "yesterday"], 2, "is not a date"),
    (["a.yaml", "--date", "2026-11-22T24:00:00Z"], 2, "is not a date"),
    (["a.yaml", "b.yaml", "--since", "a.yaml"], 2, "--since needs"),
    (["a.yaml", "--logo", "a.yaml"], 3, "not an image"),
    (["a.yaml", "--since", "nowhere"], 3, "no revision nowhere"),
    (["-", "-"], 2, "only once"),
    (["gone.yaml"], 3, "no such file"),
])  # fmt: skip
def test_wrong_options_are_errors_and_leave_no_file(repository: Path, words: list[str], code: int, told: str) -> None:
    assert told in failure("page", *words, "-o", "out.html", cwd=repository, code=code)
    assert not (repository / "out.html").exists()


def test_names_are_no_commands_of_ci_systems(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"##[error]k": {"type": "string"}}}
    schemas = {"service_instance": {"create": {"parameters": schema}}}
    named = catalog(service("s", "##[group]", plan("p", "##[plan]", schemas=schemas), description="##vso[x]"))
    (tmp_path / "c.json").write_text(json.dumps(named))
    html = page(tmp_path, "c.json")
    assert "[error]k" in html
    assert not re.search(r"##\w*\[", html)


def test_a_page_names_no_folder_and_no_password(tmp_path: Path) -> None:
    sources = []
    for folder in ("one", "two", "old"):
        (tmp_path / folder).mkdir()
        source = tmp_path / folder / "catalog.yaml"
        source.write_text(GOOD.read_text())
        sources.append(str(source))
    done = osbctl("page", *sources[:2], "--since", sources[2], "--since", sources[2], "--findings")
    assert done.stderr == ""
    assert "from one/catalog.yaml</span>" in done.stdout
    assert "from two/catalog.yaml</span>" in done.stdout
    assert "Since catalog.yaml, catalog.yaml." in done.stdout
    assert str(tmp_path) not in done.stdout
    assert _earlier_catalog_name("https://me:hunter2@broker.example/?key=x") == "https://broker.example/v2/catalog?***"
    Path(sources[0]).write_text(dump(catalog(service("a", "b"))))
    shown = osbctl("page", sources[0], "--findings").stdout
    assert "catalog.yaml:2:3" in shown
    assert str(tmp_path) not in shown
    pak = brokerpak(tmp_path / "one" / "pak", database=DATABASE.replace("logo.png", "none.png"))
    shown = osbctl("page", str(pak), "--findings").stdout
    assert "pak/images/none.png: there is no such file" in shown
    assert str(tmp_path) not in shown


def test_changes_are_those_of_the_chosen_platforms(tmp_path: Path) -> None:
    for name, free in (("old.json", True), ("new.json", False)):
        (tmp_path / name).write_text(json.dumps(catalog(service("s", "db", plan("p", "small", free=free)))))
    for platform, shown in (("korifi", "Korifi: "), ("kubernetes", "Kubernetes Service Catalog: ")):
        html = page(tmp_path, "new.json", "--since", "old.json", "-p", platform)
        assert re.findall(r'<p class="muted">([^<]*: )[^<]*</p>', html) == [shown]


def test_a_long_text_is_cut_with_a_note(tmp_path: Path) -> None:
    for length, note in (20_000, ""), (20_001, " … (20,001 characters)"):
        (tmp_path / "c.json").write_text(json.dumps(catalog(service("s", "a", description="x" * length))))
        shown = page(tmp_path, "c.json")
        assert f"{'x' * 20_000}{note}<" in shown, length
        assert "x" * 20_001 not in shown, length


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


EMBED = ("--embed-images", "--internal-images")
"""The host of these tests is on loopback."""


class Images(BaseHTTPRequestHandler):
    """Answers with images, well or badly meant."""

    server: "ImageHost"

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        path = self.path.partition("?")[0]
        to = {"/moved.png": "/ok.png", "/loop": "/loop", "/metadata": "http://localhost:1/x",
              "/file": "file:///etc/passwd"}  # fmt: skip
        body = {"/ok.png": PNG, "/ok.svg": SVG, "/script.svg": SVG.replace(b"/>", b"><script/></svg>"),
                "/page.png": b"<html><script>alert(1)</script>", "/large.png": PNG.ljust(200_001), "/zip.png": PNG,
                "/bomb.png": PNG.ljust(5_000_000), "/slow.png": PNG}.get(path)  # fmt: skip
        self.send_response(302 if path in to else 200 if body else 404)
        if path in to:
            self.send_header("Location", to[path])
        self.send_header("Content-Type", "text/html" if path == "/ok.png" else "image/png")
        if path in ("/zip.png", "/bomb.png"):
            self.send_header("Content-Encoding", "gzip")
            body = gzip.compress(body or b"")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if path == "/slow.png":
            self.server.stop.wait(30)
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


class ImageHost(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Images)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.connections = 0
        self.stop = threading.Event()

    def verify_request(self, *_: object) -> bool:
        self.connections += 1
        return True

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that left."""


@pytest.fixture
def images() -> Iterator[ImageHost]:
    server = ImageHost()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.stop.set()
    server.shutdown()
    thread.join()
    server.server_close()


def write_catalog(folder: Path, *addresses: str) -> None:
    services = [
        service(f"s-{n}", f"db-{n}", plan(f"p-{n}", "small"), metadata={"imageUrl": address})
        for n, address in enumerate(addresses)
    ]
    (folder / "c.json").write_text(json.dumps(catalog(*services)))


def pictures(html: str) -> list[str]:
    """For each service its image, or its initials."""
    return re.findall(r'<img class="icon" src="([^"]*)"|<span class="icon mono [^>]*>(\w+)</span>', html)


def embedded(data: bytes, kind: str = "png") -> tuple[str, str]:
    return f"data:image/{kind};base64,{b64encode(data).decode()}", ""


def test_images_are_fetched_on_request_alone(tmp_path: Path, images: ImageHost) -> None:
    host = f"http://127.0.0.1:{images.server_port}"
    write_catalog(
        tmp_path, f"{host}/ok.png", f"{host}/ok.png", f"{host}/ok.svg", f"{host}/moved.png", f"{host}/zip.png"
    )
    assert [image for image, _ in pictures(page(tmp_path, "c.json"))] == [""] * 5
    assert images.asked == []
    done = osbctl("page", "c.json", *EMBED, cwd=tmp_path, code=0)
    assert done.stderr == ""
    png = embedded(PNG)
    assert pictures(done.stdout) == [png, png, embedded(SVG, "svg+xml"), png, png]
    asked = images.asked
    assert sorted(path for path, _ in asked) == ["/moved.png", "/ok.png", "/ok.png", "/ok.svg", "/zip.png"], "once each"
    for _, headers in asked:
        assert headers.keys() <= {"Host", "Accept", "User-Agent", "Accept-Encoding"}
    assert host not in done.stdout


def test_what_is_no_image_within_the_limits_becomes_initials(tmp_path: Path, images: ImageHost) -> None:
    host = f"http://127.0.0.1:{images.server_port}"
    limits = {
        "/none.png?key=hunter2": "status 404",
        "/page.png": "not an image that a page can show",
        "/script.svg": "not an image that a page can show",
        "/large.png": "larger than 200,000 bytes",
        "/bomb.png": "larger than 200,000 bytes",
        "/loop": "more than 5 redirects",
        "/metadata": "redirects to another place, http://localhost:1",
        "/file": "redirects to something that is not an address",
        "/slow.png": "not complete in time",
    }
    for path, told in limits.items():
        write_catalog(tmp_path, host + path)
        seconds = "0.5" if path == "/slow.png" else "60"
        done = osbctl("page", "c.json", *EMBED, "--timeout", seconds, cwd=tmp_path, code=0)
        assert pictures(done.stdout) == [("", "D0")], path
        assert told in done.stderr, path
        assert f"{host}{path.partition('?')[0]}" in done.stderr
        assert "hunter2" not in done.stderr
    assert not [path for path, _ in images.asked if path == "/x"]


def test_the_time_is_for_all_images_together(tmp_path: Path, images: ImageHost) -> None:
    host = f"http://127.0.0.1:{images.server_port}"
    write_catalog(tmp_path, *(f"{host}/slow.png?{n}" for n in range(20)))
    done = osbctl("page", "c.json", *EMBED, "--timeout", "0.5", cwd=tmp_path, code=0)
    assert done.stderr.count("not complete in time") < 3
    assert "more images are not fetched: --timeout is for all" in done.stderr
    assert len(images.asked) < 3


def test_addresses_that_are_not_of_the_web_are_not_asked(tmp_path: Path, images: ImageHost) -> None:
    with_password = f"http://me:pw@127.0.0.1:{images.server_port}/ok.png"
    write_catalog(tmp_path, "file:///etc/passwd", "ftp://127.0.0.1/x", with_password, "//x/y.png")
    done = osbctl("page", "c.json", *EMBED, cwd=tmp_path, code=0)
    assert [image for image, _ in pictures(done.stdout)] == [""] * 4
    assert images.asked == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "0.0.0.0", "[::1]"]
)
def test_internal_addresses_are_not_asked(tmp_path: Path, images: ImageHost, host: str) -> None:
    write_catalog(tmp_path, f"http://{host}:{images.server_port}/ok.png")
    done = osbctl("page", "c.json", "--embed-images", cwd=tmp_path, code=0)
    assert pictures(done.stdout) == [("", "D0")]
    assert "not asked, its address " in done.stderr
    assert images.connections == 0


def test_a_name_whose_address_becomes_internal_is_not_asked(
    tmp_path: Path, images: ImageHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: the check of the name saw a public address, and the connection goes elsewhere."""
    write_catalog(tmp_path, f"http://127.0.0.1:{images.server_port}/ok.png")
    monkeypatch.setattr("osbctl.client.http_client.HttpClient.check_host", lambda _: None)
    done = osbctl("page", "c.json", "--embed-images", cwd=tmp_path, code=0)
    assert "not asked, its address 127.0.0.1 is internal" in done.stderr
    assert (pictures(done.stdout), images.asked) == ([("", "D0")], [])


@pytest.mark.parametrize(
    ("address", "is_internal"),
    [
        ("169.254.169.254", True), ("10.1.2.3", True), ("172.16.0.1", True), ("192.168.0.1", True), ("100.64.0.1", True),
        ("fe80::1%eth0", True), ("fd00::1", True), ("::", True), ("8.8.8.8", False), ("172.32.0.1", False),
        ("2606:4700::1111", False),
    ],
)  # fmt: skip
def test_which_addresses_are_internal(address: str, is_internal: bool) -> None:
    assert is_internal_address(address) is is_internal


def test_images_of_a_folder_have_the_names_of_services(tmp_path: Path, images: ImageHost) -> None:
    write_catalog(tmp_path, f"http://127.0.0.1:{images.server_port}/ok.svg", "", "")
    folder = tmp_path / "logos"
    folder.mkdir()
    (folder / "db-0.png").write_bytes(PNG)
    (folder / "db-1.svg").write_bytes(SVG)
    (folder / "notes.txt").write_text("not an image, and not of a service")
    html = page(tmp_path, "c.json", "--images", "logos", *EMBED)
    assert pictures(html) == [embedded(PNG), embedded(SVG, "svg+xml"), ("", "D2")]
    assert images.asked == [], "the image of the folder is taken"
    assert "is an input" in failure("page", "c.json", "--images", "logos", "-o", "logos/db-0.png", cwd=tmp_path, code=2)
    (folder / "db-0.svg").write_bytes(SVG)
    assert "has the same name" in failure("page", "c.json", "--images", "logos", cwd=tmp_path, code=3)
    (folder / "db-0.svg").unlink()
    (folder / "db-0.png").write_text("<html>")
    assert "not an image" in failure("page", "c.json", "--images", "logos", cwd=tmp_path, code=3)
    assert "cannot be opened" in failure("page", "c.json", "--images", "none", cwd=tmp_path, code=3)


def test_options_of_images_without_a_use(tmp_path: Path) -> None:
    write_catalog(tmp_path, "")
    assert "no source is an address" in failure("page", "c.json", "--timeout", "5", cwd=tmp_path, code=2)
    assert "not the address of a broker" in failure("page", "http://[::1/x", cwd=tmp_path, code=2)
    assert "add --embed-images" in failure("page", "c.json", "--internal-images", cwd=tmp_path, code=2)
    words = ("page", "c.json", "--embed-images", "--user", "me")
    assert "no source is an address" in failure(*words, cwd=tmp_path, code=2)


def test_findings_keep_a_value_that_has_the_name_of_the_folder(tmp_path: Path) -> None:
    values = ["docs/v2/a.html", "v2/a.html", "v2/catalog.json", "x/v2/catalog.json"]
    (tmp_path / "v2").mkdir()
    offered = [
        service(f"s{n}", f"s{n}", plan(f"p{n}", "p"), metadata={"documentationUrl": value})
        for n, value in enumerate(values)
    ]
    (tmp_path / "v2" / "catalog.json").write_text(json.dumps(catalog(*offered)))
    html = page(tmp_path, "v2/catalog.json", "--findings")
    for value in values:
        assert f"is &#39;{value}&#39;, not an absolute URL" in html
    assert ">catalog.json:1:" in html
    assert ">v2/catalog.json:" not in html


def test_the_audience(tmp_path: Path) -> None:
    write_catalog(tmp_path, "")
    assert "cf create-service" not in page(tmp_path, "c.json")
    for words in (("--audience", "operator"), ("--platform", "cloudfoundry")):
        assert "cf create-service" in page(tmp_path, "c.json", *words)
    assert "kubectl" not in page(tmp_path, "c.json", "--platform", "cloudfoundry")
