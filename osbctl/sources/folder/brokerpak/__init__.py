"""Read a brokerpak: the catalog that cloud-service-broker computes from it.

A brokerpak is a folder with a `manifest.yml` whose `service_definitions` name the files of its service offerings; on
the disk, or in a revision of git.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from osbctl.errors import SourceError
from osbctl.sources.document import Document
from osbctl.sources.folder.brokerpak.catalog import SCHEMAS, BrokerpakCatalog
from osbctl.sources.folder.source_tree import Parts
from osbctl.sources.limits import DEFAULT_LIMITS, Limits
from osbctl.sources.read_bytes import read_bytes

if TYPE_CHECKING:
    from osbctl.sources.variables import Variables

MANIFEST = "manifest.yml"


def is_brokerpak(folder: str, unsaved: Mapping[Path, bytes] = MappingProxyType({})) -> bool:
    """Return whether a folder, or `REV:path`, is a brokerpak, by its manifest; `unsaved` as for `compose`."""
    file = Path(folder, MANIFEST)
    try:
        data = unsaved.get(file.resolve()) or _load(str(file), DEFAULT_LIMITS)
    except (OSError, SourceError):
        return False
    return b"service_definitions" in data


def read_brokerpak(folder: str, *, limits: Limits, unsaved: Mapping[Path, bytes], variables: Variables) -> Document:
    """Read the catalog of a brokerpak, with locations in its definitions; the notes say what the broker refuses.

    Raises:
        SourceError: a file of it cannot be opened, or only a shell knows a variable.
        DocumentError: one cannot be read.
    """
    parts = Parts(Path(folder), limits, unsaved, _load)
    catalog = BrokerpakCatalog(parts, variables)
    origins = catalog.compute()
    notes = (*parts.notes, *parts.problems, *catalog.refusals)
    read_as = f"{folder}: read as a brokerpak; {'; '.join(_conditions(catalog))}"
    texts = tuple(parts.documents)
    return Document(folder, origins.data, "brokerpak", origins.locate, notes, parts=texts, read_as=read_as)


def _load(name: str, limits: Limits) -> bytes:
    return read_bytes(name, limits=limits)[0]


def _conditions(catalog: BrokerpakCatalog) -> Iterator[str]:
    """List the variables and switches that the catalog depends on, for the user."""
    by_source: dict[str, list[str]] = {}
    for name, variable in sorted(catalog.used.items()):
        by_source.setdefault(variable.source, []).append(name)
    yield from (f"{', '.join(names)} from {source}" for source, names in by_source.items())
    if not by_source:
        yield "no variable of the broker is set"
    if not catalog.has_schemas:
        yield f"without parameter schemas ({SCHEMAS} is not true)"
    yield from (f"without {name}, which is tagged {tag}" for name, tag in catalog.left_out.items())
