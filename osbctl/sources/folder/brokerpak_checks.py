"""Check a definition for names and ids that cloud-service-broker refuses at start, and for fields it ignores.

Sources: pkg/providers/tf/definition.go, pkg/broker/variables.go, pkg/broker/example.go and pkg/varcontext/builder.go
(fields and `Validate`); pkg/validation/struct_validator.go (patterns). Templates of OpenTofu are not looked into.
"""

import re
from typing import Any

from osbctl.findings import Finding, Severity
from osbctl.paths import Path, entries, get_at
from osbctl.sources.document import Document
from osbctl.text import did_you_mean

_PLAN = (
    "name", "id", "description", "display_name", "bullets", "free", "properties", "provision_overrides",
    "bind_overrides",
)  # fmt: skip
_VARIABLE = (
    "field_name", "type", "details", "required", "nullable", "default", "enum", "constraints", "prohibit_update",
    "tf_attribute", "tf_attribute_skip",
)  # fmt: skip
# `details` and `required` have no effect here, but many brokerpaks copy them from inputs.
_COMPUTED = ("name", "type", "default", "overwrite", "details", "required")
_ACTION_FIELDS = (
    "template", "template_ref", "templates", "template_refs", "import_inputs", "import_parameter_mappings",
    "import_parameters_to_delete", "import_parameters_to_add",
)  # fmt: skip
_EXAMPLE = ("name", "description", "plan_id", "provision_params", "bind_params", "bind_can_fail")
_FIELDS = (
    "version", "name", "id", "description", "display_name", "image_url", "documentation_url", "support_url",
    "provider_display_name", "tags", "plan_updateable",
)  # fmt: skip
_ACTION: dict[str, Any] = {
    "plan_inputs": [dict.fromkeys(_VARIABLE)],
    "user_inputs": [dict.fromkeys(_VARIABLE)],
    "outputs": [dict.fromkeys(_VARIABLE)],
    "computed_inputs": [dict.fromkeys(_COMPUTED)],
    **dict.fromkeys(_ACTION_FIELDS),
}
DEFINITION: dict[str, Any] = {
    **dict.fromkeys(_FIELDS),
    "plans": [dict.fromkeys(_PLAN)],
    "provision": _ACTION,
    "bind": _ACTION,
    "examples": [dict.fromkeys(_EXAMPLE)],
}
"""The fields that the broker reads: of an object, of each object in a list, or (None) a value of any kind."""

_WORDS_FOR_TRUE = ("y", "yes", "on")
_BOOLEANS = ("free", "plan_updateable", "required", "nullable", "prohibit_update", "bind_can_fail")

_NAME = re.compile(r"[a-zA-Z0-9\-.]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_true_in_go(value: Any) -> bool:
    """Return whether a boolean field is true for Go, whose YAML reader accepts the words of YAML 1.1."""
    return value is True or (isinstance(value, str) and value.lower() in _WORDS_FOR_TRUE)


def _is_boolean_in_go(value: Any) -> bool:
    words = (*_WORDS_FOR_TRUE, "n", "no", "off")
    return value is None or isinstance(value, bool) or (isinstance(value, str) and value.lower() in words)


def add_refusal(
    refusals: list[Finding], document: Document, path: Path, message: str, hint: str, catalog_path: Path = ()
) -> None:
    """Report that the broker does not start because of the value at `path` of a file, `catalog_path` of the catalog."""
    refusals.append(document.error("brokerpak-refused", message, path, hint)._replace(path=catalog_path))


def check_definition(refusals: list[Finding], definition: Document) -> None:
    """Report a name and ids of a definition that the broker refuses, and fields that it ignores."""
    if not _NAME.fullmatch(str(definition.data.get("name"))):
        hint = "cloud-service-broker does not start with it"
        add_refusal(refusals, definition, ("name",), "name must be made of letters, digits, hyphens and dots", hint)
    check_uuid(refusals, definition, ("id",))
    for index, _ in entries(definition.data.get("plans")):
        check_uuid(refusals, definition, ("plans", index, "id"))
    _check_fields(refusals, definition, definition.data, DEFINITION, ())


def check_uuid(refusals: list[Finding], document: Document, path: Path) -> None:
    """Report an id that is not a UUID."""
    if not _UUID.fullmatch(str(get_at(document.data, path))):
        hint = "cloud-service-broker does not start with it"
        add_refusal(refusals, document, path, f"{path[-1]} must be a UUID", hint)


def _check_fields(refusals: list[Finding], definition: Document, value: Any, fields: Any, path: Path) -> None:
    """Report fields in `value`, at `path` of a definition, that are not in `fields`, a part of `DEFINITION`.

    Also booleans that are none, which Go does not read.
    """
    if isinstance(fields, list):
        for index, item in entries(value):
            _check_fields(refusals, definition, item, fields[0], (*path, index))
        return
    for key, item in value.items() if isinstance(fields, dict) and isinstance(value, dict) else ():
        if key in fields:
            if key in _BOOLEANS and not _is_boolean_in_go(item):
                hint = "cloud-service-broker does not start with it: write true or false, without quotes"
                add_refusal(refusals, definition, (*path, key), f"{key} must be a boolean", hint)
            _check_fields(refusals, definition, item, fields[key], (*path, key))
            continue
        message = f"cloud-service-broker knows no field {key!r} here: it has no effect"
        unread = definition.error("brokerpak-field-unread", message, (*path, key), did_you_mean(key, fields))
        refusals.append(unread._replace(severity=Severity.WARNING, path=()))
