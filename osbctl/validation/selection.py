"""Which findings are wanted: by rule, and by the name of the service offering or plan they are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from osbctl.catalog import names_at
from osbctl.findings import Finding
from osbctl.validation.options import IgnoreAt, ValidationOptions


class Selection:
    """A filter over findings that remembers which of its entries that silence a rule matched."""

    def __init__(self, options: ValidationOptions) -> None:
        self._select = options.select
        self._entries = (*map(IgnoreAt, sorted(options.ignore)), *options.ignore_at)
        self._matched: set[IgnoreAt] = set()

    def picks(self, rule: str) -> bool:
        """Whether `rule` is among those that were asked for."""
        return self._select is None or rule in self._select

    def reports(self, rule: str) -> bool:
        """Whether findings of `rule` were asked for, and are not ignored everywhere."""
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
