"""Locations of changes: those of both paths in their own document. `tests/sources` tests the locations of paths."""

import json
from typing import Any

import pytest
from hypothesis import given

from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import add_locations
from osbctl.sources.document import Document, parse_document
from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.corpus import needs_corpus

from .pairs import edited, real_pairs


def assert_places(old: Document, new: Document) -> None:
    for change in add_locations(compare_catalogs(old.data, new.data), old, new):
        before = old.locate({change.old_path})[change.old_path]._replace(excerpt="")
        assert change.old_location == (None if change.is_added_object else before)
        assert change.new_location == new.locate({change.new_path})[change.new_path]._replace(excerpt="")


@pytest.mark.fuzz
@given(edited())
def test_every_change_has_the_places_of_its_paths(pair: tuple[Any, Any]) -> None:
    texts = json.dumps(pair[0], indent=1), dump(pair[1])
    assert_places(
        *(parse_document(text.encode(), name) for text, name in zip(texts, ("a.json", "b.yaml"), strict=True))
    )


@needs_corpus
def test_every_change_of_real_catalogs_has_the_places_of_its_paths() -> None:
    for pair in real_pairs()[::8]:
        assert_places(*(read_source(str(file)) for file in pair))
