"""Values of catalogs: the types of known fields, and text with secrets redacted and long values cut.

What a value of another type means is undefined: it is reported, and not compared.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from osbctl.fields import known_fields
from osbctl.messages import SECRET, Message, Sentence, Value, redact_at, text_of
from osbctl.paths import JsonPath, JsonValue, same_value

MAX_TEXT = 80
"""Characters of a value in a message."""

FLAGS = ("instances_retrievable", "bindings_retrievable", "allow_context_updates", "binding_rotatable")
INHERITED = ("bindable", "plan_updateable")
"""Fields that a plan inherits from its service offering."""

_OBJECTS = "a list of objects"
TYPES: dict[str, Any] = {
    "metadata": dict,
    "dashboard_client": dict,
    "maintenance_info": dict,
    "schemas": dict,
    "tags": list,
    "requires": list,
    "services": _OBJECTS,
    "plans": _OBJECTS,
    "id": str,
    "name": str,
    "maximum_polling_duration": int,
    **dict.fromkeys((*INHERITED, *FLAGS, "free"), bool),
}
WRONG_TYPE = "{} changed, and has the wrong type in one catalog or both"


@cache
def compared_fields(kind: str) -> frozenset[str]:
    """The fields of a `catalog`, `service` or `plan` with a type and a comparison of their own; others are unknown."""
    return known_fields(kind) if kind == "catalog" else known_fields(kind).union(FLAGS)


def has_wrong_type(key: str, *sides: Mapping[str, Any]) -> bool:
    """Return whether the known field `key` has a wrong type on any side. Null counts as omitted."""
    return not all(has_type(side.get(key), TYPES[key]) for side in sides)


def has_type(value: Any, expected: Any) -> bool:
    """Return whether a value is of a type of `TYPES`, or null."""
    if value is None:
        return True
    if expected is int:  # JSON has one kind of number, and no boolean is one
        return isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    if expected is _OBJECTS:
        return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)
    return isinstance(value, expected)


def equal_or_both_empty(left: JsonValue, right: JsonValue) -> bool:
    """Return whether two values of a field mean the same; absent, null, `{}` and `[]` do."""
    left, right = (None if value in ({}, []) else value for value in (left, right))
    return same_value(left, right)


@dataclass(frozen=True, slots=True)
class _ShortJson:
    """Writes a value as a short line of JSON, from the character `start` on."""

    start: int = 0

    def __call__(self, value: JsonValue) -> str:
        text = json.dumps(value, ensure_ascii=False)
        text = f"…{text[self.start :]}" if self.start else text
        return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def format_value(value: JsonValue, path: JsonPath = ()) -> str:
    """`value` as a short line of JSON without secrets."""
    return str(_shown(value, path))


def _shown(value: JsonValue, path: JsonPath, start: int = 0) -> Value:
    return Value(value, path, _ShortJson(start), if_secret=_ShortJson()(SECRET))


def from_to(old: JsonValue, new: JsonValue, path: JsonPath = ()) -> Message:
    """`from … to …`, long values cut around the first difference; `(secret)` if only secrets differ."""
    old_shown, new_shown = redact_at(old, path), redact_at(new, path)
    if equal_or_both_empty(old_shown, new_shown):
        return Message(SECRET)
    old_text, new_text = (json.dumps(value, ensure_ascii=False) for value in (old_shown, new_shown))
    start = 0
    if max(len(old_text), len(new_text)) > MAX_TEXT:
        difference = next((i for i, (a, b) in enumerate(zip(old_text, new_text, strict=False)) if a != b), 0)
        start = max(0, difference - MAX_TEXT // 2)
    return Message("from {} to {}", _shown(old, path, start), _shown(new, path, start))


class ChangedValue(NamedTuple):
    """The sentence about a value that changed, and what follows it: the old and the new value."""

    sentence: Sentence
    values: Sentence = ""

    def __str__(self) -> str:
        return text_of(self.sentence) + text_of(self.values)


def describe_change(name: str, old: Any, new: Any, path: JsonPath = (), if_omitted: str = "") -> ChangedValue:
    """The sentence about a field that was added, removed or changed; `path` decides what is secret.

    `if_omitted` describes the value that counts where the field is absent, such as `default true`.
    """
    name = format_value(name)[1:-1]
    if_omitted = f" ({if_omitted})" if if_omitted else ""
    if old is None:
        return ChangedValue(f"{name} added{if_omitted}", Message(": {}", _shown(new, path)))
    if new is None:
        return ChangedValue(f"{name} removed{if_omitted}", Message(", was {}", _shown(old, path)))
    return ChangedValue(f"{name} changed", Message(" {}", from_to(old, new, path)))


def narrow_path(path: JsonPath, old: Any, new: Any) -> tuple[JsonPath, dict[str, str]]:
    """The path into objects that differ at only one key, and the fate of each differing key at its end."""
    while isinstance(old, dict) and isinstance(new, dict) and old and new:
        keys = {
            key: "added" if old.get(key) is None else "removed" if new.get(key) is None else "changed"
            for key in {**old, **new}
            if not equal_or_both_empty(old.get(key), new.get(key))
        }
        if len(keys) != 1:
            return path, keys
        (key,) = keys
        path, old, new = (*path, key), old.get(key), new.get(key)
    return path, {}
