"""What Cloud Foundry says of one parameter schema (`lib/services/service_brokers/v2/schema.rb`).

Its size first, then `$schema`, then the draft-04 metaschema whatever `$schema` says; a schema that
passes is put to work on `{}`, and what that brings up is told. A loop of references exhausts its stack.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from osbctl.validation.platforms import draft4, ruby
from osbctl.validation.platforms.cloudfoundry_library import NAMELESS, Crash, Fault, Invalid, Library, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARACTERS = 65_536
_METASCHEMA = "Must conform to JSON Schema Draft 04 (experimental support for later versions): "


class SchemaJudge:
    """Judges the schemas of one catalog; equal ones once.

    The library keeps what it has loaded: a later schema may refer to the `id` of an earlier one, and of two
    schemas with one `id` the first counts.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, dict[str, Any]] = {}
        self._known: dict[str, tuple[Fault, ...] | None] = {}

    def faults(self, schema: dict[str, Any]) -> tuple[Fault, ...]:
        """What the platform says of `schema`, in its order.

        Raises:
            Crash: it runs out of stack.
        """
        text = json.dumps(schema, ensure_ascii=False)
        if text not in self._known:
            try:
                self._known[text] = tuple(_faults(schema, text, self._loaded))
            except (Crash, RecursionError):
                self._known[text] = None
            self._loaded.pop(NAMELESS, None)
        known = self._known[text]
        if known is None:
            raise Crash
        return known


def _faults(schema: dict[str, Any], text: str, loaded: dict[str, dict[str, Any]]) -> Iterator[Fault]:
    if 6 * len(text) > MAX_CHARACTERS and ruby.json_length(schema) > MAX_CHARACTERS:
        yield Fault("cloudfoundry-schema-size", (), "Must not be larger than 64KB")
        return
    if not ruby.truthy(schema.get("$schema")):
        missing = "Schema must have $schema key but was not present"
        yield Fault("cloudfoundry-schema-dialect", ("$schema",), missing)
        return
    wrong = [Fault("cloudfoundry-schema-metaschema", path, _METASCHEMA + told) for path, told in draft4.faults(schema)]
    yield from wrong
    if wrong:
        return
    try:
        Library(schema, loaded).run()
    except Refused as refused:
        yield refused.fault
    except Invalid:
        pass
