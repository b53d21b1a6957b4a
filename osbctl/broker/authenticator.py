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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from osbctl.broker.fairness import KNOWN_CLIENTS, BoundedCache, Usage
from osbctl.broker.hashing_process import HashingError, HashingProcess
from osbctl.broker.parser import LONGEST_HEADER, parse_basic_auth
from osbctl.broker.proxy import client_prefix, network_prefix
from osbctl.credentials import LONGEST, MINIMUM_ROUNDS, CredentialRecord

_log = logging.getLogger("osbctl.broker")

CACHE_SIZE = 4096
"""Number of verified headers kept in the cache, and of refused ones."""

MAX_WAIT_SECONDS = 20.0
"""A request that waits longer is answered 503. Shorter than `Settings.authentication_seconds`, which cuts it."""

REFUSED_SECONDS = 600.0
"""Lifetime of a cached refusal: it may be due to an expired record, and the system clock may be corrected."""

GUESSES, GUESSES_PER_SECOND = 10, 2.0  # unknown passwords of a client for one identity: at first, and then per second
MAX_WAITING = 128  # unknown passwords in the queue
REFUSAL_HALF_LIFE_SECONDS = 60.0

_EXPECTED = (HashingError, OSError)

_USUAL_SALT = 16


class RequestOutcome(StrEnum):
    """Decision on a request. `busy`: its password could not be checked now."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome, and the public name of the matching record: its label, else its number (empty if there is none)."""

    outcome: RequestOutcome
    label: str = ""


REFUSED = Decision(RequestOutcome.REFUSED)
BUSY = Decision(RequestOutcome.BUSY)


@dataclass(slots=True, eq=False)
class CredentialCheck:
    """A check of the credentials of a request. `decision` is None until it is made, once, perhaps in another thread."""

    decision: Decision | None = None


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
        self.wrong_guess_rounds = self._rounds.total()  # of SHA-512, equal for all identities

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


@dataclass(slots=True, eq=False)
class PasswordJob(CredentialCheck):
    """An unknown header in the queue, for all requests that carry it.

    `client` is a `client_prefix`, `since` monotonic. `is_known`: its identity has a record. `tried`: it was hashed
    early; `begun`: it is being hashed in turn. `wakes` are called with the decision.
    """

    digest: bytes = b""
    identity: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    client: str = ""
    since: float = 0.0
    is_known: bool = False
    tried: bool = False
    begun: bool = False
    wakes: list[Callable[[], None]] = field(default_factory=list)


class PasswordQueue:
    """Unknown passwords that wait for a hash; not thread-safe.

    The order is that of refusals: first the client with fewest, then the network with fewest, then arrival. If the
    queue is full, the oldest of the worst client makes room. So guessers only delay each other, and a new client waits
    for one hash.

    Where platform and guesser share an address, that is not enough. So while several wait, each hash in turn is
    followed by an early one: for the first whose identity has a record, and for any if there is none. If the password
    is right, it is answered at once; if it is wrong, nothing happens until its turn comes, with another hash. So a
    guesser of other identities delays no correct password, and learns nothing: neither time nor order of refusals
    depends on records.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.jobs: dict[bytes, PasswordJob] = {}
        """By digest, in order of arrival. A job stays until it is decided, so that equal headers share one hash."""
        self._refusals: BoundedCache[Usage] = BoundedCache(KNOWN_CLIENTS)
        self._guesses: BoundedCache[tuple[float, float]] = BoundedCache(KNOWN_CLIENTS)
        self._is_early = False

    def take_guess(self, client: str, identity: str) -> bool:
        """Count a guess of a client at an identity; False if there were too many."""
        key, now = (client, hash(identity)), self._clock()
        guesses, then = self._guesses.get(key, (0.0, now))
        guesses = max(0.0, guesses - (now - then) * GUESSES_PER_SECOND)
        if guesses + 1 > GUESSES:
            return False
        self._guesses.put(key, (guesses + 1, now))
        return True

    def add(self, job: PasswordJob) -> PasswordJob | None:
        """Add a job. Returns the one that had to make room, which may be the same."""
        self.jobs[job.digest] = job
        if len(self.jobs) <= MAX_WAITING:
            return None
        ranks = self._ranks()
        worst = max(ranks[each.client] for each in self._waiting())
        return next(each for each in self._waiting() if ranks[each.client] == worst)

    def take_expired(self, seconds: float) -> list[PasswordJob]:
        """Jobs that have waited longer."""
        return [job for job in self._waiting() if self._clock() - job.since > seconds]

    def choose(self) -> tuple[PasswordJob, bool]:
        """The job to hash next, and whether that is early. While several wait, each second hash is."""
        ranks = self._ranks()
        self._is_early = len(self.jobs) > 1 and not self._is_early
        if self._is_early:
            known = [job for job in self.jobs.values() if job.is_known and not job.tried]
            # Of one client, the identity first that was guessed least. Without any, a dummy: it takes the same time.
            job = min(known or self.jobs.values(), key=lambda job: (ranks[job.client], self._guessed(job)))
            job.tried = True
        else:
            job = min(self.jobs.values(), key=lambda job: ranks[job.client])
            job.begun = True
        return job, self._is_early

    def record_result(self, job: PasswordJob, accepted: bool) -> None:
        """Count a wrong password; a correct one was no guess, and forgives all, and the next refusal."""
        now = self._clock()
        if accepted:
            self._guesses.pop((job.client, hash(job.identity)), None)
            self._usage(job.client).set(-1, now)
        else:
            for each in (job.client, network_prefix(job.client)):
                self._usage(each).add(1, now)

    def _waiting(self) -> Iterator[PasswordJob]:
        return (job for job in self.jobs.values() if not job.begun)

    def _ranks(self) -> dict[str, tuple[float, float]]:
        """The rank of each client with a job, the lowest first: refusals lately, of the client and of its network."""
        now, ranks = self._clock(), {}
        for client in {job.client for job in self.jobs.values()}:
            own, network = (self._refusals.get(each) for each in (client, network_prefix(client)))
            ranks[client] = (own.at(now) if own else 0.0, network.at(now) if network else 0.0)
        return ranks

    def _usage(self, client: str) -> Usage:
        usage = self._refusals.get(client) or Usage(REFUSAL_HALF_LIFE_SECONDS)
        self._refusals.put(client, usage)
        return usage

    def _guessed(self, job: PasswordJob) -> float:
        return self._guesses.get((job.client, hash(job.identity)), (0.0, 0.0))[0]


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
        """Return the decision on a known header. None for a new one."""
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
