"""Rules of one's own: a schema of the user names them, and they are used as osbctl's are."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from osbctl.reports import Format
from tests.case import case, each
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import failure, osbctl
from tests.deploy.harness import write
from tests.fragments import catalog

OLD, NEW = catalog()["services"][0], catalog()["services"][0]
NEW |= {"id": "7A0E5D14-3C6B-4E92-8F1D-2B9C7A6E0D35", "name": "acme-redis"}
NEW["plans"][0] |= {"id": "1C4F8A2B-7D3E-4B60-9A51-E08C6F2D9B74"}
DATA = {"services": [OLD, NEW]}
SUPPORT = {
    "x-osbctl": {"rule": "house-support-url", "hint": "add supportUrl", "url": "https://wiki.example.com/#support"},
    "title": "Every service offering names its support page.",
    "description": "Users ask there\nfirst.",
    "required": ["metadata"],
    "properties": {"metadata": {"required": ["supportUrl"]}},
}
PREFIX = {
    "x-osbctl": {"rule": "house-name-prefix", "severity": "warning", "message": "the name must begin with acme-"},
    "properties": {"name": {"pattern": "^acme-"}},
}
COSTS = {"$ref": "#/$defs/costs"}
RULES = {
    "properties": {"services": {"items": {"allOf": [SUPPORT, PREFIX], "properties": {"plans": {"items": COSTS}}}}},
    "$defs": {
        "costs": {"properties": {"metadata": {"properties": {"costs": {"items": {"$ref": "#/$defs/cost"}}}}}},
        "cost": {
            "x-osbctl": {"rule": "house-costs-in-eur", "severity": "info"},
            "properties": {"amount": {"required": ["eur"]}},
        },
    },
}
FOUND = {
    "house-support-url": ("error", 2, "supportUrl is missing"),
    "house-name-prefix": ("warning", 1, "the name must begin with acme-"),
    "house-costs-in-eur": ("info", 2, "eur is missing"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES))
    (tmp_path / "osbctl.toml").write_text('schema = ["rules.yaml"]\n')
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(DATA, sort_keys=False))
    return tmp_path


def findings(folder: Path, *words: str) -> dict[str, list[dict[str, Any]]]:
    """The findings of rules of one's own by rule."""
    told = osbctl("validate", "c.yaml", "-f", "json", *words, cwd=folder).stdout
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in json.loads(told)["documents"][0]["findings"]:
        found.setdefault(finding["rule"], []).append(finding)
    return {rule: each for rule, each in found.items() if rule.startswith("house-")}


def test_findings_have_the_rule_severity_message_and_hint_of_the_schema(folder: Path) -> None:
    found = findings(folder)
    assert found.keys() == FOUND.keys()
    for rule, (severity, count, message) in FOUND.items():
        assert [one["severity"] for one in found[rule]] == [severity] * count
        assert all(one["message"].endswith(message) for one in found[rule])
    assert {one["hint"] for one in found["house-support-url"]} == {
        "add supportUrl; see https://wiki.example.com/#support"
    }
    assert [one["path"] for one in found["house-name-prefix"]] == ["/services/0/name"]
    assert osbctl("validate", "c.yaml", cwd=folder).returncode == 1


def test_they_are_selected_ignored_and_weighted_like_others(folder: Path) -> None:
    file, whole = folder / "osbctl.toml", FOUND.keys()
    assert findings(folder, "--select", "house-name-prefix").keys() == {"house-name-prefix"}
    assert findings(folder, "--ignore", "house-*").keys() == set()
    assert findings(folder, "--ignore", "house-support-url").keys() == whole - {"house-support-url"}
    for settings, left in (
        ('ignore = ["house-support-url"]', {"house-name-prefix": 1, "house-costs-in-eur": 2}),
        ('select = ["house-costs-*"]', {"house-costs-in-eur": 2}),
        ('[[ignore-at]]\nrule = "house-support-url"\nservice = "postgres"', dict.fromkeys(whole, 1) | {"house-costs-in-eur": 2}),
        ('[[per-path]]\npaths = ["c.*"]\nignore = ["house-*"]', {}),
    ):  # fmt: skip
        file.write_text(f'schema = ["rules.yaml"]\n{settings}\n')
        with case(settings):
            assert {rule: len(each) for rule, each in findings(folder).items()} == left
    file.write_text('schema = ["rules.yaml"]\nseverity = {house-support-url = "info", house-costs-in-eur = "error"}\n')
    assert {rule: each[0]["severity"] for rule, each in findings(folder).items()} == {
        "house-support-url": "info", "house-name-prefix": "warning", "house-costs-in-eur": "error",
    }  # fmt: skip


