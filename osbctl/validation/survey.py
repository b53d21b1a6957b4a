"""A quick look over a whole catalog that tells which slow looks are needless.

Most catalogs hold no template placeholder, no reference, and parameter schemas that are valid draft-04. To
know it costs one pass in C and one in Rust; to find it out plan by plan costs twenty times as much.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from osbctl.sources.document import Document

_SIGNS = ("((", "{{", "${", "<%", "%s", "%d", "%v")
_DRAFT_04 = "http://json-schema.org/draft-04/schema"


class Survey(NamedTuple):
    """What a catalog may hold. Each is True where in doubt.

    `placeholders`: text that looks like a template's. `patterns`: the keyword `pattern`. `odd_schemas`: a parameter
    schema that is not plain, valid draft-04 without references and ids of its own. `written_values`: defaults or
    examples. `nul`: the character U+0000.
    """

    placeholders: bool = True
    patterns: bool = True
    odd_schemas: bool = True
    written_values: bool = True
    nul: bool = True


UNKNOWN = Survey()
"""The survey of a catalog that was not looked over: anything may be in it."""


def survey(document: Document) -> Survey:
    """Look over the catalog of `document`."""
    text = _searchable(document)
    return Survey(
        # Looking for one character is ten times as fast, and mostly enough.
        placeholders=any(sign[0] in text and sign in text for sign in _SIGNS),
        patterns="pattern" in text,
        written_values="default" in text or "example" in text,
        nul="\\u0000" in text,  # as an escape only: no reader takes it raw
        odd_schemas="parameters" in text
        and ("$ref" in text or "$dynamicRef" in text or not _decides(_plain(), document.data)),
    )


def _searchable(document: Document) -> str:
    """A text that holds every string of the catalog as it is: the source's own, unless escapes could hide one."""
    text = document.text
    escape = "\\u" if document.syntax == "json" else "\\"
    if text and not ("\\" in text and escape in text):
        return text
    return json.dumps(document.data, ensure_ascii=False)


def _decides(validator: Any, data: dict[str, Any]) -> bool:
    try:
        return bool(validator.is_valid(data))
    except ValueError:
        return False  # nested deeper than it reads


@cache
def _plain() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft4Validator(_plain_catalog(), validate_formats=False)


def _plain_catalog() -> dict[str, Any]:
    """A draft-04 schema of catalogs whose parameter schemas are plain: valid, and without what makes them odd.

    It is stricter than draft-04's own where Cloud Foundry's library is: the one address of the draft, no `id`, no
    `$schema` below the top, no empty `enum`.
    """
    holder = _object(parameters={"$ref": "#/definitions/top"})
    schemas = _object(service_instance=_object(create=holder, update=holder), service_binding=_object(create=holder))
    never: dict[str, Any] = {"not": {}}
    nested = {"$ref": "#/definitions/nested"}
    named = {"additionalProperties": nested}
    plain = {
        **dict.fromkeys(("id", "$id", "extends", "disallow", "patternProperties"), never),
        **dict.fromkeys(("definitions", "properties", "dependencies"), named),
        **dict.fromkeys(("additionalItems", "additionalProperties", "items", "allOf", "anyOf", "oneOf", "not"), nested),
        "enum": {"minItems": 1, "uniqueItems": True},
    }
    return {
        **_object(services={"items": _object(plans={"items": _object(schemas=schemas)})}),
        "definitions": {
            "top": {
                "allOf": [{"$ref": f"{_DRAFT_04}#"}],
                "required": ["$schema"],
                "properties": {**plain, "$schema": {"enum": [_DRAFT_04, f"{_DRAFT_04}#"]}},
            },
            "nested": {"items": nested, "properties": {**plain, "$schema": never}},  # a schema, or an array of them
        },
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}
