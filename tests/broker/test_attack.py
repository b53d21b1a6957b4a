"""New clients log in while real connections from several addresses guess passwords."""

from __future__ import annotations

from tools.soak import attack


def test_new_clients_log_in_during_password_guessing() -> None:
    """`make soak` does this with the default rounds, and 2, 8 and 64 clients without pauses."""
    assert list(attack(4, clients=2, pause=0.2, rounds=300_000)) == []
