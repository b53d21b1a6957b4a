"""Options of a validation, and selection of its findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from osbctl.catalog import names_at
from osbctl.findings import Finding, Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform

MAX_FINDINGS = 1_000
"""Maximum number of schema errors, and of schema warnings, reported per document."""


class IgnoreAt(NamedTuple):
    """One entry that silences a rule for the service offering, and the service plan, of that *name*.

    `service` or `plan` None stands for any.
    """

    rule: str
    service: str | None = None
    plan: str | None = None


class ValidationOptions(NamedTuple):
    """Options of a validation.

    `platforms` are those whose refusals count as errors. `select` (None: all) and `ignore` hold rule ids;
    `ignore_at` silences rules for named objects. `house_schemas` are the user's own JSON Schemas, each
    with the name that reports call it. `severity` is pairs of a rule and how much it matters here. `errors_alone`: the
    rest is not looked for, nor what other platforms than `platforms` do. `max_schema_findings`:
    so many errors, and as many warnings, of the catalog's schema are named. `literal`: the catalog is what platforms
    get, so that a placeholder in it is text like any other.
    """

    api_version: ApiVersion = DEFAULT_API_VERSION
    platforms: frozenset[Platform] = frozenset()
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    ignore_at: tuple[IgnoreAt, ...] = ()
    house_schemas: tuple[tuple[str, object], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    errors_alone: bool = False
    max_schema_findings: int = MAX_FINDINGS
    literal: bool = False


class Selection:
    """A filter over findings that remembers which of its entries that silence a rule matched."""

    def __init__(self, options: ValidationOptions) -> None:
        self._select = options.select
        self._entries = (*map(IgnoreAt, sorted(options.ignore)), *options.ignore_at)
        self._matched: set[IgnoreAt] = set()

    def picks(self, rule: str) -> bool:
        """Return whether `rule` is among those that were asked for."""
        return self._select is None or rule in self._select

    def reports(self, rule: str) -> bool:
        """Return whether findings of `rule` were asked for, and are not ignored everywhere."""
        return self.picks(rule) and IgnoreAt(rule) not in self._entries

    def of(self, findings: Iterable[Finding], data: dict[str, Any]) -> list[Finding]:
        """The findings that are wanted, in the order given."""
        named = {entry.rule for entry in self._entries}
        picked = (finding for finding in findings if self.picks(finding.rule))
        return [finding for finding in picked if finding.rule not in named or not self._is_ignored(finding, data)]

    @property
    def matched(self) -> frozenset[IgnoreAt]:
        """The entries that silenced something so far."""
        return frozenset(self._matched)

    def unmatched(self) -> list[IgnoreAt]:
        """The entries that silenced nothing so far, of the rules that were asked for: likely out of date."""
        return [entry for entry in self._entries if self.picks(entry.rule) and entry not in self._matched]

    def _is_ignored(self, finding: Finding, data: dict[str, Any]) -> bool:
        hits = [entry for entry in self._entries if entry.rule == finding.rule]
        service, plan = names_at(finding.path, data)
        hits = [e for e in hits if e.service in (None, service) and e.plan in (None, plan)]
        self._matched.update(hits)
        return bool(hits)
