"""Mask the secrets in a line of a source: of JSON or YAML, which may be cut off, faulty, or a text in a string.

A module of its own: its patterns take long to compile, and only a report with excerpts needs them.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from osbctl.messages import OPEN_TEXT, SECRET_WORDS, TEXT_END, mask_parameters

_NAMES = "|".join(word.replace("_", "[_-]") for word in SECRET_WORDS)
SECRET_WORD = re.compile(
    rf"{_NAMES}|dashboard[_-]?client|\\[^\"\\]{{0,200}}+\"\s*+(?::|=>)|(?<![\w*])\*[^\s:,\[\]{{}}]{{1,200}}+\s*+:",
    re.IGNORECASE,
)
"""What may be in a secret name, or be one, as one with an escape or of an alias."""
_QUOTES = r"""(?:\\*+["']){1,2}"""
"""The quote of a name, also of one in JSON or YAML that is in a string."""
_COLON = r"\s*+:\s*+"
_SECRET_FIELD = re.compile(
    rf"(?:{_NAMES})[\w.-]{{0,100}}+(?:{_QUOTES}|(?=\s*+:(?:\s|\\+[nrt]))){_COLON}(?=\S)", re.IGNORECASE
)
_PROPERTIES = re.compile(r"(?>(?:[!&][^\s,]*+\s++)*)")
_TEXT = re.compile(
    rf"""(?:{OPEN_TEXT}{TEXT_END}?|''(?=[^\s,}}\]'])(?>(?:[^']++|'(?!')|\'{{4}})*)(?:'')?|'(?>(?:[^']++|'')*)'?)"""
)
_VALUE = re.compile(
    rf"{_TEXT.pattern}"
    r"""(?:\s{0,9}[^\s,}\]#][^,}\]]*)?"""  # text that follows the closing quote by mistake
    r"""|(?:[|>][-+\d]*+)?\\+[nr](?>(?:[^"\\]|\\.)*)"""  # lines of YAML in a string, up to its end
    r"""|[^"\\]{0,200}+(?=\\+[nr])"""  # one such line
    r"""|[^,}\]]*"""
)
_BRACKET = re.compile(rf"""[\[{{\]}}]|(?<!\\){OPEN_TEXT}{TEXT_END}?|''(?![\s,}}\]'])[^']*''|'[^']*'""")
_USER_IN_LINE = re.compile(r"""(?<=://)(?:[^\s/?#"'@:]*:(?!\d*(?:[/?#"']|$))[^\s"']{0,1000}|[^\s/?#"']*)(?=@)""")


_CLIENT = re.compile(rf"(?:(?<![\w-])|(?<=\\[nrt]))dashboard[_-]?client(?:{_QUOTES})?{_COLON}(?=\S)", re.IGNORECASE)
_CLIENT_FIELD = re.compile(r"[^:]*+:\s*+")
_PUBLIC_CLIENT_FIELD = re.compile(
    rf"(?>(?:[\s,{{]|\\+[nrt])*)(?:{_QUOTES})?(?:id|redirect_uri)(?:{_QUOTES})?\s*+:\s*+"
    rf"""(?:{OPEN_TEXT}{TEXT_END}|''[^']*''|'[^']*'|[^"'\\,{{}}\[\]]*)"""
)


def _mask_clients(line: str) -> str:
    """A line with as many asterisks in place of what a dashboard client has beside its id and address."""
    pieces, at = list[str](), 0
    while match := _CLIENT.search(line, at):
        start = match.end()
        end = _find_end(line, start)
        pieces += line[at:start], _mask_fields(line[start:end]) if line[start] == "{" else "*" * (end - start)
        at = end
    return "".join([*pieces, line[at:]])


def _mask_fields(client: str) -> str:
    pieces, at = list[str](), 0
    while match := _CLIENT_FIELD.match(client, at):
        start = match.end()
        end, text = _find_end(client, start), _TEXT.match(client, start)
        if text and text.end() < end:  # a comma or a quote is missing: what follows may be anything
            end = len(client)
        is_public = _PUBLIC_CLIENT_FIELD.fullmatch(client, at, end)
        pieces += match[0], client[start:end] if is_public else "*" * (end - start)
        at = end
    return "".join([*pieces, client[at:]])


@lru_cache(16)
def mask_secrets(line: str, known: tuple[tuple[int, int], ...] = ()) -> str:
    """A line of JSON or YAML with as many asterisks in place of each secret.

    Secrets are the values of fields that may hold one, as far as they stand in the line, and secrets in texts; and what
    is at the `known` ranges of the line, from 0, whose names may stand above it.
    """
    line = _mask_clients(_mask_ranges(line, known))
    line = _USER_IN_LINE.sub(lambda match: "*" * len(match[0]), line)
    line = mask_parameters(line, keep_length=True)
    return _mask_ranges(line, _find_secret_fields(line))


def _mask_ranges(line: str, ranges: Iterable[tuple[int, int]]) -> str:
    pieces, at = list[str](), 0
    for start, end in ranges:
        pieces += line[at:start], "*" * (end - start)
        at = end
    return "".join([*pieces, line[at:]])


def _find_secret_fields(line: str) -> Iterator[tuple[int, int]]:
    """The ranges of the values of fields with a secret name, one after another."""
    at = 0
    while match := _SECRET_FIELD.search(line, at):
        at = _find_end(line, match.end())
        yield match.end(), at


def _find_end(line: str, start: int) -> int:
    """The end of the value that begins at `start`: of a list or an object, its closing bracket, or the line's end."""
    if properties := _PROPERTIES.match(line, start):
        start = properties.end()
    if not line.startswith(("[", "{"), start):
        value = _VALUE.match(line, start)
        assert value  # at least of no characters
        return value.end()
    level = 0
    for match in _BRACKET.finditer(line, start):
        level += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if level == 0:
            return match.end()
    return len(line)
