"""Credential files: one JSON record, a list of records, or an htpasswd file with `$6$` lines.

Written atomically, and readable only by the owner.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from osbctl.credentials.record import CredentialRecord
from osbctl.errors import ConfigError, SourceError
from osbctl.files import read_bounded, write_on_success

FIELDS = ("identity", "salt", "hash", "password", "label", "expires")

LARGEST = 1 << 20
"""Maximum size of a credentials file, in bytes."""


def read_credentials(path: Path) -> tuple[CredentialRecord, ...]:
    """Read the records of a file, in its order; at least one.

    Raises SourceError if it cannot be opened, ConfigError if it is not a credentials file.
    """
    try:
        raw = read_bounded(path, LARGEST)
    except OSError as error:
        advice = "create it with `osbctl hash-password IDENTITY --generate -o FILE`" if not path.exists() else ""
        raise SourceError(f"cannot read {path}: {error.strerror}", advice) from error
    if len(raw) > LARGEST:
        raise ConfigError(f"{path}: larger than {LARGEST} bytes: this is not a credentials file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    return parse_credentials(text, str(path))


def parse_credentials(text: str, name: str = "credentials") -> tuple[CredentialRecord, ...]:
    """Parse the text of a credentials file; `name` is the prefix of messages. Raises ConfigError."""
    records = _parse_json_records(text, name) if looks_like_json(text) else _parse_htpasswd(text, name)
    if not records:
        raise ConfigError(f"{name}: it contains no credential record", "create one with `osbctl hash-password`")
    return records


def looks_like_json(text: str) -> bool:
    """Return whether the text is JSON, as opposed to an htpasswd file."""
    return text.lstrip()[:1] in ("{", "[")


def _parse_json_records(text: str, name: str) -> tuple[CredentialRecord, ...]:
    try:
        data = json.loads(text, object_pairs_hook=_refuse_duplicate_fields)
    except json.JSONDecodeError as error:
        location = f"{name}:{error.lineno}:{error.colno}"
        # `from None`, because the JSONDecodeError contains the whole text with its secrets.
        raise ConfigError(f"{location}: not JSON: {error.msg}") from None
    except (RecursionError, ValueError):  # Python's limits of depth and digits (sys.set_int_max_str_digits)
        raise ConfigError(f"{name}: nested too deeply, or a number is too long") from None
    except ConfigError as error:
        raise ConfigError(f"{name}: {error.message}") from None
    if isinstance(data, list):
        return tuple(_parse_json_record(item, f"{name}: record {index}", index) for index, item in enumerate(data, 1))
    return (_parse_json_record(data, name, 1),)


def _refuse_duplicate_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Convert the fields of a JSON object to a dict; a hook for `json.loads`. Raises ConfigError."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ConfigError("an object has the same field twice")
    return record


def _parse_json_record(data: Any, location: str, number: int) -> CredentialRecord:
    """Convert a JSON object. Unknown fields are errors: with a misspelt `expires`, a password would never expire."""
    if not isinstance(data, dict):
        raise ConfigError(f"{location}: not an object")
    unknown = [field for field in data if field not in FIELDS]
    if unknown:
        raise ConfigError(f"{location}: unknown field {unknown[0][:40]!a}", f"the fields are {', '.join(FIELDS)}")
    for field in FIELDS[:3]:
        if field not in data:
            raise ConfigError(f"{location}: {field} is missing")
    for field, value in data.items():
        if not isinstance(value, str):
            raise ConfigError(f"{location}: {field} is not a string")
    return _create_record(location, number, **data)


def _create_record(location: str, number: int, **fields: str) -> CredentialRecord:
    try:
        return CredentialRecord(**fields, number=number)
    except ConfigError as error:
        raise ConfigError(f"{location}: {error.message}", error.advice) from None


def _parse_htpasswd(text: str, name: str) -> tuple[CredentialRecord, ...]:
    lines = ((row, line.strip()) for row, line in enumerate(text.split("\n"), 1))
    entries = ((row, line) for row, line in lines if line and not line.startswith("#"))
    return tuple(_parse_htpasswd_line(line, f"{name}:{row}", number) for number, (row, line) in enumerate(entries, 1))


def _parse_htpasswd_line(line: str, location: str, number: int) -> CredentialRecord:
    identity, colon, hashed = line.partition(":")
    if not colon:
        advice = "create records with `osbctl hash-password`"
        raise ConfigError(f"{location}: neither JSON nor an htpasswd line, identity:$6$…", advice)
    if not hashed.startswith("$6$"):
        advice = "create records with `osbctl hash-password`, or lines with `htpasswd -5` or `openssl passwd -6`"
        raise ConfigError(f"{location}: only salted SHA-512 ($6$) is accepted, no other hash and no plain text", advice)
    return _create_record(location, number, identity=identity, salt=hashed.rsplit("$", 2)[1], hash=hashed)


_LOCK_FILE = ".osbctl-lock"

LOCK_SECONDS = 10.0
"""Timeout of the lock. Writing a file takes milliseconds."""


def format_records(records: CredentialRecord | Sequence[CredentialRecord]) -> str:
    """A record, or a list of records, as JSON text with a final newline; unset fields are omitted."""

    def record_fields(record: CredentialRecord) -> dict[str, str]:
        values = ((field, getattr(record, field)) for field in FIELDS)
        return {field: value for field, value in values if value is not None}

    return json.dumps(records, indent=2, ensure_ascii=False, default=record_fields) + "\n"


def write_record(
    path: Path, record: CredentialRecord, before_write: Callable[[], None] = lambda: None, *, append: bool = False
) -> int:
    """Write a file of one record, mode 0600, replacing an existing one; return the number of its records.

    `append` adds the record to those of the file, which becomes a list. `before_write` is called just before; if it
    raises, the file is unchanged. Concurrent calls do not lose records. Raises SourceError and ConfigError.
    """
    try:
        target = path.resolve()  # replace the target of a symbolic link
        if append and target.exists() and not target.is_file():
            raise SourceError(f"{path} is not a regular file")
        with _lock_folder(target.parent):
            present = read_credentials(target) if append and target.exists() else ()
            if present and not looks_like_json(target.read_text("utf-8-sig")):
                advice = "append to it with `htpasswd -5`, or start a new file"
                raise ConfigError(f"{target} is an htpasswd file", advice)
            text = format_records([*present, record] if append else record)
            with write_on_success(path, text.encode("utf-8"), 0o600):
                before_write()
            return len(present) + 1
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder; the file itself is replaced.

    Any process that can read the folder can lock it, so there is a timeout.
    """
    end = time.monotonic() + LOCK_SECONDS
    while (descriptor := _try_lock(folder)) is None:
        if time.monotonic() > end:
            message = f"another process has held the lock of {folder} for {LOCK_SECONDS:.0f} seconds"
            raise SourceError(message, f"find it with: fuser -v {folder}")
        time.sleep(0.05)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # before it is closed: then it may be that of another process
            (folder / _LOCK_FILE).unlink()
        os.close(descriptor)


def _try_lock(folder: Path) -> int | None:
    """A descriptor whose end releases the lock; None if another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows: a file that only one process can create, and that goes with the process
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_TEMPORARY", 0)
        try:
            return os.open(folder / _LOCK_FILE, flags, 0o600)
        except (FileExistsError, PermissionError):
            return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
