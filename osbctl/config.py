"""The configuration of a project: `osbctl.toml`, or `[tool.osbctl]` of `pyproject.toml`.

The nearest one counts, searched upwards from the folder of each source, else from the working folder. Command-line
options take precedence. Errors name the key.
"""

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from osbctl.errors import ConfigError
from osbctl.files import parse_toml, read_bounded

NAMES = ("osbctl.toml", "pyproject.toml")

IgnoreEntry = tuple[str, str | None, str | None]
"""A rule id, and the names of the service offering and plan for which it is ignored (None: any)."""

_MAX_BYTES = 10_000_000


class PerPath(NamedTuple):
    """Fields of `Config` for files that match one of `paths`: shell patterns, relative to the configuration file."""

    paths: tuple[str, ...]
    settings: Mapping[str, Any]


class Config(NamedTuple):
    """Content of a configuration file; `KEYS` documents the fields. `origin` is its path, or empty."""

    origin: str = ""
    api_version: str | None = None
    platform: tuple[str, ...] = ()
    fail_on: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    ignore_at: tuple[IgnoreEntry, ...] = ()
    severity: Mapping[str, str] = MappingProxyType({})
    per_path: tuple[PerPath, ...] = ()
    page: Mapping[str, str] = MappingProxyType({})
    env: str = ""

    def for_file(self, file: str) -> Self:
        """Apply the `per-path` entries that match a file; the last one takes precedence."""
        relative = os.path.relpath(file, os.path.dirname(self.origin) or os.curdir).replace(os.sep, "/")  # noqa: PTH120
        prefixes = ("", relative), ("", f"./{relative}"), ("*/", f"/{relative}")
        found = self
        for paths, settings in self.per_path:
            if any(fnmatchcase(name, before + pattern) for pattern in paths for before, name in prefixes):
                ignore = (*found.ignore, *settings.get("ignore", ()))
                severity = {**found.severity, **settings.get("severity", {})}
                found = found._replace(**{**settings, "ignore": ignore, "severity": severity})
        return found


KEYS: dict[str, str] = {
    "api-version": "The version of the Open Service Broker API to check against, as --api-version.",
    "platform": "A list of platforms whose refusals are errors, as --platform.",
    "fail-on": "The minimum severity for exit code 1: error, warning, info or never.",
    "select": "A list of rules: only these are reported, as --select.",
    "ignore": "A list of rules that are not reported, as --ignore; --select takes precedence.",
    "schema": "A list of JSON Schema files of your own, as --schema; relative to the configuration file.",
    "ignore-at": "A list of tables with `rule` and `service` or `plan` (names): ignore a rule for one object.",
    "severity": "A table of rules with the severity of each: error, warning or info.",
    "env": "A file with the variables of a brokerpak's broker, as --env; relative to the configuration file.",
    "per-path": "A list of tables with `paths` (patterns, relative to the configuration file) and any of "
    "`api-version`, `platform`, `fail-on`, `select`, `ignore`, `severity` and `env` for the files "
    "they match. The last matching entry takes precedence; `ignore` and `severity` are merged.",
    "page": "A table with `title`, `logo` (relative to the configuration file) and `accent`, as for osbctl page.",
}
"""Every key of a configuration file with its meaning, in the order of the documentation."""


def find_config(folder: str) -> Config:
    """Find the configuration for `folder`; an empty one without a file. Raises ConfigError: unreadable or invalid."""
    current = os.path.abspath(folder)  # noqa: PTH100  # pathlib costs its import at every start
    while True:
        for name in NAMES:
            config = _load_if_present(os.path.join(current, name))  # noqa: PTH118
            if config is not None:
                return config
        parent = os.path.dirname(current)  # noqa: PTH120
        if parent == current:
            return Config()
        current = parent


def load_config(path: str) -> Config:
    """Load the file at `path`. Raises ConfigError: it is missing, unreadable, invalid, or not of osbctl."""
    config = _load_if_present(path)
    if config is None and not os.path.lexists(path):
        raise ConfigError(f"{path}: there is no such file", "name an osbctl.toml with --config")
    if config is None:
        raise ConfigError(f"{path}: it has no configuration of osbctl", "give an osbctl.toml with --config")
    return config


