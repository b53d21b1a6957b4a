"""Real catalogs and recorded verdicts from outside the project, where they are at hand, and how much of all is tried."""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EVERY_CASE = bool(os.environ.get("OSBCTL_FUZZ"))
"""True to try every case, as `make test-every-case` and `make fuzz` do; False for the sample of `make test`."""

_ROOT = Path(__file__).parents[1]
_PLACES = [_ROOT.parent / "shared" / "corpus", _ROOT.parent.parent / "shared" / "corpus"]

CORPUS = next((place for place in _PLACES if place.is_dir()), None)
"""The folder of the corpus, None where it is absent."""

needs_corpus = pytest.mark.skipif(CORPUS is None, reason="the corpus of real catalogs is not at hand")


def catalogs() -> list[Path]:
    """The real catalogs; empty where the corpus is absent."""
    return sorted((CORPUS / "catalogs").iterdir()) if CORPUS else []


def records(name: str) -> Iterator[dict[str, Any]]:
    """The records of a file of the corpus."""
    assert CORPUS
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


TOO_DEEP = {"034-doc-deep-nesting"}
"""The probe of some 2,000 levels, which platforms read and osbctl does not."""
