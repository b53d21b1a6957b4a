"""Ordinary catalogs, which today's platforms accept without a doubt, so that their verdicts need not be loaded.

`ordinary.json`, a JSON Schema, describes less than they accept: known fields, short names, common keywords of draft-04.
Tests hold it against the verdicts. A platform takes part with `accepts_ordinary` of its record.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from osbctl.jsonschemas.dialects import DRAFT_4, make_fast_validator

_LONGEST_SCHEMAS = 65_536 // len("\\u003c")
"""Characters of the schemas of one plan that stay within Cloud Foundry's limit even if Rails escapes each of them."""


def is_ordinary(data: dict[str, Any]) -> bool:
    """Return whether the catalog `data` is surely accepted; if not, nothing is known."""
    return _load_validator()(data) and _has_distinct_identities(data["services"]) and _has_short_schemas(data)


def _has_distinct_identities(services: list[dict[str, Any]]) -> bool:
    """Return whether all ids and names are different that must be; Cloud Foundry ignores the case of plan names."""
    lists = [[service["id"] for service in services], [service["name"] for service in services]]
    lists += [[plan["id"] for service in services for plan in service["plans"]]]
    lists += [[plan["name"].lower() for plan in service["plans"]] for service in services]
    return all(len(texts) == len(set(texts)) for texts in lists)


def _has_short_schemas(data: dict[str, Any]) -> bool:
    schemas = (plan.get("schemas") for service in data["services"] for plan in service["plans"])
    return all(len(json.dumps(each)) <= _LONGEST_SCHEMAS for each in schemas)


@cache
def _load_validator() -> Callable[[Any], bool]:
    with open(__file__.removesuffix("py") + "json", encoding="utf-8") as file:  # noqa: PTH123  # pathlib loads slowly
        return make_fast_validator(json.load(file), DRAFT_4)
