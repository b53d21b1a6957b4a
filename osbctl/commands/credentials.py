"""`osbctl hash-password` and `verify-password`: make and try credential records."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated, TextIO

from osbctl.commands.options import Argument, Option
from osbctl.commands.output import (
    CREDENTIALS,
    check_output,
    handle_output_error,
    print_note,
    write_output,
    write_stderr,
)
from osbctl.commands.passwords import ask_password, read_password_from_stdin
from osbctl.credentials import (
    FEW_ROUNDS,
    CredentialRecord,
    check_identity,
    check_password,
    format_records,
    generate_password,
    make_record,
    parse_expiry,
    password_matches,
    read_credentials,
    write_record,
)
from osbctl.errors import ConfigError, SourceError, UsageError
from osbctl.files import RESTRICTS_ACCESS
from osbctl.text import escape_line, plural

_PasswordStdin = Annotated[bool, Option("Read the password from standard input.")]


def hash_password(
    identity: Annotated[str, Argument("IDENTITY", "The username of the platform.")],
    password_stdin: _PasswordStdin = False,
    generate: Annotated[bool, Option("Generate a password of 192 bits, and print it once.")] = False,
    include_password: Annotated[bool, Option("Add the password in clear text.")] = False,
    rounds: Annotated[int | None, Option("Rounds of SHA-512.  [default: the library's]", metavar="N")] = None,
    label: Annotated[str | None, Option("Its name in the broker's log; no secret.", metavar="LABEL")] = None,
    expires: Annotated[str | None, Option("Expiry: 2027-01-31T00:00:00Z (RFC 3339).", metavar="TIME")] = None,
    output: Annotated[
        Path | None, Option("Write the record to a new FILE of mode 0600.", "-o", "--output", metavar="FILE")
    ] = None,
    append: Annotated[Path | None, Option("Add the record to FILE, made if missing.", metavar="FILE")] = None,
    force: Annotated[bool, Option("With -o: replace the records in FILE.")] = False,
) -> int:
    """Make a credential record: a username and the salted SHA-512 hash of its password.

    The password is asked for twice, and never taken from the command line. The record is printed, or written to a file
    with -o or --append. A generated password is printed on standard error; with -o or --append on standard output, for
    scripts.

    \b
    osbctl hash-password admin > credentials.json
    osbctl hash-password admin --generate -o credentials.json
    osbctl hash-password admin --append c.json --expires 2027-01-31T00:00:00Z
    """
    output = None if output == Path("-") else output
    _check_output_options(output, append, force)
    if password_stdin and generate:
        raise UsageError("--password-stdin and --generate cannot be combined")
    shown_on = "output" if output or append else "error"
    if generate and not include_password and _is_discarded(getattr(sys, "stdout" if output or append else "stderr")):
        advice = "leave it open; with -o or --append, the password is printed on standard output"
        raise SourceError(f"the password would be lost: standard {shown_on} is closed, or goes nowhere", advice)
    try:
        check_identity(identity)
        if expires is not None and parse_expiry(expires) <= time.time():
            raise UsageError(f"--expires {expires} is in the past", "the record would never be valid")
        password = _obtain_password(identity, stdin=password_stdin, generate=generate)
        record = make_record(
            identity, password, rounds=rounds, label=label, expires=expires, include_password=include_password
        )
    except ConfigError as error:
        raise UsageError(error.message, error.advice) from None
    _write_record(record, output, append, password if generate else "")
    if record.password is not None:
        _say("warning: the record holds the password in clear text: keep it in a credential store only")
    if not generate:
        _warn_of_few_rounds(record)
    return 0


def _is_discarded(stream: TextIO) -> bool:
    """Return whether a stream loses what is written: it is the null device, also in place of a closed one."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(os.devnull))  # noqa: PTH116
    except OSError:  # a stream without a descriptor
        return False


def _check_output_options(output: Path | None, append: Path | None, force: bool) -> None:
    if output and append:
        raise UsageError("-o and --append cannot be combined")
    if force and not output:
        raise UsageError("--force is for -o")
    check_output(str(output) if output else None, (), replaces=CREDENTIALS)
    if output and output.is_file() and output.stat().st_size and not force:
        advice = "--append FILE adds to it, --force replaces it; a running broker loads either within seconds"
        raise SourceError(f"{output} is there already", advice)


def _obtain_password(identity: str, *, stdin: bool, generate: bool) -> str:
    """A generated password, or that on standard input, else one that is asked for twice. Raises UsageError."""
    if generate:
        return generate_password()
    if stdin:
        return read_password_from_stdin()
    password = ask_password(f"Password of {identity}: ")
    check_password(password)
    if ask_password("Repeat the password: ") != password:
        raise UsageError("the two passwords differ")
    return password


def _write_record(record: CredentialRecord, output: Path | None, append: Path | None, generated: str) -> None:
    """Write the record, and print a generated password. If that cannot be printed, no record is written."""

    def print_generated() -> None:
        try:
            sys.stdout.write(f"{generated}\n" if generated else "")
            sys.stdout.flush()
        except OSError as error:
            raise handle_output_error(error) from error

    if append:
        count = write_record(append, record, print_generated, append=True)
        _say(f"{append} holds {plural(count, 'record')}")
    elif output:
        write_record(output, record, print_generated)
    else:
        if generated:
            _say(f"password of {record.identity} (shown only now): {generated}")
        write_output(format_records(record))
    if (file := append or output) and not RESTRICTS_ACCESS:
        print_note(f"its folder decides who may read {file}: restrict it with icacls")


def _warn_of_few_rounds(record: CredentialRecord) -> None:
    if record.rounds < FEW_ROUNDS:
        _say(
            f"warning: the hash of {record.display_name} has {record.rounds} rounds; "
            f"take {FEW_ROUNDS} or more (OWASP), unless the password is random"
        )


def verify_password(
    file: Annotated[Path, Argument("FILE", "A credentials file: one record, a list, or htpasswd.")],
    identity: Annotated[str, Argument("IDENTITY", "The username.")],
    password_stdin: _PasswordStdin = False,
) -> int:
    """Check a password against the records of a username, as the broker does.

    Exit codes: 0 if it matches, 1 if it does not or the record has expired, 3 if FILE cannot be read.

    \b
    osbctl verify-password credentials.json admin
    pass show broker | osbctl verify-password c.json admin --password-stdin
    """
    records = [record for record in read_credentials(file) if record.identity == identity]
    if not records:
        return _fail(f"{file} has no record of {identity!a}")
    password = read_password_from_stdin() if password_stdin else ask_password(f"Password of {identity}: ")
    fitting = [record for record in records if password_matches(record, password)]
    if not fitting:
        return _fail(f"the password matches no record of {identity!a} ({len(records)} tried)")
    best = max(fitting, key=lambda record: record.expires_at)
    if best.has_expired:
        return _fail(f"the password matches {best.display_name!a}, which expired at {best.expires}")
    write_output(f"the password matches {best.display_name!a}\n")
    _warn_of_few_rounds(best)
    return 0


def _fail(sentence: str) -> int:
    _say(sentence)
    return 1


def _say(sentence: str) -> None:
    """Print a line on standard error, not wrapped: it may hold a password."""
    write_stderr(f"{escape_line(sentence)}\n")
