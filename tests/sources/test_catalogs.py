"""The catalogs in a larger document: found, pointed at, and read with their places in the file."""

import json
import textwrap
from typing import Any

import pytest

from osbctl.errors import UsageError
from osbctl.findings import DocumentError, Finding
from osbctl.paths import get_at
from osbctl.platforms import ApiVersion
from osbctl.sources.catalogs import has_service_offering, parse_catalog, require_services
from osbctl.sources.document import Document, parse_document, parse_text
from osbctl.sources.yaml_text import dump
from osbctl.validation.pipeline import schema_findings
from tests.case import case, each

OFFERINGS = [{"name": "x", "plans": []}]
ONE: dict[str, Any] = {"id": "1", "name": "x", "plans": []}
CATALOG = {"services": OFFERINGS}
TEXT = json.dumps(
    {
        "a/b": {"~x": [{"services": 1}]},
        "catalog": {"services": [{"name": "s"}]},
        "list": [{"name": "one", "plans": [{"name": "p"}]}],
        "one": ONE,
        "none": None,
        "camel": {"services": [{"planUpdateable": True}]},
        "": {"": {"services": []}},
    },
    indent=1,
)


def refusal(text: str, name: str = "a.json", **options: Any) -> Finding:
    with pytest.raises(DocumentError) as caught:
        parse_catalog(text, name, **options)
    (finding,) = caught.value.findings
    return finding


@each("at, data", [
    ("/a~1b/~0x/0", {"services": 1}),
    ("/catalog", {"services": [{"name": "s"}]}),
    ("//", {"services": []}),
    ("/list", {"services": [{"name": "one", "plans": [{"name": "p"}]}]}),
    ("/one", {"services": [ONE]}),
    ("/camel", {"services": [{"planUpdateable": True}]}),  # names are Spring's in its configuration alone
])  # fmt: skip
def test_what_a_pointer_leads_to(at: str, data: Any) -> None:
    document = parse_catalog(TEXT, "a.json", at=at, allow_nested=False)
    assert (document.data, document.read_as) == (data, "")


@each("name", ["a.json", "a.yaml"])
def test_places_are_those_of_the_whole_text(name: str) -> None:
    document = parse_catalog(TEXT, name, at="/catalog")
    paths: list[tuple[str | int, ...]] = [(), ("services",), ("services", 0, "name"), ("gone",)]
    found = document.locate(paths)
    lines = TEXT.split("\n")
    there = [lines[found[path].line - 1].strip() for path in paths]
    assert there == ['"catalog": {', '"services": [', '"name": "s"', '"catalog": {']


@each("at, inserted", [("/list", ("services",)), ("/one", ("services", 0))])
def test_what_is_no_object_with_services_is_wrapped_and_located(at: str, inserted: tuple[str | int, ...]) -> None:
    document, whole = parse_catalog(TEXT, "a.json", at=at), parse_text(TEXT, "a.json")
    for path in ((), (0,), ("plans",), (0, "plans", 0, "name"), ("name",)):
        inner, outer = (*inserted, *path), (at[1:], *path)
        assert document.locate([inner])[inner] == whole.locate([outer])[outer]
    assert document.locate([()])[()] == whole.locate([(at[1:],)])[at[1:],]


def test_notes_are_those_of_the_part() -> None:
    parts = "  catalog: {services: [{name: no, plans: []}]}\n  list: [{name: y, plans: []}]\n  one: {id: a, name: n, plans: []}\n"
    text = "on: 1\nouter:\n" + parts
    assert len(parse_text(text, "a.yaml").notes) == 4
    for line, at in enumerate(("catalog", "list", "one"), 3):
        (note,) = parse_catalog(text, "a.yaml", at=f"/outer/{at}").notes
        assert (note.path, note.location.line) == (("services", 0, "name"), line)


