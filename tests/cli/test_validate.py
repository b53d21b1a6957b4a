"""`osbctl validate`: what people and pipelines see."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from osbctl.platforms import format_platforms
from osbctl.platforms.verdict import judge_all
from osbctl.reports import Format
from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.case import case
from tests.cli.program import ROOT, failure, osbctl, process
from tests.folders import catalogs_folder, schemas_folder
from tests.fragments import PLAN, SERVICE
from tests.platforms.known import CF, K8S, SM, is_known, known

GOOD = str(catalogs_folder() / "interface-example.json")
FAULTY = str(catalogs_folder() / "faulty.yaml")
GUID = "A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13"
NEWER = f"""services:
- id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  name: postgres
  description: A database.
  bindable: true
  plans:
  - {{id: {GUID}, name: small, description: One core., free: true, bindable: true, FIELD}}
"""
TWO_PLANS = """\
services:
- {id: A, name: s, description: d, bindable: true, plans: [{id: B, name: p, description: d}, {id: C, name: p}]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a good catalog, a faulty one, one of two plans with one name, and one that is no JSON."""
    (tmp_path / "good.json").write_text(Path(GOOD).read_text())
    (tmp_path / "faulty.yaml").write_text(Path(FAULTY).read_text())
    (tmp_path / "c.yaml").write_text(TWO_PLANS)
    (tmp_path / "broken.json").write_text('{"services": [,]}')
    return tmp_path


def shown(folder: Path, words: str, code: int | None = None, **more: str) -> str:
    return osbctl("validate", *words.split(), cwd=folder, code=code, **more).stdout


def findings(folder: Path, text: str, *options: str) -> list[Any]:
    """The findings of one catalog; the exit code is that of `--fail-on error`."""
    (folder / "catalog.yaml").write_text(text)
    done = osbctl("validate", "-f", "json", *options, "catalog.yaml", cwd=folder)
    found: list[Any] = json.loads(done.stdout)["documents"][0]["findings"]
    assert done.returncode == ("error" in {one["severity"] for one in found})
    return found


def test_a_good_catalog_passes() -> None:
    done = process("validate", GOOD, code=0)
    assert done.stderr == ""
    assert "  every platform  accepts\n" in done.stdout


def test_rules_reach_the_third_service_and_its_plans(folder: Path) -> None:
    ids = [f"{n}{GUID[1:]}" for n in range(7)]
    services = [
        {**SERVICE, "id": ids[n], "name": f"s{n}", "plans": [{**PLAN, "id": ids[n + 3], "name": "small"}]}
        for n in range(3)
    ]
    assert findings(folder, dump({"services": services})) == []
    services[2]["name"] = "s0"
    services[2]["metadata"] = {"documentationUrl": "docs"}
    plans = [{**PLAN, "id": id_, "bindable": False} for id_ in (ids[3], ids[5], ids[6])]
    services[2]["plans"] = [*plans[:2], {**plans[2], "name": "n" * 256}]
    found = {(one["rule"], one["path"]) for one in findings(folder, dump({"services": services}))}
    found = {(rule, path) for rule, path in found if is_known(rule)}
    name = "/services/2/plans/2/name"
    assert found == {
        ("service-name-duplicate", "/services/2/name"),
        ("bindable-unused", "/services/2/bindable"),
        ("url-invalid", "/services/2/metadata/documentationUrl"),
        ("id-duplicate", "/services/2/plans/0/id"),
        ("plan-name-duplicate", "/services/2/plans/1/name"),
        *((rule, name) for rule in ("long-name", "service-manager-text", "kubernetes-name")),
    }


def test_the_plain_call_and_the_call_with_options_say_the_same(folder: Path) -> None:
    assert shown(folder, "faulty.yaml") == shown(folder, "--color auto faulty.yaml")


def test_the_exit_code_is_that_of_the_findings_that_count(folder: Path) -> None:
    (folder / "empty.json").write_text('{"services": []}')
    (folder / "house.json").write_text('{"properties": {"services": {"maxItems": 0}}}')
    for words, code, told in (
        ("faulty.yaml", 1, "faulty.yaml:21:9: error: "),
        ("faulty.yaml", 1, "refuses ("),
        *((f"--fail-on {severity} faulty.yaml", 1, "error: ") for severity in ("error", "warning", "info")),
        ("--fail-on never faulty.yaml", 0, "error: "),
        ("broken.json", 1, "broken.json:1:15: error: "),
        ("empty.json", 0, ""),
        ("--platform cloudfoundry empty.json", 1, "Service broker must provide at least one service"),
        ("--schema house.json good.json", 1, "[house-schema]"),
        ("faulty.yaml --select schema --ignore schema-type", 1, ""),
    ):
        assert told in shown(folder, words, code), words


def test_standard_input_has_a_name() -> None:
    done = osbctl("validate", "-", "--stdin-filename", "x/y.json", "-f", "json", stdin=Path(GOOD).read_bytes())
    assert json.loads(done.stdout)["documents"][0]["name"] == "x/y.json"


def test_one_entry_a_source_even_of_those_that_cannot_be_read(folder: Path) -> None:
    good, bad, gone = json.loads(shown(folder, "-f json good.json broken.json missing.json", 3))["documents"]
    assert good["platforms"]["cloudfoundry"]["verdict"] == "accepts"
    assert bad["platforms"]["korifi"]["verdict"] == "unreadable"
    assert bad["findings"][0]["location"]["line"] == 1
    assert gone["platforms"]["kubernetes"]["verdict"] == "unreadable"
    assert "missing.json" in gone["findings"][0]["message"]


def test_wrong_use_gets_a_sentence() -> None:
    once = "standard input can be read only once"
    for words, code, told in (
        ("show", 2, "error: missing argument"),
        (f"validate --platfrom x {GOOD}", 2, "--platform"),
        (f"validate --platform heroku {GOOD}", 2, "cloudfoundry"),
        (f"validate --ignore plan-name-duplicat {GOOD}", 2, "did you mean plan-name-duplicate?"),
        *(
            (f"validate {FAULTY} --select {word}", 2, told)
            for word, told in (
                ("change", "is reported by osbctl diff and drift"),
                ("change-*", "osbctl diff and drift"),
                ("wire", "is reported by osbctl check"),
                ("wire-open", "wire-open is reported by osbctl check"),
                ("build", "is about source folders"),
                ("build-id-missing", "is about source folders"),
                ("schema --select wire", "--select wire selects nothing"),
                ("shared-id", "needs --together"),
                ("house-schema", "needs --schema"),
                ("pointer-not-found", "needs --at"),
            )
        ),
        (f"validate {FAULTY} --select schema-type --ignore schema-type", 2, "every selected rule is also ignored: sch"),
        *((f"validate {word} --format json {FAULTY}", 2, "for text") for word in ("--concise", "-q")),
        (f"valdate {GOOD}", 2, "validate"),
        ("rules plan-name-duplicat", 2, "did you mean plan-name-duplicate?"),
        ("rules advise", 2, "did you mean advice?"),
        ("rules a b", 2, "error: got unexpected extra arguments (b)\n"),
        ("serve x --credentials y --port 80000", 2, "'--port' (env var: OSBCTL_PORT or PORT): 80000 is not in the ran"),
        ("rules unlike", 2, "osbctl rules lists them"),
        *((words, 2, once) for words in ("validate - a -", "fix - -", "params - s p -c @-", "diff - -", "page - -")),
        (f"validate --config none.toml {GOOD}", 3, "none.toml: there is no such file"),
        (f"validate --schema none.json {GOOD}", 3, "none.json"),
    ):
        assert told in failure(*words.split(), stdin=Path(GOOD).read_bytes(), code=code), words
    assert "no-such-file.yaml" in osbctl("validate", "no-such-file.yaml", code=3).stdout


def test_configuration_is_found(tmp_path: Path) -> None:
    (tmp_path / "osbctl.toml").write_text('fail-on = "never"\n')
    osbctl("validate", FAULTY, cwd=tmp_path, code=0)
    (tmp_path / "osbctl.toml").write_text('select = ["schema"]\nignore = ["schema"]\n')
    told = failure("validate", "-", cwd=tmp_path, stdin="{}", code=2)
    assert "every selected rule is also ignored: house-schema, " in told


def test_the_closing_words_do_not_contradict_the_verdicts(folder: Path) -> None:
    (folder / "osbctl.toml").write_text('ignore = ["plan-name-duplicate", "wire-cut"]\n')
    for options, code, closing in (
        ("--select url-not-https", 0, "c.yaml: nothing shown, 4 hidden"),
        ("--select plan-name-duplicate", 1, "c.yaml: 1 error, 3 hidden"),
        ("--select cloudfoundry-plan-names -p cloudfoundry", 1, "c.yaml: 1 error, 4 hidden"),
        ("--ignore schema-required", 0, "c.yaml: 2 info, 2 hidden"),
    ):
        done = osbctl("validate", *options.split(), "c.yaml", cwd=folder, code=code)
        with case(options):
            assert done.stderr == ""
            assert closing in done.stdout.splitlines()
            assert re.search(r"\n  Cloud Foundry +refuses \(2 reasons\)", done.stdout)


def test_shorter_reports(folder: Path) -> None:
    def lines(options: str = "") -> list[str]:
        done = osbctl("validate", *options.split(), "c.yaml", "good.json", cwd=folder, code=1)
        assert done.stderr == ""
        return done.stdout.splitlines()

    found = [line for line in lines() if re.match(r"c\.yaml:\d+:\d+: ", line)]
    assert len(found) == 4
    outcomes = judge_all(read_source(str(folder / "c.yaml")).data)
    refusing = [platform for platform, outcome in outcomes.items() if outcome.refusals]
    assert known(refusing) == (CF, K8S, SM)
    assert lines("--concise --quiet") == found
    assert lines("--concise") == [
        *found,
        f"c.yaml: 2 errors, 2 info; refused by {format_platforms(refusing)}",
        "good.json: no findings",
        "2 documents: 2 errors, 2 info",
        "1 fixable with `osbctl fix --unsafe`",
    ]
    assert [line for line in lines("-q") if not line.startswith(" ") and line] == found
    assert "accepts" not in "".join(lines("-q"))


def test_github_actions_gets_its_format_by_itself_unless_a_shorter_text_is_asked_for(folder: Path) -> None:
    assert shown(folder, "faulty.yaml", GITHUB_ACTIONS="true").startswith("::")
    for option in ("--concise", "--quiet"):
        text = shown(folder, f"{option} faulty.yaml", GITHUB_ACTIONS="true")
        assert text and "::error" not in text, option


def test_a_pipe_gets_no_color(folder: Path) -> None:
    environments: list[dict[str, Any]] = [{}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "0"}, {"GITHUB_ACTIONS": "x"}]
    for environment in environments:
        with case(environment):
            assert "\x1b" not in shown(folder, "faulty.yaml", **environment)
            assert "\x1b" in shown(folder, "--color always faulty.yaml", **environment)
            assert "\x1b" not in shown(folder, "--help", **environment)
    assert "\x1b" not in process("validate", "--help", GITHUB_ACTIONS="x").stdout  # typer looks as it is imported


def test_version_and_help() -> None:
    assert osbctl("--version").stdout.startswith("osbctl ")
    assert "validate" in osbctl("--help", code=0).stdout
    assert osbctl().returncode in (0, 2)


def test_schema_prints_the_schema_of_the_version_that_is_asked_for() -> None:
    for version, options in (("2.14", ()), ("2.17", ("--api-version", "2.17"))):
        shipped = (schemas_folder() / f"catalog-{version}.json").read_text(encoding="utf-8")
        assert osbctl("schema", *options).stdout == shipped, version


def loaded(*arguments: str) -> set[str]:
    """The modules that a run of osbctl loads."""
    code = (
        "import sys, atexit, runpy\n"
        f"sys.argv = ['osbctl', *{list(arguments)!r}]\n"
        "atexit.register(lambda: print('\\nMODULES', *sys.modules))\n"
        "runpy.run_module('osbctl', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    return set(done.stdout.rpartition("MODULES")[2].split())


def test_start_up_loads_little(tmp_path: Path) -> None:
    assert not {"typer", "yaml", "rich", "jsonschema", "json", "osbctl.commands"} & loaded("--version")
    valid = loaded("validate", GOOD)
    assert not {"typer", "yaml", "rich", "jsonschema", "waitress", "subprocess", "asyncio"} & valid
    # Each of these costs a twentieth of the whole run or more; records are named tuples for that reason.
    assert not {"dataclasses", "inspect", "pathlib", "textwrap"} & valid
    assert "jsonschema_rs" in valid
    rare = {"ssl", "urllib3", "hashlib", "osbctl.platforms.cloudfoundry.verdict", "osbctl.sources.exports"}
    assert not rare & loaded("diff", GOOD, GOOD)
    database = {"sqlalchemy", "rich", "urllib3", "platformdirs", "yaml", "jsonschema_rs"}
    assert not database & loaded("brokers", "--help")
    (tmp_path / "c.yaml").write_text("services: [{id: a, name: a, description: d, bindable: 3, plans: []}]\n")
    nothing_fixable = loaded("validate", str(tmp_path / "c.yaml"))
    assert "osbctl.validation.pipeline" in nothing_fixable
    assert [name for name in nothing_fixable if "osbctl" in name and "fix" in name] == []


def test_together_tells_what_catalogs_share_and_only_where_it_is_asked_for(folder: Path) -> None:
    (folder / "other.json").write_text(Path(GOOD).read_text())
    assert "shared-id" not in shown(folder, "good.json other.json")
    platforms = "--platform kubernetes --platform cloudfoundry"
    told = shown(folder, f"--together {platforms} good.json missing.json other.json -f json", 3)
    first, _, last = json.loads(told)["documents"]
    assert not [one for one in first["findings"] if one["rule"].startswith("shared")]
    shared = [one for one in last["findings"] if one["rule"] == "shared-id"]
    assert {one["severity"] for one in shared} == {"error"}
    assert all("good.json:" in one["message"] for one in shared)
    assert last["platforms"]["kubernetes"]["verdict"] == "refuses"
    assert last["platforms"]["cloudfoundry"]["verdict"] == "accepts"


def test_what_cannot_be_read_is_called_by_one_name_and_gets_no_verdicts(tmp_path: Path) -> None:
    told = shown(tmp_path, "- gone.yaml", stdin="services: [\n")
    assert "<stdin>:1:11: error" in told
    assert {"<stdin>: 1 error", "gone.yaml: 1 error"} <= {*told.splitlines()}
    assert "Cloud Foundry" not in told and "unreadable" not in told


def test_a_wrong_indentation_has_a_hint(tmp_path: Path) -> None:
    top = "services:\n- id: a\n  name: pg\n  description: x\n  bindable: true\nplans:\n- id: b\n"
    for text, told in (
        ("a: b: c\n", "hint: check the indentation, and quote text that contains a colon\n"),
        ("services:\n  - name: a\n  id: b\n", "hint: indent it like the keys of the item above\n"),
        (top, "service 'pg': plans stands at the top, not in the service offering (line 6)"),
        (top, "hint: indent it, and what is below it"),
    ):
        (tmp_path / "c.yaml").write_text(text)
        assert told in shown(tmp_path, "c.yaml", 1), text


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    client = "  dashboard_client: {id: ui, secret: 7772345, redirect_uri: https://ui.example.com}\n  plans: []\n"
    (tmp_path / "c.yaml").write_text(NEWER.partition("  plans:")[0] + client)
    for form in Format:
        told = shown(tmp_path, f"c.yaml --format {form}", 1)
        assert "secret must be a string, not a number" in told, form
        assert "777" not in told, form
    (tmp_path / "c.yaml").write_text(
        (tmp_path / "c.yaml").read_text().replace("id: ui, secret: 7772345", "id: 7, secret: x777")
    )
    for form in Format:
        assert "777" not in shown(tmp_path, f"c.yaml --format {form}", 1), form


ABOVE = {
    "password: [\n hun, {x: hun}, [hun]], public: {}, bindable: 1": "********, public: {}, bindable: 1",
    "x: &a\n  hun, credentials: {z: *a}, bindable: 1": "***, credentials: *******, bindable: 1",
    'tokens:\n "hun\n hun", bindable: 1': "****, bindable: 1",
    '"\\x70assword": hun, bindable: 1, bindable: 1': "***, bindable: 1",
    "dashboard_client: {id: public, notes:\n hun, redirect_uri: public}, bindable: 1": "***, redirect_uri: public}, bindable",
    "s: {properties: {key: {default:\n hun, type: int}}}, bindable: 1": "***, type: int}}}, bindable: 1",
}


def test_a_secret_is_not_shown_where_its_name_stands_above_or_is_escaped(tmp_path: Path) -> None:
    for entries, visible in ABOVE.items():
        catalog = f"services:\n- {{name: s, {entries}, plans: []}}\n"
        block = "\n".join(f"    {line}" for line in catalog.splitlines())
        (tmp_path / "map.yaml").write_text(f"kind: ConfigMap\ndata:\n  catalog: |\n{block}\n")
        (tmp_path / "c.yaml").write_text(catalog)
        for file in ("c.yaml", "map.yaml"):
            told = shown(tmp_path, file, 1)
            with case(file, entries, told):
                assert visible in told and "hun" not in told


def test_a_field_newer_than_the_version_is_checked_for_the_platforms_that_ask_for_it(tmp_path: Path) -> None:
    for field, rule, refused_by in (
        ("maximum_polling_duration: 3600s", "schema-type", {"cloudfoundry", "service-manager"}),
        ('binding_rotatable: "yes"', "schema-type", {"korifi"}),
        ("maintenance_info: {description: x}", "schema-required", {"cloudfoundry"}),
        ("maintenance_info: {version: 1.0.0, public: true}", "cloudfoundry-maintenance-info", {"cloudfoundry"}),
        ("maintenance_info: {version: v1}", "maintenance-version", {"cloudfoundry"}),
        ("maintenance_info: {version: 1.0.0}", "field-too-new", set()),
    ):
        for counted in ("", "cloudfoundry", "kubernetes", "service-manager", "korifi"):
            options = ["-p", counted] if counted else []
            with case(field, counted):
                told = findings(tmp_path, NEWER.replace("FIELD", field), *options)
                of_another = rule.startswith("cloudfoundry") and counted not in ("", "cloudfoundry")
                found = "field-too-new" if of_another else rule
                if found == "field-too-new" and counted in ("cloudfoundry", "korifi"):  # they speak 2.15 and later
                    assert told == []
                    continue
                (finding,) = told
                refusing = refused_by & {counted} if counted else refused_by
                assert (finding["rule"], set(finding["refused_by"])) == (found, refusing)
                severity = "error" if counted in refused_by or rule == "maintenance-version" else "warning"
                assert finding["severity"] == ("info" if found == "field-too-new" else severity)


def test_a_catalog_commands_no_runner(tmp_path: Path) -> None:
    """GitHub obeys `::` behind the blanks of a line, Azure and TeamCity `##` anywhere."""
    for command in ("::error::x", "::add-mask::x", "::stop-commands::x", "##[group]x", "##vso[x]"):
        (tmp_path / "c.yaml").write_text(NEWER.replace("FIELD", "x: 1").replace("name: postgres", f'name: "{command}"'))
        for words in ("validate", "validate -f github", "validate -f json", "show", "page"):
            said = osbctl(*words.split(), "c.yaml", cwd=tmp_path).stdout
            assert command[-6:] in said, (command, words)
            marks = re.search(rf"(^|\s){re.escape(command)}", said.replace("##", "\n##"), re.MULTILINE)
            assert not marks, (command, words)


def test_a_placeholder_is_reported_where_it_is_one(tmp_path: Path) -> None:
    """In the pattern of a parameter the service's own `${…}` is meant; in an id only the placeholder is said."""
    schema = '{$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {type: string, pattern: "^${x}$"}}}'
    parameters = f"schemas: {{service_instance: {{create: {{parameters: {schema}}}}}}}"
    for field, count in ((parameters, 0), ("metadata: {displayName: ((name))}", 1)):
        for identity, more in ((GUID, 0), ("((plan-id))", 1)):
            found = findings(tmp_path, NEWER.replace("FIELD", field).replace(GUID, identity))
            rules = [(one["rule"], one["severity"] != "error") for one in found]
            assert rules == [("placeholder-unresolved", True)] * (count + more), (field, identity)


def test_a_spelling_beside_the_right_one_is_no_slip(tmp_path: Path) -> None:
    for more, rules in ("", ["field-near-miss"]), (", plan_updateable: false", ["field-too-new"]):
        found = findings(tmp_path, NEWER.replace("FIELD", f"planUpdateable: true{more}"))
        assert [one["rule"] for one in found] == rules


def test_it_ends_with_what_fix_would_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = NEWER.replace("free: true", "free: 'no'").replace("FIELD", "metadata: {displayNam: x}")
    (tmp_path / "c.yaml").write_text(text)
    whole = shown(tmp_path, "c.yaml")
    assert whole.endswith("\n\n1 fixable with `osbctl fix`, 1 more with --unsafe\n")
    assert " [schema-type] (fixable)\n" in whole
    assert " [field-near-miss] (fixable with --unsafe)\n" in whole
    assert "fixable with `" not in shown(tmp_path, "--quiet c.yaml")
    assert shown(tmp_path, "--concise c.yaml").endswith("1 more with --unsafe\n")
    below = "data:\n" + re.sub("(?m)^", "  ", text)
    (tmp_path / "d.yaml").write_text(text.replace("free: 'no'", "free: no"))  # also yaml-1.1, which the same fix mends
    assert shown(tmp_path, "d.yaml").endswith("\n\n1 fixable with `osbctl fix`, 1 more with --unsafe\n")
    assert "fixable" not in shown(tmp_path, "-", 1, stdin=below)  # fix takes it at the top
    assert (
        "would fix 1, 1 more with --unsafe; 0 left for you" in osbctl("fix", "--check", "c.yaml", cwd=tmp_path).stderr
    )
    monkeypatch.setattr("osbctl.commands.output.wrap_width", lambda _: 30)  # a narrow terminal
    assert shown(tmp_path, "--concise c.yaml").endswith("\n1 fixable with `osbctl fix`, 1\n    more with --unsafe\n")


def test_a_refusal_names_platforms_and_rules_and_equal_verdicts_are_one_line(tmp_path: Path) -> None:
    text = NEWER.replace(", FIELD", "")
    text += "  - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B6, name: small, description: e, free: true}\n"
    (tmp_path / "c.yaml").write_text(text)
    refused = shown(tmp_path, "c.yaml")
    by = "    refused by Cloud Foundry, SAP Service Manager\n"
    assert f"{by}    Cloud Foundry: “Plan names must be unique within a service. " in refused
    assert "  Cloud Foundry               refuses (1 reason): plan-name-duplicate\n" in refused
    assert "\x1b[36mhint:\x1b[0m" not in refused
    text = text.replace("name: small, description: e", "name: q, description: e")
    (tmp_path / "c.yaml").write_text(text)
    assert shown(tmp_path, "c.yaml") == "c.yaml: no findings\n  every platform  accepts\n"
    (tmp_path / "c.yaml").write_text(text.replace("free: true", "free: 'no'"))
    painted = shown(tmp_path, "--color always c.yaml")
    assert "  every platform  \x1b[1;31mrefuses\x1b[0m (2 reasons): schema-type\n" in painted
    assert "    \x1b[36mhint:\x1b[0m write false" in painted
    assert "\n    Cloud Foundry: “Plan free must be a boolean" in painted


def test_a_configuration_that_selects_only_what_is_never_reported(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "c.json")
    osbctl("init", "source", "--service", "db", cwd=tmp_path, code=0)
    for words, told in (
        ('"change"', "osbctl diff and drift"), ('"wire", "build"', "osbctl check"), ('"build"', "source folders"),
        ('"house-schema"', "--schema"),
    ):  # fmt: skip
        (tmp_path / "osbctl.toml").write_text(f"select = [{words}]\n")
        with case(words):
            assert told in failure("validate", "c.json", cwd=tmp_path, code=3)
    for words, sources in (('"build"', ["source"]), ('"build"', ["c.json", "source"]), ('"wire", "spec"', ["c.json"])):
        (tmp_path / "osbctl.toml").write_text(f"select = [{words}]\n")
        with case(words, *sources):
            osbctl("validate", *sources, cwd=tmp_path, code=0)
    (tmp_path / "osbctl.toml").unlink()
    osbctl("validate", "source", "--select", "build", cwd=tmp_path, code=0)
    osbctl("validate", "c.json", "--select", "shared-id", "--together", cwd=tmp_path, code=0)
