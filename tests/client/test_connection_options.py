"""TLS, proxies and addresses: what is sent, to whom, and what is said where it goes wrong."""

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from osbctl.client.catalog_client import error_description, fetch_catalog, is_same_origin
from osbctl.client.connection_options import ConnectionOptions, basic_auth, check_options, find_proxy, redact_query
from osbctl.client.http_client import HttpClient
from osbctl.conformance.check import check_broker
from osbctl.errors import SourceError
from tests.broker.conftest import authority as authority
from tests.broker.harness import Authority, encrypted
from tests.cli.program import at_controlling_terminal, osbctl
from tests.client.test_catalog_client import broker, listening
from tests.conformance.faulty import PASSWORD, USER, faulty

OPTIONS = ConnectionOptions(user=USER, password=PASSWORD, connect_seconds=3, total_seconds=5)
HOST = "broker.test"


def server_side(pair: tuple[Path, Path]) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*pair)
    return made


def pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def proxy(port: int, refusal: bytes = b"") -> Iterator[tuple[str, list[bytes]]]:
    """A proxy whose tunnels all end at `port` of this machine, and the requests that it saw."""
    seen: list[bytes] = []

    def tunnel(client: socket.socket) -> None:
        with client:
            head = b""
            while not head.endswith(b"\r\n\r\n") and (piece := client.recv(65_536)):
                head += piece
            seen.append(head)
            if refusal:
                client.sendall(refusal)
                return
            with socket.create_connection(("127.0.0.1", port)) as target:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=pump, args=(target, client), daemon=True)
                back.start()
                pump(client, target)
                back.join(60)

    with listening(tunnel) as at:
        yield f"127.0.0.1:{at}", seen


def test_a_proxy_sees_a_tunnel_and_no_credentials(authority: Authority) -> None:
    pair = authority.issue("proxied", dns=HOST)
    with faulty("", server_side(pair)) as (address, _), proxy(urlsplit(address).port or 0) as (at, seen):
        options = replace(OPTIONS, ca_file=str(authority.cert), proxies={"https": f"http://me:p%40ss@{at}"})
        assert b'"services"' in fetch_catalog(f"https://{HOST}/v2/catalog", options).body
        checked = check_broker(f"https://{HOST}/v2/catalog", options, probe_seconds=3)
    assert checked.findings == ()
    assert len(seen) > 10, "probes go through it, too"
    assert all(head.startswith(f"CONNECT {HOST}:443 HTTP/1.".encode()) for head in seen)
    assert all(basic_auth("me", "p@ss").encode() in head for head in seen)
    assert not any(basic_auth(USER, PASSWORD).encode() in head for head in seen)


def test_what_a_proxy_may_do_wrong() -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with proxy(1, refusal) as (at, _), pytest.raises(SourceError) as caught:
        fetch_catalog(f"https://{HOST}/v2/catalog", replace(OPTIONS, proxies={"all": f"http://me:hunter2hunter2@{at}"}))
    assert f"the proxy {at} makes no connection: " in caught.value.message
    assert "407" in caught.value.message
    assert "NO_PROXY" in caught.value.advice
    address = f"https://{HOST}/v2/catalog"
    # What ends before there is a tunnel is not the broker's fault: no platform is said to refuse it.
    with proxy(1, b"no\r\n\r\n") as (at, _), pytest.raises(SourceError, match=f"{at} makes no .*not proper HTTP: no"):
        check_broker(address, replace(OPTIONS, proxies={"all": at}))
    with (
        broker(None) as (silent, _),
        pytest.raises(SourceError, match="makes no connection: it did not answer in time"),
    ):
        check_broker(address, replace(OPTIONS, total_seconds=0.5, proxies={"all": f"http://{urlsplit(silent).netloc}"}))
    with pytest.raises(SourceError, match=r"the proxy 127\.0\.0\.1:9 cannot be reached: the connection was refused"):
        fetch_catalog(f"https://{HOST}/v2/catalog", replace(OPTIONS, proxies={"https": "127.0.0.1:9"}))


