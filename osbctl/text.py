"""Text from outside made fit to be shown: no control characters, no escapes, no long lines; and a version's look."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from rich.console import RenderableType

ELLIPSIS = "…"

_UNSAFE = {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
"""Unicode categories that are shown as escapes: controls, direction marks, separators of lines."""

_JOINERS = {"\u200d", "\ufe0f"}
"""Format characters that emoji need and that do no harm."""

_COMMAND = re.compile(r"##(?=\w*\[)|(?<!\S)::(?=[a-z-]*[g-z-])", re.IGNORECASE)
"""Beginnings of commands to CI systems: `##vso[` (Azure), `##teamcity[` and `##[` (GitHub) anywhere in a line,
`::error` (GitHub) after blanks. No IPv6 address matches.
"""


class AnsiStyle:
    """Puts text into the colour of a style where colours are wanted: the style is a word of what is shown."""

    CODES: ClassVar = {
        "error": "1;31",
        "warning": "33",
        "info": "36",
        "refused": "1;31",
        "breaking": "31",
        "risky": "33",
        "safe": "32",
        "accepts": "32",
        "refuses": "1;31",
        "unclear": "33",
        "crashes": "1;31",
        "gone": "31",
        "come": "32",
        "bold": "1",
        "dim": "2",
    }

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, style: str) -> str:
        """`text` in the style, as it is where there are no colours."""
        return f"\x1b[{self.CODES[style]}m{text}\x1b[0m" if self._color else text


_COLORS = re.compile(r"\x1b\[[\d;]*m")


def escape_line(text: str) -> str:
    """`text` on one line, with characters that control a terminal or mislead a reader escaped."""
    if text.isascii() and text.isprintable() and "##" not in text and "::" not in text:
        return text
    return "".join(map(_shown, _inert(text)))


_INERT = "\udc23\udc3a"


def _inert(text: str) -> str:
    """`text` with the second character of what a CI system would obey as one that is shown as an escape."""
    return _COMMAND.sub(lambda found: found[0][0] + chr(0xDC00 + ord(found[0][0])), text)


def is_safe(character: str) -> bool:
    """Return whether a character may be shown as it is."""
    return unicodedata.category(character) not in _UNSAFE or character in _JOINERS


def escape_text(text: str, pairs: bool = False) -> str:
    r"""`text` with each unsafe character but line ends as `\uXXXX`, which quoted strings of JSON and YAML understand.

    Beyond U+FFFF it is `\UXXXXXXXX` (YAML), with `pairs` a surrogate pair (JSON). Tabs stay, too.
    """
    text = without_commands(text)
    if text.isascii() and "\x7f" not in text:
        return text
    unsafe = {ord(c): _escape(ord(c), pairs) for c in set(text) if c not in "\n\t" and not is_safe(c)}
    return text.translate(unsafe)


def without_commands(text: str) -> str:
    r"""`text` with `#\u0023`, as quoted strings may have it, for a `##` that a CI system would obey; so with `::`."""
    return _COMMAND.sub(lambda found: rf"{found[0][0]}\u{ord(found[0][0]):04x}", text)


def json_text(value: Any) -> str:
    """`value` as JSON to read, in a file, at a terminal or in the log of a CI system; it ends with a newline."""
    import json

    return escape_text(json.dumps(value, indent=2, ensure_ascii=False), pairs=True) + "\n"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean …?` with the known word that is closest, or the only one that `word` begins; empty without one."""
    known = list(known)
    begun = [name for name in known if len(word) > 2 and name.startswith(word)]
    meant = closest(word, known) or (begun[0] if len(begun) == 1 else "")
    return f"did you mean {meant}?" if meant else ""


def closest(word: str, known: Iterable[str]) -> str:
    """The known word that `word` is likely a slip of, in upper or lower case; empty where there is none, or several.

    One slip is taken for one in words of four letters, and one more for each twelve.
    """
    asked = word.casefold()[:_LONGEST]
    found = []
    for name in known:
        other = name.casefold()[:_LONGEST]
        length = max(len(asked), len(other))
        most = 1 + length // 12 if length > 3 else 0
        if abs(len(asked) - len(other)) <= most and (slips := _slips(asked, other)) <= most:
            found.append((slips, name))
    fewest = min(found, default=(0, ""))
    several = fewest[0] > 0 and sum(slips == fewest[0] for slips, _ in found) > 1  # 2.18 is no slip of 2.13
    return "" if several else fewest[1]


