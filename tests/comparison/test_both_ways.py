"""Changes of two catalogs in both directions."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given

from osbctl.changes import Change
from osbctl.comparison import kinds
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.sources.read import read_source
from tests.corpus import EVERY_CASE, needs_corpus

from .pairs import edited, real_catalogs, real_pairs

MIRRORED = {
    f"change-{one}": f"change-{other}"
    for pair in (
        ("plan-removed", "plan-added"),
        ("service-removed", "service-added"),
        ("tag-removed", "tag-added"),
        ("requires-removed", "requires-added"),
        ("free-to-paid", "paid-to-free"),
        ("polling-lowered", "polling-raised"),
        ("explicit-dropped", "explicit-added"),
    )
    for one, other in (pair, pair[::-1])
}
TURNED = {
    "change-plan-id", "change-service-id", "change-service-id-plans-kept", "change-plan-moved", "change-wording",
    "change-metadata", "change-costs", "change-order", "change-other-field", "change-dashboard-client",
    "change-maintenance-version", "change-service-default",
}  # fmt: skip
WITHDRAWN = {kind.id for kind in kinds.WITHDRAWN.values()}
FLAGS = {*WITHDRAWN, kinds.GRANTED.id}


def told(changes: list[Change]) -> Counter[tuple[str, Any, Any]]:
    """The changes that have a counterpart on the way back, by rule and paths."""
    return Counter(
        ("a flag" if change.rule in FLAGS else change.rule, change.old_path, change.new_path)
        for change in changes
        if change.rule in {*MIRRORED, *TURNED, *FLAGS}
    )


def assert_turned(old: Any, new: Any) -> None:
    there, back = compare_catalogs(old, new), compare_catalogs(new, old)
    turned = Counter({(MIRRORED.get(rule, rule), b, a): number for (rule, a, b), number in told(there).items()})
    assert turned == told(back)
    assert bool(there) == bool(back)


@pytest.mark.fuzz
@given(edited())
def test_a_change_turns_round_with_its_sides(pair: tuple[Any, Any]) -> None:
    assert_turned(*pair)


@needs_corpus
@pytest.mark.fuzz
def test_a_change_of_real_catalogs_turns_round_with_its_sides() -> None:
    data = {file: read_source(str(file)).data for file in real_catalogs()}
    for old, new in real_pairs()[:: 1 if EVERY_CASE else 3]:
        assert_turned(data[old], data[new])
