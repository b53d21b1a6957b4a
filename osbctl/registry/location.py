"""Where the registry is: the database that is named, else one in the user's data folder."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.registry.records import RegisteredBroker, When
    from osbctl.registry.store import Registry
    from osbctl.sources.document import Document

_DAY = r"\d{4}-\d\d-\d\d"
_WORD = re.compile(rf"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{{0,99}})(?:@(?P<when>-[1-9]\d?|{_DAY}(?:T\d\d:\d\d:\d\dZ)?))?")


def open_registry(database: str | None, *, make: bool = False) -> Registry:
    """The registry in `database`, else in the user's data folder; `make` one where there is none.

    Raises UsageError, RegistryError: as `Registry.open`.
    """
    from osbctl.registry.store import Registry

    default = _default() if not database else ""
    return Registry.open(database or (_made(default) if make else default), make=make)


def registered(word: str, database: str | None) -> RegisteredBroker:
    """What is stored of the broker that `word` names, or was at the time after its `@`.

    Raises UnknownBrokerError beside what `open_registry` raises, and SourceError where no catalog of then is kept.
    """
    name, when = named(word)
    with open_registry(database) as registry:
        return registry.earlier(name, when) if when else registry.broker(name)


def is_registered(word: str, database: str | None) -> bool:
    """Whether `word` names a registered broker, with or without a time. Where you have no database yet, none is made.

    Raises UsageError, RegistryError: as `open_registry`.
    """
    if not _WORD.fullmatch(word) or (not database and _missing(_default())):
        return False
    with open_registry(database) as registry:
        return named(word)[0] in registry.names()


def stored(word: str, database: str | None) -> Document | None:
    """What is stored of the broker that `word` names; None where it is a file, or names no broker.

    Raises:
        OsbctlError: it cannot be read.
    """
    if not is_stored(word, database):
        return None
    from osbctl.sources.parse import parse_document

    return parse_document(registered(word, database).catalog, f"{word} (stored)")


def is_stored(word: str, database: str | None) -> bool:
    """Whether `word` names a registered broker, and no file that exists. Errors as `is_registered`."""
    # Whoever never installed the registry can name files all the same.
    if os.path.exists(word) or (find_spec("sqlalchemy") is None and not database):  # noqa: PTH110
        return False
    return is_registered(word, database)


def named(word: str) -> tuple[str, When | None]:
    """The name of a broker, and which of its catalogs is meant: `data@2026-11-01`, `data@-1`; None for the last."""
    from osbctl.registry.records import When

    found = _WORD.fullmatch(word)
    if not found or not found["when"]:
        return word, None
    text = found["when"]
    if text.startswith("-"):
        return found["name"], When(text, back=int(text[1:]))
    return found["name"], When(text, until=text if "T" in text else f"{text}T23:59:59Z")


def is_missing(database: str | None) -> bool:
    """Whether the database that is named, or the one in the data folder, is a file that is not there."""
    return bool(_missing(database or _default()))


def _missing(database: str) -> str:
    """The file that `database` means, if it is one and not there; else empty."""
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
    """`file`, in a folder that is there."""
    from osbctl.errors import RegistryError

    folder = os.path.dirname(file)  # noqa: PTH120
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    except OSError as error:
        raise RegistryError(f"{folder}: cannot be made: {error.strerror}", "--database names another file") from error
    return file
