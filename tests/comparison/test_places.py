"""Locations of changes: the text at a location is the value at the path, in JSON and YAML."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import is_added, with_places
from osbctl.paths import get_at as at
from osbctl.sources.parse import parse_document
from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.corpus import needs_corpus

from .pairs import edited, real_pairs

if TYPE_CHECKING:
    from osbctl.findings import Location
    from osbctl.sources.document import Document

WRITERS = {
    "json": json.dumps,
    "indented.json": lambda value: json.dumps(value, indent=3, ensure_ascii=False),
    "yaml": dump,
    "flow.yaml": lambda value: yaml.safe_dump(value, default_flow_style=True, width=60, sort_keys=False),
}


def there(data: Any, path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The longest part of `path` that leads to something in `data`."""
    for length, step in enumerate(path):
        inside = step in data if isinstance(data, dict) else isinstance(data, list) and step in range(len(data))
        if not inside:
            return path[:length]
        data = data[step]
    return path


def offset(text: str, place: Location) -> int:
    return sum(len(line) + 1 for line in text.split("\n")[: place.line - 1]) + place.column - 1


def json_at(text: str, start: int, path: tuple[Any, ...]) -> Any:
    """The value that `text` holds at `start`, behind its key if it has one."""
    if path and isinstance(path[-1], str):
        key, end = json.JSONDecoder().raw_decode(text, start)
        assert key == path[-1]
        rest = text[end:].lstrip()
        assert rest[0] == ":"
        text, start = rest[1:].lstrip(), 0
    return json.JSONDecoder().raw_decode(text, start)[0]


@lru_cache(maxsize=4)
def composed(text: str) -> yaml.Node:
    """The nodes of a text, of which each change asks for one."""
    return yaml.compose(text, yaml.SafeLoader)


def yaml_at(text: str, path: tuple[Any, ...]) -> tuple[int, int]:
    """Location of the key or entry at `path` according to PyYAML."""
    found = root = composed(text)
    for step in path:
        if isinstance(step, str):
            key, root = next((key, value) for key, value in root.value if key.value == step)
            found = key
        else:
            found = root = root.value[step]
    return found.start_mark.line + 1, found.start_mark.column + 1


def assert_right(document: Document, path: tuple[Any, ...], place: Location | None) -> None:
    assert place
    path = there(document.data, path)
    assert place.source == document.name
    if document.syntax == "json":
        assert json_at(document.text, offset(document.text, place), path) == at(document.data, path)
    else:
        assert (place.line, place.column) == yaml_at(document.text, path)


def assert_places(old: Document, new: Document) -> None:
    changes = with_places(compare_catalogs(old.data, new.data), old, new)
    for change in changes:
        if is_added(change):
            assert change.old_location is None
        else:
            assert_right(old, change.old_path, change.old_location)
        assert_right(new, change.new_path, change.new_location)


@pytest.mark.fuzz
@given(edited(), st.sampled_from(sorted(WRITERS)), st.sampled_from(sorted(WRITERS)))
def test_every_place_holds_its_value(pair: tuple[Any, Any], before: str, after: str) -> None:
    texts = WRITERS[before](pair[0]), WRITERS[after](pair[1])
    old, new = (parse_document(t.encode(), f"{n}.{e}") for t, n, e in zip(texts, "ab", (before, after), strict=True))
    assert_places(old, new)


@needs_corpus
def test_every_place_in_real_catalogs_holds_its_value() -> None:
    for pair in real_pairs()[::8]:
        assert_places(*(read_source(str(file)) for file in pair))
