"""Parse bytes to a `Document`: UTF-8, then JSON or YAML; and a text to several documents."""

import re
from itertools import pairwise
from typing import Any

from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.paths import JsonPath, pointer
from osbctl.sources.document import Document, ParsedText, Syntax
from osbctl.sources.places import Lines, TextFault
from osbctl.sources.read_bytes import DEFAULT_LIMITS, Limits

_NAMED: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
_NOTHING_SAID = re.compile(r"(?:[ \t\r\n\ufeff]++|#[^\n]*+)*+")
"""Blank lines and comments at the beginning; comments are YAML, or a mistake in JSON."""
TEMPLATE = "a template? render it first"
_OTHER_KINDS = {
    **dict.fromkeys((".properties", ".ini", ".env"), "a file of properties"),
    **dict.fromkeys((".md", ".markdown", ".rst", ".adoc", ".html"), "a text for readers"),
    **dict.fromkeys(
        (".go", ".java", ".kt", ".groovy", ".py", ".rb", ".js", ".ts", ".cs", ".php", ".rs"), "source code"
    ),
    **dict.fromkeys((".sh", ".tf", ".hcl", ".toml", ".xml", ".gradle", ".sql"), "neither JSON nor YAML"),
}
"""Other kinds of file by their ending, in lower case; one that can be read as a catalog is one, whatever its name."""
_YTT = re.compile(r"^(?:[^#\n]*[ \t])?#@", re.MULTILINE)
_YTT_VALUE = re.compile(r"^[ \t]*(?:-[ \t]+)*(?:-|[\w.-]+:)[ \t]+#@", re.MULTILINE)
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_YAML_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_CONTENT = re.compile(r"^(?![ \t]*(?:#.*)?$|%|(?:---|\.\.\.)[ \t]*(?:#.*)?$)", re.MULTILINE)
"""The beginning of a line that is more than a comment, a directive or a mark between documents."""


def parse_document(data: bytes, name: str, *, limits: Limits = DEFAULT_LIMITS) -> ParsedText:
    """Parse JSON or YAML, whichever it looks like; `name` is for reports. Raises DocumentError: it is no object."""
    document = parse_text(decode_utf8(data, name), name, limits)
    document.check_faults(())
    if not isinstance(document.data, dict):
        raise DocumentError((not_object_finding(document, document.data, ()),))
    return document


def not_object_finding(document: Document, value: Any, path: JsonPath) -> Finding:
    """The finding about a value at `path` that must be an object."""
    if other := other_kind_finding(document.name):
        return other
    kinds = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    what = f"the value at {pointer(path)}" if path else "the document"
    message = f"{what} is {kinds.get(type(value), 'null')}, not an object"
    hint = "a catalog is an object with `services`"
    return document.error("not-an-object", message, path, hint)


def other_kind_finding(name: str) -> Finding | None:
    """The finding about a source that holds no catalog and whose ending names another kind of file. None for others."""
    kind = _OTHER_KINDS.get(name[name.rfind(".") :].lower())
    if kind is None:
        return None
    hint = "name the JSON or YAML file of the catalog, or get it from the running broker with osbctl fetch URL"
    if kind == "a file of properties":
        hint = "write the catalog as YAML, or get it from the running broker with osbctl fetch URL"
    place = Location(name, 1, 1)
    return Finding("no-catalog", Severity.ERROR, f"there is no catalog here: this is {kind}", (), place, hint)


def parse_text(text: str, name: str, limits: Limits = DEFAULT_LIMITS) -> ParsedText:
    """Parse `text` to a document whose data may be any value, and may have faults: call its `check_faults`.

    Raises DocumentError: it is neither JSON nor YAML.
    """
    try:
        value, syntax, notes, faults = _parse_json_or_yaml(text, name, limits)
    except DocumentError as error:
        if marker := _CONFLICT.search(text):  # it explains other errors
            hint = "keep what is right of both sides, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>"
            raise _syntax_error(text, name, marker.start(), "there is a merge conflict here", hint) from None
        other = other_kind_finding(name)
        if other and not text.lstrip().startswith("{"):
            raise DocumentError((other,)) from None
        if not is_template(text):
            raise
        found = (one._replace(hint=TEMPLATE) if one.rule == "syntax" else one for one in error.findings)
        raise DocumentError(tuple(found)) from None
    if syntax == "yaml" and "#@" in text and (gap := _YTT_VALUE.search(text)):
        # YAML would read null, of which platforms say something else than of the value.
        raise _syntax_error(text, name, gap.end() - 2, "a template puts a value here, which is missing", TEMPLATE)
    return ParsedText(name, value, syntax, notes, text=text, faults=faults)


