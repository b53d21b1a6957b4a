"""What every platform takes beyond doubt: most catalogs, known at a glance to be accepted.

A schema that is stricter than each platform, and ids and names that are there once. Of what does not meet it, nothing
is said: then the platforms are asked one by one, and look into the fields that do not meet it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from osbctl.catalog import objects
from osbctl.jsonschemas.fast_validator import fast_validator
from osbctl.paths import Path
from osbctl.platforms.golang import folded
from osbctl.platforms.outcome import OddFields

_DRAFT = "Draft4Validator"  # which takes 1.0 for no integer
_NEVER: dict[str, Any] = {"not": {}}
_FLAG = {"type": "boolean"}
_WORD = {"type": "string", "pattern": "^[!-~]([ -~]{0,61}[!-~])?$"}  # so short that ASCII is what all count alike
_TEXT = {"type": "string", "maxLength": 10_000, "pattern": "^[^\\s\\u0000][^\\u0000]*$"}
_CLIENT = ("id", "secret", "redirect_uri")
_READ = ("supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames", "supportsInstanceSharing")
"""What Service Manager reads of a plan's metadata."""


def is_usual(data: dict[str, Any]) -> bool:
    """Whether every platform surely accepts the catalog `data`, whose parameter schemas are known to be plain."""
    return _usual()(data) and _each_once(data["services"])


def odd_fields(data: dict[str, Any]) -> OddFields:
    """The fields of each service offering and plan, by its path, that some platform may not take as they stand.

    A field that it must have and has not is one, and so is an unknown one; `plans` always is. Objects with a field in
    another spelling, which Go reads into it, are left out. What parameter schemas hold is not looked at.
    """
    services = list(_objects(data, "services", ()))
    plans = [one for service, path in services for one in _objects(service, "plans", path)]
    return _part("service").odd(services) | _part("plan").odd(plans)


def _objects(holder: dict[str, Any], key: str, path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The objects in a list; none where Go reads the list in another spelling into them, field into field."""
    return objects(holder, key, path) if sum(folded(one) == key for one in holder) == 1 else iter(())


class _Part(NamedTuple):
    """Tells which fields of objects of one kind are usual: `fields` decides of a list of values."""

    fields: dict[str, Callable[[Any], bool]]
    required: frozenset[str]

    def odd(self, ones: list[tuple[dict[str, Any], Path]]) -> dict[Path, list[str]]:
        """The fields that are not usual, of each object without one in another spelling.

        Most of a catalog is usual: a field is decided for all objects at once, and for each only where one is not.
        """
        known, found = {}, {}
        for one, path in ones:
            unknown = [] if one.keys() <= self.fields.keys() else [key for key in one if key not in self.fields]
            if not unknown or self.fields.keys().isdisjoint(map(folded, unknown)):
                known[path], found[path] = one, unknown
        for key, usual in self.fields.items():
            values = [one[key] for one in known.values() if key in one]
            if (len(values) == len(known) or key not in self.required) and usual(values):
                continue
            for path, one in known.items():
                if not usual([one[key]]) if key in one else key in self.required:
                    found[path].append(key)
        return found


@cache
def _part(kind: str) -> _Part:
    schema = _plan() if kind == "plan" else _service(_NEVER)
    fields = {key: fast_validator({"items": value}, _DRAFT) for key, value in schema["properties"].items()}
    return _Part(fields, frozenset(schema["required"]))


def _each_once(services: list[dict[str, Any]]) -> bool:
    clients = [service["dashboard_client"]["id"] for service in services if "dashboard_client" in service]
    return (
        all(_once(service[key] for service in services) for key in ("id", "name"))
        and _once(plan["id"] for service in services for plan in service["plans"])
        and all(_once(plan["name"].lower() for plan in service["plans"]) for service in services)
        and _once(clients)
    )


def _once(values: Iterable[str]) -> bool:
    found = list(values)
    return len(set(found)) == len(found)


@cache
def _usual() -> Callable[[Any], bool]:
    return fast_validator(_closed(("services",), services=_list(_service(_list(_plan())))), _DRAFT)


def _service(plans: dict[str, Any]) -> dict[str, Any]:
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
        plans=plans,
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
