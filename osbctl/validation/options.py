"""What a validation is asked to do."""

from __future__ import annotations

from typing import NamedTuple

from osbctl.findings import Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform

MAX_FINDINGS = 1_000
"""So many errors, and as many warnings, of a schema are reported of one document: nobody reads more."""


class IgnoreAt(NamedTuple):
    """One entry that silences a rule for the service offering, and the service plan, of that *name*.

    `service` or `plan` None stands for any.
    """

    rule: str
    service: str | None = None
    plan: str | None = None


class ValidationOptions(NamedTuple):
    """How to validate.

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
