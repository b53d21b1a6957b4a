"""Answers that are not the catalog, made once."""

from __future__ import annotations

import json
from typing import NamedTuple


class Problem(NamedTuple):
    """A status line, headers and a JSON body with `error` and `description` (OSB, Service Broker Errors)."""

    status: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def problem(status: str, error: str, description: str, *headers: tuple[str, str]) -> Problem:
    """The answer with this body; `error` is one CamelCase word, `description` a sentence for the operator."""
    body = json.dumps({"error": error, "description": description}).encode() + b"\n"
    usual = (
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
    )
    return Problem(status, (*usual, *headers), body)
