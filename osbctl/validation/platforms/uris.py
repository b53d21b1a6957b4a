"""URIs as the Ruby library Addressable reads them, as far as Cloud Foundry's treatment of schemas needs it."""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

_PARTS = re.compile(r"^(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*")
_HOST = re.compile(r"[^\s<>\\^`{|}\"]*")


class Uri(NamedTuple):
    """The five parts of a URI (RFC 3986, appendix B); None where one is absent."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None

    @property
    def host(self) -> str:
        """The authority without userinfo and port."""
        return re.sub(r":\d*$", "", (self.authority or "").rpartition("@")[2])

    def __str__(self) -> str:
        scheme = f"{self.scheme}:" if self.scheme is not None else ""
        authority = f"//{self.authority}" if self.authority is not None else ""
        query = f"?{self.query}" if self.query is not None else ""
        fragment = f"#{self.fragment}" if self.fragment is not None else ""
        return f"{scheme}{authority}{self.path}{query}{fragment}"


def parse(text: str) -> Uri:
    """The parts of `text`; any text has some."""
    match = _PARTS.match(text)
    assert match
    scheme, authority, path, query, fragment = match.groups()
    return Uri(scheme, authority, path, query, fragment)


def is_valid(text: str) -> bool:
    """Whether Addressable parses `text` without complaint."""
    uri = parse(text)
    if uri.scheme is not None and not _SCHEME.fullmatch(uri.scheme):
        return False
    if uri.scheme is not None and not uri.host and not uri.path and uri.scheme != "file":
        return False
    if uri.authority is not None and not _HOST.fullmatch(uri.host):
        return False
    return not (uri.authority is None and uri.path.startswith("//"))


def joined(base: Uri, path: str) -> Uri:
    """A relative path put in the place of the last step of the base's (RFC 3986, 5.2)."""
    if not path:
        return base._replace(fragment=None)
    if not path.startswith("/"):
        folder = base.path.rpartition("/")[0]
        path = f"{folder}/{path}" if folder or base.authority is not None else path
    return base._replace(path=_without_dots(path), query=None, fragment=None)


def _without_dots(path: str) -> str:
    clean = posixpath.normpath(path)
    while clean.startswith(("../", "/../")):
        clean = clean.replace("../", "", 1)
    return "" if clean in (".", "..") else clean


def unescaped(text: str) -> str:
    """`text` with its percent-escapes decoded."""
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)
