"""`osbctl diff` as a whole process, and where it says things stand."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from osbctl.changes import DiffFailOn
from osbctl.reports.changes import DiffFormat
from osbctl.sources.yaml_text import dump
from tests.case import each
from tests.cli.program import ROOT, osbctl
from tests.corpus import CORPUS, needs_corpus

SECRET = "hunter2-and-more"
OLD: dict[str, Any] = {
    "services": [
        {
            "id": "s1",
            "name": "db",
            "description": "a service",
            "bindable": True,
            "dashboard_client": {"id": "c", "secret": SECRET, "redirect_uri": "https://x.example"},
            "plans": [
                {"id": "p1", "name": "small", "description": "a plan"},
                {"id": "p2", "name": "large", "description": "a plan", "free": True},
            ],
        }
    ]
}


def changed(**fields: Any) -> dict[str, Any]:
    new = copy.deepcopy(OLD)
    new["services"][0]["plans"][1].update(fields)
    return new


def put(folder: Path, new: Any, old: Any = OLD, ending: str = "json") -> tuple[str, str]:
    write = dump if ending == "yaml" else lambda value: json.dumps(value, indent=2)
    for name, value in (("old", old), ("new", new)):
        (folder / f"{name}.{ending}").write_text(write(value))
    return f"old.{ending}", f"new.{ending}"


@each("format", [DiffFormat.TEXT, DiffFormat.MARKDOWN, DiffFormat.GITHUB])
def test_nothing_is_said_of_the_same(tmp_path: Path, format: DiffFormat) -> None:
    done = osbctl("diff", *put(tmp_path, OLD), "--format", format, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_safe_changes_are_told_and_pass(tmp_path: Path) -> None:
    done = osbctl("diff", *put(tmp_path, changed(description="another")), cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith("no breaking changes, but the catalogs differ: 1 safe\n")


LEVELS = {"refused": {"id": "q"}, "breaking": {"free": False}, "risky": {"maximum_polling_duration": 3}}
LEVELS["safe"] = {"description": "another"}


@each("fail_on", DiffFailOn)
def test_fail_on(tmp_path: Path, fail_on: DiffFailOn) -> None:
    order = ["refused", "breaking", "risky", "safe"]
    first = {"any": 4, "never": 0}.get(fail_on) or (order.index(fail_on) + 1 if fail_on != "never" else 0)
    for number, level in enumerate(order):
        sources = put(tmp_path, changed(**LEVELS[level]))
        code = osbctl("diff", *sources, "--fail-on", fail_on, cwd=tmp_path).returncode
        assert code == int(number < first), level


@each("ending", ["json", "yaml"])
def test_places_are_right_on_both_sides(tmp_path: Path, ending: str) -> None:
    new = changed(free=False, id="q")
    new["services"][0]["plans"].insert(0, {"id": "p0", "name": "tiny", "description": "a plan"})
    new["services"][0]["tags"] = ["t"]
    del new["services"][0]["plans"][1]
    sources = put(tmp_path, new, ending=ending)
    told = json.loads(osbctl("diff", *sources, "--format", "json", cwd=tmp_path).stdout)
    lines = {name: (tmp_path / name).read_text().splitlines() for name in sources}
    starts = {
        "change-plan-id": ("id: p2", "id: q"),
        "change-free-to-paid": ("free:", "free:"),
        "change-plan-removed": ("id: p1", "plans:"),
        "change-plan-added": ("", "id: p0"),
        "change-tag-added": ("id: s1", "t"),
    }
    found = {change["rule"]: change for change in told["changes"]}
    assert set(found) == set(starts)
    for rule, texts in starts.items():
        for side, text in zip(("old", "new"), texts, strict=True):
            place = found[rule][f"{side}_location"]
            if not text:  # the plan is new
                assert place is None
                continue
            assert place["source"] == f"{side}.{ending}"
            here = "\n".join(lines[place["source"]][place["line"] - 1 :])[place["column"] - 1 :]
            plain = " ".join(here.replace('"', "").replace("{", "").replace("-", "").split())
            assert plain.startswith(text), (rule, side, plain[:40])


@each("format", DiffFormat)
def test_every_format_and_no_secret_in_any(tmp_path: Path, format: DiffFormat) -> None:
    new = changed(free=False)
    new["services"][0]["dashboard_client"] = {"id": 3, "secret": SECRET + "2", "redirect_uri": "https://y.example"}
    old, new_file = put(tmp_path, new)
    (tmp_path / old).write_text(json.dumps(OLD))  # on one line, as brokers answer
    (tmp_path / new_file).write_text(json.dumps(new))
    done = osbctl("diff", old, new_file, "--format", format, "--fail-on", "any", "-o", "report", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    text = (tmp_path / "report").read_text()
    assert "change-free-to-paid" in text
    assert "change-dashboard-client" in text
    assert SECRET not in text


def test_a_platform_and_its_instances(tmp_path: Path) -> None:
    new = copy.deepcopy(OLD)
    del new["services"][0]["plans"][1]
    sources = put(tmp_path, new)
    (tmp_path / "used.txt").write_text("p2\n")
    (tmp_path / "unused.json").write_text('["p1"]')

    def level(*options: str) -> str:
        done = osbctl("diff", *sources, "--format", "json", *options, cwd=tmp_path)
        (change,) = json.loads(done.stdout)["changes"]
        return str(change["level"])

    assert level() == "breaking"
    assert level("--instances", "used.txt") == "refused"
    assert level("--instances", "unused.json") == "breaking"
    assert level("--instances", "used.txt", "--platform", "cloudfoundry") == "breaking"
    assert level("-p", "cloudfoundry", "-p", "service-manager", "--instances", "used.txt") == "refused"


def test_a_broken_list_of_instances_never_makes_a_change_harmless(tmp_path: Path) -> None:
    """A plan that moves is refused where it has instances, or may have; a list that is none must not say it has not."""
    small, large, other = ({"id": f"p{n}", "name": f"plan-{n}", "description": "a plan"} for n in (1, 2, 3))

    def catalog(*homes: list[dict[str, Any]]) -> dict[str, Any]:
        services = [{"id": f"s{n}", "name": f"service-{n}", "description": "a service"} for n, _ in enumerate(homes)]
        return {
            "services": [{**one, "bindable": True, "plans": plans} for one, plans in zip(services, homes, strict=True)]
        }

    sources = put(tmp_path, catalog([small], [other, large]), catalog([small, large], [other]))

    def run(text: str) -> tuple[int, str]:
        (tmp_path / "i.txt").write_text(text)
        done = osbctl("diff", "-p", "service-manager", "--instances", "i.txt", *sources, cwd=tmp_path)
        return done.returncode, done.stderr

    assert run("p2\n") == (1, "")
    assert run("p1\np2\nnobody\n") == (1, "osbctl: 1 of the 3 ids in i.txt is not a plan of either catalog\n")
    assert run("p1\n") == (0, "")
    for broken in ("FAILED\nNot logged in.\n", "<!DOCTYPE html>\n<p>\n", "", "FAILED\n", "[]", "small\nlarge\n"):
        code, told = run(broken)
        assert (code, told.count("\n"), "i.txt" in told) == (3, 2, True), (broken, told)
    call = "diff", "-p", "service-manager", *sources, "--instances"
    assert osbctl(*call, "none", cwd=tmp_path).returncode == 0
    assert [osbctl(*call, word, cwd=tmp_path).returncode for word in ("/dev/null", "")] == [3, 3]


@each(
    "name, there, value, found",
    [
        ("name", "NAME", "other", {"change-service-renamed": "KSM", "change-other-field": "C"}),
        ("bindable", "Bindable", False, {"change-bindable-withdrawn": "KSM", "change-other-field": "C"}),
        (
            "plan_updateable",
            "Plan_Updateable",
            True,
            {"change-plan-updateable-withdrawn": "C", "change-other-field": "C"},
        ),
        ("name", "ID", None, {"change-other-field": "CKSM"}),
    ],
)
def test_each_platform_is_shown_what_it_reads(
    tmp_path: Path, name: str, there: str, value: Any, found: dict[str, str]
) -> None:
    """Cloud Foundry knows a field by its letters; the others take it in any case, and the last of several counts."""
    old, new = copy.deepcopy(OLD), copy.deepcopy(OLD)
    if name == "plan_updateable":
        old["services"][0][name] = True
    new["services"][0][there] = value
    (tmp_path / "old.json").write_text(json.dumps(old))
    (tmp_path / "new.json").write_text(json.dumps(new, indent=1))
    done = osbctl("diff", "old.json", "new.json", "--format", "json", cwd=tmp_path)
    letters = {"cloudfoundry": "C", "kubernetes": "K", "service-manager": "S", "korifi": "M"}
    changes = json.loads(done.stdout)["changes"]
    seen = {
        c["rule"]: "".join(sorted((letters[e["platform"]] for e in c["effects"]), key="CKSM".index)) for c in changes
    }
    assert seen == found
    text = (tmp_path / "new.json").read_text()
    line = next(number for number, one in enumerate(text.splitlines(), 1) if f'"{there}"' in one)
    assert value is None or line in {c["new_location"]["line"] for c in changes}


def test_a_new_refusal_is_told_unless_it_was_there(tmp_path: Path) -> None:
    sources = put(tmp_path, changed(name="Not Kubernetes", description=""))
    done = osbctl("diff", *sources, "--format", "json", cwd=tmp_path)
    rules = [(c["rule"], c["field"].split("/")[0]) for c in json.loads(done.stdout)["changes"]]
    assert ("change-now-refused", "description") in rules
    faulty = changed(description="")
    put(tmp_path, {**faulty, "x": 1}, faulty)
    again = osbctl("diff", *sources, "--format", "json", cwd=tmp_path)
    assert [c["rule"] for c in json.loads(again.stdout)["changes"]] == ["change-other-field"]


def test_accepted_changes(tmp_path: Path) -> None:
    sources = put(tmp_path, changed(free=False))
    (tmp_path / "allow.toml").write_text(osbctl("diff", *sources, "--format", "allow", cwd=tmp_path).stdout)
    done = osbctl("diff", *sources, "--allow", "allow.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "accepted:\n  db/large: free changed from true to false (say why this is accepted)" in done.stdout
    put(tmp_path, changed(description="another"))
    stale = osbctl("diff", *sources, "--allow", "allow.toml", cwd=tmp_path)
    assert stale.returncode == 0
    assert "osbctl: allow.toml: allow change-free-to-paid of db/large, field free matches no change" in stale.stderr


def test_a_revision_against_the_file(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    put(tmp_path, OLD)
    git("init")
    git("add", ".")
    git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-m", "x")
    put(tmp_path, changed(free=False))
    done = osbctl("diff", "HEAD:new.json", "new.json", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("HEAD:new.json → new.json: ")


def test_a_folder_of_a_revision_is_to_be_checked_out(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=work, check=True, capture_output=True)

    work = tmp_path / "work"
    shutil.copytree(ROOT / "catalogs/source", work / "my src")
    git("init")
    git("add", ".")
    git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-m", "x")
    done = osbctl("diff", "HEAD:my src", "my src", cwd=work)
    assert done.returncode == 3
    hint = "git worktree add ../before HEAD, then name '../before/my src'"
    assert f"hint: {hint}\n" in done.stderr
    git(*hint.partition(",")[0].split()[1:])
    same = osbctl("diff", "../before/my src", "my src", cwd=work)
    assert (same.returncode, same.stdout, same.stderr) == (0, "", "")


def test_standard_input_may_be_one_side_but_not_both(tmp_path: Path) -> None:
    _, new = put(tmp_path, changed(free=False))
    assert osbctl("diff", "-", new, stdin=json.dumps(OLD), cwd=tmp_path).returncode == 1
    both = osbctl("diff", "-", "-", cwd=tmp_path)
    assert both.returncode == 2
    assert "standard input can be read only once" in both.stderr


def test_at_holds_for_both_sides(tmp_path: Path) -> None:
    sources = put(tmp_path, {"a": {"b": changed(free=False)}}, {"a": {"b": OLD}})
    done = osbctl("diff", *sources, "--at", "/a/b", "--format", "json", cwd=tmp_path)
    (change,) = json.loads(done.stdout)["changes"]
    assert change["new_path"].endswith("/services/0/plans/1/free")


def test_github_is_the_default_inside_actions(tmp_path: Path) -> None:
    sources = put(tmp_path, changed(free=False))
    done = osbctl("diff", *sources, GITHUB_ACTIONS="true", cwd=tmp_path)
    assert done.stdout.startswith("::error file=new.json,line=")
    assert len(done.stdout.splitlines()) == 1


@each("missing", ["missing.json", "HEAD:missing.json"])
def test_a_source_that_is_not_there(tmp_path: Path, missing: str) -> None:
    _, new = put(tmp_path, OLD)
    assert osbctl("diff", missing, new, cwd=tmp_path).returncode == 3


READ_BY_OTHERS = sorted(set(DiffFormat) - {DiffFormat.TEXT, DiffFormat.ALLOW})


@each("format", READ_BY_OTHERS)
@each("side, code", [("broken.yaml", 1), ("missing.yaml", 3)])
def test_a_side_that_cannot_be_read_leaves_no_empty_and_no_old_report(
    tmp_path: Path, format: DiffFormat, side: str, code: int
) -> None:
    old, _ = put(tmp_path, OLD)
    (tmp_path / "broken.yaml").write_text("services:\n  - {id: s1\n  - x\n")
    (tmp_path / "report").write_text("the last one")
    done = osbctl("diff", old, side, "--format", format, "--fail-on", "never", cwd=tmp_path)
    assert done.returncode == code
    assert side in done.stderr
    assert side in done.stdout
    to_file = osbctl("diff", old, side, "--format", format, "--fail-on", "never", "-o", "report", cwd=tmp_path)
    assert (to_file.returncode, to_file.stdout) == (code, "")
    assert (tmp_path / "report").read_text() == done.stdout


def test_people_read_of_an_unreadable_side_on_standard_error_alone(tmp_path: Path) -> None:
    old, _ = put(tmp_path, OLD)
    for word in ("text", "allow"):
        done = osbctl("diff", old, "missing.yaml", "--format", word, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (3, "")
        assert "missing.yaml" in done.stderr


def test_the_password_of_an_address_is_in_no_report(tmp_path: Path) -> None:
    done = osbctl("diff", f"http://user:{SECRET}@127.0.0.1:1", "missing.yaml", "--format", "json", cwd=tmp_path)
    assert done.returncode == 3
    assert json.loads(done.stdout)["errors"]
    assert SECRET not in done.stdout + done.stderr


def test_the_rules_are_explained(tmp_path: Path) -> None:
    done = osbctl("rules", "change-plan-id")
    assert done.returncode == 0
    assert "Refused by: Cloud Foundry, SAP Service Manager" in done.stdout


def test_what_is_the_same_of_many_changes_is_said_once(tmp_path: Path) -> None:
    old, new = copy.deepcopy(OLD), copy.deepcopy(OLD)
    for side, prefix in ((old, "a"), (new, "b")):
        plans = [{"id": f"p{n}", "name": f"{prefix}{n}", "description": "a plan"} for n in range(26)]
        side["services"][0]["plans"] = plans
    done = osbctl("diff", *put(tmp_path, new, old), cwd=tmp_path)
    assert done.stdout.count("scripts that use the old one") == 1
    assert "  26 changes [change-plan-renamed]" in done.stdout.splitlines()
    assert len(done.stdout.splitlines()) < 35
    done = osbctl("diff", "-f", "markdown", "old.json", "new.json", cwd=tmp_path)
    assert done.stdout.count("scripts that use the old one") == 1
    assert "26 changes" in done.stdout
    assert done.stdout.count("renamed from") == 26


def test_an_old_catalog_that_is_refused_itself_is_told_once(tmp_path: Path) -> None:
    refused = copy.deepcopy(OLD)
    refused["services"][0]["plans"][0]["name"] = refused["services"][0]["plans"][1]["name"] = "same"
    done = osbctl("diff", *put(tmp_path, changed(free=False), refused), cwd=tmp_path)
    assert done.stderr.count("old.json was refused by Cloud Foundry, SAP Service Manager, too:") == 1
    done = osbctl("diff", "--platform", "korifi", "old.json", "new.json", cwd=tmp_path)
    assert "is refused" not in done.stderr


def test_in_text_of_one_line_places_are_pointers_and_what_is_new_has_no_old_one(tmp_path: Path) -> None:
    new = changed(free=False)
    new["services"][0]["plans"].append({"id": "p0", "name": "tiny", "description": "a plan"})
    for name, catalog in (("old.json", OLD), ("new.json", new)):
        (tmp_path / name).write_text(json.dumps(catalog))
    shown = osbctl("diff", "old.json", "new.json", cwd=tmp_path).stdout
    assert "/services/0/plans/1/free → /services/0/plans/1/free" in shown
    assert "– → /services/0/plans/2" in shown
    assert "1:" not in shown


def diff_of_schemas(folder: Path, old: Any, new: Any) -> list[dict[str, Any]]:
    """The changes between two catalogs that differ in one parameter schema."""
    for name, schema in (("old", old), ("new", new)):
        catalog = changed(schemas={"service_instance": {"create": {"parameters": schema}}})
        (folder / f"{name}.json").write_text(json.dumps(catalog), encoding="utf-8")
    run = osbctl("diff", "-f", "json", "old.json", "new.json", cwd=folder)
    return [change for change in json.loads(run.stdout)["changes"] if "schema" in change["rule"]]


def test_schemas_whose_references_double_forty_times_are_compared(tmp_path: Path) -> None:
    def doubling(leaf: dict[str, Any]) -> dict[str, Any]:
        steps = {f"d{i}": {"allOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 2} for i in range(40)}
        top = {"$schema": "http://json-schema.org/draft-04/schema#", "allOf": [{"$ref": "#/definitions/d0"}]}
        return {**top, "definitions": {**steps, "d40": leaf}}

    began = time.monotonic()
    [change] = diff_of_schemas(tmp_path, doubling({"type": "object"}), doubling({"required": ["size"]}))
    assert change["level"] == "risky"  # a validator would judge each request a million million times
    assert time.monotonic() - began < 20


@needs_corpus
def test_a_schema_that_holds_itself_is_not_called_safe(tmp_path: Path) -> None:
    assert CORPUS
    case = json.loads((CORPUS / "recursive-schemas.json").read_text("utf-8"))
    levels = {change["level"] for change in diff_of_schemas(tmp_path, case["old"], case["new"])}
    assert levels & {"risky", "breaking"}


def test_to_name_draft_04_is_safe(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1, "exclusiveMinimum": True}}}
    [change] = diff_of_schemas(tmp_path, schema, {**schema, "$schema": "http://json-schema.org/draft-04/schema#"})
    assert change["level"] == "safe"


def told(folder: Path, new: Any, platform: str, old: Any = OLD) -> str:
    done = osbctl("diff", *put(folder, new, old), "--platform", platform, cwd=folder)
    assert done.returncode in (0, 1)
    return done.stdout + done.stderr


def test_what_is_applied_of_a_refused_update_is_said(tmp_path: Path) -> None:
    new = changed(description="")
    new["services"][0]["name"] = "other"
    assert "stops at the first faulty object and retries; earlier ones are applied" in told(tmp_path, new, "kubernetes")
    assert "[change-refused-in-part]" in told(tmp_path, new, "kubernetes")
    new["services"][0]["plans"] = []
    assert "[change-refused-in-part]" not in told(tmp_path, new, "kubernetes")  # it reads that before it saves anything
    new["services"].append({"id": "s2", "name": "x", "metadata": {"documentationUrl": 5}, "plans": []})
    assert "stops at this service offering and retries; earlier ones are applied" in told(tmp_path, new, "korifi")


def test_what_two_catalogs_cannot_tell_is_said_once_where_it_matters(tmp_path: Path) -> None:
    new = changed(name="huge")
    assert told(tmp_path, new, "cloudfoundry").count("may have deactivated plans of earlier catalogs") == 1
    assert "may have" not in told(tmp_path, changed(description="x"), "cloudfoundry")
    new = changed(id="q", name="huge")
    assert told(tmp_path, new, "kubernetes").count("refuses an id that another broker has in the cluster") == 1
    assert told(tmp_path, changed(description="x"), "korifi").count("empties the lists of organisations") == 1


def test_a_changed_plan_id_says_in_its_first_line_that_it_is_refused_and_why(tmp_path: Path) -> None:
    done = osbctl("diff", *put(tmp_path, changed(id="q")), cwd=tmp_path)
    first, second = done.stdout.splitlines()[:2]
    assert first == "refused: a platform refuses the update"
    assert second == '  db/large: the id changed from "p2" to "q" while the name stayed [change-plan-id]'
