"""The credential records of a gate, arranged so that every wrong guess costs the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from osbctl.credentials.record import CredentialRecord

_LEAST = 1000
"""The fewest rounds that a hash can have."""

_USUAL_SALT = 16


class KnownRecords:
    """Records by identity. Immutable; a reload makes a new one."""

    def __init__(self, records: Iterable[CredentialRecord]) -> None:
        self._by_identity: dict[str, tuple[CredentialRecord, ...]] = {}
        for record in records:
            self._by_identity[record.identity] = (*self._by_identity.get(record.identity, ()), record)
        self._cost: Counter[int] = Counter()
        for group in self._by_identity.values():
            self._cost |= _cost(group)  # the larger of each
        if not self._cost:
            self._cost[_USUAL_SALT] = _LEAST

    @property
    def rounds(self) -> int:
        """Cost of a wrong guess, in rounds of SHA-512."""
        return self._cost.total()

    def of(self, identity: str, now: float) -> tuple[CredentialRecord, ...]:
        """The records of an identity that are in force at `now` (seconds since 1970)."""
        return tuple(record for record in self._by_identity.get(identity, ()) if record.ends > now)

    def ended(self, identity: str, now: float) -> bool:
        """Return whether the identity has a record that is not in force at `now`."""
        return len(self.of(identity, now)) < len(self._by_identity.get(identity, ()))

    def decoys(self, tried: Sequence[CredentialRecord]) -> list[str]:
        """Hashes that nothing fits, to be worked out after `tried` failed.

        With them an unknown identity, a known one and one with several records cost the same rounds, on salts
        of the same lengths: a round takes longer on a longer salt, once that makes another block of SHA-512.
        """
        missing = self._cost - _cost(tried)
        end = "." * 86
        return [f"$6$rounds={max(rounds, _LEAST)}${'.' * length}${end}" for length, rounds in missing.items()]

    def same(self, record: CredentialRecord) -> CredentialRecord | None:
        """The record here with the same identity and hash: label and expiry may have changed."""
        group = self._by_identity.get(record.identity, ())
        return next((each for each in group if each.hash == record.hash), None)


def _cost(records: Iterable[CredentialRecord]) -> Counter[int]:
    """Rounds by the length of the salt."""
    cost: Counter[int] = Counter()
    for record in records:
        cost[len(record.salt)] += record.rounds
    return cost
