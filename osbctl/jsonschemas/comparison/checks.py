"""What the prover asks of a pair of places, all of it in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import osbctl.jsonschemas.comparison.check_combinations as combinations
import osbctl.jsonschemas.comparison.check_parts as parts
import osbctl.jsonschemas.comparison.check_scalars as scalars
from osbctl.jsonschemas.comparison.facts import COUNTED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from osbctl.jsonschemas.comparison.prover import Check

CHECKS: Mapping[Check, Collection[str]] = {
    scalars.check_type: ("type",),
    scalars.check_values: ("enum", "const"),
    scalars.check_bounds: ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    scalars.check_multiple: ("multipleOf",),
    parts.check_counts: tuple(f"{end}{unit}" for unit in COUNTED.values() for end in ("min", "max")),
    scalars.check_pattern: ("pattern",),
    scalars.check_format: ("format",),
    parts.check_required: ("required",),
    parts.check_properties: ("properties", "patternProperties", "additionalProperties"),
    parts.check_names: ("propertyNames",),
    parts.check_dependencies: ("dependencies", "dependentRequired", "dependentSchemas"),
    parts.check_items: ("items", "prefixItems", "additionalItems"),
    parts.check_unique: ("uniqueItems",),
    parts.check_contains: ("contains",),
    combinations.check_any_of: ("anyOf",),
    combinations.check_one_of: ("oneOf",),
    combinations.check_not: ("not",),
    combinations.check_if: ("if",),
}
"""Each check with the keywords that it is for: where the new schema has none of them, it finds nothing."""
