"""Find the catalogs of a project by their content: files, source folders and brokerpaks.

The editor decides with the same evidence whether a file that is being edited is one.
"""

import errno
import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from osbctl.errors import SourceError
from osbctl.fields import known_fields
from osbctl.files import read_bounded
from osbctl.findings import DocumentError
from osbctl.sources.catalogs import has_service_offering
from osbctl.sources.document import Document, decode_utf8, is_template, parse_stream, parse_text
from osbctl.sources.folder.source_tree import LOCK, MANIFEST, SETTINGS, SUFFIXES, is_brokerpak
from osbctl.sources.read_bytes import MAX_BYTES, run_git
from osbctl.text import closest_word

_LEFT_OUT = re.compile(
    r"(?:^|/)(?:\.[^/]+|node_modules|bower_components|vendor|third_party|venv|site-packages|__pycache__)/"
)
"""Hidden folders, and folders of code that others wrote, in a path below the searched folder."""

_KEY_OF_OFFERING = re.compile(rb"""\b(?:plans|bindable)\\*["']?[ \t]*:""")
"""A key of every service offering that is finished; in a string of JSON its quotes are escaped."""

_OFFERING_BEGUN = re.compile(
    r"""(?:^[ ]*"?services"?\s*:(?:[ ]*&[\w-]+)?(?:\s|#.*$)*|"services"\s*:\s*)(?:-\s+"?\w+"?\s*:\s|\[\s*(?:\{|\Z))""",
    re.MULTILINE,
)
"""A list of services with an object in it, in a text that cannot be parsed."""

_KEY = re.compile(r"""^[ -]*(\w+):\s|"(\w+)"[ ]?:""", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{[^{}\n]*\}\}")
_OFFERING_FIELDS = known_fields("catalog") | known_fields("service")
_ALWAYS_IN_OFFERING = ("id", "name", "description")
_EVERY = 500
"""Files between two reports of progress."""

Progress = Callable[[int, int], object]
"""Called with the number of files that were searched, and that of all."""


class Search(NamedTuple):
    """The catalogs that were found, sorted by path, and the number of files that were searched for them.

    `closed` are folders that cannot be opened; reading one says why.
    """

    sources: tuple[str, ...]
    searched: int = 0
    closed: tuple[str, ...] = ()


def find_sources(folder: str, progress: Progress | None = None, excluded: Sequence[str] = ()) -> Search:
    """Find the catalogs in a folder; if it is a source folder or a brokerpak, that is the folder itself.

    Skips what git ignores, hidden folders, links, code of others (`node_modules`, `vendor`, virtual environments), and
    the files of a source folder or brokerpak, which is one source. `excluded` as in `excludes`. Outside of a git
    repository, nothing is ignored. Raises SourceError: the folder cannot be read.
    """
    if not os.access(folder, os.R_OK | os.X_OK):
        raise SourceError(f"{folder}: cannot be opened: {os.strerror(errno.EACCES)}")
    if is_source_folder(Path(folder)) or _is_brokerpak_folder(folder):
        return Search((folder,))
    is_excluded = excludes(excluded)
    prefix = "" if folder in (".", "./", "") else f"{folder.rstrip('/' + os.sep)}/"
    paths, closed = (
        [path for path in listed if is_own_file(path) and not is_excluded(prefix + path)]
        for listed in _list_files(folder)
    )
    environments = {path.rpartition("/")[0] for path in paths if path.endswith("/pyvenv.cfg")}
    unread = {path.removesuffix("/") for path in closed}
    whole = _find_whole_folders(prefix, paths, environments | unread)
    skipped = environments | whole
    files = [prefix + path for path in paths if may_be_catalog(path) and not is_below(path, skipped | unread)]
    found = [prefix + path for path in whole]
    found += _search_files(files, progress)
    named = sorted(prefix + path for path in unread if not is_below(path, skipped))
    return Search(tuple(sorted(found)), len(files), tuple(named))


def _search_files(files: Sequence[str], progress: Progress | None) -> Iterator[str]:
    for number, path in enumerate(files):
        if progress and number % _EVERY == 0:
            progress(number, len(files))
        if is_catalog_file(path):
            yield path


def find_source_of(file: Path) -> str | None:
    """The source folder or brokerpak that a file belongs to, at most three folders up. None if there is none."""
    for folder in list(file.parents)[:4]:
        if is_source_folder(folder) or (file.suffix in SUFFIXES and _is_brokerpak_folder(str(folder))):
            return str(folder)
    return None


