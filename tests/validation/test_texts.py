"""Texts that platforms may not store, and fields that SAP knows."""

from __future__ import annotations

from typing import Any

import pytest

from osbctl.fields import known
from osbctl.platforms import ApiVersion
from osbctl.validation.node import CatalogNode
from osbctl.validation.rules.fields import field_near_miss
from osbctl.validation.rules.texts import long_text, text_nul


def catalog(service: dict[str, Any], plan: dict[str, Any]) -> CatalogNode:
    return CatalogNode({"services": [{**service, "plans": [plan]}]}, ApiVersion.V2_17)


def test_metadata_that_sap_knows_is_known_and_a_slip_of_it_is_told() -> None:
    right = catalog(
        {
            "metadata": dict.fromkeys(
                ("createInstanceDocumentationUrl", "updateInstanceDocumentationUrl"), "https://a.b"
            )
        },
        {"metadata": dict.fromkeys(("supportedMinOSBVersion", "supportedMaxOSBVersion"), "2.14")},
    )
    assert list(field_near_miss(right)) == []
    assert "supportedMinOSBVersion" in known("plan_metadata")
    (slip,) = field_near_miss(catalog({}, {"metadata": {"supportedMinOsbVersion": "2.14"}}))
    assert slip.message.endswith("did you mean supportedMinOSBVersion?")


@pytest.mark.parametrize(
    ("service", "paths"),
    [
        ({"tags": ["a", "b\0"]}, [("services", 0, "tags", 1)]),
        ({"metadata": {"x\0": 1}}, [("services", 0, "metadata", "x\0")]),
        ({"id": "a\0", "name": "b\0", "description": "c\0"}, []),
        ({"tags": ["\\u0000"]}, []),
    ],
)
def test_nul_is_told_where_service_manager_s_verdict_does_not(service: dict[str, Any], paths: list[Any]) -> None:
    assert [hit.path for hit in text_nul(catalog(service, {"name": "p\0"}))] == paths


def test_long_texts_but_those_that_are_meant_to_be_long() -> None:
    long = "é" * 256
    thing = {
        "tags": ["a", long],
        "metadata": {"displayName": long, "bullets": [long[1:], long], "longDescription": long},
    }
    assert [hit.path[2:] for hit in long_text(catalog(thing, {}))] == [
        ("metadata", "displayName"),
        ("metadata", "bullets", 1),
        ("tags", 1),
    ]