@each("at, rule, words", [
    ("/catlog", "pointer-not-found", "no 'catlog' in the top did you mean catalog?"),
    ("/zzz", "pointer-not-found", "there are: a/b, catalog, list, one, none"),
    ("/a~1b/~0x/1", "pointer-not-found", "no '1' in /a~1b/~0x it is an array of 1"),
    ("/a~1b/~0x/00", "pointer-not-found", "no '00'"),
    ("/a~1b/~0x/-", "pointer-not-found", "no '-'"),
    ("/a~1b/~0x/٠", "pointer-not-found", "no '٠'"),
    ("/list/" + "9" * 5000, "pointer-not-found", "it is an array of 1"),
    ("/catalog/services/0/name", "not-an-object", "the document is a string"),
    ("/none", "not-an-object", "the value at /none is null"),
    ("/catalog/services", "not-an-object", "the value at /catalog/services is an array"),
    ("/catalog/services/0", "no-catalog", "there is no catalog here"),
])  # fmt: skip
def test_pointers_that_lead_to_no_catalog(at: str, rule: str, words: str) -> None:
    finding = refusal(TEXT, at=at)
    assert finding.rule == rule
    assert words in f"{finding.message} {finding.hint}"
    assert finding.location is not None


def test_what_is_no_pointer() -> None:
    for at in ("catalog", "#/catalog", "/a~2b", "/a~"):
        with case(at), pytest.raises(UsageError, match="not a JSON pointer"):
            parse_catalog(TEXT, "a.json", at=at)


DEEP: Any = CATALOG
for _ in range(80):
    DEEP = {"x": DEEP}
FOUND: dict[str, tuple[Any, list[str]]] = {
    "below a key": ({"catalog": CATALOG}, ["/catalog"]),
    "services with one that is none": ({"catalog": {"services": [*OFFERINGS, None]}}, ["/catalog"]),
    "a bare list": ({"offerings": OFFERINGS}, ["/offerings"]),
    "an offering": ({"x": {"y": ONE}}, ["/x/y"]),
    "an offering that is bindable": ({"x": {"id": "1", "name": "x", "bindable": True}}, ["/x"]),
    "in a list": ({"jobs": [{}, {"properties": CATALOG}]}, ["/jobs/1/properties"]),
    "keys with slashes": ({"a/b": {"~": CATALOG}}, ["/a~1b/~0"]),
    "80 levels down": (DEEP, ["/x" * 80]),
    "two": ({"deep": {"catalog": CATALOG}, "catalog": CATALOG}, ["/deep/catalog", "/catalog"]),
    "two offerings": ({"a": ONE, "b": ONE}, ["/a", "/b"]),
    "in a text": ({"data": {"catalog.json": json.dumps(CATALOG)}}, ["/data/catalog.json"]),
    "deeper in a text": ({"data": {"a.yml": dump({"spring": CATALOG})}}, ["/data/a.yml/spring"]),
    "beside services that are none": ({"services": {"web": {"image": "x"}}, "x": CATALOG}, ["/x"]),
    "in services that are none": ({"a": {"services": {"x": {"catalog": CATALOG}}}}, ["/a/services/x/catalog"]),
    "at the top alone": ({"services": [{"name": "x", "more": CATALOG}]}, [""]),
    "services that are misspelt": ({"service": OFFERINGS}, [""]),
    "services that are a mapping": ({"services": {"x": ONE}}, [""]),
    "services that are a mapping, deeper": ({"a": {"services": {"x": ONE, "y": {}}}}, ["/a"]),
    "in a text, services that are a mapping": ({"a.yml": dump({"services": {"x": ONE}})}, ["/a.yml"]),
    "services of something else": ({"services": {"web": {"image": "x"}}}, [""]),
    "an empty list deeper": ({"catalog": {"services": []}}, []),
    "a mapping deeper": ({"catalog": {"services": {"x": {}}}}, []),
    "a plan": ({"plans": [{"id": "1", "name": "p", "bindable": True}]}, []),
    "prose": ({"text": "the plans: are\nnot: {here"}, []),
    "a text in a text": ({"a": json.dumps({"b": json.dumps(CATALOG)})}, []),
    "the manifest of a brokerpak": ({"service_definitions": ["a.yml"]}, []),
    "a definition of a brokerpak": ({**ONE, "provision": {}, "bind": {}}, []),
    "nothing": ({}, []),
}  # fmt: skip


