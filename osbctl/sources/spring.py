"""A catalog in the configuration of Spring Cloud Open Service Broker, whose names bind in a relaxed way.

Spring binds `planUpdateable`, `plan-updateable`, `plan_updateable` and `PLANUPDATEABLE` to one property (Spring Boot
reference, Externalized Configuration, Relaxed Binding), and its broker sends it as `plan_updateable`. Keys of parameter
schemas and of other maps are taken as they are.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from osbctl.fields import PARTS, known

if TYPE_CHECKING:
    from osbctl.findings import Location
    from osbctl.paths import Path
    from osbctl.sources.document import Document

_PREFIX = "/spring/cloud/openservicebroker/catalog"


def is_spring(at: str) -> bool:
    """Whether the pointer leads into Spring's property of the catalog, written as a tree or with dots."""
    return (at + "/").replace(".", "/").startswith(_PREFIX + "/")


def bound(document: Document) -> Document:
    """`document` with the fields of a catalog under the names that Spring's broker sends them by.

    A name that stands there already is kept. Places are those of the text, under the names that stand in it.
    """
    written: dict[Path, str] = {}
    data = _bound(document.data, "catalog", (), written)

    def locate(paths: frozenset[Path]) -> dict[Path, Location]:
        whole = {path: tuple(written.get(path[:at], path[at - 1]) for at in range(1, len(path) + 1)) for path in paths}
        places = document.locator(frozenset(whole.values()))
        return {path: places[there] for path, there in whole.items()}

    # Without `text`: the names in it are others than those in `data`.
    return document._replace(data=data, locator=locate, text="") if written else document


def _bound(value: Any, kind: str, path: Path, written: dict[Path, str]) -> Any:
    if isinstance(value, list):
        return [_bound(item, kind, (*path, index), written) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        bound_to = _names(kind).get(_uniform(key)) or key
        name = key if bound_to in value else bound_to
        if name != key:
            written[*path, name] = key
        inner = PARTS.get(kind, {}).get(name)
        found[name] = _bound(item, inner, (*path, name), written) if inner else item
    return found


@cache
def _names(kind: str) -> dict[str, str]:
    return {_uniform(name): name for name in known(kind)}


def _uniform(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()
