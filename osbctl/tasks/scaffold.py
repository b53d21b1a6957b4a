"""What `osbctl init`, `new` and `split` do: files written into a source folder, never over others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from osbctl.errors import SourceError
from osbctl.files import write_file
from osbctl.sources.folder.files import ATTRIBUTES

if TYPE_CHECKING:
    from pathlib import Path


def write_new(folder: Path, files: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write `files`, each a name and its text, into `folder`, and say what was written.

    Raises:
        SourceError: one of them is there, before any is written; or one cannot be written.
    """
    made = [(folder / name, text) for name, text in files]
    present = [(file, text) for file, text in made if os.path.lexists(file)]
    for file, text in present:
        if file.name != ATTRIBUTES[0]:
            raise SourceError(f"{file} already exists, and nothing is overwritten", "choose another folder or name")
        yield f"add to {file}: {text.strip()}"
    for file, text in made:
        if (file, text) in present:
            continue
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(f"{file.parent}: cannot be made: {error.strerror}") from error
        write_file(file, text.encode("utf-8"))
        yield f"wrote {file}"
