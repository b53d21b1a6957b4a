"""A bundled schema means what the files side by side mean: jsonschema gives the same verdict on both."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

from osbctl.sources.folder import read_folder

D4 = "http://json-schema.org/draft-04/schema#"
FILES = ("a.json", "b.json", "c.json")
NAMES = ("x", "y")

references = st.one_of(
    st.sampled_from(FILES).flatmap(lambda f: st.sampled_from(NAMES).map(lambda n: f"{f}#/definitions/{n}")),
    st.sampled_from(NAMES).map(lambda n: f"#/definitions/{n}"),
)
leaves = st.sampled_from(
    [{"type": "integer"}, {"type": "string"}, {"minimum": 2}, {"enum": [1, "a", None]}, {}, {"required": ["x"]}]
)


def schemas(reference: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    leaf = st.one_of(leaves, st.fixed_dictionaries({"$ref": reference}))

    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from(NAMES), inner, min_size=1)}),
            st.fixed_dictionaries({"items": inner}),
            st.fixed_dictionaries({"properties": st.fixed_dictionaries({"x": inner}), "required": st.just(["x"])}),
            st.fixed_dictionaries({"additionalProperties": inner, "type": st.just("object")}),
        )

    return st.recursive(leaf, grown, max_leaves=4)


# What is consumed on the way lets recursion end: a definition is never a bare reference.
definitions = schemas(references).filter(lambda schema: "$ref" not in schema)
files = st.fixed_dictionaries(
    {name: st.fixed_dictionaries(dict.fromkeys(NAMES, definitions)).map(lambda d: {"definitions": d}) for name in FILES}
)
values = st.recursive(
    st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "b"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(NAMES), inner, max_size=2)),
    max_leaves=6,
)
tops = schemas(
    st.sampled_from(FILES).flatmap(lambda f: st.sampled_from(NAMES).map(lambda n: f"../schemas/{f}#/definitions/{n}"))
)


def bundled(top: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schemas").mkdir()
        (folder / "services").mkdir()
        for file, content in texts.items():
            (folder / "schemas" / file).write_text(json.dumps(content))
        plan = {"name": "p", "id": "1", "schemas": {"service_instance": {"create": {"parameters": top}}}}
        (folder / "services" / "s.json").write_text(json.dumps({"name": "s", "id": "2", "plans": [plan]}))
        data = read_folder(name).data
    made: dict[str, Any] = data["services"][0]["plans"][0]["schemas"]["service_instance"]["create"]["parameters"]
    return made


@given(tops, files, st.lists(values, min_size=1, max_size=8))
def test_same_verdicts(top: dict[str, Any], texts: dict[str, Any], instances: list[Any]) -> None:
    top = {"$schema": D4, **top}
    beside = Registry().with_resources(
        (f"http://folder/schemas/{name}", Resource.from_contents(content, default_specification=DRAFT4))
        for name, content in texts.items()
    )
    whole = bundled(top, texts)
    text = json.dumps(whole)
    assert ".json" not in text.replace(D4, "")
    beside = beside.with_resource(
        "http://folder/services/s.json", Resource.from_contents(top, default_specification=DRAFT4)
    )
    apart = {"$ref": "http://folder/services/s.json"}
    for instance in instances:
        expected = jsonschema.Draft4Validator(apart, registry=beside).is_valid(instance)
        assert jsonschema.Draft4Validator(whole).is_valid(instance) is expected
