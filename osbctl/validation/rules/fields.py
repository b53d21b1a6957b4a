"""Fields that are misspelt, or newer than the API version."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from osbctl.catalog import parameter_holders
from osbctl.fields import LATEST, PARTS, known, since, wanted
from osbctl.findings import Fix, Severity
from osbctl.paths import JSON_TYPES, Path
from osbctl.platforms import ApiVersion, Platform
from osbctl.rule import Category, Scope, rule
from osbctl.text import closest, semantic_version
from osbctl.validation.node import CatalogNode, Hit, Node

_FREE = ("service_metadata", "plan_metadata")
"""Objects that may hold anything: a field of another type than the one it is like is no slip."""


@cache
def _meant(kind: str, key: str) -> str:
    """The known field that an unknown one is likely a slip of; empty where there is none."""
    fields = known(kind)
    squeezed = _squeezed(key)
    for name in fields:
        if _squeezed(name) == squeezed:
            return name
    return closest(key, fields) if len(key) > 3 else ""


def _squeezed(key: str) -> str:
    return key.replace("_", "").replace("-", "").replace(" ", "").lower()


class _Unknown(NamedTuple):
    """A field that an API version does not know: the object that holds it, its path and kind, and the key."""

    holder: dict[str, Any]
    path: Path
    kind: str
    key: str


def _unknown(catalog: CatalogNode, version: ApiVersion) -> Iterator[_Unknown]:
    """Each unknown field of the catalog, and of the objects in it that the specification knows."""

    def is_odd(kind: str) -> bool:
        unknown = not known(kind, version) >= catalog.fields.get(kind, set())
        return unknown or any(map(is_odd, PARTS.get(kind, {}).values()))

    odd = frozenset(filter(is_odd, catalog.fields))
    return _unknown_in(catalog.value, "catalog", version, odd, ())


def _unknown_in(value: Any, kind: str, version: ApiVersion, odd: frozenset[str], path: Path) -> Iterator[_Unknown]:
    """The unknown fields in an object of that kind, or in a list of them; only `odd` kinds have any."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_in(item, kind, version, odd, (*path, index))
    elif isinstance(value, dict) and kind in odd:
        fields = known(kind, version)
        yield from (_Unknown(value, path, kind, key) for key in value if key not in fields)
        for key, inner in PARTS.get(kind, {}).items():
            if inner in odd and key in value:
                yield from _unknown_in(value[key], inner, version, odd, (*path, key))


def _slip(catalog: Node, field: _Unknown) -> Hit | None:
    meant = _meant(field.kind, field.key)
    if not meant or meant in field.holder:
        return None
    fits = wanted(field.kind, meant) in ("", JSON_TYPES.get(type(field.holder[field.key])))
    if field.kind in _FREE and not fits:
        return None
    hint = f"rename it to {meant}" + ("" if fits else f", and make it {wanted(field.kind, meant)}")
    path = (*field.path, field.key)
    fixes = (Fix("rename", path, meant),) if fits else ()
    several = f"fields are named {field.key!r}: did you mean {meant}?"
    return catalog.hit(f"unknown field {field.key!r}: did you mean {meant}?", path, hint, fixes, several)


@rule("field-near-miss", Severity.WARNING, Category.ADVICE)
def field_near_miss(catalog: CatalogNode) -> Iterator[Hit]:
    """An unknown field looks like a misspelt known one.

    Unknown fields are allowed, and passed over in silence: `planUpdateable: true` changes nothing. The one field
    whose correct spelling is wrong is `plan_updateable`.

    Bad: planUpdateable: true
    Good: plan_updateable: true
    Fix: renames the field, with --unsafe, where its value has the type that the known field takes.
    Source: OSB 2.14: unknown fields are allowed and ignored, so that a slip goes unnoticed
    """
    for field in _unknown(catalog, LATEST):
        if hit := _slip(catalog, field):
            yield hit


@rule("field-too-new", Severity.INFO, Category.ADVICE)
def field_too_new(catalog: CatalogNode) -> Iterator[Hit]:
    """A field is newer than the API version that is checked against.

    A platform that speaks only that version ignores it.

    Bad: maintenance_info: {version: 1.2.0}  # with --api-version 2.14
    Good: maintenance_info: {version: 1.2.0}  # with --api-version 2.15
    Source: OSB release notes: 2.14 brought *_retrievable, 2.15 plan updates and maintenance_info, 2.17 rotation
    """
    version = catalog.api_version
    if version == LATEST:
        return
    for _, path, kind, key in _unknown(catalog, version):
        if key in known(kind):
            message, hint, several = _brought(kind, key, version)
            yield catalog.hit(message, (*path, key), hint, several=several)


@cache
def _brought(kind: str, key: str, version: ApiVersion) -> tuple[str, str, str]:
    """The message, the hint, and what is said of several, of a known field that is newer than `version`."""
    came = f"came with API version {since(kind, key)}; platforms that speak {version} ignore"
    return f"{key} {came} it", f"check with --api-version {since(kind, key)}", f"fields {came} them"


