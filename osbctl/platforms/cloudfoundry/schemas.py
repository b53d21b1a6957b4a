"""The parameter schemas of a plan before the Cloud Controller.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog_schemas.rb and schema.rb.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from osbctl.platforms.cloudfoundry.library import Library
from osbctl.platforms.cloudfoundry.metaschema import faults
from osbctl.platforms.cloudfoundry.report import Errors
from osbctl.platforms.cloudfoundry.ruby import RubyCrash, inspect, json_length

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from osbctl.paths import Path

    SchemaJudge: TypeAlias = Callable[[dict[str, Any], Path], Errors]

_LONGEST_SCHEMA = 65_536
_PLACES = (
    ("service_instance", "create"),
    ("service_instance", "update"),
    ("service_binding", "create"),
)
_MUST_CONFORM = "Must conform to JSON Schema Draft 04 (experimental support for later versions): "


class Fault(NamedTuple):
    """A line about one parameter schema: the rule, the place inside the schema, the words."""

    rule: str
    path: Path
    message: str


class SchemaChecks:
    """Judges the schemas of one plan after another; the library keeps what it has loaded, as there.

    Equal schemas are judged once, as long as nothing new was loaded in between. Of `plain` ones, valid draft-04
    without references and ids, only the size is open.
    """

    def __init__(self, plain: bool = False) -> None:
        self._plain = plain
        self._library = Library()
        self._known: dict[tuple[str, int], tuple[Fault, ...]] = {}

    def __call__(self, schemas: dict[str, Any], path: Path) -> Errors:
        """What is wrong with a plan's `schemas`: their shape, or else what they say. Raises RubyCrash."""
        errors = Errors("Schemas")
        found = _parameters(schemas, path, errors)
        if errors:
            return errors
        for keys, schema in found:
            for rule, place, message in self._faults_at(schema, (*path, *keys)):
                text = f"Schema {'.'.join(keys)} is not valid. {message}"
                errors.add(rule, (*path, *keys, *place), text)
        return errors

    def _faults_at(self, schema: dict[str, Any], path: Path) -> tuple[Fault, ...]:
        try:
            return self._faults(schema)
        except (RubyCrash, RecursionError) as crash:
            raise RubyCrash(path) from crash

    def _faults(self, schema: dict[str, Any]) -> tuple[Fault, ...]:
        text = json.dumps(schema)
        if self._plain and len(text) * 6 <= _LONGEST_SCHEMA:
            return ()
        known = self._known.get((text, self._library.loaded))
        if known is None:
            known = self._judged(schema)
            self._known[text, self._library.loaded] = known
        return known

    def _judged(self, schema: dict[str, Any]) -> tuple[Fault, ...]:
        if json_length(schema, _LONGEST_SCHEMA) > _LONGEST_SCHEMA:
            return (Fault("cloudfoundry-schema-size", (), "Must not be larger than 64KB"),)
        if schema.get("$schema") is None or schema["$schema"] is False:
            text = "Schema must have $schema key but was not present"
            return (Fault("cloudfoundry-schema-dialect", ("$schema",), text),)
        wrong = tuple(
            Fault("cloudfoundry-schema-metaschema", path, _MUST_CONFORM + told) for path, told in faults(schema)
        )
        if wrong:
            return wrong
        refused = self._library.refusal(schema)
        return (Fault(*refused),) if refused else ()


def _parameters(schemas: dict[str, Any], path: Path, errors: Errors) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """The parameter schemas that are there; what is no object on the way goes to `errors`."""
    found = []
    wrong: set[str] = set()
    for outer, inner in _PLACES:
        keys: tuple[str, ...] = ()
        value: Any = schemas
        for key in (outer, inner, "parameters"):
            keys, value = (*keys, key), value.get(key)
            if value is None or value is False or ".".join(keys) in wrong:
                break
            if not isinstance(value, dict):
                label = ".".join(keys)
                wrong.add(label)
                text = f"Schemas {label} must be a hash, but has value {inspect(value)}"
                errors.add("cloudfoundry-type", (*path, *keys), text)
                break
        else:
            found.append((keys, value))
    return found
