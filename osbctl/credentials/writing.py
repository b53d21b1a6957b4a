"""Records go to a file that only its owner reads, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from osbctl.credentials.reading import FIELDS, is_json, read_credentials
from osbctl.errors import ConfigError, SourceError
from osbctl.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from osbctl.credentials.record import CredentialRecord


LOCK_SECONDS = 10.0
"""Writing a file takes milliseconds; who holds the lock longer does not write one."""


def as_json(record: CredentialRecord) -> str:
    """One record as JSON text with a last line end; fields that it does not have are left out."""
    return _dump(_fields(record))


def write_record(path: Path, record: CredentialRecord) -> None:
    """Write a file of one record, mode 0600. What a file held before is replaced. Raises SourceError."""
    with _sentences(path), _locked(path.resolve().parent):
        write_file(path, as_json(record).encode("utf-8"), 0o600)


def append_record(path: Path, record: CredentialRecord) -> int:
    """Add a record to a file, which becomes a list; a missing one is made. Returns how many it holds then.

    Two that append at the same time both keep their record. Raises SourceError and ConfigError.
    """
    with _sentences(path):
        target = path.resolve()  # through a symbolic link it is replaced where it really stands
        if target.exists() and not target.is_file():
            raise SourceError(f"{path} is not a regular file")
        with _locked(target.parent):
            records = (*_present(target), record)
            write_file(path, _dump([_fields(each) for each in records]).encode("utf-8"), 0o600)
            return len(records)


def _present(path: Path) -> Sequence[CredentialRecord]:
    if not path.exists():
        return ()
    records = read_credentials(path)
    if not is_json(path.read_text("utf-8-sig")):
        raise ConfigError(f"{path} is an htpasswd file", "append to it with `htpasswd -5`, or start a new file")
    return records


def _fields(record: CredentialRecord) -> dict[str, str]:
    values = ((field, getattr(record, field)) for field in FIELDS)
    return {field: value for field, value in values if value is not None}


def _dump(data: object) -> str:
    import json

    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. The file itself is replaced and so cannot carry one.

    Whoever may read the folder may lock it, so the wait has an end.
    """
    import fcntl

    with _opened(folder) as handle:
        end = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise SourceError(
                        f"another process has held the lock of {folder} for {LOCK_SECONDS:.0f} seconds",
                        f"find it with: fuser -v {folder}",
                    ) from None
                time.sleep(0.05)
        yield


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot write {path}: {error.strerror}") from error
