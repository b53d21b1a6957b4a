"""Faults of HTTP answers, and their findings, which have no line: the message names the request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from osbctl.changes import SEVERITIES
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.conformance import rules
from osbctl.conformance.exchange import Reply
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform
from osbctl.rule import RULES
from osbctl.text import safe


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the answer to one request; `reply` None: with the broker as a whole."""

    rule: str
    text: str
    reply: Reply | None
    severity: Severity
    refused_by: tuple[Platform, ...]
    hint: str


def fault(
    rule: str,
    text: str,
    reply: Reply | None = None,
    *,
    severity: Severity | None = None,
    refused_by: tuple[Platform, ...] | None = None,
    hint: str = "",
) -> Fault:
    """A fault against `rule`, with the severity and the platforms of its record unless others are named."""
    record = RULES[rule]
    refused = record.refused_by if refused_by is None else refused_by
    return Fault(rule, text, reply, severity or record.severity, refused, hint)


def findings_of(faults: Iterable[Fault]) -> list[Finding]:
    """A finding for each fault; one for all requests that show the same, with all platforms that it stops."""
    alike: dict[tuple[object, ...], list[Fault]] = {}
    for one in faults:
        alike.setdefault((one.rule, one.text, one.severity, one.hint), []).append(one)
    return [_finding(group) for group in alike.values()]


def _finding(group: list[Fault]) -> Finding:
    first = group[0]
    replies = [one.reply for one in group if one.reply]
    ways: dict[str, list[str]] = {}
    for reply in replies:
        ways.setdefault(reply.request, []).append(reply.how)
    text = " and ".join(f"{request} {', '.join(filter(None, how))}".strip() for request, how in ways.items())
    message = f"{text}: {first.text}" if text else first.text
    refused = tuple(platform for platform in rules.EVERY if any(platform in one.refused_by for one in group))
    return Finding(first.rule, first.severity, safe(message), refused_by=refused, hint=first.hint)


_MOST_TOLD = 3


def moved(before: Any, after: Any) -> tuple[Severity, str]:
    """Severity and description of the differences between two JSON values, most severe first."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return Severity.ERROR, "one of them is not a JSON object"
    changes = sorted(compare_catalogs(before, after), key=lambda change: -change.level.rank)
    if not changes:
        return Severity.INFO, "only in how it is written"
    sentences = [f"{change.object}: {change.message}".removeprefix(": ") for change in changes[:_MOST_TOLD]]
    more = [f"and {len(changes) - _MOST_TOLD} more"] if len(changes) > _MOST_TOLD else []
    return SEVERITIES[changes[0].level], "; ".join([*sentences, *more])