def test_a_comment_ignores_them(folder: Path) -> None:
    text = (folder / "c.yaml").read_text()
    (folder / "c.yaml").write_text(
        text.replace("name: postgres", "name: postgres  # osbctl: ignore[house-name-prefix]")
    )
    assert "house-name-prefix" not in findings(folder)
    assert "ignore-unknown" not in osbctl("validate", "c.yaml", cwd=folder).stdout
    (folder / "c.yaml").write_text(text.replace("name: postgres", "name: postgres  # osbctl: ignore[house-name-prefx]"))
    told = osbctl("validate", "c.yaml", cwd=folder).stdout
    assert "there is no rule 'house-name-prefx' to ignore [ignore-unknown]" in told
    assert "house-name-prefix?" in told


def test_rules_lists_and_explains_them(folder: Path) -> None:
    told = osbctl("rules", "house-support-url", cwd=folder, code=0).stdout
    assert told.startswith("house-support-url (error, schema)\n\nEvery service offering names its support page.\n")
    assert "Users ask there first." in told and "Hint: add supportUrl" in told
    assert told.endswith("Source: rules.yaml https://wiki.example.com/#support\n")
    listed = json.loads(osbctl("rules", "house-*", "-f", "json", cwd=folder, code=0).stdout)["rules"]
    assert {rule["id"]: rule["severity"] for rule in listed} == {
        **{rule: severity for rule, (severity, *_) in FOUND.items()},
        "house-schema": "error",
    }
    assert [rule["url"] for rule in listed if rule["id"] == "house-support-url"] == [SUPPORT["x-osbctl"]["url"]]  # type: ignore[index]
    (folder / "osbctl.toml").unlink()
    assert "house-support-url" not in osbctl("rules", cwd=folder, code=0).stdout
    assert osbctl("rules", "house-support-url", "--schema", "rules.yaml", cwd=folder, code=0).stdout == told
    (folder / "named.toml").write_text('schema = ["rules.yaml"]')
    assert osbctl("rules", "house-support-url", "--config", "named.toml", cwd=folder, code=0).stdout == told
    assert "needs its schema" in failure("rules", "house-support-page", cwd=folder, code=2)


def test_every_format_and_every_command_knows_them(folder: Path) -> None:
    for form in Format:
        told = osbctl("validate", "c.yaml", "-f", form, cwd=folder, code=1).stdout
        assert all(rule in told for rule in FOUND), form
        assert str(folder) not in told
    sarif = json.loads(osbctl("validate", "c.yaml", "-f", "sarif", cwd=folder).stdout)["runs"][0]
    described = {rule["id"]: rule for rule in sarif["tool"]["driver"]["rules"]}
    assert described["house-support-url"]["helpUri"] == "https://wiki.example.com/#support"
    assert "helpUri" not in described["house-costs-in-eur"]
    assert all(result["ruleId"] in described for result in sarif["results"])
    assert "house-support-url" in osbctl("page", "c.yaml", "--findings", cwd=folder, code=0).stdout
    osbctl("split", "c.yaml", "source", cwd=folder, code=0)
    assert "[house-support-url]" in failure("build", "source", cwd=folder, code=1)
    with broker(DATA) as server:
        told = osbctl("check", server.url, "--user", USER, cwd=folder, code=1, OSBCTL_PASSWORD=PASSWORD).stdout
    assert all(f"[{rule}]" in told for rule in FOUND)
    osbctl("validate", "c.yaml", "--baseline", "b.json", "--write-baseline", cwd=folder, code=0)
    assert "house" not in osbctl("validate", "c.yaml", "--baseline", "b.json", cwd=folder, code=0).stdout


