"""What Spring's broker sends of a configuration, by the answers of its own code.

`spring.jsonl.xz` has texts of an `application.yml`, each with the catalog that the classes of Spring Cloud Open Service
Broker 4.3 made of it, bound by those of Spring Boot 3.3.13 on Java 17 (`SpringAnswers.java`), or null where the broker
does not start.
"""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from osbctl.findings import DocumentError
from osbctl.paths import JsonPath
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.spring import has_name, sent_path, sent_value, spring_key
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.case import case, each
from tests.corpus import EVERY_CASE

FILE = Path(__file__).with_name("spring.jsonl.xz")
SAME = 720
"""Of so many texts it is read as Spring sends it; of the others, values have a wrong type, or the broker does not start."""
PLAIN = {"id-not-guid", "default-implicit"}
"""Rules that every text breaks."""

UNTOLD = (
    "x: [[a]]",
    "{a: 1, A: 2}",
    "schemas: {a: 1}",
    "{serviceInstance: {a: 1}}",
    "{create: {a: 1}}",
    "'[planUp",
    "unknownField",
)
"""Texts with a list in a list, keys that differ in case alone, and fields that no broker has: not sent as they stand."""


def prune(value: Any) -> Any:
    """A value without empty ones, which Spring adds, drops or writes as another empty one."""
    if isinstance(value, dict):
        return {key: below for key, item in value.items() if (below := prune(item)) not in (None, "", [], {})}
    return [*filter(None, map(prune, value))] if isinstance(value, list) else value


def is_reported(text: str) -> bool:
    """Return whether a finding tells that something in the text is not sent as it stands there."""
    try:
        result = validate_document(parse_catalog(text, "application.yml"), ValidationOptions())
    except DocumentError:
        return True
    return any(finding.rule not in PLAIN for finding in result.findings)


def read_recorded() -> Iterator[tuple[str, bool]]:
    """The texts, each with whether the catalog is read from it that Spring sends."""
    for text, sent in map(json.loads, lzma.decompress(FILE.read_bytes()).decode().splitlines()):
        try:
            yield text, sent is not None and prune(parse_catalog(text, "application.yml").data) == prune(sent)
        except DocumentError:
            yield text, False


def test_the_catalog_that_spring_sends_is_read() -> None:
    assert sum(is_same for _, is_same in read_recorded()) == SAME


@pytest.mark.fuzz
def test_a_finding_says_why_spring_sends_another_catalog() -> None:
    others = [text for text, is_same in read_recorded() if not is_same and not any(part in text for part in UNTOLD)]
    for text in others[:: 1 if EVERY_CASE else 19]:
        with case(text):
            assert is_reported(text)


@each("key", ["a" + ".a" * 20_000, "a" + "[a]" * 20_000, "[" * 20_000, "." * 20_000])
def test_a_key_of_many_levels_ends_well(key: str) -> None:
    text = json.dumps(
        {"spring.cloud.openservicebroker.catalog": {"services": [{"plans": [], "metadata": {"properties": {key: 1}}}]}}
    )
    assert parse_catalog(text, "application.json").data["services"]


LONG = "k" * 60
TEXT = f"""\
spring.cloud.openservicebroker.catalog.services:
- metadata: {{region: eu, {LONG}: 1, imageUrlResource: x, Properties: {{b: 012}}, properties: {{$a: 1, '[b.c]': 2, d: [1], {LONG}$: 3}}}}
  plan-updateable: true
  planUpdateable: false
  plan_updateable{"-" * 60}: false
  plans:
  - metadata: {{imageUrlResource: x, properties: {{b: [1], c: {{d: 1}}}}}}
    schemas: {{}}
  - metadata: {{properties: 5}}
    free{"-" * 60}: true
    Free: true
"""
BELOW, BRACKETS = "write it below `properties`", "with the brackets and quotes"
FOUND = [
    (2, "warning", "Spring's broker does not send 'region', which is not below `properties`", BELOW),
    (2, "warning", f"Spring's broker does not send '{LONG[:40]}', which is not below `properties`", BELOW),
    (2, "warning", "Spring's broker sends the key '$a' as 'a'", f"write '[$a]', {BRACKETS}"),
    (
        2,
        "warning",
        f"Spring's broker sends the key '{LONG[:40]}' as '{LONG[:40]}'",
        f"write '[{LONG[:39]}', {BRACKETS}",
    ),
    (4, "warning", "Spring's broker takes 'plan-updateable' and 'planUpdateable' for one field", "remove one of them"),
    (
        5,
        "warning",
        f"Spring's broker takes 'plan-updateable' and 'plan_updateable{'-' * 25}' for one field",
        "remove one of them",
    ),
    (
        7,
        "warning",
        "Spring's broker sends lists in `properties` of a plan as objects with keys 0, 1 and so on",
        "write it as text, or declare the catalog in code",
    ),
    (7, "warning", "Spring's broker does not send 'imageUrlResource', which is not below `properties`", BELOW),
    (8, "error", "Spring's broker does not start with an empty object here", "remove it"),
    (11, "warning", f"Spring's broker takes 'free{'-' * 36}' and 'Free' for one field", "remove one of them"),
    (9, "error", "`properties` must be an object", "write fields of the metadata in it, or remove it"),
]


