"""Read the files of a source folder, each once, and none outside of it."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from osbctl.errors import SourceError
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.paths import JsonPath
from osbctl.sources.document import Document
from osbctl.sources.limits import Limits
from osbctl.sources.parse import parse_document
from osbctl.sources.read_bytes import read_bytes

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})

SUFFIXES = (".yaml", ".yml", ".json")

MANIFEST = "manifest.yml"
"""The file of a brokerpak that names the files of its service offerings."""

_LOOKALIKES = (*SUFFIXES, ".jsonc", ".json5", ".toml", ".j2", ".jinja", ".tmpl", ".tpl", ".erb")
"""Suffixes of files that look like parts of a catalog, in lower case."""

_PLACES = "a service stands at services/SERVICE.yaml, a plan at services/SERVICE/plans/PLAN.yaml; move or remove it"

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{[^}]*\}?")


class FindingCollector(list[Finding]):
    """The findings of a composition, so that one run reports all of them."""

    def add(self, rule: str, message: str, part: Document | None = None, path: JsonPath = (), hint: str = "") -> None:
        """Add an error in the value at `path` of `part`."""
        bare = Finding(rule, Severity.ERROR, message, path, hint=hint)
        self.append(part.error(rule, message, path, hint) if part else bare)

    def raise_any(self) -> None:
        """Raise a DocumentError with the findings, if there are any."""
        if self:
            raise DocumentError(tuple(self))


class SourceTree:
    """The files of one source folder. Reads each at most once; refuses paths that lead out of it.

    `unsaved` is the content of files that are being edited, by resolved path; they need not be on disk yet.
    `documents` are the files that were read, in that order. `variables` are the values of `${NAME}`. Faults are noted
    in `problems`.
    """

    def __init__(
        self,
        folder: Path,
        limits: Limits,
        unsaved: Mapping[Path, bytes],
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> None:
        self.folder, self.problems = folder, FindingCollector()
        self._limits, self._unsaved, self._variables = limits, unsaved, variables
        self._root = folder.resolve()
        self._read: dict[Path, Document | None] = {}
        self.documents: list[Document] = []

    @property
    def notes(self) -> list[Finding]:
        """The notes of the readers, without paths: those are of files, not of the catalog."""
        return [note._replace(path=()) for document in self.documents for note in document.notes]

    def read(
        self, file: Path, *, anywhere: bool = False, parse: Callable[..., Document] = parse_document
    ) -> Document | None:
        """Read a file; None (and a problem) if it cannot be parsed or is outside of the folder, unless `anywhere`.

        The user named an overlay, so it may be anywhere. Raises SourceError: it does not exist or cannot be opened.
        """
        resolved = Path(os.path.realpath(file)) if anywhere else self._resolve_inside(file)
        if resolved is None:
            return None
        if resolved not in self._read:
            data = self._read_bytes(file, resolved)
            try:
                self.documents.append(parse(data, file.as_posix(), limits=self._limits))
                self._read[resolved] = self.documents[-1]
            except DocumentError as error:
                self.problems.extend(error.findings)
                self._read[resolved] = None
        return self._read[resolved]

    def read_content(self, file: Path) -> bytes | None:
        """Read the bytes of a file of the folder; the rest as `read`."""
        resolved = self._resolve_inside(file)
        return self._read_bytes(file, resolved) if resolved else None

    def read_optional(self, stem: str) -> Document | None:
        """Read the file of that stem at the top of the folder; None if there is none, or it has a reported problem.

        A JSON file beside one in YAML is left alone: it may be the catalog that was built of the folder.
        """
        files = [file for file in (self.folder / (stem + suffix) for suffix in SUFFIXES) if self._exists(file)]
        for other in files[1:]:
            if other.suffix != ".json":
                self.problems.add("folder-two-files", f"{other.as_posix()} and {files[0].name} define the same thing")
        return self.read(files[0]) if files else None

    def _exists(self, file: Path) -> bool:
        return os.path.lexists(file) or self._root / file.name in self._unsaved

    def report_unread_files(self) -> None:
        """Add a problem for each file in services/, plans/ or the like that looks like a part and was not read."""
        tops = next(os.walk(self.folder), ("", [], []))[1]
        for top in sorted(name for name in tops if name.lower() in ("services", "service", "plans", "plan")):
            for folder, folders, names in os.walk(self.folder / top):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                for name in sorted(names):
                    file = Path(folder, name)
                    looks_like_a_part = file.suffix.lower() in _LOOKALIKES and not name.startswith((".#", "._"))
                    if looks_like_a_part and Path(os.path.realpath(file)) not in self._read:
                        message = f"{file.as_posix()} is not part of the catalog"
                        self.problems.add("folder-unread", message, hint=_PLACES)

    def find_files(self, *subfolders: str) -> dict[str, Path]:
        """The YAML and JSON files in a folder of the folder by stem, sorted; two of one stem are a problem."""
        found: dict[str, Path] = {}
        folder = self.folder.joinpath(*subfolders)
        names = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
        resolved = folder.resolve() if self._unsaved else folder
        for name in sorted(names | {file.name for file in self._unsaved if file.parent == resolved}):
            stem, suffix = os.path.splitext(name)  # noqa: PTH122  # a stem may hold dots
            if suffix not in SUFFIXES or stem.startswith("."):
                continue
            if stem in found:
                message = f"{(folder / name).as_posix()} and {found[stem].name} define the same thing"
                self.problems.add("folder-two-files", message)
            found[stem] = folder / name
        return found

    def copy_with_variables(self, part: Document, value: Any, path: JsonPath) -> Any:
        """Copy the value at `path` of `part`, `${NAME}` replaced; unset names and malformed references are problems."""

        def replace_references(text: str, path: JsonPath) -> str:
            return _REFERENCE.sub(lambda match: self._replace_reference(match, part, path), text)

        return _map_templates(value, replace_references, path)

    def _replace_reference(self, match: re.Match[str], part: Document, path: JsonPath) -> str:
        if match[0] == "$${":
            return "${"
        value: str | None = self._variables.get(match[1], match[2])
        if value is None:
            unset = f"{match[0]} is not set"
            malformed = f"{match[0]!r} is not a reference: write ${{NAME}} or ${{NAME:-default}}"
            hint = "set it with --set NAME=VALUE, give a default (${NAME:-…}), or write $${ for a literal ${"
            self.problems.add("build-variable", unset if match[1] else malformed, part, path, hint)
        return match[0] if value is None else value

    def _resolve_inside(self, file: Path) -> Path | None:
        """The resolved path; None (and a problem) outside of the folder. Raises SourceError: it is no regular file."""
        resolved = Path(os.path.realpath(file))  # unlike resolve() it takes a loop of links, too
        if not resolved.is_relative_to(self._root):
            message = f"{file.as_posix()} leads out of the source folder"
            self.problems.add("folder-escape", message, hint="keep it inside")
            return None
        if resolved.exists() and not resolved.is_file():  # a FIFO, say, would be waited for
            raise SourceError(f"{file.as_posix()}: this is not a regular file", "a source folder is made of files")
        return resolved

    def _read_bytes(self, file: Path, resolved: Path) -> bytes:
        if resolved in self._unsaved:
            return self._unsaved[resolved]
        try:
            return read_bytes(str(file), limits=self._limits)[0]
        except IsADirectoryError as error:
            raise SourceError(f"{file.as_posix()}: cannot be opened: {error.strerror}") from error


def escape_dollars(value: Any) -> Any:
    """Escape `${` in the strings of a value, so that `SourceTree.copy_with_variables` returns the value."""
    return _map_templates(value, lambda text, _: text.replace("${", "$${"))


def _map_templates(value: Any, change: Callable[[str, JsonPath], str], path: JsonPath = ()) -> Any:
    """Copy `value`, with `change` applied to each string with `${` and its path."""
    if isinstance(value, dict):
        return {key: _map_templates(item, change, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_templates(item, change, (*path, index)) for index, item in enumerate(value)]
    return change(value, path) if isinstance(value, str) and "${" in value else value
