"""What the prover asks of a pair of places, all of it in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.jsonschemas.comparison.check_arrays import ARRAY_CHECKS
from osbctl.jsonschemas.comparison.check_combinations import COMBINATION_CHECKS
from osbctl.jsonschemas.comparison.check_objects import OBJECT_CHECKS
from osbctl.jsonschemas.comparison.check_scalars import SCALAR_CHECKS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from osbctl.jsonschemas.comparison.prover import Check

CHECKS: Mapping[Check, Collection[str]] = {
    **SCALAR_CHECKS,
    **OBJECT_CHECKS,
    **ARRAY_CHECKS,
    **COMBINATION_CHECKS,
}
"""Each check with the keywords that it is for: where the new schema has none of them, it finds nothing."""
