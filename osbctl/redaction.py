"""Redaction: detects secrets by name or by format, and replaces them."""

import html
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import takewhile
from typing import Any
from urllib.parse import unquote_to_bytes

from osbctl.paths import BY_NAME, LITERALS, JsonValue, Path, entries, pointer

SECRET = "(secret)"  # noqa: S105  # the replacement

SURE_LENGTH = 8
"""Passwords of at least this many characters do not occur in a catalog by chance."""

_SURE = ("password", "passwd", "secret", "api_key", "apikey", "access_key", "private_key", "token")
_PERHAPS = ("passphrase", "credential", "key", "pwd")
_SHORT = {"auth", "pass", "pw", "sas", "sig", "signature"}
"""Matched only as the last word of a parameter's name, as in X-Amz-Signature."""

MAX_TEXT = 20_000
"""Maximum number of characters of one text on a page."""

_SHORTEST_PREFIX = 4
_MAX_LEVELS = 200

_MASK = "***"
_USER = re.compile(
    r"(?<=://)(?:"
    r"[^\s/?#@:]*:(?!\d*(?:[/?#]|$))\S{0,1000}"  # user:password, which may contain any character if unescaped; no port
    r"""|[^\s/?#@:]*:\d+[/?#][^\s"',<>]{0,1000}[^\s"',<>/]"""  # nor that before a path like /@name
    r"|[^\s/?#]*"
    r")@"
)
_CUT_USER = re.compile(r"""(?<=://)[^\s/?#@:"'\[\]]+:(?=[^\s/?#@"']*[^\d\s/?#@"'…])[^\s/?#@"'…]+(?=["'…]|$)""")
"""User and password of a URL whose end was cut off: what follows a host is a port, of digits."""
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


def is_secret_path(path: Path) -> bool:
    """Return whether the value at `path` of a catalog, a schema or a request may be secret, so that none may see it.

    It is a dashboard client or a part of one, or stands below a secret name. Of a parameter with such a name, its
    literals are secret, as `default` and `enum`, not the other keywords.
    """
    return any(_hides_what_follows(path, index) for index in range(len(path)))


def _hides_what_follows(path: Path, index: int) -> bool:
    step, below = path[index], path[index + 1 :]
    if isinstance(step, str) and step.casefold() == "dashboard_client":
        return below not in (("id",), ("redirect_uri",))
    is_parameter = index > 0 and path[index - 1] in BY_NAME and below
    return may_be_secret_name(step) and (not is_parameter or not LITERALS.isdisjoint(below))


_NAMES = "|".join(word.replace("_", "[_-]") for word in (*_SURE, *_PERHAPS))
_SECRET_FIELD = re.compile(
    rf"""(["']?(?<![\w-])[\w-]{{0,40}}(?:{_NAMES})[\w-]{{0,40}}["']?\s{{0,9}}:\s{{1,9}}|"[\w-]{{0,40}}(?:{_NAMES})[\w-]{{0,40}}":)"""
    r"""("(?:[^"\\]|\\.)*"?|'[^']*'?|[\[{]|[^,}\]]+)""",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"""[\[{\]}]|"(?:[^"\\]|\\.)*"|'[^']*'""")
_USER_IN_LINE = re.compile(r"""(?<=://)(?:[^\s/?#"'@:]*:(?!\d*(?:[/?#"']|$))[^\s"']{0,1000}|[^\s/?#"']*)(?=@)""")


@lru_cache(16)
def mask_secrets(line: str) -> str:
    """A line of JSON or YAML with as many asterisks in place of each secret.

    Secrets are the values of fields that may hold one, as far as they stand in the line, and secrets in texts.
    """
    line = _USER_IN_LINE.sub(lambda match: "*" * len(match[0]), line)
    line = _PARAMETER.sub(partial(_mask_secret_parameter, keep_length=True), line)
    pieces, at = list[str](), 0
    while match := _SECRET_FIELD.search(line, at):
        start = match.start(2)
        end = _find_closing_bracket(line, start) if match[2] in ("[", "{") else match.end()
        pieces += line[at:start], "*" * (end - start)
        at = end
    return "".join([*pieces, line[at:]])


def _find_closing_bracket(line: str, start: int) -> int:
    """The end of the list or object that begins at `start`, or of the line."""
    level = 0
    for match in _BRACKET.finditer(line, start):
        level += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if level == 0:
            return match.end()
    return len(line)


def redact_text(text: str) -> str:
    """Redact secrets in a text: the userinfo of URLs, and parameters like `token=…`."""
    if "://" in text:
        text = _CUT_USER.sub(_MASK, _USER.sub(f"{_MASK}@", text))
    return _PARAMETER.sub(_mask_secret_parameter, text) if "=" in text else text


