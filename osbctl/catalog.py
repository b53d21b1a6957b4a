"""A catalog as platforms understand it: typed, with inherited values resolved.

Tolerant of faulty catalogs, which validation reports: a value of a wrong type is skipped, and such a name is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from osbctl.messages import redact
from osbctl.paths import PARAMETER_PLACES, JsonPath, JsonValue, get_at, value_at


class ServicePlan(NamedTuple):
    """A service plan. `free`, `bindable` and `plan_updateable` are effective values (OSB, Service Plan Object).

    `unclear` names those of them that the catalog gives as something else than a boolean, and `free` if it is left
    out beside a price; they have their defaults.
    `metadata` is the display information, empty where there is none. Its `state: deprecated`, a convention of brokers,
    announces removal: `is_deprecated`. `sunset` is then the last day of promised availability (`metadata.sunset`, our
    convention), None if not given.
    `data` is the object in the document, including unknown fields; `path` is its location there. `judged` has, in the
    form of `schemas`, schemas of the requests that its broker accepts, if that judges by others than it publishes.
    """

    id: str
    name: str
    description: str
    free: bool
    bindable: bool
    plan_updateable: bool
    metadata: Mapping[str, Any]
    is_deprecated: bool
    sunset: date | None
    data: Mapping[str, Any]
    path: JsonPath
    unclear: frozenset[str] = frozenset()
    judged: Mapping[str, Any] | None = None

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """The parameter schemas by place, such as `service_instance.create`."""
        return {f"{outer}.{inner}": holder["parameters"] for (outer, inner), holder in parameter_holders(self.data)}

    @property
    def prohibited_updates(self) -> set[str]:
        """The parameters that the published schema marks with `prohibitUpdate`, a keyword of cloud-service-broker."""
        properties = get_at(self.data, ("schemas", "service_instance", "create", "parameters", "properties"))
        named = properties.items() if isinstance(properties, dict) else ()
        return {name for name, schema in named if get_at(schema, ("prohibitUpdate",)) is True}


class ServiceOffering(NamedTuple):
    """A service offering with its plans (OSB, Service Offering Object); fields as those of `ServicePlan`."""

    id: str
    name: str
    description: str
    bindable: bool
    plan_updateable: bool
    tags: tuple[str, ...]
    plans: tuple[ServicePlan, ...]
    metadata: Mapping[str, Any]
    is_deprecated: bool
    sunset: date | None
    data: Mapping[str, Any]
    path: JsonPath
    unclear: frozenset[str] = frozenset()


Identified: TypeAlias = ServiceOffering | ServicePlan
"""What has an id and a name."""


class Catalog(NamedTuple):
    """The catalog of a service broker. `data` is the object in the document, or a copy if `is_redacted`."""

    services: tuple[ServiceOffering, ...]
    data: Mapping[str, Any] = MappingProxyType({})
    is_redacted: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any] | Catalog) -> Catalog:
        """The catalog in the JSON object `data`; a `Catalog` is returned unchanged. Never fails."""
        if isinstance(data, Catalog):
            return data
        return cls(tuple(_parse_service(value, path) for value, path in objects_in_list(data, "services", ())), data)

    @property
    def redacted(self) -> Catalog:
        """The catalog for views and pages, without secrets.

        Parameter schemas are as they were: requests must be valid under them, and `parameter_table` redacts them.
        """
        if self.is_redacted:
            return self
        data: Any = redact(dict(self.data))
        for plan in self.plans:
            if "schemas" in plan.data:
                value_at(data, plan.path)["schemas"] = plan.data["schemas"]
        return Catalog.of(data)._replace(is_redacted=True)

    @property
    def plans(self) -> Iterator[ServicePlan]:
        """All plans of all service offerings, in order."""
        return (plan for service in self.services for plan in service.plans)

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of service offerings and of plans."""
        return len(self.services), sum(1 for _ in self.plans)


class LoadedCatalog(NamedTuple):
    """A validated catalog to serve: JSON in UTF-8, numbers of services and plans; `read_as` as in `Document`."""

    body: bytes
    services: int
    plans: int
    read_as: str = ""