@each("name", FOUND)
@each("written", [json.dumps, dump])
def test_where_catalogs_are(name: str, written: Any) -> None:
    data, pointers = FOUND[name]
    text = written(data)
    if len(pointers) != 1:
        finding = refusal(text, "a")
        assert finding.rule == ("catalog-elsewhere" if pointers else "no-catalog")
        assert all(one in finding.message for one in pointers)
        return
    document = parse_catalog(text, "a")
    assert document.read_as == (f"a: read {document.read_as[8:]}" if pointers[0] else "")
    assert f" at {pointers[0]}" in document.read_as + " at "
    assert document.data == parse_catalog(text, "a", at=pointers[0], allow_nested=False).data
    if pointers[0]:
        finding = refusal(text, "a", allow_nested=False)
        assert (finding.rule, finding.hint) == ("catalog-elsewhere", f"add --at {pointers[0]}")


@each("data, what", [([ONE], "a list of service offerings"), (ONE, "a single service offering")])
def test_a_bare_list_and_a_single_offering_are_read_and_it_is_said(data: Any, what: str) -> None:
    document = parse_catalog(json.dumps(data), "a.json", allow_nested=False)
    assert (document.data, document.read_as) == ({"services": [ONE]}, f"a.json: read {what} as a catalog")
    more = [None, *data] if isinstance(data, list) else data
    assert parse_catalog(json.dumps(more), "a.json").data["services"] == (more if more is not data else [data])


def test_an_alias_of_a_catalog_is_no_second_one() -> None:
    assert parse_catalog("a: &c {services: [{plans: []}]}\nb: *c\n", "a").read_as == "a: read the catalog at /a"


STREAM = """\
# Source: chart/templates
---
# nothing
---
kind: Deployment
---
kind: ConfigMap
catalog:
  services: [{name: no, plans: []}]
---
"""


def test_a_stream_of_documents() -> None:
    document = parse_catalog(STREAM, "a.yaml")
    assert document.read_as == "a.yaml: read the catalog at /1/catalog"
    assert document.data == parse_catalog(STREAM, "a.yaml", at="/1/catalog", allow_nested=False).data
    path = ("services", 0, "name")
    assert str(document.locate([path])[path]) == "a.yaml:9:15"
    blank = STREAM.replace("templates\n", "templates\n \n").replace("# nothing", "# nothing\n...")
    for text in (STREAM, blank, blank.replace("# nothing", "")):
        assert parse_catalog(text.replace("\n", "\r\n"), "a.yaml").read_as == document.read_as
    assert [str(note.location) for note in document.notes] == ["a.yaml:9:21"]
    assert "a stream of 2" in refusal(STREAM, "a.yaml", at="/catalog").hint
    two = STREAM.replace("kind: Deployment", "services: [{plans: []}]")
    assert "at /0 and /1/catalog" in refusal(two, "a.yaml").message
    assert refusal("a: 1\n---\nb: 2\n", "a.yaml").rule == "no-catalog"
    assert refusal("a: 1\n---\nb: [\n", "a.yaml").rule == "syntax"
    assert refusal('{"services": []}\n{"services": []}\n').rule == "several-documents"
    assert refusal("a: 1\n---\n" * 30_000, "a.yaml").rule == "several-documents"  # too many to locate


def config_map(text: str, style: str = "|") -> str:
    return f"kind: ConfigMap\ndata:\n  log: debug\n  catalog: {style}\n" + textwrap.indent(text, "    ")


