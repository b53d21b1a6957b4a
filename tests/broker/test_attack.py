"""Real connections from several addresses guess passwords; newcomers log in meanwhile."""

from __future__ import annotations

from tools.soak import attack


def test_newcomers_log_in_while_others_guess() -> None:
    """`make soak` does it at the default rounds, with 2, 8 and 64 that make no pause."""
    assert list(attack(4, newcomers=2, pause=0.2, rounds=300_000)) == []
