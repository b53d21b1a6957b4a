"""Report unused ignore entries, unless an unread file may need them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from osbctl.config import Config
from osbctl.files import check_regular, read_bounded
from osbctl.rule import chosen
from osbctl.tasks.rules import all_rules
from osbctl.validation.options import Selection

_MOST_FILES = 5_000
_MAX_BYTES = 1_000_000
_ENDINGS = (".yaml", ".yml", ".json")


def unmatched(config: Config, selections: Iterable[Selection]) -> Iterator[str]:
    """A sentence for each entry of `config` that silenced nothing in any of the selections that it holds for."""
    from osbctl.validation.options import IgnoreAt
    from osbctl.validation.rules import ELSEWHERE

    selections = list(selections)
    matched = {entry for selection in selections for entry in selection.matched}
    idle = {entry for selection in selections for entry in selection.unmatched()} - matched
    rules = all_rules() if idle else {}
    everywhere = (*config.ignore, *(word for entry in config.per_path for word in entry.settings.ignore))
    for word in dict.fromkeys(everywhere):
        ids = {rule for rule in chosen(word, rules) if rules[rule].category not in ELSEWHERE}
        if any(IgnoreAt(rule) in idle for rule in ids) and not any(IgnoreAt(rule) in matched for rule in ids):
            yield f"{config.place('ignore', word)} of {word} matched nothing: remove it"
    for word, service, plan in config.ignore_at:
        entries = {IgnoreAt(rule, service, plan) for rule in chosen(word, rules)}
        if entries & idle and not entries & matched:
            names = (("service", service), ("plan", plan))
            about = ", ".join(f"{kind} {name!r}" for kind, name in names if name)
            yield f"{config.place('ignore-at', plan or service or '')} of {word} for {about} matched nothing: remove it"


def holds_for_others(config: Config, sources: Iterable[str]) -> bool:
    """Return whether a file below the configuration, none of `sources`, may be a catalog that its entries are for.

    One that speaks of plans may be; too many files to look at may hold one.
    """
    read = tuple(os.path.realpath(source) + os.sep for source in sources)
    looked = 0
    for folder, folders, files in os.walk(os.path.dirname(config.origin) or os.curdir):  # noqa: PTH120
        folders[:] = [name for name in folders if not name.startswith((".", "node_modules"))]
        looked += len(files)
        if looked > _MOST_FILES:
            return True
        paths = (os.path.join(folder, name) for name in files if name.endswith(_ENDINGS))  # noqa: PTH118
        others = (path for path in paths if not (os.path.realpath(path) + os.sep).startswith(read))
        if any(map(_speaks_of_plans, others)):
            return True
    return False


def _speaks_of_plans(path: str) -> bool:
    try:
        check_regular(path)
        return b"plans" in read_bounded(path, _MAX_BYTES)
    except OSError:
        return False
