"""The parameter schemas of a plan before the Cloud Controller.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_schemas.rb and schema.rb.
"""

from __future__ import annotations

from typing import Any

from osbctl.catalog import parameter_holders
from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.library import Library
from osbctl.platforms.cloudfoundry.metaschema import faults
from osbctl.platforms.cloudfoundry.report import Errors
from osbctl.platforms.cloudfoundry.ruby import RubyCrash, inspect, json_length
from osbctl.platforms.outcome import UNKNOWN, Refusal, Schemas

_LONGEST_SCHEMA = 65_536
_PLACES = {"service_instance": ("create", "update"), "service_binding": ("create",)}
_MUST_CONFORM = "Must conform to JSON Schema Draft 04 (experimental support for later versions): "


class SchemaChecks:
    """Judges the schemas of one plan after another; the library keeps what it has loaded, as there.

    Schemas that are alike are judged once, as long as nothing new was loaded in between. Of plain ones, which have
    no references and ids, nothing is open.
    """

    def __init__(self, schemas: Schemas = UNKNOWN.schemas) -> None:
        self._schemas = schemas
        self._library = Library()
        self._known: dict[tuple[int, int], tuple[Refusal, ...]] = {}

    def may_refuse(self, plan: dict[str, Any]) -> bool:
        """Whether a parameter schema of a plan may be refused."""
        if self._schemas.all_plain:
            return False
        return not all(self._schemas.is_plain(holder["parameters"]) for _, holder in parameter_holders(plan))

    def __call__(self, schemas: dict[str, Any], path: Path) -> Errors:
        """What is wrong with a plan's `schemas`. Raises RubyCrash.

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
        if self._schemas.is_plain(schema):
            return ()
        try:
            # The lengths of schemas that are alike differ by their titles.
            if json_length(schema, _LONGEST_SCHEMA) > _LONGEST_SCHEMA:
                return (Refusal("cloudfoundry-schema-size", (), "Must not be larger than 64KB"),)
            key = self._schemas.alike.get(id(schema), id(schema)), self._library.loaded
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = self._judged(schema)
        except (RubyCrash, RecursionError) as crash:
            raise RubyCrash(path) from crash
        return known

    def _judged(self, schema: dict[str, Any]) -> tuple[Refusal, ...]:
        if schema.get("$schema") is None or schema["$schema"] is False:
            text = "Schema must have $schema key but was not present"
            return (Refusal("cloudfoundry-schema-dialect", ("$schema",), text),)
        wrong = tuple(
            Refusal("cloudfoundry-schema-metaschema", path, _MUST_CONFORM + message) for path, message in faults(schema)
        )
        if wrong:
            return wrong
        from osbctl.platforms.cloudfoundry.evaluation import refusal  # most schemas are plain, and need none of it

        refused = refusal(self._library, schema)
        return (refused,) if refused else ()


def _hash(holder: dict[str, Any], path: Path, keys: tuple[str, ...], errors: Errors) -> dict[str, Any] | None:
    """What stands at the last of `keys`; what is no object goes to `errors`, but for null and false."""
    value = holder.get(keys[-1])
    if isinstance(value, dict):
        return value
    if value is not None and value is not False:
        text = f"Schemas {'.'.join(keys)} must be a hash, but has value {inspect(value)}"
        errors.add("cloudfoundry-type", (*path, *keys), text)
    return None
