"""A quick look over a whole catalog that tells which slow looks are needless.

Most catalogs hold no reference, and parameter schemas that are valid draft-04; plans often share one. To know it costs
one pass in C and one in Rust; to find it out plan by plan costs twenty times as much.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from osbctl.jsonschemas.fast_validator import fast_validator
from osbctl.platforms.outcome import Schemas
from osbctl.sources.document import Document
from osbctl.validation.node import CatalogNode, Parameters

_DRAFT_04 = "http://json-schema.org/draft-04/schema"
_MAX_SIZE = 65_536
_MAX_TITLE = 500
_TO_TITLES = re.compile(rb"[/#](title|description)|%")
"""Stands in a schema with a reference to its title or description; `%` may stand for any character."""
_EXPONENT = re.compile(r"\de[+-]\d")


class Survey(NamedTuple):
    """What a catalog may hold. Each flag is True where in doubt.

    `patterns`: the keyword `pattern`. `written_values`: defaults or examples. `nul`: the character U+0000. `schemas`:
    what platforms are told of the parameter schemas.

    `parameters` are the parameter schemas; where none are given, they are to be looked for.
    """

    patterns: bool = True
    written_values: bool = True
    nul: bool = True
    parameters: Sequence[Parameters] = ()
    schemas: Schemas = Schemas()

    @property
    def odd_schemas(self) -> bool:
        """Whether a parameter schema may be odd."""
        return not self.schemas.all_plain


UNKNOWN = Survey()
"""The survey of a catalog that was not looked over: anything may be in it."""


def survey(document: Document) -> Survey:
    """Look over the catalog of `document`."""
    text = _searchable(document)
    parameters = CatalogNode(document.data).parameters
    distinct, alike = _contents(parameters)
    words = b"".join(distinct)
    return Survey(
        nul="\\" in text and "\\u0000" in text,  # as an escape only: no reader takes it raw
        patterns=b"pattern" in words,
        written_values=b"default" in words or b"example" in words,
        schemas=_schemas(distinct, alike),
        parameters=parameters,
    )


def survey_schemas(data: dict[str, Any]) -> Schemas:
    """Look over the parameter schemas of a catalog."""
    return _schemas(*_contents(CatalogNode(data).parameters))


def _contents(parameters: Iterable[Parameters]) -> tuple[dict[bytes, dict[str, Any]], dict[int, int]]:
    """The first parameter schema of each content, and which are alike, as in `Schemas`."""
    distinct: dict[bytes, dict[str, Any]] = {}
    alike: dict[int, int] = {}
    with_title: dict[bytes, bool] = {}
    for _, _, schema in parameters:
        content = marshal.dumps(_untitled(schema), 2)
        if content not in with_title:
            # The title may count where the schema is near the bound, or refers to it.
            to_title = _refers(content) and _TO_TITLES.search(content)
            with_title[content] = len(content) >= _MAX_SIZE / 10 or bool(to_title)
        if with_title[content]:
            content = marshal.dumps(schema, 2)
        alike[id(schema)] = id(distinct.setdefault(content, schema))
    return distinct, alike


def _schemas(distinct: Mapping[bytes, dict[str, Any]], alike: Mapping[int, int]) -> Schemas:
    odd = (id(schema) for content, schema in distinct.items() if _refers(content) or not _is_plain(schema))
    return Schemas(alike, frozenset(odd))


def _searchable(document: Document) -> str:
    """A text that holds every string of the catalog as it is: the source's own, unless escapes could hide one."""
    text = document.text
    escape = "\\u" if document.syntax == "json" else "\\"
    if text and not ("\\" in text and escape in text):
        return text
    return json.dumps(document.data, ensure_ascii=False)


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    rest = schema.copy()
    for word in ("title", "description"):
        if type(rest.get(word)) is str and len(rest[word]) <= _MAX_TITLE:
            del rest[word]
    return rest


def _refers(content: bytes) -> bool:
    return b"$ref" in content or b"$dynamicRef" in content


def _is_plain(schema: dict[str, Any]) -> bool:
    """Whether a parameter schema is plain, valid draft-04 and has under 64 kB, as all with its content."""
    text = json.dumps(schema)
    # Cloud Foundry counts six characters for each of <, > and &, and a power of ten with all its digits.
    size = len(text) + 5 * sum(map(text.count, "<>&")) + 12 * _MAX_TITLE
    return size <= _MAX_SIZE and not _EXPONENT.search(text) and _plain()(schema)


@cache
def _plain() -> Callable[[Any], bool]:
    """Tells whether a parameter schema is valid draft-04, and without what makes it odd.

    It is stricter than draft-04's own where Cloud Foundry's library is: the one address of the draft, no `id`, no
    `$schema` below the top, no empty `enum`.
    """
    never: dict[str, Any] = {"not": {}}
    nested = {"$ref": "#/definitions/nested"}
    named = {"additionalProperties": nested}
    plain = {
        **dict.fromkeys(("id", "$id", "extends", "disallow", "patternProperties"), never),
        **dict.fromkeys(("definitions", "properties", "dependencies"), named),
        **dict.fromkeys(("additionalItems", "additionalProperties", "items", "allOf", "anyOf", "oneOf", "not"), nested),
        "enum": {"minItems": 1, "uniqueItems": True},
    }
    top = {
        "allOf": [{"$ref": f"{_DRAFT_04}#"}],
        "required": ["$schema"],
        "properties": {**plain, "$schema": {"enum": [_DRAFT_04, f"{_DRAFT_04}#"]}},
        # A schema, or an array of them.
        "definitions": {"nested": {"items": nested, "properties": {**plain, "$schema": never}}},
    }
    return fast_validator(top, "Draft4Validator")
