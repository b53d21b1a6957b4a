"""Read the files of a source folder, each once, and none outside of it; also those that schemas refer to."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

from osbctl.catalog import objects_in_list, parameter_holders
from osbctl.errors import SourceError
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.messages import Message, SourceName, text_of
from osbctl.paths import JsonPath, resolve_pointer, subschemas, value_at
from osbctl.sources.document import ComposedDocument, Document, Origin, ParsedText, parse_document
from osbctl.sources.read_bytes import Limits, read_bytes

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})

SUFFIXES = (".yaml", ".yml", ".json")

MANIFEST = "manifest.yml"
"""The file of a brokerpak that names the files of its service offerings."""

SETTINGS = ("services", "defaults", "fields")
"""The keys of catalog.yaml: the order of the services, defaults, and further fields of the catalog."""

LOCK = "catalog.lock"

_TOPS = ("services", "service", "plans", "plan")
"""Names of folders whose files are meant as parts of a catalog, in lower case."""

LOOKALIKES = (*SUFFIXES, ".jsonc", ".json5", ".toml", ".j2", ".jinja", ".tmpl", ".tpl", ".erb")
"""Suffixes of files that look like parts of a catalog, in lower case."""

_PLACES = "a service stands at services/SERVICE.yaml, a plan at services/SERVICE/plans/PLAN.yaml; move or remove it"

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{[^}]*\}?")


def is_brokerpak(folder: str, unsaved: Mapping[Path, bytes] = MappingProxyType({})) -> bool:
    """Return whether a folder, or `REV:path`, is a brokerpak, by its manifest; `unsaved` as for `compose`."""
    file = Path(folder, MANIFEST)
    try:
        data = unsaved.get(file.resolve()) or read_bytes(str(file))[0]
    except (OSError, SourceError):
        return False
    return any(word in data for word in (b"service_definitions", b"terraform_binaries", b"packversion"))


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
    `documents` are the files that could be parsed, in the order of their reading: also overlays and bundled schemas,
    whose comments and variables count, but none of `read_content`. `variables` are the values of `${NAME}`. Faults are
    noted in `problems`.
    """

    def __init__(
        self, folder: Path, limits: Limits, unsaved: Mapping[Path, bytes], variables: Mapping[str, str] = NO_VARIABLES
    ) -> None:
        self.folder, self.problems = folder, FindingCollector()
        self._limits, self._unsaved, self._variables = limits, unsaved, variables
        self._root = folder.resolve()
        self._read: dict[Path, ParsedText | None] = {}
        self.documents: list[ParsedText] = []

    @property
    def notes(self) -> list[Finding]:
        """The notes of the readers, without paths: those are of files, not of the catalog."""
        return [note._replace(path=()) for document in self.documents for note in document.notes]

    def read(
        self, file: Path, *, anywhere: bool = False, parse: Callable[..., ParsedText] = parse_document
    ) -> ParsedText | None:
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

    def read_settings(self) -> Document | None:
        """Read `catalog.yaml` or the like at the top of the folder; None without one, or if it has a reported problem.

        A JSON file beside one in YAML is left alone: it may be the catalog that was built of the folder.
        """
        files = [self.folder / f"catalog{suffix}" for suffix in SUFFIXES]
        files = [file for file in files if os.path.lexists(file) or self._root / file.name in self._unsaved]
        for other in files[1:]:
            if other.suffix != ".json":
                self.problems.add("folder-two-files", f"{other.as_posix()} and {files[0].name} define the same thing")
        return self.read(files[0]) if files else None

    def report_unread_files(self) -> None:
        """Add a problem for each file in services/, plans/ or the like that looks like a part and was not read."""
        for file in sorted({*self._walk()}):
            looks_like_a_part = file.suffix.lower() in LOOKALIKES and not file.name.startswith((".#", "._"))
            if looks_like_a_part and Path(os.path.realpath(file)) not in self._read:
                self.problems.add("folder-unread", f"{file.as_posix()} is not part of the catalog", hint=_PLACES)

    def _walk(self) -> Iterator[Path]:
        """The files, on disk or unsaved, in folders that are meant for parts of the catalog, none in hidden ones."""
        for top in next(os.walk(self.folder), ("", [], []))[1]:
            for folder, folders, names in os.walk(self.folder / top) if top.lower() in _TOPS else ():
                folders[:] = [name for name in folders if not name.startswith(".")]
                yield from (Path(folder, name) for name in names)
        for file in self._unsaved:
            folders = [*file.parent.relative_to(self._root).parts] if self._root in file.parents else []
            if folders and folders[0].lower() in _TOPS and not any(name.startswith(".") for name in folders):
                yield self.folder.joinpath(*folders, file.name)

    def find_files(self, *subfolders: str) -> dict[str, Path]:
        """The YAML and JSON files in a folder of the folder by stem, sorted; two of one stem are a problem."""
        found: dict[str, Path] = {}
        folder = self.folder.joinpath(*subfolders)
        names = set()
        with suppress(FileNotFoundError, NotADirectoryError):  # is_dir() of Python 3.14 is false for other errors, too
            names = {entry.name for entry in folder.iterdir()}
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
        # A FIFO, say, would be waited for. Path.exists fails for a name that is too long.
        if os.path.exists(resolved) and not resolved.is_file():  # noqa: PTH110
            fault = Message("{}: this is not a regular file", SourceName(file.as_posix()))
            raise SourceError(fault, "a source folder is made of files")
        return resolved

    def _read_bytes(self, file: Path, resolved: Path) -> bytes:
        if resolved in self._unsaved:
            return self._unsaved[resolved]
        try:
            return read_bytes(str(file), limits=self._limits)[0]
        except IsADirectoryError as error:
            message = Message("{}: cannot be opened: {}", SourceName(file.as_posix()), error.strerror)
            raise SourceError(message) from error


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


