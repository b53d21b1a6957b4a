"""A parameter schema brought to the draft that every platform takes, where that is proved to change nothing."""

from __future__ import annotations

from typing import Any

from osbctl.findings import Finding, Fix
from osbctl.paths import value_at

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
"""The one draft that Cloud Foundry, Service Manager and Korifi all take (OSB 2.13, Input Parameters Schema Object)."""

MISSING, NOT_TAKEN = "parameters-dialect-missing", "cloudfoundry-schema-dialect"


def draft_fix(finding: Finding, data: Any) -> Fix | None:
    """The fix of a finding about `$schema`: safe where the comparison proves that the same requests pass.

    Without that proof a missing `$schema` may still be added (`--unsafe`); a draft is never exchanged. One that stands
    under another name, such as `schema`, is renamed.
    """
    if finding.rule not in (MISSING, NOT_TAKEN) or finding.path[-1:] != ("$schema",):
        return None
    from osbctl.jsonschemas.comparison import compare_schemas
    from osbctl.jsonschemas.dialects import misnamed_dialect

    old = value_at(data, finding.path[:-1])
    slip = misnamed_dialect(old) if finding.rule == MISSING else ""
    new = {**old, "$schema": old[slip] if slip else DRAFT_04}
    proved = all(one.level == "safe" for pair in ((old, new), (new, old)) for one in compare_schemas(*pair))
    if slip:
        return Fix("rename", (*finding.path[:-1], slip), "$schema", proved)
    return Fix("set", finding.path, DRAFT_04, proved) if proved or finding.rule == MISSING else None
