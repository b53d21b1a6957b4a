"""Options of a connection to a broker, and their validation before a request is sent."""

import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from osbctl.client.sent_password import SURE_LENGTH, SentPassword
from osbctl.errors import SourceError
from osbctl.files import check_regular_file
from osbctl.platforms import DEFAULT_API_VERSION
from osbctl.sources.read_bytes import MAX_BYTES

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Options of a connection to a broker. Times in seconds, sizes in bytes.

    `ca_file` replaces the system's certificate authorities; `client_cert` is a PEM file with certificate and key.
    `insecure` takes any certificate, and plain http to other machines. `public_only` refuses hosts with an internal
    address. `proxies` are those of the environment, as `urllib.request.getproxies_environment` gives them.
    """

    user: str = ""
    password: str = field(default="", repr=False)
    api_version: str = DEFAULT_API_VERSION
    ca_file: str | None = None
    client_cert: str | None = None
    insecure: bool = False
    public_only: bool = False
    connect_seconds: float = 10.0
    total_seconds: float = 60.0
    max_bytes: int = MAX_BYTES
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)

    def redact_credentials(self, text: str) -> str:
        """Redact the passwords in a text that a broker or a proxy sent. Call it before the text is cut short."""
        for password in self._sent_passwords:
            text = password.redact(text)
        return text

    def holds_password(self, text: str) -> bool:
        """Return whether a text that a broker sent contains its password; a short one is not searched for."""
        return len(self.password) >= SURE_LENGTH and self.sent_password.is_in(text)

    @property
    def sent_password(self) -> SentPassword:
        """The password of the broker, in the forms in which it may come back."""
        return _sent_password(self.user, self.password)

    def redact_address(self, address: str) -> str:
        """An address for messages: without its query, and without the password, which a redirect may have put there."""
        shown = redact_query(address)
        return self.redact_credentials(shown) if len(self.password) >= SURE_LENGTH else shown

    @property
    def _sent_passwords(self) -> list[SentPassword]:
        logins = [(self.user, self.password)]
        for userinfo in [proxy.rpartition("@")[0].rpartition("://")[2] for proxy in self.proxies.values()]:
            user, _, password = userinfo.partition(":")
            logins.append((unquote(user), unquote(password)))
        return [_sent_password(*login) for login in logins]


@lru_cache(16)
def _sent_password(user: str, password: str) -> SentPassword:
    return SentPassword(user, password)


def basic_auth(user: str, password: str) -> str:
    """The value of an Authorization header (RFC 7617), in UTF-8. Raises SourceError: it cannot be encoded."""
    try:
        return "Basic " + b64encode(f"{user}:{password}".encode()).decode()
    except UnicodeEncodeError:
        raise SourceError("the user or the password is not UTF-8 text") from None


def redact_query(address: str) -> str:
    """Redact the query of an address, which may hold a key, for messages and reports."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(query="***")) if parts.query else address


def find_proxy(address: str, proxies: Mapping[str, str]) -> str:
    """Find the URL of the proxy through which `address` is reached; empty where it is reached directly.

    As curl and Go do: NO_PROXY lists hosts, domains with all below them, each with or without a port, addresses,
    networks, or `*`. This machine is never reached through a proxy.
    """
    parts = urlsplit(address)
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    exempt = proxies.get("no", "").lower().replace(",", " ").split()
    if not proxy or is_loopback_host(parts.hostname) or any(_matches_no_proxy(entry, parts) for entry in exempt):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _matches_no_proxy(entry: str, parts: SplitResult) -> bool:
    """Return whether an entry of NO_PROXY matches the host and port of an address."""
    host = parts.hostname or ""
    with suppress(ValueError):  # the one is a name, or the other is
        return ip_address(host) in ip_network(entry, strict=False)
    name, _, port = entry.partition(":")
    if port and port != str(parts.port or {"http": 80, "https": 443}[parts.scheme]):
        return False
    name = name.removeprefix("*").removeprefix(".")
    return not name or host == name or host.endswith(f".{name}")


def is_loopback_host(host: str | None) -> bool:
    """Return whether a host of an address is this machine."""
    return host in _LOOPBACK


def is_internal_address(address: str) -> bool:
    """Return whether an IP address is loopback, private, link-local or otherwise not global (RFC 6890)."""
    return not ip_address(address.partition("%")[0]).is_global


def check_options(address: str, options: ConnectionOptions) -> None:
    """Refuse options under which no request may be sent.

    Raises SourceError: credentials would go out over plain http to another machine, or through a proxy that can read
    them; the proxy is none that osbctl can use; a file is no PEM file.
    """
    parts = urlsplit(address)
    if parts.scheme == "http" and not options.insecure and not is_loopback_host(parts.hostname):
        raise SourceError(
            f"{redact_query(address)}: credentials are not sent over plain http", "use https, or --insecure"
        )
    proxy = find_proxy(address, options.proxies)
    check_proxy(address, proxy)
    if proxy and parts.scheme == "http":
        raise SourceError(
            f"{redact_query(address)}: the proxy could read the credentials, since plain http has no tunnel",
            "use https, or name the broker's host in NO_PROXY",
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if options.ca_file:
        _check_pem(options.ca_file, context.load_verify_locations, "certificates")
    if options.client_cert:
        # Without a password, OpenSSL asks for one at the terminal.
        load = partial(context.load_cert_chain, password="")
        _check_pem(options.client_cert, load, "a certificate and its key, without a passphrase")


def check_proxy(address: str, proxy: str) -> None:
    """Raise SourceError if osbctl cannot use the proxy through which `address` would be reached; empty is none."""
    if not proxy:
        return
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:  # not named: it may hold a password
        raise SourceError(
            f"{redact_query(address)}: the proxy that the environment names does not begin with http:// or https://",
            "correct HTTPS_PROXY or ALL_PROXY, or name the broker's host in NO_PROXY",
        )


def _check_pem(file: str, load: Callable[[str], None], content: str) -> None:
    """Raise SourceError unless OpenSSL loads the file; `content` says what it must hold."""
    advice = "--ca-file and --client-cert are PEM files"
    try:
        check_regular_file(file)
        load(file)
    except (ssl.SSLError, ValueError):
        raise SourceError(f"{file}: this is not a PEM file with {content}", advice) from None
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}", advice) from None
