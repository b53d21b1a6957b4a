"""Accepted changes: a committed TOML file of `[[allow]]` entries.

[[allow]]
rule = "change-plan-removed"
object = "postgres/small"      # service or service/plan, by name; empty for the catalog
reason = "its last instance moved in May"
field = ""                     # optional: this field alone
level = "breaking"             # optional: holds up to this level
expires = 2027-01-31           # optional: the last day on which it holds
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from osbctl.changes import Change, Level
from osbctl.errors import ConfigError
from osbctl.files import parse_toml, read_bounded

_MAX_BYTES = 10_000_000
_NEEDED = ("rule", "object", "reason")
_TEXTS = {*_NEEDED, "field", "level"}


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """One entry, for changes up to `level`; `field` None stands for any field."""

    rule: str
    object: str
    reason: str
    field: str | None = None
    expires: datetime.date | None = None
    level: Level = Level.BREAKING

    def names(self, change: Change) -> bool:
        """Return whether the entry is about `change`, expired or not, whatever its level."""
        return (self.rule, self.object) == (change.rule, change.object) and self.field in (None, change.field)

    def covers(self, change: Change) -> bool:
        """Return whether the entry is about `change`, and holds for its level."""
        return self.names(change) and change.level.rank <= self.level.rank


@dataclass(frozen=True, slots=True)
class TriagedChanges:
    """Open and accepted changes; `problems` names entries that are expired or match no change."""

    open: list[Change]
    accepted: list[tuple[Change, str]]
    problems: list[str]


def load_allow_entries(path: str) -> list[AllowEntry]:
    """The entries of the file at `path`. Raises ConfigError: it does not exist, is not TOML, or an entry is wrong."""
    try:
        table = parse_toml(read_bounded(path, _MAX_BYTES), path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    entries = table.get("allow", [])
    if set(table) - {"allow"} or not isinstance(entries, list):
        raise ConfigError(f"{path}: the file may only hold [[allow]] entries")
    return [_parse_entry(path, number, entry) for number, entry in enumerate(entries, 1)]


def triage_changes(changes: Iterable[Change], entries: Iterable[AllowEntry], today: datetime.date) -> TriagedChanges:
    """Separate accepted changes from open ones. The first entry that covers a change gives the reason."""
    valid, problems = [], []
    for entry in entries:
        if entry.expires and entry.expires < today:
            problems.append(f"{_entry_label(entry)} expired on {entry.expires}: remove or renew it")
        else:
            valid.append(entry)
    open_changes, accepted, matched = [], [], set()
    for change in changes:
        covering = [number for number, entry in enumerate(valid) if entry.covers(change)]
        matched.update(covering)
        if covering:
            accepted.append((change, valid[covering[0]].reason))
        else:
            open_changes.append(change)
    for entry in (entry for number, entry in enumerate(valid) if number not in matched):
        graver = next((change.level for change in changes if entry.names(change)), None)
        why = f"holds up to {entry.level}, and the change is {graver}" if graver else "matches no change: remove it"
        problems.append(f"{_entry_label(entry)} {why}")
    return TriagedChanges(open_changes, accepted, problems)


def _entry_label(entry: AllowEntry) -> str:
    return f"allow {entry.rule} of {entry.object or 'the catalog'}" + (f", field {entry.field}" if entry.field else "")


def _parse_entry(path: str, number: int, entry: Any) -> AllowEntry:
    """Check and convert one entry; `number` counts from 1. Raises ConfigError."""
    where = f"{path}: allow entry {number}"
    if not isinstance(entry, dict) or set(entry) - _TEXTS - {"expires"}:
        raise ConfigError(f"{where}: known keys: rule, object, reason, field, level, expires")
    for key in _TEXTS & set(entry):
        if not isinstance(entry[key], str):
            raise ConfigError(f"{where}: {key} must be a string")
    for key in _NEEDED:
        if key not in entry or (key != "object" and not entry[key].strip()):
            raise ConfigError(f"{where}: needs {key}", 'for example: reason = "its last instance is gone"')
    expires = entry.get("expires")
    if expires is not None and type(expires) is not datetime.date:
        raise ConfigError(f"{where}: expires must be a date", "for example: expires = 2027-01-31")
    level = entry.get("level", Level.BREAKING.value)
    if level not in [*Level]:
        raise ConfigError(f"{where}: level must be one of {', '.join(Level)}", 'for example: level = "refused"')
    return AllowEntry(entry["rule"], entry["object"], entry["reason"], entry.get("field"), expires, Level(level))
