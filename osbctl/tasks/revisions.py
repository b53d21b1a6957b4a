"""The catalogs of a folder, each with the same one in a revision of git."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from osbctl.errors import OsbctlError
from osbctl.findings import Location
from osbctl.paths import JsonPath
from osbctl.sources.discovery import is_below, is_catalog, is_excluded, is_own_file, may_be_catalog
from osbctl.sources.document import Document
from osbctl.sources.read_bytes import is_in_git, path_in_revision, read_bytes, run_git


class Pair(NamedTuple):
    """A catalog in a revision, and now; empty where there is none."""

    old: str
    new: str


def pair_with_revision(revision: str, sources: Sequence[str], folder: str, excluded: Sequence[str] = ()) -> list[Pair]:
    """Each of `sources` with the one at the same path in a revision, or at the path from which git sees it moved.

    Then the catalogs that are not there any more, where `folder` was searched for the sources (else it is empty), but
    those `excluded` from the search.
    """
    moved, deleted = _changed_paths(revision, folder) if folder else ({}, [])
    former = (path_in_revision(revision, moved.get(os.path.normpath(source), source)) for source in sources)
    pairs = [Pair(old if is_in_git(old) else "", source) for old, source in zip(former, sources, strict=True)]
    below = {os.path.normpath(source).replace(os.sep, "/") for source in sources}
    gone = (
        path_in_revision(revision, path)
        for path in deleted
        if not (is_excluded(path, excluded) or is_below(path, below))
    )
    return pairs + [Pair(old, "") for old in gone if _holds_catalog(old)]


def empty_catalog(name: str) -> Document:
    """A catalog without services, in the place of one that was removed."""

    def locate(paths: frozenset[JsonPath]) -> dict[JsonPath, Location]:
        return dict.fromkeys(paths, Location(name, 1, 1))

    return Document(name, {"services": []}, "json", locate)


def _changed_paths(revision: str, folder: str) -> tuple[dict[str, str], list[str]]:
    """The files below a folder that were moved since a revision (new path to old), and those that were deleted."""
    listed = run_git(
        "diff", "--no-ext-diff", "--relative", "--name-status", "-z", "-M", revision, "--", ".", folder=folder
    )
    fields = iter(os.fsdecode(listed or b"").split("\0")[:-1])
    moved, deleted = {}, []
    for status in fields:  # and behind it a path; two, if it was moved
        path = next(fields)
        here = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118
        if status.startswith(("R", "C")):
            moved[os.path.normpath(os.path.join(folder, next(fields)))] = here  # noqa: PTH118
        elif status == "D" and may_be_catalog(path) and is_own_file(path):
            deleted.append(here.replace(os.sep, "/"))
    return moved, deleted


def _holds_catalog(source: str) -> bool:
    try:
        return is_catalog(source, read_bytes(source)[0])
    except (OsbctlError, IsADirectoryError):
        return False
