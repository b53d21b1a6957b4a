"""What each platform would answer, worked out the way the platform does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.platforms import Platform

if TYPE_CHECKING:
    from collections.abc import Collection

    from osbctl.platforms.outcome import Outcome


def judge_all(
    data: dict[str, Any], plain_schemas: bool = False, asked: Collection[Platform] = tuple(Platform)
) -> dict[Platform, Outcome]:
    """What each platform of those that are `asked` does with the catalog `data`, in the order of `Platform`.

    `plain_schemas` says that all parameter schemas are known to be plain, valid draft-04.
    """
    return {platform: platform.record.judge(data, plain_schemas) for platform in Platform if platform in asked}
