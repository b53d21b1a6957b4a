"""A pattern out of a catalog is run only where it cannot take long."""

import re
import time

import pytest

from osbctl.jsonschemas.compare import compare_schemas
from osbctl.jsonschemas.schema_tree import BoundedValidator, SchemaTree
from osbctl.jsonschemas.value_generator import sample_texts
from osbctl.requests import generate_examples, request_errors
from tests.case import each
from tests.corpus import EVERY_CASE


def matches(pattern: str, text: str) -> bool | None:
    return BoundedValidator().accepts(SchemaTree({"pattern": pattern}).top, text)


HARMLESS = [
    "^[a-z]+$", r"^([0-9]{1,3}\.){3}[0-9]{1,3}$", "^[a-z][a-z0-9-]{1,30}[a-z0-9]$", "^(small|medium|large)$",
    r"^\d{4}-\d{2}-\d{2}$", "^(?:a|b)?c", r"^[^@\s]+@example\.com$", "^(?=a)a.*$", "^.{1,255}$",
]  # fmt: skip
BACKTRACKING = [
    "^(a+)+$", "^(a|a)*$", "(.*)*x", "^(a*)*$", ".*.*.*.*.*.*.*x", "^(([a-z])+.)+[A-Z]$", "(?=.*x)(?=.*x)(?=.*x)y",
    "(?=(a+)+$)b", "^(?:a|aa(?=a))+!$", r"^(?:(a)|(aa))+\1!$",
]  # fmt: skip
STRANGE = ["(", "a" * 400, r"\p{L}", "*a", "(" * 30 + ")" * 30, r"(a)\1", "(?i)a", "[[a]]"]
HEAVY = ["^((a{1,20}){1,20}){1,20}$", "(a{1,200}){1,40}b", r"\p{L}{900}x{900}y{900}"]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_harmless_patterns_run_and_have_texts(pattern: str) -> None:
    assert any(re.search(pattern, text) for text in sample_texts(pattern))
    for text in ("§" * 30, *sample_texts(pattern)):
        assert matches(pattern, text) is (re.search(pattern, text) is not None)


@pytest.mark.parametrize("pattern", BACKTRACKING)
def test_what_backtracks_elsewhere_takes_no_time(pattern: str) -> None:
    began = time.process_time()
    assert matches(pattern, "a" * 40 + "?") in (False, None)
    assert time.process_time() - began < 0.2


def test_an_example_matches_its_pattern_however_strange_that_is() -> None:
    """Samples of strange patterns are guesses, so the validator has to see each."""
    texts = {}
    for pattern in STRANGE:
        place = {"properties": {"p": {"type": "string", "pattern": pattern}}, "required": ["p"]}
        texts[pattern] = [
            request["p"] for request in (generate_examples(place).smallest, generate_examples(place).fullest) if request
        ]
    assert [pattern for pattern in STRANGE for text in texts[pattern] if not matches(pattern, text)] == []
    assert [pattern for pattern in STRANGE if texts[pattern]] == [r"\p{L}", "(" * 30 + ")" * 30]


@pytest.mark.parametrize("pattern", ["(", "*a"])
def test_what_is_no_pattern_is_not_run(pattern: str) -> None:
    assert matches(pattern, "a") is None


@pytest.mark.parametrize("pattern", HEAVY)
def test_heavy_patterns_are_not_run_on_long_texts(pattern: str) -> None:
    assert matches(pattern, "a" * 1_000) is None


def test_it_is_ecma_262() -> None:
    assert matches("^a$", "a\n") is False
    assert matches(r"^\d$", "٣") is False


def test_a_pattern_that_gives_up_decides_nothing_wherever_it_stands() -> None:
    evil = {"pattern": "^(?:a|aa(?=a))+!$"}
    text = "a" * 40
    for inner in (evil, {"not": evil}, {"anyOf": [evil, {"type": "null"}]}, {"if": evil, "then": False}):
        old = {"properties": {"x": {"enum": [text]}}}
        (change,) = compare_schemas(old, {"properties": {"x": {"enum": [text], **inner}}})
        assert change.level == "risky", inner


EXTRAS: list[dict[str, object]] = [{}, {"minLength": 1_400}, {"enum": ["a" * 1_400 + str(i) for i in range(300)]}]
COSTLY = [
    (pattern, EXTRAS[(number + more) % 3])
    for number, pattern in enumerate([*BACKTRACKING, *HEAVY[:2]])
    for more in (range(3) if EVERY_CASE else [0])
]


@pytest.mark.fuzz
@pytest.mark.parametrize(("pattern", "extra"), COSTLY)
def test_the_work_for_hostile_schemas_is_bounded(pattern: str, extra: dict[str, object]) -> None:
    old = {"properties": {f"p{i}": {"type": "string", "pattern": pattern, **extra} for i in range(20)}}
    new = {"properties": {f"p{i}": {"type": "string", "pattern": pattern + "z", **extra} for i in range(20)}}
    began = time.process_time()
    compare_schemas(old, new)
    assert time.process_time() - began < 5


@each("pattern, text", [
    ("^a+b?a+$", "a"),
    ("^[a-z]+-?[a-z]+$", "a"),
    ("^\\w+\\.?\\w+", "d."),
    ("^\\d+-+\\d*-+$", "1-"),
    ("^(a|bc)+b*(a|bc)+$", "a"),
])  # fmt: skip
def test_repetitions_that_may_meet_are_both_asked_for(pattern: str, text: str) -> None:
    schema = {"type": "object", "properties": {"p": {"type": "string", "pattern": pattern}}}
    assert matches(pattern, text) is False
    assert [fault.rule for fault in request_errors(schema, {"p": text})] == ["pattern"]
    old, new = ({"properties": {"p": {"enum": [text], **more}}} for more in ({}, {"pattern": pattern}))
    assert [change.level for change in compare_schemas(old, new)] == ["breaking"]


NARROWED = [
    ("a", "^[a-z]+$"), ("^[a-z][a-z0-9-]*$", "^[a-z][a-z0-9-]{0,30}$"), ("^[a-z]*$", "^[a-z]+$"),
    ("^[a-z]$", "^[b-z]$"), ("^[a-z]$", "^[a-y]$"), ("^[^a]$", "^[^ab]$"), ("^\\w$", "^[a-zA-Z0-9]$"),
    ("^a{2,4}$", "^a{2,3}$"), ("^a{2,4}$", "^a{3,4}$"), ("^a{2}$", "^a{3}$"), ("^a+$", "^a?$"), ("a", "^a"),
    ("a", "a$"), ("^[a-c]$", "^[ac]$"), ("^[a-\U0010ffff]$", "^[a-\U0010fffe]$"), ("^(a|b|c)$", "^(a|c)$"),
    ("^a{0,2}$", "^a{0}$"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), NARROWED)
def test_a_text_shows_that_a_pattern_takes_less(old: str, new: str) -> None:
    [change] = compare_schemas(*({"properties": {"p": {"type": "string", "pattern": p}}} for p in (old, new)))
    assert change.level == "breaking"
    assert change.witness is not None


@pytest.mark.parametrize("pattern", ["^\\p{L}+$", "^(?<n>a)$", f"^(?:{'ab' * 200})$"])
def test_a_pattern_that_stays_is_no_change_however_it_is_written(pattern: str) -> None:
    schemas = ({"properties": {"p": {"type": "string", "pattern": pattern, "maxLength": n}}} for n in (5, 9))
    assert [change.rule for change in compare_schemas(*schemas)] == ["schema-relaxed"]
