"""What the terminal can do, and what its user wants of it."""

from __future__ import annotations

import os
from typing import TextIO


def use_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour what goes to `stream`: `always`, `never`, or `auto`.

    `auto` colours at a terminal, unless NO_COLOR (no-color.org) is set or TERM is dumb. FORCE_COLOR counts
    with a value other than 0.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced is not None:
        return forced not in ("", "0")
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wrap_width(stream: TextIO) -> int:
    """The columns at which lines to `stream` are broken; 0 where it is no terminal: a program wants them whole."""
    return width() if stream.isatty() else 0


def width() -> int:
    """The columns of the terminal; COLUMNS has the say where it is set."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns
