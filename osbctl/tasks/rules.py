"""Every rule of the product, of whatever room: what reports explain, and what options may name."""

from __future__ import annotations

from collections.abc import Mapping

from osbctl.errors import OsbctlError, UsageError
from osbctl.rule import Category, Rule, chosen
from osbctl.text import did_you_mean


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


def rules_named(word: str, error: type[OsbctlError] = UsageError, origin: str = "") -> frozenset[str]:
    """The ids of the rules that `word` stands for: an id, a group, or a beginning with `*`.

    Raises:
        `error`: there is none; its sentence begins with `origin`.
    """
    rules = all_rules()
    found = chosen(word, rules)
    if not found:
        advice = did_you_mean(word, (*rules, *Category)) or "osbctl rules lists them"
        raise error(f"{origin}there is no rule {word!r}", advice)
    return found