def _load_if_present(path: str) -> Config | None:
    """The configuration in the file at `path`; None without one, such as in the pyproject.toml of another project."""
    try:
        text = read_bounded(path, _MAX_BYTES)
    except OSError as error:
        if not os.path.lexists(path):  # or its folder is not accessible
            return None
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    project = path.endswith("pyproject.toml")
    if project and b"osbctl" not in text:
        return None
    table: Any = parse_toml(text, path)
    if project:
        tools = table.get("tool")
        table = tools.get("osbctl") if isinstance(tools, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: osbctl must be a table", "write [tool.osbctl] above its entries")
    return _parse_config(path, table)


def _parse_config(origin: str, table: dict[str, Any]) -> Config:
    _check_table(origin, table, KEYS)
    page = dict(table.get("page", {}))
    _check_table(origin, page, ("title", "logo", "accent"), "page: ")
    if "logo" in page:
        page["logo"] = _path_beside(origin, page["logo"])
    return Config(
        origin,
        schema=tuple(_path_beside(origin, name) for name in table.get("schema", ())),
        ignore_at=tuple(_parse_ignore_entry(origin, entry) for entry in table.get("ignore-at", ())),
        per_path=tuple(_parse_per_path(origin, entry) for entry in table.get("per-path", ())),
        page=page,
        **_parse_settings(origin, table),
    )


_SETTINGS = ("api-version", "platform", "fail-on", "select", "ignore", "severity", "env")
"""Keys of the whole file that an entry of `per-path` may have, too."""


def _parse_settings(origin: str, table: dict[str, Any]) -> dict[str, Any]:
    found = {key.replace("-", "_"): table[key] for key in _SETTINGS if key in table}
    if "env" in found:
        found["env"] = _path_beside(origin, found["env"])
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def _parse_per_path(origin: str, entry: dict[str, Any]) -> PerPath:
    _check_table(origin, entry, ("paths", *_SETTINGS), "per-path: ")
    if not entry.get("paths"):
        raise ConfigError(f"{origin}: per-path: an entry has no `paths`", 'for example: paths = ["test/*"]')
    return PerPath(tuple(entry["paths"]), _parse_settings(origin, entry))


def _parse_ignore_entry(origin: str, entry: dict[str, Any]) -> IgnoreEntry:
    _check_table(origin, entry, ("plan", "reason", "rule", "service"), "ignore-at: ")
    if "rule" not in entry or not {"service", "plan"} & set(entry):
        raise ConfigError(f"{origin}: ignore-at: each needs `rule`, and `service` or `plan`")
    return entry["rule"], entry.get("service"), entry.get("plan")


def _check_table(origin: str, table: dict[str, Any], known_keys: Iterable[str], prefix: str = "") -> None:
    """Raise ConfigError for an unknown key or a value of a wrong type."""
    for key, value in table.items():
        if key not in known_keys:
            raise ConfigError(f"{origin}: {prefix}unknown key {key!r}", f"known keys: {', '.join(known_keys)}")
        expected, example, fits = _expected_type(key, value)
        if not fits:
            raise ConfigError(f"{origin}: {prefix}{key} must be {expected}", f"for example: {example}")


def _expected_type(key: str, value: Any) -> tuple[str, str, bool]:
    """Return what the value of a key must be, an example, and whether `value` is that."""
    if key in ("platform", "select", "ignore", "schema", "paths"):
        return "a list of strings", f'{key} = ["…"]', _is_list_of(str, value)
    if key in ("ignore-at", "per-path"):
        return "a list of tables", f"[[{key}]]", _is_list_of(dict, value)
    if key in ("severity", "page"):
        return "a table of strings", f"[{key}]", isinstance(value, dict) and _is_list_of(str, [*value.values()])
    return "a string", f'{key} = "…"', isinstance(value, str)


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _path_beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120
