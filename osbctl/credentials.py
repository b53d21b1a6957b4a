"""Credential records: validation, creation, password checks, and their files.

A file is a JSON object, a list of JSON objects, or an htpasswd file with salted SHA-512 hashes. libpass computes the
hashes. Messages never contain secrets. Passwords are hashed as UTF-8 without Unicode normalization, because platforms
do not normalize either.
"""

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from osbctl.errors import ConfigError, SourceError
from osbctl.files import read_bounded, write_on_success

LONGEST = 511  # UTF-8 bytes of a password at most, as in libxcrypt, and of an identity
MINIMUM_ROUNDS = 1_000  # that of crypt(3) for SHA-512
MAXIMUM_ROUNDS = 5_000_000  # crypt(3) accepts more; Service Manager waits 15 seconds, and some processors are slow


def check_identity(identity: str) -> None:
    """Raise ConfigError if HTTP Basic credentials cannot carry the identity (RFC 7617 §2)."""
    check_password(identity, "identity")
    if ":" in identity:
        raise ConfigError("the identity contains a colon", "HTTP Basic ends a username at the first colon")


def check_password(text: str, name: str = "password") -> None:
    """Raise ConfigError if HTTP Basic credentials or crypt(3) cannot carry the password, or what else `name` says."""
    if not text:
        raise ConfigError(f"the {name} is empty")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text):
        raise ConfigError(f"the {name} contains a control character")
    try:
        length = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise ConfigError(f"the {name} cannot be encoded in UTF-8") from None
    if length > LONGEST:
        raise ConfigError(f"the {name} is longer than {LONGEST} bytes")


def parse_rounds_and_salt(hash_text: str) -> tuple[int, str]:
    """Parse a salted SHA-512 hash, `$6$[rounds=N$]salt$hash` (crypt(3)). Raises ConfigError, also for its rounds."""
    form = r"\$6\$(?:rounds=([1-9][0-9]{0,9})\$)?([./0-9A-Za-z]{1,16})\$[./0-9A-Za-z]{85}[./01]"
    match = re.fullmatch(form, hash_text)
    if match is None:
        problem = "the hash is not a salted SHA-512 hash of crypt(3), $6$[rounds=N$]salt$hash"
        raise ConfigError(problem, "create one with `osbctl hash-password`, or with `openssl passwd -6`")
    rounds = int(match[1] or 5_000)  # which crypt(3) implies
    check_rounds(rounds)
    return rounds, match[2]


def check_rounds(rounds: int) -> None:
    """Raise ConfigError for rounds out of bounds."""
    if rounds < MINIMUM_ROUNDS:
        raise ConfigError(f"{rounds} rounds: the minimum is {MINIMUM_ROUNDS}")
    if rounds > MAXIMUM_ROUNDS:
        seconds = rounds / 1_000_000  # most processors take half of it to twice as much
        raise ConfigError(f"{rounds} rounds take about {seconds:.0f} seconds: the maximum is {MAXIMUM_ROUNDS}")


def parse_expiry(text: str) -> float:
    """Parse an RFC 3339 date and time with a zone to seconds since 1970. Raises ConfigError."""
    form = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)"
    try:
        if re.fullmatch(form, text, re.ASCII):
            return datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError):
        pass
    raise ConfigError("expires is not a date and time of RFC 3339", "write it as 2027-01-31T00:00:00Z")


FEW_ROUNDS = 210_000
"""Warn of fewer: OWASP's Password Storage Cheat Sheet recommends this number for PBKDF2-HMAC-SHA512,
the closest scheme that it covers."""


@dataclass(frozen=True, slots=True)
class CredentialRecord:
    """One identity and the salted SHA-512 hash of one password for it.

    `hash` has the form of crypt(3), `$6$[rounds=N$]salt$hash`; `salt` repeats its salt. `password` is set only for
    records kept in a platform's credential store. `label` appears in logs, `expires` is an RFC 3339 time, `number`
    counts records of the file from 1. Raises ConfigError if a part is malformed or the salts differ; neither messages
    nor `repr` contain secrets.
    """

    identity: str
    salt: str = field(repr=False)
    hash: str = field(repr=False)
    password: str | None = field(default=None, repr=False)
    label: str | None = None
    expires: str | None = None
    number: int = field(default=1, compare=False)

    def __post_init__(self) -> None:
        check_identity(self.identity)
        if self.salt != parse_rounds_and_salt(self.hash)[1]:
            raise ConfigError("the salt is not the salt of the hash")
        if self.password is not None:
            check_password(self.password)
        if self.label is not None and not (self.label.isprintable() and 0 < len(self.label) <= 100):
            raise ConfigError("the label must be 1 to 100 printable characters")
        if self.expires is not None:
            parse_expiry(self.expires)

    @property
    def rounds(self) -> int:
        return parse_rounds_and_salt(self.hash)[0]

    @property
    def expires_at(self) -> float:
        """Expiry of the record in seconds since 1970; infinity without one."""
        return float("inf") if self.expires is None else parse_expiry(self.expires)

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= time.time()

    @property
    def display_name(self) -> str:
        """Name of the record in messages: its label, else its identity."""
        return self.label or self.identity

    @property
    def public_name(self) -> str:
        """Name of the record in access log and metrics: its label, else its number. Never a username."""
        return self.label or f"record {self.number}"


