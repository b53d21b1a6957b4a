"""Options of a connection to a broker, checked before a request is sent, and its password in what comes back."""

import html
import re
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from ipaddress import ip_address, ip_network
from itertools import takewhile
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urlsplit, urlunsplit

from osbctl.errors import SourceError
from osbctl.files import check_regular_file
from osbctl.messages import MASK
from osbctl.paths import JsonPath, JsonValue, entries, pointer
from osbctl.platforms import DEFAULT_API_VERSION
from osbctl.sources.read_bytes import MAX_BYTES

SURE_LENGTH = 8
"""Passwords of at least this many characters do not occur in a catalog by chance."""

_ESCAPE = re.compile(
    r"(?:%[0-9a-f]{2})+|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});|\\+u[0-9a-f]{4}|\\+x[0-9a-f]{2}|\\+[nrt]?|\s+",
    re.IGNORECASE,
)
"""A character as URLs, HTML, JSON and Python write it, and what a line that is cut in two has in between."""
_ROUNDS = 3
"""Escapes within escapes."""


def _unescape(escape: str) -> str:
    kind = escape.lstrip("\\")[:1].lower()
    if kind == "%":
        data = unquote_to_bytes(escape)
        return data.decode("utf-8", "ignore") or data.decode("latin-1")
    if kind == "&":
        return html.unescape(escape)
    return chr(int(escape.lstrip("\\")[1:], 16)) if kind in ("u", "x") and len(escape.lstrip("\\")) > 2 else ""


class SentPassword:
    """A password that was sent, and the forms in which a broker or a proxy may send it back.

    These are: plain, in base64 (alone or as in a header, RFC 7617) and in hexadecimal digits; each in any case, in one
    line or several, and with characters percent-encoded or escaped as in HTML and JSON.
    """

    def __init__(self, user: str, password: str) -> None:
        data = password.encode("utf-8", "surrogatepass")
        # Six bits are a character: what stands before and behind the password changes those that it shares with it.
        inside = [b64encode(b"\0" * n + data).decode()[(0, 2, 3)[n] : (n + len(data)) * 8 // 6] for n in range(3)]
        sent = b64encode(f"{user}:".encode("utf-8", "surrogatepass") + data).decode()
        units = password.encode("utf-16-be", "surrogatepass")
        as_in_json = "".join(chr(int.from_bytes(units[at : at + 2])) for at in range(0, len(units), 2))
        plain = [password, data.decode("latin-1"), as_in_json]
        codes = [sent, sent.rstrip("=")]
        if len(password) >= SURE_LENGTH:
            codes += b64encode(data).decode(), *inside, data.hex()
        self._forms = {_normalize(form) for form in [*plain, *codes] if password} - {""}
        # Half a password may be a word of the text by chance, half a code is not.
        halves = [half for code in codes for half in (code[: len(code) // 2], code[-(len(code) // 2) :])]
        self._telling = self._forms | {_normalize(half) for half in halves if len(half) >= SURE_LENGTH and password}

    def is_in(self, text: str) -> bool:
        """Return whether a text contains the password in one of its forms, or half of its base64."""
        plain = _normalize(text)
        return any(form in plain for form in self._telling)

    def redact(self, text: str) -> str:
        """Replace the password in a text that was received, also one that was cut off, if half of it is left."""
        if not self._forms:
            return text
        plain, spans = text, [(at, at + 1) for at in range(len(text))]
        for _ in range(_ROUNDS):
            plain, spans = _unescape_with_spans(plain, spans)
        plain = _lower(plain)
        pieces, done = list[str](), 0
        for first, last in sorted(span for form in self._forms for span in _find_pieces(form, plain)):
            start, end = spans[first][0], spans[last - 1][1]
            if start >= done:
                pieces += text[done:start], MASK
            done = max(done, end)
        return "".join([*pieces, text[done:]])


def find_secret_pointers(password: SentPassword, data: JsonValue) -> list[str]:
    """The JSON pointers of the keys and values in `data` that contain the password in any form.

    Skips the secret of a dashboard client, which belongs there and is not stored.
    """
    found = []
    todo: list[tuple[JsonPath, JsonValue]] = [((), data)]
    while todo:
        path, value = todo.pop()
        texts = [value] if isinstance(value, str) else value if isinstance(value, dict) else ()
        if any(map(password.is_in, texts)):
            found.append(pointer(path))
        is_client = path[:1] == ("services",) and path[2:] == ("dashboard_client",) and isinstance(path[1], int)
        todo += [((*path, step), below) for step, below in entries(value) if not (is_client and step == "secret")]
    return found


def _find_pieces(form: str, text: str) -> Iterator[tuple[int, int]]:
    """The spans of the first or last half of a form in a text, with as much of the rest as is there."""
    half = min(len(form), max(6, (len(form) + 1) // 2))  # a shorter piece may be any word
    for found in re.finditer(re.escape(form[:half]), text):
        yield found.start(), found.start() + _common_length(form, text[found.start() : found.start() + len(form)])
    for found in re.finditer(re.escape(form[-half:]), text):
        before = text[max(0, found.end() - len(form)) : found.end()]
        yield found.end() - _common_length(form[::-1], before[::-1]), found.end()


def _common_length(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _normalize(text: str) -> str:
    """A text without escapes and white space, in lower case, and in the common alphabet of base64."""
    for _ in range(_ROUNDS):
        text = _ESCAPE.sub(lambda match: _unescape(match[0]), text)
    return _lower(text)


_COMMON_ALPHABET = str.maketrans("-_", "+/")


def _lower(text: str) -> str:
    """A text in lower case, of the same length, with `+` and `/` for `-` and `_` (RFC 4648, section 5)."""
    lower = text.lower()
    if len(lower) != len(text):  # as that of a dotted capital I
        lower = "".join(each.lower() if len(each.lower()) == 1 else each for each in text)
    return lower.translate(_COMMON_ALPHABET)


def _unescape_with_spans(text: str, spans: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """A text without its escapes, and of each character the span of the original text, from the `spans` in `text`."""
    pieces, new, at = list[str](), list[tuple[int, int]](), 0
    for match in _ESCAPE.finditer(text):
        plain = _unescape(match[0])
        pieces += text[at : match.start()], plain
        new += spans[at : match.start()]
        new += [(spans[match.start()][0], spans[match.end() - 1][1])] * len(plain)
        at = match.end()
    return "".join([*pieces, text[at:]]), [*new, *spans[at:]]


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
        logins = [(self.user, self.password)]
        for userinfo in [proxy.rpartition("@")[0].rpartition("://")[2] for proxy in self.proxies.values()]:
            user, _, password = userinfo.partition(":")
            logins.append((unquote(user), unquote(password)))
        for login in logins:
            text = _sent_password(*login).redact(text)
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
    """Find the URL of the proxy through which `address` is reached. Empty where it is reached directly.

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
    bracketed = re.fullmatch(r"\[(.+)\](?::(\d+))?", entry)
    name, port = (bracketed[1], bracketed[2]) if bracketed else (entry, "")
    if entry.count(":") == 1:  # else an IPv6 address or network
        name, _, port = entry.partition(":")
    if port and port != str(parts.port or {"http": 80, "https": 443}[parts.scheme]):
        return False
    with suppress(ValueError):  # the one is a name, or the other is
        return ip_address(host) in ip_network(name, strict=False)
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
