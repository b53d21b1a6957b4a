"""The configuration of a project: `osbctl.toml`, or `[tool.osbctl]` of `pyproject.toml`.

The nearest one counts, searched upwards from the folder of each source, else from the working folder. Command-line
options take precedence. Errors name the line and the key.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from osbctl.errors import ConfigError
from osbctl.files import parse_toml, read_bounded

_Kind = tuple[Callable[[Any], bool], str, str]

NAMES = ("osbctl.toml", "pyproject.toml")

IgnoreEntry = tuple[str, str | None, str | None]
"""A rule id, and the names of the service offering and plan for which it is ignored (None: any)."""

_MAX_BYTES = 10_000_000


class PerPath(NamedTuple):
    """Settings for files that match one of `paths`: shell patterns, relative to the configuration file."""

    paths: tuple[str, ...]
    settings: Config


class Config(NamedTuple):
    """Content of a configuration file; `KEYS` documents the fields. `origin` is its path, or empty; `text` its text."""

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
    at: str = ""
    text: str = ""

    def for_file(self, file: str) -> Config:
        """Apply the `per-path` entries that match a file; the last one takes precedence."""
        from fnmatch import fnmatchcase

        inside = os.path.relpath(file, os.path.dirname(self.origin) or os.curdir).replace(os.sep, "/")  # noqa: PTH120
        ways = ("", inside), ("", f"./{inside}"), ("*/", f"/{inside}")
        found = self
        for paths, here in self.per_path:
            if any(fnmatchcase(name, before + pattern) for pattern in paths for before, name in ways):
                given = {name: value for name, value in here._asdict().items() if value}
                merged = {"ignore": (*found.ignore, *here.ignore), "severity": {**found.severity, **here.severity}}
                found = found._replace(**given | merged)
        return found

    def locate(self, key: str, value: str = "") -> str:
        """`file:line: key`, the beginning of a message; the line is that of `value` if it is found after the key."""
        import re

        # tomllib gives no locations
        lines = [*enumerate(self.text.splitlines())]
        start = next((n for n, line in lines if line.strip().startswith("[tool.osbctl")), 0)
        own_line = rf"""^\s*(\[\[?\s*(tool\.osbctl\.)?)?["']?{re.escape(key)}["']?\s*([=.\]]|$)"""
        inline = rf"""[{{,]\s*["']?{re.escape(key)}["']?\s*[=.]"""
        found = [n for name in (own_line, inline) for n, line in lines[start:] if re.search(name, line)]
        if not found:
            return f"{self.origin}: {key}"
        inside = next((n for n, line in lines[found[0] :] if value in line), found[0])
        return f"{self.origin}:{inside + 1}: {key}"


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
    "at": "A JSON pointer to the catalog in the source, as --at.",
    "per-path": "A list of tables with `paths` (patterns, relative to the configuration file) and any of "
    "`api-version`, `platform`, `fail-on`, `select`, `ignore`, `severity`, `env` and `at` for the files "
    "they match. The last matching entry takes precedence; `ignore` and `severity` are merged.",
    "page": "A table with `title`, `logo` (relative to the configuration file) and `accent`, as for osbctl page.",
}
"""Every key of a configuration file with its meaning, in the order of the documentation."""


def find_config(folder: str) -> Config:
    """Find the configuration for `folder`; an empty one without a file. Raises ConfigError: unreadable or invalid."""
    current = os.path.abspath(folder)  # noqa: PTH100  # pathlib costs its import at every start
    while True:
        for name in NAMES:
            config = _load(os.path.join(current, name), found=True)  # noqa: PTH118
            if config is not None:
                return config
        parent = os.path.dirname(current)  # noqa: PTH120
        if parent == current:
            return Config()
        current = parent


def load_config(path: str) -> Config:
    """Load the file at `path`. Raises ConfigError: it is missing, unreadable, invalid, or not of osbctl."""
    config = _load(path)
    if config is None and not os.path.lexists(path):
        raise ConfigError(f"{path}: there is no such file", "name an osbctl.toml with --config")
    if config is None:
        raise ConfigError(f"{path}: it has no configuration of osbctl", "give an osbctl.toml with --config")
    return config


def _load(path: str, *, found: bool = False) -> Config | None:
    try:
        if found and stat.S_ISFIFO(os.stat(path).st_mode):  # noqa: PTH116
            raise OSError(errno.EINVAL, "it is not a regular file")  # with --config it may be a shell's <(…)
        text = read_bounded(path, _MAX_BYTES)
    except OSError as error:
        if not os.path.lexists(path):  # or its folder is not accessible
            return None
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    return _parsed(Config(path, text=text.decode("utf-8", "replace")), text)


def _parsed(config: Config, text: bytes) -> Config | None:
    """Parse `text` into `config`; None for a pyproject.toml without osbctl."""
    project = config.origin.endswith("pyproject.toml")
    if project and b"osbctl" not in text:
        return None
    table = parse_toml(text, config.origin)
    own = table.get("tool") if project else {"osbctl": table}
    if not isinstance(own, dict) or "osbctl" not in own:
        return None
    if not isinstance(own["osbctl"], dict):
        raise ConfigError(f"{config.locate('osbctl')} must be a table", "write [tool.osbctl] above its entries")
    return _filled(config, own["osbctl"])


def _filled(config: Config, table: dict[str, Any]) -> Config:
    """Add the settings of `table` to `config`. Raises ConfigError."""
    _check(config, table, KEYS)
    page = table.get("page", {})
    _check(config, page, ("title", "logo", "accent"), "page: ")
    logo = {"logo": _beside(config.origin, page["logo"])} if "logo" in page else {}
    return config._replace(
        schema=tuple(_beside(config.origin, name) for name in table.get("schema", ())),
        ignore_at=tuple(_entry(config, entry) for entry in table.get("ignore-at", ())),
        per_path=tuple(_per_path(config, entry) for entry in table.get("per-path", ())),
        page={**page, **logo},
        **_settings(config, table),
    )


_SETTINGS = ("api-version", "platform", "fail-on", "select", "ignore", "severity", "env", "at")
"""Keys of the whole file that an entry of `per-path` may have, too."""


def _settings(config: Config, table: dict[str, Any]) -> dict[str, Any]:
    found = {key.replace("-", "_"): table[key] for key in _SETTINGS if key in table}
    if "env" in found:
        found["env"] = _beside(config.origin, found["env"])
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def _per_path(config: Config, entry: dict[str, Any]) -> PerPath:
    _check(config, entry, ("paths", *_SETTINGS), "per-path: ")
    if not entry.get("paths"):
        raise ConfigError(f"{config.locate('per-path')}: an entry has no `paths`", 'for example: paths = ["test/*"]')
    return PerPath(tuple(entry["paths"]), Config(**_settings(config, entry)))


def _entry(config: Config, entry: dict[str, Any]) -> IgnoreEntry:
    where = config.locate("ignore-at")
    if not _is_table_of_strings(entry):
        raise ConfigError(f"{where}: each must be a table of strings")
    _check(config, entry, ("plan", "reason", "rule", "service"), "ignore-at: ")
    if "rule" not in entry or not {"service", "plan"} & set(entry):
        raise ConfigError(f"{where}: each needs `rule`, and `service` or `plan`")
    return entry["rule"], entry.get("service"), entry.get("plan")


def _check(config: Config, table: dict[str, Any], known: Iterable[str], where: str = "") -> None:
    for key, value in table.items():
        if key not in known:
            line = config.locate(key).removesuffix(f" {key}")
            raise ConfigError(f"{line} {where}unknown key {key!r}", f"known keys: {', '.join(known)}")
        fits, wanted, example = _KINDS.get(key, _TEXT)
        if not fits(value):
            raise ConfigError(f"{config.locate(key)} must be {wanted}", example.format(key))


def _is_table_of_strings(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, str) for inner in value.values())


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


_TEXT = (lambda value: isinstance(value, str)), "a string", 'for example: {} = "…"'
_TEXTS = partial(_is_list_of, str), "a list of strings", 'for example: {} = ["…"]'
_TABLES = partial(_is_list_of, dict), "a list of tables", "write each as [[{}]]"
_TABLE = _is_table_of_strings, "a table of strings", "write [{}] above its entries"
_KINDS: dict[str, _Kind] = {
    **dict.fromkeys(("platform", "select", "ignore", "schema", "paths"), _TEXTS),
    **dict.fromkeys(("ignore-at", "per-path"), _TABLES),
    **dict.fromkeys(("severity", "page"), _TABLE),
}
"""Type of each key that is not a string: check, description, example."""


def _beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120
