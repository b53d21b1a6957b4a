"""Platforms that a plan is hidden from: lists in its metadata, which SAP Service Manager reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.rules.fields import PLATFORMS_WITHDRAWN
from osbctl.comparison.values import shown

_EXCLUDED = "excludedPlatformNames"
VISIBILITY_LISTS = (_EXCLUDED, "supportedPlatformNames", "supportedPlatforms")
"""Lists of platforms in the metadata of a plan; the first that is there counts."""


def compare_visibility(to: Collector, pair: MatchedPair, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Report platforms that lose the plan, by its metadata before and after; return whether there are any."""
    (was, before), (now, after) = _visibility_list(old), _visibility_list(new)
    if was == now:
        old_side, new_side = (after, before) if now == _EXCLUDED else (before, after)
        whom = ", ".join(shown(entry) for entry in old_side if entry not in new_side)
    else:
        whom = f"{'' if now == _EXCLUDED else 'all platforms but '}{', '.join(map(shown, after))}" if now else ""
    if whom:
        message = f"metadata.{now} hides the plan from {whom}"
        path, old_at = ("metadata", now), ("metadata", was or now)
        to.add(PLATFORMS_WITHDRAWN, pair, message, path, old.get(was), new.get(now), old_at=old_at)
    return bool(whom)


def _visibility_list(metadata: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The list that counts, with its field. Other types are ignored, and an empty list allows every platform."""
    for key in VISIBILITY_LISTS:
        values = metadata.get(key)
        if isinstance(values, list) and values:
            return key, values
    return "", []
