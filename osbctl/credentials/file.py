"""Credential files: one JSON record, a list of records, or an htpasswd file with `$6$` lines.

Written atomically, and readable only by the owner.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from osbctl.credentials.record import CredentialRecord
from osbctl.errors import ConfigError, SourceError
from osbctl.files import read_bounded, write_on_success

if TYPE_CHECKING:
    from pathlib import Path

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
    records = _from_json(text, name) if is_json(text) else _from_htpasswd(text, name)
    if not records:
        raise ConfigError(f"{name}: it contains no credential record", "create one with `osbctl hash-password`")
    return records


def is_json(text: str) -> bool:
    """Return whether the text is JSON, as opposed to an htpasswd file."""
    return text.lstrip()[:1] in ("{", "[")


def _from_json(text: str, name: str) -> tuple[CredentialRecord, ...]:
    import json

    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        place = f"{name}:{error.lineno}:{error.colno}"
        # `from None`, because the JSONDecodeError contains the whole text with its secrets.
        raise ConfigError(f"{place}: not JSON: {error.msg}") from None
    except (RecursionError, ValueError):  # Python's limits of depth and digits (sys.set_int_max_str_digits)
        raise ConfigError(f"{name}: nested too deeply, or a number is too long") from None
    except ConfigError as error:
        raise ConfigError(f"{name}: {error.message}") from None
    if isinstance(data, list):
        return tuple(_record(item, f"{name}: record {number}", number) for number, item in enumerate(data, 1))
    return (_record(data, name, 1),)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ConfigError("an object has the same field twice")
    return record


def _record(data: Any, place: str, number: int) -> CredentialRecord:
    """Convert a JSON object. Unknown fields are errors: with a misspelt `expires`, a password would never expire."""
    if not isinstance(data, dict):
        raise ConfigError(f"{place}: not an object")
    unknown = [field for field in data if field not in FIELDS]
    if unknown:
        raise ConfigError(f"{place}: unknown field {unknown[0][:40]!a}", f"the fields are {', '.join(FIELDS)}")
    for field in FIELDS[:3]:
        if field not in data:
            raise ConfigError(f"{place}: {field} is missing")
    for field, value in data.items():
        if not isinstance(value, str):
            raise ConfigError(f"{place}: {field} is not a string")
    return _placed(place, number, **data)


def _placed(place: str, number: int, **parts: str) -> CredentialRecord:
    try:
        return CredentialRecord(**parts, number=number)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error.message}", error.advice) from None


def _from_htpasswd(text: str, name: str) -> tuple[CredentialRecord, ...]:
    lines = ((at, line.strip()) for at, line in enumerate(text.split("\n"), 1))
    entries = ((at, line) for at, line in lines if line and not line.startswith("#"))
    return tuple(_htpasswd_line(line, f"{name}:{at}", number) for number, (at, line) in enumerate(entries, 1))


def _htpasswd_line(line: str, place: str, number: int) -> CredentialRecord:
    identity, colon, hashed = line.partition(":")
    if not colon:
        raise ConfigError(f"{place}: neither JSON nor an htpasswd line, identity:$6$…")
    if not hashed.startswith("$6$"):
        advice = "create the line with `htpasswd -5` or `openssl passwd -6`"
        raise ConfigError(f"{place}: only salted SHA-512 ($6$) is accepted, no other hash and no plain text", advice)
    return _placed(place, number, identity=identity, salt=hashed.rsplit("$", 2)[1], hash=hashed)


LOCK_SECONDS = 10.0
"""Timeout of the lock. Writing a file takes milliseconds."""


def record_json(data: CredentialRecord | Sequence[CredentialRecord]) -> str:
    """A record, or a list of records, as JSON text with a final newline; unset fields are omitted."""
    import json

    def fields(record: CredentialRecord) -> dict[str, str]:
        values = ((field, getattr(record, field)) for field in FIELDS)
        return {field: value for field, value in values if value is not None}

    return json.dumps(data, indent=2, ensure_ascii=False, default=fields) + "\n"


def write_record(path: Path, record: CredentialRecord, ready: Callable[[], None] = lambda: None) -> None:
    """Write a file of one record, mode 0600, replacing an existing one. Raises SourceError.

    `ready` is called just before; if it raises, the file is unchanged.
    """
    with (
        _sentences(path),
        _locked(path.resolve().parent),
        write_on_success(path, record_json(record).encode("utf-8"), 0o600),
    ):
        ready()


def append_record(path: Path, record: CredentialRecord, ready: Callable[[], None] = lambda: None) -> int:
    """Append a record to a file, which becomes a list; creates a missing one. Returns the number of records.

    `ready` is as in `write_record`. Concurrent calls do not lose records. Raises SourceError and ConfigError.
    """
    with _sentences(path):
        target = path.resolve()  # replace the target of a symbolic link
        if target.exists() and not target.is_file():
            raise SourceError(f"{path} is not a regular file")
        with _locked(target.parent):
            present = read_credentials(target) if target.exists() else ()
            if present and not is_json(target.read_text("utf-8-sig")):
                advice = "append to it with `htpasswd -5`, or start a new file"
                raise ConfigError(f"{target} is an htpasswd file", advice)
            with write_on_success(path, record_json([*present, record]).encode("utf-8"), 0o600):
                ready()
            return len(present) + 1


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder; the file itself is replaced.

    Any process that can read the folder can lock it, so there is a timeout.
    """
    handle, end = os.open(folder, os.O_RDONLY), time.monotonic() + LOCK_SECONDS
    try:
        while not _has_locked(handle):
            if time.monotonic() > end:
                message = f"another process has held the lock of {folder} for {LOCK_SECONDS:.0f} seconds"
                raise SourceError(message, f"find it with: fuser -v {folder}")
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def _has_locked(handle: int) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot write {path}: {error.strerror}") from error
