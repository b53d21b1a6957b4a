"""The schema of an API version applied: jsonschema-rs decides; where there is something to explain, more is loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from osbctl.fields import load_schema
from osbctl.findings import Finding
from osbctl.jsonschemas.fast_validator import fast_validator
from osbctl.paths import Path
from osbctl.platforms import ApiVersion
from osbctl.validation.options import MAX_FINDINGS


def check_schema(
    data: dict[str, Any], api_version: ApiVersion, most: int = MAX_FINDINGS
) -> tuple[list[Finding], set[Path]]:
    """What the catalog schema of `api_version` says against `data`, and the places of errors that it leaves out.

    Names `most` errors, and as many warnings.
    """
    if _decider(api_version)(data):
        return [], set()
    from osbctl.validation.explain import explained

    return explained(data, api_version, most)


@cache
def _decider(api_version: ApiVersion) -> Callable[[Any], bool]:
    return fast_validator(load_schema(api_version))
