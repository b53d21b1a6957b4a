"""Parses requests of HTTP/1 and their header fields, and refuses what two parsers could read differently (smuggling).

It takes the place of waitress's parser, which costs 98 times as much for a header of 3,900 empty fields as for a usual
one, and accepts repeated lengths and hosts, a length beside a Transfer-Encoding, folded lines and bare line feeds. No
answer of this API depends on a body: bodies of known length are skipped, and a chunked one ends the connection.
"""

import binascii
import re
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

MAX_FIELDS = 128  # of a header; platforms send some twenty
LONGEST_HEADER = 1536  # characters: enough for an identity and a password of 511 bytes each, in base64

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")
# The qvalue of RFC 9110 §12.4.2, `q=0` to `q=1` with up to three decimals.
_WEIGHT = re.compile(r"[ \t]*q[ \t]*=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)[ \t]*")
_DATES = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")

_METHOD, _NAME = rb"[!#$%&'*+.^_`|~0-9A-Z-]+", rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = _METHOD + rb" [\x21-\x7e]+ HTTP/1\.[01]\r\n"
_HEAD = re.compile(
    rb"(" + _METHOD + rb") ([\x21-\x7e]+) HTTP/(1\.[01])\r\n((?:" + _NAME + rb":[\t\x20-\x7e\x80-\xff]*\r\n)*)\r\n"
)
_FIELD = re.compile(r"([^:]+):[ \t]*([^\r]*)\r\n")
_BLANK_LINES = re.compile(rb"(?:\r\n)*")
_CLOSE = re.compile(r"(?:^|,)[ \t]*close[ \t]*(?:,|$)")
# A URL or a path, each perhaps with a query but without a fragment, or `*` (RFC 9112 §3.2).
_TARGET = re.compile(
    r"(?:https?://(?:[^\[\]/?#@]*+@)*+(?:\[[0-9A-Fa-f:.]+\]|[^\[\]/?#@:]*)(?::[0-9]*)?(?=[/?]|\Z)(/[^?#]*)?|(/[^?#]*))"
    r"(?:\?[^#]*)?|(\*)",
    re.IGNORECASE,
)
_HOST = re.compile(r"[A-Za-z0-9._~%!$&'()*+;=-]+(?::[0-9]{0,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{0,5})?")
_LENGTH = re.compile(r"[0-9]{1,18}")
_FRAMING = frozenset(("HOST", "CONTENT_LENGTH", "TRANSFER_ENCODING"))
_HEADER_TOO_LARGE = ("431 Request Header Fields Too Large", "HeaderTooLarge")
_WITH_BODY = frozenset(("PUT", "POST", "PATCH", "DELETE"))


class RequestRefusal(NamedTuple):
    """An answer to a request that is malformed or forbidden: status line, error and description of the API.

    The description is for the client, and never repeats input.
    """

    status: str
    error: str
    description: str


