"""What each platform would answer, worked out the way the platform does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from osbctl.platforms import Platform

if TYPE_CHECKING:
    from osbctl.findings import Path, VerdictKind


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason of a platform to refuse a catalog: a rule's id, the place, and what the platform says of it.

    `message` is the platform's own line without indentation where its words are known, else ours.
    """

    rule: str
    path: Path
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A platform's treatment of a whole catalog.

    `messages` are the lines that the platform itself would print, in its order and indentation; empty
    where its words are not known.
    """

    kind: VerdictKind
    refusals: tuple[Refusal, ...] = ()
    messages: tuple[str, ...] = ()


def judge_all(data: dict[str, Any], plain_schemas: bool = False, well_typed: bool = False) -> dict[Platform, Outcome]:
    """What each platform does with the catalog `data`, in the order of `Platform`.

    `plain_schemas` says that all parameter schemas are known to be plain, valid draft-04; `well_typed` that there
    are known fields only, all of the right types.
    """
    from osbctl.validation.platforms import cloudfoundry, korifi, kubernetes, service_manager

    return {
        Platform.CLOUD_FOUNDRY: cloudfoundry.judge(data, plain_schemas),
        Platform.KUBERNETES: kubernetes.judge(data, well_typed),
        Platform.SERVICE_MANAGER: service_manager.judge(data, well_typed),
        Platform.KORIFI: korifi.judge(data, well_typed),
    }