def place(document: Document, *path: str | int) -> tuple[int, int, int]:
    found = document.locate([path])[path]
    assert found.source == "cm.yaml"
    return found.line, found.column, found.end


@each("ends", ["\n", "\r\n"])
@each("style", ["|", "|-", "|2 # the catalog"])
def test_places_in_a_block_of_lines_are_those_of_the_file(style: str, ends: str) -> None:
    inner = "\n\nservices:\n- name: no\n  plans:\n   - free: x\n"
    document = parse_catalog(config_map(inner, style).replace("\n", ends), "cm.yaml")
    assert document.embedded
    assert place(document, "services") == (7, 5, 13)
    assert place(document, "services", 0, "plans", 0, "free") == (10, 10, 17)
    (note,) = document.notes
    assert str(note.location) == "cm.yaml:8:13"


@each("text", [config_map("services:\n\n- plans: []\n", ">"), config_map("", json.dumps(json.dumps(CATALOG)))])
def test_places_in_other_strings_are_where_these_begin(text: str) -> None:
    assert place(parse_catalog(text, "cm.yaml", at="/data/catalog"), "services", 0, "plans")[:2] == (4, 3)


BROKEN = "services:\n- name: a\n  plans: [{id: x\n"


FLOW = "{services: [{id: A, name: pg, plans: [], }]}"


@each("text, error", [
    (FLOW, ""), (f"[{FLOW[12:-2]}]", ""), (f"# a\n[ # b\n  {{ # c\n 'x' : {FLOW}}}]", ""), (config_map(FLOW), ""),
    ('{"services": [],}', "a comma before"), ('{"services": [] # x\n}', "a comma or '}'"), ("{services: [}", "YAML"),
    *((text, "a key in double quotes") for text in (
        '{// x\n"services": []}', '{services": []}', "{'services\": []}", '{"services": [{id: A}]}', "{# x\nservices: []}",
    )),
    (config_map('{"services": [{"plans": []},]}'), "a comma before"),
])  # fmt: skip
def test_yaml_in_brackets_needs_no_name(text: str, error: str) -> None:
    """What begins as JSON keeps its error, as what a broker answers does."""
    for name in "<stdin>", "a.txt":
        if error:
            assert error in refusal(text, name).message
        else:
            assert parse_catalog(text, name).data["services"] == [{"id": "A", "name": "pg", "plans": []}]
    with pytest.raises(DocumentError, match="a key in double quotes"):
        parse_document(FLOW.encode(), "answer")


def test_a_text_meant_as_a_catalog_that_cannot_be_read() -> None:
    finding = refusal(config_map(BROKEN) + "  other: x\n", "cm.yaml")
    assert (finding.rule, str(finding.location)) == ("syntax", "cm.yaml:7:15")
    assert "the bracket { that begins here" in finding.message
    good = "  good: |\n    services: [{plans: []}]\n"
    assert "at /data/catalog (not readable) and /data/good" in refusal(config_map(BROKEN) + good, "cm.yaml").message
    assert parse_catalog(config_map(BROKEN) + good, "cm.yaml", at="/data/good").data
    for program in ('#!/bin/sh\n"plans": {\n', 'echo "plans: {"\n{\n'):
        assert parse_catalog(config_map(program) + good, "cm.yaml").data


def test_lines_in_messages_about_a_text_are_those_of_the_file() -> None:
    twice = "services:\n- plans: []\n  name: a\n  name: b\n"
    found = refusal(config_map(twice), "cm.yaml")
    assert (str(found.location), found.message[-25:]) == ("cm.yaml:8:7", "first at line 7, column 7")
    named = refusal(config_map(twice.replace("name", "'at line 99'")), "cm.yaml")
    assert named.message.startswith("the key 'at line 99' appears")
    found = refusal(config_map(json.dumps(twice), ""), "cm.yaml")
    assert (str(found.location), found.message[-25:]) == ("cm.yaml:4:3", "first at line 4, column 3")


