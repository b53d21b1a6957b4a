"""Refusals of cloud-service-broker at its start, and fields of a brokerpak that it ignores.

Sources: pkg/providers/tf/definition.go, pkg/broker/variables.go, pkg/broker/example.go, pkg/varcontext/builder.go and
internal/brokerpak/manifest/parser.go (fields and `Validate`); pkg/validation/struct_validator.go (patterns);
pkg/broker/registry.go (what must be unique). Templates of OpenTofu are not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from osbctl.findings import Finding, Severity
from osbctl.paths import Path, entries, get_at
from osbctl.text import did_you_mean

if TYPE_CHECKING:
    from osbctl.sources.folder.parts import SourcePart


class _Text(NamedTuple):
    """The text of a field, and how a sentence calls it."""

    pattern: str
    wanted: str


_FILLED = _Text(".+", "not be empty")
_ONE = _Text("1", "be 1")
_NAME = _Text(r"[a-zA-Z0-9\-.]+", "be made of letters, digits, hyphens and dots")
_UUID = _Text(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", "be a UUID")
_URL = _Text(r"[a-zA-Z][a-zA-Z0-9+.-]*:.+", "be a URL")
_TYPE = _Text("|object|boolean|array|number|string|integer", "be object, boolean, array, number, string or integer")
_ATTRIBUTE = _Text(r"(|([-\w]*\.[-\w]*){2}.*)", "be the path of an attribute")

_Fields: TypeAlias = "Mapping[str, _Text | dict[str, Any] | list[Any] | None]"
"""For each field of an object what the broker asks of it: a text, an object, a list of objects, or nothing (None)."""


def _free(*names: str) -> dict[str, None]:
    return dict.fromkeys(names)


_PLAN: dict[str, Any] = {
    "name": _FILLED, "id": _UUID, "description": _FILLED, "display_name": _FILLED,
    **_free("bullets", "free", "properties", "provision_overrides", "bind_overrides"),
}  # fmt: skip
_VARIABLE: dict[str, Any] = {
    "field_name": _FILLED, "type": _TYPE, "details": _FILLED, "tf_attribute": _ATTRIBUTE,
    **_free("required", "nullable", "default", "enum", "constraints", "prohibit_update", "tf_attribute_skip"),
}  # fmt: skip
_COMPUTED: dict[str, Any] = {
    "name": _FILLED, "type": _TYPE, **_free("default", "overwrite"),
    **_free("details", "required"),  # copied from inputs in many a brokerpak: without effect, and without harm
}  # fmt: skip
_ACTION: dict[str, Any] = {
    "plan_inputs": [_VARIABLE], "user_inputs": [_VARIABLE], "outputs": [_VARIABLE], "computed_inputs": [_COMPUTED],
    **_free(
        "template", "template_ref", "templates", "template_refs", "import_inputs", "import_parameter_mappings",
        "import_parameters_to_delete", "import_parameters_to_add",
    ),
}  # fmt: skip
_EXAMPLE: dict[str, Any] = {
    "name": _FILLED, "description": _FILLED, "plan_id": _FILLED,
    **_free("provision_params", "bind_params", "bind_can_fail"),
}  # fmt: skip
DEFINITION: dict[str, Any] = {
    "version": _ONE, "name": _NAME, "id": _UUID, "description": _FILLED, "display_name": _FILLED, "image_url": _URL,
    "documentation_url": _URL, "support_url": _URL, "plans": [_PLAN], "provision": _ACTION, "bind": _ACTION,
    "examples": [_EXAMPLE], **_free("provider_display_name", "tags", "plan_updateable"),
}  # fmt: skip
MANIFEST: dict[str, Any] = {
    "packversion": _ONE, "name": _FILLED, "version": _FILLED,
    "platforms": [{"os": _FILLED, "arch": _FILLED}],
    "terraform_binaries": [
        {"name": _FILLED, "version": _FILLED, **_free("source", "provider", "url_template", "default")}
    ],
    **_free(
        "metadata", "service_definitions", "parameters", "required_env_variables", "env_config_mapping",
        "terraform_upgrade_path", "terraform_state_provider_replacements",
    ),
}  # fmt: skip

_USER_PLAN = {"name": _FILLED, "id": _UUID}
_TRUE_WORDS = ("y", "yes", "on")


def is_set(value: Any) -> bool:
    """Return whether a boolean field is true for Go, whose YAML reader accepts the words of YAML 1.1."""
    return value is True or (isinstance(value, str) and value.lower() in _TRUE_WORDS)


class Refusals:
    """Findings about the files of a brokerpak, each with the place in its file."""

    def __init__(self) -> None:
        self.unread: list[Finding] = []
        """Findings of variables that cannot be read, with their places."""
        self._found: list[tuple[Finding, SourcePart, Path]] = []

    def add(self, part: SourcePart, path: Path, message: str, hint: str = "", catalog_path: Path = ()) -> None:
        """Note that the broker refuses what stands at `path` of a file, and at `catalog_path` of the catalog."""
        finding = Finding("brokerpak-refused", Severity.ERROR, message, catalog_path, hint=hint)
        self._found.append((finding, part, path))

    def findings(self) -> Iterator[Finding]:
        """All that was noted."""
        yield from self.unread
        for asked in {part: None for _, part, _ in self._found}:
            mine = [(finding, path) for finding, part, path in self._found if part is asked]
            places = asked.document.locate(path for _, path in mine)
            yield from (finding._replace(location=places[path]) for finding, path in mine)

    def check_manifest(self, part: SourcePart) -> None:
        """Note what the broker refuses in the manifest: unknown fields, too."""
        self._check(part, part.data, MANIFEST, (), is_manifest=True)

    def check_definition(self, part: SourcePart) -> None:
        """Note what the broker refuses in a definition, and what it does not read."""
        self._check(part, part.data, DEFINITION, ())

    def check_user_plan(self, source: SourcePart, key: str | int, definition: SourcePart) -> None:
        """Note what the broker refuses in a plan of a variable."""
        plan = get_at(source.data, (key,))
        for name, text in _USER_PLAN.items():
            self._check_text(source, plan.get(name) or (plan.get("guid") if name == "id" else ""), text, (key, name))
        for action in ("provision", "bind"):
            for _, wanted in entries(get_at(definition.data, (action, "plan_inputs"))):
                required = isinstance(wanted, dict) and is_set(wanted.get("required"))
                if required and (name := wanted.get("field_name")) not in plan:
                    hint = f"{definition.document.name} requires it of each plan"
                    self.add(source, (key,), f"plan {plan.get('name')!r} has no {name}", hint)

    def check_unique(self, services: Iterable[tuple[dict[str, Any], SourcePart, bool]]) -> None:
        """Note ids that come twice where one of the two is not offered: the rules of a catalog see the others."""
        owners: dict[str, tuple[str, bool]] = {}
        for service, part, offered in services:
            name = str(service.get("name"))
            plans = [(plan.get("id"), f"plan {name}/{plan.get('name')}") for plan in service["plans"]]
            for id_, owner in [(service.get("id"), f"service {name}"), *plans]:
                first, both = owners.setdefault(str(id_), (owner, offered))
                if first != owner and not (both and offered):
                    self.add(part, ("id",), f"the id {id_} of {owner} is that of {first}", "give it an id of its own")

    def _check(self, part: SourcePart, value: Any, fields: _Fields, path: Path, is_manifest: bool = False) -> None:
        if not isinstance(value, dict):
            self.add(part, path, "this is not an object", "cloud-service-broker wants one here")
            return
        for key in value.keys() - fields.keys():
            self._unknown(part, (*path, key), did_you_mean(key, fields), is_manifest)
        for key, wanted in fields.items():
            here, held = (*path, key), value.get(key)
            if isinstance(wanted, _Text):
                self._check_text(part, held, wanted, here)
            elif isinstance(wanted, list) and held is not None:
                self._check_list(part, held, wanted[0], here, is_manifest)
            elif isinstance(wanted, dict) and held is not None:
                self._check(part, held, wanted, here, is_manifest)

    def _check_list(self, part: SourcePart, held: Any, fields: _Fields, path: Path, is_manifest: bool) -> None:
        if not isinstance(held, list):
            self.add(part, path, f"{path[-1]} is not a list", "cloud-service-broker wants a list here")
        for index, one in entries(held):
            self._check(part, one, fields, (*path, index), is_manifest)

    def _check_text(self, part: SourcePart, held: Any, wanted: _Text, path: Path) -> None:
        text = "" if held is None else str(held)
        if not re.fullmatch(wanted.pattern, text, re.DOTALL):
            hint = "cloud-service-broker does not start with it"
            self.add(part, path, f"{path[-1]} must {wanted.wanted}", hint)

    def _unknown(self, part: SourcePart, path: Path, near: str, is_manifest: bool) -> None:
        message = f"cloud-service-broker knows no field {path[-1]!r} here"
        if is_manifest:
            self.add(part, path, f"{message}, and refuses the manifest", near)
            return
        finding = Finding("brokerpak-field-unread", Severity.WARNING, f"{message}: it has no effect", hint=near)
        self._found.append((finding, part, path))
