"""Differences in what a schema says without refusing anything: defaults and wording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.comparison.schemas.changes import ABSENT, SchemaChange
from osbctl.comparison.schemas.roots import BARE
from osbctl.comparison.schemas.same import same_value
from osbctl.comparison.schemas.wording import cut, default_changed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.comparison.schemas.roots import Root, Subschema
    from osbctl.comparison.schemas.secrets import Secrets
    from osbctl.paths import Path


def default_changes(old: Root, new: Root, secrets: Secrets) -> Iterator[SchemaChange]:
    """A default that changed: requests that leave the value out get another one. Never refuses anything."""
    for before, after in _both(old, new):
        values = [place.value.get("default", ABSENT) for place in (before, after)]
        if not same_value(*values):
            pointers = [(*before.pointer, "default") if v is not ABSENT else before.pointer for v in values]
            yield SchemaChange(
                "risky",
                "schema-default-changed",
                pointers[0],
                pointers[1],
                default_changed(before, after, secrets),
                (*before.pointer, "default"),
            )


def wording_changes(old: Root, new: Root) -> list[SchemaChange]:
    """One change at most, for all titles, descriptions and other annotations together."""
    found = [path for pair in _both(old, new) for path in _reworded(*pair)]
    if not found:
        return []
    first = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    message = f"wording changed ({cut(str(first[-1]))}{more}); that refuses nothing"
    return [SchemaChange("safe", "schema-wording", first[:-1], first[:-1], message, first[:-1])]


def _reworded(before: Subschema, after: Subschema) -> Iterator[Path]:
    asserted = before.root.dialect.keywords | after.root.dialect.keywords
    for keyword in sorted((before.value.keys() | after.value.keys()) - asserted - BARE):
        if not same_value(before.value.get(keyword, ABSENT), after.value.get(keyword, ABSENT)):
            yield (*before.pointer, keyword)


def _both(old: Root, new: Root) -> Iterator[tuple[Subschema, Subschema]]:
    """The places that both schemas have under the same pointer."""
    for pointer, before in old.places.items():
        after = new.places.get(pointer)
        if after is not None and isinstance(before.value, dict) and isinstance(after.value, dict):
            yield before, after
