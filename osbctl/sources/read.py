"""Resolve a SOURCE argument (path, folder, standard input, git revision) to a `Document`."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from osbctl.errors import SourceError
from osbctl.sources.document import Document, ParsedText, decode_utf8, parse_document
from osbctl.sources.read_bytes import DEFAULT_LIMITS, Limits, read_bytes, report_name
from osbctl.text import plural

if TYPE_CHECKING:
    from osbctl.sources.variables import Variable, Variables

VariablesOf: TypeAlias = Callable[[str], "Variables"]
"""A function from a source to its variables; called only for a brokerpak."""

PROGRAMS = (".go", ".java", ".kt")
"""Suffixes of files in languages of brokers that are code."""


def read_source(
    source: str,
    *,
    limits: Limits = DEFAULT_LIMITS,
    at: str = "",
    stdin_filename: str | None = None,
    allow_nested: bool = True,
    variables_of: VariablesOf | None = None,
) -> Document:
    """Read a catalog from a path to JSON or YAML, a folder, `-` for standard input, or `REV:path` in git.

    A path that exists wins over a revision. `stdin_filename` is what reports call standard input. `at` and
    `allow_nested` say where in a larger document the catalog may be, as for `find_only_catalog`. Raises UsageError: it
    is the address of a broker, or `at` no JSON pointer; SourceError: cannot be opened; DocumentError: not one catalog.
    """
    from osbctl.sources.catalogs import parse_catalog

    if source.endswith(PROGRAMS):
        command = "osbctl fetch http://localhost:8080 --user admin -o catalog.json"
        advice = f"start the broker, and get its catalog: {command}"
        raise SourceError(f"{source}: this is a program; only its running broker knows the catalog", advice)
    try:
        # The bytes are gone before the text is parsed.
        text = decode_utf8(*read_bytes(source, limits=limits, stdin_filename=stdin_filename))
    except IsADirectoryError:
        if file := find_only_file(source):
            return read_source(file, limits=limits, at=at, allow_nested=allow_nested)
        return read_whole_folder(source, at, limits=limits, variables_of=variables_of)
    return parse_catalog(text, report_name(source, stdin_filename), limits, at=at, allow_nested=allow_nested)


def find_only_file(folder: str) -> str:
    """The only catalog in a folder. Empty for a source folder or a brokerpak. Raises SourceError: none, or several."""
    from osbctl.sources.discovery import find_sources

    if not os.path.isdir(folder):  # noqa: PTH112  # in git
        return ""
    found, searched, closed = find_sources(folder)
    if closed and not found:
        return closed[0]
    if not found and os.path.isdir(os.path.join(folder, "services")):  # noqa: PTH112, PTH118
        return ""  # its files cannot be read, and reading it as a source folder says why
    if not found:
        message = f"{report_name(folder)}: there is no catalog in this folder ({plural(searched, 'file')} searched)"
        raise SourceError(message, "name a file; `osbctl init` writes a source folder to start from")
    if len(found) > 1:
        names = ", ".join(map(report_name, found[:5])) + (", …" if len(found) > 5 else "")
        raise SourceError(f"{report_name(folder)}: there are {len(found)} catalogs here: {names}", "name one of them")
    return "" if found[0] == folder else found[0]


def read_whole_folder(folder: str, at: str, **options: Any) -> Document:
    """Read a folder as `folder.read_folder`. With `at`, `read_as` says that it is only for files."""
    from osbctl.sources.folder import read_folder

    document = read_folder(folder, **options)
    if not at:
        return document
    document.read_as = f"{document.read_as or f'{folder}: read as a folder'}; --at is for files"
    return document


def read_object(source: str) -> ParsedText:
    """Read an object; `source` as in `read_source`, but no folder. Raises SourceError, or DocumentError: no object."""
    try:
        return parse_document(*read_bytes(source))
    except IsADirectoryError:
        raise SourceError(f"{source}: this is a folder", "name a file") from None


def read_variables(source: str) -> "dict[str, Variable]":
    """The variables that a file assigns, or those for a broker's configuration in YAML; `source` as in `read_object`.

    Raises OsbctlError: it cannot be read.
    """
    from osbctl.sources.variables import parse_variables, variables_of_configuration  # most runs need none

    if source.endswith((".yml", ".yaml", ".json")):
        return variables_of_configuration(read_object(source))
    try:
        return parse_variables(decode_utf8(*read_bytes(source)), source)
    except IsADirectoryError:
        raise SourceError(f"{source}: this is a folder", "name a file of variables, such as .envrc") from None
