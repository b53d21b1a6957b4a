"""The JSON Schemas applied: jsonschema-rs decides; where there is something to explain, more is loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from osbctl.errors import ConfigError
from osbctl.fields import load_schema
from osbctl.findings import Finding
from osbctl.jsonschemas.decider import decider
from osbctl.paths import Path
from osbctl.platforms import ApiVersion


def check_schema(data: dict[str, Any], api_version: ApiVersion) -> tuple[list[Finding], set[Path]]:
    """What the catalog schema of `api_version` says against `data`, and the places of errors that it leaves out."""
    if _decider(api_version)(data):
        return [], set()
    from osbctl.validation.explain import explained

    return explained(data, api_version)


@cache
def _decider(api_version: ApiVersion) -> Callable[[Any], bool]:
    return decider(load_schema(api_version))


def check_house_schema(data: dict[str, Any], schema: object, name: str) -> list[Finding]:
    """What a schema of the user's own says against `data`; `name` is what reports call it.

    Nothing is ever fetched.

    Raises:
        ConfigError: the schema is broken, cannot be applied, or refers to something outside of itself.
    """
    from osbctl.validation.house import broken, house_findings

    try:
        if reason := broken(schema):
            raise ConfigError(f"house schema {name}: {reason}")
        return house_findings(data, schema, name)
    except RecursionError as error:
        raise ConfigError(
            f"house schema {name}: its references go round in circles, or it is nested too deeply"
        ) from error
