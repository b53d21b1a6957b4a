"""Changes and findings on a page, each with the anchor of its service offering or plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from osbctl.changes import Change
from osbctl.findings import Finding
from osbctl.paths import pointer
from osbctl.platforms import labels

N = TypeVar("N")


class ChangeNote(NamedTuple):
    """One change; `anchor` leads to its service offering or plan, empty if that was removed.

    `accepted` is the reason for accepting it.
    """

    change: Change
    anchor: str
    accepted: str

    @property
    def level(self) -> str:
        """The level of the change, or `accepted`."""
        return "accepted" if self.accepted else self.change.level.value


class FindingNote(NamedTuple):
    """One finding; `anchor` as in `ChangeNote`."""

    finding: Finding
    anchor: str

    @property
    def place(self) -> str:
        """Source, line and column, else the JSON pointer."""
        return str(self.finding.location or pointer(self.finding.path))

    @property
    def platforms(self) -> str:
        """Platforms that refuse the catalog because of the finding."""
        return labels(self.finding.refused_by)


def by_kind(notes: Iterable[N], kind: Callable[[N], str], kinds: Iterable[str]) -> list[tuple[str, list[N]]]:
    """Group notes by kind in the order of `kinds`; empty kinds are left out."""
    found: dict[str, list[N]] = defaultdict(list)
    for note in notes:
        found[kind(note)].append(note)
    return [(one, found[one]) for one in kinds if one in found]
