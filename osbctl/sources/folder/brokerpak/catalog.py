"""The catalog that cloud-service-broker computes of the definitions of a brokerpak and of its environment."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from osbctl.errors import SourceError
from osbctl.findings import DocumentError
from osbctl.paths import Path as ValuePath
from osbctl.paths import get_at
from osbctl.sources.folder.brokerpak.checks import check_definition, check_id, is_set, refuse
from osbctl.sources.folder.parts import Origins, Parts, Problems, SourcePart
from osbctl.sources.parse import parse_text
from osbctl.sources.variables import ENVIRONMENT, Variable, Variables

TEXTS = ("id", "name", "description")
SERVICE_METADATA = {
    "displayName": "display_name",
    "longDescription": "description",
    "providerDisplayName": "provider_display_name",
    "documentationUrl": "documentation_url",
    "imageUrl": "image_url",
    "supportUrl": "support_url",
}
PLAN_METADATA = {"displayName": "display_name", "bullets": "bullets"}
INPUT = {
    "enum": "enum",
    "description": "details",
    "type": "type",
    "prohibitUpdate": "prohibit_update",
    "tf_attribute": "tf_attribute",
    "tf_attribute_skip": "tf_attribute_skip",
}
"""Origin of each answer's field in a definition: pkg/broker/service_definition.go (`CatalogEntry`),
pkg/providers/tf/definition.go (`ToPlan`) and pkg/broker/variables.go (`ToSchema`) of cloud-service-broker."""

USER_PLAN = (*TEXTS, "free", "bindable", "metadata", "schemas", "plan_updateable", "maximum_polling_duration")
"""The fields of a plan in a variable that the broker answers (brokerapi, domain/service_catalog.go)."""

SCHEMAS, UPGRADES = "GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS", "TERRAFORM_UPGRADES_ENABLED"
SHARING = "GSB_COMPATIBILITY_ENABLE_CF_SHARING"
LIFECYCLES = {
    "preview": ("GSB_COMPATIBILITY_ENABLE_PREVIEW_SERVICES", True),
    "unmaintained": ("GSB_COMPATIBILITY_ENABLE_UNMAINTAINED_SERVICES", False),
    "eol": ("GSB_COMPATIBILITY_ENABLE_EOL_SERVICES", False),
    "beta": ("GSB_COMPATIBILITY_ENABLE_BETA_SERVICES", False),
    "deprecated": ("GSB_COMPATIBILITY_ENABLE_GCP_DEPRECATED_SERVICES", False),
    "terraform": ("GSB_COMPATIBILITY_ENABLE_TERRAFORM_SERVICES", False),
}
"""For each tag the variable by which the broker offers services that have it, and what holds without the variable."""

_PICTURES = {b"\xff\xd8\xff": "jpeg", b"\x89PNG\r\n\x1a\n": "png"}
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_ACRONYMS = {"id": "ID", "uri": "URI", "url": "URL", "gb": "GB", "jdbc": "JDBC"}
_TEMPLATE = re.compile(r"(?<!\$)\$\{[^}]*\}")
_UPGRADE = (
    "This upgrade provides support for OpenTofu version: {0}. The upgrade operation will take a while. "
    "The instance and all associated bindings will be upgraded."
)


class BrokerpakCatalog:
    """The catalog of one brokerpak; `refusals` are what the broker would not start with.

    `used` are the variables that had a say, by name, and `left_out` names the services that the broker does not offer.
    """

    def __init__(self, parts: Parts, variables: Variables) -> None:
        self._parts, self._variables = parts, variables
        self.refusals = Problems()
        self.used: dict[str, Variable] = {}
        self.left_out: dict[str, str] = {}
        manifest = parts.read(parts.folder / "manifest.yml")
        parts.problems.raise_any()
        assert manifest
        self._manifest = manifest
        self.origins = Origins({"services": []}, (manifest, ("service_definitions",)))

    def compute(self) -> Origins:
        """The catalog (`.data`) with the origins of its values.

        Raises:
            SourceError: a file of the brokerpak cannot be opened, or only a shell knows a variable.
            DocumentError: one cannot be read.
        """
        for part in sorted(self._definitions(), key=lambda part: str(part.data.get("name"))):
            service = self._service(part)
            if self._is_offered(service):
                self.origins.data["services"].append(service)
                if not service["plans"]:
                    self._refuse_without_plans(part)
        return self.origins

    @property
    def has_schemas(self) -> bool:
        """Return whether plans have parameter schemas."""
        return self._is_on(SCHEMAS)

    def _definitions(self) -> Iterator[SourcePart]:
        names = self._manifest.data.get("service_definitions")
        for index, name in enumerate(names if isinstance(names, list) else []):
            try:
                part = self._parts.read(self._parts.folder / str(name))
            except SourceError as error:
                problem = "folder-order", error.message, self._manifest, ("service_definitions", index)
                self._parts.problems.add(*problem, hint=error.advice)
                continue
            if part:
                check_definition(self.refusals, part)
                yield part
        self._parts.problems.raise_any()

    def _service(self, part: SourcePart) -> dict[str, Any]:
        definition = part.data
        service = self._taken(part, (), {name: name for name in (*TEXTS, "tags")})
        service |= dict.fromkeys(("bindable", "bindings_retrievable", "instances_retrievable"), True)
        service["plan_updateable"] = is_set(definition.get("plan_updateable"))
        service["metadata"] = metadata = self._taken(part, (), SERVICE_METADATA)
        image = metadata.get("imageUrl")
        if isinstance(image, str) and image.startswith("file://"):
            metadata["imageUrl"] = self._image(part, image)
        if self._is_on(SHARING):
            metadata["shareable"] = True
        service["plans"] = plans = [self._plan(part, index) for index, _ in _objects(definition.get("plans"))]
        plans += self._user_plans(part)
        schemas = self._schemas(part) if self.has_schemas else {}
        for plan in plans if schemas else ():
            self._put(plan, "schemas", schemas, part, ("provision",))
        return service

    def _plan(self, part: SourcePart, index: int) -> dict[str, Any]:
        path = ("plans", index)
        plan = self._taken(part, path, {name: name for name in TEXTS})
        plan["free"] = is_set(get_at(part.data, (*path, "free")))
        plan["metadata"] = self._taken(part, path, PLAN_METADATA)
        return self._maintained(plan)

    def _user_plans(self, part: SourcePart) -> list[dict[str, Any]]:
        """The plans that the operator has defined in a variable."""
        variable = self._variable(f"GSB_SERVICE_{_variable_word(part)}_PLANS")
        source = self._parsed(variable) if variable else None
        return [self._user_plan(source, index, given) for index, given in _objects(source.data)] if source else []

    def _user_plan(self, source: SourcePart, index: int, given: dict[str, Any]) -> dict[str, Any]:
        plan = {"description": ""} | {
            key: value for key, value in given.items() if key in USER_PLAN and value is not None
        }
        self.origins.of_object(plan, (source, (index,)))
        key = "guid" if "guid" in given and not given.get("id") else "id"
        if key == "guid":
            self._put(plan, "id", given[key], source, (index, key))
        check_id(self.refusals, source, (index, key))
        return self._maintained(plan)

    def _parsed(self, variable: Variable) -> SourcePart | None:
        """Value of a variable: a list of plans as JSON."""
        name = variable.name if variable.source == ENVIRONMENT else variable.source
        try:
            source = SourcePart(Path(name), parse_text(variable.text or variable.value, name))
        except DocumentError as error:
            self.refusals += error.findings
            return None
        data: Any = source.data
        if isinstance(data, list) and all(isinstance(plan, dict) for plan in data):
            return source
        refuse(self.refusals, source, (), f"{variable.name} is not a list of plans", "each plan is an object")
        return None

    def _schemas(self, part: SourcePart) -> dict[str, Any]:
        create, bind = (self._schema(part, action) for action in ("provision", "bind"))
        return {
            "service_instance": {"create": {"parameters": create}, "update": {"parameters": None}},
            "service_binding": {"create": {"parameters": bind}},
        }

    def _schema(self, part: SourcePart, action: str) -> dict[str, Any]:
        path = (action, "user_inputs")
        properties: dict[str, Any] = {}
        required = set()
        for index, one in _objects(get_at(part.data, path)):
            name = str(one.get("field_name", ""))
            self._put(properties, name, self._property(part, (*path, index)), part, (*path, index))
            required |= {name} if is_set(one.get("required")) else set()
        schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": properties}
        schema |= {"required": sorted(required)} if required else {}
        self.origins.of_object(schema, (part, path))
        return schema

    def _property(self, part: SourcePart, path: ValuePath) -> dict[str, Any]:
        given: dict[str, Any] = get_at(part.data, path)
        made: dict[str, Any] = {}
        if given.get("field_name"):
            self._put(made, "title", _label(str(given["field_name"])), part, (*path, "field_name"))
        constraints = given.get("constraints")
        for key, value in constraints.items() if isinstance(constraints, dict) else ():
            self._put(made, key, value, part, (*path, "constraints", key))
        for name, value in _keywords(given).items():
            self._put(made, name, value, part, (*path, INPUT[name]))
        default = given.get("default")
        if isinstance(default, str) and _TEMPLATE.search(default):
            words = (
                f"{given.get('details') or ''} If you do not specify this field, it will be generated by the template"
            )
            made["description"] = f"{words} {json.dumps(default, ensure_ascii=False)}".strip()
        elif default is not None:
            made["default"] = default
        return made

    def _taken(self, part: SourcePart, path: ValuePath, fields: Mapping[str, str]) -> dict[str, Any]:
        """The `fields` of the object at `path` under the names of the answer; empty ones are left out."""
        made: dict[str, Any] = {}
        self.origins.of_object(made, (part, path))
        for name, key in fields.items():
            if value := get_at(part.data, (*path, key)):
                self._put(made, name, value, part, (*path, key))
        return made

    def _put(self, target: dict[str, Any], name: str, value: Any, part: SourcePart, path: ValuePath) -> None:
        target[name] = value
        self.origins.of_key(target, name, (part, path))

    def _maintained(self, plan: dict[str, Any]) -> dict[str, Any]:
        """The plan with the version of OpenTofu that its instances are upgraded to."""
        binaries = _objects(self._manifest.data.get("terraform_binaries"))
        tofu = [(index, one) for index, one in binaries if one.get("name") in ("tofu", "terraform")]
        if tofu and self._is_on(UPGRADES):
            index, chosen = next((pair for pair in tofu if is_set(pair[1].get("default"))), tofu[0])
            version = str(chosen.get("version"))
            info = {"version": version, "description": _UPGRADE.format(version)}
            self._put(plan, "maintenance_info", info, self._manifest, ("terraform_binaries", index, "version"))
        return plan

    def _image(self, part: SourcePart, address: str) -> str:
        """The picture in a file of the brokerpak as `data:`, as it is packed (internal/serviceimage)."""
        file = self._parts.folder / address.removeprefix("file://")
        try:
            content = self._parts.content(file) or b""
        except SourceError as error:
            refuse(self.refusals, part, ("image_url",), error.message, "the picture belongs into the brokerpak")
            return address
        kind = next((kind for start, kind in _PICTURES.items() if content.startswith(start)), "")
        if not kind:
            refuse(self.refusals, part, ("image_url",), f"{file} is neither a JPEG nor a PNG", "convert it to PNG")
        return f"data:image/{kind};base64,{b64encode(content).decode()}"

    def _refuse_without_plans(self, part: SourcePart) -> None:
        envrc = self._parts.folder / ".envrc"
        hint = f"write plans, or set GSB_SERVICE_{_variable_word(part)}_PLANS"
        hint += f"; --env {envrc} reads it from that file" if envrc.is_file() else ""
        message = f"service {part.data.get('name')!r} has no plan: cloud-service-broker does not start with it"
        refuse(self.refusals, part, ("plans",), message, hint)

    def _is_offered(self, service: dict[str, Any]) -> bool:
        tags = service.get("tags", [])
        for tag in LIFECYCLES if isinstance(tags, list) else ():
            if tag in tags and not self._is_on(*LIFECYCLES[tag]):
                self.left_out[str(service.get("name"))] = tag
                return False
        return True

    def _variable(self, name: str) -> Variable | None:
        """A variable that is set, which is noted as used."""
        variable = self._variables.get(name)
        if variable is None or not variable.value:
            return None
        if variable.computed:
            advice = f"let the shell do so: export {name}, and leave the file out"
            raise SourceError(f"{variable.source}: a shell computes the value of {name}", advice)
        self.used[name] = variable
        return variable

    def _is_on(self, name: str, default: bool = False) -> bool:
        variable = self._variable(name)
        return variable.value in _TRUE if variable else default


def _keywords(given: dict[str, Any]) -> dict[str, Any]:
    """The keywords of an input's schema but for its title and default."""
    nullable = is_set(given.get("nullable"))
    found = {name: given[key] for name, key in INPUT.items() if given.get(key)}
    if isinstance(found.get("enum"), dict):
        values = [*found["enum"], *([None] if nullable else [])]
        found["enum"] = sorted(values, key=lambda value: "<nil>" if value is None else str(value))
    if nullable and "type" in found:
        found["type"] = [found["type"], "null"]
    return found


def _variable_word(part: SourcePart) -> str:
    """The name of the service of a definition as it stands in names of variables."""
    return str(part.data.get("name")).upper().replace(".", "_").replace("-", "_")


def _label(name: str) -> str:
    """The title of an input (`fieldNameToLabel`)."""
    words = filter(None, re.split(r"[\s._-]+", name))
    return " ".join(_ACRONYMS.get(word, word[:1].upper() + word[1:]) for word in words)


def _objects(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects in a list, each with its index."""
    return [(index, one) for index, one in enumerate(value) if isinstance(one, dict)] if isinstance(value, list) else []
