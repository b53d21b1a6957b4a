"""Plans with instances, from a list of ids or an export of a platform."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from osbctl.comparison.values import format_value
from osbctl.errors import ConfigError
from osbctl.files import read_bounded
from osbctl.paths import get_at
from osbctl.platforms.tools import RowFields, parse_row_count, row_name
from osbctl.sources.exports import export_shapes

_MAX_BYTES = 256 * 1024 * 1024
NO_INSTANCES = "none"
"""The value instead of a file if no plan has instances."""
_IF_NONE = f"if no plan has instances, use --instances {NO_INSTANCES}"
_NEXT_PAGE = (("pagination", "next"), ("metadata", "continue"), ("token",))
"""Places in a page of an export, of which one is set if another page follows."""
_TOTALS = (("pagination", "total_results"), ("num_items",))
_REMAINING = ("metadata", "remainingItemCount")
_QUERY = ("pagination", "first", "href")
"""What a page says of its list: how many rows there are on all pages, or follow; the query that it answers."""
_ROW_KEYS = (("guid",), ("id",), ("metadata", "uid"))


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
    found = _parse_json(text, file) if is_json else frozenset(_parse_lines(text, file))
    if not found:  # usually the output of a command that failed
        raise ConfigError(f"{file}: the file has no plan id", _IF_NONE)
    return found


def _parse_lines(text: str, file: str) -> Iterator[str]:
    """The plan ids of a text, one on each line. Raises ConfigError."""
    for number, line in enumerate(text.splitlines(), 1):
        word = line.partition("#")[0].strip()
        if not word.isprintable() or len(word.split()) > 1:
            advice = "write one id on each line; a JSON list may hold ids with blanks"
            raise ConfigError(f"{file}: line {number} is not a plan id: {format_value(word)}", advice)
        if word:
            yield word


def _parse_json(text: str, file: str) -> frozenset[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: not valid JSON") from error
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return frozenset(value)
    return _parse_export(value, file)


def check_plan_ids(ids: Collection[str], known: Collection[str], file: str, owner: str = "either catalog") -> list[str]:
    """A sentence about those of `ids` that are not `known`. Empty if all are. `file` lists them.

    `owner` is that of the plans. The comparison ignores an id that no plan has: it looks like one without
    instances. Raises ConfigError: no plan has any of `ids`: they may be names, or of another broker.
    """
    unknown = set(ids) - set(known)
    if not unknown:
        return []
    if len(unknown) < len(ids):
        are = "is not a plan" if len(unknown) == 1 else "are not plans"
        return [f"{len(unknown):,} of the {len(ids):,} ids in {file} {are} of {owner}"]
    some = f"none of the {len(ids):,} ids in {file} is a" if len(ids) > 1 else f"the id in {file} is not a"
    raise ConfigError(f"{some} plan of {owner}: does it hold plan ids?", _IF_NONE)


def _parse_export(value: Any, file: str) -> frozenset[str]:
    """The plan ids of an export, read as the platform that finds most; only used ones if it has instances."""
    objects = list(_objects_within(value))
    found = [_collect_plans_and_used_keys(objects, shape) for shape in export_shapes()]
    plans, used = max(found, key=lambda candidate: (len(candidate[1]), len(candidate[0])))
    if not plans and not used:
        raise ConfigError(f"{file}: the file has no plan ids of the catalog", "list one id on each line")
    if used - plans.keys():
        raise ConfigError(
            f"{file}: the file has instances, but not all of their plans",
            "export both: kubectl get serviceinstances,clusterserviceplans -A -o json; or join the answers of "
            "/v3/service_plans and /v3/service_instances with jq -s; or list one id on each line",
        )
    _check_pages(objects, file)
    return frozenset(plans[key] for key in used or plans)


def _objects_within(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in `value`, and itself if it is one."""
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, dict):
            yield node
            todo.extend(node.values())


def _collect_plans_and_used_keys(objects: list[dict[str, Any]], shape: RowFields) -> tuple[dict[str, str], set[str]]:
    """The catalog ids of rows by their key on the platform, and the keys of plans that instances name."""
    plans: dict[str, str] = {}
    used: set[str] = set()
    to_service = [place for place in shape.parent if place not in shape.key]
    for node in objects:
        catalog_id = get_at(node, shape.plan[("id",)][0])
        plan = _plan_of_instance(node, shape)
        if plan:
            used.add(plan)
        elif isinstance(catalog_id, str) and any(get_at(node, place) for place in to_service):
            plans[row_name(node, shape.key) or catalog_id] = catalog_id
    return plans, used


def _plan_of_instance(row: Any, shape: RowFields) -> str:
    """The key of the plan that a row of an instance names. Empty for other rows."""
    return next(filter(None, (row_name(row, places) for places in shape.instance)), "")


def _check_pages(objects: list[dict[str, Any]], file: str) -> None:
    """Raise ConfigError if a page of instances or of plans is missing: their plans would look unused."""
    advice = "add the other pages; per_page=5000 asks for more rows"
    for pages in _pages_by_list(objects):
        if all(any(get_at(page, place) for place in _NEXT_PAGE) for page, _ in pages):
            raise ConfigError(f"{file}: the list was cut: more pages follow", advice)
        held = {_row_key(row) for _, rows in pages for row in rows}
        total = max(_count_on_all_pages(page, rows) for page, rows in pages)
        if len(held) < total:
            raise ConfigError(f"{file}: the list was cut: it holds {len(held):,} of {total:,} rows", advice)


def _pages_by_list(objects: list[dict[str, Any]]) -> Iterable[list[tuple[dict[str, Any], list[Any]]]]:
    """The pages of each list, with their rows: of one query, or else of instances and of others."""
    lists = defaultdict(list)
    for page in objects:
        rows = page.get("resources") or page.get("items")
        if isinstance(rows, list):
            has_instances = any(_plan_of_instance(row, shape) for row in rows for shape in export_shapes())
            lists[str(get_at(page, _QUERY) or has_instances)].append((page, rows))
    return lists.values()


def _row_key(row: Any) -> object:
    """What tells a row from others, and is the same if its page comes twice."""
    return next(filter(None, (row_name(row, (place,)) for place in _ROW_KEYS)), id(row))


def _count_on_all_pages(page: dict[str, Any], rows: list[Any]) -> int:
    """How many rows the platform says that there are; Kubernetes says how many follow."""
    counts = [parse_row_count(get_at(page, place)) for place in _TOTALS]
    return max(*counts, len(rows) + parse_row_count(get_at(page, _REMAINING)))
