"""The password gate: who may come in, without ever making the main loop wait.

A header that was seen before is decided by one keyed digest and one look-up. A new one costs a slow hash, which
one other process works out. Those who wait for that are served by "least attained service": first clients that were
let in before, then those never refused, then those refused least; among equals, those whose network was refused least.
Clients without failures are served first, so guessing cannot starve them.
"""

from __future__ import annotations

import hmac
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from osbctl.broker.decision import (
    BUSY,
    LONGEST_HEADER,
    REFUSED,
    BasicCredentials,
    Decision,
    RequestOutcome,
    Resume,
    parse_basic,
)
from osbctl.broker.hashing import HashingError, HashingProcess
from osbctl.broker.proxy import client_of
from osbctl.broker.records import KnownRecords
from osbctl.broker.throttle import Clients, LruCache
from osbctl.credentials.record import LONGEST, MAXIMUM_ROUNDS, SECONDS_A_ROUND, CredentialRecord

_log = logging.getLogger("osbctl.broker")

REMEMBERED = 4096
"""Headers remembered as verified, and as many as refused."""

PLACES, PLACES_EACH = 64, 4
"""Headers that wait for their hash at one time, and those of one client; the one being worked out included."""

WAIT_SECONDS = 20.0
"""A request that waits for longer is answered 503, before the connection is cut (`Settings.parked_seconds`)."""

ENDED_SECONDS = 60.0
"""A refusal that may come of a record's end is remembered so long: the clock may be set right meanwhile."""


class _Verified(NamedTuple):
    """Result of a verified header, computed once because each request needs it."""

    record: CredentialRecord
    ends: float
    decision: Decision


@dataclass(slots=True, eq=False)
class _Job:
    """A header that waits for its hash, with all the requests that carry it."""

    digest: bytes
    given: BasicCredentials
    client: str
    since: float
    begun: bool = False
    resumes: list[Resume] = field(default_factory=list)


