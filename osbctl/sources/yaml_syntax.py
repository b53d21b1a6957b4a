"""What libyaml cannot read: placeholders, which it takes masked, and syntax errors, with hints."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import yaml

from osbctl.findings import Finding
from osbctl.messages import Message, Sentence
from osbctl.sources.places import Lines

_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_NO_BREAK_SPACE = re.compile("^[ ]*(?:-[ ]*)?([\u00a0\u2007\u202f\u3000]+)", re.MULTILINE)
_NO_SPACE = re.compile(r"^[ ]*(?:-[ ]+)*[\w.-]+(:)(?=[^\s:/])", re.MULTILINE)

_HINTS = {
    "mapping values are not allowed in this context": "check the indentation, and quote text that contains a colon",
    "did not find expected key": "indent it like the lines above, and close every quote",
    "did not find expected '-' indicator": "indent it like the keys of the item above",
    "found unexpected end of stream": "is a bracket never closed?",
    "did not find expected ',' or '}'": "is a comma, or the closing bracket, missing?",
    "did not find expected ',' or ']'": "is a comma, or the closing bracket, missing?",
    "did not find expected <document start>": "a catalog is one document: is this text after the end of it?",
    "block sequence entries are not allowed in this context": "an item begins on a line of its own, after spaces alone",
    "found unknown escape character": "write \\\\ for a backslash, or put the text in single quotes",
    "did not find expected alphabetic or numeric character": "a text that begins with & or * stands in quotes",
}

_PLACEHOLDER = re.compile(r"(?<![^\s:,\[{?-])@(?=[\w.-]+@)")
"""The beginning of `@project.version@`, which Maven replaces, and which YAML cannot scan."""
_MASK = "\uf8fe"
"""A character for private use that replaces the first `@`."""


def mask_placeholders(text: str) -> str:
    """The text with the same offsets that YAML can scan, or the same text if it has no placeholders of Maven."""
    return text if _MASK in text else _PLACEHOLDER.sub(_MASK, text)


class PlaceholderLoader(yaml.CSafeLoader):
    """A loader of a text with placeholders; `placeholders` are the marks of plain scalars that begin with one."""

    def __init__(self, text: str) -> None:
        super().__init__(mask_placeholders(text))
        self.placeholders: list[Any] = []

    def get_event(self) -> Any:
        """Return the next event, with the value as it is in the text."""
        event: Any = super().get_event()
        if isinstance(event, yaml.ScalarEvent) and _MASK in event.value:
            if event.value[0] == _MASK and event.style not in ("'", '"', "|", ">"):
                self.placeholders.append(event.start_mark)
            event.value = event.value.replace(_MASK, "@")
        return event


def syntax_finding(error: Any, text: str, lines: Lines) -> Finding:
    """Explain a `yaml.YAMLError` in a finding."""
    context, begun = getattr(error, "context", None), getattr(error, "context_mark", None)
    mark = getattr(error, "problem_mark", None) or begun
    if mark is None:
        return _unprintable_finding(text, lines)
    offset = min(mark.index, len(text))
    problem = str(getattr(error, "problem", None) or "this is not YAML")
    if problem in ("found character that cannot start any token", "found a tab character that violates indentation"):
        character = text[offset : offset + 1]
        if character == "\t":
            return lines.error("syntax", "a tab stands where YAML wants spaces", offset, "indent with spaces")
        return lines.error("syntax", f"no value can begin with {character!r}", offset, "put the text in quotes")
    if problem == "found invalid Unicode character escape code":
        return _bad_escape_finding(text, offset, lines)
    finding = _find_earlier_mistake(error, text, lines) or _find_quote_mistake(error, text, lines)
    if finding or (finding := _find_open_bracket(text, offset, lines)):
        return finding
    if problem == "could not find expected ':'" and begun:
        if text.startswith("{{", begun.index):
            return lines.error("syntax", "this line is not YAML", begun.index, "a template? render it first")
        hint = "write key: value, or indent it if it continues the text above"
        return lines.error("syntax", "a colon is missing behind this key", begun.index, hint)
    sentence: Sentence = f"not valid YAML: {problem}" + (f", {context}" if context else "")
    if begun and lines.at(begun.index).line != lines.at(offset).line:
        sentence = Message("{} that began at {}", sentence, lines.place(begun.index, with_column=False))
    return lines.error("syntax", sentence, offset, _HINTS.get(problem, ""))


def _find_earlier_mistake(error: Any, text: str, lines: Lines) -> Finding | None:
    """Find a mistake in the line before the parser's error, which the parser reads as text of several lines."""
    stop = error.problem_mark.index
    before = text[: text.rfind("\n", 0, stop) + 1].rstrip()
    start = before.rfind("\n") + 1
    if finding := find_no_break_space(text, lines, start, stop):
        return finding
    found = _NO_SPACE.search(text[start:stop])
    message = "a space is missing behind the colon"
    return lines.error("syntax", message, start + found.start(1), "write key: value") if found else None


