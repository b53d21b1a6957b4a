"""Reactions of platforms to changes, with their levels."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial


class Level(StrEnum):
    """Level of a change, from strict to harmless. Ordered by `rank`.

    `refused`: a platform refuses the update, and applies none or a part of it. `breaking`: it is applied, and existing
    users break. `risky`: it may break them; the catalogs alone do not show whether it does. `safe`: no impact.
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
    """Reaction of a platform, and its level."""

    level: Level
    does: str


@dataclass(frozen=True, slots=True)
class DependsOnInstances:
    """Reactions that depend on instances of the plan: `used` if it has some, `unused` if it has none."""

    unknown: Reaction
    used: Reaction
    unused: Reaction

    def choose_reaction(self, is_used: bool | None) -> Reaction:
        """The reaction for a plan with instances (True), without (False), or if that is not known (None)."""
        return self.unknown if is_used is None else self.used if is_used else self.unused


refused, breaking, risky, safe = (partial(Reaction, level) for level in Level)
"""Make a reaction of that level from a phrase."""

UPDATES = breaking("overwrites the name; scripts that use the old one stop working")
NOT_STORED = safe("does not store it")
NO_ACT = safe("stores it but does not act on it")
"""Reaction of several platforms."""
