"""The rules, grouped by subject."""

from collections.abc import Mapping
from importlib import import_module

from osbctl.rule import RULES, Category, Rule

CHECKED = ("identity", "naming", "texts", "fields", "metadata", "parameters", "references")
"""The modules of rules with a check."""

ELSEWHERE = (Category.CHANGE, Category.WIRE)
"""Categories of rules of other packages."""

PARAMETERS = "parameters-"
"""Prefix of rules whose check gets each parameter schema, not the catalog."""

SHARED = "shared-"
"""Prefix of rules on several catalogs."""


def load_rules_with_checks() -> tuple[Rule, ...]:
    """Load the modules of rules; return the rules with a check, in the order in which their modules were loaded."""
    for name in CHECKED:
        import_module(f"{__name__}.{name}")
    return tuple(rule for rule in list(RULES.values()) if rule.check)


def load_all() -> Mapping[str, Rule]:
    """Every rule of validation by id."""
    for name in (*CHECKED, "external"):
        import_module(f"{__name__}.{name}")
    # A copy, because another thread may be importing rules of other packages at this moment.
    return {rule.id: rule for rule in list(RULES.values()) if rule.category not in ELSEWHERE}
