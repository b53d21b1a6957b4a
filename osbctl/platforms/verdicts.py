"""Verdicts of all platforms, computed as each platform does."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from osbctl.platforms import Platform
from osbctl.platforms.outcome import Outcome, VerdictKind


def judge_all(data: dict[str, Any], asked: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """Verdicts of the `asked` platforms on the catalog `data`, in the order of `Platform`."""
    from osbctl.platforms.accepted_by_all import accepted_by_all

    accepted = accepted_by_all(data)
    return {
        platform: Outcome(VerdictKind.ACCEPTS)
        if accepted and platform.record.in_accepted_by_all
        else platform.record.judge(data)
        for platform in Platform
        if platform in asked
    }
