"""Which findings are wanted: by rule, and by the name of the service offering or plan they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from osbctl.findings import Finding, Path
    from osbctl.validation.options import IgnoreAt, ValidationOptions


class Selection:
    """A filter over findings that remembers which of its `ignore_at` entries matched."""

    def __init__(self, options: ValidationOptions) -> None:
        self._select = options.select
        self._ignore = options.ignore
        self._at = options.ignore_at
        self._matched: set[IgnoreAt] = set()

    def of(self, findings: Iterable[Finding], data: dict[str, Any]) -> list[Finding]:
        """The findings that are wanted, in the order given."""
        return [finding for finding in findings if self._wants(finding, data)]

    def unmatched(self) -> list[IgnoreAt]:
        """The entries that silenced nothing so far: likely out of date."""
        return [entry for entry in self._at if entry not in self._matched]

    def _wants(self, finding: Finding, data: dict[str, Any]) -> bool:
        if self._select is not None and finding.rule not in self._select:
            return False
        return finding.rule not in self._ignore and not self._ignored_at(finding, data)

    def _ignored_at(self, finding: Finding, data: dict[str, Any]) -> bool:
        hits = [entry for entry in self._at if entry.rule == finding.rule]
        if not hits:
            return False
        service, plan = names(finding.path, data)
        hits = [e for e in hits if e.service in (None, service) and e.plan in (None, plan)]
        self._matched.update(hits)
        return bool(hits)


def names(path: Path, data: dict[str, Any]) -> tuple[str | None, str | None]:
    """The names of the service offering and the service plan that `path` leads into; None outside of one."""
    found: list[str | None] = []
    value: Any = data
    for key, index in zip(path[0:4:2], path[1:4:2], strict=False):
        value = _step(_step(value, key), index)
        found.append(value.get("name") if isinstance(value, dict) else None)
    found += [None, None]
    return found[0], found[1]


def _step(value: Any, key: str | int) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        return None
