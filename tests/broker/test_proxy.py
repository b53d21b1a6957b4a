"""Behind a proxy: HTTPS is required, the forwarded address is used, other peers are refused."""

import socket
import ssl
import time
from pathlib import Path

import pytest

from osbctl.broker.listeners import listen_unix
from osbctl.broker.proxy import ProxyRule
from osbctl.errors import UsageError
from tests.broker.harness import GET, Broker, ask, running, until
from tests.broker.processes import process

WHO = GET[:-2]


def client(broker: Broker, sock: socket.socket, request: bytes) -> str:
    """The client's address in the access log of an answered request."""
    before = len(broker.lines.entries)
    assert ask(sock, request)[0] == 200
    assert until(lambda: len(broker.lines.entries) > before)
    return broker.lines.entries[-1].client


def test_proxy_must_forward_https(trust: ssl.SSLContext) -> None:
    with running(trust, None, proxy=ProxyRule.parse(["127.0.0.1"])) as broker:
        for line, status in (
            (b"", 403),
            (b"X-Forwarded-Proto: http\r\n", 403),
            (b"X-Forwarded-Proto: https, http\r\n", 403),
            (b"X-Forwarded-Proto: HTTPS\r\n", 200),
        ):
            with broker.raw() as sock:
                assert ask(sock, WHO + line + b"\r\n")[0] == status


def test_client_address_from_x_forwarded_for(trust: ssl.SSLContext) -> None:
    with running(trust, None, proxy=ProxyRule.parse(["127.0.0.1", "10.0.0.0/8"])) as broker, broker.raw() as sock:
        secure = WHO + b"X-Forwarded-Proto: https\r\n"
        for forwarded, expected in (
            (b"192.0.2.7", "192.0.2.7"),
            (b"6.6.6.6, 192.0.2.7", "192.0.2.7"),
            (b"192.0.2.7, 10.1.1.1", "192.0.2.7"),
            (b"[2001:db8::1]:4711", "2001:db8::1"),
            (b"192.0.2.7:80", "192.0.2.7"),
            (b'fe80::1%" 200 credential="main', "fe80::1"),  # else it could forge a field of the log
            (b"nonsense", "127.0.0.1"),
            (b"6.6.6.6, unknown", "127.0.0.1"),  # left of what cannot be read nothing counts
        ):
            assert client(broker, sock, secure + b"X-Forwarded-For: " + forwarded + b"\r\n\r\n") == expected
        assert client(broker, sock, secure + b"\r\n") == "127.0.0.1"


@pytest.mark.parametrize(("hops", "forwarded", "expected"), [
    (0, "10.0.0.9", "10.0.0.9"),  # a client inside the trusted network: not the proxy that all share
    (0, "10.0.0.8, 10.0.0.9", "10.0.0.9"),
    (0, "192.0.2.7, 10.0.0.9", "192.0.2.7"),
    (0, "192.0.2.7, nonsense, 10.0.0.9", "10.0.0.9"),
    (1, "192.0.2.7, 10.0.0.9", "10.0.0.9"),  # forged by a client inside
    (1, "192.0.2.7", "192.0.2.7"),
    (1, "", "10.0.0.1"),
    (1, "192.0.2.7, nonsense", "10.0.0.1"),
    (2, "6.6.6.6, 192.0.2.7, 203.0.113.1", "192.0.2.7"),
    (2, "203.0.113.1", "203.0.113.1"),  # not through the outer proxy
    (2, "nonsense, 203.0.113.1", "203.0.113.1"),
    (16, ", ".join(["6.6.6.6"] * 9 + ["192.0.2.7"] + ["203.0.113.1"] * 15), "192.0.2.7"),
])  # fmt: skip
def test_number_of_proxies_tells_the_client(hops: int, forwarded: str, expected: str) -> None:
    assert ProxyRule.parse(["10.0.0.0/8"], hops).find_client_address("10.0.0.1", forwarded) == expected


