"""Real connections from several addresses guess passwords at the default rounds; newcomers log in meanwhile."""

from __future__ import annotations

from tools.soak import attack


def test_newcomers_log_in_while_others_guess() -> None:
    """`make soak` does it with 2, 8 and 64 that make no pause."""
    assert list(attack(8, newcomers=2, pause=0.2)) == []
