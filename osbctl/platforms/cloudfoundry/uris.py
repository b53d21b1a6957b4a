"""URIs the way the Ruby library Addressable reads, joins and refuses them.

The Cloud Controller's JSON Schema library names schemas by such URIs. Source: addressable,
lib/addressable/uri.rb; RFC 3986 section 5.2 for joining.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_PARTS = re.compile(r"(?m)^(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9.+-]*\Z")
_HOST_REFUSES = re.compile('[<>{}/\\\\?#@"\\s]')
_PORT = re.compile(r":([^:@\[\]]*)$")
_BRACKETS = re.compile(r"^\[(.*)\]$")
_BRACKETED = re.compile(r"[a-zA-Z0-9\-._~!$&'()*+,;=:]*\Z")
_NOT_IN_SEGMENT = re.compile(rb"[^a-zA-Z0-9\-._~!$&'()*+,;=:@]")
_IP_BASED = frozenset(
    "http https ftp tftp sftp ssh svn+ssh telnet nntp gopher wais ldap prospero".split()  # noqa: SIM905
)


class InvalidURI(Exception):  # noqa: N818  # the library's own name
    """Addressable's `InvalidURIError`; its text is what the operator reads."""


class URI(NamedTuple):
    """The parts of a URI (RFC 3986, appendix B), None where one is absent; `path` is never absent."""

    scheme: str | None = None
    authority: str | None = None
    path: str = ""
    query: str | None = None
    fragment: str | None = None

    def __str__(self) -> str:
        scheme = "" if self.scheme is None else f"{self.scheme}:"
        authority = "" if self.authority is None else f"//{self.authority}"
        query = "" if self.query is None else f"?{self.query}"
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return scheme + authority + self.path + query + fragment

    @property
    def host(self) -> str:
        """The authority without user and port; empty where there is none."""
        without_user = re.sub(r"^[^\[\]]*@", "", self.authority or "", count=1)
        return re.sub(r":[^:@\[\]]*$", "", without_user, count=1)

    @property
    def is_relative(self) -> bool:
        """No scheme."""
        return self.scheme is None

    def bare(self) -> URI:
        """Without what its fragment says; a fragment leaves an empty one behind, as in the library."""
        return self._replace(fragment="") if self.fragment else self


@lru_cache(maxsize=512)
def parse(text: str) -> URI:
    """The parts of `text`. Raises InvalidURI, in the library's words."""
    match = _PARTS.search(text)
    scheme, authority, path, query, fragment = match.groups() if match else (None, None, "", None, None)
    uri = URI(scheme, None if authority is None else _with_port(authority), path, query, fragment)
    if scheme is not None and not _SCHEME.match(scheme):
        raise InvalidURI(f"Invalid scheme format: '{scheme}'")
    _check(uri)
    return uri


def _with_port(authority: str) -> str:
    """The authority with its port as a number; none where it is 0 or empty."""
    found = _PORT.search(authority)
    if not found:
        return authority
    port = found[1]
    if port and not re.search(r"(?m)^[0-9]+$", port):
        raise InvalidURI(f'Invalid port number: "{port}"')
    digits = re.match(r"[0-9]+", port.strip())
    number = int(digits[0]) if digits else 0
    return authority[: found.start()] + (f":{number}" if number else "")


def _two_slashes(uri: URI) -> InvalidURI:
    return InvalidURI(f"Cannot have a path with two leading slashes without an authority set: '{uri}'")


def _check(uri: URI) -> None:
    host, path = uri.host, uri.path
    if uri.scheme in _IP_BASED and not host and not path:
        raise InvalidURI(f"Absolute URI missing hierarchical segment: '{uri}'")
    if uri.authority is None and path.startswith("//"):
        raise _two_slashes(uri)
    inner = _BRACKETS.match(host)
    if _HOST_REFUSES.search(host) or (inner and not _BRACKETED.match(inner[1])):
        raise InvalidURI(f"Invalid character in host: '{host}'")


def join(base: URI, path: str) -> URI:
    """`base` with `path` put in the place of its last segment."""
    relative = parse(path)
    if not path:
        return base
    if not relative.path:
        joined = base.path
    elif relative.path.startswith("/"):
        joined = _without_dots(relative.path)
    else:
        folder = base.path.rpartition("/")[0] + "/" if "/" in base.path else ""
        joined = _without_dots((folder or ("/" if base.authority is not None else "")) + relative.path)
    query = relative.query if relative.path or relative.query is not None else base.query
    return URI(base.scheme, base.authority, joined, query, relative.fragment)


def _without_dots(path: str) -> str:
    """RFC 3986 section 5.2.4, and no step above the top."""
    kept: list[str] = []
    segments = path.split("/")
    for place, segment in enumerate(segments):
        if segment in (".", ".."):
            if segment == ".." and kept and kept != [""]:
                kept.pop()
            if place == len(segments) - 1:
                kept.append("")
        else:
            kept.append(segment)
    return "/".join(kept)


def as_file(uri: URI) -> URI:
    """A relative URI as that of a file below the root, where the platform's processes stand."""
    if not uri.is_relative:
        return uri
    path = uri.path if uri.path.startswith("/") else "/" + uri.path
    path = path.strip().replace("\\", "/")
    if path.startswith("//"):
        raise _two_slashes(URI("file", path=path))
    segments = path.split("/")
    return URI("file", "", _without_dots("/".join(map(_normal_segment, segments))))


def _normal_segment(segment: str) -> str:
    """Percent-encoded where it must be, and nowhere else."""
    from urllib.parse import unquote_to_bytes

    text = unquote_to_bytes(segment.encode("utf-8", "surrogatepass"))
    return _NOT_IN_SEGMENT.sub(lambda found: b"%%%02X" % ord(found[0]), text).decode("ascii")


def decoded(uri: URI) -> URI:
    """The URI with its percent-escapes taken out, read anew."""
    from urllib.parse import unquote

    text = str(uri)
    return parse(unquote(text)) if "%" in text else uri
