"""Plans with instances, from a list of ids or an export of a platform."""

import json
from collections.abc import Collection, Iterator
from typing import Any

from osbctl.comparison.values import shown
from osbctl.errors import ConfigError
from osbctl.files import read_bounded
from osbctl.paths import get_at
from osbctl.platforms.export import RowFields, row_name
from osbctl.sources.exports import shapes

_MAX_BYTES = 256 * 1024 * 1024
NO_INSTANCES = "none"
"""The value instead of a file if no plan has instances."""
_IF_NONE = f"if no plan has instances, use --instances {NO_INSTANCES}"


def read_used_plans(file: str) -> frozenset[str]:
    """The plan ids in `file`: lines of text (`#` starts a comment), a JSON list of ids, or an export in JSON.

    An export is any JSON with plans as a platform exports them, such as Cloud Foundry's /v3/service_plans. If it has
    service instances, too, only their plans count. `none` instead of a file means no plan. Raises ConfigError: the
    file cannot be read, has another format, or no id.
    """
    if file == NO_INSTANCES:
        return frozenset()
    try:
        data = read_bounded(file, _MAX_BYTES)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise ConfigError(f"{file}: larger than {_MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 text") from error
    is_json = text.lstrip()[:1] in ("[", "{", '"')
    found = _from_json(text, file) if is_json else frozenset(_from_lines(text, file))
    if not found:  # usually the output of a command that failed
        raise ConfigError(f"{file}: the file has no plan id", _IF_NONE)
    return found


def _from_lines(text: str, name: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        word = line.partition("#")[0].strip()
        if not word.isprintable() or len(word.split()) > 1:
            advice = "write one id on each line; a JSON list may hold ids with blanks"
            raise ConfigError(f"{name}: line {number} is not a plan id: {shown(word)}", advice)
        if word:
            yield word


def _from_json(text: str, name: str) -> frozenset[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: not valid JSON") from error
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return frozenset(value)
    return _exported(value, name)


def doubts(ids: Collection[str], plans: Collection[str], name: str, whose: str = "either catalog") -> list[str]:
    """A sentence about those of `ids` that are not ids of `plans`; none if all are. `name` is that of their file.

    `whose` is the owner of the plans. The comparison ignores an id that no plan has: it looks like one without
    instances. Raises ConfigError: no plan has any of `ids`: they may be names, or of another broker.
    """
    unknown = set(ids) - set(plans)
    if not unknown:
        return []
    if len(unknown) < len(ids):
        are = "is not a plan" if len(unknown) == 1 else "are not plans"
        return [f"{len(unknown):,} of the {len(ids):,} ids in {name} {are} of {whose}"]
    some = f"none of the {len(ids):,} ids in {name} is a" if len(ids) > 1 else f"the id in {name} is not a"
    raise ConfigError(f"{some} plan of {whose}: does it hold plan ids?", _IF_NONE)


def _exported(value: Any, name: str) -> frozenset[str]:
    found = [_plans_and_used(value, shape) for shape in shapes()]
    plans, used = max(found, key=lambda one: (len(one[1]), len(one[0])))
    if used - plans.keys() or not (plans or used):
        raise ConfigError(
            f"{name}: the file has no plan ids of the catalog",
            "export the plans, too: cf curl '/v3/service_plans?per_page=5000'; or list one id on each line",
        )
    return frozenset(plans[key] for key in used or plans)


def _plans_and_used(value: Any, shape: RowFields) -> tuple[dict[str, str], set[str]]:
    """The catalog ids of rows by their key on the platform, and the keys of plans that instances name."""
    plans: dict[str, str] = {}
    used: set[str] = set()
    todo = [value]
    while todo:
        here = todo.pop()
        if isinstance(here, list):
            todo.extend(here)
        elif isinstance(here, dict):
            todo.extend(here.values())
            catalog_id = get_at(here, shape.plan[("id",)][0])
            plan = next(filter(None, (row_name(here, places) for places in shape.instance)), "")
            if plan:
                used.add(plan)
            elif isinstance(catalog_id, str):
                plans[row_name(here, shape.key) or catalog_id] = catalog_id
    return plans, used
