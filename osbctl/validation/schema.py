"""The schema of catalogs applied: jsonschema-rs decides; where there is something to explain, more is loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from osbctl.fields import LATEST, load_schema
from osbctl.findings import Finding
from osbctl.jsonschemas.fast_validator import fast_validator
from osbctl.paths import Path
from osbctl.platforms import ApiVersion
from osbctl.validation.options import MAX_FINDINGS


def check_schema(
    data: dict[str, Any], api_version: ApiVersion, most: int = MAX_FINDINGS
) -> tuple[list[Finding], set[Path]]:
    """What the newest catalog schema says against `data`, and the places of errors that it leaves out.

    Fields that are newer than `api_version` draw warnings: some platforms ask with a newer version and read them.
    Names `most` errors, and as many warnings.
    """
    if _decider()(data):
        return [], set()
    from osbctl.validation.explain import explained

    return explained(data, api_version, most)


@cache
def _decider() -> Callable[[Any], bool]:
    return fast_validator(load_schema(LATEST))
