"""The configuration of a project: `osbctl.toml`, or `[tool.osbctl]` of `pyproject.toml`.

The closest one is taken, looking from the working folder upwards; command-line options win over it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from osbctl.errors import ConfigError
from osbctl.files import read_bounded

NAMES = ("osbctl.toml", "pyproject.toml")

IgnoreEntry = tuple[str, str | None, str | None]
"""A rule id, and the names of the service offering and plan that it is silenced for (None: any)."""

_MAX_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class Config:
    """What a configuration file says; each field is documented by the key of the same name.

    `origin` is the file it came from, empty where there is none.
    """

    origin: str = ""
    api_version: str | None = None
    platform: tuple[str, ...] = ()
    fail_on: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    ignore_at: tuple[IgnoreEntry, ...] = field(default=())
    page: dict[str, str] = field(default_factory=dict)


KEYS: dict[str, str] = {
    "api-version": "The version of the Open Service Broker API to check against, as --api-version.",
    "platform": "A list of platforms whose refusals are errors, as --platform.",
    "fail-on": "The severity from which on the exit code is 1: error, warning, info or never.",
    "select": "A list of rule ids: only these are reported, as --select.",
    "ignore": "A list of rule ids that are not reported, as --ignore; --select wins over it.",
    "schema": "A list of JSON Schema files of your own, as --schema; relative to the configuration file.",
    "ignore-at": "A list of tables with `rule` and `service` or `plan` (names): silence a rule for one object.",
    "page": "A table with `title`, `logo` (relative to the configuration file) and `accent`, as for osbctl page.",
}
"""Every key of a configuration file with its meaning, in the order of the documentation."""


def find_config(folder: str) -> Config:
    """The configuration that holds for `folder`, an empty one where there is none.

    Raises:
        ConfigError: the file is no TOML, or holds a key or a type that osbctl does not know.
    """
    current = os.path.abspath(folder)  # noqa: PTH100  # pathlib costs its import at every start
    while True:
        for name in NAMES:
            config = _load(os.path.join(current, name))  # noqa: PTH118
            if config is not None:
                return config
        parent = os.path.dirname(current)  # noqa: PTH120
        if parent == current:
            return Config()
        current = parent


def load_config(path: str) -> Config:
    """The configuration in the file at `path`, which must be there.

    Raises:
        ConfigError: there is no such file, or it says nothing of osbctl, or it is wrong.
    """
    config = _load(path)
    if config is None:
        raise ConfigError(f"{path}: no configuration of osbctl there", "name an osbctl.toml with --config")
    return config


def _load(path: str) -> Config | None:
    try:
        text = read_bounded(path, _MAX_BYTES)
    except OSError:
        return None
    ours = path.endswith("osbctl.toml")
    if not ours and b"osbctl" not in text:
        return None
    table = _parse(path, text)
    if not ours and path.endswith("pyproject.toml"):
        table = table.get("tool", {}).get("osbctl")
        if table is None:
            return None
    return _config(path, table)


def _parse(path: str, text: bytes) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def _config(path: str, table: dict[str, Any]) -> Config:
    for key in table:
        if key not in KEYS:
            raise ConfigError(f"{path}: unknown key {key!r}", f"known keys: {', '.join(KEYS)}")
    return Config(
        origin=path,
        api_version=_text(path, table, "api-version"),
        fail_on=_text(path, table, "fail-on"),
        platform=_texts(path, table, "platform"),
        select=_texts(path, table, "select"),
        ignore=_texts(path, table, "ignore"),
        schema=tuple(_beside(path, name) for name in _texts(path, table, "schema")),
        ignore_at=tuple(_entry(path, entry) for entry in _list(path, table, "ignore-at")),
        page=_page(path, table.get("page", {})),
    )


def _beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120


def _text(path: str, table: dict[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{path}: {key} must be a string", f'for example: {key} = "…"')
    return value


def _list(path: str, table: dict[str, Any], key: str) -> list[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise ConfigError(f"{path}: {key} must be a list")
    return value


def _texts(path: str, table: dict[str, Any], key: str) -> tuple[str, ...]:
    values = _list(path, table, key)
    if not all(isinstance(value, str) for value in values):
        raise ConfigError(f"{path}: {key} must be a list of strings", f'for example: {key} = ["…"]')
    return tuple(values)


def _page(path: str, table: Any) -> dict[str, str]:
    known = ("title", "logo", "accent")
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise ConfigError(f"{path}: page must be a table of strings")
    if unknown := set(table) - set(known):
        raise ConfigError(f"{path}: page: unknown key {min(unknown)!r}", f"known: {', '.join(known)}")
    return {**table, "logo": _beside(path, table["logo"])} if "logo" in table else dict(table)


def _entry(path: str, entry: Any) -> IgnoreEntry:
    known = {"rule", "service", "plan", "reason"}
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise ConfigError(f"{path}: each ignore-at must be a table of strings")
    if unknown := set(entry) - known:
        raise ConfigError(f"{path}: ignore-at: unknown key {min(unknown)!r}", f"known: {', '.join(sorted(known))}")
    if "rule" not in entry or not {"service", "plan"} & set(entry):
        raise ConfigError(f"{path}: each ignore-at needs `rule`, and `service` or `plan`")
    return entry["rule"], entry.get("service"), entry.get("plan")