def parse_date(value: JsonValue) -> date | None:
    """Parse a date such as `2027-03-31` (RFC 3339, full-date). None for anything else."""
    if not isinstance(value, str) or len(value) != len("2027-03-31") or value[7] != "-":  # 2027-W13-3 is another form
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _parse_service(data: Mapping[str, Any], path: JsonPath) -> ServiceOffering:
    bindable, updateable = _get_flag(data, "bindable", False), _get_flag(data, "plan_updateable", False)
    unclear = _unclear_flags(data, "bindable", "plan_updateable")
    tags, metadata = data.get("tags"), _get_object(data, "metadata")
    is_deprecated, sunset = _parse_deprecation(metadata)
    return ServiceOffering(
        id=_get_text(data, "id"),
        name=_get_text(data, "name"),
        description=_get_text(data, "description"),
        bindable=bindable,
        plan_updateable=updateable,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        plans=tuple(
            _parse_plan(value, at, bindable, updateable, unclear) for value, at in objects_in_list(data, "plans", path)
        ),
        metadata=metadata,
        is_deprecated=is_deprecated,
        sunset=sunset,
        data=data,
        path=path,
        unclear=unclear,
    )


def _parse_plan(
    data: Mapping[str, Any], path: JsonPath, bindable: bool, updateable: bool, inherited_unclear: frozenset[str]
) -> ServicePlan:
    own = _unclear_flags(data, "free", "bindable", "plan_updateable")
    metadata = _get_object(data, "metadata")
    if data.get("free") is None and has_price(metadata):  # its author may not know that it is free by default
        own |= {"free"}
    is_deprecated, sunset = _parse_deprecation(metadata)
    return ServicePlan(
        id=_get_text(data, "id"),
        name=_get_text(data, "name"),
        description=_get_text(data, "description"),
        free=_get_flag(data, "free", True),
        bindable=_get_flag(data, "bindable", bindable),
        plan_updateable=_get_flag(data, "plan_updateable", updateable),
        metadata=metadata,
        is_deprecated=is_deprecated,
        sunset=sunset,
        data=data,
        path=path,
        unclear=own.union(key for key in inherited_unclear if data.get(key) is None),
    )


def has_price(metadata: Mapping[str, Any]) -> bool:
    """Return whether a cost in the `metadata` of a plan has an amount above zero."""
    amounts = (_get_object(cost, "amount").values() for cost, _ in objects_in_list(metadata, "costs"))
    return any(isinstance(price, int | float) and price > 0 for prices in amounts for price in prices)


def parameter_holders(plan: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """The objects in a plan's `schemas` with a parameter schema, each with its entry of `PARAMETER_PLACES`."""
    schemas = _get_object(plan, "schemas")
    for place in PARAMETER_PLACES if schemas else ():
        methods = schemas.get(place[0])
        holder = methods.get(place[1]) if isinstance(methods, dict) else None
        if isinstance(holder, dict) and isinstance(holder.get("parameters"), dict):
            yield place, holder


def service_and_plan_names(path: JsonPath, data: JsonValue) -> tuple[JsonValue, JsonValue]:
    """The names of the service offering and service plan that contain `path`, of any type. None outside of one."""
    service = get_at(data, (*path[:2], "name")) if path[:1] == ("services",) else None
    plan = get_at(data, (*path[:4], "name")) if path[:1] == ("services",) and path[2:3] == ("plans",) else None
    return service, plan


def object_path(path: JsonPath) -> JsonPath:
    """The path of the plan or service offering that `path` leads into."""
    return path[:4] if path[2:3] == ("plans",) else path[:2]


def objects_in_list(
    data: Mapping[str, Any], key: str, path: JsonPath = ()
) -> Iterator[tuple[dict[str, Any], JsonPath]]:
    """The objects in the list `data[key]`, each with its path; `path` is that of `data`. Other values are skipped."""
    values = data.get(key)
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict):
            yield value, (*path, key, index)


def _get_object(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _get_text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _parse_deprecation(metadata: Mapping[str, Any]) -> tuple[bool, date | None]:
    """Whether the removal of an object is announced, and its sunset; see `ServicePlan`."""
    is_deprecated = metadata.get("state") == "deprecated"
    return is_deprecated, parse_date(metadata.get("sunset")) if is_deprecated else None


def _unclear_flags(data: Mapping[str, Any], *keys: str) -> frozenset[str]:
    """The `keys` whose values are neither booleans nor absent."""
    return frozenset(key for key in keys if not isinstance(data.get(key), bool | None))


def _get_flag(data: Mapping[str, Any], key: str, default: bool) -> bool:
    value = data.get(key)
    return value if isinstance(value, bool) else default
