"""The fields that the Cloud Controller checks one by one, a row a check, in its order; and the errors that it gathers.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_validation_helper.rb,
catalog_service.rb and catalog_plan.rb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.ruby import index, inspect, is_blank
from osbctl.platforms.outcome import MAX_REFUSALS, Refusal
from osbctl.text import semantic_version as semantic_version_pattern

_LONGEST_DESCRIPTION = 10_000
_INDENT = "  "


class Errors:
    """Errors of one object, then of the objects in it; `heading` is printed above both.

    What is beyond `MAX_REFUSALS` reasons is left out.
    """

    __slots__ = ("heading", "nested", "number", "own")

    def __init__(self, heading: str = "") -> None:
        self.heading = heading
        self.own: list[Refusal] = []
        self.nested: list[Errors] = []
        self.number = 0

    def add(self, rule: str, path: Path, message: str) -> None:
        """One more reason, in the platform's words."""
        if len(self.own) <= MAX_REFUSALS:
            self.own.append(Refusal(rule, path, message))

    def nest(self, errors: Errors) -> None:
        """The errors of an object inside this one, if it has any."""
        if errors and self.number <= MAX_REFUSALS:
            self.nested.append(errors)
            self.number += errors.number + len(errors.own)

    def __bool__(self) -> bool:
        return bool(self.own or self.nested)

    def refusals(self) -> Iterator[Refusal]:
        """All reasons, in the order of their lines."""
        yield from self.own
        for errors in self.nested:
            yield from errors.refusals()

    def lines(self) -> tuple[str, ...]:
        """Lines as the operator sees them; a line break in a name breaks the line."""
        return tuple(line for text in self._texts("") for line in text.split("\n"))

    def _texts(self, indent: str) -> Iterator[str]:
        for refusal in self.own:
            yield indent + refusal.message
        for errors in self.nested:
            yield indent + errors.heading
            yield from errors._texts(indent + _INDENT)


class FieldProblem(NamedTuple):
    """Problem of a value: the broken rule, and the rest of the sentence."""

    rule: str
    message: str


_MISSING = FieldProblem("cloudfoundry-required", "is required")


class FieldRow(NamedTuple):
    """A field, what the platform calls it, a check that takes its value (None: missing), and the fields inside it."""

    key: str
    label: str
    check: Callable[[Any], FieldProblem | None]
    inside: tuple[FieldRow, ...] = ()


def check_rows(rows: tuple[FieldRow, ...], value: dict[str, Any] | str, path: Path, errors: Errors) -> None:
    """Check the rows of `value`. A String where an object should be answers with what it contains."""
    for key, label, check, inside in rows:
        field = index(value, key)
        if problem := check(field):
            errors.add(problem.rule, (*path, key), f"{label} {problem.message}")
        if inside and isinstance(field, dict):
            check_rows(inside, field, (*path, key), errors)


def required_text(value: Any) -> FieldProblem | None:
    """A string with something in it."""
    if type(value) is str:
        return _MISSING if is_blank(value) else None
    return _MISSING if value is None else _must_be("a string", value)


def optional_text(value: Any) -> FieldProblem | None:
    """A string, or nothing."""
    return None if value is None or isinstance(value, str) else _must_be("a string", value)


def short_enough(value: Any) -> FieldProblem | None:
    """At most 10,000 characters; a list or an object has a length too."""
    if isinstance(value, str | list | dict) and len(value) > _LONGEST_DESCRIPTION:
        text = f"may not have more than {_LONGEST_DESCRIPTION} characters"
        return FieldProblem("cloudfoundry-description-length", text)
    return None


def required_flag(value: Any) -> FieldProblem | None:
    """A boolean."""
    return _MISSING if value is None else optional_flag(value)


def optional_flag(value: Any) -> FieldProblem | None:
    """A boolean, or nothing."""
    return None if value is None or isinstance(value, bool) else _must_be("a boolean", value)


def optional_object(value: Any) -> FieldProblem | None:
    """An object; null and false pass as well."""
    return None if isinstance(value, dict) or value is None or value is False else not_an_object(value)


def not_an_object(value: Any) -> FieldProblem:
    """Error message for a value that is not an object."""
    return _must_be("a hash", value)


def optional_integer(value: Any) -> FieldProblem | None:
    """An integer of any sign; null and false pass as well."""
    if value is None or value is False or type(value) is int:
        return None
    return _must_be("an integer", value)


def strings(value: Any) -> FieldProblem | None:
    """An array of strings; null is wrong."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return None
    return _must_be("an array of strings", value)


def check_semantic_version(value: Any) -> FieldProblem | None:
    """A Semantic Version on any line of the string, for the platform's pattern is anchored to lines."""
    if isinstance(value, str) and any(map(semantic_version_pattern().fullmatch, value.split("\n"))):
        return None
    return _must_be("a Semantic Version", value)._replace(rule="cloudfoundry-maintenance-info")


def _must_be(what: str, value: Any) -> FieldProblem:
    return FieldProblem("cloudfoundry-type", f"must be {what}, but has value {inspect(value)}")


SERVICE_ROWS = (
    FieldRow("id", "Service id", required_text),
    FieldRow("name", "Service name", required_text),
    FieldRow("description", "Service description", required_text),
    FieldRow("description", "Service description", short_enough),
    FieldRow("bindable", 'Service "bindable" field', required_flag),
    *(
        FieldRow(key, f'Service "{key}" field', optional_flag)
        for key in (
            "plan_updateable",
            "bindings_retrievable",
            "instances_retrievable",
            "allow_context_updates",
        )
    ),
)

SERVICE_OBJECT_ROWS = (
    FieldRow(
        "metadata",
        "Service metadata",
        optional_object,
        (FieldRow("shareable", "Service metadata shareable", optional_flag),),
    ),
    FieldRow(
        "dashboard_client",
        "Service dashboard client attributes",
        optional_object,
        tuple(
            FieldRow(key, f"Service dashboard client {key}", required_text) for key in ("id", "secret", "redirect_uri")
        ),
    ),
)

PLAN_ROWS = (
    FieldRow("id", "Plan id", required_text),
    FieldRow("name", "Plan name", required_text),
    FieldRow("description", "Plan description", required_text),
    FieldRow("description", "Plan description", short_enough),
    FieldRow("metadata", "Plan metadata", optional_object),
    FieldRow("free", "Plan free", optional_flag),
    FieldRow("bindable", "Plan bindable", optional_flag),
    FieldRow("plan_updateable", "Plan updateable", optional_flag),
    FieldRow("maximum_polling_duration", "Maximum polling duration", optional_integer),
    FieldRow("schemas", "Plan schemas", optional_object),
)

MAINTENANCE_INFO_ROWS = (
    FieldRow("version", "Maintenance info version", required_text),
    FieldRow("version", "Maintenance info version", check_semantic_version),
    FieldRow("description", "Maintenance info description", optional_text),
)
