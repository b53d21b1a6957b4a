"""A password that was sent to a broker: is it in what came back, and the text without it."""

import html
import re
from base64 import b64encode
from collections.abc import Iterator
from itertools import takewhile
from urllib.parse import unquote_to_bytes

from osbctl.paths import JsonPath, JsonValue, entries, pointer
from osbctl.redaction import MASK

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