class Authenticator:
    """Checks Authorization headers against credential records.

    It has a thread and a child process (see `HashingProcess`). `ask` never waits; it, `renew` and `close` may be
    called from any thread. `now` is the time of day (seconds since 1970), for what expires; `clock` is monotonic.
    """

    def __init__(
        self,
        records: Iterable[CredentialRecord],
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        hashing: HashingProcess | None = None,
    ) -> None:
        self._records = _arranged(records)
        self._now, self._clock = now, clock
        self._clients = Clients(clock=clock)
        self._key = os.urandom(32)
        self._verified: LruCache[_Verified] = LruCache(REMEMBERED)
        self._refused: LruCache[float] = LruCache(REMEMBERED)
        """Until when, by the monotonic clock."""
        self._waiting: dict[bytes, _Job] = {}
        self._changed = threading.Condition()
        self._closed = self._broken = False
        self._hashing = hashing or HashingProcess()
        self._thread = threading.Thread(target=self._work, name="authenticator", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Number of headers that wait for their hash."""
        return len(self._waiting)

    @property
    def why_not(self) -> str:
        """Reason why no new password can be checked now; empty if it can."""
        return "the hashing process does not answer" if self._broken or self._hashing.silent else ""

    def ask(self, header: str | None, address: str, resume: Resume) -> Decision | None:
        """The decision on an Authorization header (None: the request has none), where it is known.

        None where it is to be worked out: `resume(decision)` is then called once, from another thread.
        `address` is the client's (`plain_address`); behind a trusted proxy the one that the proxy names.
        """
        if header is None or len(header) > LONGEST_HEADER:
            return REFUSED
        # Keyed, so that look-ups tell nothing by their time.
        digest = hmac.digest(self._key, header.encode("utf-8", "surrogatepass"), "sha256")
        known = self._recall(digest)
        if known is not None:
            return known
        given = parse_basic(header)
        return REFUSED if given is None else self._park(digest, given, client_of(address), resume)

    def renew(self, records: Iterable[CredentialRecord]) -> None:
        """Put new records in place.

        What a record that is gone let in fails at once; what was refused may try again.
        """
        known = _arranged(records)
        with self._changed:
            self._records = known
            self._refused.clear()
            kept = [(digest, known.same(verified.record)) for digest, verified in self._verified.items()]
            self._verified.clear()
            for digest, record in kept:
                if record is not None:
                    self._verified.put(digest, _accepted(record))

    def close(self) -> None:
        """End the thread and the child process. Requests that still wait are answered as busy."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._hashing.stop()
        self._thread.join()

    def _recall(self, digest: bytes) -> Decision | None:
        verified = self._verified.get(digest)
        if verified is not None and verified.ends > self._now():
            return verified.decision
        if self._refused.get(digest, -inf) <= self._clock():
            return None
        with self._changed:
            if digest in self._refused:  # a guess that is repeated must not be forgotten, and cost a hash again
                self._refused.move_to_end(digest)
        return REFUSED

    # The queue. What is worked out stays in it until it is answered, so that the same header waits only once.

    def _park(self, digest: bytes, given: BasicCredentials, client: str, resume: Resume) -> Decision | None:
        displaced = None
        with self._changed:
            job = self._waiting.get(digest)
            if job is None:
                if not self._may_wait(client):
                    return BUSY
                if len(self._waiting) >= PLACES:
                    displaced = max((job for job in self._waiting.values() if not job.begun), key=self._rank)
                    if self._clients.rank(displaced.client) <= self._clients.rank(client):
                        return BUSY
                    del self._waiting[displaced.digest]
                job = self._waiting[digest] = _Job(digest, given, client, self._clock())
                self._changed.notify()
            # One header from several clients waits as the best of them: who guesses cannot hold up who shares it.
            elif self._clients.rank(client) < self._clients.rank(job.client):
                job.client = client
            job.resumes.append(resume)
        if displaced is not None:
            self._answer(displaced, BUSY)
        return None

    def _may_wait(self, client: str) -> bool:
        if self._closed or self._broken:
            return False
        held = sum(job.client == client for job in self._waiting.values())
        return held < PLACES_EACH and self._clients.take(client)

    def _rank(self, job: _Job) -> tuple[tuple[int, int], float]:
        return self._clients.rank(job.client), job.since

    def _next(self) -> _Job | None:
        """The job whose turn it is; None at the end."""
        with self._changed:
            while not self._closed:
                if self._waiting:
                    job = min(self._waiting.values(), key=self._rank)
                    job.begun = True
                    return job
                self._changed.wait()
        return None

    # The thread.

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._answer(job, self._settle(job))
            except HashingError as error:
                self._recover(error)
            self._answer_late()
        self._hashing.close()
        self._answer_all()

    def _settle(self, job: _Job) -> Decision:
        """Work out a header and remember what came of it; once more where the records changed meanwhile."""
        while True:
            known = self._records
            record = self._search(known, job.given)
            with self._changed:
                if known is self._records:
                    return self._remember(job, record)

    def _search(self, known: KnownRecords, given: BasicCredentials) -> CredentialRecord | None:
        # crypt(3) refuses what is empty or longer; no record can have such a password.
        if not 0 < len(given.password.encode()) <= LONGEST:
            return None
        tried = known.of(given.identity, self._now())
        index = self._first_match(given.password, [*(record.hash for record in tried), *known.decoys(tried)])
        return tried[index] if index is not None and index < len(tried) else None

    def _first_match(self, password: str, hashes: list[str]) -> int | None:
        # Ten times what a round takes on a usual processor (0.5 microseconds), and time for a child to start.
        seconds = 3 + 5e-6 * self._records.rounds
        return self._hashing.first_match(password, hashes, seconds, self._answer_late)

    def _remember(self, job: _Job, record: CredentialRecord | None) -> Decision:
        self._clients.settled(job.client, record is not None)
        if record is not None:
            verified = _accepted(record)
            self._verified.put(job.digest, verified)
            return verified.decision
        hangs_on_time = self._records.ended(job.given.identity, self._now())
        self._refused.put(job.digest, self._clock() + ENDED_SECONDS if hangs_on_time else inf)
        return REFUSED

    def _recover(self, error: HashingError) -> None:
        """Answer all waiting requests if the child fails, until it has computed a hash again."""
        self._broken = True
        while not self._closed:
            _log.error("passwords cannot be checked: %s", error)
            self._answer_all()
            try:
                self._first_match("x", KnownRecords([]).decoys([]))
                break
            except HashingError as again:
                error = again
            with self._changed:
                self._changed.wait_for(lambda: self._closed, 1)
        self._broken = False

    def _answer_all(self) -> None:
        for job in list(self._waiting.values()):
            self._answer(job, BUSY)

    def _answer_late(self) -> None:
        """Answer who has waited too long. A hash that has begun goes on, and what comes of it is remembered."""
        now = self._clock()
        with self._changed:
            late = [job for job in self._waiting.values() if now - job.since > WAIT_SECONDS]
        for job in late:
            if job.begun:
                job.since = now
                self._resume(job, BUSY)
            else:
                self._answer(job, BUSY)

    def _answer(self, job: _Job, decision: Decision) -> None:
        with self._changed:
            self._waiting.pop(job.digest, None)
        self._resume(job, decision)

    def _resume(self, job: _Job, decision: Decision) -> None:
        with self._changed:
            resumes, job.resumes = job.resumes, []
        for resume in resumes:
            try:
                resume(decision)
            except Exception:  # one broken connection must not end the thread for all
                _log.exception("a parked request could not be resumed")


def _accepted(record: CredentialRecord) -> _Verified:
    return _Verified(record, record.ends, Decision(RequestOutcome.ACCEPTED, record.public_name))


def _arranged(records: Iterable[CredentialRecord]) -> KnownRecords:
    known = KnownRecords(records)
    if known.rounds > MAXIMUM_ROUNDS:
        _log.warning(
            "a wrong password costs %d rounds, about %.0f seconds: take away records that are no longer used, or make "
            "them anew with fewer rounds",
            known.rounds,
            known.rounds * SECONDS_A_ROUND,
        )
    return known
