"""Kinds of change: the rule of each, and what each platform does when it meets one."""

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module

from osbctl.changes import SEVERITIES, Effect, Level
from osbctl.platforms import Platform
from osbctl.platforms.reactions import DependsOnInstances, Reaction
from osbctl.rule import Category, register_rules


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change. `advice` is a safe way to do what was meant, or empty."""

    id: str
    answers: dict[Platform, Reaction | DependsOnInstances]
    advice: str

    def effects(self, view: Collection[Platform], used: bool | None) -> tuple[Effect, ...]:
        """Effects on the platforms in `view`; `used` as in `DependsOnInstances.choose_reaction`."""
        found = []
        for platform in Platform:
            if platform in view and platform in self.answers:
                answer = self.answers[platform]
                answer = answer.choose_reaction(used) if isinstance(answer, DependsOnInstances) else answer
                found.append(Effect(platform, answer.level, answer.does))
        return tuple(found)


KINDS: dict[str, Kind] = {}
"""Every kind of change whose module was imported, by the id of its rule."""


def kind(
    id: str,  # the record's own field name
    text: str,
    *,
    every: Reaction | DependsOnInstances | None = None,
    advice: str = "",
    level: Level | None = None,
) -> Kind:
    """Register a kind of change and its rule; `every` is the usual reaction, `level` by default the strictest."""
    answers = {platform: answer for platform in Platform if (answer := platform.record.reactions.get(id, every))}
    usual = {platform: one.unknown if isinstance(one, DependsOnInstances) else one for platform, one in answers.items()}
    levels = {platform: one.level for platform, one in usual.items()}
    level = level or max(levels.values(), key=lambda one: one.rank)
    refused_by = tuple(platform for platform, one in levels.items() if one is Level.REFUSED)
    text += "\n\n    Source: What the platforms do when a broker is updated"
    register_rules({id: text}, SEVERITIES[level], Category.CHANGE, refused_by)
    KINDS[id] = Kind(id, answers, advice)
    return KINDS[id]


def load_all() -> None:
    """Register every kind of change."""
    for name in ("identity", "fields"):
        import_module(f"osbctl.comparison.rules.{name}")
