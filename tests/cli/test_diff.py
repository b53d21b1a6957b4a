"""`osbctl diff` as a whole process, and where it says things stand."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from osbctl.changes import DiffFailOn
from osbctl.reports.changes import DiffFormat
from tests.broker.harness import Authority
from tests.case import case, each
from tests.cli.broker_server import BASIC, PASSWORD, USER, broker
from tests.cli.machine import Machine
from tests.cli.program import ROOT, failure, osbctl
from tests.comparison.make import catalog, plan, service
from tests.deploy.harness import edit
from tests.fragments import DRAFT_04, changed
from tests.git import commit, git

SECRET = "hunter2-and-more"
OLD = catalog(
    service(
        "s1", "db", plan("p1", "small"), plan("p2", "large", free=True),
        dashboard_client={"id": "c", "secret": SECRET, "redirect_uri": "https://x.example"},
    )
)  # fmt: skip


def large(**fields: Any) -> dict[str, Any]:
    """The old catalog, with these fields of its plan `large`."""
    return in_service(plans=[plan("p1", "small"), {**plan("p2", "large", free=True), **fields}])


def in_service(**fields: Any) -> dict[str, Any]:
    return {"services": [{**OLD["services"][0], **fields}]}


def put(folder: Path, new: Any, old: Any = OLD, indent: int | None = 2) -> tuple[str, str]:
    for name, value in (("old.json", old), ("new.json", new)):
        (folder / name).write_text(json.dumps(value, indent=indent))
    return "old.json", "new.json"


def diff(
    folder: Path, new: Any, *options: str, old: Any = OLD, code: int | None = None, **variables: str
) -> CompletedProcess[str]:
    return osbctl("diff", *put(folder, new, old), *options, cwd=folder, code=code, **variables)


def changes(folder: Path, new: Any, *options: str, old: Any = OLD) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(diff(folder, new, "-f", "json", *options, old=old).stdout)["changes"]
    return found


@each("format", [DiffFormat.TEXT, DiffFormat.MARKDOWN, DiffFormat.GITHUB])
def test_nothing_is_said_of_the_same(tmp_path: Path, format: DiffFormat) -> None:
    done = diff(tmp_path, OLD, "--format", format, code=0)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_number_written_another_way_may_be_refused(tmp_path: Path) -> None:
    old, new = (large(maximum_polling_duration=seconds) for seconds in (60, 60.0))
    for platform in ("cloudfoundry", "service-manager"):
        found = changes(tmp_path, new, "--platform", platform, old=old)
        assert [change["level"] for change in found] == ["refused"]


@each("fail_on, failing", zip(DiffFailOn, (1, 2, 3, 4, 0), strict=True))
def test_fail_on(tmp_path: Path, fail_on: DiffFailOn, failing: int) -> None:
    """`failing` of one change of each level, the gravest first."""
    levels: list[dict[str, Any]] = [
        {"id": "q"}, {"free": False}, {"maximum_polling_duration": 3}, {"description": "another"},
    ]  # fmt: skip
    for number, fields in enumerate(levels):
        diff(tmp_path, large(**fields), "--fail-on", fail_on, code=int(number < failing))


@each("format", DiffFormat)
def test_every_format_and_no_secret_in_any(tmp_path: Path, format: DiffFormat) -> None:
    client = {"id": 3, "secret": SECRET + "2", "redirect_uri": "https://y.example"}
    new = {"services": [{**large(free=False)["services"][0], "dashboard_client": client}]}
    sources = put(tmp_path, new, indent=None)  # on one line, as brokers answer
    words = ("--format", format, "--fail-on", "any", "-o", "report")
    assert failure("diff", *sources, *words, cwd=tmp_path, code=1) == ""
    text = (tmp_path / "report").read_text()
    assert "change-free-to-paid" in text
    assert "change-dashboard-client" in text
    assert SECRET not in text


def test_a_platform_and_its_instances(tmp_path: Path) -> None:
    (tmp_path / "used.txt").write_text("p2\n")
    (tmp_path / "unused.json").write_text('["p1"]')
    for options, level in (
        ("", "breaking"),
        ("--instances used.txt", "refused"),
        ("--instances unused.json", "breaking"),
        ("--instances used.txt --platform cloudfoundry", "breaking"),
        ("-p cloudfoundry -p service-manager --instances used.txt", "refused"),
    ):
        (change,) = changes(tmp_path, in_service(plans=[plan("p1", "small")]), *options.split())
        assert change["level"] == level, options


def test_a_broken_list_of_instances_never_makes_a_change_harmless(tmp_path: Path) -> None:
    """A plan that moves is refused where it has instances, or may have; what is not a list must not say it has not."""
    one, two, three = (plan(f"p{n}", f"plan-{n}") for n in (1, 2, 3))
    old = catalog(service("s0", "service-0", one, two), service("s1", "service-1", three))
    put(tmp_path, catalog(service("s0", "service-0", one), service("s1", "service-1", three, two)), old)
    call = "diff", "-p", "service-manager", "old.json", "new.json", "--instances"
    file = tmp_path / "i.txt"
    unknown = "osbctl: 1 of the 3 ids in i.txt is not a plan of either catalog\n"
    for text, code, told in (("p2\n", 1, ""), ("p1\np2\nnobody\n", 1, unknown), ("p1\n", 0, "")):
        file.write_text(text)
        assert osbctl(*call, "i.txt", cwd=tmp_path, code=code).stderr == told
    for name in ("old.json", "new.json"):  # as platforms in Go read it, too
        (tmp_path / f"capital-{name}").write_text((tmp_path / name).read_text().replace('"id"', '"ID"'))
    (tmp_path / "i.txt").write_text("p2\n")
    words = *call[:3], "capital-old.json", "capital-new.json", "--instances", "i.txt"
    assert "not a plan" not in osbctl(*words, cwd=tmp_path, code=1).stderr
    for broken in ("FAILED\nNot logged in.\n", "<!DOCTYPE html>\n<p>\n", "", "FAILED\n", "[]", "small\nlarge\n"):
        file.write_text(broken)
        told = osbctl(*call, "i.txt", cwd=tmp_path, code=3).stderr
        assert (told.count("\n"), "i.txt" in told) == (2, True), (broken, told)
    for word, code in (("none", 0), ("/dev/null", 3), ("", 3)):
        osbctl(*call, word, cwd=tmp_path, code=code)


def test_a_new_refusal_is_told_unless_it_was_there(tmp_path: Path) -> None:
    found = changes(tmp_path, large(name="Not Kubernetes", description=""))
    assert ("change-now-refused", "description") in {(c["rule"], c["field"].split("/")[0]) for c in found}
    faulty = large(description="")
    assert [c["rule"] for c in changes(tmp_path, {**faulty, "x": 1}, old=faulty)] == ["change-other-field"]


def test_one_mistake_is_one_refusal_after_what_breaks_users(tmp_path: Path) -> None:
    new = in_service(plans=[plan("p1", "smaller"), plan("p2", "large", free="yes")])
    text = diff(tmp_path, new, code=1).stdout
    assert text.index("db/small: renamed") < text.index("db/large: Plan free must be")
    assert text.rstrip().endswith(": 1 breaking, 1 refused")
    assert "    every platform: refuses the whole update\n" in text
    first, second, *_ = diff(tmp_path, new, "-f", "github", code=1).stdout.splitlines()
    assert "::breaking: db/small" in first
    assert "::refused: db/large" in second


def test_a_name_of_an_unchanged_service_that_now_crashes_the_platform(tmp_path: Path) -> None:
    capital, same = service("s1", "Redis", plan("p1", "small")), service("s2", "redis", plan("p2", "small"))
    (found,) = (c for c in changes(tmp_path, catalog(same), "-p", "cloudfoundry", old=catalog(capital, same))
        if c["level"] == "refused")  # fmt: skip
    assert (found["rule"], found["object"]) == ("change-service-name-taken", "redis")
    assert found["message"] == 'its name is that of "Redis" (id "s1")'


def test_what_a_platform_refused_before_is_not_in_the_way_of_a_name(tmp_path: Path) -> None:
    first, same_plan = service("s1", "db", plan("p1", "small")), service("s2", "mq", plan("p1", "small"))
    found = changes(tmp_path, catalog(first), "-p", "cloudfoundry", old=catalog(first, same_plan))
    assert [change["rule"] for change in found] == ["change-service-removed"]


def test_accepted_changes(tmp_path: Path) -> None:
    (tmp_path / "allow.toml").write_text(diff(tmp_path, large(free=False), "--format", "allow").stdout)
    done = diff(tmp_path, large(free=False), "--allow", "allow.toml", code=0)
    assert done.stderr == ""
    assert "accepted:\n  db/large: free changed from true to false (say why this is accepted)" in done.stdout
    stale = diff(tmp_path, large(description="another"), "--allow", "allow.toml", code=0).stderr
    assert "osbctl: allow.toml: allow change-free-to-paid of db/large, field free matches no change" in stale


def test_a_revision_against_the_file(tmp_path: Path) -> None:
    put(tmp_path, OLD)
    commit(tmp_path)
    put(tmp_path, large(free=False))
    done = osbctl("diff", "HEAD:new.json", "new.json", cwd=tmp_path, code=1)
    assert done.stdout.splitlines()[-1].startswith("HEAD:new.json → new.json: ")


def test_a_source_folder_of_a_revision(tmp_path: Path) -> None:
    work = tmp_path / "work"
    shutil.copytree(ROOT / "catalogs/source", work / "my src")
    (work / "my src/logo.png").write_bytes(b"\x89PNG")
    commit(work)
    plan_file = work / "my src/services/redis/plans/cache.yaml"
    edit(plan_file, "name: cache", "name: tiny")
    plan_file.rename(plan_file.with_name("tiny.yaml"))
    edit(work / "my src/services/redis.yaml", r"(?m)^(plans: .*)cache", r"\1tiny")
    calls = (work, "HEAD:my src", "my src"), (work / "my src", "HEAD:./", "."), (work, "HEAD:./my src/", "my src")
    for cwd, old, new in calls:
        (change,) = json.loads(osbctl("diff", old, new, "-f", "json", cwd=cwd, code=1).stdout)["changes"]
        assert change["rule"] == "change-plan-renamed"
        assert change["old_location"]["source"] == f"{old.removesuffix('/')}/services/redis/plans/cache.yaml"
        assert change["new_location"]["source"].endswith("services/redis/plans/tiny.yaml")
    git(work, "worktree", "add", "../before", "HEAD")
    assert failure("diff", "../before/my src", "HEAD:my src", cwd=work, code=0) == ""
    assert "larger than 50 bytes" in failure("diff", "HEAD:my src", "my src", "--max-bytes", "50", cwd=work, code=1)


def test_at_holds_for_both_sides(tmp_path: Path) -> None:
    new, old = ({"a": {"b": one}} for one in (large(free=False), OLD))
    (change,) = changes(tmp_path, new, "--at", "/a/b", old=old)
    assert change["new_path"].endswith("/services/0/plans/1/free")


def test_github_is_the_default_inside_actions(tmp_path: Path) -> None:
    (line,) = diff(tmp_path, large(free=False), GITHUB_ACTIONS="true").stdout.splitlines()
    assert line.startswith("::error file=new.json,line=")


@each("side, code", [("broken.yaml", 1), ("missing.yaml", 3), ("HEAD:missing.yaml", 3)])
def test_a_side_that_cannot_be_read_leaves_no_empty_and_no_old_report(tmp_path: Path, side: str, code: int) -> None:
    """People read of it on standard error alone."""
    put(tmp_path, OLD)
    (tmp_path / "broken.yaml").write_text("services:\n  - {id: s1\n  - x\n")
    for form in DiffFormat:
        words = ("diff", "old.json", side, "--format", form, "--fail-on", "never")
        done = osbctl(*words, cwd=tmp_path, code=code)
        with case(form):
            assert side in done.stderr
            assert (side in done.stdout) == bool(done.stdout) == (form not in (DiffFormat.TEXT, DiffFormat.ALLOW))
            if done.stdout:
                (tmp_path / "report").write_text("the last one")
                failure(*words, "-o", "report", cwd=tmp_path, code=code)
                assert (tmp_path / "report").read_text() == done.stdout


def test_an_old_catalog_that_is_refused_itself_is_told_once(tmp_path: Path) -> None:
    refused = in_service(plans=[plan("p1", "same"), plan("p2", "same", free=True)])
    told = diff(tmp_path, large(free=False), old=refused).stderr
    assert told.count("old.json is refused by Cloud Foundry, SAP Service Manager: such a platform still has") == 1
    assert "is refused" not in diff(tmp_path, large(free=False), "--platform", "korifi", old=refused).stderr


def test_in_text_of_one_line_places_are_pointers_and_what_is_new_has_no_old_one(tmp_path: Path) -> None:
    plans = [plan("p1", "small"), plan("p2", "large", free=False), plan("p0", "tiny")]
    put(tmp_path, in_service(plans=plans), indent=None)
    shown = osbctl("diff", "old.json", "new.json", cwd=tmp_path).stdout
    assert "old.json:/services/0/plans/1/free → new.json:/services/0/plans/1/free" in shown
    assert "– → new.json:/services/0/plans/2" in shown
    assert "1:" not in shown


def test_schemas_whose_references_double_forty_times_are_compared(tmp_path: Path) -> None:
    def doubling(leaf: dict[str, Any]) -> dict[str, Any]:
        steps = {f"d{i}": {"allOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 2} for i in range(40)}
        top = {"$schema": DRAFT_04, "allOf": [{"$ref": "#/definitions/d0"}], "definitions": {**steps, "d40": leaf}}
        return large(schemas={"service_instance": {"create": {"parameters": top}}})

    began = time.process_time()
    found = changes(tmp_path, doubling({"required": ["size"]}), old=doubling({"type": "object"}))
    # A validator would judge each request a million million times.
    assert [change["level"] for change in found if "schema" in change["rule"]] == ["risky"]
    assert time.process_time() - began < 20


def told(folder: Path, new: Any, platform: str) -> str:
    done = diff(folder, new, "--platform", platform)
    assert done.returncode in (0, 1)
    return done.stdout + done.stderr


def test_what_is_applied_of_a_refused_update_is_said(tmp_path: Path) -> None:
    new = changed(large(description=""), ("services", 0, "name"), "other")
    assert "stops at the first faulty object and retries; earlier ones are applied" in told(tmp_path, new, "kubernetes")
    assert "[change-refused-in-part]" in told(tmp_path, new, "kubernetes")
    new = in_service(name="other", plans=[])
    assert "[change-refused-in-part]" not in told(tmp_path, new, "kubernetes")  # it reads that before it saves anything
    new["services"].append({"id": "s2", "name": "x", "metadata": {"documentationUrl": 5}, "plans": []})
    assert "stops at this service offering and retries; earlier ones are applied" in told(tmp_path, new, "korifi")


def test_what_two_catalogs_cannot_tell_is_said_once_where_it_matters(tmp_path: Path) -> None:
    for fields, platform, sentence, times in (
        ({"name": "huge"}, "cloudfoundry", "may have deactivated plans of earlier catalogs", 1),
        ({"description": "x"}, "cloudfoundry", "may have", 0),
        ({"id": "q", "name": "huge"}, "kubernetes", "refuses an id that another broker has in the cluster", 1),
        ({"description": "x"}, "korifi", "empties the lists of organisations", 1),
    ):
        assert told(tmp_path, large(**fields), platform).count(sentence) == times, (fields, platform)


def test_a_changed_plan_id_says_in_its_first_line_that_it_is_refused_and_why(tmp_path: Path) -> None:
    first, second = diff(tmp_path, large(id="q")).stdout.splitlines()[:2]
    assert first == "refused: a platform refuses the update"
    assert second == '  db/large: the id changed from "p2" to "q" while the name stayed [change-plan-id]'


# A running broker on either side.


@pytest.fixture(scope="module")
def address(authority: Authority) -> Iterator[str]:
    with broker(OLD, authority.issue("diff")) as server:
        yield server.url


def test_a_broker_on_either_side(machine: Machine, authority: Authority, address: str) -> None:
    call = "diff", "--user", USER, "--password-stdin", "--ca-file", str(authority.cert)
    put(machine.folder, large(free=False))
    assert machine.run(*call, address, "old.json", stdin=PASSWORD) == ""
    shown = machine.run(*call, address, "new.json", code=1, stdin=PASSWORD)
    assert "change-free-to-paid" in shown
    assert re.search(r"^    https://\S+:/services/0/plans/1/free → new.json:\d+:\d+$", shown, re.MULTILINE)
    assert shown.splitlines()[-1].startswith(f"{address}/v2/catalog → new.json: ")
    back = machine.run(*call, "new.json", address, stdin=PASSWORD)
    assert "no breaking changes, but the catalogs differ" in back
    # one password for two brokers, but not for standard input, too
    assert machine.run(*call, address, address.replace("https", "HTTPS"), stdin=PASSWORD) == ""
    machine.run("diff", "--password-stdin", "https://localhost:1", "-", code=2)


def test_a_password_in_an_address_is_used_and_never_told(machine: Machine, authority: Authority, address: str) -> None:
    secret = address.replace("https://", f"https://{USER}:{PASSWORD}@")
    wrong = address.replace("https://", f"https://{USER}:x{PASSWORD}@")
    put(machine.folder, large(free=False))
    for form in ("text", "json", "markdown", "sarif"):
        call = "diff", "-f", form, "--ca-file", str(authority.cert)
        machine.run(*call, secret, "new.json", code=1)
        machine.run(*call, wrong, "new.json", code=3)
    machine.run("diff", secret, "new.json", code=3)  # the certificate is of an unknown authority
    machine.run("show", secret, code=2)
    for told in ("authentication failed (401)", "TLS failed", "osbctl fetch"):
        assert told in machine.output
    assert PASSWORD not in machine.output
    assert BASIC not in machine.output
