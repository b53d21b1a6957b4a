"""Values of catalogs as text: secrets redacted, long values cut."""

import json
from typing import Any

from osbctl.jsonschemas.walk import same_value
from osbctl.paths import JsonValue, Path
from osbctl.redaction import SECRET, may_be_secret_name
from osbctl.redaction import redact as _masked

MAX_TEXT = 80


def same(left: JsonValue, right: JsonValue) -> bool:
    """Return whether two values of a field mean the same; absent, null, `{}` and `[]` do."""
    if type(left) is type(right) is str:
        return bool(left == right)  # the most frequent case by far
    return same_value(_empty_is_none(left), _empty_is_none(right))


def masked(value: JsonValue, path: Path = ()) -> JsonValue:
    """`value` at `path` without secrets: values under secret names, and secrets in texts."""
    if value is None or isinstance(value, bool):
        return value
    if any(may_be_secret_name(step) for step in path):
        return SECRET
    return _masked(value)


def shown(value: JsonValue, path: Path = ()) -> str:
    """`value` as a short line of JSON without secrets."""
    return _cut(_line(value, path))


def shown_both(old: JsonValue, new: JsonValue, path: Path = ()) -> tuple[str, str]:
    """Both values as `shown` formats them; long ones are cut around the first difference."""
    before, after = _line(old, path), _line(new, path)
    if max(len(before), len(after)) <= MAX_TEXT:
        return before, after
    difference = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    start = max(0, difference - MAX_TEXT // 2)
    return _cut(before, start), _cut(after, start)


def from_to(old: JsonValue, new: JsonValue, path: Path = ()) -> str:
    """`from … to …` with both values as `shown_both` formats them; `(secret)` if only secrets differ."""
    if same(masked(old, path), masked(new, path)):
        return SECRET
    return "from {} to {}".format(*shown_both(old, new, path))


def changed_text(name: str, old: Any, new: Any, path: Path = ()) -> str:
    """The sentence about a field that was added, removed or changed; `path` decides what is secret."""
    name = shown(name)[1:-1]
    if old is None:
        return f"{name} added: {shown(new, path)}"
    if new is None:
        return f"{name} removed, was {shown(old, path)}"
    return f"{name} changed {from_to(old, new, path)}"


def _line(value: JsonValue, path: Path) -> str:
    return json.dumps(masked(value, path), ensure_ascii=False)


def _cut(text: str, start: int = 0) -> str:
    text = f"…{text[start:]}" if start else text
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def table(value: JsonValue) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _empty_is_none(value: JsonValue) -> JsonValue:
    return None if value in ({}, []) else value
