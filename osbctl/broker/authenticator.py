"""Authenticates requests without blocking the main loop.

A known header costs one keyed digest and one cache lookup. A new one costs a slow hash, computed in one child process.
Waiting headers are served by "least attained service": first clients that were accepted before, then those never
refused, then those refused least; ties go to the network refused least. Clients without failures are served first, so
guessing cannot starve them.
"""

import hmac
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf

from osbctl.broker.decision import BUSY, LONGEST_HEADER, REFUSED, Decision, RequestOutcome, Resume, parse_basic_auth
from osbctl.broker.hashing_process import HashingError, HashingProcess
from osbctl.broker.proxy import client_prefix
from osbctl.broker.records import KnownRecords
from osbctl.broker.throttle import BoundedCache, Clients
from osbctl.credentials.record import LONGEST, CredentialRecord

_log = logging.getLogger("osbctl.broker")

CACHE_SIZE = 4096
"""Number of verified headers kept in the cache, and of refused ones."""

MAX_WAITING, MAX_WAITING_PER_CLIENT = 64, 4
"""Maximum number of headers in the queue, in total and per client; the one being hashed counts."""

MAX_WAIT_SECONDS = 20.0
"""A request that waits longer is answered 503. Shorter than `Settings.authentication_seconds`, which cuts it."""

REFUSED_SECONDS = 600.0
"""Lifetime of a cached refusal: it may be due to an expired record, and the system clock may be corrected."""


_EXPECTED = (HashingError, OSError)


@dataclass(slots=True, eq=False)
class _Job:
    """A header in the queue, with the callbacks of all requests that carry it."""

    digest: bytes
    identity: str
    password: str
    client: str
    since: float
    begun: bool = False
    resumes: list[Resume] = field(default_factory=list)


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
        self._clients = Clients(clock=clock)
        self._key = os.urandom(32)
        self._verified: BoundedCache[CredentialRecord] = BoundedCache(CACHE_SIZE)
        self._refused: BoundedCache[float] = BoundedCache(CACHE_SIZE)
        """Digest to the monotonic time until which it is refused."""
        self._waiting: dict[bytes, _Job] = {}
        self._changed = threading.Condition()
        self._closed = False
        self.replace_records(records)
        self._hashing = hashing or HashingProcess()
        self.thread = threading.Thread(target=self._process_queue, name="authenticator", daemon=True)
        self.thread.start()

    @property
    def queue_length(self) -> int:
        """Number of headers that wait for a hash, with the one being hashed."""
        return len(self._waiting)

    def check(self, header: str | None, address: str, resume: Resume) -> Decision | None:
        """Return the decision on an Authorization header, or None if it needs a hash; never blocks.

        After None, `resume(decision)` is called once, from another thread. `header` is None if the request has none.
        `address` is the client's (`normalize_address`), behind a trusted proxy the one that the proxy names.
        """
        if header is None or len(header) > LONGEST_HEADER:
            return REFUSED
        # Keyed, so that the time of a lookup reveals nothing.
        digest = hmac.digest(self._key, header.encode("utf-8", "surrogatepass"), "sha256")
        known = self._cached_decision(digest)
        if known is not None:
            return known
        credentials = parse_basic_auth(header)
        return REFUSED if credentials is None else self._enqueue(digest, credentials, client_prefix(address), resume)

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

    # The queue. A job stays in it until it is answered, so that equal headers share one hash.

    def _enqueue(self, digest: bytes, credentials: tuple[str, str], client: str, resume: Resume) -> Decision | None:
        """Queue a header, perhaps in place of a worse client's, or return BUSY. `credentials`: identity, password."""
        with self._changed:
            job = self._waiting.get(digest)
            if job is None:
                if not self._admit_client(client):
                    return BUSY
                if len(self._waiting) >= MAX_WAITING:
                    displaced = max((job for job in self._waiting.values() if not job.begun), key=self._job_rank)
                    if self._clients.queue_rank(displaced.client) <= self._clients.queue_rank(client):
                        return BUSY
                    self._finish_job(displaced, BUSY)
                job = self._waiting[digest] = _Job(digest, *credentials, client, self._clock())
                self._changed.notify()
            job.resumes.append(resume)
        return None

    def _admit_client(self, client: str) -> bool:
        """Return whether a client may queue another header; takes one of its tokens."""
        if self._closed:
            return False
        queued = sum(job.client == client for job in self._waiting.values())
        return queued < MAX_WAITING_PER_CLIENT and self._clients.take_token(client)

    def _job_rank(self, job: _Job) -> tuple[tuple[int, int], float]:
        return self._clients.queue_rank(job.client), job.since

    def _wait_for_job(self) -> _Job | None:
        """Wait for the job with the best rank, and mark it as begun; None after `close`."""
        with self._changed:
            while not self._closed:
                if self._waiting:
                    job = min(self._waiting.values(), key=self._job_rank)
                    job.begun = True
                    return job
                self._changed.wait()
        return None

    # The thread.

    def _process_queue(self) -> None:
        while (job := self._wait_for_job()) is not None:
            self._finish_job(job, self._decide_job(job))
        self._hashing.close()
        for job in list(self._waiting.values()):
            self._finish_job(job, BUSY)

    def _decide_job(self, job: _Job) -> Decision:
        """Check the password of a job; BUSY if it waited too long or the child failed."""
        if self._clock() - job.since > MAX_WAIT_SECONDS:
            return BUSY
        try:
            return self._hash_and_cache(job)
        except Exception as error:  # the thread must survive: without it, no password could be checked
            if not self._closed:
                _log.error("passwords cannot be checked: %s", error, exc_info=not isinstance(error, _EXPECTED))
            return BUSY

    def _hash_and_cache(self, job: _Job) -> Decision:
        """Hash a password and cache the decision; hash again if the records changed meanwhile."""
        while True:
            records = self._records
            record = self._find_matching_record(records, job)
            with self._changed:
                if records is not self._records:
                    continue
                self._clients.record_result(job.client, record is not None)
                if record is not None:
                    self._verified.put(job.digest, record)
                    return Decision(RequestOutcome.ACCEPTED, record.public_name)
                self._refused.put(job.digest, self._clock() + REFUSED_SECONDS)
                return REFUSED

    def _find_matching_record(self, records: KnownRecords, job: _Job) -> CredentialRecord | None:
        # crypt(3) refuses empty and longer passwords; no record can have one.
        if not 0 < len(job.password.encode()) <= LONGEST:
            return None
        tried = records.unexpired_records(job.identity, self._now())
        hashes = [*(record.hash for record in tried), *records.dummy_hashes(tried)]
        # Some twenty times the usual duration, for slow processors and CPU quotas, and time for a child to start.
        index = self._hashing.find_matching_hash(job.password, hashes, 10 + 1e-5 * records.wrong_guess_rounds)
        return tried[index] if index is not None and index < len(tried) else None

    def _finish_job(self, job: _Job, decision: Decision) -> None:
        """Remove a job from the queue, and resume its requests with the decision."""
        with self._changed:
            del self._waiting[job.digest]  # afterwards, no request can join the job
        for resume in job.resumes:
            try:
                resume(decision)
            except Exception:  # one broken connection must not end the thread
                _log.exception("a waiting request could not be resumed")
