"""Selection of findings."""

from __future__ import annotations

import pytest

from osbctl.catalog import names_at as names
from osbctl.findings import Finding, Severity
from osbctl.validation.options import IgnoreAt, Selection, ValidationOptions

DATA = {"services": [{"name": "s", "plans": [{"name": "p"}, {"name": "q"}]}, 7]}


def found(rule: str, *path: str | int) -> Finding:
    return Finding(rule, Severity.ERROR, "", path)


FINDINGS = [
    found("a"),
    found("a", "services", 0, "id"),
    found("a", "services", 0, "plans", 0, "id"),
    found("b", "services", 0, "plans", 1),
]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (ValidationOptions(), [0, 1, 2, 3]),
        (ValidationOptions(select=frozenset({"b"})), [3]),
        (ValidationOptions(ignore=frozenset({"a"})), [3]),
        (ValidationOptions(ignore_at=(IgnoreAt("a", service="s"),)), [0, 3]),
        (ValidationOptions(ignore_at=(IgnoreAt("a", service="s", plan="p"),)), [0, 1, 3]),
        (ValidationOptions(ignore_at=(IgnoreAt("b", plan="q"),)), [0, 1, 2]),
        (ValidationOptions(ignore_at=(IgnoreAt("b", plan="p"),)), [0, 1, 2, 3]),
    ],
)
def test_selection(options: ValidationOptions, kept: list[int]) -> None:
    assert Selection(options).of(FINDINGS, DATA) == [FINDINGS[index] for index in kept]


def test_an_entry_that_matches_nothing_is_known() -> None:
    used, stale = IgnoreAt("b", plan="q"), IgnoreAt("b", plan="gone")
    selection = Selection(ValidationOptions(ignore_at=(used, stale)))
    selection.of(FINDINGS, DATA)
    assert selection.unmatched() == [stale]


@pytest.mark.parametrize(
    ("select", "stale"),
    [(None, [IgnoreAt("c"), IgnoreAt("d", plan="q")]), (frozenset({"a", "d"}), [IgnoreAt("d", plan="q")])],
)
def test_a_silenced_rule_that_found_nothing_is_known_where_it_was_looked_for(
    select: frozenset[str] | None, stale: list[IgnoreAt]
) -> None:
    options = ValidationOptions(select=select, ignore=frozenset({"a", "c"}), ignore_at=(IgnoreAt("d", plan="q"),))
    selection = Selection(options)
    selection.of(FINDINGS, DATA)
    assert selection.unmatched() == stale


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), (None, None)),
        (("services", 0), ("s", None)),
        (("services", 0, "plans", 1, "free"), ("s", "q")),
        (("services", 1, "plans", 0), (None, None)),
        (("services", 9, "plans", 9), (None, None)),
    ],
)
def test_names(path: tuple[str | int, ...], expected: tuple[str | None, str | None]) -> None:
    assert names(path, DATA) == expected
