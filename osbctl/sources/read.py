"""From the word that a user gave to a `Document`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from osbctl.errors import DocumentError, SourceError, UsageError
from osbctl.findings import Finding, Location, Severity
from osbctl.sources.document import Document
from osbctl.sources.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO

    from osbctl.paths import Path
    from osbctl.sources.document import Syntax

DEFAULT_LIMITS = Limits()
_SPACE = frozenset(" \t\r\n\ufeff")


def read_source(
    source: str, *, limits: Limits = DEFAULT_LIMITS, at: str = "", stdin_filename: str | None = None
) -> Document:
    """Read a catalog from a path to JSON or YAML, a source folder, `-` for standard input, or `REV:path` in git.

    A path that exists wins over a revision. `at` is the JSON pointer (RFC 6901) of the catalog inside of the
    document. `stdin_filename` is what reports call standard input.

    Raises:
        UsageError: the source is the address of a broker, or `at` no JSON pointer.
        SourceError: the source cannot be opened.
        DocumentError: what it holds cannot be read as an object.
    """
    try:
        data, name = read_bytes(source, limits=limits, stdin_filename=stdin_filename)
    except IsADirectoryError:
        from osbctl.sources.folder import read_folder

        return read_folder(source, limits=limits)
    return parse_document(data, name, limits=limits, at=at)


def read_bytes(source: str, *, limits: Limits = DEFAULT_LIMITS, stdin_filename: str | None = None) -> tuple[bytes, str]:
    """What a source holds that is no folder, and what reports call it; `source` and errors as in `read_source`.

    Raises:
        IsADirectoryError: it is a folder.
    """
    if source == "-":
        name = stdin_filename or "<stdin>"
        return _from_stdin(name, limits), name
    try:
        with open(source, "rb") as file:  # noqa: PTH123  # pathlib costs its import at every start
            return _bounded(file, source, limits), source
    except IsADirectoryError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        return _from_git(source, limits), source
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{source}: cannot be opened: {reason}") from error


def parse_document(data: bytes, name: str, *, limits: Limits = DEFAULT_LIMITS, at: str = "") -> Document:
    """The document in `data`, which reports call `name`; its ending says JSON or YAML, its content has the last word.

    Raises:
        DocumentError: it cannot be read as an object.
    """
    document = parse_text(decoded(data, name), name, limits)
    if at or not isinstance(document.data, dict):
        from osbctl.sources.pointer import below

        return below(document, at)
    return document


def parse_text(text: str, name: str, limits: Limits = DEFAULT_LIMITS) -> Document:
    """The document in `text`, whose data may be another value than an object; the rest as `parse_document`."""
    value, syntax, notes = _parsed(text, name, limits)

    def locate(paths: frozenset[Path]) -> dict[Path, Location]:
        return _locate(syntax, text, name, paths)

    return Document(name, value, syntax, locate, notes, text)


def _from_stdin(name: str, limits: Limits) -> bytes:
    if sys.stdin is None:  # Python's answer to a standard input that is closed
        raise SourceError("standard input is closed", "pipe a catalog into it")
    try:
        return _bounded(sys.stdin.buffer, name, limits)
    except OSError as error:
        raise SourceError(f"standard input cannot be read: {error.strerror}") from error


def _bounded(file: BinaryIO, name: str, limits: Limits) -> bytes:
    data = file.read(limits.bytes + 1)
    if len(data) > limits.bytes:
        raise too_large(name, limits)
    return data


def too_large(name: str, limits: Limits) -> DocumentError:
    """The error of a source that is larger than the limit."""
    message = f"the source is larger than {limits.bytes:,} bytes"
    return DocumentError((_error("too-large", message, Location(name, 1, 1), "raise the limit with --max-bytes"),))


def _error(rule: str, message: str, place: Location, hint: str = "") -> Finding:
    return Finding(rule, Severity.ERROR, message, (), place, hint=hint)


def _from_git(source: str, limits: Limits) -> bytes:
    if "://" in source:  # not named in the message: it may hold a password
        advice = "osbctl fetch URL gets a broker's catalog; diff, drift and check take the address itself"
        raise UsageError("a source is a file, not an address", advice)
    revision, colon, path = source.partition(":")
    if colon and revision and path:
        from osbctl.sources.git import read_blob

        return read_blob(revision, path, limits)
    if os.path.islink(source):  # noqa: PTH114  # as above
        raise SourceError(f"{source}: the link leads nowhere, to {os.readlink(source)}")  # noqa: PTH115
    raise SourceError(f"{source}: there is no such file", _close_names(source))


def _close_names(source: str) -> str:
    from difflib import get_close_matches

    folder, name = os.path.split(source)
    try:
        names = os.listdir(folder or os.curdir)  # noqa: PTH208  # as above
    except OSError:
        return f"there is no folder {folder} either"
    close = get_close_matches(name, names, n=1)
    return f"did you mean {os.path.join(folder, close[0])}?" if close else ""  # noqa: PTH118


def decoded(data: bytes, name: str) -> str:
    """The text in `data`, without a byte order mark.

    Raises:
        DocumentError: it is not UTF-8.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[1:2] == b"\0" or data[:1] == b"\0":
        raise DocumentError(
            (
                _error(
                    "encoding",
                    "the text is UTF-16 or UTF-32, not UTF-8",
                    Location(name, 1, 1),
                    "save it as UTF-8",
                ),
            )
        )
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        from osbctl.sources.text_lines import Lines

        readable = data.decode("utf-8", "replace")
        offset = len(data[: error.start].decode("utf-8"))
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        place = Lines(name, readable).at(offset)
        raise DocumentError((_error("encoding", message, place, "save the text as UTF-8"),)) from error


