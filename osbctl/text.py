"""Displaying untrusted text: escaping, styling, wrapping, suggestions."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, ClassVar

ELLIPSIS = "…"

LIST_HINT = "write a list of the values, without 0, 1 and so on"
"""The hint on a list that is written with its indexes as keys."""

_UNSAFE = {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
"""Unicode categories that are escaped: controls, direction marks, line separators."""

_JOINERS = {"\u200d", "\ufe0f"}
"""Harmless format characters of emoji."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""ASCII control characters, except line ends and tabs."""

_COMMAND = re.compile(r"##(?=\w*\[)|(?<!\S)::(?=[a-z-]*[g-z-])", re.IGNORECASE)
"""Prefixes of commands to CI systems: `##vso[` (Azure), `##teamcity[` and `##[` (GitHub) anywhere in a line,
`::error` (GitHub) after blanks. No IPv6 address matches.
"""


class AnsiStyle:
    """Colours text for a terminal, if colours are enabled. Styles are named after what they mark."""

    CODES: ClassVar = {
        **dict.fromkeys(("error", "refused", "refuses", "crashes"), "1;31"),
        **dict.fromkeys(("breaking", "removed"), "31"),
        **dict.fromkeys(("safe", "accepts", "added"), "32"),
        **dict.fromkeys(("warning", "risky", "unclear"), "33"),
        "info": "36",
        "bold": "1",
        "dim": "2",
    }

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{self.CODES[style]}m{text}\x1b[0m" if self._color else text


_COLORS = re.compile(r"\x1b\[[\d;]*m")
_INERT = "\udc23\udc3a"
_LONGEST = 80


def escape_line(text: str) -> str:
    """Escape line ends and characters that control a terminal or mislead readers."""
    if text.isascii() and text.isprintable() and "##" not in text and "::" not in text:
        return text
    return "".join(map(_escape_character, _mark_ci_commands(text)))


def format_key(key: str) -> str:
    """The key of a field, cut short, safe to print."""
    return escape_line(key) if len(key) <= 60 else escape_line(key[:59]) + ELLIPSIS


def _mark_ci_commands(text: str) -> str:
    """Replace the second character of CI commands by a surrogate, which is then escaped."""
    return _COMMAND.sub(lambda found: found[0][0] + chr(0xDC00 + ord(found[0][0])), text)


def is_safe_character(character: str) -> bool:
    """Return whether a character needs no escape."""
    return unicodedata.category(character) not in _UNSAFE or character in _JOINERS


def escape_text(text: str, pairs: bool = False) -> str:
    r"""Escape unsafe characters, except line ends and tabs, as `\uXXXX` for quoted strings of JSON and YAML.

    Characters beyond U+FFFF become `\UXXXXXXXX` (YAML), with `pairs` a surrogate pair (JSON).
    """
    text = escape_ci_commands(text)
    if text.isascii() and not _CONTROL.search(text):
        return text
    unsafe = {ord(c): _unicode_escape(ord(c), pairs) for c in set(text) if c not in "\n\t" and not is_safe_character(c)}
    return text.translate(unsafe)


def escape_ci_commands(text: str) -> str:
    r"""Escape CI commands: `#\u0023` for `##`, likewise for `::`; valid in quoted strings of JSON and YAML."""
    return _COMMAND.sub(lambda found: rf"{found[0][0]}\u{ord(found[0][0]):04x}", text)


def json_text(value: Any) -> str:
    """`value` as indented JSON, safe for terminals and logs of CI systems; ends with a newline."""
    import json

    return escape_text(json.dumps(value, indent=2, ensure_ascii=False), pairs=True) + "\n"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean …?` with the closest known word, or the only one with the prefix `word`. Empty without one."""
    known = list(known)
    begun = [name for name in known if len(word) > 2 and name.startswith(word)]
    meant = closest_word(word, known) or (begun[0] if len(begun) == 1 else "")
    return f"did you mean {meant}?" if meant else ""


def closest_word(word: str, known: Iterable[str]) -> str:
    """The known word closest to `word`, ignoring case. Empty if there is none, or several equally close ones.

    Words of four letters may differ by one edit; each twelve letters allow another.
    """
    asked = word.casefold()[:_LONGEST]
    found = []
    for name in known:
        other = name.casefold()[:_LONGEST]
        length = max(len(asked), len(other))
        max_edits = 1 + length // 12 if length > 3 else 0
        if abs(len(asked) - len(other)) <= max_edits and (edits := _edit_distance(asked, other)) <= max_edits:
            found.append((edits, name))
    fewest = min(found, default=(0, ""))
    several = fewest[0] > 0 and sum(edits == fewest[0] for edits, _ in found) > 1  # 2.18 is not a typo for 2.13
    return "" if several else fewest[1]


def _edit_distance(word: str, other: str) -> int:
    """Optimal string alignment distance: letters added, omitted, replaced, or swapped with the next."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(word):
        row = [i + 1]
        for j, b in enumerate(other):
            fewest = min(rows[i][j] + (a != b), rows[i][j + 1] + 1, row[j] + 1)
            swapped = i and j and a == other[j - 1] and b == word[i - 1]
            row.append(min(fewest, rows[i - 1][j - 1] + 1) if swapped else fewest)
        rows.append(row)
    return rows[-1][-1]


def _unicode_escape(code: int, pairs: bool) -> str:
    if code < 0x10000:
        return f"\\u{code:04X}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}" if pairs else f"\\U{code + 0x10000:08X}"


def fingerprint(text: str) -> str:
    """Hash of `text` as 32 hexadecimal digits."""
    import hashlib  # loads OpenSSL, and most reports have no fingerprints

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def plural(number: int, word: str) -> str:
    """`1 plan`, `1,200 plans`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def join_sentences(parts: Iterable[str]) -> str:
    """Join sentences with full stops, unless one ends with its own punctuation."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts).removesuffix(".")


def excerpt_with_carets(line: str, column: int, end: int = 0, width: int = 100) -> tuple[str, str]:
    """Shorten `line` to `width` characters around `column` (from 1); returns it and a line of carets.

    They mark the columns from `column` to `end`, exclusive (0: one character), also for wide and escaped characters.
    """
    at = min(max(column - 1, 0), len(line))
    start, stop = 0, len(line)
    if stop > width:
        start = max(0, min(at - width // 3, stop - width))
        stop = start + width
    last = max(at, min(end - 1, stop))
    if stop - start == len(line) and line.isascii() and escape_line(line) == line:  # nearly every line
        return line, " " * at + "^" * max(1, last - at)
    # Escape only the excerpt: a line may be a whole catalog with thousands of findings.
    piece = _mark_ci_commands(line[start:stop]).replace("\t", " ")
    before, meant = escape_line(piece[: at - start]), escape_line(piece[at - start : last - start])
    after = escape_line(piece[last - start :]) + (ELLIPSIS if stop < len(line) else "")
    before = (ELLIPSIS if start else "") + before
    return before + meant + after, " " * display_width(before) + "^" * max(1, display_width(meant))


def wrap_line(line: str, width: int, indent: str = "    ") -> str:
    """Wrap `line` at blanks to `width` terminal cells (0: no wrapping), with `indent` before continuation lines.

    Colours take no space; a word longer than a line gets its own line.
    """
    if not width:
        return line
    first, *words = line.split(" ")
    lines, room = [first], width - display_width(_COLORS.sub("", first))
    for word in words:
        taken = 1 + display_width(_COLORS.sub("", word))
        if taken > room and lines[-1].strip():
            lines.append(indent + word)
            room = width - len(indent) - taken + 1
        else:
            lines[-1] += f" {word}"
            room -= taken
    return "\n".join(lines)


def display_width(text: str) -> int:
    """Number of terminal cells of `text`: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    shown = [character for character in text if not unicodedata.combining(character) and character not in _JOINERS]
    return len(shown) + sum(unicodedata.east_asian_width(character) in ("W", "F") for character in shown)


def cut_to_width(text: str, width: int) -> str:
    """`text` in at most `width` terminal cells, with `…` in place of what is cut off."""
    if display_width(text) <= width:
        return text
    while display_width(text) > width - 1:
        text = text[: min(len(text) - 1, width)]
    return text.rstrip() + ELLIPSIS


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table with padded columns; programs can split them at blanks if no cell has any."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell + " " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()


def _escape_character(character: str) -> str:
    if is_safe_character(character):
        return character
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    code = ord(character) - 0xDC00 if character in _INERT else ord(character)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


@cache
def semantic_version_pattern() -> re.Pattern[str]:
    """Pattern of Semantic Versioning 2.0 (grammar of https://semver.org/spec/v2.0.0.html), for `fullmatch`."""
    number, word = r"(?:0|[1-9][0-9]*)", r"[0-9a-zA-Z-]+"
    identifier = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
    before = rf"(?:-{identifier}(?:\.{identifier})*)?"
    return re.compile(rf"{number}\.{number}\.{number}{before}(?:\+{word}(?:\.{word})*)?")
