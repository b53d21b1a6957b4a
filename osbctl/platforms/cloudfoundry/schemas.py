"""The parameter schemas of a plan before the Cloud Controller.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_schemas.rb and schema.rb.
"""

from __future__ import annotations

import json
from typing import Any

from osbctl.jsonschemas.metaschema import faults
from osbctl.paths import Path, value_at
from osbctl.platforms.cloudfoundry.report import Errors
from osbctl.platforms.cloudfoundry.ruby import RubyCrash, inspect, json_length, same
from osbctl.platforms.cloudfoundry.schema_gem import UnclearSchemaError, refusal
from osbctl.platforms.outcome import Refusal

_LONGEST_SCHEMA = 65_536
_DRAFT_04 = "http://json-schema.org/draft-04/schema#"
_PLACES = {"service_instance": ("create", "update"), "service_binding": ("create",)}
_MUST_CONFORM = "Must conform to JSON Schema Draft 04 (experimental support for later versions): "


class SchemaChecks:
    """Judges the schemas of one plan after another; schemas of one content are judged once.

    `doubts` are the schemas for which the platform's answer is unclear.
    """

    def __init__(self) -> None:
        self._judged: dict[tuple[str, int], tuple[Refusal, ...]] = {}
        self._ids: set[str] = set()
        self.doubts: list[Refusal] = []

    def __call__(self, schemas: dict[str, Any], path: Path) -> Errors:
        """Errors of a plan's `schemas`. Raises RubyCrash.

        The lines of parameters come before those of what holds them, and so on outwards.
        """
        errors, last = Errors("Schemas"), Errors()
        for outer, inners in _PLACES.items():
            if instances := _hash(schemas, path, (outer,), last):
                after = Errors()
                for inner in inners:
                    if operation := _hash(instances, path, (outer, inner), after):
                        self._parameters(operation, path, (outer, inner, "parameters"), errors)
                errors.own += after.own
        errors.own += last.own
        return errors

    def _parameters(self, operation: dict[str, Any], path: Path, keys: tuple[str, ...], errors: Errors) -> None:
        schema = _hash(operation, path, keys, errors)
        for rule, place, message in self._faults(schema, (*path, *keys)) if schema is not None else ():
            text = f"Schema {'.'.join(keys)} is not valid. {message}"
            errors.add(rule, (*path, *keys, *place), text)

    def _faults(self, schema: dict[str, Any], path: Path) -> tuple[Refusal, ...]:
        """A line for each fault of the schema at `path`, with its place inside of it."""
        try:
            # What a reference finds depends on the names of schemas that were loaded before.
            key = json.dumps(schema), len(self._ids)
            if key not in self._judged:
                self._judged[key] = self._judge(schema)
            return self._judged[key]
        except RubyCrash as crash:
            raise RubyCrash(path) from crash
        except UnclearSchemaError as unclear:
            self.doubts.append(Refusal("cloudfoundry-schema-unclear", (*path, *unclear.path), unclear.reason))
            return ()
        except RecursionError:
            self.doubts.append(Refusal("cloudfoundry-schema-unclear", path, "it is nested too deep"))
            return ()

    def _judge(self, schema: dict[str, Any]) -> tuple[Refusal, ...]:
        if json_length(schema, _LONGEST_SCHEMA) > _LONGEST_SCHEMA:
            return (Refusal("cloudfoundry-schema-size", (), "Must not be larger than 64KB"),)
        if schema.get("$schema") is None or schema["$schema"] is False:
            text = "Schema must have $schema key but was not present"
            return (Refusal("cloudfoundry-schema-dialect", ("$schema",), text),)
        # Cloud Foundry takes every schema for one of draft-04, whatever its `$schema` says.
        as_draft_04 = {**schema, "$schema": _DRAFT_04} if isinstance(schema["$schema"], str) else schema
        found = faults(as_draft_04, "Draft4Validator")
        wrong = tuple(
            Refusal("cloudfoundry-schema-metaschema", path, _MUST_CONFORM + message)
            for path, message in found
            if not _is_taken(schema, path)
        )
        if wrong:
            return wrong
        refused = refusal(schema, self._ids)
        return (refused,) if refused else ()


def _is_taken(schema: dict[str, Any], path: Path) -> bool:
    """Return whether the platform accepts an error of the metaschema: any `format`, an `enum` with 1 and 1.0."""
    if path[-1:] != ("enum",):
        return path[-1:] == ("format",)
    items = value_at(schema, path)
    return isinstance(items, list) and 0 < len(items) == len({same(item, strict=True) for item in items})


def _hash(holder: dict[str, Any], path: Path, keys: tuple[str, ...], errors: Errors) -> dict[str, Any] | None:
    """Object at the last of `keys`; other values except null and false are added to `errors`."""
    value = holder.get(keys[-1])
    if isinstance(value, dict):
        return value
    if value is not None and value is not False:
        text = f"Schemas {'.'.join(keys)} must be a hash, but has value {inspect(value)}"
        errors.add("cloudfoundry-type", (*path, *keys), text)
    return None