def _parsed(text: str, name: str, limits: Limits) -> tuple[Any, Syntax, tuple[Finding, ...]]:
    named = _named_syntax(name)
    looks = _looks(text)
    if named == "json" or (named is None and looks == "json"):
        if named == "json" and looks == "yaml":
            value, notes = _yaml(text, name, limits)
            return value, "yaml", (*notes, _mismatch(name, "JSON", "YAML"))
        from osbctl.sources import json_reader

        return json_reader.parse(text, name, limits), "json", ()
    if named == "yaml" and looks == "json":
        from osbctl.sources import json_reader

        try:
            return json_reader.parse(text, name, limits), "json", (_mismatch(name, "YAML", "JSON"),)
        except DocumentError:
            pass  # a YAML flow mapping, or worse: YAML has the say over its own file
    value, notes = _yaml(text, name, limits)
    return value, "yaml", notes


def _yaml(text: str, name: str, limits: Limits) -> tuple[Any, tuple[Finding, ...]]:
    from osbctl.sources import yaml_reader

    return yaml_reader.parse(text, name, limits)


def _named_syntax(name: str) -> Syntax | None:
    lower = name.lower()
    if lower.endswith(".json"):
        return "json"
    return "yaml" if lower.endswith((".yaml", ".yml")) else None


def _looks(text: str) -> Syntax | None:
    """What the beginning of a text says of it: JSON by a bracket, YAML by a key, a comment, an item or `---`."""
    start = _past_comments(text)
    if text[start : start + 1] in ("{", "["):
        return "json"
    line = text[start : start + 200].split("\n", 1)[0]
    key_like = ":" in line and line[:1].isalpha()
    return "yaml" if key_like or line.startswith(("---", "- ", "%YAML")) else None


def _past_comments(text: str) -> int:
    """Where the first line begins that says something: a comment is YAML's, or a slip in JSON."""
    at = 0
    while True:
        while text[at : at + 1] in _SPACE:
            at += 1
        if text[at : at + 1] != "#":
            return at
        at = text.find("\n", at) + 1 or len(text)


def _mismatch(name: str, named: str, held: str) -> Finding:
    message = f"named as {named}, but holds {held}; read as {held}"
    return Finding("format-mismatch", Severity.INFO, message, (), Location(name, 1, 1), hint="rename the file")


def _locate(syntax: Syntax, text: str, name: str, paths: Iterable[Path]) -> dict[Path, Location]:
    if syntax == "json":
        from osbctl.sources import json_reader

        return json_reader.locate(text, name, paths)
    from osbctl.sources import yaml_places

    return yaml_places.locate(text, name, paths)
