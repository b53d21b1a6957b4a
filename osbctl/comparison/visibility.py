"""The platforms that may offer a plan, by the lists of platforms in the plan's metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from osbctl.comparison.collect import Collector, MatchedPair
from osbctl.comparison.rules import fields as rules
from osbctl.comparison.values import shown

EXCLUDED = "excludedPlatformNames"
LISTS = (EXCLUDED, "supportedPlatformNames", "supportedPlatforms")
"""The fields of the metadata, in the order in which they count where several are there."""


def compare_visibility(to: Collector, pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Note the platforms that lose the plan, by its metadata before and after; return whether any does."""
    (was, before), (now, after) = _list(old), _list(new)
    if now == EXCLUDED:
        lost = [entry for entry in after if was != now or entry not in before]
        whom = ", ".join(map(shown, lost))
    elif was == now:
        whom = ", ".join(shown(entry) for entry in before if entry not in after)
    else:
        whom = f"all platforms but {', '.join(map(shown, after))}" if now else ""
    if whom:
        message = f"metadata.{now} hides the plan from {whom}"
        path, old_at = ("metadata", now), ("metadata", was or now)
        to.add(rules.PLATFORMS_WITHDRAWN, pair, message, path, old.get(was), new.get(now), old_at=old_at)
    return bool(whom)


def _list(metadata: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The list that counts, after its field; a value that is no list is ignored, an empty one allows every platform."""
    for key in LISTS:
        values = metadata.get(key)
        if isinstance(values, list) and values:
            return key, values
    return "", []