def test_what_is_not_sent_as_it_stands_is_located() -> None:
    document = parse_catalog(TEXT, "application.yml")
    notes = [note for note in document.notes if note.rule == "spring-binding"]
    assert {note.rule for note in document.notes if note not in notes} == {"yaml-1.1"}
    found = [(note.location.line, str(note.severity), note.message, str(note.hint)) for note in notes]
    assert sorted(found) == sorted(FOUND)
    (service,) = document.data["services"]
    assert (service["plan_updateable"], service["metadata"]) == (True, {"b": 12, "a": 1, "b.c": 2, "d": [1], LONG: 3})


@each("field, value, sent", [
    ("name", 0.0, "0.0"), ("name", 0.001, "0.001"), ("name", 0.0009, 0.0009), ("name", 9999999.5, "9999999.5"), ("name", 1e7, 1e7),
    ("maximumPollingDuration", " +60 ", 60), ("maximumPollingDuration", "1.5", "1.5"), ("maximumPollingDuration", "٣", "٣"),
    ("maintenance_info", "5", "5"), ("metadata", {"costs": "a, b"}, {"costs": "a, b"}), ("metadata", {"bullets": "a ,b"}, {"bullets": ["a", "b"]}),
])  # fmt: skip
def test_values_are_converted_to_the_type_of_their_field(field: str, value: Any, sent: Any) -> None:
    catalog = {"services": [{"plans": [{field: value}]}]}
    document = parse_catalog(json.dumps({"spring.cloud.openservicebroker.catalog": catalog}), "application.json")
    (plan,) = document.data["services"][0]["plans"]
    assert [*plan.values()] == [sent]
    assert [*map(type, plan.values())] == [type(sent)]


@each("key", ["open-service-broker.catalog", "openServiceBroker.Catalog", "open_service_broker.catalog"])
def test_the_property_is_known_in_any_spelling(key: str) -> None:
    text = f"Spring.cloud.{key}:\n  services: [{{name: a, planUpdateable: yes, plans: []}}]"
    assert parse_catalog(text, "application.yml").data["services"][0]["plan_updateable"] is True


def test_words_are_booleans_as_spring_reads_yaml() -> None:
    """Asked of Spring's own code; quotes make them text."""
    fields = "{name: on, tags: [yes, n, 'no'], metadata: {properties: {a: [off, y], b: Yes, c: 'yes'}}, plans: []}"
    document = parse_catalog(f"spring.cloud.openservicebroker.catalog.services: [{fields}]", "application.yml")
    (service,) = document.data["services"]
    assert (service["name"], service["tags"]) == ("true", ["true", "n", "no"])
    assert service["metadata"] == {"a": [False, "y"], "b": True, "c": "yes"}


@each("key, name, is_name", [
    ("plan-updateable", "plan_updateable", True), ("[$schema]", "$schema", True), ("PLANS", "plans", True), ("plan", "plans", False),
])  # fmt: skip
def test_a_key_has_the_name_under_which_it_is_sent(key: str, name: str, is_name: bool) -> None:
    assert has_name(key, name) == has_name(name, key) == is_name


def test_a_key_is_spelled_for_spring() -> None:
    path = ("services", 0, "PLANS", 1, "schemas", "service-instance", "create", "parameters", "[$schema]", "ä")
    sent = ("services", 0, "plans", 1, "schemas", "service_instance", "create", "parameters", "$schema", "ä")
    assert sent_path(path) == sent
    assert [spring_key(name) for name in ("plan_updateable", "$schema", "name")] == [
        "planUpdateable",
        "[$schema]",
        "name",
    ]


PLAN = ("services", 0, "plans", 0)


@each("value, path, sent", [
    ("yes", ("services", 0, "plan_updateable"), True), ("60", (*PLAN, "maximum_polling_duration"), 60),
    (5, (*PLAN, "metadata", "displayName"), "5"), ({"displayName": 5}, (*PLAN, "metadata"), {"displayName": "5"}),
    (5, (*PLAN, "schemas", "service_instance", "create", "parameters", "title"), 5), ("yes", (*PLAN, "metadata", "x", "free"), "yes"),
])  # fmt: skip
def test_the_value_of_a_renamed_field_is_converted(value: Any, path: JsonPath, sent: Any) -> None:
    assert sent_value(value, path) == sent