_MOST = 1_000
"""The most references in one schema, with those in their targets: targets of targets may grow exponentially."""


def bundle_schemas(tree: SourceTree, catalog: ComposedDocument) -> None:
    """Bundle every parameter schema of a composed catalog, in place: replace each reference to a file by its target.

    A reference is `FILE#/json/pointer`, relative to the file that holds it. Keys beside it replace those of the target.
    A reference of a schema to itself (`#/definitions/size`) stays, if the schema is written in a plan, or is a whole
    file. References that cannot be resolved are reported.
    """
    for service, service_path in objects_in_list(catalog.data, "services"):
        for plan, path in objects_in_list(service, "plans", service_path):
            for place, holder in parameter_holders(plan):
                _Bundle(tree, catalog, holder["parameters"]).bundle_schema((*path, "schemas", *place, "parameters"))


class _Bundle:
    """The bundling of one parameter schema. `_above` are the targets around the present reference."""

    def __init__(self, tree: SourceTree, catalog: ComposedDocument, schema: dict[str, Any]) -> None:
        self._tree, self._catalog, self._schema = tree, catalog, schema
        self._dialect = _dialect_of(schema)
        self._above: list[Origin] = []
        self._left = _MOST

    def bundle_schema(self, path: JsonPath) -> None:
        """Bundle the schema, which is at `path` of the catalog, in place."""
        self._replace_refs(self._schema, lambda inner: self._catalog.find_origin((*path, *inner)), is_whole=True)

    def _replace_refs(self, schema: dict[str, Any], origin_of: Callable[[JsonPath], Origin], *, is_whole: bool) -> None:
        """Replace the references in a schema; `origin_of` maps paths in it to files. `is_whole`: it is the bundle."""
        for found in reversed([*subschemas(schema)]):  # those beside a reference first
            reference = found.value.get("$ref")
            if not isinstance(reference, str) or (is_whole and reference.startswith("#")):
                continue
            part, place = origin_of((*found.path, "$ref"))
            target = self._resolve_reference(part, place, reference)
            if target in self._above or not self._left:
                hint = "only a schema that is a whole file may refer to itself"
                self._add_problem(part, place, f"{reference!r} leads back to itself, or to too many others", hint)
            elif target:
                is_lone = is_whole and not found.path and found.value.keys() <= {"$ref", "$schema"}
                self._replace_by_target(found.value, (part, place[:-1]), target, is_lone)

    def _replace_by_target(self, schema: dict[str, Any], origin: Origin, target: Origin, is_lone: bool) -> None:
        """Replace a schema, a reference from `origin`, by the target; `is_lone`: it becomes the bundle."""
        self._left -= 1
        file, inside = target
        copy: dict[str, Any] = self._tree.copy_with_variables(file, value_at(file.data, inside), inside)
        dialect = _dialect_of(file.data)
        for key in ("$schema", "$id", "id"):
            if not is_lone and isinstance(copy.get(key), str):
                del copy[key]
        self._dialect = self._dialect or dialect
        if is_lone and self._dialect:
            copy["$schema"] = self._dialect
        if dialect and dialect.rstrip("#") != self._dialect.rstrip("#"):
            message = f"{file.name} is written for {dialect}, the schema that refers to it is not"
            self._add_problem(file, ("$schema",), message, "give both the same $schema")
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema.clear()
        schema |= copy
        self._catalog.set_object_origin(schema, target)
        self._above.append(target)
        self._replace_refs(schema, lambda inner: (file, (*inside, *inner)), is_whole=is_lone and not inside)
        self._above.pop()
        for key, value in beside.items():
            self._catalog.put(schema, key, value, (origin[0], (*origin[1], key)))

    def _resolve_reference(self, part: Document, path: JsonPath, reference: str) -> Origin | None:
        """Target of a reference at `path` of `part`: a file of the folder, and a path in it."""
        try:
            url = urlsplit(reference)
        except ValueError:  # half of an IPv6 address
            url = urlsplit("http:")
        fragment = unquote(url.fragment)
        if url.scheme or url.netloc:
            self._add_problem(part, path, f"{reference!r} names a URL", "keep the schema in a file of the folder")
            return None
        if fragment and not fragment.startswith("/"):
            self._add_problem(part, path, f"{reference!r}: the part after # must be a JSON pointer")
            return None
        file = self._read_referenced_file(part, path, unquote(url.path)) if url.path else part
        if file is None:
            return None
        inside = resolve_pointer(file.data, fragment)
        if inside is None or not isinstance(value_at(file.data, inside), dict):
            self._add_problem(part, path, f"{reference!r} leads to no schema", f"see {file.name}")
            return None
        return file, inside

    def _read_referenced_file(self, part: Document, path: JsonPath, name: str) -> Document | None:
        if os.path.isabs(name):  # noqa: PTH117
            self._add_problem(part, path, f"{name!r} is an absolute path", "write it relative to this file")
            return None
        parent, folder = Path(os.path.realpath(part.name)).parent, self._tree.folder
        file = parent / name
        try:
            resolved = file.resolve()
            if resolved.is_relative_to(folder.resolve()):
                return self._tree.read(folder / resolved.relative_to(folder.resolve()))
            self._add_problem(part, path, f"{name!r} leads out of the source folder", "copy it into the folder")
        except (SourceError, OSError, ValueError, RuntimeError):
            hint = f"it was looked for at {(parent / text_of(name)).as_posix()}"
            self._add_problem(part, path, f"{name!r} cannot be read: no such file?", hint)
        return None

    def _add_problem(self, part: Document, path: JsonPath, message: str, hint: str = "") -> None:
        self._tree.problems.add("build-reference", message, part, path, hint)


def _dialect_of(schema: dict[str, Any]) -> str:
    """The value of `$schema`; empty if it is no text."""
    dialect = schema.get("$schema")
    return dialect if isinstance(dialect, str) else ""