def make_record(
    identity: str,
    password: str,
    *,
    rounds: int | None = None,
    label: str | None = None,
    expires: str | None = None,
    include_password: bool = False,
) -> CredentialRecord:
    """Create a record with a random salt. Takes a good part of a second with the default rounds.

    Raises ConfigError if identity, password, rounds, label or expires are invalid.
    """
    check_identity(identity)
    check_password(password)
    rounds = int(_sha512_crypt().default_rounds) if rounds is None else rounds
    check_rounds(rounds)
    hashed = str(_sha512_crypt().using(rounds=rounds).hash(password))
    _, salt = parse_rounds_and_salt(hashed)
    return CredentialRecord(identity, salt, hashed, password if include_password else None, label, expires)


def password_matches(record: CredentialRecord, password: str) -> bool:
    """Return whether the password matches the record, in constant time; ignores expiry."""
    try:
        check_password(password)
    except ConfigError:
        return False
    return bool(_sha512_crypt().verify(password, record.hash))


def generate_password() -> str:
    """Generate 192 random bits as 32 characters that need no escaping in a URL."""
    import secrets

    return secrets.token_urlsafe(24)


def _sha512_crypt() -> Any:
    from passlib.hash import sha512_crypt  # type: ignore[import-untyped]

    return sha512_crypt


FIELDS = ("identity", "salt", "hash", "password", "label", "expires")
LARGEST = 1 << 20  # bytes of a credentials file at most


def read_credentials(path: Path) -> tuple[CredentialRecord, ...]:
    """Read the records of a file, in its order; at least one.

    Raises SourceError if it cannot be opened, ConfigError if it is not a credentials file.
    """
    return parse_credentials(_read_text(path), str(path))


def _read_text(path: Path) -> str:
    """Read the text of a credentials file. Raises SourceError and ConfigError."""
    try:
        raw = read_bounded(path, LARGEST)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        advice = "create it with `osbctl hash-password IDENTITY --generate -o FILE`" if is_missing else ""
        raise SourceError(f"cannot read {path}: {error.strerror}", advice) from error
    if len(raw) > LARGEST:
        raise ConfigError(f"{path}: larger than {LARGEST} bytes: this is not a credentials file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None


def parse_credentials(text: str, name: str = "credentials") -> tuple[CredentialRecord, ...]:
    """Parse the text of a credentials file; `name` is the prefix of messages. Raises ConfigError."""
    records = _parse_records(text, name)
    if not records:
        raise ConfigError(f"{name}: it contains no credential record", "create one with `osbctl hash-password`")
    return records


def _parse_records(text: str, name: str) -> tuple[CredentialRecord, ...]:
    if looks_like_json(text):
        return _parse_json_records(text, name)
    lines = ((row, line.strip()) for row, line in enumerate(text.split("\n"), 1))
    entries = ((row, line) for row, line in lines if line and not line.startswith("#"))
    return tuple(_parse_htpasswd_line(line, f"{name}:{row}", number) for number, (row, line) in enumerate(entries, 1))


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
    unknown = [name for name in data if name not in FIELDS]
    if unknown:
        raise ConfigError(f"{location}: unknown field {unknown[0][:40]!a}", f"the fields are {', '.join(FIELDS)}")
    for name in FIELDS[:3]:
        if name not in data:
            raise ConfigError(f"{location}: {name} is missing")
    for name, value in data.items():
        if not isinstance(value, str):
            raise ConfigError(f"{location}: {name} is not a string")
    return _create_record(location, number, **data)


def _create_record(location: str, number: int, **fields: str) -> CredentialRecord:
    try:
        return CredentialRecord(**fields, number=number)
    except ConfigError as error:
        raise ConfigError(f"{location}: {error.message}", error.advice) from None


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
LOCK_SECONDS = 10.0  # timeout of the lock; writing a file takes milliseconds


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
        target = Path(os.path.realpath(path))  # replace the target of a symbolic link
        if append and target.exists() and not target.is_file():
            raise SourceError(f"{path} is not a regular file")
        with _lock_folder(target.parent):
            before = _read_text(target) if append and target.exists() else ""
            present = _parse_records(before, str(target))
            if before.strip() and not looks_like_json(before):
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
    """A descriptor whose end releases the lock. None if another process has it."""
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
