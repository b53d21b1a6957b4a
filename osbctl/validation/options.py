"""Options of a validation, and selection of its findings."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from osbctl.catalog import service_and_plan_names
from osbctl.findings import Finding, Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform, chosen_or_all
from osbctl.rule import Rule

MAX_FINDINGS = 1_000
"""Maximum number of schema errors, and of schema warnings, reported per document."""


class IgnoreAt(NamedTuple):
    """An entry that ignores a rule for the service offering and the service plan with these *names*; None is any."""

    rule: str
    service: str | None = None
    plan: str | None = None


class ValidationOptions(NamedTuple):
    """Options of a validation.

    `spoken_version` is the oldest API version of the chosen platforms, which ignore later fields; None for
    `api_version`. Refusals of `platforms` count as errors, and no other platform is judged; if it is empty, all are
    judged, and their refusals are warnings. `select` (None: all) and `ignore` hold rule ids; `ignore_at` ignores rules
    for named objects. `user_schemas` are JSON Schemas of the user, each with its name in reports, and `user_rules` the
    rules that they name, by id. `severity` has pairs
    of a rule and its severity. `errors_only`: only errors and `platforms` are checked. `literal`: platforms get the
    catalog unchanged, so that placeholders are plain text. `known` are fingerprints of identities: such findings are
    not reported.
    """

    api_version: ApiVersion = DEFAULT_API_VERSION
    platforms: frozenset[Platform] = frozenset()
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    ignore_at: tuple[IgnoreAt, ...] = ()
    user_schemas: tuple[tuple[str, object], ...] = ()
    user_rules: Mapping[str, Rule] = MappingProxyType({})
    severity: tuple[tuple[str, Severity], ...] = ()
    errors_only: bool = False
    literal: bool = False
    known: frozenset[str] = frozenset()
    spoken_version: ApiVersion | None = None

    @property
    def judged(self) -> tuple[Platform, ...]:
        """The platforms whose decisions are reported, in order: the chosen ones, or all."""
        return chosen_or_all(self.platforms)


def select_findings(findings: Iterable[Finding], data: dict[str, Any], options: ValidationOptions) -> list[Finding]:
    """The findings on the catalog `data` that are selected and not ignored."""
    entries = (*map(IgnoreAt, options.ignore), *options.ignore_at)
    ignored = {entry.rule for entry in entries}

    def is_ignored(finding: Finding) -> bool:
        service, plan = service_and_plan_names(finding.path, data)
        at_rule = (entry for entry in entries if entry.rule == finding.rule)
        return any(entry.service in (None, service) and entry.plan in (None, plan) for entry in at_rule)

    selected = (finding for finding in findings if options.select is None or finding.rule in options.select)
    return [finding for finding in selected if finding.rule not in ignored or not is_ignored(finding)]
