"""From files to the catalog that a platform has stored: an export, or a catalog that was kept as it is."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from osbctl.errors import SourceError, UsageError
from osbctl.paths import found_at
from osbctl.platforms import Platform
from osbctl.sources.exports import cloudfoundry, kubernetes, service_manager
from osbctl.sources.exports.merge import merge
from osbctl.sources.exports.stored import StoredCatalog
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from osbctl.sources.document import Document
    from osbctl.sources.exports.shape import Page, Shape


class StoredAs(StrEnum):
    """In what shape a stored catalog comes: as a platform exports it, or as the broker gave it."""

    CLOUD_FOUNDRY = "cloudfoundry"
    KORIFI = "korifi"
    KUBERNETES = "kubernetes"
    SERVICE_MANAGER = "service-manager"
    CATALOG = "catalog"


_READERS: dict[StoredAs, ModuleType] = {
    StoredAs.CLOUD_FOUNDRY: cloudfoundry,
    StoredAs.KORIFI: cloudfoundry,
    StoredAs.KUBERNETES: kubernetes,
    StoredAs.SERVICE_MANAGER: service_manager,
}


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
    kind = kinds.pop()
    if kind is StoredAs.CATALOG:
        if len(documents) > 1 or broker:
            raise UsageError("a catalog is one file, of one broker", "only exports come in several files")
        return StoredCatalog(documents[0])
    pages: list[Page] = [_READERS[kind].read(document) for document in documents]
    return merge(_shape(kind, stored_as, pages), pages, broker)


def recognise(document: Document) -> StoredAs:
    """What `document` is: by its content alone.

    Raises:
        SourceError: it is none of these.
    """
    if isinstance(document.data.get("services"), list):
        return StoredAs.CATALOG
    for kind in (StoredAs.CLOUD_FOUNDRY, StoredAs.KUBERNETES, StoredAs.SERVICE_MANAGER):
        if _READERS[kind].recognised(document):
            return kind
    refusal = _refusal(document.data)
    if refusal:
        raise SourceError(f"{document.name}: not an export, but a refusal: {refusal}", "log in, and export again")
    raise SourceError(
        f"{document.name}: neither a catalog nor an export of a platform",
        f"known exports: {'; '.join(shape.whole for shape in SHAPES)}",
    )


def _refusal(data: dict[str, Any]) -> str:
    """What a platform says in place of an export: Cloud Foundry's `errors`, a `Status` of Kubernetes."""
    errors = data.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else data if data.get("kind") == "Status" else {}
    texts = (found_at(first, (key,)) for key in ("detail", "message", "title"))
    return next((safe(text)[:200] for text in texts if isinstance(text, str)), "")


def _asked(document: Document, kind: StoredAs) -> StoredAs:
    if kind is not StoredAs.CATALOG and not _READERS[kind].recognised(document):
        raise SourceError(f"{document.name}: not an export of {Platform(kind).label}", "leave --stored-as out")
    return kind


SHAPES = (cloudfoundry.CLOUD_FOUNDRY, kubernetes.SERVICE_CATALOG, service_manager.SERVICE_MANAGER)
"""A shape for each kind of export."""


def _shape(kind: StoredAs, asked: StoredAs | None, pages: Sequence[Page]) -> Shape:
    rows = [row for page in pages for row in page.rows]
    if kind is StoredAs.KUBERNETES:
        return kubernetes.SERVICE_CATALOG
    if kind is StoredAs.SERVICE_MANAGER:
        return service_manager.SERVICE_MANAGER
    if kind is StoredAs.KORIFI:
        return cloudfoundry.korifi_of(rows)
    return cloudfoundry.CLOUD_FOUNDRY if asked else cloudfoundry.shape_of(rows)
