"""The sentences of schema changes; nothing in them is trusted, no secret is shown."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from osbctl.comparison.schemas.changes import ABSENT, Absent
from osbctl.comparison.schemas.suspects import FORBIDDEN, FORMAT, REQUIRED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from osbctl.comparison.schemas.suspects import Step, Suspect
    from osbctl.findings import Path
    from osbctl.sources.document import JsonValue

MAX_TEXT = 60
HIDDEN = "(hidden)"
_SECRET = ("password", "passwd", "passphrase", "secret", "token", "credential", "key", "pwd")


def witness_text(value: JsonValue | Absent, most: int = 200) -> str:
    """A value as one line of JSON: cut short, escaped, the values of secrets hidden."""
    return "" if value is ABSENT else _cut(json.dumps(_masked(value), ensure_ascii=False), most)


def looks_secret(name: str | int) -> bool:
    """Whether a property of this name probably holds a secret."""
    return isinstance(name, str) and any(word in name.lower() for word in _SECRET)


def subject(steps: Sequence[Step]) -> str:
    """The value's name in a request: `"nodes[0].size"`, or `the parameters` for the whole."""
    path: list[str] = []
    for step in steps:
        if step.kind == "index":
            path.append(f"[{step.at}]")
        elif step.kind == "key":
            path.append(f"{'.' if path else ''}{'*' if step.fresh else step.at}")
    return f'"{_cut("".join(path), MAX_TEXT)}"' if path else "the parameters"


def refused(suspect: Suspect, value: JsonValue | Absent) -> str:
    """For a change that a witness proves; `value` is the one at the suspect's place."""
    steps = suspect.pair.steps()
    where = subject(steps)
    if suspect.rule == REQUIRED:
        inside = f" in {where}" if steps else ""
        return f'"{_cut(suspect.name, MAX_TEXT)}" is now required{inside}'
    if suspect.rule == FORBIDDEN and not suspect.keyword:
        fresh = bool(steps) and steps[-1].fresh
        return (
            f"{subject(steps[:-1])} no longer may have other properties" if fresh else f"{where} is no longer allowed"
        )
    shown = HIDDEN if any(looks_secret(step.at) for step in steps) else witness_text(value, MAX_TEXT)
    told = " where formats are enforced" if suspect.rule == FORMAT else ""
    return f"{where} no longer accepts {shown}{_because(suspect)}{told}"


def undecided(suspect: Suspect) -> str:
    """For a change that could be neither proved harmless nor shown to hurt."""
    where = subject(suspect.pair.steps())
    if suspect.keyword == "type":
        return f"{where}: the new draft takes 1.0 for no integer; whether requests write it so is not known"
    what = f"{where}: {suspect.keyword or 'the schema'} changed"
    return f"{what}{_because(suspect)}; whether it refuses requests that were valid cannot be decided"


def unknown_before(steps: Sequence[Step]) -> str:
    """For a property that any value could stand under, as the old schema did not know it."""
    return (
        f"{subject(steps)} was not described before and took any value; it is described now,"
        " so whether requests with it are refused depends on what they hold"
    )


def relaxed(suspect: Suspect) -> str:
    """For what the new schema accepts, and the old did not for certain."""
    where = subject(suspect.pair.steps())
    if suspect.rule == REQUIRED:
        return f'"{_cut(suspect.name, MAX_TEXT)}" is no longer required'
    if suspect.rule == FORBIDDEN and not suspect.keyword:
        return f"{where} is allowed now"
    return f"{where} accepts more than before ({suspect.keyword or 'the schema'} relaxed)"


def default_changed(path: Path, old: JsonValue | Absent, new: JsonValue | Absent) -> str:
    """For a default that was added, changed or dropped."""
    hide = any(looks_secret(step) for step in path)
    texts = ["none" if v is ABSENT else HIDDEN if hide else witness_text(v, MAX_TEXT) for v in (old, new)]
    named = [str(step) for at, step in enumerate(path) if at and path[at - 1] == "properties"]
    where = f'"{_cut(".".join(named), MAX_TEXT)}"' if named else "the parameters"
    return f"the default of {where} changed from {texts[0]} to {texts[1]}"


def _because(suspect: Suspect) -> str:
    if not suspect.keyword or not isinstance(suspect.pair.new.value, dict):
        return ""
    value = suspect.pair.new.value.get(suspect.keyword)
    hide = any(looks_secret(step.at) for step in suspect.pair.steps())
    if isinstance(value, str | int | float | list) and not (hide and suspect.keyword in ("enum", "const")):
        return f" ({suspect.keyword}: {witness_text(value, MAX_TEXT)})"
    return f" ({suspect.keyword})"


def _masked(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {k: HIDDEN if looks_secret(k) else _masked(v) for k, v in value.items()}
    return [_masked(v) for v in value] if isinstance(value, list) else value


def _cut(text: str, most: int) -> str:
    # Control characters and those that turn the direction of text round.
    plain = re.sub(
        r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]",
        lambda m: f"\\u{ord(m.group()):04x}",
        text[: most + 1],
    )
    return plain if len(plain) <= most else plain[: most - 1] + "…"
