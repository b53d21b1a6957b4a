"""Results of the comparison of two parameter schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from osbctl.paths import JsonValue, Path

SchemaLevel: TypeAlias = Literal["breaking", "risky", "safe"]
"""`breaking`: a request that was valid is refused now. `safe`: none is. `risky`: undecided."""


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One difference between two parameter schemas.

    The pointers lead from the top of each schema to the place that decides; None if that schema is absent. `message`
    is safe to print: cut short, escaped, without the values of secrets.

    `field` names the difference: of all changes of a rule between two schemas, each has its own. It is the pointer to
    the keyword, and where that does not say which part of a request it is about (`required` lists many names, a
    reference leads to one place from many) also the steps that lead there in a request.

    `witness`, always present if the level is breaking, is a whole `parameters` object that the old schema accepts and
    the new one refuses. For the rule `schema-format-changed` that holds with formats asserted, for every other rule by
    plain JSON Schema validation. It is the raw value; `example` is the printable part of it, as one line.
    """

    level: SchemaLevel
    rule: str
    pointer_old: Path | None
    pointer_new: Path | None
    message: str
    field: Path = ()
    witness: dict[str, JsonValue] | None = None
    example: str = ""
