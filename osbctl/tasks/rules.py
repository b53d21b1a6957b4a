"""Valid values of options: every rule of the product, and objects of a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.errors import OsbctlError, UsageError
from osbctl.rule import RULES, Category, Rule, matching_rules
from osbctl.text import did_you_mean

CatalogObject = TypeVar("CatalogObject", ServiceOffering, ServicePlan)


class LazyRules(dict[str, "Rule"]):
    """All rules, loaded at the first use, because most reports need none."""

    def __missing__(self, key: str) -> Rule:
        self.update(all_rules())
        return self[key]


def all_rules() -> Mapping[str, Rule]:
    """Every rule of the product by id."""
    from osbctl.comparison.change_kinds import load_all as load_comparison
    from osbctl.validation.rules import load_all as load_validation

    load_validation()
    load_comparison()
    import_module("osbctl.conformance.rules")
    return RULES


def rules_named(word: str, error: type[OsbctlError] = UsageError, origin: str = "") -> frozenset[str]:
    """The ids of the rules that `word` (an id, a group, a prefix with `*`) names. Raises `error` after `origin`."""
    rules = all_rules()
    found = matching_rules(word, rules)
    if not found:
        advice = did_you_mean(word, (*rules, *Category)) or "osbctl rules lists them"
        raise error(f"{origin}there is no rule {word!r}", advice)
    return found


def object_named(objects: Iterable[CatalogObject], name: str, missing: str) -> CatalogObject:
    """The service offering or plan of that name, else of that id. Raises UsageError, which begins with `missing`."""
    objects = tuple(objects)
    if found := [each for each in objects if each.name == name] or [each for each in objects if each.id == name]:
        return found[0]
    names = [each.name for each in objects]
    raise UsageError(f"{missing} {name!r}", did_you_mean(name, names) or f"there are: {', '.join(names)}")
