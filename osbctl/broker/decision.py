"""What the gate says of a request, handed from it to the answer, the access log and the metrics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable


class RequestOutcome(StrEnum):
    """Whether a request may come in. `busy`: its password could not be checked now."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome, and the label of the record that let the request in (empty where none did)."""

    outcome: RequestOutcome
    label: str = ""


REFUSED = Decision(RequestOutcome.REFUSED)
BUSY = Decision(RequestOutcome.BUSY)

DECISION = "osbctl.decision"
"""The WSGI environment key under which the application finds the decision."""

Resume: TypeAlias = "Callable[[Decision], None]"
Ask: TypeAlias = "Callable[[str | None, str, Resume], Decision | None]"
"""How a connection asks a gate: see `osbctl.broker.gate.Gate.ask`."""