def redact(
    value: JsonValue, known: frozenset[Any] = frozenset(), *, by_name: bool = True, levels: int = _MAX_LEVELS
) -> JsonValue:
    """Redact a value: fields with secret names, secrets in texts, and the `known` texts and numbers.

    `by_name` false: fields with secret names as others. Whatever is more `levels` deep is redacted as well.
    """
    if isinstance(value, dict | list) and not levels:
        return SECRET
    if isinstance(value, dict):
        return {
            redact_text(k): redact_field(k, inner, known, by_name=by_name, levels=levels - 1)
            for k, inner in value.items()
        }
    if isinstance(value, list):
        return [redact(inner, known, by_name=by_name, levels=levels - 1) for inner in value]
    if isinstance(value, str):
        # Prefixes, because other values may be derived from known ones.
        begins = tuple(k for k in known if isinstance(k, str) and len(k) >= _SHORTEST_PREFIX)
        return SECRET if value in known or value.startswith(begins) else redact_text(value)
    return SECRET if not isinstance(value, bool) and value in known else value


def redact_field(
    name: str | int,
    value: JsonValue,
    known: frozenset[Any] = frozenset(),
    *,
    by_name: bool = True,
    levels: int = _MAX_LEVELS,
) -> JsonValue:
    """Redact the value of a field with this name; see `redact`."""
    if value is None or isinstance(value, bool) or not (by_name and may_be_secret_name(name)):
        return redact(value, known, by_name=by_name, levels=levels)
    return SECRET


def _mask_secret_parameter(match: re.Match[str], *, keep_length: bool = False) -> str:
    name, equals, value = match.groups()
    is_short = re.split(r"[-_.]", name.lower())[-1] in _SHORT
    mask = "*" * len(value) if keep_length else _MASK
    return f"{name}{equals}{mask}" if is_short or may_be_secret_name(name) else match[0]


def find_secret_pointers(password: "SentPassword", data: JsonValue) -> list[str]:
    """The JSON pointers of the keys and values in `data` that contain the password in any form.

    Skips the secret of a dashboard client, which belongs there and is not stored.
    """
    found = []
    todo: list[tuple[Path, JsonValue]] = [((), data)]
    while todo:
        path, value = todo.pop()
        texts = [value] if isinstance(value, str) else value if isinstance(value, dict) else ()
        if any(map(password.is_in, texts)):
            found.append(pointer(path))
        is_client = path[:1] == ("services",) and path[2:] == ("dashboard_client",) and isinstance(path[1], int)
        todo += [((*path, step), below) for step, below in entries(value) if not (is_client and step == "secret")]
    return found


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
        # Of three characters, base64 makes four: what is around the password changes the first and last of its own.
        alone = [b64encode(b"\0" * n + data).decode()[(0, 2, 3)[n] : -4] for n in range(3)]
        sent = b64encode(f"{user}:".encode("utf-8", "surrogatepass") + data).decode()
        units = password.encode("utf-16-be", "surrogatepass")
        as_in_json = "".join(chr(int.from_bytes(units[at : at + 2])) for at in range(0, len(units), 2))
        words = [password, data.decode("latin-1"), as_in_json]
        codes = [sent, sent.rstrip("="), *([*alone, data.hex()] if len(password) >= SURE_LENGTH else [])]
        self._forms = {_normalize(form) for form in [*words, *codes] if password} - {""}
        # Half a password may be an ordinary word, half a code is none.
        halves = [half for code in codes for half in (code[: len(code) // 2], code[-(len(code) // 2) :])]
        self._telling = self._forms | {_normalize(half) for half in halves if len(half) >= SURE_LENGTH and password}

    def is_in(self, text: str) -> bool:
        """Return whether a text contains the password in one of its forms, or half of its base64."""
        plain = _normalize(text)
        return any(form in plain for form in self._telling)

    def redact(self, text: str) -> str:
        """Replace the password in a text that was received, also the longer half of one that was cut off."""
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
                pieces += text[done:start], _MASK
            done = max(done, end)
        return "".join([*pieces, text[done:]])


def _find_pieces(form: str, text: str) -> Iterator[tuple[int, int]]:
    """The spans of the first or last half of a form in a text, with as much of the rest as is there."""
    half = min(len(form), max(6, (len(form) + 1) // 2))  # a shorter piece may be an ordinary word
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
        self.left_out += shown != cut or _MASK in shown or SECRET in shown  # views redact some texts before
        return shown

    def must_redact(self, name: str) -> bool:
        """Return whether the value of `name` must be redacted, and count it if so."""
        hidden = may_be_secret_name(name)
        self.left_out += hidden
        return hidden
