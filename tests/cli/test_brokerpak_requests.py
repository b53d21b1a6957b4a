"""Requests to a brokerpak's plans: `params` says what cloud-service-broker takes, `diff` what it no longer takes."""

import json
from pathlib import Path
from typing import Any

from tests.case import each
from tests.cli.program import osbctl
from tests.sources.folder.brokerpaks import DATABASE, ENVRC, brokerpak

PROVISION = """\
provision:
  plan_inputs:
  - {field_name: cores, type: integer, required: true, details: Cores.}
  user_inputs:
  - {field_name: region, type: string, details: Region., default: eu, enum: {eu: Europe, us: America}}
  - {field_name: size, type: integer, details: Size., required: true, constraints: {minimum: 1}}
  - {field_name: name, type: string, details: Name., default: "db-${request.instance_id}", prohibit_update: true}
  import_inputs:
  - {field_name: old_id, type: string, details: Of an instance that is there., tf_resource: aws_db.main}
bind:
  user_inputs:
  - {field_name: role, type: string, details: The role., default: reader, enum: {reader: Reader, admin: Admin}}
"""
DEFINITION = DATABASE[: DATABASE.index("provision:")] + PROVISION
OFF = "GSB_COMPATIBILITY_ENABLE_BETA_SERVICES=true\nGSB_SERVICE_ACME_CACHE_PLANS='[" + ENVRC.partition("PLANS='[")[2]
ON = OFF + "GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS=true\n"


def pak(folder: Path, *slips: tuple[str, str], env: str = OFF) -> str:
    text = DEFINITION
    for slip in slips:
        assert slip[0] in text
        text = text.replace(*slip)
    return str(brokerpak(folder, database=text, envrc=env))


def params(folder: str, *args: str) -> dict[str, Any]:
    words = ["params", folder, "acme-database.v1", "small", "--env", f"{folder}/.envrc", "--format", "json", *args]
    done = osbctl(*words)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


@each("request_, purpose, message", [
    ({"size": 3}, "create", ""),
    ({"size": 3.0, "region": "us", "vacant": True, "old_id": "x"}, "create", ""),
    ({}, "create", "size is missing"),
    ({"size": 0}, "create", "at least 1"),
    ({"size": 3, "sise": 3}, "create", "additional properties are not allowed: sise"),
    ({"size": 3, "cores": 1}, "create", "plan defined properties cannot be changed: cores"),
    ({"size": 3, "region": "asia"}, "create", 'must be one of "eu", "us"'),
    ({"region": "us"}, "update", ""),
    ({"name": "x"}, "update", "attempt to update parameter that may result in service instance re-creation"),
    ({"size": 0}, "update", "at least 1"),
    ({"old_id": "x"}, "update", "additional properties are not allowed: old_id"),
    ({}, "bind", ""),
    ({"role": "admin"}, "bind", ""),
    ({"role": "owner"}, "bind", 'must be'),
    ({"cores": 1}, "bind", "additional properties are not allowed: cores"),
])  # fmt: skip
def test_requests(tmp_path: Path, request_: dict[str, Any], purpose: str, message: str) -> None:
    for name, env in (("off", OFF), ("on", ON)):
        folder = str(tmp_path / name) if (tmp_path / name).exists() else pak(tmp_path / name, env=env)
        if name == "on" and request_.get("old_id"):
            continue
        found = params(folder, "-c", json.dumps(request_), "--for", purpose)
        assert found["accepted"] == (not message), found
        said = " ".join(fault["message"] for fault in found["faults"])
        assert message in said or message == "must be", said


