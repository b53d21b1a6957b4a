"""The configuration of a project: `osbctl.toml`, or `[tool.osbctl]` of `pyproject.toml`.

The nearest one counts, searched upwards from the folder of each source, else from the working folder; it may extend
another. Command-line options take precedence. Errors name the file and the key.
"""

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from osbctl.errors import ConfigError
from osbctl.files import parse_toml, read_bounded
from osbctl.rule import Category

NAMES = ("osbctl.toml", "pyproject.toml")

IgnoreEntry = tuple[str, str | None, str | None]
"""A rule id, and the names of the service offering and plan for which it is ignored (None: any)."""

_MAX_BYTES = 10_000_000


class Layer(NamedTuple):
    """Fields of `Config` as the file `origin` sets them: all of its keys, or an entry of `per-path`.

    `paths` are shell patterns, relative to `origin`, of the files that an entry is for; None: for all files.
    """

    origin: str
    paths: tuple[str, ...] | None
    settings: Mapping[str, Any]

    def is_for(self, file: str) -> bool:
        """Return whether the settings apply to a file."""
        if self.paths is None:
            return True
        relative = os.path.relpath(file, os.path.dirname(self.origin) or os.curdir).replace(os.sep, "/")  # noqa: PTH120
        names = [relative, f"{relative}/"] if os.path.isdir(file) else [relative]  # noqa: PTH112
        forms = [(before, f"{start}{name}") for name in names for before, start in (("", ""), ("", "./"), ("*/", "/"))]
        return any(fnmatchcase(name, before + pattern) for pattern in self.paths for before, name in forms)


class Config(NamedTuple):
    """Content of a configuration file and those that it extends; `KEYS` documents the fields.

    `origin` is its path, or empty. `layers` are the settings that the fields come from, weakest first.
    """

    origin: str = ""
    api_version: str | None = None
    platform: tuple[str, ...] = ()
    fail_on: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    ignore_at: tuple[IgnoreEntry, ...] = ()
    severity: Mapping[str, str] = MappingProxyType({})
    page: Mapping[str, str] = MappingProxyType({})
    env: str = ""
    layers: tuple[Layer, ...] = ()

    def for_file(self, file: str) -> Self:
        """The configuration of a file, with the `per-path` entries that match it."""
        return self._merge([layer for layer in self.layers if layer.is_for(file)])

    def _merge(self, layers: Iterable[Layer]) -> Self:
        """The fields as `layers` set them: what a later one sets wins, but `MERGED` add to what was there."""
        found: dict[str, Any] = {}
        for layer in layers:
            for name, value in layer.settings.items():
                before = found.get(name)
                if name in MERGED and before:
                    value = _override(before, value) if isinstance(value, dict) else (*before, *value)
                found[name] = value
        return type(self)(self.origin, **found, layers=self.layers)

    def origin_of(self, name: str, value: str) -> str:
        """The file that sets the key `name` to this value, or to one that holds it; for an error."""
        field = name.replace("-", "_")
        holders = (layer.origin for layer in reversed(self.layers) if value in _words(layer.settings.get(field)))
        return next(holders, self.origin)


MERGED = ("ignore", "ignore_at", "schema", "severity", "page")
"""Fields that add up: over the entries of `per-path`, and with those of an extended file."""


KEYS: dict[str, str] = {
    "extends": "A configuration file whose keys this one adds to, or overrides; relative to this file. It may extend "
    "another.",
    "api-version": "The version of the Open Service Broker API to check against, as --api-version.",
    "platform": "A list of the platforms that count, as --platform: their refusals are errors, and nothing is said of "
    "others.",
    "fail-on": "The minimum severity for exit code 1: error, warning, info or never.",
    "select": "A list of rules: only these are reported, as --select.",
    "ignore": "A list of rules that are not reported, as --ignore; --select takes precedence.",
    "schema": "A list of JSON Schema files of your own, as --schema; relative to the configuration file.",
    "ignore-at": "A list of tables with `rule` and `service` or `plan` (names): ignore a rule for one object.",
    "severity": "A table of rules with the severity of each: error, warning or info.",
    "env": "A file with the variables of a brokerpak's broker, as --env; relative to the configuration file.",
    "per-path": "A list of tables with `paths` (patterns, relative to the configuration file) and any of "
    "`api-version`, `platform`, `fail-on`, `select`, `ignore`, `severity` and `env` for the files "
    "they match; a source folder or brokerpak is one file, which `FOLDER` and `FOLDER/*` match. The last matching "
    "entry takes precedence; `ignore` and `severity` are merged.",
    "page": "A table with `title`, `logo` (relative to the configuration file) and `accent`, as for osbctl page.",
}
"""Every key of a configuration file with its meaning, in the order of the documentation."""


def find_config(folder: str) -> Config:
    """Find the configuration for `folder`; an empty one without a file. Raises ConfigError: unreadable or invalid."""
    current = os.path.abspath(folder)  # noqa: PTH100  # pathlib costs its import at every start
    while True:
        for name in NAMES:
            config = _load_if_present(os.path.join(current, name), ())  # noqa: PTH118
            if config is not None:
                return config
        parent = os.path.dirname(current)  # noqa: PTH120
        if parent == current:
            return Config()
        current = parent


