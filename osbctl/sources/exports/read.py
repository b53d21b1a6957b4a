"""Read the catalog that a platform has stored: its export, or a catalog that was kept as it is.

The files of an export come as people have them: one object, an array, or several documents after one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from osbctl.errors import SourceError, UsageError
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.paths import Path, get_at, value_at
from osbctl.platforms import Platform
from osbctl.platforms.export import ExportRow, RowFields, WrongShapeError
from osbctl.sources.catalogs import holds_offering, only_catalog
from osbctl.sources.document import Document
from osbctl.sources.exports.merge import StoredCatalog, merge
from osbctl.sources.limits import DEFAULT_LIMITS, Limits
from osbctl.sources.parse import decoded, no_object, parse_stream
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import read_bytes
from osbctl.text import escape_line


class StoredAs(StrEnum):
    """Format of a stored catalog: the export of a platform, or the catalog as the broker sent it."""

    _ignore_ = "platform"
    for platform in Platform:
        vars()[platform.name] = platform.value
    CATALOG = "catalog"


_PLATFORMS = {platform.value: platform for platform in Platform}


def stored_catalog(
    documents: Sequence[Document], stored_as: StoredAs | None = None, broker: str = "", at: str = ""
) -> StoredCatalog:
    """Read the stored catalog in `documents`: the files of one export in any order, or one catalog.

    `stored_as` None: recognised by the content. `broker` is the broker's name or id on the platform. `at` is the
    JSON pointer of a catalog.

    Raises:
        SourceError: they are of different platforms, or of a wrong shape.
        UsageError: what is asked for is not there, or not clear.
    """
    platform = _PLATFORMS.get(stored_as or _kind(documents))
    if platform is None:
        if len({document.name for document in documents}) > 1 or broker:
            raise UsageError("a catalog is one file, of one broker", "only exports come in several files")
        return StoredCatalog(only_catalog(documents, at))
    try:
        return _read_export(platform, documents, broker, may_be_other=not stored_as)
    except WrongShapeError as error:
        advice = "take it as the platform gives it, or say what it is with --stored-as"
        raise SourceError(str(error), advice) from None


def _read_export(
    platform: Platform, documents: Sequence[Document], broker: str, *, may_be_other: bool
) -> StoredCatalog:
    export = platform.record.export
    for document in documents:
        if not export.recognised(document):
            raise SourceError(f"{document.name}: not an export of {platform.label}", "leave --stored-as out")
    pages = [export.read(document) for document in documents]
    rows = [row for page in pages for row in page.rows]
    if may_be_other:
        platform = _made_by(platform, rows)
        export = platform.record.export
    return merge(platform, export.shape_of(rows) if export.shape_of else export.shape, pages, broker)


def _kind(documents: Sequence[Document]) -> StoredAs:
    if any(map(holds_offering, documents)) and not any(map(_exporter, documents)):
        return StoredAs.CATALOG
    kind, *others = sorted({recognise(document) for document in documents})
    if others:
        message = f"the files are of different kinds: {', '.join([kind, *others])}"
        raise SourceError(message, "name one export at a time")
    return kind


def _exporter(document: Document) -> Platform | None:
    """The platform whose export has the shape of `document`."""
    data: Any = document.data  # a list where it is one of service offerings
    if isinstance(data, list) or isinstance(data.get("services"), list):
        return None
    return next((platform for platform in Platform if platform.record.export.recognised(document)), None)


def recognise(document: Document) -> StoredAs:
    """Recognise the export format of `document` by its content. Raises SourceError for other documents."""
    if isinstance(document.data.get("services"), list):
        return StoredAs.CATALOG
    if platform := _exporter(document):
        return StoredAs(platform)
    if refusal := _refusal(document.data):
        raise SourceError(f"{document.name}: not an export, but a refusal: {refusal}", "log in, and export again")
    known = f"known exports: {'; '.join(shape.whole for shape in shapes())}"
    raise SourceError(f"{document.name}: neither a catalog nor an export of a platform", known)


def _refusal(data: dict[str, Any]) -> str:
    """Error message in place of an export: Cloud Foundry's `errors`, a `Status` of Kubernetes."""
    errors = data.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else data if data.get("kind") == "Status" else {}
    texts = (get_at(first, (key,)) for key in ("detail", "message", "title"))
    return next((escape_line(text)[:200] for text in texts if isinstance(text, str)), "")


def shapes() -> Iterable[RowFields]:
    """A shape for each kind of export, which platforms may share."""
    found = (platform.record.export.shape for platform in Platform)
    return {shape.whole: shape for shape in found}.values()


def _made_by(platform: Platform, rows: list[ExportRow]) -> Platform:
    """Return `platform`, or another with the same export format if only that one would write these rows."""
    for other in Platform:
        export = other.record.export
        if export.read is platform.record.export.read and export.made and export.made(rows):
            return other
    return platform


def read_documents(source: str, limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """Read the documents of an export in `source` (as for `read_source`): at least one, each an object.

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
    """Parse the documents of an export; `name` is its name in reports. Raises as `read_documents`."""
    documents = parse_stream(decoded(data, name), name, limits, json_values=True)
    return [one for document in documents for one in _objects(document)]


def _objects(document: Document) -> list[Document]:
    value: Any = document.data
    if not isinstance(value, list):
        return [_object(document, ())]
    if not value:
        top = Location(document.name, 1, 1)
        raise DocumentError((Finding("empty-document", Severity.ERROR, "the list is empty", (), top),))
    if all(isinstance(entry, dict) and "spec" in entry for entry in value):
        # The bare array of objects that svcat prints, as the list that kubectl prints of the same.
        return [document.reshaped({"kind": "List", "items": value}, lambda path: path[1:])]
    if any(isinstance(get_at(entry, ("plans",)), list) for entry in value):  # no export has these: a bare catalog
        return [document]
    return [_object(document, (index,)) for index in range(len(value))]


def _object(document: Document, path: Path) -> Document:
    value = value_at(document.data, path)
    if not isinstance(value, dict):
        raise DocumentError((no_object(document, value, path),))
    return document.reshaped(value, lambda inside: (*path, *inside)) if path else document
