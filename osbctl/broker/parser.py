"""Refuses ambiguous requests, which two HTTP parsers could read differently (request smuggling).

No request of this API needs a Transfer-Encoding, so every one is refused. waitress 3 accepts, and this parser refuses:
Content-Length with Transfer-Encoding, repeated or signed lengths, two or no Hosts, folded lines, bare LF and CR,
HTTP/0.9, blanks around the request line.
"""

import re

from waitress.parser import HTTPRequestParser, ParsingError  # type: ignore[import-untyped]
from waitress.utilities import BadRequest, RequestHeaderFieldsTooLarge  # type: ignore[import-untyped]

from osbctl.broker.decision import Decision

_REQUEST_LINE = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Z-]+ ([\x21-\x7e]+) HTTP/(1\.[01])\r\n")
# A path, a URL or `*` (RFC 9112 §3.2), without a fragment.
_TARGET = re.compile(rb"(?:/|https?://)[^#]*|\*", re.IGNORECASE)
_HOST = re.compile(rb"[A-Za-z0-9._~%!$&'()*+;=-]+(?::[0-9]{0,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{0,5})?")
_LENGTH = re.compile(rb"[0-9]{1,18}")
# Some front ends treat an underscore as a hyphen.
_FRAMING = re.compile(rb"\r\n(host|content[-_]length|transfer[-_]encoding)[ \t]*:([^\r]*)", re.IGNORECASE)


class StrictParser(HTTPRequestParser):  # type: ignore[misc]
    """waitress's parser, restricted to unambiguous requests. `refusal` is for the client, and never repeats input."""

    refusal = ""
    decision: Decision | None = None

    def received(self, data: bytes) -> int:
        """Parse `data`; returns the number of bytes that belong to this request. Never raises."""
        if not self.completed and self.body_rcv is None:
            reason = _find_raw_header_fault(self.header_plus + data)
            if reason:
                self._refuse_request(reason)
                return len(data)
        try:
            taken: int = super().received(data)
        except ValueError:  # raised by urlsplit and int() for input that waitress does not expect
            self._refuse_request("the request cannot be read")
            return len(data)
        if isinstance(self.error, RequestHeaderFieldsTooLarge):
            self.command = self.request_uri = "-"  # waitress parses "GET /" in place of a header that is too large
        return taken

    def parse_header(self, header_plus: bytes) -> None:
        """Check the whole header, then let waitress parse it. Raises ParsingError."""
        try:
            _check_request_head(header_plus)
            super().parse_header(header_plus)
        except ParsingError as error:
            self.refusal = error.args[0] if isinstance(error, _RefusedError) else "a header line is malformed"
            raise
        connection = self.headers.get("CONNECTION")
        if connection and "close" in (token.strip() for token in connection.lower().split(",")):
            self.headers["CONNECTION"] = "close"
            self.connection_close = True

    def _refuse_request(self, reason: str) -> None:
        """Complete the request with an error, which is answered with status 400."""
        self.refusal = reason
        self.error = BadRequest(reason)
        self.completed = True


class _RefusedError(ParsingError):  # type: ignore[misc]
    """A refusal with our own text, which is safe to send."""


def _find_raw_header_fault(received: bytes) -> str:
    """Describe a wrong line end, a NUL or a leading blank in the header; empty if none (RFC 9112 §2.2)."""
    end = received.find(b"\r\n\r\n", len(received) - len(received.lstrip(b"\r\n")))
    head = received if end < 0 else received[: end + 4]
    pairs = head.count(b"\r\n")
    open_end = end < 0 and head.endswith(b"\r")
    if head.count(b"\n") != pairs or head.count(b"\r") != pairs + open_end:
        return "lines must end with CR LF"
    if b"\0" in head:
        return "the header contains a NUL"
    if head.lstrip(b"\r\n")[:1] in (b" ", b"\t", b"\v", b"\f"):
        return "the request line begins with a space"
    return ""


def _check_request_head(head: bytes) -> None:
    """Raise _RefusedError for an ambiguous request line or header."""
    match = _REQUEST_LINE.match(head)
    if match is None:
        raise _RefusedError("the request line is malformed, or not HTTP/1.0 or 1.1")
    if _TARGET.fullmatch(match[1]) is None:
        raise _RefusedError("the target of the request is neither a path nor a URL without a fragment")
    if b"\r\n " in head or b"\r\n\t" in head:
        raise _RefusedError("a folded header line (RFC 9112 §5.2)")
    fields: dict[bytes, list[bytes]] = {b"host": [], b"content-length": [], b"transfer-encoding": []}
    for name, value in _FRAMING.findall(head):
        if b"_" in name:
            raise _RefusedError("an underscore in the name of a framing header")
        fields[name.lower()].append(value.strip(b" \t"))
    _check_framing_headers(fields, needs_host=match[2] == b"1.1")


def _check_framing_headers(fields: dict[bytes, list[bytes]], *, needs_host: bool) -> None:
    """Raise _RefusedError for a Transfer-Encoding, and unless length and host are clear. `fields`: values by name."""
    if fields[b"transfer-encoding"]:
        raise _RefusedError("Transfer-Encoding is not accepted: no request of this API needs it")
    lengths = fields[b"content-length"]
    if len(lengths) > 1 or any(_LENGTH.fullmatch(length) is None for length in lengths):
        raise _RefusedError("Content-Length must be given once, as digits")
    hosts = fields[b"host"]
    if len(hosts) != 1 and (needs_host or hosts):
        raise _RefusedError("Host must be given once (RFC 9112 §3.2)")
    if any(_HOST.fullmatch(host) is None for host in hosts):
        raise _RefusedError("Host is not a host name or address (RFC 9112 §3.2)")
