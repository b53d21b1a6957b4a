"""What `osbctl serve` serves: a catalog that validates, and credential records."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from osbctl.broker.negotiation import parse_version
from osbctl.broker.service import LoadedCatalog, Sources
from osbctl.catalog import Catalog
from osbctl.cli.validation_run import Request, validation_options
from osbctl.config import find_config
from osbctl.credentials import read_credentials
from osbctl.errors import DocumentError, UsageError
from osbctl.findings import Severity
from osbctl.sources.read import read_source
from osbctl.validation.judge import judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.broker.negotiation import Version
    from osbctl.platforms import ApiVersion, Platform
    from osbctl.sources.document import Document


def sources(
    source: str,
    credentials: Path,
    at: str,
    api_version: ApiVersion | None,
    base_path: str,
    minimum_version: str,
    missing_version_status: int,
    platforms: tuple[Platform, ...],
    *,
    allow_empty: bool,
) -> Sources:
    """Where the catalog and the credentials come from, and how they are answered.

    What one of `platforms` refuses is not served.

    Raises:
        UsageError: the minimum version is no `2.N`, or the status none of 412 and 400.
    """
    if missing_version_status not in (412, 400):
        raise UsageError("--missing-version-status is 412 or 400")

    def load() -> LoadedCatalog:
        return _load(source, at, api_version, platforms)

    # Standard input is there once: a reload, and a second process, get what was read.
    loaded = load() if source == "-" else None
    return Sources(
        load_catalog=(lambda: loaded) if loaded else load,
        load_credentials=lambda: read_credentials(credentials),
        catalog_paths=lambda: list(_watched(source)),
        credentials_paths=lambda: [credentials],
        allow_empty=allow_empty,
        base_path=base_path,
        minimum_version=_version(minimum_version),
        missing_version_status=missing_version_status,
    )


def _load(source: str, at: str, api_version: ApiVersion | None, platforms: tuple[Platform, ...]) -> LoadedCatalog:
    document = read_source(source, at=at)
    _check(document, Request((source,), api_version=api_version, platforms=platforms))
    catalog = Catalog.of(document.data)
    body = json.dumps(document.data, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return LoadedCatalog(body, len(catalog.services), sum(1 for _ in catalog.plans))


def _check(document: Document, request: Request) -> None:
    """Raise DocumentError with the errors that validation finds."""
    findings = judge(document, validation_options(request, find_config(os.curdir))).findings
    errors = tuple(finding for finding in findings if finding.severity is Severity.ERROR)
    if errors:
        raise DocumentError(errors)


def _watched(source: str) -> Iterator[Path]:
    """The files whose change means a reload; none for standard input and git."""
    path = Path(source)
    if path.is_dir():
        found = (file for file in path.rglob("*") if file.is_file())
        # What is hidden, as the history of a repository, is no part of a source folder.
        yield from sorted(file for file in found if not any(part[0] == "." for part in file.relative_to(path).parts))
    elif path.exists():
        yield path


def _version(text: str) -> Version:
    version = parse_version(text)
    if version is None or version[0] != 2:
        raise UsageError(f"{text!r} is no API version", "write it as 2.14")
    return version
