"""Memory of reading: the text and its values, without copies."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from osbctl.sources.limits import Limits
from osbctl.sources.parse import parse_document
from osbctl.sources.read import read_source

SIZE = 3_000_000


@pytest.mark.parametrize(("name", "text"), [("a.json", '{"services": "%s"}'), ("a.yaml", 'services: "%s"')])
def test_reading_holds_the_text_and_the_values_once(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text % "x")
    read_source(str(file))  # what is imported
    file.write_text(text % ("x" * SIZE))
    tracemalloc.start()
    try:
        read_source(str(file), limits=Limits(bytes=SIZE + 100))  # a buffer of the limit is asked for
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * SIZE


def test_a_text_that_repeats_in_yaml_is_kept_once() -> None:
    data = parse_document(b"a: [some text, 'some text']\nb: some text\n", "a.yaml").data
    assert data["a"][0] is data["a"][1] is data["b"]
