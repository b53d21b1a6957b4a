"""Fields that are misspelt, or newer than the API version."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from osbctl.findings import Severity
from osbctl.platforms import ApiVersion
from osbctl.rule import Category, Scope, rule
from osbctl.validation.schema import load_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from osbctl.validation.node import Hit, Node

CLOSE = 0.84
"""How alike two names must be for one to be taken for a slip of the other (difflib's ratio)."""


@cache
def _known(kind: str, version: ApiVersion) -> frozenset[str]:
    """The fields of an object, as the shipped schema of that API version has them."""
    schema = load_schema(version)
    return frozenset((schema if kind == "catalog" else schema["definitions"][kind])["properties"])


def _latest(kind: str) -> frozenset[str]:
    return _known(kind, ApiVersion.V2_17)


@cache
def _meant(kind: str, key: str) -> str:
    """The known field that an unknown one is likely a slip of; empty where there is none."""
    known = _known(kind, ApiVersion.V2_17)
    squeezed = _squeezed(key)
    for name in known:
        if _squeezed(name) == squeezed:
            return name
    if len(key) < 4:
        return ""
    from difflib import get_close_matches

    close = get_close_matches(key.lower(), known, n=1, cutoff=CLOSE)
    return close[0] if close else ""


def _squeezed(key: str) -> str:
    return key.replace("_", "").replace("-", "").replace(" ", "").lower()


_PARTS = {
    "service": {"metadata": "service_metadata", "dashboard_client": "dashboard_client"},
    "plan": {"metadata": "plan_metadata", "maintenance_info": "maintenance_info", "schemas": "schemas"},
    "schemas": {"service_instance": "service_instance_schemas", "service_binding": "service_binding_schemas"},
    "service_instance_schemas": {"create": "input_parameters", "update": "input_parameters"},
    "service_binding_schemas": {"create": "input_parameters"},
}


def _parts(node: Node, kind: str) -> Iterator[tuple[Node, str]]:
    """The object and those below it that the specification knows, each with its kind."""
    yield node, kind
    for key, inner in _PARTS.get(kind, {}).items():
        child = node.child(key)
        if child:
            yield from _parts(child, inner)


def _knows_all(value: Any, kind: str, known: Callable[[str], frozenset[str]]) -> bool:
    """Whether an object and those below it have known fields only: the usual case, told without a detour."""
    if not isinstance(value, dict):
        return True
    if not known(kind) >= value.keys():
        return False
    parts = _PARTS.get(kind, {})
    return all(_knows_all(value[key], inner, known) for key, inner in parts.items() if key in value)


def _near_misses(node: Node, kind: str) -> Iterator[Hit]:
    if _knows_all(node.value, kind, _latest):
        return
    for part, part_kind in _parts(node, kind):
        known = _known(part_kind, ApiVersion.V2_17)
        for key in part.value:
            if key not in known and (meant := _meant(part_kind, key)) and meant not in part:
                yield part.hit(f"unknown field {key!r}: did you mean {meant}?", key, f"rename it to {meant}")


@rule(
    "field-near-miss",
    severity=Severity.WARNING,
    category=Category.ADVICE,
    source="OSB 2.14: unknown fields are allowed and ignored, so that a slip goes unnoticed",
)
def field_near_miss(catalog: Node) -> Iterator[Hit]:
    """A field that nobody knows is very like one that everybody knows.

    Unknown fields are allowed, and passed over in silence: `planUpdateable: true` changes nothing. The one field
    whose correct spelling is wrong is `plan_updateable`.

    Bad::

        planUpdateable: true

    Good::

        plan_updateable: true
    """
    if not _latest("catalog") >= catalog.value.keys():
        yield from _near_misses(catalog, "catalog")
    for service in catalog.children("services"):
        yield from _near_misses(service, "service")
        for plan in service.children("plans"):
            yield from _near_misses(plan, "plan")


def _newer(node: Node, kind: str) -> Iterator[Hit]:
    version = node.api_version
    if _knows_all(node.value, kind, lambda inner: _known(inner, version)):
        return
    for part, part_kind in _parts(node, kind):
        for key in _known(part_kind, ApiVersion.V2_17) - _known(part_kind, version):
            if key in part:
                since = next(v for v in ApiVersion if key in _known(part_kind, v))
                message = f"{key} came with API version {since}; platforms that speak {version} pass it over"
                yield part.hit(message, key, f"check with --api-version {since}")


@rule(
    "field-too-new",
    severity=Severity.INFO,
    category=Category.ADVICE,
    scope=Scope.SERVICE,
    source="OSB release notes: 2.14 brought *_retrievable, 2.15 plan updates and maintenance_info, 2.17 rotation",
)
def field_too_new(service: Node) -> Iterator[Hit]:
    """A field is newer than the API version that is checked against.

    A platform that speaks only that version ignores it.

    Bad::

        maintenance_info: {version: 1.2.0}  # with --api-version 2.14

    Good::

        maintenance_info: {version: 1.2.0}  # with --api-version 2.15
    """
    yield from _newer(service, "service")
    for plan in service.children("plans"):
        yield from _newer(plan, "plan")


@rule(
    "maintenance-version",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PLAN,
    source="OSB 2.15, Maintenance Info Object: version MUST conform to Semantic Version 2.0",
)
def maintenance_version(plan: Node) -> Iterator[Hit]:
    """`maintenance_info.version` is no Semantic Version 2.0.

    Platforms compare it to tell whether an instance can be upgraded.

    Bad::

        maintenance_info: {version: v1.2}

    Good::

        maintenance_info: {version: 1.2.0}
    """
    info = plan.child("maintenance_info")
    version = info.text("version") if info else None
    if info and version and not _is_semver(version):
        yield info.hit(f"{version[:60]!r} is no Semantic Version", "version", "write it as MAJOR.MINOR.PATCH")


def _is_semver(text: str) -> bool:
    core, plus, build = text.partition("+")
    numbers, dash, pre = core.partition("-")
    parts = numbers.split(".")
    return (
        len(parts) == 3
        and all(_is_number(part) for part in parts)
        and (not plus or all(_is_word(part) for part in build.split(".")))
        and (not dash or all(_is_word(part) and not _padded(part) for part in pre.split(".")))
    )


def _is_number(part: str) -> bool:
    return part.isascii() and part.isdecimal() and not _padded(part)


def _padded(part: str) -> bool:
    return part.isdecimal() and len(part) > 1 and part[0] == "0"


def _is_word(part: str) -> bool:
    return part.isascii() and bool(part) and part.replace("-", "a").isalnum()
