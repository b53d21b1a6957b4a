"""Where a report goes: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import sys


def put(text: str, file: str | None) -> None:
    """Write `text` to `file`, to standard output where that is None or `-`.

    Raises:
        SourceError: the file cannot be written.
    """
    data = text.encode("utf-8", "surrogateescape")
    if file is None or file == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    from osbctl.files import write_atomically

    write_atomically(file, data)


def note(text: str) -> None:
    """Say something beside the report, on standard error; control characters are escaped."""
    from osbctl.text import safe

    print(f"osbctl: {safe(text)}", file=sys.stderr)  # noqa: T201
