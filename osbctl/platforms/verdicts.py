"""Verdicts of all platforms, computed as each platform does, with a fast path for catalogs that every platform accepts.

The fast path is stricter than each platform: a schema for the catalog, one for parameter schemas, and unique ids and
names. It proves nothing about other catalogs: then each platform's own verdict is computed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any

from osbctl.catalog import parameter_holders
from osbctl.jsonschemas.dialects import fast_validator
from osbctl.platforms import Platform
from osbctl.platforms.outcome import Outcome, VerdictKind

_DRAFT = "Draft4Validator"  # which takes 1.0 for no integer
_DRAFT_04 = "http://json-schema.org/draft-04/schema"
_MAX_SIZE = 65_536
_EXPONENT = re.compile(r"\de[+-]\d")
_NEVER: dict[str, Any] = {"not": {}}
_FLAG = {"type": "boolean"}
_WORD = {"type": "string", "pattern": "^[!-~]([ -~]{0,61}[!-~])?$"}  # so short that ASCII is what all count alike
_TEXT = {"type": "string", "maxLength": 10_000, "pattern": "^[^\\s\\u0000][^\\u0000]*$"}
_CLIENT = ("id", "secret", "redirect_uri")
_READ = ("supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames", "supportsInstanceSharing")
"""Keys of a plan's metadata that Service Manager reads."""


def judge_all(data: dict[str, Any], asked: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """Verdicts of the `asked` platforms on the catalog `data`, in the order of `Platform`."""
    accepted = accepted_by_all(data)
    return {
        platform: Outcome(VerdictKind.ACCEPTS)
        if accepted and platform.record.in_accepted_by_all
        else platform.record.judge(data)
        for platform in Platform
        if platform in asked
    }


def accepted_by_all(data: dict[str, Any]) -> bool:
    """Return whether every platform surely accepts the catalog `data`."""
    return _catalog_validator()(data) and _each_once(data["services"]) and _accepted_parameters(data["services"])


def _each_once(services: list[dict[str, Any]]) -> bool:
    plans = [plan for service in services for plan in service["plans"]]
    clients = [service.get("dashboard_client", {"id": number})["id"] for number, service in enumerate(services)]
    keyed = ((services, "id"), (services, "name"), (plans, "id"))
    ids = (_once(thing[key] for thing in things) for things, key in keyed)
    return all(ids) and _once(clients) and all(map(_names_once, services))


def _names_once(service: dict[str, Any]) -> bool:
    return _once(plan["name"].lower() for plan in service["plans"])


def _once(values: Iterable[object]) -> bool:
    found = list(values)
    return len(set(found)) == len(found)


def _accepted_parameters(services: list[dict[str, Any]]) -> bool:
    """Return whether each parameter schema is small, valid draft-04. Equal schemas are checked once."""
    plans = (plan for service in services for plan in service["plans"])
    schemas = (holder["parameters"] for plan in plans for _, holder in parameter_holders(plan))
    distinct = {json.dumps(schema): schema for schema in schemas}
    return all(_is_small(text) and "$ref" not in text for text in distinct) and all(
        map(_parameters_validator(), distinct.values())
    )


def _is_small(text: str) -> bool:
    # Cloud Foundry counts six characters for each of <, > and &, and a power of ten with all its digits.
    return len(text) + 5 * sum(map(text.count, "<>&")) <= _MAX_SIZE and not _EXPONENT.search(text)


@cache
def _parameters_validator() -> Callable[[Any], bool]:
    """A check that a parameter schema is valid draft-04, and that Cloud Foundry's library certainly agrees.

    One address of the draft, no `id`, no `$schema` below the top, no empty `enum`.
    """
    nested = {"$ref": "#/definitions/nested"}
    named = {"additionalProperties": nested}
    common = {
        **dict.fromkeys(("id", "$id", "extends", "disallow", "patternProperties"), _NEVER),
        **dict.fromkeys(("definitions", "properties", "dependencies"), named),
        **dict.fromkeys(("additionalItems", "additionalProperties", "items", "allOf", "anyOf", "oneOf", "not"), nested),
        "enum": {"minItems": 1, "uniqueItems": True},
    }
    top = {
        "allOf": [{"$ref": f"{_DRAFT_04}#"}],
        "required": ["$schema"],
        "properties": {**common, "$schema": {"enum": [_DRAFT_04, f"{_DRAFT_04}#"]}},
        # A schema, or an array of them.
        "definitions": {"nested": {"items": nested, "properties": {**common, "$schema": _NEVER}}},
    }
    return fast_validator(top, _DRAFT)


@cache
def _catalog_validator() -> Callable[[Any], bool]:
    return fast_validator(_closed(("services",), services=_list(_service())), _DRAFT)


def _service() -> dict[str, Any]:
    flags = ("bindable", "plan_updateable", "instances_retrievable", "bindings_retrievable", "allow_context_updates")
    return _closed(
        ("id", "name", "description", "bindable", "plans"),
        **dict.fromkeys(("id", "name"), _WORD),
        description=_TEXT,
        **dict.fromkeys(flags, _FLAG),
        tags={"type": "array", "maxItems": 32, "items": {"type": "string", "maxLength": 64}},
        requires={"type": "array", "items": {"enum": ["syslog_drain", "route_forwarding", "volume_mount"]}},
        metadata=_open(shareable=_FLAG, documentationUrl={"type": "string"}),
        dashboard_client=_closed(_CLIENT, **dict.fromkeys(_CLIENT, _WORD)),
        plans=_list(_plan()),
    )


def _plan() -> dict[str, Any]:
    number = "(0|[1-9][0-9]{0,8})"
    parameters = _closed((), parameters=_open())
    return _closed(
        ("id", "name", "description"),
        id=_WORD,
        name={**_WORD, "not": {"enum": ["reference-instance"]}},
        description=_TEXT,
        **dict.fromkeys(("free", "bindable", "plan_updateable", "binding_rotatable"), _FLAG),
        metadata=_open(**dict.fromkeys(_READ, _NEVER)),
        maximum_polling_duration={"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
        maintenance_info=_closed(
            ("version",),
            version={"type": "string", "pattern": f"^{number}\\.{number}\\.{number}$"},
            description={"type": "string", "maxLength": 100},
        ),
        schemas=_closed(
            (),
            service_instance=_closed((), create=parameters, update=parameters),
            service_binding=_closed((), create=parameters),
        ),
    )


def _closed(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    closed = _open(**properties) | {"additionalProperties": False}
    return closed | {"required": list(required)} if required else closed


def _open(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": items}
