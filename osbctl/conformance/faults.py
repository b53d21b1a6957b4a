"""Findings about the wire: they have no line, so that the sentence names the request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.conformance import rules
from osbctl.findings import Finding
from osbctl.rule import RULES
from osbctl.text import safe

if TYPE_CHECKING:
    from osbctl.findings import Severity
    from osbctl.platforms import Platform

assert rules  # its records are looked up below


def fault(
    rule: str,
    message: str,
    *,
    severity: Severity | None = None,
    refused_by: tuple[Platform, ...] | None = None,
    hint: str = "",
) -> Finding:
    """A finding of `rule`, with the severity and the platforms of its record unless others are named."""
    record = RULES[rule]
    refused = record.refused_by if refused_by is None else refused_by
    return Finding(rule, severity or record.severity, safe(message), refused_by=refused, hint=hint)