def test_one_file_for_all_brokers(folder: Path) -> None:
    """A platform team's file with schemas and severities, which the file of each broker extends."""
    shared = 'schema = ["../rules.yaml"]\nseverity = {house-support-url = "warning"}\nplatform = ["korifi"]\n'
    (folder / "osbctl.toml").unlink()
    own = 'extends = "../shared/osbctl.toml"\nignore = ["house-costs-*"]\n'
    write(folder, {"shared/osbctl.toml": shared, "broker/osbctl.toml": own})
    (folder / "c.yaml").rename(folder / "broker/c.yaml")
    for cwd, source in ((folder, "broker/c.yaml"), (folder / "broker", "c.yaml")):
        told = osbctl("validate", source, "--concise", cwd=cwd, code=0).stdout
        assert "warning: service 'postgres': supportUrl is missing [house-support-url]" in told
        assert "house-costs" not in told and "Cloud Foundry" not in told
    (folder / "shared/osbctl.toml").write_text(f'{shared}ignore = ["house-suport-url"]\n')
    told = failure("validate", "c.yaml", cwd=folder / "broker", code=3)
    assert "shared/osbctl.toml: ignore: there is no rule 'house-suport-url'" in told
    assert "did you mean house-support-url?" in told


@each("annotation, told", [
    ("x", "it must be an object of strings"),
    ({"rule": 5}, "it must be an object of strings"),
    ({}, "it has no rule"),
    ({"rule": "support-url"}, "'support-url' is not an id of a rule"),
    ({"rule": "default-implicit"}, "'default-implicit' is not an id of a rule"),
    ({"rule": "house-"}, "'house-' is not an id of a rule"),
    ({"rule": "house-Ä"}, "is not an id of a rule"),
    ({"rule": "house-a\n"}, "is not an id of a rule"),
    ({"rule": "house-schema"}, "house-schema is a rule of osbctl"),
    ({"rule": "house-a", "severity": "warn"}, "the severity 'warn' is not one of: error, warning, info"),
    ({"rule": "house-a", "serverity": "info"}, "unknown key 'serverity'"),
    ({"rule": "house-a", "url": "javascript:alert(1)"}, "url is not the address of a page"),
    ({"rule": "house-a", "url": "https://u:p@example.com"}, "url is not the address of a page"),
])  # fmt: skip
def test_a_wrong_annotation(tmp_path: Path, annotation: Any, told: str) -> None:
    (tmp_path / "c.json").write_text(json.dumps(DATA))
    (tmp_path / "r.json").write_text(json.dumps({"properties": {"services": {"x-osbctl": annotation}}}))
    for words in (("validate", "c.json", "--schema", "r.json"), ("rules", "--schema", "r.json")):
        message = failure(*words, cwd=tmp_path, code=3)
        assert message.startswith("error: user schema r.json: /properties/services/x-osbctl: ")
        assert told in message and "u:p" not in message


def test_one_rule_in_several_places(tmp_path: Path) -> None:
    """One place completes another, also of another file; they must not disagree."""
    (tmp_path / "c.json").write_text(json.dumps(DATA))
    places = [
        {"x-osbctl": {"rule": "house-a", "severity": "info", "hint": "one"}, "required": ["x"]},
        {"x-osbctl": {"rule": "house-a", "hint": "two"}, "required": ["y"]},
    ]
    (tmp_path / "r.json").write_text(json.dumps({"properties": {"services": {"items": {"allOf": places}}}}))
    (tmp_path / "s.json").write_text(json.dumps({"x-osbctl": {"rule": "house-a"}, "required": ["z"]}))
    words = ("validate", "c.json", "--concise", "--schema", "r.json", "--schema", "s.json")
    told = osbctl(*words, cwd=tmp_path, code=0).stdout
    assert told.count("info: ") == told.count("[house-a]") == 5
    (tmp_path / "s.json").write_text('{"x-osbctl": {"rule": "house-a", "severity": "error"}}')
    assert "house-a has the severity 'info' in another place" in failure(*words, cwd=tmp_path, code=3)