class RequestParser:
    """A request while it arrives, and afterwards.

    `completed`: it can be answered, with `error` if that is set. `headers` have names in capitals, with `_` for `-`,
    and values of repeated fields joined by commas. `connection_close`: the connection ends with the answer. `adj` has
    waitress's settings.
    """

    completed = False
    connection_close = False
    error: RequestRefusal | None = None
    command = target = "-"
    version = "1.1"
    _head = b""
    _body_left = 0

    def __init__(self, adj: Any) -> None:
        self.headers: dict[str, str] = {}
        self._adj = adj

    @property
    def has_begun(self) -> bool:
        """Return whether part of a request has arrived, beside blank lines."""
        return bool(self._head) or self._body_left > 0

    @cached_property
    def path(self) -> str:
        """The path of the target, percent-decoded as Latin-1. Decoding a long one is dear, so it waits for a caller."""
        match = _TARGET.fullmatch(self.target)
        path = (match[1] or match[2] or match[3] or "/") if match else ""
        return unquote_to_bytes(path).decode("latin-1") if "%" in path else path

    def received(self, data: bytes) -> int:
        """Parse `data`; returns the number of bytes that belong to this request. Never raises."""
        if self._body_left:
            taken = min(len(data), self._body_left)
            self._body_left -= taken
            self.completed = not self._body_left
            return taken
        known, head = len(self._head), self._head + data
        if known < 2:  # nothing yet, or half a line end
            blank = _BLANK_LINES.match(head)
            head = head[blank.end() if blank else 0 :]
            known = 0
        end = head.find(b"\r\n\r\n", max(0, known - 3)) + 4
        if end < 4:
            self._head = head
            self._check_part(head[known - (head[known - 1 : known] == b"\r") :])
            return len(data)
        self._parse_head(head[:end])
        taken = len(data) - (len(head) - end)
        return taken + (self.received(data[taken:]) if self._body_left else 0)

    def refuse(self, description: str, status: str = "400 Bad Request", error: str = "BadRequest") -> None:
        """Complete the request with an error."""
        self.error, self.completed = RequestRefusal(status, error, description), True

    def _check_part(self, new: bytes) -> None:
        """Refuse an incomplete header at once, if no end can make it right. `new` is the part that has arrived last."""
        if len(self._head) > self._adj.max_request_header_size:
            self.refuse("the header of the request is too large", *_HEADER_TOO_LARGE)
        elif fault := _find_bytes_fault(self._head, new):
            self.refuse(fault)

    def _parse_head(self, head: bytes) -> None:
        """Parse a complete header; what is counted first bounds the cost of all that follows."""
        if len(head) > self._adj.max_request_header_size:
            return self.refuse("the header of the request is too large", *_HEADER_TOO_LARGE)
        if head.count(b"\n") - 2 > MAX_FIELDS:
            return self.refuse(f"the request has more than {MAX_FIELDS} header fields", *_HEADER_TOO_LARGE)
        match = _HEAD.fullmatch(head)
        if match is None:
            return self.refuse(_describe_fault(head))
        command, target, version, fields = match.groups()
        self.command, self.target, self.version = command.decode(), target.decode(), version.decode()
        if _TARGET.fullmatch(self.target) is None:
            return self.refuse("the target of the request is neither a path nor a URL without a fragment")
        for name, value in _FIELD.findall(fields.decode("latin-1")):
            problem = self._add_field(name, value.rstrip(" \t"))
            if problem:
                return self.refuse(problem)
        problem = self._check_host()
        return self.refuse(problem) if problem else self._begin_body()

    def _add_field(self, name: str, value: str) -> str:
        """Add a header field; returns why it is refused, else an empty text."""
        key = name.upper().replace("-", "_")
        if "_" in name:  # some front ends treat an underscore as a hyphen
            return "an underscore in the name of a framing header" if key in _FRAMING else ""
        if key not in self.headers:
            self.headers[key] = value
        elif key in _FRAMING:
            return f"{name.title()} must be given once"
        else:
            self.headers[key] += ", " + value
        return ""

    def _check_host(self) -> str:
        host = self.headers.get("HOST")
        if host is None:
            return "Host must be given once (RFC 9112 §3.2)" if self.version == "1.1" else ""
        return "" if len(host) < 300 and _HOST.fullmatch(host) else "Host is not a host name or address (RFC 9112 §3.2)"

    def _begin_body(self) -> None:
        """Complete the request, or wait for the end of its body. Framing that is not plain is refused."""
        headers = self.headers
        connection = headers.get("CONNECTION", "").lower()
        self.connection_close = self.version == "1.0" and connection != "keep-alive"
        if len(connection) > 300 or ("close" in connection and _CLOSE.search(connection)):
            self.connection_close = True
        coding, length = headers.get("TRANSFER_ENCODING"), headers.get("CONTENT_LENGTH", "0")
        if coding is not None:
            plain = coding.lower() == "chunked" and "CONTENT_LENGTH" not in headers and self.version == "1.1"
            if not (plain and self.command in _WITH_BODY):
                return self.refuse("Transfer-Encoding is not accepted: no request of this API needs it")
            self.connection_close = True  # after the answer, nothing that follows is read as a request
        elif _LENGTH.fullmatch(length) is None:
            return self.refuse("Content-Length must be given once, as digits")
        elif int(length) > self._adj.max_request_body_size:
            text = "the body of the request is too large"
            return self.refuse(text, "413 Request Entity Too Large", "RequestTooLarge")
        elif headers.get("EXPECT", "").lower() == "100-continue" and int(length):
            # The client waits before it sends the body, which no answer needs (RFC 9110 §10.1.1).
            self.connection_close = True
        else:
            self._body_left = int(length)
        self.completed = not self._body_left
        return None


