"""Every rule of the product, of whatever room: what reports explain, and what options may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from osbctl.rule import Rule


class LazyRules(dict[str, "Rule"]):
    """All rules, loaded at the first look: most reports never ask."""

    def __missing__(self, key: str) -> Rule:
        self.update(all_rules())
        return self[key]


def all_rules() -> Mapping[str, Rule]:
    """Every rule of the product by id."""
    from osbctl.comparison.rules import load_all as load_comparison
    from osbctl.conformance import load_all as load_conformance
    from osbctl.rule import RULES
    from osbctl.validation.rules import load_all as load_validation

    load_validation()
    load_comparison()
    load_conformance()
    return RULES