def may_be_catalog(path: str) -> bool:
    """Return whether a file may hold a catalog, by its name: JSON, YAML, or without a suffix, as jobs of BOSH."""
    name = path.rpartition("/")[2]
    return name.lower().endswith(SUFFIXES) or "." not in name


def is_catalog_file(path: str) -> bool:
    """Return whether a file holds a catalog; False if there is no such file, or it is a link or too large."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return False
        data = read_bounded(path, MAX_BYTES)
    except FileNotFoundError:  # git knows files that were deleted
        return False
    except OSError:  # to be reported, if it may be one
        return path.lower().endswith(SUFFIXES)
    return is_catalog(path, data)


def is_catalog(name: str, data: bytes) -> bool:
    """Return whether the content of a file holds a catalog."""
    # Most files need no parsing, and a search for words is faster than one for a pattern.
    if not ((b"plans" in data or b"bindable" in data) and _KEY_OF_OFFERING.search(data)) and not (
        b"services" in data and (_is_named_catalog(name) or all(key.encode() in data for key in _ALWAYS_IN_OFFERING))
    ):
        return False
    try:
        text = decode_utf8(data, name)
    except DocumentError:
        return _is_named_catalog(name)
    return holds_catalog(name, text, parse_if_possible(text, name))


def parse_if_possible(text: str, name: str) -> Sequence[Document]:
    """The documents of a text. Empty if it cannot be parsed."""
    try:
        return parse_stream(text, name)
    except DocumentError:
        return ()


def holds_catalog(name: str, text: str, documents: Sequence[Document], *, typing: bool = False) -> bool:
    """Return whether a file holds a service offering, or the beginning of one.

    CI files, gateways and other catalogs have lists of services, too. Theirs have fields of their own, and neither
    `plans` nor `bindable`. `documents` are empty if the text cannot be parsed. `typing`: it is being written, so less
    is enough; otherwise a template that cannot be parsed does not count: its text is no catalog before it is rendered.
    """
    is_named = _is_named_catalog(name)
    if documents:
        if any(has_service_offering(one) and not _is_instance(one.data) for one in documents):
            return True
        return len(documents) == 1 and _is_started_catalog(documents[0].data, is_named, typing)
    if not text.strip():
        return typing and is_named
    if not typing and (is_template(text) or _PLACEHOLDER.search(text)):
        return False
    keys = {block or quoted for block, quoted in _KEY.findall(text)}
    has_fields = keys & {"plans", "bindable"} or ((typing or is_named) and keys <= _OFFERING_FIELDS)
    return bool(has_fields and _OFFERING_BEGUN.search(text))


def _is_instance(data: Any) -> bool:
    """Return whether this is the record of a service instance, in which unipipe repeats the service offering."""
    return isinstance(data, dict) and bool(data.keys() & {"serviceInstanceId", "service_instance_id"})


def _is_started_catalog(data: Any, is_named: bool, typing: bool) -> bool:
    """Return whether services without `plans` and `bindable` are a catalog that is not finished.

    Unless its name says so, or it is being typed, each needs an id, a name and a description, and all fields must be
    those of a catalog. Only a file with `catalog` in its name may be empty so far.
    """
    if isinstance(data, str):
        return typing and is_named
    if not isinstance(data, dict) or data.keys() - {"$schema"} != {"services"}:
        return False
    services = data["services"]
    if services and isinstance(services, list) and all(isinstance(service, dict) for service in services):
        wanted = () if is_named or typing else _ALWAYS_IN_OFFERING
        return all(
            service.keys() <= _OFFERING_FIELDS and all(isinstance(service.get(key), str) for key in wanted)
            for service in services
        )
    return is_named and (typing or not services)


def _is_named_catalog(name: str) -> bool:
    return "catalog" in os.path.splitext(os.path.basename(name))[0].lower()  # noqa: PTH119, PTH122  # pathlib is slow


def is_source_folder(folder: Path) -> bool:
    """Return whether a folder has services in files: with a lock or settings beside them, or as parts of a catalog.

    A `catalog.yaml` that is a whole catalog is no settings.
    """
    services = folder / "services"
    if not services.is_dir():
        return False
    if (folder / LOCK).is_file():
        return True
    for suffix in SUFFIXES:
        if (settings := folder / f"catalog{suffix}").is_file():
            return _is_settings(settings)
    parts = sorted(file for file in services.iterdir() if file.suffix in SUFFIXES and file.is_file())
    return any((services / part.stem / "plans").is_dir() or _is_part(part) for part in parts[:20])


def _is_settings(file: Path) -> bool:
    """Return whether a file is meant as the settings of a source folder: empty, with their keys, or not readable."""
    data = _read_value(file)
    if not isinstance(data, dict):
        return not data
    services = data.get("services", [])
    return (
        any(key in SETTINGS or closest_word(key, SETTINGS) for key in data)
        and not isinstance(services, dict)
        and (not isinstance(services, list) or not any(isinstance(service, dict) for service in services))
    )


def _is_part(file: Path) -> bool:
    """Return whether a file is a service offering without a catalog around it."""
    data = _read_value(file)
    return isinstance(data, dict) and "name" in data and bool(data.keys() & {"plans", "bindable"})


def _read_value(file: Path) -> Any:
    """The value in a file of JSON or YAML. None if it cannot be read."""
    try:
        return parse_text(decode_utf8(read_bounded(file, MAX_BYTES), str(file)), str(file)).data
    except (OSError, DocumentError):
        return None


# The files of a folder.


def _list_files(folder: str) -> tuple[list[str], list[str]]:
    """Paths of the files below a folder, those that git would list, or all; and of folders that cannot be opened.

    They have forward slashes; a folder ends with one.
    """
    told: list[str] = []
    listed = run_git("ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=folder, told=told)
    # A folder that is ignored as a whole was named on purpose.
    if listed or (listed is not None and run_git("check-ignore", "--quiet", ".", folder=folder) is None):
        closed = re.findall(r"could not open directory '(.*/)': ", "".join(told))  # below the top of the clone
        top = os.fsdecode(run_git("rev-parse", "--show-prefix", folder=folder) or b"")[:-1] if closed else ""
        files = dict.fromkeys(os.fsdecode(listed).split("\0")[:-1])  # conflicts stand there three times
        return [*files], [path.removeprefix(top) for path in closed if path.startswith(top)]
    closed = []
    return list(_walk(folder, closed.append)), closed


def _walk(folder: str, report_closed: Callable[[str], object]) -> Iterator[str]:
    def report(error: OSError) -> None:
        report_closed(f"{os.path.relpath(error.filename, folder)}/".replace(os.sep, "/"))

    for place, folders, names in os.walk(folder, onerror=report):
        folders[:] = [name for name in folders if not _LEFT_OUT.search(f"{name}/")]
        below = os.path.relpath(place, folder).replace(os.sep, "/")
        yield from names if below == "." else (f"{below}/{name}" for name in names)


def _find_whole_folders(prefix: str, paths: Collection[str], skipped: Collection[str]) -> set[str]:
    """The source folders and brokerpaks, but those below `skipped` folders or another one."""
    settings = {f"catalog{suffix}" for suffix in SUFFIXES}
    heads = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in {MANIFEST, LOCK, *settings}}
    heads |= {path.partition("/services/")[0] for path in paths if "/services/" in path and may_be_catalog(path)}
    found: set[str] = set()
    for head in sorted(heads - {""}):
        if is_below(f"{head}/", {*skipped, *found}):
            continue
        if is_source_folder(Path(prefix + head)) or _is_brokerpak_folder(prefix + head):
            found.add(head)
    return found


def _is_brokerpak_folder(folder: str) -> bool:
    return os.path.isfile(f"{folder}/{MANIFEST}") and is_brokerpak(folder)  # noqa: PTH113


def is_own_file(path: str) -> bool:
    """Return whether a path is in no hidden folder, nor in one of code that others wrote."""
    return not _LEFT_OUT.search(path)


def excludes(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A function that says whether a path, or a folder that it is in, matches one of `patterns`.

    They are shell patterns of whole paths, from the working folder or from the root, whichever way the path is written.
    """
    spelled: defaultdict[bool, list[str]] = defaultdict(list)
    for pattern in patterns:
        is_absolute = os.path.isabs(pattern)  # noqa: PTH117
        spelled[is_absolute].append(_spell(pattern, is_absolute))

    def is_excluded(path: str) -> bool:
        for is_absolute, wanted in spelled.items():
            head = _spell(path, is_absolute)
            while head:
                if any(fnmatchcase(head, pattern) for pattern in wanted):
                    return True
                head = head.rpartition("/")[0]
        return False

    return is_excluded


def _spell(path: str, is_absolute: bool) -> str:
    """A path from the root, without links, or from the working folder; with forward slashes."""
    with suppress(ValueError):  # it is empty, or on another drive of Windows
        path = os.path.realpath(path) if is_absolute else os.path.relpath(path)
    return path.replace(os.sep, "/")


def is_below(path: str, folders: Collection[str]) -> bool:
    """Return whether a path with forward slashes is in one of `folders`."""
    head = path
    while folders and (head := head.rpartition("/")[0]):
        if head in folders:
            return True
    return False