B = "https://b.example.com"
DIRECT = [
    *((exempt, B) for exempt in ("*", "other.com, example.com", "other.com,example.com", ".example.com")),
    *((exempt, B) for exempt in ("*.example.com", "B.EXAMPLE.COM", "b.example.com:443")),
    *(("b.example.com:8443", f"{B}:8443"), ("b.example.com:80", "http://b.example.com")),
    *((exempt, "https://10.1.2.3") for exempt in ("10.0.0.0/8", "10.9.9.9/8", "10.1.2.3")),
    *(("fd00::/8", "https://[fd00::1]:8443"), ("", "https://localhost:8443"), ("", "https://[::1]")),
    *((exempt, "https://[fd00::1]:8443") for exempt in ("[fd00::1]", "[fd00:0::1]:8443", "fd00::1", "[fd00::/8]:8443")),
    *(("[fd00::1]:443", "https://[fd00::1]"), ("10.0.0.0/8:8443", "https://10.1.2.3:8443")),
]
PROXIED = [
    *((exempt, B) for exempt in ("", "ample.com", "b.example.com:8443", "::1")),
    *(("10.0.0.0/8", "https://11.1.2.3"), ("b.example.com:443", "http://b.example.com")),
    *((exempt, "https://[fd00::1]:8443") for exempt in ("[fd00::1]:443", "[fd00::2]", "[fd00::2]:8443", "[", "[]:1")),
]


@pytest.mark.parametrize(("exempt", "address"), [*DIRECT, *PROXIED])
def test_no_proxy(exempt: str, address: str) -> None:
    found = find_proxy(address, {"https": "proxy:3128", "http": "proxy:3128", "no": exempt})
    assert found == ("" if (exempt, address) in DIRECT else "http://proxy:3128")
    assert find_proxy(address, {"other": "proxy:3128", "no": exempt}) == ""


def test_the_environment_names_the_proxy(tmp_path: Path) -> None:
    done = osbctl("fetch", f"https://{HOST}", cwd=tmp_path, https_proxy="socks5://x")
    assert (done.returncode, done.stdout) == (3, "")
    assert "the proxy that the environment names does not begin with http:// or https://" in done.stderr


@pytest.mark.parametrize(("how", "trusted", "told", "advice"), [
    ({"days": -0.01}, "authority", "TLS failed: certificate has expired", ""),
    ({"dns": "other.example.com"}, "authority", "not valid for 'localhost'", "it is for other.example.com, 127.0.0.1"),
    ({"dns": ""}, "authority", "not valid for 'localhost'", "a common name alone (not-accepted)"),
    ({}, "", "TLS failed: unable to get local issuer certificate", "--ca-file names"),
    ({}, "another", "TLS failed: unable to get local issuer certificate", "--ca-file names"),
], ids=["expired", "name", "common name", "unknown", "another authority"])  # fmt: skip
def test_a_certificate_that_is_not_accepted(
    authority: Authority, how: dict[str, Any], trusted: str, told: str, advice: str
) -> None:
    pair = authority.issue("not-accepted", **how)
    ca_file = {"authority": str(authority.cert), "another": str(authority.issue("self")[0]), "": None}[trusted]
    with faulty("", server_side(pair)) as (address, server), pytest.raises(SourceError) as caught:
        fetch_catalog(address, replace(OPTIONS, ca_file=ca_file))
    assert told in caught.value.message
    assert advice in caught.value.advice
    assert "_ssl.c" not in caught.value.message
    assert next(server.counter) == 0, "nothing was sent"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_missing_client_certificate(authority: Authority, version: ssl.TLSVersion) -> None:
    mutual = server_side(authority.issue("tls-mutual"))
    mutual.maximum_version = version
    mutual.verify_mode = ssl.CERT_REQUIRED
    mutual.load_verify_locations(authority.cert)
    with faulty("", mutual) as (address, _), pytest.raises(SourceError) as caught:
        fetch_catalog(address, replace(OPTIONS, ca_file=str(authority.cert)))
    assert "TLS failed: the broker " in caught.value.message
    assert "--client-cert" in caught.value.advice