@each("schema, rules", [
    ({"x-osbctl": {"rule": "house-top"}, "required": ["x"]}, ["house-top"]),
    ({"x-osbctl": {"rule": "house-top"}, "properties": {"services": {"maxItems": 0}}}, ["house-top"]),
    ({"x-osbctl": {"rule": "house-top"}, "properties": {"services": False}}, ["house-top"]),
    ({"allOf": [{"x-osbctl": {"rule": "house-a"}, "not": {}}, {"minProperties": 9}]}, ["house-a", "house-schema"]),
    ({"x-osbctl": {"rule": "house-any"}, "anyOf": [{"required": ["x"]}, {"required": ["y"]}]}, ["house-any"]),
    ({"anyOf": [{"x-osbctl": {"rule": "house-x"}, "required": ["x"]}]}, ["house-x"]),
    ({"if": {"required": ["services"]}, "then": {"x-osbctl": {"rule": "house-t"}, "required": ["x"]}}, ["house-t"]),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"x-osbctl": {"rule": "house-d"}, "required": ["x"]}}}, ["house-d"]),
    (
        {"x-osbctl": {"rule": "house-outer"}, "$ref": "#/$defs/a~1b", "$defs": {"a/b": {"required": ["x"]}}},
        ["house-outer"],
    ),
    ({"$ref": "#a", "$defs": {"a": {"$anchor": "a", "x-osbctl": {"rule": "house-d"}, "not": {}}}}, ["house-d"]),
    (
        {"x-osbctl": {"rule": "house-outer"}, "$ref": "#a", "$defs": {"a": {"$anchor": "a", "required": ["x"]}}},
        ["house-outer"],
    ),
    ({"$dynamicRef": "#/$defs/a", "$defs": {"a": {"x-osbctl": {"rule": "house-d"}, "not": {}}}}, ["house-d"]),
    ({"properties": {"$ref": {}, "services": {"x-osbctl": {"rule": "house-s"}, "not": {}}}}, ["house-s"]),
    ({"properties": {"x-osbctl": {"type": "string"}}, "required": ["x"]}, ["house-schema"]),
    ({"const": {"x-osbctl": 5}}, ["house-schema"]),
    ({"propertyNames": {"x-osbctl": {"rule": "house-n"}, "maxLength": 1}}, ["house-n"]),
    ({"x-osbctl": {"rule": "house-x"}, "dependentRequired": {"services": ["x"]}}, ["house-x"]),
])  # fmt: skip
def test_the_innermost_annotation_counts(tmp_path: Path, schema: Any, rules: list[str]) -> None:
    (tmp_path / "c.json").write_text(json.dumps(DATA))
    (tmp_path / "r.json").write_text(json.dumps(schema))
    told = osbctl("validate", "c.json", "-f", "json", "--schema", "r.json", "--select", "house-*", cwd=tmp_path, code=1)
    assert sorted({finding["rule"] for finding in json.loads(told.stdout)["documents"][0]["findings"]}) == rules


def test_secrets_and_markup_stay_out_of_reports(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(DATA))
    own = {"rule": "house-a", "message": "see https://u:hunter22@example.com", "hint": "\x1b[31m<b>::error::x"}
    (tmp_path / "r.json").write_text(json.dumps({"x-osbctl": own, "required": ["x"], "title": "\x1b[31m\n::error::y"}))
    for words in (*(("validate", "c.json", "-f", form) for form in Format), ("rules", "house-a")):
        told = osbctl(*words, "--schema", "r.json", cwd=tmp_path).stdout
        with case(*words):
            assert "\x1b" not in told and "\n::error::" not in told
            assert "hunter22" not in told
