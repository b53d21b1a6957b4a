"""What each platform would answer, worked out the way the platform does it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from osbctl.platforms import Platform
from osbctl.platforms.outcome import UNKNOWN, Known, Outcome, Schemas, VerdictKind


def judge_all(
    data: dict[str, Any], schemas: Schemas = UNKNOWN.schemas, asked: Collection[Platform] = tuple(Platform)
) -> dict[Platform, Outcome]:
    """What each platform of those that are `asked` does with the catalog `data`, in the order of `Platform`.

    `schemas` is what is known of its parameter schemas.
    """
    from osbctl.platforms.usual import is_usual, odd_fields

    accepted = schemas.all_plain and is_usual(data)
    known = Known(schemas, {} if accepted else odd_fields(data))
    return {
        platform: Outcome(VerdictKind.ACCEPTS)
        if accepted and platform.record.takes_usual
        else platform.record.judge(data, known)
        for platform in Platform
        if platform in asked
    }
