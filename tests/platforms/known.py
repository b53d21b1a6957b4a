"""The platforms whose behaviour tests spell out.

Another one is tested by its recorded answers (`recorded.py`), and by all tests that loop over `Platform`.
"""

from collections.abc import Iterable

from osbctl.platforms import Platform

KNOWN = CF, K8S, SM, KORIFI = (
    Platform.CLOUD_FOUNDRY, Platform.KUBERNETES, Platform.SERVICE_MANAGER, Platform.KORIFI,
)  # fmt: skip


def known(platforms: Iterable[Platform]) -> tuple[Platform, ...]:
    """Those of `platforms` that are known, in their order."""
    return tuple(platform for platform in platforms if platform in KNOWN)


def is_known(rule: str) -> bool:
    """Return whether a rule is none of another platform's own."""
    return not rule.startswith(tuple(f"{platform}-" for platform in Platform if platform not in KNOWN))
