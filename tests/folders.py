"""Folders of the repository."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def schemas_folder() -> Path:
    return ROOT / "schemas"


def catalogs_folder() -> Path:
    return ROOT / "catalogs"