def test_an_update_with_what_was_sent_before(tmp_path: Path) -> None:
    folder = pak(tmp_path / "pak")
    (tmp_path / "sent.json").write_text('{"size": 3}')
    update = ("--for", "update", "-c", '{"region": "us"}', "--previous")
    assert params(folder, *update, f"@{tmp_path / 'sent.json'}")["accepted"]
    assert params(folder, *update, "{}")["faults"][0]["message"] == "size is missing"
    done = osbctl("params", folder, "acme-database.v1", "small", "--env", f"{folder}/.envrc", "--previous", "{}")
    assert done.returncode == 2
    assert "--previous is for a request to update an instance" in done.stderr
    assert params(folder, *update, '{"size": 0}')["faults"][0]["message"].startswith("size was sent before: size must")


def test_names_are_not_checked_if_the_operator_says_so(tmp_path: Path) -> None:
    folder = pak(tmp_path / "pak", env=f"{OFF}CSB_DISABLE_REQUEST_PROPERTY_VALIDATION=true\n")
    assert params(folder, "-c", '{"size": 3, "sise": 3, "cores": 2}')["accepted"]
    assert not params(folder, "-c", '{"size": 0}')["accepted"]
    assert not params(folder, "-c", '{"name": "x"}', "--for", "update")["accepted"]


@each("slip, env, message", [
    (("default: eu", "default: asia"), "", "a request without region is refused for its default"),
    (("{cores: 1}", "{cores: 1, region: asia}"), "", "every request to this plan is refused, since it sets region"),
    (("{minimum: 1}", "{minimum: '1'}"), "", "every request to this plan is refused: the schema of size is not valid"),
    (("{minimum: 1}", "{pattern: '(?=a)'}"), "", "a pattern of size is no regular expression of Go"),
    (("{minimum: 1}", "{maximum: .inf}"), "", "JSON cannot say the schema of size"),
    (("db-${request.instance_id}", "db-${request.instance}"), "", "unknown variable accessed: request.instance"),
    (("db-${request.instance_id}", "${upper(request.plan_id)}"), "", "unknown function called: upper"),
    (("db-${request.instance_id}", "${"), "", "is not valid"),
    (("type: string, details: Region.", "type: integer, details: R."), "", "unable to cast its default, a text, to integer"),
    (None, "GSB_PROVISION_DEFAULTS='[]'\n", "failed unmarshaling config value GSB_PROVISION_DEFAULTS"),
    (None, "GSB_SERVICE_ACME_DATABASE_V1_PROVISION_DEFAULTS='{\"region\": 5}'\n", "a request without region is refused"),
])  # fmt: skip
def test_what_every_request_is_refused_for(
    tmp_path: Path, slip: tuple[str, str] | None, env: str, message: str
) -> None:
    folder = pak(tmp_path / "pak", *([slip] if slip else []), env=OFF + env)
    found = params(folder, "-c", '{"size": 3}')
    assert not found["accepted"]
    assert any(message in fault["message"] for fault in found["faults"]), found["faults"]
    assert params(folder, "--for", "bind", "-c", "{}")["accepted"]


def test_a_binding_needs_the_properties_that_it_names(tmp_path: Path) -> None:
    slip = ("bind:\n", "bind:\n  plan_inputs: [{field_name: zone, details: Z.}]\n")
    found = params(pak(tmp_path / "pak", slip), "--for", "bind", "-c", "{}")
    assert "'zone': request.plan_properties has no such key" in found["faults"][0]["message"]
    with_zone = pak(tmp_path / "other", slip, ("{cores: 1}", "{cores: 1, zone: a}"))
    assert params(with_zone, "--for", "bind", "-c", "{}")["accepted"]


def test_what_is_shown_without_a_request(tmp_path: Path) -> None:
    folder = pak(tmp_path / "pak", ("{cores: 1}", "{cores: 1, region: us}"))
    found = params(folder)
    rows = {row["name"]: row for row in found["parameters"]}
    assert rows["region"]["limits"] == 'set by the plan to "us", not by requests'
    assert "cores" not in rows  # no input of users
    assert found["described"]
    assert found["examples"]["smallest"] == {"size": 1}
    assert {row["name"]: row["limits"] for row in params(folder, "--for", "update")["parameters"]}[
        "name"
    ] == "not for updates"
    refused = params(pak(tmp_path / "other", ("{cores: 1}", "{cores: 1, region: asia}")))
    assert refused["examples"]["why"].startswith("every request to this plan is refused")
    text = osbctl("params", folder, "acme-database.v1", "small", "--env", f"{folder}/.envrc", "-c", "{}").stdout
    assert "cloud-service-broker refuses this request to create an instance" in text


