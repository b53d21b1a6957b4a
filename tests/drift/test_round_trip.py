"""A catalog, exported by a platform and read again, is no drift; one changed field is one finding."""

from pathlib import Path
from typing import Any

import pytest

from osbctl.comparison.drift import find_drift
from osbctl.platforms import Platform
from osbctl.platforms.verdict import judge_all
from osbctl.sources.exports import StoredAs, StoredCatalog
from osbctl.sources.read import read_source
from tests import corpus
from tests.sources.exports.make import export_as, read

ROOT = Path(__file__).parents[2]
SHIPPED = [ROOT / "catalogs" / name for name in ("data-services.yaml", "interface-example.json", "source")]


def stored(platform: Platform, catalog: dict[str, Any]) -> StoredCatalog:
    return read(*export_as(platform, catalog), stored_as=StoredAs(platform))


@pytest.mark.parametrize("platform", Platform)
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_catalogs_do_not_drift(path: Path, platform: Platform) -> None:
    catalog = read_source(str(path)).data
    kept = stored(platform, catalog)
    assert len(kept.document.data["services"]) == len(catalog["services"])
    assert find_drift(kept, catalog) == []
    assert kept.kept == ()


@corpus.needs_corpus
@pytest.mark.parametrize("platform", Platform)
def test_real_catalogs_do_not_drift(platform: Platform) -> None:
    tried = 0
    for path in corpus.catalogs():
        catalog = read_source(str(path)).data
        if judge_all(catalog, [platform])[platform].refusals or not catalog.get("services"):
            continue  # nothing to export
        try:
            export_as(platform, catalog)
        except (KeyError, TypeError, AttributeError):
            continue  # so wrong that the platform would not have stored it
        tried += 1
        assert [c.message for c in find_drift(stored(platform, catalog), catalog)] == [], path.name
    assert tried > 50
