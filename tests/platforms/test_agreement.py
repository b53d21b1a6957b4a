"""What osbctl foretells against what the platforms' own code answered: verdicts of all four, Cloud Foundry's words."""

from __future__ import annotations

from collections import Counter

import pytest

from osbctl.platforms import Platform
from tests.corpus import CORPUS
from tests.platforms.recorded import cases, digest, outcome

GO = [Platform.KUBERNETES, Platform.SERVICE_MANAGER, Platform.KORIFI]


def disagreements(platform: Platform, groups: set[str]) -> tuple[Counter[str], list[str], list[str]]:
    """How many cases were counted by group, and which have another verdict or, with the same one, other words."""
    count: Counter[str] = Counter()
    verdicts, words = [], []
    for case in cases():
        if case.platform is not platform or case.group not in groups:
            continue
        ours = outcome(case)
        if ours is None:
            count["unreadable"] += 1
            continue
        count[case.group] += 1
        if ours.kind is not case.kind:
            verdicts.append(case.name)
        elif platform is Platform.CLOUD_FOUNDRY and digest(ours.messages) != case.words:
            words.append(case.name)
    return count, verdicts, words


@pytest.mark.parametrize("platform", GO)
def test_go(platform: Platform) -> None:
    count, verdicts, _ = disagreements(platform, {"real", "mutated", "aimed"})
    assert verdicts == []
    assert count["aimed"] >= 670
    assert count["unreadable"] <= 41, "texts that osbctl calls unreadable are left out of the count"
    if CORPUS:
        assert count["mutated"] >= 995
        assert count["real"] >= 33