NEW_INPUT = ("  import_inputs:", "  - {field_name: more, type: string, details: More.}\n  import_inputs:")
PROHIBITED = ("enum: {eu: Europe, us: America}}", "enum: {eu: Europe, us: America}, prohibit_update: true}")


@each("old, new, level, message", [
    ((), (NEW_INPUT,), "safe", "service_instance.create: "),
    ((NEW_INPUT,), (), "breaking", 'service_instance.create: "more" is no longer allowed'),
    ((), (PROHIBITED,), "breaking", 'service_instance.update: "region" is no longer allowed'),
    ((PROHIBITED,), (), "safe", "service_instance.update"),
    ((), (("{cores: 1}", "{cores: 1, region: us}"),), "breaking", '"region" is no longer allowed'),
    ((), ((", us: America", ""),), "breaking", '"region" no longer accepts "us"'),
    ((), (("size, type: integer, details: Size.,", "size, type: integer, details: Size., default: 5,"),), "risky", "default"),
    ((("required: true, constraints", "constraints"),), (), "breaking", '"size" is now required'),
    ((), (("reader: Reader, ", ""), ("default: reader", "default: admin")), "breaking", "service_binding.create"),
])  # fmt: skip
def test_changes(
    tmp_path: Path, old: tuple[tuple[str, str], ...], new: tuple[tuple[str, str], ...], level: str, message: str
) -> None:
    for name, env in (("off", OFF), ("on", ON)):
        sides = [pak(tmp_path / name / side, *slips, env=env) for side, slips in (("old", old), ("new", new))]
        found = json.loads(osbctl("diff", *sides, "--env", f"{sides[0]}/.envrc", "--format", "json").stdout)["changes"]
        worst = {change["level"] for change in found}
        assert level in worst, found
        assert level == "breaking" or "breaking" not in worst
        assert any(message in change["message"] for change in found if change["level"] == level), found
        assert all("database.yml" in json.dumps(change) for change in found)


def test_a_catalog_fetched_from_the_broker(tmp_path: Path) -> None:
    catalogs = []
    image = "image_url: file://images/logo.png", "image_url: https://acme.example/a.png"
    less = "- {field_name: size", "- {field_name: sizes"
    for name, slips in (("old", ()), ("new", (PROHIBITED,)), ("less", (less,))):
        folder = pak(tmp_path / name, *slips, image, env=ON)
        file = tmp_path / f"{name}.json"
        file.write_text(osbctl("show", folder, "--env", f"{folder}/.envrc", "--format", "json").stdout)
        catalogs.append(str(file))
    found = json.loads(osbctl("diff", *catalogs[:2], "--format", "json").stdout)["changes"]
    assert [change["message"].partition(";")[0] for change in found if change["level"] == "breaking"] == [
        'service_instance.update: "region" is no longer allowed'
    ]
    less = json.loads(osbctl("diff", catalogs[0], catalogs[2], "--format", "json").stdout)["changes"]
    assert any('"size" is no longer allowed' in change["message"] for change in less if change["level"] == "breaking")
    command = ("params", catalogs[0], "acme-database.v1", "small", "--for")
    assert osbctl(*command, "update", "-c", '{"name": "x"}').returncode == 1
    assert osbctl(*command, "update", "-c", '{"region": "us"}').returncode == 0
    assert osbctl(*command, "create", "-c", '{"size": 3, "other": 1}').returncode == 1
