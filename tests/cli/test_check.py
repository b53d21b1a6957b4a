"""`osbctl check` as a whole process, of faulty brokers."""

import json
from typing import Any

from osbctl.reports import Format
from tests.cli.machine import Machine
from tests.conformance.faulty import PASSWORD, USER, faulty
from tests.platforms.known import CF, KNOWN


def check(machine: Machine, fault: str, options: str = "", *, code: int) -> str:
    with faulty(fault) as (address, _):
        words = ("check", address, "--user", USER, "--password-stdin", *options.split())
        return machine.run(*words, stdin=PASSWORD, code=code).replace(address, "ADDRESS")


def test_every_format_tells_a_fault(machine: Machine) -> None:
    ways = "without credentials, with a wrong password, with an unknown user, with malformed credentials"
    for format_ in Format:
        told = check(machine, "open", f"--format {format_}", code=1)
        assert "wire-open" in told, format_
        assert f"GET /v2/catalog {ways}: answered 200, not 401" in told, format_
        if format_ in (Format.JSON, Format.SARIF, Format.GITLAB):
            json.loads(told)


def test_what_has_no_line_is_said_of_the_address(machine: Machine) -> None:
    issues = json.loads(check(machine, "open", "--format gitlab", code=1))
    places = {issue["check_name"]: issue["location"] for issue in issues}
    assert places["wire-open"] == {"path": "ADDRESS", "lines": {"begin": 1}}
    assert 'classname="ADDRESS"' in check(machine, "open", "--format junit", code=1)
    (run,) = json.loads(check(machine, "bad-catalog", "--format sarif", code=1))["runs"]
    found = [place["physicalLocation"] for result in run["results"] for place in result.get("locations", ())]
    assert {place["artifactLocation"]["uri"] for place in found} == {"ADDRESS"}
    plain = "ADDRESS is plain HTTP\nHint: serve it over HTTPS"
    assert plain in {result["message"]["text"] for result in run["results"]}


def test_the_catalog_is_validated_and_platforms_judge_both(machine: Machine) -> None:
    told = check(machine, "bad-catalog", code=1)
    for part in ("[schema-required]", "ADDRESS:1:", "Cloud Foundry               refuses"):
        assert part in told
    report: dict[str, Any] = json.loads(check(machine, "gzip-unasked", "--format json", code=1))
    verdicts = {platform: report["documents"][0]["platforms"][platform]["verdict"] for platform in KNOWN}
    assert verdicts == {**dict.fromkeys(KNOWN, "accepts"), CF: "refuses"}


def test_options_and_the_configuration_have_a_say(machine: Machine) -> None:
    check(machine, "plain-401", code=0)
    check(machine, "plain-401", "--fail-on warning", code=1)
    check(machine, "open", "--ignore wire-open", code=0)
    check(machine, "open", "--ignore wire-opne", code=2)
    assert "did you mean" in machine.output
    settings = machine.folder / "osbctl.toml"
    settings.write_text('fail-on = "info"\nignore = ["wire-plain-http"]\n')
    told = check(machine, "version-400", code=1)
    assert "wire-version-status" in told
    assert "wire-plain-http" not in told
    check(machine, "version-400", "--fail-on error", code=0)
    settings.write_text('[severity]\nwire-open = "info"\n')
    assert "info: GET /v2/catalog without credentials" in check(machine, "open", code=0)
    settings.write_text('api-version = "2.16"\n')
    assert "warning: GET /v2/catalog: X-Broker-API-Request-Identity" in check(machine, "no-echo", code=0)
    assert "info: GET /v2/catalog: X-Broker-API-Request-Identity" in check(
        machine, "no-echo", "--api-version 2.14", code=0
    )


def test_no_answer_gives_findings_and_verdicts(machine: Machine) -> None:
    told = check(machine, "garbage", code=1)
    assert "[wire-no-answer]" in told
    assert "  every platform  refuses (1 reason)" in told


def test_a_broker_must_send_the_secret_of_its_dashboard_and_nobody_shows_it(machine: Machine) -> None:
    for format_ in Format:
        told = check(machine, "bad-catalog", f"--format {format_} --fail-on info", code=1)
        assert "schema-required" in told, format_
        assert "dashboard-secret-literal" not in told, format_
        assert "s3cr3t-of-db" not in machine.output, format_


def test_a_broker_that_limits_requests_was_not_checked_and_is_asked_nothing_more(machine: Machine) -> None:
    with faulty("limits") as (address, server):
        told = machine.run("check", address, "--user", USER, "--password-stdin", stdin=PASSWORD, code=3)
    assert "stopped by 429 after 3 of " in told
    assert next(server.counter) == 5  # 429 from the fifth on


def test_a_check_that_was_stopped_says_so_whatever_is_ignored(machine: Machine) -> None:
    for ignored in ("wire-limited", "wire-*"):
        assert "stopped by" not in check(machine, "limits", f"--ignore {ignored}", code=3)
        assert "the check is not complete: GET /v2/catalog with X-Broker-API-Version: 1.0: stopped" in machine.output
        machine.output = ""
