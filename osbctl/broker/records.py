"""The credential records of a gate, arranged so that every wrong guess costs the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from osbctl.credentials import CredentialRecord

_LEAST = 1000
"""The fewest rounds that a hash can have."""


class KnownRecords:
    """Records by identity. Immutable; a reload makes a new one."""

    def __init__(self, records: Iterable[CredentialRecord]) -> None:
        self._by_identity: dict[str, tuple[CredentialRecord, ...]] = {}
        for record in records:
            self._by_identity[record.identity] = (*self._by_identity.get(record.identity, ()), record)
        costs = [[record.rounds for record in group] for group in self._by_identity.values()]
        self._heaviest = max(costs, key=sum, default=[_LEAST])

    def of(self, identity: str, now: float) -> tuple[CredentialRecord, ...]:
        """The records of an identity that are in force at `now` (seconds since 1970)."""
        return tuple(record for record in self._by_identity.get(identity, ()) if record.ends > now)

    def decoys(self, tried: Sequence[CredentialRecord]) -> list[str]:
        """Hashes that nothing fits, to be worked out after `tried` failed.

        With them an unknown identity, a known one and one with several records cost the same rounds.
        """
        if not tried:
            return [_decoy(rounds) for rounds in self._heaviest]
        missing = sum(self._heaviest) - sum(record.rounds for record in tried)
        return [_decoy(max(missing, _LEAST))] if missing > 0 else []

    def same(self, record: CredentialRecord) -> CredentialRecord | None:
        """The record here with the same identity and hash: label and expiry may have changed."""
        group = self._by_identity.get(record.identity, ())
        return next((each for each in group if each.hash == record.hash), None)


def _decoy(rounds: int) -> str:
    return f"$6$rounds={rounds}$................${'.' * 86}"
