"""Redaction: detects secrets by name or by format, and replaces them."""

import re
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from osbctl.paths import JsonValue, Path, entries, pointer

SECRET = "(secret)"  # noqa: S105  # the replacement

SURE_LENGTH = 8
"""Passwords of at least this many characters do not occur in a catalog by chance."""

_SURE = ("password", "passwd", "secret", "api_key", "apikey", "access_key", "private_key", "token")
_PERHAPS = ("passphrase", "credential", "key", "pwd")
_SHORT = {"auth", "pass", "pw", "sas", "sig", "signature"}
"""Matched only as the last word of a parameter's name, as in X-Amz-Signature."""

MAX_TEXT = 20_000
"""Maximum number of characters of one text on a page."""

_MASK = "***"
_USER = re.compile(
    r"(?<=://)(?:"
    r"[^\s/?#@:]*:(?!\d*(?:[/?#]|$))\S{0,1000}"  # user:password, which may contain any character if unescaped; no port
    r"|[^\s/?#]*"
    r")@"
)
_PARAMETER = re.compile(
    r"(?<![\w.-])([\w.-]+)(\s{0,3}=\s{0,3})"
    r"""("[^"]*"|'[^']*'|\\?["']?[^\s&;,"'<>]+)"""
)


@lru_cache(1_000)
def is_secret_name(name: str) -> bool:
    """Return whether a field of this name certainly holds a secret."""
    return any(word in name.lower().replace("-", "_") for word in _SURE)


@lru_cache(1_000)
def may_be_secret_name(name: str | int) -> bool:
    """Return whether a field of this name may hold a secret, so that its value must not be displayed."""
    return isinstance(name, str) and any(word in name.lower() for word in (*_SURE, *_PERHAPS))


_SURE_NAMES = "|".join(word.replace("_", "[_-]") for word in _SURE)
_SECRET_FIELD = re.compile(
    rf"""(["']?(?<![\w-])[\w-]{{0,40}}(?:{_SURE_NAMES})[\w-]{{0,40}}["']?\s{{0,9}}:\s{{0,9}})"""
    r"""("(?:[^"\\]|\\.)*"?|'[^']*'?|\[[^\]]*|\{[^}]*|[^,}\]]+)""",
    re.IGNORECASE,
)


_USER_IN_LINE = re.compile(r"""(?<=://)[^\s/?#"'@:]*:[^\s/?#"'@]*(?=@)""")


@lru_cache(16)
def mask_secrets(line: str) -> str:
    """A line of JSON or YAML with as many asterisks in place of each secret.

    Secrets are the values of fields that certainly hold one, and the user and password of a URL.
    """
    line = _USER_IN_LINE.sub(lambda match: "*" * len(match[0]), line)
    return _SECRET_FIELD.sub(lambda match: match[1] + "*" * len(match[2]), line)


def redact_text(text: str) -> str:
    """Redact secrets in a text: the userinfo of URLs, and parameters like `token=…`."""
    if "://" in text and "@" in text:
        text = _USER.sub(f"{_MASK}@", text)
    return _PARAMETER.sub(_mask_secret_parameter, text) if "=" in text else text


def redact(value: JsonValue, known: frozenset[Any] = frozenset()) -> JsonValue:
    """Redact a value: fields with secret names, secrets in texts, and the `known` texts and numbers."""
    if isinstance(value, dict):
        return {redact_text(k): redact_field(k, inner, known) for k, inner in value.items()}
    if isinstance(value, list):
        return [redact(inner, known) for inner in value]
    if isinstance(value, str):
        # Prefixes, because other values may be derived from known ones.
        return SECRET if value.startswith(tuple(k for k in known if isinstance(k, str))) else redact_text(value)
    return SECRET if not isinstance(value, bool) and value in known else value


def redact_field(name: str | int, value: JsonValue, known: frozenset[Any] = frozenset()) -> JsonValue:
    """Redact the value of a field with this name; see `redact`."""
    if value is None or isinstance(value, bool) or not may_be_secret_name(name):
        return redact(value, known)
    return SECRET


def _mask_secret_parameter(match: re.Match[str]) -> str:
    name, equals, _ = match.groups()
    is_short = re.split(r"[-_.]", name.lower())[-1] in _SHORT
    return f"{name}{equals}{_MASK}" if is_short or may_be_secret_name(name) else match.group()


def find_secret_pointers(secrets: tuple[str, ...], data: JsonValue) -> list[str]:
    """The JSON pointers of the keys and values in `data` that contain one of `secrets`, in any case or percent-encoded.

    Skips the secret of a dashboard client, which belongs there and is not stored.
    """
    wanted = [secret.casefold() for secret in secrets]
    found = []
    todo: list[tuple[Path, JsonValue]] = [((), data)]
    while todo:
        path, value = todo.pop()
        if any(secret in _searchable_text(value) for secret in wanted):
            found.append(pointer(path))
        is_client = path[:1] == ("services",) and path[2:] == ("dashboard_client",) and isinstance(path[1], int)
        todo += [((*path, step), below) for step, below in entries(value) if not (is_client and step == "secret")]
    return found


def _searchable_text(value: JsonValue) -> str:
    """A string, or the keys of an object, with and without percent-encoding, casefolded."""
    text = value if isinstance(value, str) else "\0".join(value) if isinstance(value, dict) else ""
    return f"{text}\0{unquote(text)}".casefold()


class Redactor:
    """Redacts the texts of a page, and counts the redactions."""

    def __init__(self) -> None:
        self.left_out = 0

    def redact(self, value: object, limit: int = MAX_TEXT) -> str:
        """Redact and truncate a text, and count it if it changed; empty for other values."""
        if not isinstance(value, str):
            return ""
        cut = value if len(value) <= limit else f"{value[:limit]} … ({len(value):,} characters)"
        shown = redact_text(cut)
        self.left_out += shown != cut
        return shown

    def must_redact(self, name: str) -> bool:
        """Return whether the value of `name` must be redacted, and count it if so."""
        hidden = may_be_secret_name(name)
        self.left_out += hidden
        return hidden
