"""What osbctl predicts against what the platforms' own code answered: verdicts of all four, Cloud Foundry's words.

Of the corpus where it is at hand, else of the cases that go with the project; of texts that osbctl cannot read, or that are
nested deeper than it reads, nothing is predicted, and they are counted apart. So are those that Cloud Foundry's validator takes, which is what was recorded,
and of which we know that its database does not.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from osbctl.platforms import Platform
from tests.corpus import CORPUS
from tests.platforms.recorded import KEPT_MUTATIONS, cases, digest, outcome

GO = [Platform.KUBERNETES, Platform.SERVICE_MANAGER, Platform.KORIFI]

NOT_WORKED_OUT = {
    "decimals": """
        b-03933-num-poll b-03941-num-schminlen b-03945-num-svc b-03985-num-poll b-03995-num-schenum2 b-04002-num-mi
        b-04054-num-mi""",
    "Onigmo's grammar": "b-01148-pattern-properties",
}
"""The aimed cases of Cloud Foundry that osbctl predicts wrongly, by reason: docs/explanation/platforms.md tells of each."""


class Agreement(NamedTuple):
    """Cases by group and those unreadable; the names of those with another verdict, or with the same but other words."""

    count: Counter[str]
    verdicts: set[str]
    words: set[str]


def agreement(platform: Platform, *groups: str) -> Agreement:
    found = Agreement(Counter(), set(), set())
    for case in cases():
        if case.platform is not platform or case.group not in groups:
            continue
        ours = outcome(case)
        name = case.name.rpartition("/")[2]
        if isinstance(ours, str):
            found.count[ours] += 1
            continue
        if {refusal.rule for refusal in ours.refusals} == {"cloudfoundry-storage"}:
            found.count["stored"] += 1
            continue
        found.count[case.group] += 1
        if ours.kind is not case.kind:
            found.verdicts.add(name)
        elif platform is Platform.CLOUD_FOUNDRY and digest(ours.messages) != case.words:
            found.words.add(name)
    return found


@pytest.mark.parametrize("platform", GO)
def test_kubernetes_service_manager_and_korifi(platform: Platform) -> None:
    count, verdicts, _ = agreement(platform, "real", "mutated", "aimed")
    assert verdicts == set()
    assert count["aimed"] >= 670
    assert count["unreadable"] <= 35
    assert 0 < count["too deep"] <= 8
    assert count["mutated"] >= 995 // (1 if CORPUS else KEPT_MUTATIONS)
    assert count["real"] >= (33 if CORPUS else 0)


def test_cloud_foundry_says_of_mutations_and_single_rules_what_was_recorded() -> None:
    count, verdicts, words = agreement(Platform.CLOUD_FOUNDRY, "mutated", "probe")
    assert verdicts | words == set()
    assert count["mutated"] >= 2_400 // (1 if CORPUS else KEPT_MUTATIONS)
    assert count["probe"] >= 342 - 24 - 1 - 2
    assert count["stored"] <= 40
    assert (count["unreadable"], count["too deep"]) == (24, 1)


def test_cloud_foundry_on_cases_aimed_at_weak_spots() -> None:
    count, verdicts, words = agreement(Platform.CLOUD_FOUNDRY, "aimed")
    assert verdicts | words == set(" ".join(NOT_WORKED_OUT.values()).split())
    assert count == {"aimed": 2_119, "too deep": 33, "unreadable": 19}
    assert len(verdicts) <= 0.03 * count["aimed"]
    assert len(verdicts | words) <= 0.05 * count["aimed"]


def test_every_line_of_cloud_foundry_s_words_but_the_headings_is_counted_as_a_refusal() -> None:
    counted = 0
    for case in cases():
        ours = outcome(case) if case.platform is Platform.CLOUD_FOUNDRY and b"\\n" not in case.text else None
        if not ours or isinstance(ours, str) or not ours.messages:
            continue
        indents = [len(line) - len(line.lstrip(" ")) for line in ours.messages]
        under = zip(indents, [*indents[1:], 0], strict=True)
        told = [line.strip() for line, (own, next_) in zip(ours.messages, under, strict=True) if next_ <= own]
        refusals = [refusal.message.strip() for refusal in ours.refusals]
        assert [line for line in told if line] == [text for text in refusals if text], case.name
        counted += len(told)
    assert counted > 5_000 // (1 if CORPUS else KEPT_MUTATIONS)
