"""Output of the command line: reports, notes and progress; a report must not overwrite what it is made of."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, TextIO, TypedDict, TypeVar

from osbctl.errors import InternalError, OsbctlError, OutputError, UsageError
from osbctl.files import read_bounded, write_file
from osbctl.findings import DocumentError
from osbctl.text import AnsiStyle, escape_line, json_text, wrap_line

T = TypeVar("T")

CATALOG, CREDENTIALS = "a catalog", "credentials"


def write_output(text: str, file: str | None = None) -> None:
    """Write `text` in UTF-8 to `file`, or to standard output if that is None or `-`. Raises SourceError.

    A byte of a file name that is not UTF-8 becomes U+FFFD. If the reader of standard output has gone, the command goes
    on, because its exit code still matters.
    """
    data = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode("utf-8")
    if file is not None and file != "-":
        write_file(file, data)
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        discard_output()
    except OSError as error:
        raise handle_output_error(error) from error


def write_lines(lines: Iterable[str]) -> None:
    """Write `lines` to standard output."""
    write_output("\n".join(lines) + "\n")


def write_json(value: Any) -> None:
    """Write `value` to standard output as JSON."""
    write_output(json_text(value))


def handle_output_error(error: OSError) -> OutputError:
    """Discard all further output, since a write to standard output failed; return the error to report."""
    discard_output()
    return OutputError(f"standard output cannot be written: {error.strerror}")


def discard_output(stream: TextIO | None = None) -> None:
    """Redirect a stream, else standard output, to nowhere, because the interpreter flushes it again as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def write_stderr(text: str) -> None:
    """Write `text` to standard error; if its reader has gone, the command goes on, as in `write_output`."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        discard_output(sys.stderr)


def print_note(*texts: str) -> None:
    """Print notes beside the report, on standard error; control characters are escaped."""
    for text in texts:
        print_stderr(f"osbctl: {text}")


def print_failure_count(failed: int, total: int, what: str) -> None:
    """Print how many of several sources or brokers failed, if some did; `what` says what they are, and what failed."""
    if failed and total > 1:
        print_note(f"{failed:,} of {total:,} {what}")


def print_error(error: OsbctlError, name: str = "") -> int:
    """Print `error: MESSAGE` with its advice on standard error, and return the exit code.

    `name` is the source or broker that it is about: the message of a bug does not say that.
    """
    color = use_color("auto", sys.stderr)
    if isinstance(error, DocumentError):
        from osbctl.reports.text_report import format_findings

        write_stderr(format_findings(error.findings, color, wrap_width(sys.stderr)).rstrip("\n") + "\n")
    else:
        paint = AnsiStyle(color)
        where = f"{name}: " if name and isinstance(error, InternalError) else ""
        print_stderr(f"{where}{error.message}", f"{paint('error', 'error')}: ")
        if error.advice:
            print_stderr(error.advice, f"  {paint('hint:', 'info')} ")
    return error.exit_code


def print_stderr(text: str, label: str = "") -> None:
    """Print lines on standard error after a label, wrapped to the terminal; control characters are escaped."""
    first, *more = map(escape_line, text.split("\n"))
    width = wrap_width(sys.stderr)
    write_stderr("".join(f"{wrap_line(line, width)}\n" for line in (label + first, *more)))


def use_color(color: str, stream: TextIO) -> bool:
    """Return whether to colour the output to `stream`: `always`, `never`, or `auto`.

    `auto` colours at a terminal, unless NO_COLOR (no-color.org) is set or TERM is dumb. FORCE_COLOR counts
    with a value other than 0.
    """
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced is not None:
        return forced not in ("", "0")
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wrap_width(stream: TextIO) -> int:
    """The columns at which lines to `stream` are wrapped; 0, no wrapping, if it is no terminal."""
    return terminal_width() if stream.isatty() else 0


class ReportStyle(TypedDict):
    """Fields of a report; `width` is in columns (0: lines are not wrapped).

    `root` is the folder which paths in formats for CI are relative to: of a job's repository, else the working folder.
    """

    root: str
    color: bool
    width: int


def report_style(output: str | None, color: str) -> ReportStyle:
    """The style of a report to `output`."""
    root = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR") or os.getcwd()  # noqa: PTH109
    is_printed = output in (None, "-")
    width = wrap_width(sys.stdout) if is_printed else 0
    return {"root": root, "color": is_printed and use_color(color, sys.stdout), "width": width}


def is_github_log(output: str | None) -> bool:
    """Return whether a report to `output` goes to the log of GitHub Actions, which can show annotations."""
    return output is None and os.environ.get("GITHUB_ACTIONS") == "true"


def terminal_width() -> int:
    """The columns of the terminal, or of the variable COLUMNS."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def show_progress(results: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Yield `results`, and count them on standard error if that is a terminal and there are several.

    The count is erased while a result is printed, because both may go to one terminal.
    """
    if total < 2 or not sys.stderr.isatty():
        yield from results
        return
    draw_status_line(f"{label} 0 of {total}")
    for number, result in enumerate(results, 1):
        draw_status_line("")
        yield result
        draw_status_line(f"{label} {number} of {total}")
    draw_status_line("")


def draw_status_line(line: str) -> None:
    """Replace the status line on standard error; an empty one erases it."""
    write_stderr(f"\r\x1b[2K{line}")


def check_output(output: str | None, inputs: Iterable[str | None], *, replaces: str = "") -> None:
    """Raise UsageError if writing `output` would destroy a file that cannot be generated again.

    That is one of `inputs`, a file of a source folder among them, and a file that holds a catalog, credentials, a lock
    or the configuration; `replaces` (`CATALOG` or `CREDENTIALS`) is what the command itself writes.
    """
    if output is None or output == "-":
        return
    if output in ("", "."):
        raise UsageError("-o needs a file name", "name a file, or leave the option out")
    for input_path in inputs:
        if input_path:
            _check_not_input(output, input_path)
    kind = _protected_file_kind(output) if os.path.isfile(output) else ""  # noqa: PTH113
    if kind and kind != replaces:
        raise UsageError(f"{output} holds {kind}, and would be overwritten", "name another file, or remove it first")


def _check_not_input(output: str, input_path: str) -> None:
    if os.path.isfile(output) and os.path.isfile(input_path) and os.path.samefile(output, input_path):  # noqa: PTH113, PTH121
        raise UsageError(f"{output} is an input of this command, and would be overwritten", "name another file")
    if not os.path.isdir(input_path) or os.path.isdir(output):  # noqa: PTH112
        return
    from pathlib import Path

    from osbctl.sources.folder.source_tree import LOCK, SUFFIXES

    file = Path(os.path.realpath(output))
    is_source = file.suffix.lower() in SUFFIXES or file.name == LOCK
    if is_source and file.is_relative_to(os.path.realpath(input_path)):
        advice = "write it outside of the folder: the next build would read it as part of the catalog"
        raise UsageError(f"{output} is in the source folder {input_path}", advice)


def _protected_file_kind(file: str) -> str:
    """The kind of a file that must not be lost, as a message names it. Empty for any other file."""
    from osbctl.config import NAMES, load_config
    from osbctl.credentials import LARGEST, parse_credentials
    from osbctl.sources.document import decode_utf8, parse_text
    from osbctl.sources.folder.lock import is_lock
    from osbctl.sources.read_bytes import MAX_BYTES

    if os.path.basename(file) in NAMES:  # noqa: PTH119
        return "a configuration"
    try:
        text = decode_utf8(read_bounded(file, MAX_BYTES), file)
    except (OSError, OsbctlError):
        return ""
    if is_lock(text):
        return "a lock of ids"
    if file.endswith(".toml") and text.strip():
        with suppress(OsbctlError):  # which another may extend; a file of accepted changes has other keys
            load_config(file)
            return "a configuration"
    with suppress(OsbctlError):
        if len(text) <= LARGEST and parse_credentials(text):
            return CREDENTIALS
    if text.startswith("<") or "services" not in text:  # most files need no parsing
        return ""
    with suppress(OsbctlError):
        if isinstance(parse_text(text, file).data.get("services"), list):
            return CATALOG
    return ""