def is_template(text: str) -> bool:
    """Return whether a text is a template of ERB (`<%`) or ytt (`#@`)."""
    return "<%" in text or bool(_YTT.search(text))


def _syntax_error(text: str, name: str, offset: int, message: str, hint: str) -> DocumentError:
    return DocumentError((Lines(name, text).error("syntax", message, offset, hint),))


def decode_utf8(data: bytes, name: str) -> str:
    """Decode UTF-8, without a byte order mark. Raises DocumentError: it is not UTF-8."""
    try:
        if data[:2] not in (b"\xff\xfe", b"\xfe\xff") and b"\0" not in data[:2]:
            return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        place, message = Location(name, 1, 1), "the text is UTF-16 or UTF-32, not UTF-8"
    except UnicodeDecodeError as error:
        data = error.object
        place = Lines(name, data.decode("utf-8", "replace")).at(len(data[: error.start].decode("utf-8")))
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
    raise DocumentError((Finding("encoding", Severity.ERROR, message, (), place, hint="save the text as UTF-8"),))


def _parse_json_or_yaml(
    text: str, name: str, limits: Limits
) -> tuple[Any, Syntax, tuple[Finding, ...], tuple[TextFault, ...]]:
    named, looks = _NAMED.get(name[name.rfind(".") :].lower()), _guess_syntax(text)
    if looks == "json" or (named == "json" and looks != "yaml"):
        from osbctl.sources import json_reader

        try:
            value, faults = json_reader.parse(text, name, limits)
            if not faults or named != "yaml":
                return value, "json", (_mismatch_finding(name, "YAML", "JSON"),) if named == "yaml" else (), faults
        except DocumentError:
            if named != "yaml":  # else a YAML flow mapping, or worse: YAML has the say over its own file
                raise
    from osbctl.sources import yaml_reader

    value, notes, faults = yaml_reader.parse(text, name, limits)
    return value, "yaml", (*notes, _mismatch_finding(name, "JSON", "YAML")) if named == "json" else notes, faults


def _guess_syntax(text: str) -> Syntax | None:
    """Guess the syntax from the beginning of a text: JSON by a bracket, YAML by a key, comment, item or `---`."""
    start = match.end() if (match := _NOTHING_SAID.match(text)) else 0
    if text[start : start + 1] in ("{", "["):
        return "json"
    line = text[start : start + 200].split("\n", 1)[0]
    key_like = ":" in line and line[:1].isalpha()
    return "yaml" if key_like or line.startswith(("---", "- ", "%YAML")) else None


def _mismatch_finding(name: str, named_syntax: str, actual_syntax: str) -> Finding:
    message = f"named as {named_syntax}, but holds {actual_syntax}; read as {actual_syntax}"
    return Finding("format-mismatch", Severity.INFO, message, (), Location(name, 1, 1), hint="rename the file")


def parse_stream(text: str, name: str, limits: Limits = DEFAULT_LIMITS) -> list[ParsedText]:
    """Parse `text` to documents, at least one; empty documents of a YAML stream are skipped.

    Raises DocumentError: one of them cannot be read.
    """
    try:
        return [parse_text(text, name, limits)]
    except DocumentError:
        # Only now, as a line `---` may also stand in a text of several lines. A text in brackets is one document, whose
        # own error says more; and each part is padded with the lines before it, so a bound keeps that from growing
        # with the square of their number.
        starts = [] if text.lstrip()[:1] in ("{", "[") else [found.start() for found in _YAML_START.finditer(text)]
        ends = pairwise([0, *starts, len(text)])
        spans = [(start, end) for start, end in ends if starts and _CONTENT.search(text, start, end)]
        if not spans or len(spans) * text.count("\n") > limits.nodes:
            raise
    documents, lines, done = [], 0, 0
    for start, end in spans:
        lines += text.count("\n", done, start)
        done = start
        # With empty lines before it, so that its locations are those of the text.
        document = parse_text("\n" * lines + text[start:end], name, limits)
        document.embedded = True
        documents.append(document)
    return documents
