"""The files of a source folder, each read once, and the guard that nothing outside of it is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from osbctl.errors import DocumentError, SourceError
from osbctl.findings import Finding, Severity
from osbctl.sources.file import read_file
from osbctl.sources.parse import parse_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from osbctl.paths import Path as ValuePath
    from osbctl.sources.document import Document
    from osbctl.sources.limits import Limits

SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True, eq=False)
class SourcePart:
    """One file of the folder, as it was read. `file` is its resolved path."""

    file: Path
    document: Document

    @property
    def data(self) -> dict[str, Any]:
        """What the file holds; not to be changed."""
        return self.document.data


class Problems:
    """The findings of a composition, gathered so that one run tells them all."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def add(
        self, rule: str, message: str, part: SourcePart | None = None, path: ValuePath = (), hint: str = ""
    ) -> None:
        """Note an error in the value at `path` of `part`."""
        location = part.document.locate([path])[path] if part else None
        self.findings.append(Finding(rule, Severity.ERROR, message, path, location, hint=hint))

    def raise_any(self) -> None:
        """Raise a DocumentError with what was gathered, if anything was."""
        if self.findings:
            raise DocumentError(tuple(self.findings))


class Parts:
    """The files of one source folder. Reads each at most once; refuses whatever leads out of it.

    `unsaved` holds what files contain that are being edited, by resolved path; they need not be on disk yet.
    `documents` are the files that were read, in that order.
    """

    def __init__(self, folder: Path, limits: Limits, problems: Problems, unsaved: Mapping[Path, bytes]) -> None:
        self.folder = folder
        self.problems = problems
        self._limits = limits
        self._root = folder.resolve()
        self._unsaved = unsaved
        self._read: dict[Path, SourcePart | None] = {}
        self.documents: list[Document] = []

    def read(self, file: Path) -> SourcePart | None:
        """The file, None (and a problem) where it cannot be read or leads out of the folder.

        Raises:
            SourceError: it is not there or may not be opened.
        """
        resolved = Path(os.path.realpath(file))  # unlike resolve() it takes a loop of links, too
        if not resolved.is_relative_to(self._root):
            self.problems.add("folder-escape", f"{file} leads out of the source folder", hint="keep it inside")
            return None
        if resolved.exists() and not resolved.is_file():  # a FIFO, say, would be waited for
            raise SourceError(f"{file}: this is not a regular file", "a source folder is made of files")
        if resolved not in self._read:
            self._read[resolved] = self._part(file, resolved)
        return self._read[resolved]

    def read_any(self, file: Path) -> SourcePart | None:
        """As `read`, for a file that the user named and that may stand anywhere: an overlay."""
        return self._part(file, Path(os.path.realpath(file)))

    def optional(self, stem: str) -> SourcePart | None:
        """The file of that stem at the top of the folder, None where there is none."""
        for suffix in SUFFIXES:
            file = self.folder / (stem + suffix)
            if os.path.lexists(file) or self._root / file.name in self._unsaved:
                return self.read(file)
        return None

    def notes(self) -> Iterator[Finding]:
        """What reading the files has to say; of places in files, not in the catalog, so that no path is given."""
        for document in self.documents:
            for note in document.notes:
                yield note._replace(path=())

    def unread(self, *below: str) -> Iterator[Path]:
        """The YAML and JSON files below a folder of the folder that nothing has read."""
        for folder, folders, names in os.walk(self.folder.joinpath(*below)):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(folder, name)
                if file.suffix.lower() in SUFFIXES and name[0] != "." and file.resolve() not in self._read:
                    yield file

    def files(self, *below: str) -> dict[str, Path]:
        """The YAML and JSON files in a folder of the folder by stem, sorted; two of one stem are a problem."""
        found: dict[str, Path] = {}
        folder = self.folder.joinpath(*below)
        names = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
        resolved = folder.resolve() if self._unsaved else folder
        for name in sorted(names | {file.name for file in self._unsaved if file.parent == resolved}):
            stem, suffix = os.path.splitext(name)  # noqa: PTH122  # a stem may hold dots
            if suffix not in SUFFIXES or stem.startswith("."):
                continue
            if stem in found:
                self.problems.add("folder-two-files", f"{folder / name} and {found[stem].name} are one thing twice")
            found[stem] = folder / name
        return found

    def _part(self, file: Path, resolved: Path) -> SourcePart | None:
        try:
            data = self._unsaved[resolved] if resolved in self._unsaved else read_file(str(file), self._limits)
            self.documents.append(parse_document(data, str(file), limits=self._limits))
            return SourcePart(resolved, self.documents[-1])
        except DocumentError as error:
            self.problems.findings.extend(error.findings)
            return None
        except OSError as error:
            raise SourceError(f"{file}: cannot be opened: {error.strerror}") from error
