"""Registered brokers for programs: JSON values, whose shape is `schemas/brokers-1.json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from osbctl.registry.records import BrokerRow, Refresh, RegisteredBroker


def of_row(row: BrokerRow) -> dict[str, Any]:
    """A broker without its catalog."""
    values = asdict(row)
    return {key: value for key, value in values.items() if key not in ("id", "revision")}


def of_broker(broker: RegisteredBroker) -> dict[str, Any]:
    """A broker with its catalog and what is kept beside that."""
    return of_row(broker.row) | {"catalog": broker.data, "kept": [asdict(one) for one in broker.kept]}


def of_refresh(refresh: Refresh) -> dict[str, Any]:
    """One refresh, with the numbers of what happened."""
    return asdict(refresh) | {"counts": refresh.counts()}
