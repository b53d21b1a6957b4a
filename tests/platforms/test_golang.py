"""Go's encoding/json, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from osbctl.platforms.golang import Map, Pointers, Struct, decode
from osbctl.platforms.outcome import VerdictKind

INNER = {"id": "string", "free": "bool"}
SHAPE = {
    "name": "string",
    "size": "int",
    "at": "time",
    "metadata": "map",
    "labels": Map(["string"]),
    "extra": "raw",
    "tags": ["string"],
    "one": INNER,
    "plans": [{**INNER, "one": INNER}],
    "refs": Pointers(INNER),
}


def decoded(data: dict[str, Any]) -> tuple[Struct, list[tuple[str | int, ...]]]:
    struct, read = decode(data, SHAPE, "x", "X")
    return struct, [refusal.path for refusal in read.refusals]


def plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return {key: plain(item) for key, item in value.values.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"name": "a", "NAME": "b"}, {"name": "b"}),
        ({"NAME": "b", "name": "a"}, {"name": "a"}),
        ({"name": "a", "Name": None}, {"name": "a"}),
        ({"tagſ": ["a"], "Kind": 1}, {"tags": ["a"]}),
        ({"tags": ["a"], "Tags": None}, {"tags": None}),
        ({"metadata": {"a": 1}, "Metadata": None}, {"metadata": None}),
        ({"labels": {"a": ["b"], "c": None}}, {"labels": {"a": ["b"], "c": None}}),
        ({"size": -(2**63), "at": "2026-01-02T03:04:05Z"}, {"size": -(2**63), "at": "2026-01-02T03:04:05Z"}),
    ],
)
def test_one_field_in_several_spellings(data: dict[str, Any], expected: dict[str, Any]) -> None:
    struct, wrong = decoded(data)
    assert (plain(struct), wrong) == (expected, [])


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"Name": 1}, ("Name",)),
        ({"size": 1.0}, ("size",)),
        ({"size": True}, ("size",)),
        ({"size": 2**63}, ("size",)),
        ({"at": "2026-01-02 03:04:05Z"}, ("at",)),
        ({"at": 5}, ("at",)),
        ({"metadata": []}, ("metadata",)),
        ({"labels": {"a": "b"}}, ("labels", "a")),
        ({"tags": ["a", 1]}, ("tags", 1)),
        ({"tags": "a"}, ("tags",)),
        ({"one": []}, ("one",)),
        ({"plans": [{}, {"ID": 1}]}, ("plans", 1, "ID")),
        ({"refs": [1]}, ("refs", 0)),
    ],
)
def test_what_does_not_fit(data: dict[str, Any], path: tuple[str | int, ...]) -> None:
    assert decoded(data)[1] == [path]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"tags": ["a", "b"], "Tags": [None]}, ("Tags",)),
        ({"metadata": {"a": 1}, "Metadata": {"b": 2}}, ("Metadata",)),
        ({"one": {"id": "a"}, "One": {"free": True}}, ("One",)),
        ({"plans": [{"one": {}, "ONE": {}}]}, ("plans", 0, "ONE")),
        ({"operation": {"state": "failed"}}, ("operation",)),
    ],
)
def test_what_only_the_platform_can_tell(data: dict[str, Any], path: tuple[str | int, ...]) -> None:
    _, read = decode({**data, "name": None}, {**SHAPE, "operation": "unclear"}, "x", "X")
    assert (read.kind, [doubt.path for doubt in read.doubts]) == (VerdictKind.UNCLEAR, [path])
    _, read = decode({**data, "name": 1}, {**SHAPE, "operation": "unclear"}, "x", "X")
    assert read.kind is VerdictKind.REFUSES


def test_places_are_told_in_the_spelling_that_counts() -> None:
    struct, _ = decoded({"name": "a", "NAME": "b", "Plans": [{"ID": "x"}]})
    assert struct.at("name") == ("NAME",)
    assert struct["plans"][0].at("id") == ("Plans", 0, "ID")
    assert struct["plans"][0].at("free") == ("Plans", 0, "free")