def test_a_text_that_was_pointed_at_and_cannot_be_read() -> None:
    broken = config_map('{"services": [}\n')
    assert refusal(broken, "cm.yaml").rule == "no-catalog"
    finding = refusal(broken, "cm.yaml", at="/data/catalog")
    assert (finding.rule, str(finding.location)) == ("syntax", "cm.yaml:5:19")
    inside = refusal(config_map("a: {b: 1}\n"), "cm.yaml", at="/data/catalog/a")
    assert (inside.rule, str(inside.location)) == ("no-catalog", "cm.yaml:5:5")


@each("text, line", [
    ("services:\n<% if x %>\n- name: a\n", 2),
    ('#@ load("@ytt:data", "data")\nservices:\n- name: #@ data.values.name\n', 3),
    ("<%= catalog %>\n", 1),
    ('#@ if True:\nkind: x\n#@ end\n', 2),
])  # fmt: skip
def test_a_template_has_to_be_rendered_first(text: str, line: int) -> None:
    finding = refusal(text, "a.yml")
    assert (finding.hint, finding.location.line) == ("a template? render it first", line)


def test_signs_of_a_template_in_comments_and_texts_are_none() -> None:
    in_text = "services: [{plans: [], description: 'a: #@'}]\n"
    for text in ("services: []  # see #@ there\n", in_text, "#@ ours\nservices: []\n"):
        assert parse_catalog(text, "a.yml").data, text


def test_whether_a_file_concerns_the_editor() -> None:
    ours = ["a: {b: {services: [{plans: []}]}}", "[{id: a, name: b, plans: []}]"]
    lists = ["services: [{name: x}]", "services: []", "services: [postgres]", "services: {web: {image: x}}"]
    others = [*lists, "on: push", "hello"]
    assert [text for text in (*others, *ours) if has_service_offering(parse_text(text, "a.yaml"))] == ours


SPRING = """\
spring.cloud.openservicebroker.catalog:
  services:
  - name: s
    planUpdateable: true
    dashboard-client: {redirectUri: x}
    DESCRIPTION: d
    description: kept
    plans:
    - schemas: {serviceInstance: {create: {parameters: {minLength: 1, min-length: 2}}}}
      metadata: {display-name: P, someThing: 1, properties: {other: 2}}
"""


@each("at", ["/spring.cloud.openservicebroker.catalog", ""])
def test_the_names_of_a_spring_configuration_are_those_that_its_broker_sends(at: str) -> None:
    document = parse_catalog(SPRING, "application.yml", at=at)
    (service,) = document.data["services"]
    assert service["plan_updateable"] is True
    assert service["dashboard_client"] == {"redirect_uri": "x"}
    assert (service.get("DESCRIPTION"), service["description"]) == (None, "kept")
    (plan,) = service["plans"]
    assert plan["schemas"]["service_instance"]["create"]["parameters"] == {"minLength": 1, "min-length": 2}
    assert plan["metadata"] == {"displayName": "P", "other": 2}
    path = ("services", 0, "plans", 0, "schemas", "service_instance", "create", "parameters", "min-length")
    uri = ("services", 0, "dashboard_client", "redirect_uri")
    places = document.locate([path, uri])
    assert [(places[at].line, places[at].column) for at in (path, uri)] == [(9, 71), (5, 24)]


def test_spring_in_a_profile_of_a_stream_and_in_a_config_map() -> None:
    stream = f"spring.profiles: a\n---\n{SPRING}"
    for text in (stream, config_map(stream)):
        assert parse_catalog(text, "cm.yaml").data["services"][0]["plan_updateable"] is True