def load_config(path: str) -> Config:
    """Load the file at `path`. Raises ConfigError: it is missing, unreadable, invalid, or not of osbctl."""
    return _load_named(path, (), "", "--config")


def _load_named(path: str, extending: tuple[str, ...], where: str, how: str) -> Config:
    """Load a file that `how` names; messages begin with `where`. `extending` as in `_load_if_present`."""
    config = _load_if_present(path, extending)
    if config is None and not os.path.lexists(path):
        raise ConfigError(f"{where}{path}: there is no such file", f"name an osbctl.toml with {how}")
    if config is None:
        raise ConfigError(f"{where}{path}: it has no configuration of osbctl", f"give an osbctl.toml with {how}")
    return config


def _load_if_present(path: str, extending: tuple[str, ...]) -> Config | None:
    """The configuration in the file at `path`. None if it has none, as the pyproject.toml of another project.

    `extending` are the files that extend it, each by the one before.
    """
    try:
        text = read_bounded(path, _MAX_BYTES)
    except OSError as error:
        if not os.path.lexists(path):  # or its folder is not accessible
            return None
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    project = path.endswith("pyproject.toml")
    if project and b"osbctl" not in text:
        return None
    table: Any = _parse(text, path)
    if project:
        tools = table.get("tool")
        table = tools.get("osbctl") if isinstance(tools, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: osbctl must be a table", "write [tool.osbctl] above its entries")
    return _parse_config(path, table, extending)


@lru_cache(16)
def _parse(text: bytes, path: str) -> dict[str, Any]:
    """The tables of a file, which are only read: parsed once for all sources that it is for."""
    return parse_toml(text, path)


def _parse_config(origin: str, table: dict[str, Any], extending: tuple[str, ...]) -> Config:
    _check_table(origin, table, KEYS)
    page = dict(table.get("page", {}))
    _check_table(origin, page, ("title", "logo", "accent"), "page: ")
    if "logo" in page:
        page["logo"] = _path_beside(origin, page["logo"])
    settings = {
        "schema": tuple(_path_beside(origin, name) for name in table.get("schema", ())),
        "ignore_at": tuple(_parse_ignore_entry(origin, entry) for entry in table.get("ignore-at", ())),
        "page": page,
        **_parse_settings(origin, table),
    }
    base = _load_base(origin, table["extends"], extending) if "extends" in table else Config()
    entries = (_parse_per_path(origin, entry) for entry in table.get("per-path", ()))
    layers = (*base.layers, Layer(origin, None, settings), *entries)
    return Config(origin, layers=layers)._merge(layer for layer in layers if layer.paths is None)


def _load_base(origin: str, name: str, extending: tuple[str, ...]) -> Config:
    """The configuration that the file `origin` extends. Raises ConfigError: it is not there, or extends `origin`."""
    where = f"{origin}: extends: "
    if "://" in name:
        raise ConfigError(f"{where}{name}: this is an address, and nothing is fetched", "name a file of the repository")
    path = os.path.normpath(_path_beside(origin, os.path.expanduser(name)))  # noqa: PTH111
    files = (*extending, origin)
    if os.path.realpath(path) in map(os.path.realpath, files):
        raise ConfigError(f"{where}{path}: the files extend each other: {' → '.join((*files, path))}")
    return _load_named(path, files, where, "extends")


_SETTINGS = ("api-version", "platform", "fail-on", "select", "ignore", "severity", "env")
"""Keys of the whole file that an entry of `per-path` may have, too."""


def _parse_settings(origin: str, table: dict[str, Any]) -> dict[str, Any]:
    found = {key.replace("-", "_"): table[key] for key in _SETTINGS if key in table}
    if "env" in found:
        found["env"] = _path_beside(origin, found["env"])
    if "severity" in found:  # the last one wins: a rule over its group, wherever it stands
        groups = {word for word in found["severity"] if word.endswith("*") or word in [*Category]}
        found["severity"] = dict(sorted(found["severity"].items(), key=lambda entry: entry[0] not in groups))
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def _override(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables, the entries of `after` last."""
    return {**{key: value for key, value in before.items() if key not in after}, **after}


def _parse_per_path(origin: str, entry: dict[str, Any]) -> Layer:
    _check_table(origin, entry, ("paths", *_SETTINGS), "per-path: ")
    if not entry.get("paths"):
        raise ConfigError(f"{origin}: per-path: an entry has no `paths`", 'for example: paths = ["test/*"]')
    return Layer(origin, tuple(entry["paths"]), _parse_settings(origin, entry))


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


def _words(setting: Any) -> list[str]:
    """The values that a setting holds, and the keys of a table."""
    if isinstance(setting, Mapping):
        return [*setting, *setting.values()]
    if isinstance(setting, str):
        return [setting]
    return [item if isinstance(item, str) else item[0] for item in setting or ()]


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _path_beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120
