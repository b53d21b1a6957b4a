"""The password gate: who may come in, without ever making the main loop wait.

A header that was seen before is decided by one keyed digest and one look-up. A new one costs a slow
hash, which one other process works out; how many wait for it, and how often an address may ask, are bounded.
"""

from __future__ import annotations

import hmac
import logging
import os
import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from osbctl.broker.basic import LONGEST_HEADER, Given, parse_basic
from osbctl.broker.hashing import HashingError, HashingProcess
from osbctl.broker.records import KnownRecords
from osbctl.broker.throttle import Buckets, Remembered
from osbctl.credentials.rules import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from osbctl.credentials import CredentialRecord

_log = logging.getLogger("osbctl.broker")

REMEMBERED = 4096
"""Headers remembered as verified, and as many as refused."""

WAITING = 16
"""Headers that wait for their hash at one time, the one being worked out included."""


class Outcome(StrEnum):
    """What the gate says of a request."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome, and the label of the record that let the request in (empty where none did)."""

    outcome: Outcome
    label: str = ""


REFUSED = Decision(Outcome.REFUSED)


@dataclass(frozen=True, slots=True)
class _Verified:
    record: CredentialRecord
    ends: float
    decision: Decision

    @classmethod
    def of(cls, record: CredentialRecord) -> _Verified:
        return cls(record, record.ends, Decision(Outcome.ACCEPTED, record.public_name))


class _Job(NamedTuple):
    digest: bytes
    given: Given


class Gate:
    """Checks Authorization headers against credential records.

    How a server uses it, for each request and before it runs the application:

        if gate.admit(header, address, resume):
            ...  # run the application now; it asks `decide` and gets its answer
        else:
            ...  # park the request; `resume()` is called once, from another thread: run it then

    `admit` and `decide` never wait. The application asks `decide(header)` again and turns None
    ("still not known") into 503 with Retry-After: so a request ends where the queue is full or its
    address throttled.

    Make one gate in each process that serves, after a fork and not before it: it has a thread and a
    child process (see `HashingProcess`). `renew` and `close` may be called from any thread.
    """

    def __init__(
        self,
        records: Iterable[CredentialRecord],
        *,
        now: Callable[[], float] = time.time,
        buckets: Buckets | None = None,
        hashing: HashingProcess | None = None,
    ) -> None:
        self._records = KnownRecords(records)
        self._now = now
        self._buckets = buckets or Buckets()
        self._key = os.urandom(32)
        self._last: tuple[str | None, bytes] = (None, b"")
        self._verified: Remembered[_Verified] = Remembered(REMEMBERED)
        self._refused: Remembered[None] = Remembered(REMEMBERED)
        self._waiting: dict[bytes, list[Callable[[], None]]] = {}
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._hashing = hashing or HashingProcess()
        self._thread = threading.Thread(target=self._work, name="gate", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many headers wait for their hash."""
        return len(self._waiting)

    def decide(self, header: str | None) -> Decision | None:
        """The decision on an Authorization header (None: the request has none).

        None where it is not known and has to be worked out.
        """
        if header is None or len(header) > LONGEST_HEADER:
            return REFUSED
        return self._recall(self._digest(header)) or (None if parse_basic(header) else REFUSED)

    def admit(self, header: str | None, address: str, resume: Callable[[], None]) -> bool:
        """True: run the application now. False: parked, `resume()` will be called once.

        `address` is the client's, as text; behind a trusted proxy the one that the proxy names.
        """
        if header is None or len(header) > LONGEST_HEADER:
            return True
        digest = self._digest(header)
        if self._recall(digest) is not None:
            return True
        given = parse_basic(header)
        return given is None or not self._enqueue(_Job(digest, given), address, resume)

    def renew(self, records: Iterable[CredentialRecord]) -> None:
        """Put new records in place.

        What a record that is gone let in fails at once; what was refused may try again.
        """
        known = KnownRecords(records)
        with self._lock:
            self._records = known
            self._refused.clear()
            kept = [(digest, known.same(verified.record)) for digest, verified in self._verified.items()]
            self._verified.clear()
            for digest, record in kept:
                if record is not None:
                    self._verified.put(digest, _Verified.of(record))

    def close(self) -> None:
        """End the thread and the child process. Requests that still wait are resumed, without a decision."""
        with self._lock:
            self._closed = True
        self._jobs.put(None)
        self._hashing.close()
        self._thread.join()

    def _digest(self, header: str) -> bytes:
        """What a header is remembered by. Keyed, so that look-ups tell nothing by their time."""
        last, digest = self._last
        if header is last:  # the same object: `admit` and then `decide` ask about one request
            return digest
        digest = hmac.digest(self._key, header.encode("utf-8", "surrogatepass"), "sha256")
        self._last = (header, digest)
        return digest

    def _recall(self, digest: bytes) -> Decision | None:
        verified = self._verified.get(digest)
        if verified is not None and verified.ends > self._now():
            return verified.decision
        if digest in self._refused:
            self._touch(digest)
            return REFUSED
        return None

    def _touch(self, digest: bytes) -> None:
        with self._lock:
            if digest in self._refused:
                self._refused.move_to_end(digest)

    def _enqueue(self, job: _Job, address: str, resume: Callable[[], None]) -> bool:
        """False where the queue is full or the address throttled. The same header waits only once."""
        with self._lock:
            others = self._waiting.get(job.digest)
            if others is not None:
                others.append(resume)
                return True
            if self._closed or len(self._waiting) >= WAITING or not self._buckets.take(address):
                return False
            self._waiting[job.digest] = [resume]
        self._jobs.put(job)
        return True

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                self._settle(job)
            except HashingError as error:
                if not self._closed:
                    _log.error("a password could not be checked: %s", error)
            self._resume(job.digest)
        for digest in list(self._waiting):
            self._resume(digest)

    def _settle(self, job: _Job) -> None:
        """Work out a header and remember what came of it; once more where the records changed meanwhile."""
        while True:
            known = self._records
            record = self._search(known, job.given)
            with self._lock:
                if known is self._records:
                    self._remember(job.digest, record)
                    return

    def _search(self, known: KnownRecords, given: Given) -> CredentialRecord | None:
        # crypt(3) refuses what is empty or longer; no record can have such a password.
        if not 0 < len(given.password.encode()) <= LONGEST:
            return None
        tried = known.of(given.identity, self._now())
        hashes = [*(record.hash for record in tried), *known.decoys(tried)]
        index = self._hashing.first_match(given.password, hashes)
        return tried[index] if index is not None and index < len(tried) else None

    def _remember(self, digest: bytes, record: CredentialRecord | None) -> None:
        if record is None:
            self._verified.pop(digest, None)
            self._refused.put(digest, None)
        else:
            self._verified.put(digest, _Verified.of(record))

    def _resume(self, digest: bytes) -> None:
        with self._lock:
            waiting = self._waiting.pop(digest, [])
        for resume in waiting:
            try:
                resume()
            except Exception:  # one broken connection must not end the thread for all
                _log.exception("a parked request could not be resumed")