_FILES = "--ca-file and --client-cert are PEM files"
_PROXY = "correct HTTPS_PROXY or ALL_PROXY, or name the broker's host in NO_PROXY"
_WHAT = {"ca_file": "certificates", "client_cert": "a certificate and its key, without a passphrase"}


def refusal(address: str, **options: Any) -> tuple[str, str]:
    with pytest.raises(SourceError) as caught:
        check_options(address, ConnectionOptions(**options))
    return caught.value.message, caught.value.advice


@pytest.mark.parametrize(("address", "proxies", "told", "advice"), [
    ("http://b.test/?key=x", {}, "credentials are not sent over plain http", "use https, or --insecure"),
    ("https://b.test/?key=x", {"all": "socks5://u:hunter2@p:1"},
     "the proxy that the environment names does not begin with http:// or https://", _PROXY),
    ("https://b.test/?key=x", {"all": "http://u:hunter2@p:99999"},
     "the proxy that the environment names does not begin with http:// or https://", _PROXY),
    ("http://b.test/?key=x", {"http": "http://u:hunter2@p"},
     "the proxy could read the credentials, since plain http has no tunnel",
     "use https, or name the broker's host in NO_PROXY"),
])  # fmt: skip
def test_ways_are_refused_beforehand(address: str, proxies: dict[str, str], told: str, advice: str) -> None:
    shown = address.replace("key=x", "***")  # and the password of a proxy is not shown
    assert refusal(address, proxies=proxies, insecure=bool(proxies)) == (f"{shown}: {told}", advice)


@pytest.mark.parametrize("option", _WHAT)
def test_files_are_refused_before_anything_is_sent(authority: Authority, tmp_path: Path, option: str) -> None:
    file = tmp_path / "some.pem"
    assert refusal("https://b.test", **{option: str(file)}) == (
        f"{file}: cannot be read: No such file or directory", _FILES,
    )  # fmt: skip
    empty = b"-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n"
    contents = [b"", b"-----BEGIN nothing", b"\xff", empty]
    if option == "client_cert":
        cert, key = authority.issue("locked-too")
        contents += [cert.read_bytes(), cert.read_bytes() + encrypted(key)]
    for content in contents:
        file.write_bytes(content)
        told = f"{file}: this is not a PEM file with {_WHAT[option]}"
        assert refusal("https://b.test", **{option: str(file)}) == (told, _FILES)


def test_what_is_right_passes(authority: Authority, tmp_path: Path) -> None:
    cert, key = authority.issue("unlocked")
    both = tmp_path / "both.pem"
    both.write_bytes(cert.read_bytes() + key.read_bytes())
    for proxy in ("http://p:1", "https://p", "p:3128"):
        files = {"ca_file": str(authority.cert), "client_cert": str(both)}
        check_options("https://b.test", ConnectionOptions(proxies={"https": proxy}, **files))


def test_credentials_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(SourceError) as caught:
        check_broker("http://127.0.0.1:1/v2/catalog", replace(OPTIONS, user="a\udcff"))
    assert caught.value.message == "the user or the password is not UTF-8 text"


def test_a_key_with_a_passphrase_is_refused_and_nothing_is_asked(authority: Authority, tmp_path: Path) -> None:
    cert, key = authority.issue("locked")
    both = tmp_path / "locked.pem"
    both.write_bytes(cert.read_bytes() + encrypted(key))
    _, said = at_controlling_terminal("fetch", "https://127.0.0.1:9", "--client-cert", str(both))
    assert b"a certificate and its key, without a passphrase" in said
    assert b"pass phrase" not in said


