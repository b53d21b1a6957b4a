"""What each platform would answer, worked out the way the platform does it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from osbctl.platforms import Platform
from osbctl.platforms.outcome import Known, Outcome, VerdictKind


def judge_all(
    data: dict[str, Any], plain_schemas: bool = False, asked: Collection[Platform] = tuple(Platform)
) -> dict[Platform, Outcome]:
    """What each platform of those that are `asked` does with the catalog `data`, in the order of `Platform`.

    `plain_schemas` says that all parameter schemas are known to be small, plain, valid draft-04.
    """
    from osbctl.platforms.usual import is_usual, odd_fields

    accepted = plain_schemas and is_usual(data)
    known = Known(plain_schemas, {} if accepted else odd_fields(data))
    return {
        platform: Outcome(VerdictKind.ACCEPTS)
        if accepted and platform.record.takes_usual
        else platform.record.judge(data, known)
        for platform in Platform
        if platform in asked
    }
