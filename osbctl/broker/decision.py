"""The decision on the credentials of a request."""

from dataclasses import dataclass
from enum import StrEnum


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
