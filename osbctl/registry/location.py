"""Location of the registry: the named database, else one in the user's data folder."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.registry.store import Registry

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def open_registry(database: str | None, *, make: bool = False) -> Registry:
    """The registry in `database`, else in the user's data folder; `make` one where there is none.

    Raises UsageError, RegistryError: as `Registry.open`.
    """
    from osbctl.registry.store import Registry

    default = _default() if not database else ""
    return Registry.open(database or (_made(default) if make else default), make=make)


def is_registered(word: str, database: str | None) -> bool:
    """Return whether `word` names a registered broker. Never makes a database; a file or folder needs none.

    Raises UsageError, RegistryError: as `open_registry`.
    """
    optional = not database or os.path.exists(word)  # noqa: PTH110
    if not _NAME.fullmatch(word) or (optional and _missing(database or _default())):
        return False
    with open_registry(database) as registry:
        return word in registry.names()


def _missing(database: str) -> str:
    """The file of `database` if it does not exist; else an empty string."""
    from osbctl.registry.database import parse_url

    url = parse_url(database)
    file = url.database or ""
    return file if url.get_backend_name() == "sqlite" and not os.path.exists(file) else ""  # noqa: PTH110


def _default() -> str:
    from osbctl.registry.errors import missing_extra

    try:
        from platformdirs import user_data_path
    except ImportError as error:
        raise missing_extra() from error
    return str(user_data_path("osbctl", appauthor=False) / "brokers.sqlite")


def _made(file: str) -> str:
    """`file`, after making its folder."""
    from osbctl.errors import RegistryError

    folder = os.path.dirname(file)  # noqa: PTH120
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    except OSError as error:
        raise RegistryError(
            f"{folder}: cannot be created: {error.strerror}", "--database names another file"
        ) from error
    return file
