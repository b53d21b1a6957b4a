"""A pattern out of a catalog is run only where it cannot take long."""

from __future__ import annotations

import re
import time

import pytest

from osbctl.comparison.schemas import patterns
from osbctl.comparison.schemas.changes import UndecidableError

HARMLESS = [
    "^[a-z]+$",
    r"^([0-9]{1,3}\.){3}[0-9]{1,3}$",
    "^[a-z][a-z0-9-]{1,30}[a-z0-9]$",
    "^(small|medium|large)$",
    r"^\d{4}-\d{2}-\d{2}$",
    "^(?:a|b)?c",
    r"^[^@\s]+@example\.com$",
    "^(?=a)a.*$",
]
DANGEROUS = [
    "^(a+)+$",
    "^(a|a)*$",
    "(.*)*x",
    "^(a*)*$",
    "^((a{1,20}){1,20}){1,20}$",
    ".*.*.*.*.*.*.*x",
    "^(([a-z])+.)+[A-Z]$",
    r"(a)\1",
    "(?i)a",
    "[[a]]",
    "(",
    "a" * 400,
    r"\p{L}",
    "*a",
    "(" * 30 + ")" * 30,
    "a{2}{3}",
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_harmless_patterns_run_and_have_texts(pattern: str) -> None:
    assert any(re.search(pattern, text) for text in patterns.texts(pattern))
    assert patterns.search(pattern, "§" * 30) is (re.search(pattern, "§" * 30) is not None)


@pytest.mark.parametrize("pattern", DANGEROUS)
def test_dangerous_or_strange_patterns_are_not_run(pattern: str) -> None:
    with pytest.raises(UndecidableError):
        patterns.search(pattern, "a" * 40 + "!")
    assert patterns.matches(pattern, "a" * 40 + "!") is None


def test_the_bound_on_work_holds_where_it_is_used_up() -> None:
    pattern, length = "a*a*a*x", 1
    while patterns.matches(pattern, "a" * (length + 1)) is not None:
        length += 1
    start = time.process_time()
    assert patterns.search(pattern, "a" * length) is False
    assert time.process_time() - start < 1
