"""Fetch the catalog of a running service broker as a platform does, and the cause of an error from its body.

Credentials go only to the named host, over the named scheme; they never appear in a name, a message or a log. The size
of the answer is limited, before and after decompression.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from urllib3 import BaseHTTPResponse
from urllib3.util import parse_url

from osbctl.client.connection_options import (
    SURE_LENGTH,
    ConnectionOptions,
    basic_auth,
    check_options,
    check_proxy,
    find_proxy,
    find_secret_pointers,
)
from osbctl.client.http_client import (
    MAX_RECEIVED,
    NAME_CERTIFICATE,
    UNPACKED,
    WRITE_HTTPS,
    HttpClient,
    normalize_content_encoding,
    read_body_chunks,
)
from osbctl.errors import SourceError, UsageError
from osbctl.findings import DocumentError
from osbctl.masking import mask_secrets
from osbctl.messages import redact, redact_text
from osbctl.paths import JsonValue
from osbctl.sources.catalogs import require_services
from osbctl.sources.document import Document, parse_document
from osbctl.sources.read_bytes import Limits
from osbctl.text import escape_line

MAX_REDIRECTS = 5
CATALOG_PATH = "/v2/catalog"
CERTIFICATE_PAGE = b"SSL certificate"  # in nginx's 400 for a client without one, or with one that it refuses
OWN_PASSWORD = "the catalog contains the broker's own password: remove it, and change the password"  # noqa: S105


@dataclass(frozen=True, slots=True)
class CatalogResponse:
    """A catalog as the broker sent it, decompressed; `name` is its name in reports: the address without its query.

    `options` are those of the request: the answer may contain their password.
    """

    name: str
    body: bytes = field(repr=False)
    options: ConnectionOptions = field(default=ConnectionOptions(), repr=False)


def parse_broker_url(url: str) -> tuple[str, str, str]:
    """Parse a URL into the address of the catalog, the user and the password; the latter two may be empty.

    `url` is a broker's base address or the full address of its catalog.

    Raises UsageError: it is no http or https URL.
    """
    if re.search(r"//[^/?#]*[\[\]][^/?#]*@", url):  # else the host of an IPv6 address
        raise UsageError("the address has a [ or a ] before its host", "in a password, write [ as %5B and ] as %5D")
    if re.search("//[^/?#]*[/?#].*@", url):  # to URLs, the rest of such a password is a path, which messages show
        advice = "in a password, write / as %2F, ? as %3F and # as %23; behind the host, write @ as %40"
        raise UsageError("the address has an @ behind its host", advice)
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        known = parts.scheme in ("http", "https") and bool((parts.hostname or "").encode("idna"))
        known = known and parts.port != 0 and bool(parse_url(f"{parts.scheme}://{host}").host)
    except ValueError:  # not a port, half an IPv6 address, a name that no host can have
        known = False
    if not known:
        raise UsageError("this is not the address of a broker", "write it as https://broker.example.com")
    path = parts.path if parts.path.rstrip("/").endswith(CATALOG_PATH) else parts.path.rstrip("/") + CATALOG_PATH
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return urlunsplit((parts.scheme, host, path, parts.query, "")), user, password


def parse_base_url(url: str) -> tuple[str, str]:
    """Parse the address of a broker into the base address, as the registry stores it, and the user name.

    Raises UsageError: it is no address of a broker, or holds a password or a query.
    """
    address, user, password = parse_broker_url(url)
    if "?" in address or not address.isprintable():
        raise UsageError("not the base address of a broker: it has a query, or characters that cannot be shown")
    if password:
        advice = "leave it out: osbctl asks for it, or reads it with --password-stdin"
        raise UsageError("a password in an address stays in the shell's history", advice)
    return address.rstrip("/").removesuffix(CATALOG_PATH), user


def fetch_catalog(address: str, options: ConnectionOptions) -> CatalogResponse:
    """Fetch the catalog at `address` (as `parse_broker_url` returns it).

    Raises SourceError: there is no answer, or the answer is not a JSON object; the message gives the reason.
    DocumentError: it is one without `services`, so no catalog.
    """
    check_options(address, options)
    with HttpClient(address, options) as client:
        response = _send_following_redirects(client, address, request_headers(options))
        body = b"".join(read_body_chunks(response, client))
    value, reason = parse_json_body(body)
    coding = normalize_content_encoding(response.headers.get("Content-Encoding"))
    if reason and coding not in UNPACKED:
        shown = escape_line(options.redact_credentials(coding[:MAX_RECEIVED]))[:40]
        text = f"the answer is compressed as {shown}, which the request did not ask for"
        raise SourceError(f"{client.name}: {text}", "platforms understand gzip at most")
    if response.status != 200:
        headers = {name.lower(): value for name, value in response.headers.items()}
        raise status_error(client.name, response.status, body, options, headers)
    if not body.strip().startswith(b"{"):
        raise not_a_catalog_error(client.name, reason)
    if isinstance(value, dict):  # else the reader of catalogs says what is wrong with it
        # Without its text: a line may be all of the answer, with its secrets.
        require_services(Document(client.name, value, "json"))
    return CatalogResponse(client.name, body, options)


def fetch_image(address: str, options: ConnectionOptions) -> bytes:
    """Fetch the image at `address` without credentials, with the limits of `fetch_catalog`; it may be anything.

    Raises SourceError: there is no answer, one with another status than 200, or the host may not be asked.
    """
    options = replace(options, user="", password="", client_cert=None)
    check_proxy(address, find_proxy(address, options.proxies))
    with HttpClient(address, options) as client:
        client.check_host()
        response = _send_following_redirects(client, address, {"Accept": "image/*", "User-Agent": "osbctl"})
        if response.status != 200:
            response.close()
            raise SourceError(f"{client.name}: status {response.status}")
        return b"".join(read_body_chunks(response, client))


def _send_following_redirects(client: HttpClient, address: str, headers: Mapping[str, str]) -> BaseHTTPResponse:
    """Send a GET, and follow redirects within the origin of `address`. Raises SourceError."""
    current, options = address, client.options
    for _ in range(MAX_REDIRECTS + 1):
        response = client.send_get(current, headers)
        target = redirect_target(current, response.status, response.headers.get("Location"))
        if target is None:
            return response
        response.close()
        name = options.redact_address(current)
        if not target:
            raise SourceError(f"{name}: it redirects to something that is not an address")
        if not is_same_origin(current, target):
            text = f"{name}: it redirects to another place, {options.redact_credentials(format_origin(target))}"
            raise SourceError(text, "credentials are not sent there; name that address if it is the broker's")
        current = target
    raise SourceError(f"{client.name}: more than {MAX_REDIRECTS} redirects", "a broker answers directly")


def parse_catalog_response(answer: CatalogResponse, max_bytes: int) -> Document:
    """Parse the answer of a broker. Raises SourceError: it cannot be read, or contains the password that was sent.

    Without a catalog there are no findings.
    """
    try:
        document = parse_document(answer.body, answer.name, limits=Limits(bytes=max_bytes))
    except DocumentError as error:
        message = answer.options.redact_credentials(error.message)
        raise SourceError(message, "the broker's answer cannot be read as JSON") from None
    if find_sent_password(answer.body, document.data, answer.options) is not None:
        raise SourceError(f"{answer.name}: {OWN_PASSWORD}")
    return document


def find_sent_password(body: bytes, data: JsonValue, options: ConnectionOptions) -> str | None:
    """The JSON pointer of a value in a catalog that contains the password, in whatever form. None if no value does.

    Empty if the place is not in `data`, or holds the password itself. A short password is not searched for.
    """
    if not options.holds_password(body.decode("utf-8", "replace")):
        return None
    places = find_secret_pointers(options.sent_password, data)
    if not places:  # in a dashboard client, whose secret it may be, or in a value that another one replaces
        return None if options.holds_password(json.dumps(data)) else ""
    return "" if options.holds_password(places[0]) else places[0]


def redirect_target(current: str, status: int, location: str | None) -> str | None:
    """Address that `current` redirects to, empty if it is not an address. None without a redirect (RFC 9110 §15.4)."""
    if not location or status not in (301, 302, 303, 307, 308):
        return None
    try:
        given, target = urlsplit(location), urljoin(current, location)
        has_host = urlsplit(target).hostname and (given.netloc or not given.scheme)  # not `https:///x`
        return target if urlsplit(target).scheme in ("http", "https") and has_host else ""
    except ValueError:
        return ""


def request_headers(options: ConnectionOptions) -> dict[str, str]:
    headers = {"Accept": "application/json", "X-Broker-API-Version": options.api_version, "User-Agent": "osbctl"}
    if options.user or options.password:
        headers["Authorization"] = basic_auth(options.user, options.password)
    return headers


def is_same_origin(address: str, target: str) -> bool:
    """Return whether both have the same scheme, host and port, so that credentials may be sent.

    The host is compared in any case, and a default port may be written (RFC 9110 §4.2.3).
    """
    try:
        return _parse_origin(target) == _parse_origin(address)
    except ValueError:  # no port number
        return False


def _parse_origin(url: str) -> tuple[str, str, str | None, int]:
    """Scheme, user information, host and port of an address. Raises ValueError."""
    parts = urlsplit(url)
    default_port = 443 if parts.scheme == "https" else 80
    return parts.scheme, parts.netloc.rpartition("@")[0], parts.hostname, parts.port or default_port


def format_origin(url: str) -> str:
    """Scheme, host and port of an address, escaped for a terminal."""
    parts = urlsplit(url)
    return escape_line(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")


def not_a_catalog_error(name: str, reason: str) -> SourceError:
    """The error of an answer that is not a JSON object."""
    text = f"{name}: the answer is not a JSON object: {reason}"
    return SourceError(text, "check that this is the address of a service broker")


def parse_json_body(body: bytes) -> tuple[JsonValue, str]:
    """Parse a body as platforms do: its value (None if unreadable), and the reason why it is not a JSON object.

    The reason is empty for an object (RFC 8259, §8.1).
    """
    if body.startswith(b"\xef\xbb\xbf"):
        return None, "it begins with a byte order mark"
    if not body.strip():
        return None, "the body is empty"
    constants: list[str] = []  # of JavaScript: NaN, Infinity, -Infinity
    try:
        value = json.loads(body.decode(), parse_constant=constants.append)
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except json.JSONDecodeError as error:
        reason = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
        return None, f"{reason} at line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        return None, ""  # beyond what this Python reads; the reader of catalogs says so
    if constants:
        return None, f"{constants[0]} is not JSON"
    return value, "" if isinstance(value, dict) else "it is another kind of value"


def status_error(
    name: str, status: int, body: bytes, options: ConnectionOptions, headers: Mapping[str, str] | None = None
) -> SourceError:
    """The error of an answer with another status than 200, with what its body says (see `error_description`)."""
    plain = WRITE_HTTPS if name.startswith("http:") and b"HTTPS" in body else ""
    advice = {
        400: NAME_CERTIFICATE if CERTIFICATE_PAGE in body else plain,
        401: "" if options.user else "the broker asks for a password: add --user NAME",
        404: "check that this is the broker's address",
        412: "the broker wants another version: --api-version",
    }.get(status, "")
    text = {401: "authentication failed (401)", 412: "it refuses the API version (412)"}.get(status, f"status {status}")
    return SourceError(f"{name}: {text}{error_description(body, options, headers)}", advice)


_MAX_SHOWN = 300
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*(?:>|\Z)", re.DOTALL | re.IGNORECASE)
"""Parts of a page that a browser does not show: comments, programs, styles, tags."""


def error_description(body: bytes, options: ConnectionOptions, headers: Mapping[str, str] | None = None) -> str:
    """The description in the error body of a broker, else the beginning of the body, after a colon.

    Credentials are redacted, and so is what may be a secret. A body that contains a short password, which may be any
    word of it, is left out. `headers` have lower-case names; Cloud Foundry's router names its errors in one of them.
    """
    shown = _shown_text(body, options)
    router = (headers or {}).get("x-cf-routererror", "")
    if router:
        name = escape_line(options.redact_credentials(router[:MAX_RECEIVED]))[:60]
        shown = f"{shown or 'the body is left out'} (the router of Cloud Foundry reports {name})"
    return f": {shown}" if shown else ""


def _shown_text(body: bytes, options: ConnectionOptions) -> str:
    if not body.strip():
        return "the body is empty"
    text = _cause(body)[:MAX_RECEIVED]
    # Redact before cutting: half a password would not be recognised.
    redacted = options.redact_credentials(text)
    if redacted != text and len(options.password) < SURE_LENGTH:
        return ""
    return escape_line(redact_text(redacted))[:_MAX_SHOWN]


def _cause(body: bytes) -> str:
    """The most telling text of a body: a description or message in JSON, else the whole as text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _plain_text(body.decode("utf-8", "replace")[: 4 * MAX_RECEIVED])
    return _message(value) or json.dumps(redact(value), ensure_ascii=False)


def _message(value: JsonValue) -> str:
    """The description of an error object (OSB, Service Broker Errors), or the message that frameworks write."""
    while isinstance(value, dict):
        fields = {key.lower(): inner for key, inner in reversed(value.items())}
        fields["description"] = value.get("description", fields.get("description"))
        for key in ("description", "message", "detail", "error"):
            inner = fields.get(key)
            if isinstance(inner, str) and inner.strip():
                is_vague = key == "message" and inner == "No message available"  # Spring
                return str(fields.get("error", inner)) if is_vague else inner
        value = fields.get("error")
    return ""


def _plain_text(text: str) -> str:
    """The text of a page of HTML, or any other text, in one line, without what may be secret."""
    if re.search(r"<(?:!doctype|html|body|head|h\d|p|title|pre)\b", text, re.IGNORECASE):
        text = html.unescape(_UNSEEN.sub(" ", text))
    masked = (mask_secrets(line) for line in text.splitlines())
    return re.sub(r"\*{4,}", "***", " ".join(" ".join(masked).split()))
