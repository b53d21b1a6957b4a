"""Places in a value: the path of each, and another value there."""

from __future__ import annotations

import copy
from typing import Any

from osbctl.paths import Path


def paths_in(value: Any, path: Path = ()) -> list[Path]:
    """The paths of `value` and of everything in it, outer ones first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for step, item in inner for deeper in paths_in(item, (*path, step)))]


def with_value(data: Any, path: Path, value: Any) -> Any:
    """A copy of `data` with `value` at `path`."""
    data = copy.deepcopy(data)
    holder = data
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return data
