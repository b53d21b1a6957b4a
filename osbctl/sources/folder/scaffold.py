"""Write files of a source folder: a new folder, a new service or plan, or an existing catalog."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from osbctl.catalog import objects_in_list, parameter_holders
from osbctl.errors import SourceError
from osbctl.files import write_file
from osbctl.findings import DocumentError
from osbctl.paths import JsonPath
from osbctl.sources.document import Document
from osbctl.sources.folder.lock import fresh_id
from osbctl.sources.folder.source_tree import escape_dollars
from osbctl.sources.yaml_text import dump, dump_string

_SETTINGS = """\
# The catalog as a whole. `osbctl build .` composes it, `osbctl validate .` checks it as it stands.
# The order of the services is that of their file names, unless you say otherwise:
# services: [{text}]

# What every service or plan says unless its own file says something else.
defaults:
  service:
    bindable: true
    metadata:
      providerDisplayName: REPLACE_WITH_YOUR_NAME
  plan:
    bindable: true
"""

ATTRIBUTES = ".gitattributes", "catalog.lock merge=union text eol=lf\n"
"""The file that tells git to keep the lock's lines of both sides in a merge, and LF as its line end."""

_SERVICE = """\
# A service offering. `name` is what users order, `id` what platforms know it by: never change an id.
name: {text}
id: {id}
description: REPLACE_WITH_ONE_SENTENCE
tags: [example]
plan_updateable: true # an instance can move to another plan
metadata:
  displayName: {title}
  longDescription: REPLACE_WITH_A_PARAGRAPH
  documentationUrl: https://docs.example.com/{name}
{plans}"""

_PLANS = """\
plans:
  - name: small
    id: {small}
    description: For a start.
    free: true
    metadata:
      bullets: [1 GB storage]
    schemas:
      service_instance:
        create:
          parameters:
            $ref: ../schemas/parameters.json # bundled by the build
  - name: large
    id: {large}
    description: For more.
    free: false
    metadata:
      bullets: [100 GB storage]
      costs:
        - amount: {{usd: 19.0}}
          unit: MONTHLY
    schemas:
      service_instance:
        create:
          parameters:
            $ref: ../schemas/parameters.json # bundled by the build
# Further plans may stand in files of their own: services/{name}/plans/PLAN.yaml
"""

_PLAN = """\
# A service plan of {service}. Never change an id.
name: {text}
id: {id}
description: REPLACE_WITH_ONE_SENTENCE
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


def new_folder_files(name: str) -> Iterator[tuple[str, str]]:
    """The files of a new folder that builds: one service with two plans and a parameter schema."""
    plans = _PLANS.format(name=name, small=fresh_id(), large=fresh_id())
    yield "catalog.yaml", _SETTINGS.format(text=dump_string(name))
    yield _service_file(name, plans)
    yield "schemas/parameters.json", _PARAMETERS
    yield ATTRIBUTES


def service_files(name: str) -> Iterator[tuple[str, str]]:
    """A service offering with one plan in a file of its own."""
    yield _service_file(name)
    yield from plan_files(name, "small")


def _service_file(name: str, plans_text: str = "") -> tuple[str, str]:
    text, title = dump_string(name), dump_string(name.capitalize())  # `10` and `null` are names, too
    return f"services/{name}.yaml", _SERVICE.format(name=name, text=text, id=fresh_id(), title=title, plans=plans_text)


def plan_files(service_stem: str, name: str) -> Iterator[tuple[str, str]]:
    """A plan in a file of its own."""
    text = _PLAN.format(service=service_stem, text=dump_string(name), id=fresh_id())
    yield f"services/{service_stem}/plans/{name}.yaml", text


def check_splittable(document: Document) -> None:
    """Raise DocumentError where `services` or `plans` is not a list of objects, of which each becomes a file."""
    services = document.data.get("services")
    if not isinstance(services, list) or not all(isinstance(service, dict) for service in services):
        raise _not_splittable_error(document, ("services",))
    for index, service in enumerate(services):
        plans = service.get("plans")
        if isinstance(plans, list) and not all(isinstance(plan, dict) for plan in plans):
            raise _not_splittable_error(document, ("services", index, "plans"))


def _not_splittable_error(document: Document, path: JsonPath) -> DocumentError:
    message = f"`{path[-1]}` must be a list of objects, to be split"
    return DocumentError((document.error("schema-type", message, path, "osbctl validate says more"),))


def split_catalog(catalog: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The files of a source folder for `catalog`: paths within the folder, and texts.

    A parameter schema that several plans share gets a file of its own. `services` is a list of objects.
    """
    services = catalog["services"]
    shared = _shared_schema_names(services)
    stems: list[str] = []
    for service in services:
        copy: dict[str, Any] = json.loads(json.dumps(service))
        for _, holder in _parameter_holders(copy):
            schema = shared.get(json.dumps(holder["parameters"]))
            if schema:
                holder["parameters"] = {"$ref": f"../schemas/{schema}.json"}
        stems.append(_unique_stem(service.get("name"), stems))
        yield f"services/{stems[-1]}.yaml", dump(escape_dollars(copy))
    for text, name in shared.items():
        yield f"schemas/{name}.json", json.dumps(escape_dollars(json.loads(text)), indent=2, ensure_ascii=False) + "\n"
    further = {key: value for key, value in catalog.items() if key != "services"}
    yield "catalog.yaml", dump({"services": stems, **({"fields": escape_dollars(further)} if further else {})})
    yield ATTRIBUTES


def write_new_files(folder: Path, files: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write `files` into `folder`; yield a sentence for each. Raises SourceError, before any if one exists already."""
    made = [(folder / name, text) for name, text in files]
    for file, _ in made:
        if os.path.lexists(file) and file.name != ATTRIBUTES[0]:
            message = f"{file.as_posix()} already exists, and nothing is overwritten"
            raise SourceError(message, "choose another folder or name")
    for file, text in made:
        if os.path.lexists(file):
            yield f"add to {file.as_posix()}: {text.strip()}"
            continue
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(f"{file.parent.as_posix()}: cannot be made: {error.strerror}") from error
        write_file(file, text.encode("utf-8"))
        yield f"wrote {file.as_posix()}"


def _unique_stem(name: Any, taken: Collection[str]) -> str:
    """A unique file name for a service, from its name where that is possible."""
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") if isinstance(name, str) else ""
    stem, number = word[:80] or "service", 1
    while stem.lower() in (other.lower() for other in taken):
        number += 1
        stem = f"{word[:80] or 'service'}-{number}"
    return stem


def _shared_schema_names(services: list[dict[str, Any]]) -> dict[str, str]:
    """File names of the parameter schemas that occur more than once, by their JSON text."""
    uses: dict[str, list[str]] = {}
    for service in services:
        for place, holder in _parameter_holders(service):
            text = json.dumps(holder["parameters"])
            # In a file of its own a reference would be read anew.
            if '"$ref"' not in text and len(holder["parameters"]) > 1:
                uses.setdefault(text, []).append(f"{_unique_stem(service.get('name'), ())}-{place}")
    found: dict[str, str] = {}
    for text, names in uses.items():
        if len(names) > 1:
            found[text] = _unique_stem(names[-1], found.values())
    return found


def _parameter_holders(service: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects with `parameters` in a service's plans, each with its place as a word, such as `instance-create`."""
    for plan, _ in objects_in_list(service, "plans"):
        for (outer, inner), holder in parameter_holders(plan):
            yield f"{outer.removeprefix('service_')}-{inner}", holder
