"""The files of a source folder to start from, and of a service offering or a plan to add to one."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

from osbctl.platforms import DEFAULT_API_VERSION
from osbctl.resources import catalog_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS = """\
# The catalog as a whole. `osbctl build .` composes it, `osbctl validate .` checks it as it stands.
# The order of the services is that of their file names, unless you say otherwise:
# services: [{name}]

# What every service or plan says unless its own file says something else.
defaults:
  service:
    bindable: true
    metadata:
      providerDisplayName: Example Inc.
  plan:
    bindable: true
"""

ATTRIBUTES = ".gitattributes", "catalog.lock merge=union\n"
"""The file, and what it tells git: a merge keeps the lines of the lock of both sides."""

EDITOR_SCHEMA = ".osbctl/service.schema.json"

_SERVICE = """\
# yaml-language-server: $schema=../.osbctl/service.schema.json
# A service offering. `name` is what users order, `id` what platforms know it by: never change an id.
name: {name}
id: {id}
description: What {name} is, in one sentence.
tags: [example]
plan_updateable: true # an instance can move to another plan
metadata:
  displayName: {title}
  longDescription: A paragraph for the marketplace.
  documentationUrl: https://docs.example.com/{name}
{plans}"""

_PLANS = """\
plans:
{small}
{large}
# Further plans may stand in files of their own: services/{name}/plans/PLAN.yaml
"""

_INLINE = """\
  - name: {name}
    id: {id}
    description: {description}
    free: {free}
    metadata:
      bullets: [{bullet}]{costs}
    schemas:
      service_instance:
        create:
          parameters:
            $ref: ../schemas/parameters.json # bundled by the build"""

_COSTS = """
      costs:
        - amount: {usd: 19.0}
          unit: MONTHLY"""

_PLAN = """\
# A service plan of {service}. Never change an id.
name: {name}
id: {id}
description: What the plan {name} offers, in one sentence.
free: false
metadata:
  bullets: [a feature, another feature]
  costs:
    - amount: {{usd: 19.0}}
      unit: MONTHLY
"""

_PARAMETERS = """\
{
  "$schema": "http://json-schema.org/draft-04/schema#",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "storage_gb": {
      "type": "integer",
      "minimum": 1,
      "maximum": 100,
      "default": 1,
      "description": "Storage in gigabytes."
    }
  }
}
"""


def fresh_id() -> str:
    """A new GUID in upper case, as the interface shows them."""
    return str(uuid.uuid4()).upper()


def folder(name: str) -> Iterator[tuple[str, str]]:
    """The files of a folder that builds at once: one service with two plans and a parameter schema."""
    small = _INLINE.format(
        name="small", id=fresh_id(), description="For a start.", free="true", bullet="1 GB storage", costs=""
    )
    large = _INLINE.format(
        name="large", id=fresh_id(), description="For more.", free="false", bullet="100 GB storage", costs=_COSTS
    )
    plans = _PLANS.format(name=name, small=small, large=large)
    yield "catalog.yaml", _SETTINGS.format(name=name)
    yield f"services/{name}.yaml", _SERVICE.format(name=name, id=fresh_id(), title=name.capitalize(), plans=plans)
    yield "schemas/parameters.json", _PARAMETERS
    yield EDITOR_SCHEMA, _editor_schema()
    yield ATTRIBUTES


def _editor_schema() -> str:
    """A JSON Schema of service files for editors: the catalog's, where nothing is required in the file itself."""
    whole = json.loads(catalog_schema(DEFAULT_API_VERSION))
    for part in whole["definitions"].values():
        part.pop("required", None)
    whole["definitions"]["service"]["properties"]["plans"]["items"] = {
        "anyOf": [{"type": "string", "description": "The file of a plan."}, {"$ref": "#/definitions/plan"}]
    }
    schema = {
        "$schema": whole["$schema"],
        **whole["definitions"]["service"],
        "title": "A service offering in a source folder of osbctl",
        "definitions": whole["definitions"],
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def service(name: str) -> Iterator[tuple[str, str]]:
    """A service offering with one plan in a file of its own."""
    yield f"services/{name}.yaml", _SERVICE.format(name=name, id=fresh_id(), title=name.capitalize(), plans="")
    yield from plan(name, "small")


def plan(service_stem: str, name: str) -> Iterator[tuple[str, str]]:
    """A plan in a file of its own."""
    text = _PLAN.format(service=service_stem, name=name, id=fresh_id())
    yield f"services/{service_stem}/plans/{name}.yaml", text
