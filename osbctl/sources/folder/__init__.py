"""Compose a catalog from a source folder: one file for each service, shared defaults and schemas, overlays.

    catalog.yaml                  the order of the services, defaults, further fields (optional)
    services/NAME.yaml            a service offering; its plans inside, or as files:
    services/NAME/plans/PLAN.yaml
    catalog.lock                  which id belongs to which name (written by `osbctl build`)

`${NAME}` in a string is replaced, always: what is not set and has no default is an error.
Files may be YAML or JSON. The stem of a file is its address in `catalog.yaml`; overlays address by name.
"""

import os
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from osbctl.catalog import objects_in_list
from osbctl.errors import SourceError
from osbctl.fields import known_fields
from osbctl.files import check_regular_file
from osbctl.findings import Finding
from osbctl.paths import JsonPath
from osbctl.sources.document import ComposedDocument, Document, Origin
from osbctl.sources.folder import lock as locks
from osbctl.sources.folder.source_tree import (
    LOCK,
    LOOKALIKES,
    NO_VARIABLES,
    SETTINGS,
    SourceTree,
    bundle_schemas,
    is_brokerpak,
)
from osbctl.sources.read_bytes import DEFAULT_LIMITS, Limits, read_file, read_git_folder
from osbctl.sources.variables import Variables
from osbctl.text import closest_word, did_you_mean

_NO_SETTINGS = Document("", {}, "folder")
"""The settings of a folder without catalog.yaml."""


class Composer:
    """The composition of one folder. Faults are noted in `tree.problems`."""

    catalog: ComposedDocument

    def __init__(self, tree: SourceTree) -> None:
        self._tree, self.problem = tree, tree.problems.add
        self._settings = tree.read_settings() or _NO_SETTINGS
        self._defaults: dict[str, Any] = {}

    def compose(self, name: str) -> ComposedDocument:
        """Compose the catalog, with the origins of its values; `name` is its name in reports."""
        self._load_settings()
        found = self._read_services()
        if not found and self._settings.data.get("services") != []:
            folder = self._tree.folder
            what = f"no service under {(folder / 'services').as_posix()}"
            hint = "`osbctl init` writes a folder to start from, `osbctl new service NAME` adds a service"
            self.problem("folder-without-services", f"{folder.as_posix()}: {what}", hint=hint)
            self._tree.report_unread_files()
            self._tree.problems.raise_any()
        top = self._settings if self._settings is not _NO_SETTINGS else next(iter(found.values()))
        self.catalog = ComposedDocument(name, {}, "folder", (top, ()))
        self.catalog.data["services"] = [self._compose_service(stem, part) for stem, part in found.items()]
        further = self._settings.data.get("fields", {})
        if not isinstance(further, dict) or "services" in further:
            self.problem("folder-settings", "fields must be a mapping without `services`", self._settings, ("fields",))
            return self.catalog
        for key, value in further.items():
            path = ("fields", key)
            self.catalog.put(self.catalog.data, key, self.copy(self._settings, value, path), (self._settings, path))
        return self.catalog

    def copy(self, part: Document, value: Any, path: JsonPath = ()) -> Any:
        """Copy a value of `part`, with references replaced; remember the origin of an object."""
        taken = self._tree.copy_with_variables(part, value, path)
        if isinstance(taken, dict):
            self.catalog.set_object_origin(taken, (part, path))
        return taken

    def _load_settings(self) -> None:
        """Check the keys of catalog.yaml, and keep its defaults."""
        settings = self._settings
        for key in settings.data:
            if key not in SETTINGS:
                hint = f"known: {', '.join(SETTINGS)}"
                self.problem("folder-settings", f"unknown key {key!r}", settings, (key,), hint)
        defaults = settings.data.get("defaults", {})
        if not isinstance(defaults, dict):
            self.problem("folder-settings", "defaults must be a mapping", settings, ("defaults",))
            return
        for kind, value in defaults.items():
            if kind in ("service", "plan") and isinstance(value, dict):
                self._defaults[kind] = value
            else:
                text = "defaults holds `service` and `plan`, each a mapping"
                self.problem("folder-settings", text, settings, ("defaults", kind))

    def _read_services(self) -> dict[str, Document]:
        files = self._tree.find_files("services")
        order = self._settings.data.get("services")
        path = ("services",)
        if order is None:
            order = list(files)
        elif isinstance(order, list) and all(isinstance(stem, str) for stem in order):
            order = self._resolve_order(order, files, self._settings, path)
        else:
            message, hint = "services must be a list of file names without suffix", ""
            if isinstance(order, list) and all(isinstance(service, dict) for service in order):
                file = shlex.quote(self._settings.name)
                message = "this file is a whole catalog, not the settings of a source folder"
                hint = f"`osbctl validate {file}`, or `osbctl split {file}`"
            self.problem("folder-settings", message, self._settings, path, hint)
            order = []
        parts = {stem: self._tree.read(files[stem]) for stem in order}
        self._tree.problems.raise_any()
        return {stem: part for stem, part in parts.items() if part}

    def _resolve_order(self, order: list[str], files: dict[str, Path], part: Document, path: JsonPath) -> list[str]:
        """The stems in the order of a list; report stems without a file, and files that are not listed."""
        stems: list[str] = []
        for index, stem in enumerate(order):
            if stem not in files:
                near = f"there are: {', '.join(files)}" if files else "there are no files yet"
                self.problem("folder-order", f"there is no file for {stem!r}", part, (*path, index), near)
            elif stem in stems:
                self.problem("folder-order", f"{stem!r} is listed twice", part, (*path, index))
            else:
                stems.append(stem)
        for stem in files:
            if stem not in stems:
                message = f"{files[stem].as_posix()} is not listed"
                self.problem("folder-order", message, part, path, f"add {stem!r} to the list")
        return stems

    def _compose_service(self, stem: str, part: Document) -> dict[str, Any]:
        plans = part.data.get("plans", [])
        service: dict[str, Any] = self.copy(part, {k: v for k, v in part.data.items() if k != "plans"})
        files = self._tree.find_files("services", stem, "plans")
        if not isinstance(plans, list):
            service["plans"] = self.copy(part, plans, ("plans",))
            if files:
                self.problem("folder-plans", "plans must be a list", part, ("plans",))
        elif files or "plans" in part.data:
            service["plans"] = self._compose_plans(part, plans, files)
        self._fill_defaults(service, self._defaults.get("service", {}), ("defaults", "service"))
        return service

    def _compose_plans(self, part: Document, plans: list[Any], files: dict[str, Path]) -> list[Any]:
        """The plans in the service's file, and those in files of their own.

        A string in the list stands for the file of that stem. Without one, the files come behind the list, by name.
        """
        stems = [plan for plan in plans if isinstance(plan, str)]
        if stems:
            self._resolve_order(stems, files, part, ("plans",))
        taken = []
        for index, plan in enumerate(plans if stems else [*plans, *files]):
            if isinstance(plan, str) and plan in files:
                file = self._tree.read(files[plan])
                made: Any = self.copy(file, file.data) if file else {}
            else:
                made = self.copy(part, plan, ("plans", index))
            if isinstance(made, dict):
                self._fill_defaults(made, self._defaults.get("plan", {}), ("defaults", "plan"))
            taken.append(made)
        return taken

    def _fill_defaults(self, value: dict[str, Any], defaults: dict[str, Any], defaults_path: JsonPath) -> None:
        """Add missing keys of `defaults` at any depth, null counts as present; `defaults_path` leads to them."""
        for key, default in defaults.items():
            here = (*defaults_path, key)
            if key not in value:
                self.catalog.put(value, key, self.copy(self._settings, default, here), (self._settings, here))
            elif isinstance(value[key], dict) and isinstance(default, dict):
                self._fill_defaults(value[key], default, here)


