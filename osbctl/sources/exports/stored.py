"""A catalog as a platform has it stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from osbctl.platforms import Platform
    from osbctl.platforms.export import Shape
    from osbctl.sources.document import Document


@dataclass(frozen=True, slots=True)
class StoredCatalog:
    """The catalog that a platform has stored, as far as it is known.

    `document` is in the shape of a catalog; its places lead into what it was read from. `platform` is the one that has
    it, None where that is not known; `shape` that of its export, None for a catalog that was kept whole. `kept` has the
    names, `service` or `service/plan`, of what was gone from the broker's catalog and stays, by the ids of service
    offering and plan (empty for a service offering); these are not in the document. `public`: every plan in the export
    is one that everybody sees. `without_secrets`: secrets were replaced when it was stored.
    """

    document: Document
    platform: Platform | None = None
    shape: Shape | None = None
    kept: Mapping[tuple[str, str], str] = field(default_factory=dict)
    public: bool = False
    without_secrets: bool = False
