"""Credential records by identity, and dummy hashes so that every wrong guess costs the same."""

from collections import Counter
from collections.abc import Iterable, Sequence

from osbctl.credentials.record import MINIMUM_ROUNDS, CredentialRecord

_USUAL_SALT = 16


class KnownRecords:
    """Records by identity. Immutable; a reload creates a new one."""

    def __init__(self, records: Iterable[CredentialRecord]) -> None:
        self._by_identity: dict[str, tuple[CredentialRecord, ...]] = {}
        for record in records:
            self._by_identity[record.identity] = (*self._by_identity.get(record.identity, ()), record)
        self._cost: Counter[int] = Counter()
        for group in self._by_identity.values():
            self._cost |= _rounds_by_salt_length(group)  # the maximum for each length
        # One hash more than any identity has: so what is missing of it is never too little for a hash.
        self._cost.update(dict.fromkeys(self._cost or (_USUAL_SALT,), MINIMUM_ROUNDS))

    @property
    def wrong_guess_rounds(self) -> int:
        """Cost of a wrong guess, in rounds of SHA-512; equal for all identities."""
        return self._cost.total()

    def unexpired_records(self, identity: str, now: float) -> tuple[CredentialRecord, ...]:
        """The unexpired records of an identity at `now` (seconds since 1970)."""
        return tuple(record for record in self._by_identity.get(identity, ()) if record.expires_at > now)

    def dummy_hashes(self, tried_records: Sequence[CredentialRecord]) -> list[str]:
        """Generate hashes without a password, to be computed after `tried_records` failed.

        They make an unknown identity, a known one and one with several records cost the same rounds with the same
        lengths of salt: a round takes longer with a longer salt, if that needs another block of SHA-512.
        """
        missing = self._cost - _rounds_by_salt_length(tried_records)
        end = "." * 86
        return [f"$6$rounds={rounds}${'.' * length}${end}" for length, rounds in missing.items()]

    def find_same_hash(self, record: CredentialRecord) -> CredentialRecord | None:
        """Find the record with the same identity and hash; label and expiry may differ."""
        group = self._by_identity.get(record.identity, ())
        return next((each for each in group if each.hash == record.hash), None)


def _rounds_by_salt_length(records: Iterable[CredentialRecord]) -> Counter[int]:
    """Sum the rounds for each length of a salt."""
    cost: Counter[int] = Counter()
    for record in records:
        cost[len(record.salt)] += record.rounds
    return cost
