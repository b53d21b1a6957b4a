"""Go's encoding/json, field by field: what neither recorded answers nor the table of test_all.py decide."""

from typing import Any

from osbctl.platforms.golang import decode
from osbctl.platforms.verdict import VerdictKind
from tests.case import each

INNER = {"id": "string", "free": "bool"}
SHAPE = {"name": "string", "metadata": "map", "tags": ["string"], "one": INNER, "plans": [{**INNER, "one": INNER}]}


@each("data, path", [
    ({"tags": ["a", "b"], "Tags": [None]}, ("Tags",)),
    ({"metadata": {"a": 1}, "Metadata": {"b": 2}}, ("Metadata",)),
    ({"one": {"id": "a"}, "One": {"free": True}}, ("One",)),
    ({"plans": [{"one": {}, "ONE": {}}]}, ("plans", 0, "ONE")),
    ({"operation": {"state": "failed"}}, ("operation",)),
])  # fmt: skip
def test_what_only_the_platform_can_tell(data: dict[str, Any], path: tuple[str | int, ...]) -> None:
    _, read = decode({**data, "name": None}, {**SHAPE, "operation": "unclear"}, "x", "X")
    assert (read.kind, [doubt.path for doubt in read.doubts]) == (VerdictKind.UNCLEAR, [path])
    _, read = decode({**data, "name": 1}, {**SHAPE, "operation": "unclear"}, "x", "X")
    assert read.kind is VerdictKind.REFUSES


def test_places_are_told_in_the_spelling_that_counts() -> None:
    struct, _ = decode({"name": "a", "NAME": "b", "Plans": [{"ID": "x"}]}, SHAPE, "x", "X")
    assert struct.field_path("name") == ("NAME",)
    assert struct["plans"][0].field_path("id") == ("Plans", 0, "ID")
    assert struct["plans"][0].field_path("free") == ("Plans", 0, "free")
