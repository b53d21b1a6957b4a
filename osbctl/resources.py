"""Where the schemas and catalogs that ship with osbctl are found.

They stand at the top of the repository; a wheel carries them inside the package. Both are plain
files, so that an editor, a shell and a browser can open them too.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def schemas_folder() -> Path:
    """The folder of shipped JSON Schemas, in a checkout, an editable install or an installed wheel."""
    return _shipped("schemas")


def catalogs_folder() -> Path:
    """The folder of shipped example catalogs."""
    return _shipped("catalogs")


def _shipped(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
