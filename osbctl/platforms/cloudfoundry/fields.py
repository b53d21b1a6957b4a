"""The fields that the Cloud Controller checks one by one, a row a check, in its order; and the errors that it gathers.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_validation_helper.rb,
catalog_service.rb and catalog_plan.rb.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from osbctl.paths import JsonPath
from osbctl.platforms.cloudfoundry.ruby import get_item, inspect, is_blank
from osbctl.platforms.outcome import MAX_REFUSALS, Refusal
from osbctl.text import semantic_version_pattern

_LONGEST_DESCRIPTION = 10_000
_INDENT = "  "


class Errors:
    """Errors of one object, then of the objects in it; `heading` is printed above both.

    Reasons beyond `MAX_REFUSALS` are omitted.
    """

    __slots__ = ("heading", "nested", "number", "own")

    def __init__(self, heading: str = "") -> None:
        self.heading = heading
        self.own: list[Refusal] = []
        self.nested: list[Errors] = []
        self.number = 0

    def add(self, rule: str, path: JsonPath, message: str, hint: str = "") -> None:
        """Add a reason, in the platform's words."""
        if len(self.own) <= MAX_REFUSALS:
            self.own.append(Refusal(rule, path, message, hint))

    def nest(self, errors: "Errors") -> None:
        """Add the errors of an object inside this one, if it has any."""
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

    def message_lines(self) -> tuple[str, ...]:
        """Lines as the operator sees them; a line break in a name breaks the line."""
        return tuple(line for text in self._indented_messages("") for line in text.split("\n"))

    def _indented_messages(self, indent: str) -> Iterator[str]:
        for refusal in self.own:
            yield indent + refusal.message
        for errors in self.nested:
            yield indent + errors.heading
            yield from errors._indented_messages(indent + _INDENT)


class FieldProblem(NamedTuple):
    """Problem of a value: the broken rule, and the rest of the sentence."""

    rule: str
    message: str


_MISSING = FieldProblem("cloudfoundry-required", "is required")


FieldCheck: TypeAlias = "Callable[[Any], FieldProblem | None]"
"""A check of a value; None is a missing one."""


class FieldRow(NamedTuple):
    """A field, its label in messages, its check, and the fields inside it."""

    key: str
    label: str
    check: FieldCheck
    inside: "tuple[FieldRow, ...]" = ()


def check_fields(rows: tuple[FieldRow, ...], value: dict[str, Any] | str, path: JsonPath, errors: Errors) -> None:
    """Check the fields of an object. A String in its place answers a lookup with what it contains."""
    for key, label, check, inside in rows:
        field = get_item(value, key)
        if problem := check(field):
            errors.add(problem.rule, (*path, key), f"{label} {problem.message}")
        if inside and isinstance(field, dict):
            check_fields(inside, field, (*path, key), errors)


def _make_type_check(expected: str, fits: Callable[[Any], bool], *, required: bool = False) -> FieldCheck:
    """Make a check that a value fits. Null passes unless it is `required`; then a blank string does not pass either."""

    def check(value: Any) -> FieldProblem | None:
        if value is None:
            return _MISSING if required else None
        if not fits(value):
            return type_problem(expected, value)
        return _MISSING if required and isinstance(value, str) and is_blank(value) else None

    return check


def type_problem(expected: str, value: Any) -> FieldProblem:
    """The problem of a value that is not an `expected` one, which is a phrase: `a string`."""
    return FieldProblem("cloudfoundry-type", f"must be {expected}, but has value {inspect(value)}")


_required_text = _make_type_check("a string", lambda value: isinstance(value, str), required=True)
_optional_text = _make_type_check("a string", lambda value: isinstance(value, str))
_required_flag = _make_type_check("a boolean", lambda value: isinstance(value, bool), required=True)
_optional_flag = _make_type_check("a boolean", lambda value: isinstance(value, bool))
# Ruby holds false for nothing, as nil.
_optional_object = _make_type_check("a hash", lambda value: isinstance(value, dict) or value is False)
_optional_integer = _make_type_check("an integer", lambda value: type(value) is int or value is False)


def check_strings(value: Any) -> FieldProblem | None:
    """Check that a value is an array of strings; null is wrong."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return None
    return type_problem("an array of strings", value)


def _check_description_length(value: Any) -> FieldProblem | None:
    if isinstance(value, str) and len(value) > _LONGEST_DESCRIPTION:
        text = f"may not have more than {_LONGEST_DESCRIPTION} characters"
        return FieldProblem("cloudfoundry-description-length", text)
    return None


def _check_semantic_version(value: Any) -> FieldProblem | None:
    """Check for a Semantic Version on any line of the string, as the platform's pattern is anchored to lines."""
    if isinstance(value, str) and any(map(semantic_version_pattern().fullmatch, value.split("\n"))):
        return None
    return type_problem("a Semantic Version", value)._replace(rule="cloudfoundry-maintenance-info")


_SERVICE_FLAGS = ("plan_updateable", "bindings_retrievable", "instances_retrievable", "allow_context_updates")
_CLIENT_FIELDS = ("id", "secret", "redirect_uri")

SERVICE_ROWS = (
    FieldRow("id", "Service id", _required_text),
    FieldRow("name", "Service name", _required_text),
    FieldRow("description", "Service description", _required_text),
    FieldRow("description", "Service description", _check_description_length),
    FieldRow("bindable", 'Service "bindable" field', _required_flag),
    *(FieldRow(key, f'Service "{key}" field', _optional_flag) for key in _SERVICE_FLAGS),
)
_SHAREABLE = FieldRow("shareable", "Service metadata shareable", _optional_flag)
_CLIENT_ROWS = tuple(FieldRow(key, f"Service dashboard client {key}", _required_text) for key in _CLIENT_FIELDS)
SERVICE_OBJECT_ROWS = (
    FieldRow("metadata", "Service metadata", _optional_object, (_SHAREABLE,)),
    FieldRow("dashboard_client", "Service dashboard client attributes", _optional_object, _CLIENT_ROWS),
)
PLAN_ROWS = (
    FieldRow("id", "Plan id", _required_text),
    FieldRow("name", "Plan name", _required_text),
    FieldRow("description", "Plan description", _required_text),
    FieldRow("description", "Plan description", _check_description_length),
    FieldRow("metadata", "Plan metadata", _optional_object),
    FieldRow("free", "Plan free", _optional_flag),
    FieldRow("bindable", "Plan bindable", _optional_flag),
    FieldRow("plan_updateable", "Plan updateable", _optional_flag),
    FieldRow("maximum_polling_duration", "Maximum polling duration", _optional_integer),
    FieldRow("schemas", "Plan schemas", _optional_object),
)
MAINTENANCE_INFO_ROWS = (
    FieldRow("version", "Maintenance info version", _required_text),
    FieldRow("version", "Maintenance info version", _check_semantic_version),
    FieldRow("description", "Maintenance info description", _optional_text),
)
