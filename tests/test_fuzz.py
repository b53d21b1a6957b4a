"""Any input gives findings with locations, never a crash."""

import contextlib
import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osbctl.commands.diff import compare_documents
from osbctl.commands.fix import fix_bytes
from osbctl.commands.page import PageCatalog, make_page
from osbctl.commands.params import plan_parameters
from osbctl.errors import OsbctlError
from osbctl.findings import DocumentError
from osbctl.pages import Content
from osbctl.platforms import Platform
from osbctl.platforms.tools import Purpose
from osbctl.reports import Format, Report, render
from osbctl.sources.document import parse_document
from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from osbctl.validation.checks import load_all
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.corpus import EVERY_CASE
from tests.folders import catalogs_folder
from tests.jsonschemas.test_sound import BROKEN

pytestmark = pytest.mark.fuzz
RULES = load_all()
GOOD = read_source(str(catalogs_folder() / "interface-example.json")).data
TEXTS = {
    "a.json": (catalogs_folder() / "interface-example.json").read_text(),
    "a.yaml": (catalogs_folder() / "faulty.yaml").read_text(),
}
names = st.sampled_from(["a.json", "a.yaml", "a"])
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=20)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=10), inner, max_size=3)),
    max_leaves=8,
)


def survive(data: bytes, name: str) -> None:
    try:
        document = parse_document(data, name)
    except DocumentError as error:
        assert all(finding.location and finding.location.line >= 1 for finding in error.findings)
        return
    judgement = validate_document(document, ValidationOptions())
    assert all(f.location and f.location.line >= 1 and f.location.column >= 1 for f in judgement.findings)
    for kind in (Format.TEXT, Format.JSON, Format.SARIF):
        render(Report([judgement], lambda: RULES), kind)


@given(st.binary(max_size=300), names)
def test_bytes(data: bytes, name: str) -> None:
    survive(data, name)


@given(st.text(alphabet="{}[]\",:\\ \n\t-&*!|>%@`'#?<=.~abu019é\U0001f600", max_size=80), names)
def test_texts(text: str, name: str) -> None:
    survive(text.encode("utf-8", "surrogatepass"), name)


@given(st.sampled_from(list(TEXTS)), st.data())
def test_mutated_texts(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 40, len(text))))
        text = (
            text[:start]
            + data.draw(st.sampled_from(["", text[start:end] * 2, "\x00", '"', "  ", "- ", "}", "{"]))
            + text[end:]
        )
    survive(text.encode(), name)


def grafted(value: Any, data: st.DataObject) -> Any:
    """`value` with something else at one place in it."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(list(value)))
        return {**value, key: grafted(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], grafted(value[index], data), *value[index + 1 :]]
    return data.draw(values)


@given(st.data(), st.booleans())
def test_documents(data: st.DataObject, as_yaml: bool) -> None:
    whole = GOOD
    for _ in range(data.draw(st.integers(1, 3))):
        whole = grafted(whole, data)
        if not isinstance(whole, dict):
            break
    text = dump(whole) if as_yaml else json.dumps(whole, ensure_ascii=False)
    survive(text.encode("utf-8", "surrogatepass"), "a.yaml" if as_yaml else "a.json")


LIMITS = st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "minLength", "maxItems", "multipleOf", "default"])
LIMITED = st.dictionaries(
    LIMITS, st.sampled_from([0, 1, -1, 2.5, 10**400, 1e308, True, "1", [2.5], 5e-324]), min_size=2
)
LIMITED |= st.dictionaries(st.sampled_from(["a", "b"]), LIMITED).map(lambda parts: {"properties": parts})
SCHEMAS = (
    BROKEN
    | LIMITED
    | st.tuples(LIMITED, st.dictionaries(st.sampled_from(["enum", "type", "$schema"]), BROKEN)).map(
        lambda both: {**both[0], **both[1]}
    )
)


@settings(max_examples=2_000 if EVERY_CASE else 8)  # each goes through all commands
@given(SCHEMAS, SCHEMAS)
def test_parameter_schemas(create: Any, update: Any) -> None:
    methods = {"create": {"parameters": create}, "update": {"parameters": update}}
    plan = {"id": "p", "name": "small", "description": "d", "schemas": {"service_instance": methods}}
    service = {"id": "s", "name": "db", "description": "d", "bindable": True, "plans": [plan]}
    bare = {**service, "plans": [{**plan, "schemas": {"service_instance": {"create": {"parameters": update}}}}]}
    texts = [json.dumps({"services": [one]}).encode() for one in (service, bare)]
    survive(texts[0], "a.json")
    try:
        new, old = (parse_document(text, "a.json") for text in texts)
    except DocumentError:
        return
    compare_documents(old, new, frozenset(Platform))
    fix_bytes("a.json", texts[0], ValidationOptions(), unsafe=True)
    make_page([PageCatalog("db", new, old)], Content(findings=True))
    for purpose, request in product(Purpose, (None, "{}", '{"a": 1, "b": 2.5}')):
        with contextlib.suppress(OsbctlError):
            plan_parameters(new, "db", "small", purpose, request)
