"""Reactions of platforms to changes, with their levels."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial


class Level(StrEnum):
    """Level of a change, from strict to harmless. Ordered by `rank`.

    `refused`: a platform refuses the update, and applies nothing of it or a part. `breaking`: it is applied, and
    existing users break. `risky`: the documents alone cannot tell. `safe`: no impact.
    """

    REFUSED = "refused"
    BREAKING = "breaking"
    RISKY = "risky"
    SAFE = "safe"

    @property
    def rank(self) -> int:
        """4 for refused, down to 1 for safe."""
        return {"refused": 4, "breaking": 3, "risky": 2, "safe": 1}[self.value]


@dataclass(frozen=True, slots=True)
class Reaction:
    """Reaction of a platform, and its level; `expired`: after the sunset of the removed object."""

    level: Level
    does: str
    expired: Level | None = None


@dataclass(frozen=True, slots=True)
class DependsOnInstances:
    """An answer that depends on instances of the plan: `used` where it has some, `unused` where it has none."""

    unknown: Reaction
    used: Reaction
    unused: Reaction

    def given(self, used: bool | None) -> Reaction:
        """The answer where it is known (or, with None, not known) whether there are instances."""
        return self.unknown if used is None else self.used if used else self.unused


refused, breaking, risky, safe = (partial(Reaction, level) for level in Level)
"""Make an answer of that level of what a platform does."""

UPDATES = breaking("overwrites the name; scripts that use the old one stop working")
NOT_STORED = safe("does not store it")
NO_ACT = safe("stores it but does not act on it")
"""Reaction of several platforms."""
