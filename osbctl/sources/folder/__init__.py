"""Compose a catalog from a source folder: one file for each service, shared defaults and schemas, overlays.

    catalog.yaml                  the order of the services, defaults, further fields (optional)
    services/NAME.yaml            a service offering; its plans inside, or as files:
    services/NAME/plans/PLAN.yaml
    catalog.lock                  which id belongs to which name (written by `osbctl build`)

`${NAME}` in a string is replaced, always: what is not set and has no default is an error.
Files may be YAML or JSON. The stem of a file is its address in `catalog.yaml`; overlays address by name.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from osbctl.errors import SourceError
from osbctl.files import check_regular_file
from osbctl.redaction import redact_text
from osbctl.sources.document import Document
from osbctl.sources.folder import lock as locks
from osbctl.sources.folder.bundle import bundle_schemas
from osbctl.sources.folder.compose import Composer, Overlay
from osbctl.sources.folder.source_tree import NO_VARIABLES, SUFFIXES, SourceTree
from osbctl.sources.limits import DEFAULT_LIMITS, Limits, read_file
from osbctl.sources.read_bytes import read_git_folder
from osbctl.sources.variables import VariablesOf, no_variables

LOCK = "catalog.lock"
NOTHING_UNSAVED: Mapping[Path, bytes] = MappingProxyType({})


def read_folder(folder: str, *, variables_of: VariablesOf = no_variables, **options: Any) -> Document:
    """Read a source folder or a brokerpak, on the disk or in git; options and errors as in `compose`."""
    folder = folder.replace(os.sep, "/")
    unsaved = options.get("unsaved", NOTHING_UNSAVED)
    from osbctl.sources.folder.brokerpak import is_brokerpak, read_brokerpak  # only some folders are one

    if is_brokerpak(folder, unsaved):
        limits = options.get("limits", DEFAULT_LIMITS)
        return read_brokerpak(folder, limits=limits, unsaved=unsaved, variables=variables_of(folder))
    if ":" in folder and not Path(folder).exists():
        files = read_git_folder(folder, (*SUFFIXES, LOCK), options.get("limits", DEFAULT_LIMITS))
        if not any(name.startswith("services/") for name in files):
            message = f"{folder}: in that revision, this folder is neither a source folder nor a brokerpak"
            raise SourceError(message, f"name a file in it: {folder.removesuffix('/')}/FILE")
        options["unsaved"] = {Path(folder, name).resolve(): data for name, data in files.items()}
    return compose(folder, **options)[0]


def compose(
    folder: str,
    *,
    overlays: Sequence[str] = (),
    variables: Mapping[str, str] = NO_VARIABLES,
    accepted: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    unsaved: Mapping[Path, bytes] = NOTHING_UNSAVED,
) -> tuple[Document, locks.Lock]:
    """Compose the catalog of a source folder, with locations in its files, and the lock to write after a build.

    `overlays` are files, applied in order. `variables` are the values of `${NAME}` in strings. `accepted` names the
    services and plans (`service/plan`) whose id may differ from the lock's. `unsaved` is the content of files that are
    being edited, by resolved path. Missing ids, and ids that contradict the lock, are errors in the document's notes.
    Raises SourceError: no such folder, or a file cannot be opened; DocumentError: it does not compose.
    """
    folder = folder.replace(os.sep, "/")
    if not unsaved and not Path(folder).is_dir():
        name = redact_text(folder)
        if Path(folder).exists():
            raise SourceError(f"{name}: not a folder", "`osbctl split CATALOG FOLDER` makes one of a catalog")
        raise SourceError(f"{name}: there is no such folder", "`osbctl init` writes one to start from")
    tree = SourceTree(Path(folder), limits, unsaved, variables=variables)
    problems = tree.problems
    composer = Composer(tree)
    origins = composer.compose()
    for overlay in overlays:
        part = tree.read(Path(overlay), anywhere=True)
        if part:
            Overlay(part, composer).apply()
    problems.raise_any()
    bundle_schemas(tree, origins)
    problems.raise_any()
    tree.report_unread_files()
    problems.raise_any()
    lock, id_findings = locks.update_lock(read_lock(Path(folder), unsaved), origins.data, accepted)
    notes = [*tree.notes, *locks.find_missing_ids(origins.data), *id_findings]
    return Document(folder, origins.data, "folder", origins.locate, tuple(notes), parts=tuple(tree.documents)), lock


def read_lock(folder: Path, unsaved: Mapping[Path, bytes] = NOTHING_UNSAVED) -> locks.Lock:
    """Read the lock of a folder; an empty one without a file. Raises SourceError: unreadable; ConfigError: no lock."""
    file = folder / LOCK
    try:
        data = unsaved.get(file.resolve()) if unsaved else None
        if data is None:
            check_regular_file(file)
            data = read_file(str(file), DEFAULT_LIMITS)
        return locks.parse(data.decode("utf-8"), file.as_posix())
    except FileNotFoundError:
        return locks.Lock()
    except UnicodeDecodeError:
        raise SourceError(f"{file.as_posix()}: cannot be read: it is not UTF-8") from None
    except OSError as error:
        raise SourceError(f"{file.as_posix()}: cannot be read: {error.strerror}") from error
