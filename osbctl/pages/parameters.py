"""The parameter schemas of plans as tables; plans often share one, so each is worked out once."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import Any, NamedTuple

from osbctl.catalog import ServicePlan
from osbctl.jsonschemas.parameters import parameters
from osbctl.pages.content import Requests, Sample
from osbctl.pages.links import fragment
from osbctl.secrecy import SECRET, Redactor, looks_secret

PLACES = {
    "service_instance.create": ("create", "Parameters to create an instance"),
    "service_instance.update": ("update", "Parameters to update an instance"),
    "service_binding.create": ("bind", "Parameters to bind"),
}
"""For each place of a schema, the last word of its anchor and its heading."""


class Shown(NamedTuple):
    """One row; `anchor` is the part of its own."""

    anchor: str
    name: str
    type: str
    required: bool
    default: str
    limits: str
    description: str


class ParameterBlock(NamedTuple):
    """The parameters of one place."""

    place: str
    heading: str
    rows: tuple[Shown, ...]
    sample: Sample = Sample()


class Parameters:
    """Makes the blocks of plans."""

    def __init__(self, requests: Requests, secrets: Redactor) -> None:
        self._requests = requests
        self._secrets = secrets
        self._known: dict[bytes, tuple[tuple[Shown, ...], Sample]] = {}

    def of(self, plan: ServicePlan) -> tuple[ParameterBlock, ...]:
        """The blocks of a plan."""
        return tuple([self._block(place, schema) for place, schema in plan.parameters.items()])

    def _block(self, place: str, schema: Mapping[str, Any]) -> ParameterBlock:
        word, heading = PLACES[place]
        # Schemas that differ in title and description alone, as those of plans do, have one table and one example.
        schema = {keyword: value for keyword, value in schema.items() if keyword not in ("title", "description")}
        try:
            # The same bytes for the same JSON value, in a third of the time that its text takes. Version 2 is the last
            # that has no references, which tell one object twice from two that are equal.
            key = marshal.dumps(schema, 2)
        except ValueError:  # too deep for an example; the table ends at its own depth
            return ParameterBlock(word, heading, tuple(map(self._row, parameters(schema))))
        if key not in self._known:
            rows = tuple(map(self._row, parameters(schema)))
            self._known[key] = rows, self._requests.sample(schema)
        rows, sample = self._known[key]
        return ParameterBlock(word, heading, rows, sample)

    def _row(self, row: Any) -> Shown:
        text = self._secrets.text
        secret = looks_secret(row.name)
        default = text(row.default, 1_000)
        if secret and default:
            self._secrets.left_out += 1
            default = SECRET
        return Shown(
            fragment(row.name),
            row.name,
            text(row.type, 2_000),
            row.required,
            default,
            text(row.limits, 1_000),
            text(row.description),
        )
