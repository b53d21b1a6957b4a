"""The service of `osbctl serve`: a valid catalog, and credential records."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from osbctl.broker.catalog_app import CatalogApp
from osbctl.broker.parser import parse_api_version
from osbctl.broker.serve import Service
from osbctl.catalog import LoadedCatalog
from osbctl.credentials import read_credentials
from osbctl.errors import SourceError, UsageError
from osbctl.sources.folder import LOCK
from osbctl.sources.folder.source_tree import SUFFIXES
from osbctl.tasks.load_catalog import CatalogSource, load, load_in_subprocess


def service_factory(
    catalog: CatalogSource,
    credentials: Path,
    base_path: str,
    minimum_version: str,
    missing_version_status: int,
    *,
    allow_empty: bool,
) -> Callable[[], Service]:
    """Return a function that loads catalog and credentials, with the options of their answers.

    Raises UsageError: the minimum version is not `2.N`, the status not 412 or 400, or the path not a valid one.
    """
    if missing_version_status not in (412, 400):
        raise UsageError("--missing-version-status must be 412 or 400")
    version = parse_api_version(minimum_version)
    if version is None or version[0] != 2:
        raise UsageError(f"{minimum_version!r} is not an API version", "write MAJOR.MINOR, for example 2.14")
    if not re.fullmatch(r"[A-Za-z0-9/._~!$&'()*+,;=:@-]*", base_path):
        raise UsageError(f"--base-path {base_path!a} is not the path of a URL", "write it like /brokers/data")
    if {".", ".."} & set(base_path.split("/")):  # clients remove them (RFC 3986 §5.2.4)
        raise UsageError(f"--base-path {base_path!a} has dot segments", "write it like /brokers/data")

    def load_checked() -> LoadedCatalog:
        for path in _watched_files(catalog.source):
            _check_not_special(path)
        return load_in_subprocess(catalog)

    # Standard input can be read once only, so a reload gets the same catalog.
    loaded = load(catalog) if catalog.source == "-" else None
    return partial(
        Service,
        read_catalog=(lambda: loaded) if loaded else load_checked,
        read_records=lambda: read_credentials(_check_not_special(credentials)),
        catalog_paths=lambda: list(_watched_files(catalog.source)),
        credentials_paths=lambda: [credentials],
        allow_empty=allow_empty,
        make_app=partial(
            CatalogApp, base_path=base_path, minimum_version=version, missing_version_status=missing_version_status
        ),
    )


def _check_not_special(path: Path) -> Path:
    """`path`, also if nothing is there. Raises SourceError for a FIFO, device or folder: reading it may never end."""
    if path.exists() and not path.is_file():
        raise SourceError(f"{path} is not a regular file")
    return path


def _watched_files(source: str) -> Iterator[Path]:
    """Files whose change causes a reload; none for standard input and git."""
    path = Path(source)
    if path.is_dir():
        # Other files, and hidden ones, are no part of a source folder: the log of this broker may be among them.
        parts = (file for file in path.rglob("*") if (file.suffix in SUFFIXES or file.name == LOCK) and file.is_file())
        yield from sorted(file for file in parts if not any(part[0] == "." for part in file.relative_to(path).parts))
    elif path.exists():
        yield path
