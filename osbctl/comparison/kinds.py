"""A kind of change: its rule, and what each platform does when it meets it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from osbctl.changes import SEVERITIES, Effect, Level
from osbctl.platforms import Platform
from osbctl.rule import Category, describe

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True, slots=True)
class Reaction:
    """What a platform does, and how much that hurts."""

    level: Level
    does: str


@dataclass(frozen=True, slots=True)
class Depends:
    """An answer that depends on instances of the plan: `used` where it has some, `unused` where it has none."""

    unknown: Reaction
    used: Reaction
    unused: Reaction

    def given(self, used: bool | None) -> Reaction:
        """The answer where it is known (or, with None, not known) whether there are instances."""
        return self.unknown if used is None else self.used if used else self.unused


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change. `advice` is the safe way to do what was meant; empty where there is nothing to say."""

    id: str
    answers: dict[Platform, Reaction | Depends]
    advice: str

    def effects(self, view: Collection[Platform], used: bool | None) -> tuple[Effect, ...]:
        """What the platforms in `view` do."""
        found = []
        for platform in Platform:
            if platform in view and platform in self.answers:
                answer = self.answers[platform]
                answer = answer.given(used) if isinstance(answer, Depends) else answer
                found.append(Effect(platform, answer.level, answer.does))
        return tuple(found)


KINDS: dict[str, Kind] = {}
"""Every kind of change whose module was imported, by the id of its rule."""


def refused(does: str) -> Reaction:
    """An answer of level refused."""
    return Reaction(Level.REFUSED, does)


def breaking(does: str) -> Reaction:
    """An answer of level breaking."""
    return Reaction(Level.BREAKING, does)


def risky(does: str) -> Reaction:
    """An answer of level risky."""
    return Reaction(Level.RISKY, does)


def safe(does: str) -> Reaction:
    """An answer of level safe."""
    return Reaction(Level.SAFE, does)


def milder(kind: Kind) -> Kind:
    """`kind`, with *risky* for what is *breaking*; what a platform refuses stays refused."""
    return replace(kind, answers={platform: _milder(answer) for platform, answer in kind.answers.items()})


def _milder(answer: Reaction | Depends) -> Reaction | Depends:
    if isinstance(answer, Depends):
        return Depends(*(_mild(one) for one in (answer.unknown, answer.used, answer.unused)))
    return _mild(answer)


def _mild(answer: Reaction) -> Reaction:
    return replace(answer, level=Level.RISKY) if answer.level is Level.BREAKING else answer


def kind(
    id: str,  # the record's own field name
    text: str,
    *,
    every: Reaction | Depends | None = None,
    cf: Reaction | Depends | None = None,
    k8s: Reaction | Depends | None = None,
    sm: Reaction | Depends | None = None,
    korifi: Reaction | Depends | None = None,
    advice: str = "",
    level: Level | None = None,
) -> Kind:
    """Register a kind of change and its rule; `every` answers for the platforms that are not named.

    `level` is that of the rule's record, by default the strictest that a platform answers with.
    """
    named = {
        Platform.CLOUD_FOUNDRY: cf,
        Platform.KUBERNETES: k8s,
        Platform.SERVICE_MANAGER: sm,
        Platform.KORIFI: korifi,
    }
    answers = {platform: answer for platform in Platform if (answer := named.get(platform) or every)}
    levels = {platform: _usual(answer) for platform, answer in answers.items()}
    level = level or max(levels.values(), key=lambda one: one.rank)
    describe(
        id,
        text,
        severity=SEVERITIES[level],
        category=Category.CHANGE,
        source="What the platforms do when a broker is updated",
        refused_by=tuple(platform for platform, one in levels.items() if one is Level.REFUSED),
    )
    KINDS[id] = Kind(id, answers, advice)
    return KINDS[id]


def _usual(answer: Reaction | Depends) -> Level:
    return answer.unknown.level if isinstance(answer, Depends) else answer.level
