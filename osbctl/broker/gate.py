"""The password gate: who may come in, without ever making the main loop wait.

A header that was seen before is decided by one keyed digest and one look-up. A new one costs a slow
hash, which one other process works out; how many wait for it, and how often an address may ask, are bounded.
"""

from __future__ import annotations

import hmac
import os
import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from osbctl.broker.basic import LONGEST_HEADER, Given, parse_basic
from osbctl.broker.hashing import HashingError, HashingProcess
from osbctl.broker.records import KnownRecords
from osbctl.broker.throttle import Buckets, Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from osbctl.credentials import CredentialRecord

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
BUSY = Decision(Outcome.BUSY)


class Gate:
    """Checks Authorization headers against credential records.

    How a server uses it, for each request and before it runs the application:

        if gate.admit(header, address, resume):
            ...  # run the application now; it asks `decide` and gets its answer
        else:
            ...  # park the request; `resume()` is called once, from another thread: run it then

    `admit` and `decide` never wait. The application asks `decide(header)` again and turns None
    ("still not known") into 503 with Retry-After: so it ends where the queue is full or the address throttled.

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
        self._verified: Remembered[CredentialRecord] = Remembered(REMEMBERED)
        self._refused: Remembered[None] = Remembered(REMEMBERED)
        self._waiting: dict[bytes, list[Callable[[], None]]] = {}
        self._lock = threading.Lock()
        self._hashing = hashing or HashingProcess()
        self._jobs = _start_thread(self._work)

    def decide(self, header: str | None) -> Decision | None:
        """The decision on an Authorization header (None: the request has none), or None where it must be worked out."""
        raise NotImplementedError

    def admit(self, header: str | None, address: str, resume: Callable[[], None]) -> bool:
        """True: run the application now. False: the header is being worked out, `resume()` will be called once.

        `address` is the client's, textual; behind a trusted proxy the one that the proxy names.
        """
        raise NotImplementedError

    def renew(self, records: Iterable[CredentialRecord]) -> None:
        """Put new records in place: what a record that is gone let in fails at once, what was refused may try again."""
        raise NotImplementedError

    def close(self) -> None:
        """End the thread and the child process. Requests that still wait are resumed and find no decision."""
        raise NotImplementedError
