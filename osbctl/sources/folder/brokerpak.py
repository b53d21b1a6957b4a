"""Read a brokerpak: the catalog that cloud-service-broker computes from it, with its environment.

A brokerpak is a folder with a `manifest.yml` whose `service_definitions` name the files of its service offerings; on
the disk, or in a revision of git.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from osbctl.catalog import objects_in_list
from osbctl.errors import SourceError
from osbctl.findings import DocumentError
from osbctl.messages import Message, SourceName
from osbctl.paths import JsonPath, entries, get_at
from osbctl.sources.document import ComposedDocument, Document
from osbctl.sources.folder import brokerpak_checks as checks
from osbctl.sources.folder.brokerpak_requests import (
    INPUT,
    RequestRules,
    from_plan,
    inputs_by_name,
    parameter_schema,
    request_constants,
)
from osbctl.sources.folder.brokerpak_types import CONFIG_TYPE, DEFINITION_TYPE, MANIFEST_TYPE, SOURCES_TYPE
from osbctl.sources.folder.brokerpak_variables import (
    BrokerSettings,
    JsonDecoder,
    UserPlan,
    decode_plan,
    parse_json_variable,
    plan_variables,
    upper_name,
)
from osbctl.sources.folder.go_yaml import ReportField, StructType, has_no_json, parse_go_yaml
from osbctl.sources.folder.hil import as_variable
from osbctl.sources.folder.source_tree import MANIFEST, SourceTree
from osbctl.sources.read_bytes import Limits
from osbctl.sources.variables import Variables

PLAN = {"id": "id", "name": "name", "description": "description"}
SERVICE = {**PLAN, "tags": "tags"}
SERVICE_METADATA = {
    "displayName": "display_name",
    "longDescription": "description",
    "providerDisplayName": "provider_display_name",
    "documentationUrl": "documentation_url",
    "imageUrl": "image_url",
    "supportUrl": "support_url",
}
PLAN_METADATA = {"displayName": "display_name", "bullets": "bullets"}
"""Origin of each answer's field in a definition: pkg/broker/service_definition.go (`CatalogEntry`) and
pkg/providers/tf/definition.go (`ToPlan`) of cloud-service-broker."""

SCHEMAS, UPGRADES = "GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS", "TERRAFORM_UPGRADES_ENABLED"
UNCHECKED_NAMES = "CSB_DISABLE_REQUEST_PROPERTY_VALIDATION"
SHARING = "GSB_COMPATIBILITY_ENABLE_CF_SHARING"
LIFECYCLES = {
    "preview": ("GSB_COMPATIBILITY_ENABLE_PREVIEW_SERVICES", True),
    "unmaintained": ("GSB_COMPATIBILITY_ENABLE_UNMAINTAINED_SERVICES", False),
    "eol": ("GSB_COMPATIBILITY_ENABLE_EOL_SERVICES", False),
    "beta": ("GSB_COMPATIBILITY_ENABLE_BETA_SERVICES", False),
    "deprecated": ("GSB_COMPATIBILITY_ENABLE_GCP_DEPRECATED_SERVICES", False),
    "terraform": ("GSB_COMPATIBILITY_ENABLE_TERRAFORM_SERVICES", False),
}
"""For each tag the variable that makes the broker offer services with this tag, and its default."""

CONFIG, SOURCES = "GSB_BROKERPAK_CONFIG", "GSB_BROKERPAK_SOURCES"
BUILTIN = "GSB_COMPATIBILITY_ENABLE_BUILTIN_BROKERPAKS"
_PICTURES = {b"\xff\xd8\xff": "jpeg", b"\x89PNG\r\n\x1a\n": "png"}
_UPGRADE = (
    "This upgrade provides support for OpenTofu version: {0}. The upgrade operation will take a while. "
    "The instance and all associated bindings will be upgraded."
)


def read_brokerpak(folder: str, *, limits: Limits, unsaved: Mapping[Path, bytes], variables: Variables) -> Document:
    """Read the catalog of a brokerpak, with locations in its definitions; the notes say what the broker refuses.

    Raises SourceError: a file cannot be opened, or only a shell knows a variable; DocumentError: one cannot be read.
    """
    tree = SourceTree(Path(folder), limits, unsaved)
    catalog = _BrokerpakCatalog(folder, tree, BrokerSettings(variables))
    document = catalog.compute()
    document.notes = (*tree.notes, *tree.problems, *catalog.refusals)
    by_source: dict[str, list[str]] = {}
    for name, variable in sorted(catalog.settings.used.items()):
        by_source.setdefault(variable.source, []).append(name)
    conditions = [f"{', '.join(names)} from {source}" for source, names in by_source.items()]
    if not by_source:
        conditions.append("no variable of the broker is set")
    if not catalog.has_schemas:
        conditions.append(f"without parameter schemas ({SCHEMAS} is not true)")
    conditions += [f"without {name}, which is tagged {tag}" for name, tag in catalog.left_out.items()]
    document.read_as = f"{folder}: read as a brokerpak; {'; '.join(conditions)}"
    document.texts, document.requests = tuple(tree.documents), catalog.requests
    return document


class _BrokerpakCatalog:
    """The computation of one brokerpak's catalog.

    `refusals` are findings about what the broker would not start with. `left_out` is the tag of each service that the
    broker does not offer.
    """

    def __init__(self, folder: str, tree: SourceTree, settings: BrokerSettings) -> None:
        self._tree, self.settings = tree, settings
        self.refusals = checks.Refusals()
        self.left_out: dict[str, str] = {}
        self._source: dict[str, Any] = {}  # of several sources, the one that this brokerpak is
        self._plan_ids: set[str] = set()
        self.requests: dict[tuple[JsonPath, str], RequestRules] = {}
        self.has_schemas = settings.is_on(SCHEMAS)
        manifest = self._read_file(MANIFEST, MANIFEST_TYPE, self.refusals.refuse_field)
        tree.problems.raise_any()
        assert manifest
        self._manifest = manifest
        origin = manifest, ("service_definitions",)
        self.document = ComposedDocument(folder, {"services": []}, "brokerpak", origin)

    def compute(self) -> ComposedDocument:
        """The catalog with the origins of its values; errors as in `read_brokerpak`."""
        checks.check_manifest(self.refusals, self._manifest)
        self._check_settings()
        definitions = [*self._read_definitions()]
        checks.check_unique(self.refusals, definitions)
        self._plan_ids = {str(plan.get("id")) for one in definitions for plan, _ in objects_in_list(one.data, "plans")}
        services = self.document.data["services"]
        excluded = (self._source.get("excluded_services") or "").split()
        definitions = [one for one in definitions if one.data.get("id") not in excluded]
        for definition in sorted(definitions, key=lambda definition: definition.data.get("name") or ""):
            service, plans = self._build_service(definition, len(services))
            if self._is_offered(service):
                for index, plan in enumerate(plans):
                    checks.check_plan_properties(self.refusals, definition, plan)
                    path = ("services", len(services), "plans", index)
                    self.requests |= {(path, "create"): self._create_rules(definition, plan)}
                    self.requests |= {(path, "bind"): self._bind_rules(definition, plan)}
                services.append(service)
        if definitions and not services:
            message = "no services are defined: each has a tag whose services are not enabled"
            self.refusals.start(self._manifest, ("service_definitions",), message, "see the line on standard error")
        return self.document

    def _read_file(self, name: str, kind: StructType, unknown: ReportField) -> Document | None:
        """Read a file of the brokerpak, as `SourceTree.read`, into a type; `unknown` takes fields that it lacks."""
        parse = partial(parse_go_yaml, kind=kind, report=self.refusals.build, unknown=unknown)
        return self._tree.read(self._tree.folder / name, parse=parse)

    def _read_definitions(self) -> Iterator[Document]:
        """Read the files that the manifest names. Raises DocumentError: one cannot be read."""
        seen = set()
        for index, name in enumerate(self._manifest.data.get("service_definitions") or ()):
            path = ("service_definitions", index)
            if name in seen:
                self.refusals.build(self._manifest, path, f"duplicated value, must be unique: {name}", "name it once")
            elif name is not None:
                seen.add(name)
                try:
                    definition = self._read_file(name, DEFINITION_TYPE, self.refusals.warn_of_field)
                except SourceError as error:
                    self._tree.problems.add("folder-order", error.message, self._manifest, path, error.advice)
                    continue
                if definition:
                    checks.check_definition(self.refusals, definition)
                    self._check_templates(definition)
                    yield definition
        self._tree.problems.raise_any()

    def _check_templates(self, definition: Document) -> None:
        """Check that the templates of a definition are there, and that their variables and outputs are declared."""
        for action in checks.ACTIONS:
            settings = definition.data.get(action) or {}
            texts: dict[JsonPath, str | None] = {(action, "template"): settings.get("template") or ""}
            texts |= {(action, "templates", key): text or "" for key, text in (settings.get("templates") or {}).items()}
            if reference := settings.get("template_ref"):
                texts[action, "template"] = self._read_text(definition, (action, "template_ref"), reference)
            for key, reference in (settings.get("template_refs") or {}).items():
                if reference:
                    path = (action, "template_refs", key)
                    texts[path] = self._read_text(definition, path, reference)
                    texts.pop((action, "templates", key), None)
            checks.check_templates(self.refusals, definition, action, texts)

    def _read_text(self, definition: Document, path: JsonPath, name: str) -> str | None:
        """The text of a template; None, and a refusal, if there is none."""
        try:
            content = self._tree.read_content(self._tree.folder / name.lstrip("/"))
        except SourceError as error:
            message = f"couldn't load {path[0]} template {name}: {error.message}"
            self.refusals.build(definition, path, message, error.advice)
            return None
        return content.decode("utf-8", "replace") if content is not None else None

    def _check_settings(self) -> None:
        """Check the variables that do not belong to a service."""
        for name in filter(None, self._manifest.data.get("required_env_variables") or ()):
            is_set = self.settings.is_set(name) or self.settings.is_set(f"GSB_{upper_name(name)}")
            if not is_set and self.settings.is_given:
                path = ("required_env_variables", self._manifest.data["required_env_variables"].index(name))
                message = f"missing required env var {name}"
                self.refusals.start(
                    self._manifest, path, message, "set it, with any value where the catalog matters alone"
                )
        self._decode_variable(CONFIG, CONFIG_TYPE)
        sources = self._decode_variable(SOURCES, SOURCES_TYPE)
        for name, source in sources.items():
            is_named = checks.is_name(name)
            if not (is_named and source and source.get("uri") and checks.is_json(source.get("config") or "")):
                message = f"brokerpak config was invalid: {SOURCES}: {name} needs a uri, and JSON as config"
                message += "" if is_named else ", and a name of letters, digits, hyphens and dots"
                self.refusals.start(self._manifest, (), message, 'write "config": "{}"')
        if not self.settings.is_on(BUILTIN, default=True):
            if not sources:
                message = f"no services are defined: {BUILTIN} is not true"
                self.refusals.start(self._manifest, (), message, f"name the brokerpak in {SOURCES}")
            elif len(sources) == 1:
                (self._source,) = sources.values()

    def _read_json(self, name: str) -> Document | None:
        """The JSON in a variable; None if it is not set, or, with a refusal, cannot be read."""
        variable = self.settings.get(name)
        try:
            return parse_json_variable(variable) if variable else None
        except DocumentError as error:
            self.refusals += error.findings
            return None

    def _decode_variable(self, name: str, kind: Any) -> Any:
        """The value of a variable in JSON as a type, which must not be null; {} if it is not set or of another."""
        source = self._read_json(name)
        return JsonDecoder(partial(self.refusals.start, source)).decode(source.data, kind, ()) or {} if source else {}

    def _name(self, definition: Document) -> str:
        return (self._source.get("service_prefix") or "") + (definition.data.get("name") or "")

    def _build_service(self, definition: Document, index: int) -> tuple[dict[str, Any], list[UserPlan]]:
        """The service offering of a definition, and its plans with their properties."""
        service = self._map_fields(definition, (), SERVICE)
        service["name"] = self._name(definition)
        service |= dict.fromkeys(("bindable", "bindings_retrievable", "instances_retrievable"), True)
        service["plan_updateable"] = bool(definition.data.get("plan_updateable"))
        service["metadata"] = metadata = self._map_fields(definition, (), SERVICE_METADATA)
        image = str(metadata.get("imageUrl", ""))
        if image.startswith("file://"):
            metadata["imageUrl"] = image = self._embed_image(definition, image)
        checks.check_url(self.refusals, definition, "image_url", image)
        if self.settings.is_on(SHARING):
            metadata["shareable"] = True
        plans = []
        for given, path in objects_in_list(definition.data, "plans"):
            plan = self._map_fields(definition, path, PLAN)
            plan["free"] = bool(given.get("free"))
            plan["metadata"] = self._map_fields(definition, path, PLAN_METADATA)
            overrides = given.get("provision_overrides") or {}, given.get("bind_overrides") or {}
            plans.append(UserPlan(plan, given.get("properties") or {}, overrides, path, definition))
        plans += self._read_user_plans(definition)
        service["plans"] = [plan.answer for plan in plans]
        if not plans:
            self._refuse_missing_plans(definition, index)
        create, bind = (self._build_parameter_schema(definition, action) for action in checks.ACTIONS)
        update = {"parameters": None}
        schemas = {
            "service_instance": {"create": {"parameters": create}, "update": update},
            "service_binding": {"create": {"parameters": bind}},
        }
        self.document.hide(update, "parameters", create)
        for plan in service["plans"]:
            self._add_maintenance_info(plan)
            self.document.set_key_origin(plan, "schemas", (definition, ("provision",)))
            if self.has_schemas:
                plan["schemas"] = schemas
            else:
                self.document.hide(plan, "schemas", schemas)
        return service, plans

    def _request_rules(self, definition: Document, action: str) -> RequestRules:
        """The part that the rules of both actions have in common."""
        settings = definition.data.get(action) or {}
        return RequestRules(
            inputs=inputs_by_name(settings),
            computed=tuple(one for one, _ in objects_in_list(settings, "computed_inputs")),
            constants=request_constants(bind=action == "bind"),
            checks_names=not self.settings.is_on(UNCHECKED_NAMES),
            is_published=self.has_schemas,
        )

    def _create_rules(self, definition: Document, plan: UserPlan) -> RequestRules:
        values: dict[str, Any] = {}
        fault = ""
        upper = upper_name(self._name(definition))
        for name in ("GSB_PROVISION_DEFAULTS", f"GSB_SERVICE_{upper}_PROVISION_DEFAULTS"):
            given = self.settings.read_object(name)
            fault = fault or (f"failed unmarshaling config value {name}" if given is None else "")
            values |= given or {}
        imported = objects_in_list(definition.data.get("provision") or {}, "import_inputs")
        return self._request_rules(definition, "provision")._replace(
            further_names=frozenset(one.get("field_name") or "" for one, _ in imported),
            defaults=values,
            overrides=plan.overrides[0],
            properties=plan.properties,
            fault=fault,
        )

    def _bind_rules(self, definition: Document, plan: UserPlan) -> RequestRules:
        rules = self._request_rules(definition, "bind")
        planned = objects_in_list(definition.data.get("bind") or {}, "plan_inputs")
        return rules._replace(
            defaults=self.settings.read_object(f"GSB_SERVICE_{upper_name(self._name(definition))}_BIND_DEFAULTS") or {},
            overrides=plan.overrides[1],
            computed=(*(from_plan(one) for one, _ in planned), *rules.computed),
            constants={**rules.constants, "request.plan_properties": as_variable(plan.properties)},
        )

    def _read_user_plans(self, definition: Document) -> Iterator[UserPlan]:
        """The plans that the operator has defined in variables."""
        names = {plan.get("name") for plan, _ in objects_in_list(definition.data, "plans")}
        for name, kind in zip(plan_variables(self._name(definition)), (list, dict), strict=True):
            source = self._read_json(name)
            given: Any = source.data if source else None
            if source is None or given is None:
                continue
            fail = partial(self.refusals.start, source)
            if not isinstance(given, kind):
                what, given = "a list" if kind is list else "an object", []
                fail((), f"error getting user defined plans: {name} is not {what} of plans", "each plan is an object")
            for step, _ in entries(given):
                plan = decode_plan(source, (step,), fail)
                key = "guid" if plan.answer["id"] and plan.answer["id"] == plan.properties.get("guid") else "id"
                self.document.set_object_origin(plan.answer, (source, plan.path))
                self.document.set_key_origin(plan.answer, "id", (source, (step, key)))
                self._check_user_plan(plan, {"id": self._plan_ids, "name": names}, fail)
                for required in checks.required_plan_inputs(definition):
                    if required not in plan.properties:
                        fail(plan.path, f"the custom plan is missing required property {required}", f"write {required}")
                yield plan

    def _check_user_plan(self, plan: UserPlan, taken: Mapping[str, set[Any]], fail: Callable[..., None]) -> None:
        for field, others in taken.items():
            value = plan.answer[field]
            if not value:
                fail(plan.path, f"the custom plan is missing its {field}", f"write {field}")
            elif value in others:
                fail((*plan.path, field), f"duplicated value, must be unique: {value}", "give each its own")
            elif field == "id" and not checks.is_uuid(value):
                fail((*plan.path, field), "field must be a UUID: id", checks.UUID_HINT)
            others.add(value)

    def _build_parameter_schema(self, definition: Document, action: str) -> dict[str, Any]:
        """The schema of an action's parameters with its origins, without values that cannot be written as JSON."""
        settings = definition.data.get(action) or {}
        schema = parameter_schema(inputs_by_name(settings))
        for user_input, path in objects_in_list(settings, "user_inputs", (action,)):
            name = user_input.get("field_name") or ""
            self.document.set_key_origin(schema["properties"], name, (definition, path))
            self._set_input_origins(schema["properties"][name], definition, user_input, path)
        self.document.set_object_origin(schema, (definition, (action, "user_inputs")))
        return schema

    def _set_input_origins(
        self, schema: dict[str, Any], definition: Document, user_input: dict[str, Any], path: JsonPath
    ) -> None:
        for keyword, value in [*schema.items()]:
            key = INPUT.get(keyword, "field_name" if keyword == "title" else keyword)
            if keyword in (user_input.get("constraints") or {}) and not (keyword in INPUT and user_input.get(key)):
                where: JsonPath = (*path, "constraints", keyword)
            else:
                where = (*path, key)
            self.document.set_key_origin(schema, keyword, (definition, where))
            if has_no_json(value):
                del schema[keyword]
                if self.has_schemas:
                    self._report_no_json(definition, where)

    def _report_no_json(self, definition: Document, path: JsonPath) -> None:
        message = "JSON cannot say it: cloud-service-broker answers GET /v2/catalog with 200 and an empty body"
        hint = (
            "write a finite number"
            if path[-1] == "default"
            else "put keys that are numbers, booleans or null in quotes"
        )
        self.refusals.append(definition.error("brokerpak-no-catalog", message, path, hint)._replace(path=()))

    def _map_fields(self, definition: Document, path: JsonPath, fields: Mapping[str, str]) -> dict[str, Any]:
        """The `fields` of the object at `path` under the names of the answer; empty ones are left out."""
        made: dict[str, Any] = {}
        self.document.set_object_origin(made, (definition, path))
        for name, key in fields.items():
            value = get_at(definition.data, (*path, key))
            if value := [item for item in value if item is not None] if isinstance(value, list) else value:
                self.document.put(made, name, value, (definition, (*path, key)))
        return made

    def _add_maintenance_info(self, plan: dict[str, Any]) -> None:
        """Set the version of OpenTofu as `maintenance_info`, if upgrades are enabled."""
        tofu = checks.tofu_binaries(self._manifest)
        if tofu and self.settings.is_on(UPGRADES):
            chosen, path = next((pair for pair in tofu if pair[0].get("default")), tofu[0])
            version = checks.normalize_version(chosen.get("version") or "")
            info = {"version": version, "description": _UPGRADE.format(version)}
            self.document.put(plan, "maintenance_info", info, (self._manifest, (*path, "version")))

    def _embed_image(self, definition: Document, address: str) -> str:
        """Read a picture of the brokerpak as a `data:` URI (internal/serviceimage)."""
        field, file = ("image_url",), self._tree.folder / address.split("file://")[1].lstrip("/")
        try:
            content = self._tree.read_content(file)
        except SourceError as error:
            message = Message("unable to encode service image: {}", error.sentence)
            self.refusals.build(definition, field, message, "the picture belongs into the brokerpak")
            content = None
        if content is None:
            return address
        kind = next((kind for start, kind in _PICTURES.items() if content.startswith(start)), "")
        if not kind:
            message = Message("field must be a URL: image_url; {} is neither a JPEG nor a PNG", SourceName(str(file)))
            self.refusals.build(definition, field, message, "convert it to PNG")
        return f"data:image/{kind};base64,{b64encode(content).decode()}"

    def _refuse_missing_plans(self, definition: Document, service_index: int) -> None:
        envrc = self._tree.folder / ".envrc"
        listed, tile = plan_variables(self._name(definition))
        message = f"service {self._name(definition)!r} has no plans defined"
        hint = Message("write plans, or set {} or {}", listed, tile)
        if envrc.is_file():
            hint = Message("{}; --env {} reads it from that file", hint, SourceName(str(envrc)))
        self.refusals.start(definition, ("plans",), message, hint, ("services", service_index, "plans"))

    def _is_offered(self, service: dict[str, Any]) -> bool:
        """Return whether the broker offers a service, by its tags; note in `left_out` one that it does not."""
        tags = service.get("tags", ())
        for tag, (variable, default) in LIFECYCLES.items():
            if tag in tags and not self.settings.is_on(variable, default):
                self.left_out[str(service.get("name"))] = tag
                return False
        return True
