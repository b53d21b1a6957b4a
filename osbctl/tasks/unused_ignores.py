"""Unused ignore entries of a configuration, unless an unread file may need them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from osbctl.config import Config
from osbctl.files import check_regular, read_bounded
from osbctl.rule import matching_rules
from osbctl.tasks.rules import all_rules
from osbctl.validation.options import IgnoreAt, Selection

_MOST_FILES = 5_000
_MAX_BYTES = 1_000_000


def unmatched(config: Config, selections: Sequence[Selection]) -> Iterator[str]:
    """A sentence for each entry of `config` that silenced nothing in any of its selections."""
    matched = {entry for selection in selections for entry in selection.matched}
    idle = {entry for selection in selections for entry in selection.unmatched()} - matched
    for name, entries in _entries(config) if idle else ():
        if entries & idle and not entries & matched:
            yield f"{name} matched nothing: remove it"


def _entries(config: Config) -> Iterator[tuple[str, set[IgnoreAt]]]:
    """Each entry of `ignore` and `ignore-at`: its place and words, and the ignored rules and objects."""
    from osbctl.validation.rules import ELSEWHERE

    rules = all_rules()
    everywhere = (*config.ignore, *(word for entry in config.per_path for word in entry.settings.ignore))
    for word in dict.fromkeys(everywhere):
        here = (rule for rule in matching_rules(word, rules) if rules[rule].category not in ELSEWHERE)
        yield f"{config.locate('ignore', word)} of {word}", set(map(IgnoreAt, here))
    yield from _entries_for_objects(config)


def _entries_for_objects(config: Config) -> Iterator[tuple[str, set[IgnoreAt]]]:
    rules = all_rules()
    for word, service, plan in config.ignore_at:
        about = ", ".join(filter(None, [service and f"service {service!r}", plan and f"plan {plan!r}"]))
        place = config.locate("ignore-at", plan or service or "")
        yield f"{place} of {word} for {about}", {IgnoreAt(rule, service, plan) for rule in matching_rules(word, rules)}


def may_concern_unread_files(config: Config, sources: Iterable[str]) -> bool:
    """Return whether a file below the configuration, none of `sources`, may be a catalog: it contains `plans`.

    True if there are too many files to read.
    """
    read = tuple(os.path.realpath(source) + os.sep for source in sources)
    seen = 0
    for folder, folders, files in os.walk(os.path.dirname(config.origin) or os.curdir):  # noqa: PTH120
        folders[:] = [name for name in folders if not name.startswith((".", "node_modules"))]
        seen += len(files)
        if seen > _MOST_FILES or any(_may_be_catalog(os.path.join(folder, name), read) for name in files):  # noqa: PTH118
            return True
    return False


def _may_be_catalog(path: str, read: tuple[str, ...]) -> bool:
    if not path.endswith((".yaml", ".yml", ".json")) or (os.path.realpath(path) + os.sep).startswith(read):
        return False
    try:
        check_regular(path)
        return b"plans" in read_bounded(path, _MAX_BYTES)
    except OSError:
        return False