class Overlay:
    """One overlay file, which changes a composed catalog. It addresses services and plans by name.

    services:
      postgres:                  the service offering of that name
        metadata: {…}            JSON Merge Patch (RFC 7396): null removes, objects merge, the rest replaces
        plans:
          small: {free: false}   the plan of that name, patched the same way
          huge: null             removed
        add-plans: [{…}]         new plans, after those that stand
      redis: null                the whole service offering removed
    """

    def __init__(self, part: Document, composer: Composer) -> None:
        self._part, self._composer, self._catalog = part, composer, composer.catalog

    def apply(self) -> None:
        """Change the composed catalog in place; report names that do not exist."""
        patch = self._part.data
        for key in patch:
            if key != "services":
                self._add_problem(f"unknown key {key!r} in an overlay", (key,), "an overlay holds `services` only")
        services = patch.get("services")
        if not isinstance(services, dict) or not services:
            message = "an overlay needs `services`: a mapping from names to changes"
            self._add_problem(message, ("services",), "see osbctl build --help")
            return
        self._patch_members(self._catalog.data, "services", services, ("services",), self._patch_service)

    def _patch_service(self, service: dict[str, Any], patch: dict[str, Any], path: JsonPath) -> None:
        for key in patch.keys() - {"plans", "add-plans"} - known_fields("service"):
            if closest_word(key, ("plans", "add-plans")) or ("plan" in key.lower() and isinstance(patch[key], list)):
                hint = did_you_mean(key, ("plans", "add-plans")) or "to add plans, write add-plans"
                self._add_problem(f"unknown key {key!r} in the change to a service", (*path, key), hint)
        patch = dict(patch)
        plans, added = patch.pop("plans", {}), patch.pop("add-plans", [])
        self._apply_merge_patch(service, patch, path)
        if isinstance(plans, dict):
            if plans:
                self._patch_members(service, "plans", plans, (*path, "plans"), self._apply_merge_patch)
        else:
            hint = "to add plans, write add-plans"
            self._add_problem("plans in an overlay is a mapping from names to changes", (*path, "plans"), hint)
        self._add_plans(service, added, (*path, "add-plans"))

    def _patch_members(
        self, owner: dict[str, Any], key: str, patches: dict[str, Any], path: JsonPath, change: Any
    ) -> None:
        """Change, or remove with null, the members of a list that have the names given."""
        members = owner.get(key)
        members = members if isinstance(members, list) else []
        for name, patch in patches.items():
            named = [m for m in members if isinstance(m, dict) and m.get("name") == name]
            if not named:
                there = ", ".join(str(m.get("name")) for m in members if isinstance(m, dict))
                message = f"there is no {key.removesuffix('s')} {name!r} to change"
                self._add_problem(message, (*path, name), f"there are: {there}")
            elif patch is None:
                members = [m for m in members if m is not named[0]]
            elif isinstance(patch, dict):
                change(named[0], patch, (*path, name))
            else:
                self._add_problem(f"the change to {name!r} must be a mapping, or null to remove it", (*path, name))
        owner[key] = members

    def _add_plans(self, service: dict[str, Any], added: Any, path: JsonPath) -> None:
        if not isinstance(added, list) or not all(isinstance(plan, dict) for plan in added):
            self._add_problem("add-plans must be a list of plans", path)
            return
        if not added:
            return
        plans = service.setdefault("plans", [])
        if not isinstance(plans, list):
            self._add_problem("plans can be added to a list only, which the plans of the service are not", path)
            return
        names = {name for one in plans if isinstance(one, dict) and isinstance(name := one.get("name"), str)}
        for index, plan in enumerate(added):
            name = plan.get("name")
            if isinstance(name, str):
                if name in names:
                    self._add_problem(f"plan {name!r} already exists", (*path, index), "change it under plans")
                names.add(name)
            plans.append(self._composer.copy(self._part, plan, (*path, index)))

    def _apply_merge_patch(self, target: dict[str, Any], patch: dict[str, Any], path: JsonPath) -> None:
        """Apply the merge patch at `path` of the overlay (RFC 7396)."""
        for key, value in patch.items():
            here = (*path, key)
            if value is None:
                target.pop(key, None)
            elif isinstance(value, dict):
                if not isinstance(target.get(key), dict):
                    self._catalog.put(target, key, {}, (self._part, here))
                self._apply_merge_patch(target[key], value, here)
            else:
                self._catalog.put(target, key, self._composer.copy(self._part, value, here), (self._part, here))

    def _add_problem(self, message: str, path: JsonPath, hint: str = "") -> None:
        self._composer.problem("build-overlay", message, self._part, path, hint)


