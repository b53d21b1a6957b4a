"""Authenticates requests without blocking the main loop.

A known header costs one keyed digest and one cache lookup. A new one costs a slow hash, computed in one child process.
`osbctl.broker.fairness` says which comes next.
"""

import hmac
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import inf

from osbctl.broker.decision import BUSY, REFUSED, CredentialCheck, Decision, RequestOutcome
from osbctl.broker.fairness import BoundedCache, PasswordJob, PasswordQueue
from osbctl.broker.hashing_process import HashingError, HashingProcess
from osbctl.broker.parser import LONGEST_HEADER, parse_basic_auth
from osbctl.broker.proxy import client_prefix
from osbctl.credentials import LONGEST, MINIMUM_ROUNDS, CredentialRecord

_log = logging.getLogger("osbctl.broker")

CACHE_SIZE = 4096
"""Number of verified headers kept in the cache, and of refused ones."""

MAX_WAIT_SECONDS = 20.0
"""A request that waits longer is answered 503. Shorter than `Settings.authentication_seconds`, which cuts it."""

REFUSED_SECONDS = 600.0
"""Lifetime of a cached refusal: it may be due to an expired record, and the system clock may be corrected."""

_EXPECTED = (HashingError, OSError)

_USUAL_SALT = 16


class KnownRecords:
    """Records by identity, and dummy hashes so that every wrong guess costs the same. A reload creates a new one.

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


class Authenticator:
    """Checks Authorization headers against credential records.

    Owns a thread and a child process (`HashingProcess`). All public methods may be called from any thread.
    `now` is the wall clock (seconds since 1970), for expiry; `clock` is monotonic.
    """

    def __init__(
        self,
        records: Iterable[CredentialRecord],
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        hashing: HashingProcess | None = None,
    ) -> None:
        self._now, self._clock = now, clock
        self._key = os.urandom(32)
        self._verified: BoundedCache[CredentialRecord] = BoundedCache(CACHE_SIZE)
        self._refused: BoundedCache[float] = BoundedCache(CACHE_SIZE)
        """Digest to the monotonic time until which it is refused."""
        self._queue = PasswordQueue(clock)
        self._changed = threading.Condition()
        self._closed = False
        self.replace_records(records)
        self._hashing = hashing or HashingProcess()
        self.thread = threading.Thread(target=self._process_queue, name="authenticator", daemon=True)
        self.thread.start()

    @property
    def queue_length(self) -> int:
        """Number of headers that wait for a hash, with the one being hashed."""
        return len(self._queue.jobs)

    def check(self, header: str | None, address: str, wake: Callable[[], None]) -> CredentialCheck:
        """Begin to check an Authorization header, None if the request has none; never blocks.

        If the check returned has no decision yet, `wake` is called when it has, once, from another thread. `address` is
        the client's (`normalize_address`), behind a trusted proxy the one that the proxy names.
        """
        if header is None or len(header) > LONGEST_HEADER:
            return CredentialCheck(REFUSED)
        # Keyed, so that the time of a lookup reveals nothing.
        digest = hmac.digest(self._key, header.encode("utf-8", "surrogatepass"), "sha256")
        known = self._cached_decision(digest)
        if known is not None:
            return CredentialCheck(known)
        credentials = parse_basic_auth(header)
        # crypt(3) refuses empty and longer passwords; no record can have one.
        if credentials is None or not 0 < len(credentials[1].encode()) <= LONGEST:
            return CredentialCheck(REFUSED)
        return self._enqueue(digest, *credentials, client_prefix(address), wake)

    def replace_records(self, records: Iterable[CredentialRecord]) -> None:
        """Use new records: headers accepted by a removed one fail at once, refused headers are checked again."""
        known = KnownRecords(records)
        with self._changed:
            self._records = known
            self._refused.clear()
            kept = [(digest, known.find_same_hash(record)) for digest, record in self._verified.items()]
            self._verified.clear()
            for digest, record in kept:
                if record is not None:
                    self._verified.put(digest, record)

    def close(self) -> None:
        """End the thread and the child process. Waiting requests are answered as busy."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._hashing.stop()
        self.thread.join()

    def _cached_decision(self, digest: bytes) -> Decision | None:
        """Return the decision on a known header; None for a new one."""
        record = self._verified.get(digest)
        if record is not None and record.expires_at > self._now():
            return Decision(RequestOutcome.ACCEPTED, record.public_name)
        return REFUSED if self._refused.get(digest, -inf) > self._clock() else None

    def _enqueue(
        self, digest: bytes, identity: str, password: str, client: str, wake: Callable[[], None]
    ) -> CredentialCheck:
        with self._changed:
            job = self._queue.jobs.get(digest)
            if job is None:
                if self._closed or not self._queue.take_guess(client, identity):
                    return CredentialCheck(BUSY)
                is_known = self._records.has_identity(identity)
                job = PasswordJob(None, digest, identity, password, client, self._clock(), is_known)
                displaced = self._queue.add(job)
                if displaced is not None:
                    self._finish(displaced, BUSY)
                self._changed.notify()
            job.wakes.append(wake)
            return job

    def _process_queue(self) -> None:
        while self._process_next():
            pass
        self._hashing.close()
        for job in list(self._queue.jobs.values()):
            self._finish(job, BUSY)

    def _process_next(self) -> bool:
        """Wait for a job and decide it; False after `close`."""
        with self._changed:
            while not self._closed and not self._queue.jobs:
                self._changed.wait()
            if self._closed:
                return False
            for late in self._queue.take_expired(MAX_WAIT_SECONDS):
                self._finish(late, BUSY)
            if not self._queue.jobs:
                return True
            job, early = self._queue.choose()
        try:
            self._decide(job, early)
        except Exception as error:  # the thread must survive: without it, no password could be checked
            if not self._closed:
                _log.error("passwords cannot be checked: %s", error, exc_info=not isinstance(error, _EXPECTED))
            if not early:
                self._finish(job, BUSY)
        return True

    def _decide(self, job: PasswordJob, early: bool) -> None:
        """Hash a password and decide its job; early only if it is right, and not if the records changed meanwhile."""
        records = self._records
        record = self._find_matching_record(records, job.identity, job.password)
        with self._changed:
            if records is not self._records or (early and record is None):
                job.begun = False  # it waits for its turn
                return
            self._queue.record_result(job, accepted=record is not None)
            if record is not None:
                self._verified.put(job.digest, record)
                self._finish(job, Decision(RequestOutcome.ACCEPTED, record.public_name))
            else:
                self._refused.put(job.digest, self._clock() + REFUSED_SECONDS)
                self._finish(job, REFUSED)

    def _find_matching_record(self, records: KnownRecords, identity: str, password: str) -> CredentialRecord | None:
        tried = records.unexpired_records(identity, self._now())
        hashes = [*(record.hash for record in tried), *records.dummy_hashes(tried)]
        # Some twenty times the usual duration, for slow processors and CPU quotas, and time for a child to start.
        index = self._hashing.find_matching_hash(password, hashes, 10 + 1e-5 * records.wrong_guess_rounds)
        return tried[index] if index is not None and index < len(tried) else None

    def _finish(self, job: PasswordJob, decision: Decision) -> None:
        """Remove a job from the queue, and wake its requests; do nothing if that is done."""
        with self._changed:
            if self._queue.jobs.get(job.digest) is not job:
                return
            del self._queue.jobs[job.digest]
            job.decision = decision
        for wake in job.wakes:
            try:
                wake()
            except Exception:  # one broken connection must not end the thread
                _log.exception("a waiting request could not be resumed")
