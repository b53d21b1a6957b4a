"""The platforms that may offer a plan, by the lists of platforms in the plan's metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.rules import fields as rules
from osbctl.comparison.values import shown

EXCLUDED = "excludedPlatformNames"
LISTS = (EXCLUDED, "supportedPlatformNames", "supportedPlatforms")
"""The fields of the metadata, in the order in which they count where several are there."""


def compare_visibility(to: Collector, pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Note the platforms that lose the plan, by its metadata before and after; return whether any does."""
    (was, before), (now, after) = _list(old), _list(new)
    if was == now:
        old_side, new_side = (after, before) if now == EXCLUDED else (before, after)
        whom = _listed(entry for entry in old_side if entry not in new_side)
    else:
        whom = f"{'' if now == EXCLUDED else 'all platforms but '}{_listed(after)}" if now else ""
    if whom:
        message = f"metadata.{now} hides the plan from {whom}"
        path, old_at = ("metadata", now), ("metadata", was or now)
        to.add(rules.PLATFORMS_WITHDRAWN, pair, message, path, old.get(was), new.get(now), old_at=old_at)
    return bool(whom)


def _listed(entries: Iterable[Any]) -> str:
    return ", ".join(map(shown, entries))


def _list(metadata: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The list that counts, after its field; a value that is no list is ignored, an empty one allows every platform."""
    for key in LISTS:
        values = metadata.get(key)
        if isinstance(values, list) and values:
            return key, values
    return "", []
