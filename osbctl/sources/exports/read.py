"""From files to the catalog that a platform has stored: an export, or a catalog that was kept as it is.

The files of an export come as people have them: one object, an array, or several documents after one another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from osbctl.errors import DocumentError, SourceError, UsageError
from osbctl.findings import Finding, Location, Severity
from osbctl.paths import found_at
from osbctl.platforms import Platform
from osbctl.platforms.export import ExportRow, Shape, WrongShapeError
from osbctl.sources.document import Document
from osbctl.sources.exports.merge import StoredCatalog, merge
from osbctl.sources.limits import DEFAULT_LIMITS, Limits
from osbctl.sources.parse import decoded, parse_text
from osbctl.sources.pointer import below
from osbctl.sources.read import read_bytes, read_source
from osbctl.text import safe


class StoredAs(StrEnum):
    """In what shape a stored catalog comes: as a platform exports it, or as the broker gave it."""

    _ignore_ = "platform"
    for platform in Platform:
        vars()[platform.name] = platform.value
    CATALOG = "catalog"


_PLATFORMS = {platform.value: platform for platform in Platform}


def stored_catalog(documents: Sequence[Document], stored_as: StoredAs | None = None, broker: str = "") -> StoredCatalog:
    """The stored catalog in `documents`, the files of one export in any order, or one catalog.

    `stored_as` None: recognised by what they hold. `broker` is the broker's name or id on the platform.

    Raises:
        SourceError: they are of different platforms, or of a wrong shape.
        UsageError: what is asked for is not there, or not clear.
    """
    kinds = {_asked(document, stored_as) if stored_as else recognise(document) for document in documents}
    if len(kinds) > 1:
        raise SourceError(f"the files are of different kinds: {', '.join(sorted(kinds))}", "name one export at a time")
    (kind,) = kinds
    platform = _PLATFORMS.get(kind)
    if platform is None:
        if len(documents) > 1 or broker:
            raise UsageError("a catalog is one file, of one broker", "only exports come in several files")
        return StoredCatalog(documents[0])
    try:
        pages = [platform.record.export.read(document) for document in documents]
        rows = [row for page in pages for row in page.rows]
        platform = platform if stored_as else _made_by(platform, rows)
        export = platform.record.export
        shape = export.shape_of(rows) if export.shape_of else export.shape
        return merge(platform, shape, documents, pages, broker)
    except WrongShapeError as error:
        advice = "take it as the platform gives it, or say what it is with --stored-as"
        raise SourceError(str(error), advice) from None


def recognise(document: Document) -> StoredAs:
    """What `document` is: by its content alone. Raises SourceError: it is none of these."""
    if isinstance(document.data.get("services"), list):
        return StoredAs.CATALOG
    for platform in Platform:
        if platform.record.export.recognised(document):
            return StoredAs(platform)
    refusal = _refusal(document.data)
    if refusal:
        raise SourceError(f"{document.name}: not an export, but a refusal: {refusal}", "log in, and export again")
    raise SourceError(
        f"{document.name}: neither a catalog nor an export of a platform",
        f"known exports: {'; '.join(shape.whole for shape in shapes())}",
    )


def _refusal(data: dict[str, Any]) -> str:
    """What a platform says in place of an export: Cloud Foundry's `errors`, a `Status` of Kubernetes."""
    errors = data.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else data if data.get("kind") == "Status" else {}
    texts = (found_at(first, (key,)) for key in ("detail", "message", "title"))
    return next((safe(text)[:200] for text in texts if isinstance(text, str)), "")


def _asked(document: Document, kind: StoredAs) -> StoredAs:
    platform = _PLATFORMS.get(kind)
    if platform and not platform.record.export.recognised(document):
        raise SourceError(f"{document.name}: not an export of {platform.label}", "leave --stored-as out")
    return kind


def shapes() -> Iterable[Shape]:
    """A shape for each kind of export, which platforms may share."""
    found = (platform.record.export.shape for platform in Platform)
    return {shape.whole: shape for shape in found}.values()


def _made_by(platform: Platform, rows: list[ExportRow]) -> Platform:
    """`platform`, or another that exports in the same shape where the rows bear its marks."""
    for other in Platform:
        export = other.record.export
        if export.read is platform.record.export.read and export.made and export.made(rows):
            return other
    return platform


_YAML_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)


def read_documents(source: str, limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """The documents in `source`, a word as `read_source` takes it: at least one, each an object.

    Raises:
        SourceError, UsageError: it cannot be opened.
        DocumentError: what it holds cannot be read.
    """
    try:
        data, name = read_bytes(source, limits=limits)
    except IsADirectoryError:
        return [read_source(source, limits=limits)]
    return parse_documents(data, name, limits)


def parse_documents(data: bytes, name: str, limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """The documents in `data`, which reports call `name`; errors as `read_documents`."""
    text = decoded(data, name)
    try:
        return _objects(parse_text(text, name, limits))
    except DocumentError:
        pieces = [*_pieces(text)]
        if len(pieces) < 2:
            raise
    return [document for piece in pieces for document in _objects(parse_text(piece, name, limits))]


def _pieces(text: str) -> Iterator[str]:
    """The documents of a text, each moved by empty lines and blanks to where it stood, so that its places are right."""
    line = line_start = done = 0
    for start, end in _spans(text):
        line += text.count("\n", done, start)
        line_start = text.rfind("\n", line_start, start) + 1 or line_start
        done = start
        yield "\n" * line + " " * (start - line_start) + text[start:end]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    if text.lstrip()[:1] not in ("{", "["):
        starts = [0, *(found.start() for found in _YAML_START.finditer(text) if text[: found.start()].strip())]
        yield from zip(starts, [*starts[1:], len(text)], strict=True)
        return
    scan, at = json.JSONDecoder().raw_decode, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            _, end = scan(text, at)
        except (ValueError, RecursionError):  # its own reader says what is wrong there
            end = len(text)
        yield at, end
        at = end


def _objects(document: Document) -> list[Document]:
    value: Any = document.data
    if not isinstance(value, list):
        return [below(document, "")]
    if not value:
        raise DocumentError(
            (Finding("empty-document", Severity.ERROR, "the list is empty", (), Location(document.name, 1, 1)),)
        )
    if all(isinstance(entry, dict) and "spec" in entry for entry in value):
        # The bare array of objects that svcat prints, as the list that kubectl prints of the same.
        return [document.reshaped({"kind": "List", "items": value}, lambda path: path[1:])]
    return [below(document, f"/{index}") for index in range(len(value))]
