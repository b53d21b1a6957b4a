"""Properties of comparing a catalog with itself, and of two catalogs in both directions."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given

from osbctl.changes import Change, Level
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.rules import fields
from osbctl.sources.parse import parse_document
from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.corpus import EVERY_CASE, needs_corpus

from .pairs import edited, real_catalogs, real_pairs, well_formed

MIRRORED = {
    f"change-{one}": f"change-{other}"
    for pair in (
        ("plan-removed", "plan-added"),
        ("service-removed", "service-added"),
        ("tag-removed", "tag-added"),
        ("requires-removed", "requires-added"),
        ("free-to-paid", "paid-to-free"),
        ("polling-lowered", "polling-raised"),
        ("explicit-dropped", "explicit-added"),
    )
    for one, other in (pair, pair[::-1])
}
TURNED = {
    f"change-{rule}"
    for rule in [
        "plan-id",
        "service-id",
        "service-id-plans-kept",
        "plan-moved",
        "wording",
        "metadata",
        "costs",
        "order",
        "other-field",
        "dashboard-client",
        "maintenance-version",
        "service-default",
    ]
}
WITHDRAWN = {kind.id for kind in fields.WITHDRAWN.values()}
FLAGS = {*WITHDRAWN, fields.GRANTED.id, *(kind.id for kind in fields.GRANTED_AS.values())}


def told(changes: list[Change]) -> Counter[tuple[str, Any, Any]]:
    """The changes that have a counterpart on the way back, by rule and paths."""
    return Counter(
        ("a flag" if change.rule in FLAGS else change.rule, change.old_path, change.new_path)
        for change in changes
        if change.rule in {*MIRRORED, *TURNED, *FLAGS}
    )


def assert_turned(old: Any, new: Any) -> None:
    there, back = compare_catalogs(old, new), compare_catalogs(new, old)
    turned = Counter({(MIRRORED.get(rule, rule), b, a): number for (rule, a, b), number in told(there).items()})
    assert turned == told(back)
    assert bool(there) == bool(back)


@pytest.mark.fuzz
@given(edited())
def test_a_change_turns_round_with_its_sides(pair: tuple[Any, Any]) -> None:
    assert_turned(*pair)


@needs_corpus
@pytest.mark.fuzz
def test_a_change_of_real_catalogs_turns_round_with_its_sides() -> None:
    data = {file: read_source(str(file)).data for file in real_catalogs()}
    for old, new in real_pairs()[:: 1 if EVERY_CASE else 3]:
        assert_turned(data[old], data[new])


@given(well_formed())
def test_a_flag_is_withdrawn_one_way_and_granted_the_other(catalog: Any) -> None:
    without = {"services": [{**service, "bindable": False, "plans": []} for service in catalog["services"]]}
    with_it = {"services": [{**service, "bindable": True, "plans": []} for service in catalog["services"]]}
    lost = [change for change in compare_catalogs(with_it, without) if change.rule in WITHDRAWN]
    found = [change for change in compare_catalogs(without, with_it) if change.rule == fields.GRANTED.id]
    assert len(lost) == len(found) == len(catalog["services"])
    assert {change.level for change in lost} <= {Level.BREAKING}
    assert {change.level for change in found} <= {Level.SAFE}


@needs_corpus
@pytest.mark.fuzz
def test_a_real_catalog_in_json_is_the_same_in_yaml() -> None:
    for file in real_catalogs()[:: 1 if EVERY_CASE else 4]:
        data = read_source(str(file)).data
        as_json = parse_document(json.dumps(data).encode(), "a.json").data
        as_yaml = parse_document(dump(data).encode(), "a.yaml").data
        assert compare_catalogs(as_json, as_yaml) == [], file.name
        assert compare_catalogs(as_yaml, data) == [], file.name
