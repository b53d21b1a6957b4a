"""nginx and Caddy, really run in front of a real broker: the rows of the wire contract through them."""

import json
import os
import shutil
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.broker.clients import ANSWERS, PATHS, check_answer, check_catalog, check_gzip
from tests.broker.harness import until
from tests.cli.program import osbctl
from tests.deploy.harness import CATALOG, DEPLOY
from tests.deploy.running import Program, ask, free_port, serving, started

Ask = Any


def nginx_config(folder: Path, site: str, port: int, pair: tuple[Path, Path], broker: Path) -> list[str]:
    """The shipped file inside a main configuration for a test; only addresses and paths are other ones."""
    for old, new in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("/run/osbctl/osbctl.sock", str(broker)),
        ("/etc/nginx/tls/broker.crt", str(pair[0])),
        ("/etc/nginx/tls/broker.key", str(pair[1])),
    ):
        site = site.replace(old, new)
    (folder / "site.conf").write_text(site)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    user = "user root;" if os.getuid() == 0 else ""
    # gzip on: a site must hold although the machine's nginx.conf compresses everything.
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log stderr notice; events {{}}\n"
        f"http {{ access_log off; gzip on; gzip_types *; gzip_min_length 1; {paths} include {folder}/site.conf; }}\n"
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]


def caddy_config(folder: Path, site: str, port: int, pair: tuple[Path, Path], broker: Path) -> list[str]:
    site = site.replace(
        "broker.example.com {", f"https://localhost:{port} {{\n\tbind 127.0.0.1\n\ttls {pair[0]} {pair[1]}"
    )
    site = site.replace("/run/osbctl/osbctl.sock", str(broker))
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
    (folder / "Caddyfile").write_text(options + site)
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


FRONTS: dict[str, tuple[str, Callable[..., list[str]], str]] = {
    "nginx": ("nginx/osbctl.conf", nginx_config, "start worker processes"),
    "caddy": ("caddy/Caddyfile", caddy_config, "serving initial configuration"),
}


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module", params=FRONTS)
def front(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    credentials: Path,
    pair: tuple[Path, Path],
    trust: ssl.SSLContext,
) -> Iterator[Ask]:
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    file, configure, ready = FRONTS[request.param]
    folder, port = tmp_path_factory.mktemp("front"), free_port()
    broker = folder / "osbctl.sock"
    command = configure(folder, (DEPLOY / file).read_text(), port, pair, broker)
    with ExitStack() as stack:
        options = [str(CATALOG), "--credentials", str(credentials), "--unix-socket", str(broker)]
        program: Program = stack.enter_context(serving(folder, *options))
        stack.enter_context(started(command, folder, ready, code=None, cwd=folder))
        assert until(lambda: accepts(port))

        def request_through(*arguments: str, **changes: str | None) -> Any:
            return ask(port, trust, *arguments, **changes)

        request_through.port, request_through.log = port, lambda: program.log  # type: ignore[attr-defined]
        yield request_through


@pytest.mark.parametrize("path", PATHS)
def test_the_catalog(front: Ask, path: str) -> None:
    check_catalog(front, path)
    _, headers, body = front("GET", path)
    assert headers["content-length"] == str(len(body))


def test_tags_dates_and_head(front: Ask) -> None:
    _, headers, body = front()
    for asked in ({"If_None_Match": headers["etag"]}, {"If_Modified_Since": headers["last-modified"]}):
        status, fields, empty = front(**asked)
        assert (status, fields["etag"], empty) == (304, headers["etag"], b"")
    status, fields, empty = front("HEAD")
    assert (status, fields["content-length"], empty) == (200, str(len(body)), b"")


def test_gzip_is_the_brokers_own(front: Ask) -> None:
    check_gzip(front)


@pytest.mark.parametrize(("method", "path", "changes", "expected"), ANSWERS)
def test_refusals(front: Ask, method: str, path: str, changes: dict[str, Any], expected: int) -> None:
    check_answer(front, method, path, changes, expected)


def test_the_log_names_the_client_of_the_proxy(front: Ask) -> None:
    assert front(X_Forwarded_For="6.6.6.6", X_Forwarded_Proto="http")[0] == 200
    assert until(lambda: "127.0.0.1 " in front.log())
    assert "6.6.6.6" not in front.log()


def test_osbctl_fetches_through_it(front: Ask, tmp_path: Path, authority: Any) -> None:
    words = ["fetch", f"https://localhost:{front.port}", "--user", "platform", "--ca-file", str(authority.cert)]
    assert json.loads(osbctl(*words, cwd=tmp_path, OSBCTL_PASSWORD="right", code=0).stdout) == json.loads(front()[2])