def test_long_chain_of_proxies_costs_little() -> None:
    rule = ProxyRule.parse(["10.0.0.0/8"])
    began = time.thread_time()
    assert rule.find_client_address("10.0.0.1", "10.0.0.2, " * 1500 + "10.0.0.3") == "10.0.0.3"
    assert time.thread_time() - began < 0.005


def test_proxy_that_names_no_client_is_a_warning(trust: ssl.SSLContext, caplog: pytest.LogCaptureFixture) -> None:
    with running(trust, None, proxy=ProxyRule.parse(["127.0.0.1"])) as broker, broker.raw() as sock:
        assert ask(sock, WHO + b"X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n")[0] == 200
        assert caplog.messages == []
        for _ in range(3):
            assert ask(sock, WHO + b"X-Forwarded-Proto: https\r\n\r\n")[0] == 200
    assert caplog.messages == ["the proxy sends no X-Forwarded-For: all of its clients count as one, also as guessers"]


def test_a_refused_request_is_logged_with_its_own_address(trust: ssl.SSLContext) -> None:
    secure = WHO + b"X-Forwarded-Proto: https\r\n"
    for more, status, expected in (
        (b"X-Forwarded-For: 203.0.113.9\r\nContent-Length: 99999999\r\n", 413, "203.0.113.9"),
        (b"Content-Length: 99999999\r\n", 413, "127.0.0.1"),
        (b"X-Forwarded-For: 203.0.113.9\r\n folded: x\r\n", 400, "127.0.0.1"),
    ):
        with running(trust, None, proxy=ProxyRule.parse(["127.0.0.1"])) as broker, broker.raw() as sock:
            assert client(broker, sock, secure + b"X-Forwarded-For: 198.51.100.1\r\n\r\n") == "198.51.100.1"
            assert ask(sock, secure + more + b"\r\n")[0] == status
            assert until(lambda broker=broker: len(broker.lines.entries) == 2)
            assert broker.lines.entries[-1].client == expected, more


def test_a_trusted_proxy_may_be_written_as_ipv6() -> None:
    for network in ("::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "::ffff:a00:0/120", "10.0.0.0/8"):
        assert ProxyRule.parse([network]).trusts("10.0.0.1"), network
        assert not ProxyRule.parse([network]).trusts("11.0.0.1"), network
    assert ProxyRule.parse(["2001:db8::/32"]).trusts("2001:db8::1")


def test_only_the_proxy_may_connect(trust: ssl.SSLContext) -> None:
    with running(trust, None, proxy=ProxyRule.parse(["192.0.2.1"])) as broker, broker.raw() as sock:
        assert ask(sock, WHO + b"X-Forwarded-Proto: https\r\n\r\n")[0] == 403


def test_without_a_proxy_forwarded_headers_prove_nothing(trust: ssl.SSLContext, pair: tuple[Path, Path]) -> None:
    with running(trust, pair) as broker, broker.connect() as sock:
        assert client(broker, sock, WHO + b"X-Forwarded-For: 6.6.6.6\r\n\r\n") == "127.0.0.1"


def test_a_unix_socket(trust: ssl.SSLContext, tmp_path: Path) -> None:
    path = tmp_path / "broker.sock"
    listener = listen_unix(path)
    with running(trust, None, sock=listener, proxy=ProxyRule()) as broker, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(path))
        request = WHO + b"X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n"
        assert client(broker, sock, request) == "192.0.2.9"


def test_invalid_proxy_address_is_refused() -> None:
    with pytest.raises(UsageError, match="not an IP address"):
        ProxyRule.parse(["proxy.example"])


def test_double_colon_listens_on_ipv4_too(tmp_path: Path) -> None:
    """The help suggests `--host :: --trusted-proxy 10.0.0.0/8`."""
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with process(tmp_path, host="::", trusted_proxies=["127.0.0.1", "::1"]) as broker:
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, broker.port()), timeout=60) as sock:
                assert ask(sock, WHO + b"X-Forwarded-Proto: https\r\n\r\n")[0] == 200
