"""Comparison of booleans: that of a plan counts, or else that of its service offering, or else the default.

`WITHDRAWN` of `kinds` has the usual level of a boolean that is withdrawn, `REACTIONS` of a platform its own, and
`platforms.updates` those of platforms that read omitted values or booleans of plans in their own way.
"""

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.comparison import kinds
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.values import INHERITED, ChangedValue, describe_change, format_value
from osbctl.paths import JsonPath, get_at
from osbctl.platforms import Platform
from osbctl.platforms.updates import Reaction, reactions_to_omission, reactions_without_plan_flag, risky


def compare_flag(collector: Collector, pair: MatchedPair, path: JsonPath, old: bool, new: bool) -> None:
    """Report a boolean that differs; `old` and `new` are the values that count."""
    if old == new:
        return
    name = "/".join(map(str, path))
    kind = kinds.GRANTED if new else kinds.WITHDRAWN[name]
    own = reactions_without_plan_flag(name) if pair.plan else {}
    kind = kind.with_reactions(_reactions_to_omission(name, pair) | own)
    collector.add(kind, pair, *_describe_flag(pair, path, old, new))


def report_flag_that_no_plan_inherits(collector: Collector, pair: MatchedPair, name: str, old: bool, new: bool) -> None:
    """Report a boolean of a service offering that its plans set themselves: some platforms do not read theirs."""
    kind = kinds.SERVICE_FLAG
    # The kind must not depend on the platforms in view: an accepted change is known by it.
    if readers := reactions_without_plan_flag(name).keys():
        of_plans = kinds.GRANTED if new else kinds.WITHDRAWN[name]
        others = {platform: each for platform, each in kind.reactions.items() if platform not in readers}
        kind = of_plans.with_reactions(others)
    collector.add(kind, pair, *_describe_flag(pair, (name,), old, new))


def _describe_flag(
    pair: MatchedPair, path: JsonPath, old: bool, new: bool
) -> tuple[str | ChangedValue, JsonPath, bool | None, bool | None]:
    """The sentence about a boolean, its path, and its values in the catalogs; `old` and `new` count if omitted, too."""
    old_value, new_value = (get_at(item.data, path) for item in _compared_objects(pair))
    name, origin = ".".join(map(str, path)), "inherited" if pair.plan and path[-1] in INHERITED else "default"
    if old_value is None and new_value is None:  # a plan that moved
        return f"{describe_change(name, old, new)} ({origin})", path, None, None
    omitted = f"{origin} {format_value(old if old_value is None else new)}"
    return describe_change(name, old_value, new_value, if_omitted=omitted), path, old_value, new_value


def report_explicitness_change(collector: Collector, pair: MatchedPair, name: str, same_effect: bool) -> None:
    """Report a value that is explicit on one side only, if it means the same."""
    old_object, new_object = _compared_objects(pair)
    old_is_explicit, new_is_explicit = _is_explicit(old_object, name), _is_explicit(new_object, name)
    if not same_effect or old_is_explicit == new_is_explicit:
        return
    value = getattr(old_object, name)
    kind = kinds.EXPLICIT_ADDED if new_is_explicit else kinds.EXPLICIT_DROPPED
    message = f"{name}: {format_value(value)} is {'now' if new_is_explicit else 'no longer'} set explicitly"
    values = (None, value) if new_is_explicit else (value, None)
    collector.add(kind.with_reactions(_reactions_to_omission(name, pair)), pair, message, (name,), *values)


def compare_free(collector: Collector, pair: MatchedPair, old: ServicePlan, new: ServicePlan) -> None:
    """Compare `free` of a plan; an omitted one is true, but on some platforms false."""
    report_explicitness_change(collector, pair, "free", old.free == new.free)
    if old.free == new.free:
        return
    kind = kinds.FREE if new.free else kinds.PAID
    if not _is_explicit(new, "free"):
        # The new catalog does not say that the plan is free: a line may be lost.
        kind = kind.with_reactions(dict.fromkeys(Platform, risky("reads an omitted value as true: it is free now")))
    values = old.data.get("free"), new.data.get("free")
    message = describe_change("free", *values, if_omitted="default true")
    collector.add(kind.with_reactions(_reactions_to_omission("free", pair)), pair, message, ("free",), *values)


def _reactions_to_omission(name: str, pair: MatchedPair) -> dict[Platform, Reaction]:
    """Reactions of platforms to which another value of a plan's boolean counts, as one catalog omits it."""
    old, new = pair.old_plan, pair.new_plan
    if not (old and new):
        return {}
    is_true = old.data.get(name) is True, new.data.get(name) is True
    reactions = reactions_to_omission(name, *is_true)
    return reactions if reactions and is_true != (getattr(old, name), getattr(new, name)) else {}


def _compared_objects(pair: MatchedPair) -> tuple[ServiceOffering | ServicePlan, ServiceOffering | ServicePlan]:
    """The plans of a pair, or else its service offerings; both are there."""
    old, new = (pair.old_plan, pair.new_plan) if pair.plan else (pair.old_service, pair.new_service)
    assert old and new
    return old, new


def always_inherits(name: str, old: ServicePlan, new: ServicePlan) -> bool:
    """Return whether the plan leaves this to its service offering, before and after."""
    return not _is_explicit(old, name) and not _is_explicit(new, name)


def _is_explicit(item: ServiceOffering | ServicePlan, name: str) -> bool:
    return isinstance(item.data.get(name), bool)
