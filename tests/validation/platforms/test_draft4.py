"""The draft-04 metaschema in the words of Cloud Foundry's library."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.validation.platforms import draft4

SUFFIX = " in schema http://json-schema.org/draft-04/schema#"
ONE_OF = "did not match one or more of the required schemas"


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"title": 1}, ["/title' of type integer did not match the following type: string"]),
        ({"id": 5, "$schema": " x:"}, [
            "/id' of type integer did not match the following type: string",
            "/$schema' must be a valid URI",
        ]),
        ({"multipleOf": 0}, ["/multipleOf' did not have a minimum value of 0, exclusively"]),
        ({"maxLength": -1}, ["/maxLength' did not have a minimum value of 0, inclusively"]),
        ({"minLength": -1}, ["/minLength' of type integer did not match all of the required schemas"]),
        ({"minItems": 1.0}, ["/minItems' of type number did not match all of the required schemas"]),
        ({"additionalProperties": "no"}, [f"/additionalProperties' of type string {ONE_OF}"]),
        ({"items": []}, [f"/items' of type array {ONE_OF}"]),
        ({"type": "int"}, [f"/type' of type string {ONE_OF}"]),
        ({"type": []}, [f"/type' of type array {ONE_OF}"]),
        ({"required": True}, ["/required' of type boolean did not match the following type: array"]),
        ({"required": ["a", "a"]}, ["/required' contained duplicated array values"]),
        ({"enum": []}, ["/enum' did not contain a minimum number of items 1"]),
        ({"enum": [1, 1.0]}, []),
        ({"exclusiveMinimum": True}, [
            "/' has a property 'exclusiveMinimum' that depends on a missing property 'minimum'"
        ]),
        ({"properties": {"a": 1}}, ["/properties/a' of type integer did not match the following type: object"]),
        ({"allOf": [1]}, ["/allOf/0' of type integer did not match the following type: object"]),
        ({"dependencies": {"a": []}}, [f"/dependencies/a' of type array {ONE_OF}"]),
        ({"not": None}, ["/not' of type null did not match the following type: object"]),
        ({"pattern": "(", "format": 7, "readOnly": "yes"}, []),
    ],
)  # fmt: skip
def test_words(schema: dict[str, Any], told: list[str]) -> None:
    assert [message for _, message in draft4.faults(schema)] == [f"The property '#{line}{SUFFIX}" for line in told]


KEYWORDS = [
    key for key in jsonschema.Draft4Validator.META_SCHEMA["properties"] if key not in ("id", "$schema", "format")
]
VALUES = st.recursive(
    st.sampled_from(
        [None, True, False, 0, -1, 2, "a", "string", "integer", ["a"], ["a", "a"], [], {}, ["string", "null"]]
    ),
    lambda inner: st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=4))
def test_agrees_with_jsonschema_on_what_is_valid(schema: dict[str, Any]) -> None:
    ours = not list(draft4.faults(schema))
    assert ours == jsonschema.Draft4Validator(jsonschema.Draft4Validator.META_SCHEMA).is_valid(schema)
