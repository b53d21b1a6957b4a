"""Sources of a command line, with folders replaced by the catalogs that are found in them."""

import os
import sys
from collections.abc import Sequence

from osbctl.cli.output import draw_status_line, print_note
from osbctl.sources.read_bytes import report_name
from osbctl.text import plural

_NAMED = 10
"""Catalogs that a note names."""


def find_named_catalogs(
    sources: Sequence[str] | None, *, quiet: bool = False, exclude: Sequence[str] | None = None
) -> list[str]:
    """Replace each folder by the catalogs in it, unless it is a source folder or brokerpak; by default search `.`.

    A note says what was found, unless `quiet`. A folder without any stays: reading it says so.
    """
    named: list[str] = []
    for source in sources or ["."]:
        if not os.path.isdir(source):  # noqa: PTH112  # pathlib costs its import at every start
            named.append(source)
            continue
        known = {os.path.normpath(name) for name in named}
        named += [name for name in _search(source, quiet, exclude or ()) if os.path.normpath(name) not in known]
    return named


def select_catalogs(files: Sequence[str]) -> list[str]:
    """The sources that these files are, or are parts of, as a hook needs them; other files are left out."""
    from pathlib import Path

    from osbctl.sources.discovery import find_source_of, is_catalog_file, is_own_file, may_be_catalog

    own = [name for name in files if is_own_file(report_name(name)) and may_be_catalog(report_name(name))]
    found = (find_source_of(Path(name)) or (name if is_catalog_file(name) else "") for name in own)
    return [name for name in dict.fromkeys(found) if name]


def _search(folder: str, quiet: bool, exclude: Sequence[str]) -> Sequence[str]:
    from osbctl.sources.discovery import find_sources

    shows_progress = sys.stderr.isatty()

    def show(searched: int, total: int) -> None:
        if shows_progress:
            draw_status_line(f"searching {searched:,} of {total:,} files")

    try:
        found = find_sources(folder, show, exclude)
    finally:
        if shows_progress:
            draw_status_line("")
    if found.sources and found.sources != (folder,) and not quiet:
        names, more = map(report_name, found.sources[:_NAMED]), len(found.sources) - _NAMED
        others = f" and {more} more" if more > 0 else ""
        print_note(f"found {plural(len(found.sources), 'catalog')}: {', '.join(names)}{others}")
    return found.sources or (folder,)