@rule("maintenance-version", Severity.ERROR, Category.SPEC, Scope.PLAN, fields=("maintenance_info",))
def maintenance_version(plan: Node) -> Iterator[Hit]:
    """`maintenance_info.version` is not a Semantic Version 2.0.

    Platforms compare it to tell whether an instance can be upgraded.

    Bad: maintenance_info: {version: v1.2}
    Good: maintenance_info: {version: 1.2.0}
    Source: OSB 2.15, Maintenance Info Object: version MUST conform to Semantic Version 2.0
    """
    info = plan.child("maintenance_info")
    version = info.text("version")
    if version and not semantic_version().fullmatch(version):
        yield info.hit(f"{version[:60]!r} is not a Semantic Version", "version", "write it as MAJOR.MINOR.PATCH")


@rule("polling-duration", Severity.WARNING, Category.ADVICE, Scope.PLAN, fields=("maximum_polling_duration",))
def polling_duration(plan: Node) -> Iterator[Hit]:
    """A polling duration is zero or negative.

    No platform refuses it, and none can wait so long: an operation is given up, or the platform's own maximum counts.

    Bad: maximum_polling_duration: -1
    Good: maximum_polling_duration: 3600
    Source: OSB 2.15, Service Plan Object: maximum_polling_duration is a number of seconds; platforms take any integer
    """
    value = plan.get("maximum_polling_duration")
    if type(value) is int and value <= 0:
        message = f"plan {plan.label} gives an operation {value} seconds"
        yield plan.hit(message, "maximum_polling_duration", "write the seconds, or leave it out")


@rule("binding-schema-unused", Severity.WARNING, Category.ADVICE, Scope.SERVICE)
def binding_schema_unused(service: Node) -> Iterator[Hit]:
    """A plan has a schema for bindings, and is not bindable.

    Nobody will ever use it: likely `bindable` is meant to be true.

    Bad:
        - name: small
          free: true
          bindable: false
          schemas: {service_binding: {create: {parameters: {$schema: "http://json-schema.org/draft-04/schema#"}}}}
    Good:
        - name: small
          free: true
          bindable: true
          schemas: {service_binding: {create: {parameters: {$schema: "http://json-schema.org/draft-04/schema#"}}}}
    Source: OSB 2.14, Service Plan Object: bindable overrides that of the service offering
    """
    for plan in service.children("plans"):
        bindable = service.get("bindable") if plan.get("bindable") is None else plan.get("bindable")
        places = (place for place, _ in parameter_holders(plan.value)) if bindable is False else ()
        if ("service_binding", "create") in places:
            message = f"plan {plan.label} is not bindable, but has a schema for bindings"
            yield plan.hit(message, ("schemas", "service_binding"), "make the plan bindable, or remove the schema")


@rule("field-misplaced", Severity.WARNING, Category.ADVICE, Scope.THING)
def field_misplaced(thing: Node) -> Iterator[Hit]:
    """A field that belongs elsewhere: to plans, to the service offering, or into metadata.

    Unknown fields are passed over in silence: `free` of a service offering makes none of its plans free.

    Bad: displayName: Postgres
    Good: metadata: {displayName: Postgres}
    Source: OSB 2.14: unknown fields are allowed and ignored, so that one in a wrong place goes unnoticed
    """
    ours, theirs = ("plan", "service") if thing.path[-2] == "plans" else ("service", "plan")
    if known(ours) >= thing.value.keys():
        return
    places = ((f"{ours}_metadata", "into metadata"), (theirs, f"to the {theirs}"))
    for key in thing.value:
        where = next((where for kind, where in places if key in known(kind)), "")
        if where and key not in known(ours):
            several = f"{ours}s have {key!r}, which belongs {where}"
            yield thing.hit(f"{key!r} of {thing.label} belongs {where}", key, "move it there", several=several)


@rule("cloudfoundry-feature", Severity.INFO, Category.PLATFORM, Scope.SERVICE, only_for=Platform.CLOUD_FOUNDRY)
def cloudfoundry_feature(service: Node) -> Iterator[Hit]:
    """A service offering requires a feature that may be off in an installation of Cloud Foundry.

    With volume or route services off, Cloud Foundry refuses the whole catalog (ServiceBrokerCatalogIncompatible); the
    verdict takes them to be on. Reported only where Cloud Foundry is among the platforms that are checked for
    (`--platform cloudfoundry`), or the rule is selected.

    Bad: requires: [volume_mount]
    Good: requires: [syslog_drain]
    Source: cloudfoundry/cloud_controller_ng 3bbba906, lib/services/service_brokers/v2/catalog.rb, `compatible?`
    """
    requires = service.get("requires")
    for place, needed in enumerate(requires if isinstance(requires, list) else ()):
        feature = {"route_forwarding": "route_services", "volume_mount": "volume_services"}.get(str(needed))
        if feature:
            message = f"{service.label} requires {needed}: Cloud Foundry takes the catalog only with {feature}_enabled"
            yield service.hit(message, ("requires", place), "ask its operator")