def find_no_break_space(text: str, lines: Lines, start: int = 0, stop: int | None = None) -> Finding | None:
    """Find the first line of `text[start:stop]` that is indented with no-break spaces, which are letters in YAML."""
    found = _NO_BREAK_SPACE.search(text[start:stop])
    message, hint = "a no-break space stands where YAML wants spaces", "indent with ordinary spaces"
    return lines.error("syntax", message, start + found.start(1), hint) if found else None


def _find_quote_mistake(error: Any, text: str, lines: Lines) -> Finding | None:
    """Find a quote that is not closed, or that is closed too early."""
    start, end = error.context_mark and error.context_mark.index, len(text)
    if error.context != "while scanning a quoted scalar":
        start, end = _last_quoted_range(text, error.problem_mark.index)
    if start is None:
        return None
    quote = text[start]
    if "\n" in text[start:end]:
        message = f"the quote {quote} that begins here is not closed in its line"
        return lines.error("syntax", message, start, f"close it with {quote}")
    hint = "in single quotes write '' for '" if quote == "'" else 'in double quotes write \\" for "'
    return lines.error("syntax", "text follows the closing quote", end, hint)


def _find_open_bracket(text: str, stop: int, lines: Lines) -> Finding | None:
    """Find a bracket that is open at the end, or behind a key where a line is indented no deeper than this key."""
    opened = _open_brackets(text, stop)
    before = "" if text[stop:].strip() else " before the end"
    for start in opened[-1:] if before else opened:
        key = re.compile(r" *(?:- +)*(?=[^\s\[{])").match(text, text.rfind("\n", 0, start) + 1)
        if key and re.compile(rf"\n {{0,{key.end() - key.start()}}}(?=[^\s\]}}#])").search(text, start, stop + 1):
            before = " before the next key or item"
        if before:
            message = f"the bracket {text[start]} that begins here is not closed{before}"
            return lines.error("syntax", message, start, f"close it with {'}' if text[start] == '{' else ']'}")
    return None


def _open_brackets(text: str, stop: int) -> list[int]:
    """Where the brackets begin that are open at `stop`."""
    opened: list[int] = []
    for token in _tokens_before(text, stop):
        if isinstance(token, (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)):
            opened.append(token.start_mark.index)
        elif isinstance(token, (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)):
            del opened[-1:]
    return opened


def _tokens_before(text: str, stop: int) -> Iterator[yaml.Token]:
    """The tokens that begin before `stop`, as far as the text can be scanned."""
    with suppress(yaml.YAMLError):
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if token.start_mark.index >= stop:
                break
            yield token


def _last_quoted_range(text: str, stop: int) -> tuple[int | None, int]:
    """Range of the quoted text that ends at `stop`."""
    last = None
    for token in _tokens_before(text, stop):
        last = token
    if last is None or getattr(last, "style", None) not in ("'", '"') or text[last.end_mark.index : stop].strip(" "):
        return None, 0
    return last.start_mark.index, last.end_mark.index


def _bad_escape_finding(text: str, offset: int, lines: Lines) -> Finding:
    digits = re.match(r"[0-9a-fA-F]{1,8}", text[offset : offset + 8])
    if digits and 0xD800 <= int(digits[0], 16) <= 0xDFFF:
        message = "half of a surrogate pair as an escape: YAML writes a character whole"
        return lines.error("lone-surrogate", message, offset, "write the character itself, or \\U and its 8 digits")
    return lines.error("syntax", "the escape is not a Unicode character", offset, "the last one is \\U0010FFFF")


def _unprintable_finding(text: str, lines: Lines) -> Finding:
    match = _UNPRINTABLE.search(text)
    what = f"the character U+{ord(match[0]):04X} is not allowed in YAML" if match else "this is not YAML"
    return lines.error("syntax", what, match.start() if match else 0, "write it as an escape in double quotes")