NOTHING_UNSAVED: Mapping[Path, bytes] = MappingProxyType({})


def read_folder(folder: str, *, variables_of: Callable[[str], Variables] | None = None, **options: Any) -> Document:
    """Read a source folder or a brokerpak, on the disk or in git; options and errors as in `compose`."""
    folder = folder.replace(os.sep, "/")
    unsaved = options.get("unsaved", NOTHING_UNSAVED)
    from osbctl.sources.folder.brokerpak import read_brokerpak  # only some folders are one

    if is_brokerpak(folder, unsaved):
        limits = options.get("limits", DEFAULT_LIMITS)
        variables = variables_of(folder) if variables_of else {}
        return read_brokerpak(folder, limits=limits, unsaved=unsaved, variables=variables)
    if ":" in folder and not Path(folder).exists():
        files = read_git_folder(folder, (*LOOKALIKES, LOCK), options.get("limits", DEFAULT_LIMITS))
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
        if Path(folder).exists():
            raise SourceError(f"{folder}: not a folder", "`osbctl split CATALOG FOLDER` makes one of a catalog")
        raise SourceError(f"{folder}: there is no such folder", "`osbctl init` writes one to start from")
    tree = SourceTree(Path(folder), limits, unsaved, variables=variables)
    problems = tree.problems
    composer = Composer(tree)
    document = composer.compose(folder)
    for overlay in overlays:
        part = tree.read(Path(overlay), anywhere=True)
        if part:
            Overlay(part, composer).apply()
    problems.raise_any()
    bundle_schemas(tree, document)
    problems.raise_any()
    tree.report_unread_files()
    problems.raise_any()
    lock, id_findings = locks.update_lock(read_lock(Path(folder), unsaved), document.data, accepted)
    document.notes = (*_find_notes(tree, document), *locks.find_missing_ids(document.data), *id_findings)
    document.texts = tuple(tree.documents)
    return document, lock


def _find_notes(tree: SourceTree, catalog: ComposedDocument) -> Iterator[Finding]:
    """The notes of the readers, with paths in the catalog; those of no service offering have none."""
    if not any(part.notes for part in tree.documents):
        return
    places: dict[Origin, JsonPath] = {}
    for service, path in objects_in_list(catalog.data, "services"):
        for place in [path, *(plan_path for _, plan_path in objects_in_list(service, "plans", path))]:
            places[catalog.find_origin(place)] = place
    for part in tree.documents:
        for note in part.notes:
            ends = [end for end in range(len(note.path) + 1) if (part, note.path[:end]) in places]
            end = ends[-1] if ends else 0
            path = (*places[part, note.path[:end]], *note.path[end:]) if ends else ()
            yield note._replace(path=path)


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
