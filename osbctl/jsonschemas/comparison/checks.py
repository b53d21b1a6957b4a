"""What the prover asks of a pair of places, all of it in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import osbctl.jsonschemas.comparison.check_combinations as combinations
import osbctl.jsonschemas.comparison.check_parts as arrays
import osbctl.jsonschemas.comparison.check_parts as objects
import osbctl.jsonschemas.comparison.check_scalars as scalars

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from osbctl.jsonschemas.comparison.prover import Check

CHECKS: Mapping[Check, Collection[str]] = {
    scalars.check_type: ("type",),
    scalars.check_values: ("enum", "const"),
    scalars.check_bounds: ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    scalars.check_multiple: ("multipleOf",),
    scalars.check_length: ("minLength", "maxLength"),
    scalars.check_pattern: ("pattern",),
    scalars.check_format: ("format",),
    objects.check_required: ("required",),
    objects.check_size: ("minProperties", "maxProperties"),
    objects.check_properties: ("properties", "patternProperties", "additionalProperties"),
    objects.check_names: ("propertyNames",),
    objects.check_dependencies: ("dependencies", "dependentRequired", "dependentSchemas"),
    arrays.check_items: ("items", "prefixItems", "additionalItems"),
    arrays.check_count: ("minItems", "maxItems"),
    arrays.check_unique: ("uniqueItems",),
    arrays.check_contains: ("contains",),
    combinations.check_any_of: ("anyOf",),
    combinations.check_one_of: ("oneOf",),
    combinations.check_not: ("not",),
    combinations.check_if: ("if",),
}
"""Each check with the keywords that it is for: where the new schema has none of them, it finds nothing."""