def test_where_credentials_may_follow() -> None:
    one, same = "https://b/v2/catalog", "https://b/elsewhere"
    others = ["http://b/v2/catalog", "https://b:8443/v2/catalog", "https://c/v2/catalog", "https://b@c/v2/catalog"]
    assert [other for other in (same, *others) if is_same_origin(one, other)] == [same]
    assert not is_same_origin("http://b/v2/catalog", one)
    for written, is_same in (
        ("https://b:443/x", True),
        ("https://B/x", True),
        ("https://u@b/x", False),
        ("https://b:x/", False),
    ):
        assert is_same_origin(one, written) is is_same, written


def test_a_redirect_is_followed_on_the_same_host() -> None:
    with faulty("redirects") as (address, server):
        assert fetch_catalog(address, OPTIONS)
        assert server.asked == 2


def test_addresses_as_they_are_shown() -> None:
    assert redact_query("https://b/v2/catalog") == "https://b/v2/catalog"
    assert redact_query("https://b/v2/catalog?a=1&b") == "https://b/v2/catalog?***"
    long, short = replace(OPTIONS, password="s3cret-8"), replace(OPTIONS, password="s3cret7")
    assert long.redact_address("https://b/s3cret-8?a") == "https://b/***?***"
    assert short.redact_address("https://b/s3cret7?a") == "https://b/s3cret7?***", "it may be there by chance"
    assert (long.holds_password("a s3cret-8"), short.holds_password("a s3cret7")) == (True, False)


def test_plain_http_stays_on_this_machine() -> None:
    for host in ("localhost", "127.0.0.1", "[::1]"):
        check_options(f"http://{host}:8080/v2/catalog", OPTIONS)
    with pytest.raises(SourceError, match="plain http"):
        check_options("http://localhost.example.com/v2/catalog", OPTIONS)
    check_options("http://localhost.example.com/v2/catalog", replace(OPTIONS, insecure=True))


def test_a_password_is_hidden_as_it_is_and_as_it_is_sent() -> None:
    sent = basic_auth(USER, PASSWORD).removeprefix("Basic ")
    assert OPTIONS.redact_credentials(f"a {PASSWORD} b {sent} c") == "a *** b *** c"
    assert replace(OPTIONS, password="").redact_credentials("a b") == "a b"
    assert PASSWORD not in repr(OPTIONS)
    assert "secret" not in repr(replace(OPTIONS, proxies={"https": "http://u:secret@p"}))
    assert basic_auth("ü", "p:w") == "Basic w7w6cDp3"  # RFC 7617, 2


def test_a_description_that_contains_a_short_password_is_left_out() -> None:
    body = json.dumps({"description": "The password is wrong."}).encode()
    assert error_description(body, replace(OPTIONS, password="wrong")) == ""
    assert error_description(body, replace(OPTIONS, password="another")) == ": The password is wrong."


@pytest.mark.parametrize("before", range(296, 300))
def test_no_part_of_a_password_is_left_where_a_description_is_cut(before: int) -> None:
    body = json.dumps({"description": "." * before + PASSWORD}).encode()
    assert error_description(body, OPTIONS) == ": " + "." * before + "***"[: 300 - before]


def test_plain_http_is_told_and_tls_is_not(authority: Authority) -> None:
    options = replace(OPTIONS, ca_file=str(authority.cert))
    with faulty() as (address, _):
        assert {one.rule for one in check_broker(address, options, probe_seconds=3).findings} == {"wire-plain-http"}
    with faulty("", server_side(authority.issue("told"))) as (address, _):
        assert check_broker(address, options, probe_seconds=3).findings == ()


def test_an_end_in_time_leaves_no_thread_behind() -> None:
    before = set(threading.enumerate())
    with HttpClient("http://127.0.0.1:1/", replace(OPTIONS, total_seconds=3600)):
        (clock,) = set(threading.enumerate()) - before
        assert clock.daemon, "nobody waits for it where the process ends"
    clock.join(60)
    assert not clock.is_alive()


def test_the_end_of_a_line_closes_its_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with HttpClient(address, OPTIONS) as client:
            with socket.create_connection(listener.getsockname()) as sock:
                client.cut_at_deadline(sock)
            peer, _ = listener.accept()
        with peer:
            peer.settimeout(60)
            assert peer.recv(1) == b""
