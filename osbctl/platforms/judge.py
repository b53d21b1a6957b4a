"""What each platform would answer, worked out the way the platform does it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from osbctl.platforms import Platform
from osbctl.platforms.outcome import Outcome, VerdictKind


def judge_all(
    data: dict[str, Any], plain_schemas: bool = False, asked: Collection[Platform] = tuple(Platform)
) -> dict[Platform, Outcome]:
    """What each platform of those that are `asked` does with the catalog `data`, in the order of `Platform`.

    `plain_schemas` says that all parameter schemas are known to be small, plain, valid draft-04.
    """
    accepted = plain_schemas and _is_usual(data)
    return {
        platform: Outcome(VerdictKind.ACCEPTS)
        if accepted and platform.record.takes_usual
        else platform.record.judge(data, plain_schemas)
        for platform in Platform
        if platform in asked
    }


def _is_usual(data: dict[str, Any]) -> bool:
    from osbctl.platforms.usual import is_usual

    return is_usual(data)
