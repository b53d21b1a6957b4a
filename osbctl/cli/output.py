"""Where a report goes: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import os
import sys

from osbctl.errors import DocumentError, OsbctlError, SourceError


def put(text: str, file: str | None) -> None:
    """Write `text` to `file`, to standard output where that is None or `-`; always in UTF-8.

    A byte of a file name that is not UTF-8 becomes U+FFFD. A reader of standard output who has gone misses the rest;
    the command goes on, since its exit code still matters.

    Raises:
        SourceError: it cannot be written.
    """
    data = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode("utf-8")
    if file is not None and file != "-":
        from osbctl.files import write_file

        write_file(file, data)
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence()
    except OSError as error:
        raise cannot_print(error) from error


def cannot_print(error: OSError) -> SourceError:
    """The error of a standard output that takes nothing more, which is silent from here on."""
    silence()
    return SourceError(f"standard output cannot be written: {error.strerror}")


def silence() -> None:
    """Let what is still to be printed go nowhere: the interpreter tries once more as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Say something beside the report, on standard error; control characters are escaped."""
    say(f"osbctl: {text}")


def tell(error: OsbctlError) -> int:
    """Say on standard error what went wrong, and return the exit code of that."""
    if isinstance(error, DocumentError):
        from osbctl.reports.text_report import finding_lines

        say(finding_lines(error.findings).rstrip("\n"))
    else:
        note(error.message + (f"\n  hint: {error.advice}" if error.advice else ""))
    return error.exit_code


def say(text: str) -> None:
    """Lines for standard error, wrapped to the terminal; control characters are escaped."""
    from osbctl.cli.terminal import wrap_width
    from osbctl.text import safe, wrapped

    width = wrap_width(sys.stderr)
    print("\n".join(wrapped(safe(line), width) for line in text.split("\n")), file=sys.stderr)  # noqa: T201
