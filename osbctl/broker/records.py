"""Credential records by identity, and dummy hashes so that every wrong guess costs the same."""

from collections import Counter
from collections.abc import Iterable, Sequence

from osbctl.credentials.record import MINIMUM_ROUNDS, CredentialRecord

_USUAL_SALT = 16


class KnownRecords:
    """Records by identity. Immutable; a reload creates a new one.

    A wrong guess computes, for each length of a salt, the same number of hashes with the same rounds in all, whatever
    the identity: a call costs something beside its rounds, and a round takes longer with a longer salt, if that needs
    another block of SHA-512.
    """

    def __init__(self, records: Iterable[CredentialRecord]) -> None:
        self._by_identity: dict[str, tuple[CredentialRecord, ...]] = {}
        for record in records:
            self._by_identity[record.identity] = (*self._by_identity.get(record.identity, ()), record)
        # One hash more than any identity has, and enough rounds for all that are missing of them.
        self._hashes: Counter[int] = Counter()
        for group in self._by_identity.values():
            self._hashes |= Counter(len(record.salt) for record in group)  # the maximum for each length
        self._hashes.update(list(self._hashes) or [_USUAL_SALT])
        self._rounds: Counter[int] = Counter()
        missing = [self._missing_hashes(group) for group in (*self._by_identity.values(), ())]
        for length in self._hashes:  # missing rounds are negative here: those of the group
            needed = (hashes * MINIMUM_ROUNDS - rounds for hashes, rounds in (each[length] for each in missing))
            self._rounds[length] = max(needed)

    @property
    def wrong_guess_rounds(self) -> int:
        """Cost of a wrong guess, in rounds of SHA-512; equal for all identities."""
        return self._rounds.total()

    def has_identity(self, identity: str) -> bool:
        """Return whether there is a record of this identity, expired or not."""
        return identity in self._by_identity

    def unexpired_records(self, identity: str, now: float) -> tuple[CredentialRecord, ...]:
        """The unexpired records of an identity at `now` (seconds since 1970)."""
        return tuple(record for record in self._by_identity.get(identity, ()) if record.expires_at > now)

    def dummy_hashes(self, tried_records: Sequence[CredentialRecord]) -> list[str]:
        """Generate hashes without a password, to be computed after `tried_records` failed."""
        dummies = []
        for length, (hashes, missing) in self._missing_hashes(tried_records).items():
            each, rest = divmod(missing, hashes)
            parts = (each + rest, *[each] * (hashes - 1))
            dummies += [f"$6$rounds={rounds}${'.' * length}${'.' * 86}" for rounds in parts]
        return dummies

    def _missing_hashes(self, tried_records: Sequence[CredentialRecord]) -> dict[int, tuple[int, int]]:
        """The number of hashes, and of rounds in all, that are missing for each length of a salt."""
        hashes, rounds = self._hashes.copy(), self._rounds.copy()
        for record in tried_records:
            hashes[len(record.salt)] -= 1
            rounds[len(record.salt)] -= record.rounds
        return {length: (hashes[length], rounds[length]) for length in self._hashes}

    def find_same_hash(self, record: CredentialRecord) -> CredentialRecord | None:
        """Find the record with the same identity and hash; label and expiry may differ."""
        group = self._by_identity.get(record.identity, ())
        return next((each for each in group if each.hash == record.hash), None)