def _describe_fault(head: bytes) -> str:
    """Say why a complete header is malformed."""
    if fault := _find_bytes_fault(head, head):
        return fault
    if re.match(_REQUEST_LINE, head) is None:
        return "the request line is malformed, or not HTTP/1.0 or 1.1"
    if b"\r\n " in head or b"\r\n\t" in head:
        return "a folded header line (RFC 9112 §5.2)"
    return "a header line is malformed"


def _find_bytes_fault(head: bytes, new: bytes) -> str:
    """Describe a wrong line end or a NUL in a `new` part (RFC 9112 §2.2), or a space before the head; empty for none.

    A CR may end the part.
    """
    pairs = new.count(b"\r\n")
    if new.count(b"\n") != pairs or new.count(b"\r") - pairs > new.endswith(b"\r"):
        return "lines must end with CR LF"
    if b"\0" in new:
        return "the header contains a NUL"
    return "the request line begins with a space" if head[:1] in (b" ", b"\t", b"\v", b"\f") else ""


def parse_basic_auth(header: str) -> tuple[str, str] | None:
    """Parse an Authorization header to identity and password. None if it is not a well-formed Basic header.

    Refused: another scheme, bad base64, no colon, text that is not UTF-8 (the challenge requires
    UTF-8, RFC 7617 §2.1) and control characters (RFC 7617 §2).
    """
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "basic" or len(header) > LONGEST_HEADER:
        return None
    try:
        text = binascii.a2b_base64(token.strip(" ").encode("ascii"), strict_mode=True).decode("utf-8")
    except ValueError:
        return None
    identity, colon, password = text.partition(":")
    if not colon or any(ord(character) < 32 or ord(character) == 127 for character in text):
        return None
    return identity, password


def parse_api_version(text: str) -> tuple[int, int] | None:
    """Parse an X-Broker-API-Version header, `MAJOR.MINOR` without leading zeros. None if malformed."""
    match = _VERSION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=64)
def prefers_gzip(accept_encoding: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip at least as much as no coding (RFC 9110 §12.5.3).

    Invalid items are skipped: gzip is never sent unrequested.
    """
    weights: dict[str, float] = {}
    for item in accept_encoding.lower().split(","):
        coding, _, parameter = item.partition(";")
        weight = _WEIGHT.fullmatch(parameter or "q=1")
        if weight:
            weights[coding.strip(" \t")] = float(weight[1])
    gzip = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    # Unless listed, identity is acceptable but not preferred.
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def etag_matches(header: str, etag: str) -> bool:
    """Return whether an If-None-Match header names `etag`, or is `*`. `etag` is strong and holds no comma.

    Weak comparison ignores the `W/` of a tag (RFC 9110 §8.8.3.2).
    """
    tags = (tag.strip(" \t").removeprefix("W/") for tag in header.split(","))
    return header.strip(" \t") == "*" or etag in tags


def parse_http_date(text: str) -> int | None:
    """Parse an HTTP date (three forms, RFC 9110 §5.6.7) to seconds since 1970. None if malformed."""
    for form in _DATES:
        with suppress(ValueError):
            return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp())
    return None