SENT = """\
spring:
  cloud:
    openservicebroker:
      catalog:
        services:
        - name: s
          metadata:
            displayName: S
            properties: {region: eu, costs: [1], shareable: yes}
          plans:
          - metadata: {properties: {x: {y: 1}}}
            schemas:
              serviceInstance:
                create:
                  parameters[$schema]: http://json-schema.org/draft-04/schema#
                  "parameters[$id]": urn:a
                  parameters[title]: T
                  parameters: {type: object, "[x.y]": [{"[z]": 1}], "[a": 1, "b]": 2}
            free: "Yes"
            bindable: "unsure"
          planUpdateable: "true"
          instances-retrievable: yes
"""


def test_what_a_broker_of_spring_sends() -> None:
    document = parse_catalog(SENT, "application.yml")
    (service,) = document.data["services"]
    assert service["bindable"] is False  # autoconfigure, ServiceDefinition.java
    assert (service["plan_updateable"], service["instances_retrievable"]) == (True, True)
    metadata = {"displayName": "S", "region": "eu", "costs": [1], "shareable": True}  # ServiceMetadata.toModel
    assert service["metadata"] == metadata
    (plan,) = service["plans"]
    assert (plan["metadata"], plan["free"], plan["bindable"]) == ({"x": {"y": 1}}, True, "unsure")
    assert [one.text for one in document.texts] == [SENT]
    keys = {"$schema": "http://json-schema.org/draft-04/schema#", "$id": "urn:a", "title": "T"}
    draft = {**keys, "type": "object", "x.y": [{"z": 1}], "a": 1, "b": 2}
    assert plan["schemas"]["service_instance"]["create"]["parameters"] == draft
    parameters = ("services", 0, "plans", 0, "schemas", "service_instance", "create", "parameters")
    asked: dict[tuple[str | int, ...], tuple[int, int]] = {
        ("services", 0, "bindable"): (6, 11),
        ("services", 0, "metadata", "region"): (9, 26),
        ("services", 0, "plans", 0, "metadata", "x", "y"): (11, 41),
        (*parameters, "$schema"): (15, 19),
        (*parameters, "$id"): (16, 19),
        (*parameters, "title"): (17, 19),
        (*parameters, "type"): (18, 32),
        (*parameters, "x.y"): (18, 46),
        (*parameters, "x.y", 0, "z"): (18, 57),
    }
    assert {path: (place.line, place.column) for path, place in document.locate(asked).items()} == asked


def test_the_parts_of_a_spring_field_in_two_spellings_are_located() -> None:
    schemas = "{serviceInstance: {CREATE: {}, Create: {'parameters[b]': 2, parameters: {c: 3}}}}"
    text = f"spring.cloud.openservicebroker.catalog.services: [{{plans: [{{schemas: {schemas}}}]}}]\n"
    document = parse_catalog(text, "application.yml")
    path = ("services", 0, "plans", 0, "schemas", "service_instance", "create", "parameters")
    assert get_at(document.data, path) == {"b": 2, "c": 3}
    places = document.locate([(*path, "b"), (*path, "c")])
    assert [text[places[*path, key].column - 1 :][:3] for key in "bc"] == ["'pa", "c: "]


def test_the_catalogs_of_several_profiles_are_named() -> None:
    services = "spring.cloud.openservicebroker.catalog.services"
    part = f"spring.config.activate.on-profile: NAME\n{services}: [{{name: NAME, plans: []}}]\n"
    text = f"{part.replace('NAME', 'dev')}---\n{part.replace('NAME', 'prod')}"
    found = refusal(text, "application.yml")
    assert (found.rule, found.hint) == ("catalog-elsewhere", f"name the one that is meant: --at /0/{services}")
    assert parse_catalog(text, "application.yml", at=f"/1/{services}").data["services"][0]["name"] == "prod"


# Sources that hold no catalog: the message names the kind of file, and the hint what to do.


PLAN: dict[str, Any] = {"id": "p", "name": "small", "description": "Small."}
OFFERING: dict[str, Any] = {"id": "s", "name": "db", "description": "A database.", "bindable": True}


