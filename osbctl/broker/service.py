"""The service of a process, built from a catalog and credentials: application, authenticator, watched files."""

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from osbctl.broker.authenticator import Authenticator
from osbctl.broker.catalog_app import CatalogApp, ServedCatalog
from osbctl.broker.reload import WatchedFiles
from osbctl.catalog import LoadedCatalog
from osbctl.credentials import CredentialRecord
from osbctl.errors import ConfigError
from osbctl.text import plural

_log = logging.getLogger("osbctl.broker")


class Service:
    """The application, the authenticator before it, and the files that are watched for both.

    Loads everything once and starts the authenticator. `read_catalog` and `read_records` read and check. A change of
    one of the paths means a reload (none for a source that is not a file). `make_app` creates the application.
    `allow_empty` allows a reload to remove every service. `summary` are sentences for the log at the start. Raises
    OsbctlError.
    """

    def __init__(
        self,
        read_catalog: Callable[[], LoadedCatalog],
        read_records: Callable[[], Sequence[CredentialRecord]],
        catalog_paths: Callable[[], Sequence[Path]],
        credentials_paths: Callable[[], Sequence[Path]],
        make_app: Callable[[ServedCatalog], CatalogApp] = CatalogApp,
        *,
        allow_empty: bool = False,
    ) -> None:
        self.watched: Sequence[WatchedFiles[Any]] = (
            WatchedFiles("catalog", catalog_paths, self._load_catalog, self._replace_catalog),
            WatchedFiles(
                "credentials", credentials_paths, self._load_credentials, self._replace_records, credentials_paths()
            ),
        )
        records, loaded = read_records(), read_catalog()  # the cheaper first
        self._read_catalog, self._read_records, self._allow_empty = read_catalog, read_records, allow_empty
        self._set_records(records)
        self.authenticator = Authenticator(records)
        self.app = make_app(ServedCatalog.from_body(loaded.body, int(time.time()), services=loaded.services))
        self.summary = [
            *filter(None, [loaded.read_as]),
            f"serving {plural(loaded.services, 'service')} with {plural(loaded.plans, 'plan')}",
            _list_credentials(records),
        ]
        if _have_all_expired(records):
            _log.error("all credentials have expired: every request will be refused")

    def _load_catalog(self) -> ServedCatalog:
        """Load the catalog to serve next. Raises OsbctlError."""
        served, loaded = self.app.catalog, self._read_catalog()
        if served.services and not loaded.services and not self._allow_empty:
            raise ConfigError(
                "it has no services, and would remove all of them", "if this is intended, use --allow-empty"
            )
        # Each content has its own date, also within one second, or if the clock was set back.
        modified = max(int(time.time()), served.modified + 1)
        if loaded.body == served.body:
            return served
        return ServedCatalog.from_body(loaded.body, modified, services=loaded.services)

    def _load_credentials(self) -> Sequence[CredentialRecord]:
        """Load the credentials to use next. Raises OsbctlError."""
        records = self._read_records()
        if _have_all_expired(records) and not _have_all_expired(self._records):
            raise ConfigError("all of them have expired", "add one with osbctl hash-password")
        return records

    def log_new_expiry(self) -> None:
        """Log each credential that has expired since it was loaded, once."""
        for record in [record for record in self._unexpired if record.has_expired]:
            self._unexpired.remove(record)
            _log.warning("a credential has expired, its requests are refused from now on: %s", _describe_record(record))

    def _set_records(self, records: Sequence[CredentialRecord]) -> None:
        self._records = records
        self._unexpired = [record for record in records if not record.has_expired]

    def _replace_records(self, records: Sequence[CredentialRecord]) -> None:
        self._set_records(records)
        self.authenticator.replace_records(records)
        _log.info("%s", _list_credentials(records))

    def _replace_catalog(self, new: ServedCatalog) -> None:
        self.app.catalog = new


def _list_credentials(records: Sequence[CredentialRecord]) -> str:
    """The label of each record for the log, or else its number and identity; and which of them have expired."""
    names = (_describe_record(record) + (" (expired)" if record.has_expired else "") for record in records)
    return f"credentials: {', '.join(names)}"


def _describe_record(record: CredentialRecord) -> str:
    return record.label or f"{record.public_name} ({record.identity})"


def _have_all_expired(records: Sequence[CredentialRecord]) -> bool:
    return all(record.has_expired for record in records)
