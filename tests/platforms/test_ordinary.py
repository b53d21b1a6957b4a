"""Platforms accept ordinary catalogs: `accepted_by_all.json` may not describe more than that."""

import copy
from contextlib import suppress
from itertools import combinations
from typing import Any

import pytest

from osbctl.findings import DocumentError
from osbctl.paths import get_at
from osbctl.platforms import Platform
from osbctl.platforms.verdict import VerdictKind, is_accepted_by_all, judge
from osbctl.sources.document import parse_document
from tests.case import case
from tests.comparison.make import catalog, plan, service
from tests.corpus import EVERY_CASE
from tests.fragments import DRAFT_04, changed, places
from tests.platforms.recorded import SHARE, cases

SCHEMA = {
    "$schema": DRAFT_04,
    "title": "a",
    "description": "a",
    "type": "object",
    "properties": {
        "a": {"type": ["string", "null"], "minLength": 1, "maxLength": 9, "pattern": "^a", "format": "uri"},
        "b": {"type": "array", "items": {"enum": ["a", 1]}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        "c": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "examples": [3]},
        "d": {"allOf": [{}], "anyOf": [{}], "oneOf": [{"additionalProperties": {}}]},
    },
    "required": ["a"],
    "additionalProperties": False,
}
FLAGS = {"plan_updateable": True, "bindable": True, "other": 1}
PLAN = {
    "free": False,
    "metadata": {"supportsInstanceSharing": False, "bullets": ["a"]},
    "maximum_polling_duration": 60,
    "maintenance_info": {"version": "1.2.3", "description": "a"},
    "schemas": {
        "service_instance": {"create": {"parameters": SCHEMA}, "update": {}},
        "service_binding": {"create": {"parameters": {"$schema": DRAFT_04}}},
    },
    **FLAGS,
}
SERVICE = {
    "tags": ["a"],
    "requires": ["syslog_drain"],
    "metadata": {"shareable": True, "documentationUrl": "https://example.com"},
    **dict.fromkeys(("instances_retrievable", "bindings_retrievable", "allow_context_updates"), True),
    **FLAGS,
}
PLANS = [plan(f"p{number}", name, **PLAN) for number, name in enumerate(("small", "large", "small"), 1)]
SERVICES = service("s1", "db", *PLANS[:2], **SERVICE), service("s2", "queue", PLANS[2], **SERVICE)
ORDINARY: dict[str, Any] = {**catalog(*SERVICES), "other": 1}

LONG = ["x" * 64, "x" * 11_000, ["x" * 500] * 5, ["x" * 20] * 150]
TEXTS = ["", " ", "\u00a0", "a\0", "é" * 40, "reference-instance", "SMALL", "s2", "p3", "queue", "1.2", "01.2.3"]
NUMBERS = [0, -1, -(2**40), 1.0, 1.5, 1e30, 1e308, 2**31, 2**63, 10**400]
DIALECTS = [f"http://json-schema.org/draft-0{n}/schema#" for n in (3, 6, 7)] + ["http://example.com/schema"]
SCHEMAS = [
    {"$ref": "#/definitions/a"}, {"$ref": "https://example.com"}, {"id": "a", "$ref": "a"}, {"extends": {}},
    {"patternProperties": {"(": {}}}, {"definitions": {"a": 1}}, {"enum": []}, {"enum": [1, 1]}, {"required": []},
    {"type": "int"}, {"type": []}, {"type": ["string", "string"]}, {"dependencies": 1}, {"not": {"$ref": "#"}},
    *({"$schema": DRAFT_04, "default": [number] * 1_300} for number in (1e300, 1e60, -1e60, 1e-60, 10**11)),
    {"$schema": DRAFT_04, "title": "<" * 11_000},
]  # fmt: skip
SUPPORT = [
    {key: ["kubernetes"] for key in names}
    for names in combinations(("supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames"), 2)
]
OTHERS = [None, "\ud800", True, False, {}, [], ["a"], [1], [None], ["a", "a"], {"a": 1}, {"": {}}, {"CREATE": 1}]
ODD = [*LONG, *TEXTS, *NUMBERS, *DIALECTS, *SCHEMAS, *SUPPORT, *OTHERS]


ACCEPTING = [platform for platform in Platform if platform.record.in_accepted_by_all]


def assert_accepted(data: Any) -> None:
    for platform in ACCEPTING:
        assert judge(platform, data).kind is VerdictKind.ACCEPTS, platform


@pytest.mark.fuzz
def test_every_platform_accepts_an_ordinary_catalog_with_any_odd_value() -> None:
    """In each place of it, and in place of each field; most catalogs are ordinary no more."""
    paths = [path for path in places(ORDINARY) if path and path[:2] != ("services", 1)]
    number_ordinary = 0
    assert is_accepted_by_all(ORDINARY)
    for number, path in enumerate(paths):
        for odd in [..., *(ODD if EVERY_CASE else ODD[number % 5 :: 5])]:
            data = changed(ORDINARY, path, odd)
            if is_accepted_by_all(data):
                number_ordinary += 1
                with case(path, f"{odd!r:.80}"):
                    assert_accepted(data)
    assert number_ordinary > len(paths)


def struct_fields(catalog_type: Any) -> tuple[list[str], list[str]]:
    """The fields of a service offering and of a plan that a program in Go reads."""
    service = getattr(catalog_type["services"], "shape", catalog_type["services"])
    service = service[0] if isinstance(service, list) else service
    plan = getattr(service["plans"], "shape", service["plans"])
    return [*service], [*(plan[0] if isinstance(plan, list) else plan)]


def test_every_platform_accepts_an_ordinary_catalog_with_other_fields() -> None:
    """Go reads a field in any case of its name, and each platform reads fields that others do not."""
    in_go = [platform for platform in ACCEPTING if platform.record.go_source]
    assert len(in_go) >= 3
    for catalog_type in (platform.load_module("verdict").CATALOG_TYPE for platform in in_go):
        for path, names in zip(
            [("services", 0), ("services", 0, "plans", 0)], struct_fields(catalog_type), strict=True
        ):
            for name in names:
                for spelling in (name, name.upper(), name.title(), name.replace("s", "ſ")):
                    data = copy.deepcopy(ORDINARY)
                    get_at(data, path)[spelling] = {"": [1]}
                    with case(path, spelling):
                        assert not is_accepted_by_all(data) or spelling == "metadata"


@pytest.mark.fuzz
def test_recorded_answers_to_ordinary_catalogs_are_acceptances() -> None:
    number_ordinary = 0
    for recorded in cases():
        if recorded.platform in ACCEPTING and is_accepted_by_all(read_data(recorded.text)):
            number_ordinary += 1
            with case(recorded.name):
                assert recorded.kind is VerdictKind.ACCEPTS
    assert number_ordinary >= 500 // SHARE


def read_data(text: bytes) -> dict[str, Any]:
    """The catalog in a text; empty if osbctl or a platform cannot read it, as with a byte order mark."""
    with suppress(DocumentError):
        return {} if text.startswith(b"\xef\xbb\xbf") else parse_document(text, "case.json").data
    return {}
