"""A difference between two parameter schemas, and the ids of rules that the comparison itself asks for."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from osbctl.paths import JsonPath, JsonValue

COMBINATION, UNDECIDED = "schema-combination-narrowed", "schema-undecided"
FORBIDDEN, REQUIRED = "schema-property-forbidden", "schema-required-added"
ITEMS, FORMAT = "schema-items-narrowed", "schema-format-changed"
DESCRIBED = "schema-property-described"

SchemaLevel: TypeAlias = Literal["breaking", "risky", "safe"]
"""`breaking`: a request that was valid is refused now. `safe`: none is. `risky`: undecided."""


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One difference between two parameter schemas.

    The paths lead from the top of each schema to the place that decides. None if that schema is absent. `field`
    names the difference among those of its rule: the path to the keyword, and where a reference leads to one place
    from many, or a keyword lists many names, also the steps that lead there in a request.

    `witness`, always present if the level is breaking, is a whole `parameters` object that the old schema accepts and
    the new one refuses: with formats asserted for the rule `schema-format-changed`, else by plain JSON Schema. It is
    the raw value; `message`, and `example`, the value as one line, are safe to print: cut short, escaped, redacted.
    """

    level: SchemaLevel
    rule: str
    old_path: JsonPath | None
    new_path: JsonPath | None
    message: str
    field: JsonPath = ()
    witness: dict[str, JsonValue] | None = None
    example: str = ""
