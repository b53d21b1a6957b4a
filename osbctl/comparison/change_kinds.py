"""Kinds of change: the rule of each, and what each platform does when it meets one."""

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module

from osbctl.changes import SEVERITIES, Effect, Level
from osbctl.platforms import Platform
from osbctl.platforms.updates import DependsOnInstances, Reaction
from osbctl.rule import Category, Rule


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change. `advice` is a safe way to do what was meant, or empty."""

    id: str
    reactions: dict[Platform, Reaction | DependsOnInstances]
    advice: str

    def effects(self, platforms: Collection[Platform], is_used: bool | None) -> tuple[Effect, ...]:
        """Effects on the `platforms`; `is_used` as in `DependsOnInstances.choose_reaction`."""
        effects = []
        for platform in Platform:
            if platform in platforms:
                reaction = self.reactions[platform]
                if isinstance(reaction, DependsOnInstances):
                    reaction = reaction.choose_reaction(is_used)
                effects.append(Effect(platform, reaction.level, reaction.does))
        return tuple(effects)


KINDS: dict[str, Kind] = {}
"""Every kind of change whose module was imported, by the id of its rule."""


def register_kind(
    id: str,  # the record's own field name
    text: str,
    *,
    reaction: Reaction | DependsOnInstances | None = None,
    advice: str = "",
    level: Level | None = None,
) -> Kind:
    """Register a kind of change and its rule; `reaction` is the usual one, `level` by default the strictest."""
    reactions: dict[Platform, Reaction | DependsOnInstances] = {}
    for platform in Platform:
        own = platform.load_module("updates").REACTIONS.get(id, reaction)
        if own is None:
            raise LookupError(
                f"REACTIONS of {platform.label} needs {id}, which has no reaction common to all platforms"
            )
        reactions[platform] = own
    usual = {platform: r.unknown if isinstance(r, DependsOnInstances) else r for platform, r in reactions.items()}
    levels = {platform: r.level for platform, r in usual.items()}
    level = level or max(levels.values(), key=lambda each: each.rank)
    refused_by = tuple(platform for platform, each in levels.items() if each is Level.REFUSED)
    text += "\n\n    Source: What the platforms do when a broker is updated"
    Rule(id, SEVERITIES[level], Category.CHANGE, refusing=refused_by).register(text)
    KINDS[id] = Kind(id, reactions, advice)
    return KINDS[id]


def load_all() -> None:
    """Register every kind of change."""
    for name in ("identity", "fields"):
        import_module(f"osbctl.comparison.rules.{name}")
