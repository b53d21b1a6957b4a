"""Locations of the schemas and catalogs that ship with osbctl.

They are plain files at the top of the repository, and in the package of a wheel.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  # pathlib costs its import at every start


def schemas_folder() -> Path:
    """The folder of shipped JSON Schemas, in a checkout, an editable install or an installed wheel."""
    from pathlib import Path

    return Path(_shipped("schemas"))


def catalogs_folder() -> Path:
    """The folder of shipped example catalogs."""
    from pathlib import Path

    return Path(_shipped("catalogs"))


def catalog_schema(version: str) -> str:
    """The text of the shipped JSON Schema of catalogs at that version of the API."""
    with open(os.path.join(_shipped("schemas"), f"catalog-{version}.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        return file.read()


def _shipped(name: str) -> str:
    inside = os.path.join(_PACKAGE, name)  # noqa: PTH118
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), name)  # noqa: PTH112, PTH118, PTH120