@each("field, value", [
    ("free", False), ("schemas", {}), ("maintenance_info", {"version": "1.0.0"}), ("maximum_polling_duration", 60),
    ("binding_rotatable", True),
])  # fmt: skip
def test_a_plan_alone_is_called_a_plan(field: str, value: Any) -> None:
    plan = {**PLAN, "bindable": True, field: value}
    for whole in (plan, [plan], {"plans": [plan]}, {"plans": [PLAN]}):
        finding = refusal(json.dumps(whole), "plan.json")
        assert finding.rule == "no-catalog"
        assert "without a service offering" in finding.message
        assert "`plans`" in finding.hint


@each("whole", [
    OFFERING, {**OFFERING, "plans": []}, {**OFFERING, "free": True, "plans": [PLAN]}, [OFFERING],
    {"services": [{**OFFERING, "free": True}]}, {**OFFERING, "tags": ["a"]},
])  # fmt: skip
def test_a_service_offering_stays_one(whole: Any) -> None:
    assert parse_catalog(json.dumps(whole), "offering.json").data["services"][0]["name"] == "db"


def test_a_plan_alone_is_no_service_offering_for_the_editor() -> None:
    for value, wanted in ((OFFERING, True), ({**PLAN, "bindable": True, "free": True}, False)):
        assert has_service_offering(parse_document(json.dumps(value).encode(), "x.json")) is wanted


GO = 'package main\n\nfunc main() {\n\tprintln("services: []")\n}\n'
JAVA = "public class Catalog {\n  String services;\n}\n"
MARKDOWN = "# Services\n\nSome text: this\n- plans\n* bindable\n"
LINK = "[![build](a)](b)\n\nplans: see below\n"
PROPERTIES = "spring.cloud.openservicebroker.catalog.services[0].id=x\n"


@each("name, text, kind", [
    ("main.go", GO, "source code"), ("Catalog.java", JAVA, "source code"), ("MAIN.GO", GO, "source code"),
    ("README.md", MARKDOWN, "a text for readers"), ("README.md", LINK, "a text for readers"),
    ("README.md", "name: a\n", "a text for readers"), ("app.properties", PROPERTIES, "a file of properties"),
    ("app.properties", "a: 1\n", "a file of properties"), ("main.tf", 'resource "x" "y" {\n}\n', "neither JSON nor YAML"),
])  # fmt: skip
def test_another_kind_of_file_gets_no_advice_on_yaml(name: str, text: str, kind: str) -> None:
    finding = refusal(text, name)
    assert (finding.rule, finding.message) == ("no-catalog", f"there is no catalog here: this is {kind}")
    assert "osbctl fetch URL" in finding.hint
    assert str(finding.location) == f"{name}:1:1"


def test_a_catalog_is_read_whatever_its_file_is_called() -> None:
    for name in ("catalog.md", "catalog.go", "catalog.txt", "catalog"):
        assert parse_catalog(json.dumps({"services": [OFFERING]}), name).data == {"services": [OFFERING]}
    for name, text in (("catalog.txt", "services: [\n"), ("catalog.go", '{"services": [}')):
        assert refusal(text, name).rule == "syntax"


def test_a_catalog_below_the_top_is_named_by_its_pointer() -> None:
    data = {"catalog": {"services": [OFFERING]}}
    document = parse_document(json.dumps(data).encode(), "answer")
    with pytest.raises(DocumentError) as raised:
        require_services(document)
    assert raised.value.findings[0].hint == "the catalog is the object at /catalog: let it be the whole document"
    (finding,) = schema_findings({"data": data}, ApiVersion.V2_14)[0]
    assert (finding.rule, finding.message) == ("schema-required", "services is missing")
    assert finding.hint == "the catalog is the object at /data/catalog: let it be the whole document"
    assert schema_findings({"data": {"services": 1}}, ApiVersion.V2_14)[0][0].hint == ""
    assert "/catalog has no service offering" in refusal('{"catalog": {"services": []}}', "a.json").message
