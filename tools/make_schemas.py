"""Generates `schemas/catalog-2.*.json`, a JSON Schema for each version of the API, from the table below.

It also updates the lists of platforms, and of their tools, in the other schemas, in action.yml and in an issue form.

    python tools/make_schemas.py            write them
    python tools/make_schemas.py --check    write nothing; exit 1 if a file is out of date

Draft-07 is the newest draft that editors support completely. The files repeat each other so that each is
self-contained; this table has each field once, with the version that added it.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from osbctl.platforms import ApiVersion, Platform
from osbctl.platforms.tools import tools_of

ROOT = Path(__file__).parent.parent
FORM = ROOT / ".github" / "ISSUE_TEMPLATE" / "verdict.yml"

Schema = dict[str, Any]


class Field:
    """One field of an object: its schema, whether it is required, and the version that added it."""

    def __init__(self, title: str, schema: Schema, description: str, required: bool = False, since: str = "2.13"):
        self.schema = {"title": title, "description": description, **schema}
        self.required = required
        self.since = since


def text(**more: Any) -> Schema:
    return {"type": "string", "minLength": 1, **more}


def flag(default: bool | None = None) -> Schema:
    return {"type": "boolean"} if default is None else {"type": "boolean", "default": default}


def ref(name: str) -> Schema:
    return {"allOf": [{"$ref": f"#/definitions/{name}"}]}


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


WORDS = {"type": "string"}

SERVICE = {
    "name": Field(
        "Name of the service offering",
        text(examples=["postgres"]),
        "What users order it by. Unique within the broker; letters, digits, dots and hyphens work everywhere.",
        required=True,
    ),
    "id": Field(
        "Id of the service offering",
        text(examples=["5D9E5F2A-6A3B-4C7E-9B60-1C0A7E1C2D3F"]),
        "What platforms know it by, for ever: unique in the whole world, and never changed. A GUID is recommended.",
        required=True,
    ),
    "description": Field("Short description", text(), "One sentence for the marketplace.", required=True),
    "tags": Field("Tags", listed(WORDS), "Attributes by which an application finds a binding, such as relational."),
    "requires": Field(
        "Permissions that are required",
        listed({"enum": ["syslog_drain", "route_forwarding", "volume_mount"]}),
        "What a binding may hand to the platform beyond credentials.",
    ),
    "bindable": Field(
        "Bindable",
        flag(),
        "Whether instances can be bound to applications. A plan may say otherwise for itself.",
        required=True,
    ),
    "instances_retrievable": Field(
        "Instances retrievable",
        flag(False),
        "Whether the broker answers GET on a service instance.",
        since="2.14",
    ),
    "bindings_retrievable": Field(
        "Bindings retrievable",
        flag(False),
        "Whether the broker answers GET on a service binding.",
        since="2.14",
    ),
    "allow_context_updates": Field(
        "Context updates allowed",
        flag(False),
        "Whether the platform may send an update when the context of an instance changes, such as its name.",
        since="2.15",
    ),
    "metadata": Field("Display information", ref("service_metadata"), "What marketplaces show; free in form."),
    "dashboard_client": Field(
        "Dashboard client",
        ref("dashboard_client"),
        "The OAuth client with which the service's dashboard signs its users in (Cloud Foundry).",
    ),
    "plan_updateable": Field(
        "Plan can be changed",
        flag(False),
        "Whether an instance can move to another plan. The spelling is a slip of the specification, kept for ever.",
    ),
    "plans": Field(
        "Service plans",
        {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/plan"}},
        "At least one.",
        True,
    ),
}

PLAN = {
    "id": Field(
        "Id of the service plan",
        text(examples=["0F2B7C1E-8D44-4E0B-A5C6-7B1D9E3F4A52"]),
        "What platforms know it by, for ever: unique in the whole world, and never changed. A GUID is recommended.",
        required=True,
    ),
    "name": Field(
        "Name of the service plan",
        text(examples=["small"]),
        "What users order it by. Unique within the service offering.",
        required=True,
    ),
    "description": Field("Short description", text(), "One sentence for the marketplace.", required=True),
    "metadata": Field("Display information", ref("plan_metadata"), "What marketplaces show; free in form."),
    "free": Field(
        "Free of charge",
        flag(True),
        "True if instances are free of charge. Always set it: without it, Kubernetes and Korifi show the plan as paid.",
    ),
    "bindable": Field(
        "Bindable", flag(), "Whether instances of this plan can be bound; the service's value if left out."
    ),
    "binding_rotatable": Field(
        "Bindings rotatable", flag(False), "Whether a binding can be replaced by a successor.", since="2.17"
    ),
    "plan_updateable": Field(
        "Plan can be changed",
        flag(),
        "Whether an instance of this plan can move to another; the service's value if left out.",
        since="2.15",
    ),
    "schemas": Field("Parameter schemas", ref("schemas"), "What parameters users may pass."),
    "maximum_polling_duration": Field(
        "Maximum polling duration",
        {"type": "integer"},
        "How long the platform polls an operation before it gives up, in seconds.",
        since="2.15",
    ),
    "maintenance_info": Field(
        "Maintenance information",
        ref("maintenance_info"),
        "The version of what instances run on.",
        since="2.15",
    ),
}

SERVICE_METADATA = {
    "displayName": Field("Display name", WORDS, "The name shown to users."),
    "imageUrl": Field("Image", {**WORDS, "format": "uri"}, "The address of an icon, or a data: URL."),
    "longDescription": Field("Long description", WORDS, "A paragraph or more."),
    "providerDisplayName": Field("Provider", WORDS, "Who runs the service."),
    "documentationUrl": Field("Documentation", {**WORDS, "format": "uri"}, "Where users read on."),
    "supportUrl": Field("Support", {**WORDS, "format": "uri"}, "Where users get help."),
    "shareable": Field("Shareable", flag(), "Whether instances can be shared across spaces (Cloud Foundry)."),
}

PLAN_METADATA = {
    "displayName": Field("Display name", WORDS, "The name shown to users."),
    "bullets": Field("Bullets", listed(WORDS), "Features of the plan, a line each."),
    "costs": Field("Costs", listed({"$ref": "#/definitions/cost"}), "What the plan costs, one entry a unit."),
}

COST = {
    "amount": Field(
        "Amount",
        {"type": "object", "additionalProperties": {"type": "number"}, "examples": [{"usd": 99.0}]},
        "Prices by currency (ISO 4217, lower case).",
    ),
    "unit": Field("Unit", WORDS, "What the amount is for, such as MONTHLY or 1GB of messages over 20GB."),
}

DASHBOARD_CLIENT = {
    "id": Field("Client id", text(), "Unique among the clients of the platform's OAuth server.", required=True),
    "secret": Field("Client secret", text(), "A secret: keep it out of version control.", required=True),
    "redirect_uri": Field(
        "Redirect URI", text(), "Where the OAuth server sends users back to; Cloud Foundry wants it."
    ),
}

MAINTENANCE_INFO = {
    "version": Field("Version", text(examples=["2.1.1+abcdef"]), "A Semantic Version 2.0.", required=True),
    "description": Field("Description", WORDS, "What a change of the version means for an instance."),
}

SCHEMAS = {
    "service_instance": Field("Of a service instance", ref("service_instance_schemas"), "For create and update."),
    "service_binding": Field("Of a service binding", ref("service_binding_schemas"), "For create."),
}
INSTANCE_SCHEMAS = {
    "create": Field("When it is created", ref("input_parameters"), "Parameters of a provision request."),
    "update": Field("When it is updated", ref("input_parameters"), "Parameters of an update request."),
}
BINDING_SCHEMAS = {"create": Field("When it is created", ref("input_parameters"), "Parameters of a bind request.")}
PARAMETERS = {
    "parameters": Field(
        "The JSON Schema of the parameters",
        {"type": "object"},
        "Complete by itself, with $schema, at most 64 kB. Cloud Foundry takes draft-04 and draft-06 (http URIs).",
    )
}


def object_schema(fields: dict[str, Field], version: str, title: str) -> Schema:
    """The schema of an object. Unknown fields are allowed, as the specification requires."""
    known = {name: field for name, field in fields.items() if field.since <= version}
    required = [name for name, field in known.items() if field.required]
    schema: Schema = {"title": title, "type": "object"}
    if required:
        schema["required"] = required
    return {**schema, "properties": {name: field.schema for name, field in known.items()}}


def catalog_schema(version: str) -> Schema:
    """The schema of a catalog at `version`."""
    objects = {
        "service": (SERVICE, "Service offering"),
        "plan": (PLAN, "Service plan"),
        "service_metadata": (SERVICE_METADATA, "Display information of a service offering"),
        "plan_metadata": (PLAN_METADATA, "Display information of a service plan"),
        "cost": (COST, "One price"),
        "dashboard_client": (DASHBOARD_CLIENT, "OAuth client of a dashboard"),
        "maintenance_info": (MAINTENANCE_INFO, "Maintenance information"),
        "schemas": (SCHEMAS, "Parameter schemas"),
        "service_instance_schemas": (INSTANCE_SCHEMAS, "Parameter schemas of a service instance"),
        "service_binding_schemas": (BINDING_SCHEMAS, "Parameter schemas of a service binding"),
        "input_parameters": (PARAMETERS, "Input parameters"),
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"urn:osbctl:catalog:{version}",
        "title": f"Catalog of an Open Service Broker, API version {version}",
        "description": "The answer to GET /v2/catalog.",
        "type": "object",
        "required": ["services"],
        "properties": {
            "services": {
                "title": "Service offerings",
                "description": "What the broker offers. Cloud Foundry wants at least one.",
                "type": "array",
                "items": {"$ref": "#/definitions/service"},
            }
        },
        "definitions": {name: object_schema(fields, version, title) for name, (fields, title) in objects.items()},
    }


def made() -> Iterator[tuple[Path, str]]:
    """Each generated file with its text."""
    for version in ApiVersion:
        text = json.dumps(catalog_schema(version), indent=2, ensure_ascii=False)
        yield ROOT / "schemas" / f"catalog-{version}.json", f"{text}\n"
    for file in (*sorted((ROOT / "schemas").glob("*-1.json")), ROOT / "action.yml", FORM):
        text = with_platforms(file.read_text(encoding="utf-8"), list(Platform))
        yield file, with_tools(text, [tool.name for tool in tools_of(Platform)])


def with_platforms(text: str, platforms: Sequence[str]) -> str:
    """Update the lists of platforms in the text of a schema, of action.yml or of the form; in the latter by labels."""
    text = re.sub(r'\["cloudfoundry", [^\]]*\]', json.dumps(platforms), text)
    labels = ", ".join(platform.label for platform in Platform)
    text = re.sub(r"\[Cloud Foundry, .*, another one\]", f"[{labels}, another one]", text)
    return re.sub(r"cloudfoundry, [a-z, -]*;", f"{', '.join(platforms)};", text)


def with_tools(text: str, tools: Sequence[str]) -> str:
    """Update the list of the platforms' tools in the text of a schema."""
    return re.sub(r'("tool": \{\s*"enum": )\[[^\]]*\]', rf"\g<1>{json.dumps(tools)}", text)


def main() -> int:
    stale = []
    for file, text in made():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(file.name)
            if "--check" not in sys.argv:
                file.write_text(text, encoding="utf-8")
    if stale:
        print("out of date" if "--check" in sys.argv else "wrote", ", ".join(stale))
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
