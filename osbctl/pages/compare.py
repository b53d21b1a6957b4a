"""Comparison table of service plans: prices, limits, flags, parameters, and bullets of several plans."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from osbctl.catalog import ServicePlan
from osbctl.messages import Redactor
from osbctl.parameter_table import parameter_names
from osbctl.views import Prices, flag_text, yes_or_no

HAS = "✓"
NOT_STATED = ""
"""The cell of a plan about which the catalog says nothing: that it lacks the feature would be a guess."""
SEE_PLAN = "see the plan"
"""The cell of a plan that has no such bullet, but the same words in its description or in another bullet."""
MAX_COMMON = 8
"""More parameters that all plans with parameters have are counted; the others of each are named."""
MAX_ROWS = 100
"""More rows are not compared; the page says how many there are."""

_KNOWN = {"displayName", "bullets", "costs", "imageUrl"}
_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+")
_AMOUNT = (
    r"(?:(?:up to|at (?:least|most)|max\.?|maximum|min\.?|minimum) )?"
    r"[~≤≥<>]?\d[\d.,]*(?:\s?(?:[KMGTP]i?B|bytes|%|ms|seconds?|minutes?|hours?|days?)(?!\w))?"
)
_AMOUNT_FIRST = re.compile(rf"({_AMOUNT})\s+([^\W\d].*)", re.IGNORECASE)
_AMOUNT_LAST = re.compile(rf"(\D*?[^\W\d])\s*[:=\s]\s*({_AMOUNT})", re.IGNORECASE)
_NAMED = re.compile(r"([^:]{1,60}):\s+(\S.*)")
_NEGATIVE = re.compile(r"(?:no|not|non|without|never|excludes|excluding)\b", re.IGNORECASE)
"""A tick beside such a line reads as its contrary."""


class Row(NamedTuple):
    """One line of the comparison: a cell for each plan, in the order of the catalog."""

    label: str
    cells: tuple[str, ...]
    same: bool


def rows(
    plans: Sequence[ServicePlan],
    free: Sequence[bool],
    prices: Sequence[Prices],
    bullets: Sequence[Sequence[str]],
    redactor: Redactor,
) -> list[Row]:
    """Return the rows of prices, bullets, flags, parameters and further metadata. Empty for a single plan.

    `free`, `prices` and `bullets` are those of each plan.
    """
    if len(plans) < 2:
        return []
    texts = [" ".join([plan.description, *lines]) for plan, lines in zip(plans, bullets, strict=True)]
    result = [
        *_price_rows(prices, free),
        *_bullet_rows(bullets, texts),
        _make_row("Bindable", [flag_text(plan, "bindable") for plan in plans]),
        _make_row("Plan can be changed", [flag_text(plan, "plan_updateable") for plan in plans]),
        *_parameter_row(plans),
    ]
    metadata = [_other_metadata(plan, redactor) for plan in plans]
    keys = dict.fromkeys(key for fields in metadata for key in fields)
    return result + [
        _make_row(_key_in_words(key), [fields.get(key, NOT_STATED) for fields in metadata]) for key in keys
    ]


def _price_rows(prices: Sequence[Prices], free: Sequence[bool]) -> Iterable[Row]:
    without = ["free" if each and not price.others else NOT_STATED for each, price in zip(free, prices, strict=True)]
    currencies = dict.fromkeys(currency for price in prices for currency in price.monthly)
    for currency in currencies:
        cells = [
            price.monthly_texts.get(currency, NOT_STATED if price.monthly else other)
            for price, other in zip(prices, without, strict=True)
        ]
        yield _make_row(f"{currency} a month".strip(), cells)
    if any(price.others for price in prices):
        label = "Further costs" if currencies else "Costs"
        yield _make_row(label, ["; ".join(price.others) or NOT_STATED for price in prices])


def _bullet_rows(bullets: Sequence[Sequence[str]], texts: Sequence[str]) -> Iterable[Row]:
    """Rows of the bullets that several plans have: limits with their values, other lines with ticks.

    Authors word freely: a plan may have what only another one mentions. `texts` is all that each plan says.
    """
    labels: dict[tuple[str, bool], str] = {}
    values: dict[tuple[str, bool], list[dict[str, None]]] = {}
    for plan, lines in enumerate(bullets):
        for line in lines:
            label, value = _split_limit(line)
            if value == HAS and _NEGATIVE.match(label):
                continue
            key = (label.casefold().removesuffix("s"), value == HAS)
            labels.setdefault(key, label)
            values.setdefault(key, [{} for _ in bullets])[plan][value] = None
    for key, found in values.items():
        if sum(map(bool, found)) > 1:
            mentions = re.compile(rf"(?<!\w){re.escape(key[0])}")
            absent = [SEE_PLAN if mentions.search(text.casefold()) else NOT_STATED for text in texts]
            cells = ["; ".join(given) or other for given, other in zip(found, absent, strict=True)]
            yield _make_row(labels[key], cells)


def _parameter_row(plans: Sequence[ServicePlan]) -> Iterable[Row]:
    """The row of the parameters to create an instance, by name. Empty if no plan has a schema for them."""
    schemas = [plan.parameters.get("service_instance.create") for plan in plans]
    names = [None if schema is None else parameter_names(schema) for schema in schemas]
    described = [own for own in names if own is not None]
    if not described:
        return
    common = set(described[0]).intersection(*described)
    counted = common if len(common) > MAX_COMMON else set()
    first = [f"{len(counted)} common ones"] if counted else []
    cells = []
    for own in names:
        others = [name for name in own or () if name not in counted]
        cells.append(NOT_STATED if own is None else ", ".join(first + others) or "none named")
    yield _make_row("Parameters", cells)


def _split_limit(line: str) -> tuple[str, str]:
    """The name and value of a limit, such as `RAM: 2 GB`, `2 GB RAM` and `RAM 2 GB`; else the line and a tick."""
    line = " ".join(line.split())
    if match := _NAMED.fullmatch(line) or _AMOUNT_LAST.fullmatch(line):
        return match[1], match[2]
    if match := _AMOUNT_FIRST.fullmatch(line):
        return (match[2], match[1]) if not re.search(r"\d", match[2]) else (line, HAS)
    return line, HAS


def _other_metadata(plan: ServicePlan, redactor: Redactor) -> dict[str, str]:
    """Text of the remaining metadata by key."""
    return {
        key: yes_or_no(value) if isinstance(value, bool) else redactor.redact(value, 300) or str(value)
        for key, value in plan.metadata.items()
        if key not in _KNOWN and isinstance(value, str | int | float) and not redactor.must_redact(key)
    }


def _key_in_words(key: str) -> str:
    """A key in words: `highAvailability` is `high availability`, `maxIOPS` is `max IOPS`."""
    return " ".join(word if word.isupper() else word.lower() for word in _JOINTS.split(key) if word) or key


def _make_row(label: str, cells: Sequence[str]) -> Row:
    return Row(label[:1].upper() + label[1:], tuple(cells), len(set(cells)) == 1)
