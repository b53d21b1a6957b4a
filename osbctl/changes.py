"""Changes: results of comparisons, input of every report of changes."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from osbctl.findings import Location, Severity
from osbctl.messages import Sentence, text_of
from osbctl.paths import JsonPath, JsonValue
from osbctl.platforms import Platform, format_platforms
from osbctl.platforms.updates import Level as Level
from osbctl.text import fingerprint, plural

_Item = TypeVar("_Item")

SEVERITIES = {
    Level.REFUSED: Severity.ERROR,
    Level.BREAKING: Severity.ERROR,
    Level.RISKY: Severity.WARNING,
    Level.SAFE: Severity.INFO,
}
"""Severity of a finding for each level of a change."""

READING_ORDER = (Level.BREAKING, Level.REFUSED, Level.RISKY, Level.SAFE)
"""Levels as reports for people list them: what breaks users first, as nothing but a comparison shows it."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Reaction of one platform to a change; `reaction` is a phrase such as "refuses the update".

    `reason` is why it refuses the new catalog, with its rule, if the change is a refusal.
    """

    platform: Platform
    level: Level
    reaction: str
    reason: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """A service offering or service plan by id and name, as the old catalog has it where it is in both."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two catalogs.

    `sentence` says what changed; `values` goes on with the old and the new value, and a report that shows these leaves
    it out. `field` is the JSON pointer of the field in its object without the leading slash, empty for a whole object.
    `old` and `new` are values to display, with secrets replaced. None if the field is absent. On a side without the
    object or the entry of a list, the path is that of the list. Locations are set only in reports; a new object has no
    old one. `effects` are those of the chosen platforms.
    """

    rule: str
    sentence: Sentence
    effects: tuple[Effect, ...]
    service: ObjectRef | None = None
    plan: ObjectRef | None = None
    field: str = ""
    old: JsonValue = None
    new: JsonValue = None
    old_path: JsonPath = ()
    new_path: JsonPath = ()
    old_location: Location | None = None
    new_location: Location | None = None
    advice: str = ""
    values: Sentence = ""

    @property
    def message(self) -> str:
        """The text of `sentence` and `values`, without secrets."""
        return text_of(self.sentence) + text_of(self.values)

    @property
    def level(self) -> Level:
        """The strictest level of the chosen platforms."""
        return max((effect.level for effect in self.effects), key=lambda level: level.rank, default=Level.SAFE)

    @property
    def object(self) -> str:
        """`service` or `service/plan`, by name. Empty for the catalog."""
        return "/".join(ref.name for ref in (self.service, self.plan) if ref)

    @property
    def is_added_object(self) -> bool:
        """Return whether the old catalog lacks the service offering or plan; its old path is then that of the list."""
        return _is_object_on_one_side(self.new_path, self.old_path)

    @property
    def is_removed_object(self) -> bool:
        """Return whether the new catalog lacks the service offering or plan; its new path is then that of the list."""
        return _is_object_on_one_side(self.old_path, self.new_path)

    @property
    def fact(self) -> Hashable:
        """Content of the change without its object: reports for people join changes with the same one."""
        return (self.rule, self.effects, self.advice, self.message, repr(self.old), repr(self.new))

    @property
    def fingerprint(self) -> str:
        """Hash of rule, ids and field as 32 hexadecimal digits; independent of messages and lines."""
        ids = (ref.id if ref else "" for ref in (self.service, self.plan))
        return fingerprint("\0".join((self.rule, *ids, self.field)))


class DiffFailOn(StrEnum):
    """Minimum level of a change that makes a run fail."""

    REFUSED = "refused"
    BREAKING = "breaking"
    RISKY = "risky"
    ANY = "any"
    NEVER = "never"

    def is_failure(self, change: Change) -> bool:
        """Return whether `change` makes the run fail."""
        if self in (DiffFailOn.ANY, DiffFailOn.NEVER):
            return self is DiffFailOn.ANY
        return change.level.rank >= Level(self.value).rank


def _is_object_on_one_side(path: JsonPath, other: JsonPath) -> bool:
    """Return whether `path` is that of a service offering or plan, and `other` that of a list which lacks it."""
    return bool(path) and isinstance(path[-1], int) and other[-1:] in (("services",), ("plans",))


def join_equal(changes: Iterable[Change]) -> list[list[Change]]:
    """Lists of changes of several objects with the same `fact`; a list is at the position of its first change."""
    return join_by(changes, lambda change: change.fact)


def join_by(items: Iterable[_Item], key: Callable[[_Item], Hashable]) -> list[list[_Item]]:
    """Lists of the items with the same key; a list is at the position of its first item."""
    joined: dict[Hashable, list[_Item]] = {}
    for item in items:
        joined.setdefault(key(item), []).append(item)
    return list(joined.values())


def format_objects(changes: Sequence[Change]) -> str:
    """The object of joined changes by name, the number of several: `db/small`, `catalog`, `12 plans`."""
    if len(changes) == 1:
        return changes[0].object or "catalog"
    kinds = {"plan" if change.plan else "service offering" if change.service else "place" for change in changes}
    return plural(len(changes), kinds.pop() if len(kinds) == 1 else "place")


def platforms_and_effects(change: Change) -> Iterator[tuple[str, str]]:
    """Pairs of platforms (as text) and their common effect. Empty for a safe change."""
    by_reaction: dict[str, list[Platform]] = {}
    for effect in change.effects if change.level is not Level.SAFE else ():
        by_reaction.setdefault(effect.reaction, []).append(effect.platform)
    return ((format_platforms(platforms), reaction) for reaction, platforms in by_reaction.items())