_LONGEST = 80


def _slips(one: str, other: str) -> int:
    """Optimal string alignment distance: letters added, omitted, replaced, or swapped with the next."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one):
        row = [i + 1]
        for j, b in enumerate(other):
            fewest = min(rows[i][j] + (a != b), rows[i][j + 1] + 1, row[j] + 1)
            swapped = i and j and a == other[j - 1] and b == one[i - 1]
            row.append(min(fewest, rows[i - 1][j - 1] + 1) if swapped else fewest)
        rows.append(row)
    return rows[-1][-1]


def _escape(code: int, pairs: bool) -> str:
    if code < 0x10000:
        return f"\\u{code:04X}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}" if pairs else f"\\U{code + 0x10000:08X}"


def plural(number: int, word: str) -> str:
    """`1 plan`, `1,200 plans`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def join_sentences(parts: Iterable[str]) -> str:
    """The parts one after the other, a full stop between them where none ends by itself."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts).removesuffix(".")


def excerpt(line: str, column: int, end: int = 0, width: int = 100) -> tuple[str, str]:
    """A piece of `line`, at most `width` characters, around `column` (from 1), and the line of carets below it.

    The carets stand under what lies from `column` to before the column `end` (0: under one character), whether or not
    characters are wide or escaped.
    """
    at = min(max(column - 1, 0), len(line))
    start, stop = 0, len(line)
    if stop > width:
        start = max(0, min(at - width // 3, stop - width))
        stop = start + width
    last = max(at, min(end - 1, stop))
    if (
        stop - start == len(line) and line.isascii() and escape_line(line) == line
    ):  # nearly every line: a cell a character
        return line, " " * at + "^" * max(1, last - at)
    # Before it is cut into pieces, and of them alone: a line may be a whole catalog, and hold thousands of findings.
    piece = _inert(line[start:stop]).replace("\t", " ")
    before, meant, after = map(
        escape_line, (piece[: at - start], piece[at - start : last - start], piece[last - start :])
    )
    head = ELLIPSIS if start else ""
    shown = head + before + meant + after + (ELLIPSIS if stop < len(line) else "")
    return shown, " " * display_width(head + before) + "^" * max(1, display_width(meant))


def wrapped(line: str, width: int, indent: str = "    ") -> str:
    """`line` in lines of at most `width` terminal cells, broken at blanks, `indent` before all but the first.

    Colours take no space; a word that is longer than a line stands on one of its own. 0: as it is.
    """
    if not width:
        return line
    first, *words = line.split(" ")
    lines, room = [first], width - _shown_cells(first)
    for word in words:
        taken = 1 + _shown_cells(word)
        if taken > room and lines[-1].strip():
            lines.append(indent + word)
            room = width - len(indent) - taken + 1
        else:
            lines[-1] += f" {word}"
            room -= taken
    return "\n".join(lines)


def _shown_cells(painted: str) -> int:
    return display_width(_COLORS.sub("", painted))


def display_width(text: str) -> int:
    """The terminal cells that `text` takes: two for a wide character, none for one that combines."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _shown(character: str) -> str:
    if is_safe(character):
        return character
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    code = ord(character) - 0xDC00 if character in _INERT else ord(character)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def rendered(parts: Iterable[RenderableType], width: int, *, colored: bool) -> str:
    """Render `parts` with rich for a terminal of `width` columns.

    Rendered whole before anything is written, because rich ends the process with 1 at a broken pipe.
    """
    import io

    from rich.console import Console

    file = io.StringIO()
    # With a width but no height, rich takes 80 columns where TERM is dumb.
    console = Console(
        file=file, width=width, height=25, color_system="standard" if colored else None, no_color=not colored,
        force_terminal=colored, highlight=False,
    )  # fmt: skip
    for part in parts:
        console.print(part)
    return file.getvalue()


@cache
def semantic_version() -> re.Pattern[str]:
    """A Semantic Version 2.0, as https://semver.org/spec/v2.0.0.html has its grammar; for `fullmatch`."""
    number, word = r"(?:0|[1-9][0-9]*)", r"[0-9a-zA-Z-]+"
    identifier = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
    before = rf"(?:-{identifier}(?:\.{identifier})*)?"
    return re.compile(rf"{number}\.{number}\.{number}{before}(?:\+{word}(?:\.{word})*)?")
