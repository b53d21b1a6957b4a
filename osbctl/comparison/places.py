"""Changes, each put at its place in both sources."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from osbctl.changes import Change
    from osbctl.findings import Location
    from osbctl.sources.document import Document


def with_places(changes: Sequence[Change], old: Document, new: Document) -> list[Change]:
    """`changes` with the locations of their paths; one pass over each source.

    The text of the line is left out: a catalog on one line holds its secrets there, too.
    """
    if not changes:
        return []
    before = old.locate({change.old_path for change in changes})
    after = new.locate({change.new_path for change in changes})
    return [
        replace(change, old_location=_bare(before[change.old_path]), new_location=_bare(after[change.new_path]))
        for change in changes
    ]


def _bare(place: Location) -> Location:
    return place._replace(excerpt="")
