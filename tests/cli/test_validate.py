"""`osbctl validate`: what people and pipelines see."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.case import case
from tests.cli.program import ROOT, osbctl, process
from tests.folders import catalogs_folder, schemas_folder

GOOD = str(catalogs_folder() / "interface-example.json")
FAULTY = str(catalogs_folder() / "faulty.yaml")


def test_a_good_catalog_passes() -> None:
    done = process("validate", GOOD)
    assert (done.returncode, done.stderr) == (0, "")
    assert "  every platform  accepts\n" in done.stdout


def test_a_faulty_catalog_fails_with_places() -> None:
    done = osbctl("validate", FAULTY)
    assert done.returncode == 1
    assert f"{FAULTY}:" in done.stdout
    assert ": error: " in done.stdout
    assert "refuses (" in done.stdout


def test_the_plain_call_and_the_call_with_options_say_the_same() -> None:
    assert osbctl("validate", FAULTY).stdout == osbctl("validate", "--color", "auto", FAULTY).stdout


def test_fail_on() -> None:
    for option, code in (("error", 1), ("warning", 1), ("info", 1), ("never", 0)):
        assert osbctl("validate", "--fail-on", option, FAULTY).returncode == code, option


def test_standard_input_has_a_name() -> None:
    text = Path(GOOD).read_text()
    done = osbctl("validate", "-", "--stdin-filename", "x/y.json", "--format", "json", stdin=text)
    assert json.loads(done.stdout)["documents"][0]["name"] == "x/y.json"


def test_standard_input_comes_once() -> None:
    for words in ("validate - a -", "fix - -", "params - s p -c @-", "diff - -", "page - -"):
        done = osbctl(*words.split(), stdin=Path(GOOD).read_text())
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "standard input can be read only once" in done.stderr, words


def test_one_entry_a_source_even_of_those_that_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"services": [,]}')
    missing = str(tmp_path / "missing.json")
    done = osbctl("validate", "--format", "json", GOOD, str(broken), missing)
    assert done.returncode == 3
    good, bad, gone = json.loads(done.stdout)["documents"]
    assert good["platforms"]["cloudfoundry"]["verdict"] == "accepts"
    assert bad["platforms"]["korifi"]["verdict"] == "unreadable"
    assert bad["findings"][0]["location"]["line"] == 1
    assert gone["platforms"]["kubernetes"]["verdict"] == "unreadable"
    assert missing in gone["findings"][0]["message"]


def test_a_syntax_error_is_a_finding(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"services": [,]}')
    done = osbctl("validate", str(broken))
    assert done.returncode == 1
    assert f"{broken}:1:15: error: " in done.stdout


def test_wrong_use_gets_a_sentence() -> None:
    for words, code, told in (
        ("validate", 2, "error: missing argument"),
        (f"validate --platfrom x {GOOD}", 2, "--platform"),
        (f"validate --platform heroku {GOOD}", 2, "cloudfoundry"),
        (f"validate --ignore plan-name-duplicat {GOOD}", 2, "did you mean plan-name-duplicate?"),
        (f"valdate {GOOD}", 2, "validate"),
        ("rules plan-name-duplicat", 2, "did you mean plan-name-duplicate?"),
        ("rules advise", 2, "did you mean advice?"),
        ("rules unlike", 2, "osbctl rules lists them"),
        ("validate no-such-file.yaml", 3, "no-such-file.yaml"),
        (f"validate --config none.toml {GOOD}", 3, "none.toml: there is no such file"),
        (f"validate --schema none.json {GOOD}", 3, "none.json"),
    ):
        done = osbctl(*words.split())
        with case(words):
            assert done.returncode == code
            assert told in done.stdout + done.stderr
            assert "Traceback" not in done.stdout + done.stderr


def test_platform_makes_refusals_errors(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"services": []}')
    assert osbctl("validate", str(file)).returncode == 0
    done = osbctl("validate", "--platform", "cloudfoundry", str(file))
    assert done.returncode == 1
    assert "Service broker must provide at least one service" in done.stdout


def test_configuration_is_found_and_a_stale_ignore_is_named(tmp_path: Path) -> None:
    (tmp_path / "osbctl.toml").write_text(
        'fail-on = "never"\n[[ignore-at]]\nrule = "plan-name-duplicate"\nservice = "gone"\n'
    )
    done = osbctl("validate", FAULTY, cwd=tmp_path)
    assert done.returncode == 0
    assert "ignore-at of plan-name-duplicate for service 'gone' matched nothing" in done.stderr


TWO_PLANS = """\
services:
- {id: A, name: s, description: d, bindable: true, plans: [{id: B, name: p, description: d}, {id: C, name: p}]}
"""


def test_the_closing_words_do_not_contradict_the_verdicts(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(TWO_PLANS)
    (tmp_path / "osbctl.toml").write_text('ignore = ["plan-name-duplicate", "wire-cut"]\n')
    for options, code, closing in (
        (["--select", "url-not-https"], 0, "c.yaml: nothing shown, 4 hidden"),
        (["--select", "plan-name-duplicate"], 1, "c.yaml: 1 error, 3 hidden"),
        (
            ["--select", "cloudfoundry-plan-names", "-p", "cloudfoundry"],
            1,
            "c.yaml: 1 error, 3 hidden",
        ),
        (["--ignore", "schema-required"], 0, "c.yaml: 2 info, 2 hidden"),
    ):
        done = osbctl("validate", *options, "c.yaml", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (code, "")
        assert closing in done.stdout.splitlines()
        assert "  Cloud Foundry               refuses (2 reasons)" in done.stdout


def test_a_configured_ignore_that_silences_nothing_is_named_unless_something_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "osbctl.toml").write_text('ignore = ["url-not-https", "wire-cut", "change-other-field"]\n')
    (tmp_path / "c.yaml").write_text(TWO_PLANS)
    done = osbctl("validate", "c.yaml", cwd=tmp_path)
    assert done.stderr.splitlines() == [
        f"osbctl: {tmp_path}/osbctl.toml:1: ignore of url-not-https matched nothing: remove it"
    ]
    assert osbctl("validate", "c.yaml", "gone.yaml", cwd=tmp_path).stderr == ""


def test_an_entry_that_another_catalog_may_need_is_not_called_unused(tmp_path: Path) -> None:
    (tmp_path / "osbctl.toml").write_text('ignore = ["url-not-https"]\n')
    (tmp_path / "c.yaml").write_text(TWO_PLANS)
    (tmp_path / "settings.yaml").write_text("a: 1\n")
    os.mkfifo(tmp_path / "fifo.yaml")
    note = f"osbctl: {tmp_path}/osbctl.toml:1: ignore of url-not-https matched nothing: remove it\n"
    assert osbctl("validate", "c.yaml", cwd=tmp_path).stderr == note
    other = tmp_path / "more" / "d.yml"
    other.parent.mkdir()
    other.write_text(TWO_PLANS)
    assert osbctl("validate", "c.yaml", cwd=tmp_path).stderr == ""
    assert osbctl("validate", "c.yaml", "more/d.yml", cwd=tmp_path).stderr == note
    assert osbctl("validate", "-q", "c.yaml", "more/d.yml", cwd=tmp_path).stderr == ""


def test_shorter_reports(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(TWO_PLANS)
    (tmp_path / "good.json").write_text(Path(GOOD).read_text())

    def lines(*options: str) -> list[str]:
        done = osbctl("validate", *options, "c.yaml", "good.json", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (1, "")
        return done.stdout.splitlines()

    findings = [line for line in lines() if re.match(r"c\.yaml:\d+:\d+: ", line)]
    assert len(findings) == 4
    assert lines("--concise", "--quiet") == findings
    assert lines("--concise") == [
        *findings,
        "c.yaml: 2 errors, 2 info; refused by Cloud Foundry, Kubernetes Service Catalog, SAP Service Manager",
        "good.json: no findings",
        "2 documents: 2 errors, 2 info",
        "1 fixable with `osbctl fix --unsafe`",
    ]
    assert [line for line in lines("-q") if not line.startswith(" ") and line] == findings
    assert "accepts" not in "".join(lines("-q"))
    numbers = ["1  error    plan-name-duplicate", "1  error    schema-required", "2  info     id-not-guid"]
    assert sorted(lines("--statistics", "-q")) == sorted(lines("--statistics")[:-1])
    assert lines("--statistics")[-1] == "2 documents: 2 errors, 2 info"
    assert {line.split()[2] for line in lines("--statistics", "-q")} == {
        re.findall(r"\[(\S+)](?: \(fixable.*)?$", f)[0] for f in findings
    }
    assert numbers[0] in lines("--statistics")


def test_shorter_reports_are_text() -> None:
    for option in ("--concise", "--quiet", "--statistics"):
        done = osbctl("validate", option, "--format", "json", FAULTY)
        assert (done.returncode, done.stdout) == (2, ""), option
        assert "for text" in done.stderr
        shown = osbctl("validate", option, FAULTY, GITHUB_ACTIONS="true").stdout
        assert shown, option
        assert "::error" not in shown, option


def test_a_house_schema_adds_its_findings(tmp_path: Path) -> None:
    house = tmp_path / "house.json"
    house.write_text('{"properties": {"services": {"maxItems": 0}}}')
    done = osbctl("validate", "--schema", str(house), GOOD)
    assert done.returncode == 1
    assert "[house-schema]" in done.stdout


def test_github_actions_gets_its_format_by_itself() -> None:
    assert osbctl("validate", FAULTY, GITHUB_ACTIONS="true").stdout.startswith("::")


def test_output_goes_to_a_file_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    done = osbctl("validate", "-f", "json", "-o", str(file), FAULTY)
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(file.read_text())["version"] == 1


def test_a_pipe_gets_no_color() -> None:
    environments: list[dict[str, str]] = [{}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "0"}, {"GITHUB_ACTIONS": "x"}]
    for environment in environments:
        with case(environment):
            assert "\x1b" not in osbctl("validate", FAULTY, **environment).stdout
            assert "\x1b" in osbctl("validate", "--color", "always", FAULTY, **environment).stdout
            assert "\x1b" not in osbctl("validate", "--help", **environment).stdout
    assert "\x1b" not in process("validate", "--help", GITHUB_ACTIONS="x").stdout  # typer looks as it is imported


def test_version_and_help() -> None:
    assert osbctl("--version").stdout.startswith("osbctl ")
    done = osbctl("--help")
    assert done.returncode == 0
    assert "validate" in done.stdout
    assert osbctl().returncode in (0, 2)


def test_schema_prints_the_schema_of_the_version_that_is_asked_for() -> None:
    for version in ("2.14", "2.17"):
        options = () if version == "2.14" else ("--api-version", version)
        shipped = (schemas_folder() / f"catalog-{version}.json").read_text(encoding="utf-8")
        assert osbctl("schema", *options).stdout == shipped


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


def test_start_up_loads_little() -> None:
    assert not {"typer", "yaml", "rich", "jsonschema", "json", "osbctl.cli"} & loaded("--version")
    valid = loaded("validate", GOOD)
    assert not {"typer", "yaml", "rich", "jsonschema", "waitress", "subprocess", "asyncio"} & valid
    # Each of these costs a twentieth of the whole run or more; records are named tuples for that reason.
    assert not {"dataclasses", "inspect", "pathlib", "textwrap"} & valid
    assert "jsonschema_rs" in valid
    rare = {"ssl", "urllib3", "hashlib", "osbctl.platforms.verdicts", "osbctl.sources.exports"}
    assert not rare & loaded("diff", GOOD, GOOD)


def test_together_tells_what_catalogs_share_and_only_where_it_is_asked_for(tmp_path: Path) -> None:
    other, missing = tmp_path / "other.json", tmp_path / "missing.json"
    other.write_text(Path(GOOD).read_text())
    assert "shared-id" not in osbctl("validate", GOOD, str(other)).stdout
    done = osbctl("validate", "--together", "--platform", "kubernetes", GOOD, str(missing), str(other), "-f", "json")
    assert done.returncode == 3
    first, _, last = json.loads(done.stdout)["documents"]
    assert not [finding for finding in first["findings"] if finding["rule"].startswith("shared")]
    assert {finding["severity"] for finding in last["findings"] if finding["rule"] == "shared-id"} == {"error"}
    assert all(f"{GOOD}:" in finding["message"] for finding in last["findings"] if finding["rule"] == "shared-id")
    assert last["platforms"]["kubernetes"]["verdict"] == "refuses"
    assert last["platforms"]["cloudfoundry"]["verdict"] == "accepts"


def test_what_cannot_be_read_is_called_by_one_name_and_gets_no_verdicts(tmp_path: Path) -> None:
    done = osbctl("validate", "-", "gone.yaml", stdin="services: [\n", cwd=tmp_path)
    assert "<stdin>:2:1: error" in done.stdout
    assert "<stdin>: 1 error" in done.stdout.splitlines()
    assert "gone.yaml: 1 error" in done.stdout.splitlines()
    assert "Cloud Foundry" not in done.stdout
    assert "unreadable" not in done.stdout


def test_plans_that_are_not_indented_are_named_with_their_line(tmp_path: Path) -> None:
    catalog = tmp_path / "c.yaml"
    catalog.write_text("services:\n- id: a\n  name: pg\n  description: x\n  bindable: true\nplans:\n- id: b\n")
    done = osbctl("validate", str(catalog))
    assert done.returncode == 1
    assert "service 'pg': plans stands at the top, not in the service offering (line 6)" in done.stdout
    assert "hint: indent it, and what is below it" in done.stdout


SECRET = """\
services:
- id: 5f0a2a1c-7a5e-4a34-9d41-6c4f5f2d3b10
  name: pg
  description: A database.
  bindable: true
  dashboard_client:
    id: ui
    secret: 7772345
    redirect_uri: https://ui.example.com
  plans: []
"""


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(SECRET)
    for form in ("text", "json", "sarif", "html"):
        done = osbctl("validate", "c.yaml", "--format", form, cwd=tmp_path)
        assert done.returncode == 1, form
        assert "secret must be a string, not a number" in done.stdout, form
        assert "777" not in done.stdout, form


def test_what_is_selected_and_ignored_leaves_nothing_and_is_wrong_use(tmp_path: Path) -> None:
    done = osbctl("validate", FAULTY, "--select", "schema-type", "--ignore", "schema-type")
    assert done.returncode == 2
    assert "every selected rule is also ignored: schema-type" in done.stderr
    (tmp_path / "osbctl.toml").write_text('select = ["schema"]\nignore = ["schema"]\n')
    (tmp_path / "c.json").write_text("{}")
    done = osbctl("validate", "c.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "every selected rule is also ignored: house-schema, " in done.stderr
    assert osbctl("validate", FAULTY, "--select", "schema", "--ignore", "schema-type").returncode == 1


NEWER = """services:
- id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  name: postgres
  description: A database.
  bindable: true
  plans:
  - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: small, description: One core., free: true, bindable: true, FIELD}
"""


def test_a_field_newer_than_the_version_is_checked_for_the_platforms_that_ask_for_it(tmp_path: Path) -> None:
    for field, rule, refused_by in (
        ("maximum_polling_duration: 3600s", "schema-type", {"cloudfoundry", "service-manager"}),
        ('binding_rotatable: "yes"', "schema-type", {"korifi"}),
        ("maintenance_info: {description: x}", "schema-required", {"cloudfoundry"}),
        ("maintenance_info: {version: 1.0.0, public: true}", "cloudfoundry-maintenance-info", {"cloudfoundry"}),
        ("maintenance_info: {version: v1}", "maintenance-version", {"cloudfoundry"}),
        ("maintenance_info: {version: 1.0.0}", "field-too-new", set()),
    ):
        (tmp_path / "catalog.yaml").write_text(NEWER.replace("FIELD", field))
        for counted in ("", "cloudfoundry", "kubernetes", "service-manager", "korifi"):
            options = ["-p", counted] if counted else []
            done = osbctl("validate", "-f", "json", *options, "catalog.yaml", cwd=tmp_path)
            with case(field, counted):
                (finding,) = json.loads(done.stdout)["documents"][0]["findings"]
                assert (finding["rule"], set(finding["refused_by"])) == (rule, refused_by)
                severity = "error" if counted in refused_by or rule == "maintenance-version" else "warning"
                assert finding["severity"] == ("info" if rule == "field-too-new" else severity)
                assert done.returncode == (finding["severity"] == "error")


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
    for field, rules in ((parameters, []), ("metadata: {displayName: ((name))}", ["placeholder-unresolved"])):
        text = NEWER.replace("FIELD", field)
        for identity, more in ("A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13", []), ("((plan-id))", ["placeholder-unresolved"]):
            (tmp_path / "catalog.yaml").write_text(text.replace("A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13", identity))
            done = osbctl("validate", "-f", "json", "catalog.yaml", cwd=tmp_path)
            found = json.loads(done.stdout)["documents"][0]["findings"]
            assert [one["rule"] for one in found] == more + rules, (field, identity)
            assert done.returncode == 0


def test_every_line_end_counts_a_line(tmp_path: Path) -> None:
    for name, text in (
        ("catalog.yaml", NEWER.replace("FIELD", "tags: x").replace("bindable: true\n", "bindable: 5\n")),
        ("catalog.json", '{"services":\n[{"id":"a",\n"name":"b",\n\n"bindable": 5}]}\n'),
    ):
        for end in ("\n", "\r\n", "\r"):
            (tmp_path / name).write_bytes(text.replace("\n", end).encode())
            said = osbctl("validate", "--concise", name, cwd=tmp_path).stdout
            with case(name, repr(end)):
                assert re.search(rf"^{name}:5:\d+: error: .*bindable must be a boolean, not 5", said, re.MULTILINE)


def test_columns_of_sarif_are_code_points_and_it_says_so(tmp_path: Path) -> None:
    text = (
        NEWER.replace("FIELD", "bindable: 5")
        .replace("One core.", "\U0001f600\U0001f600")
        .replace("bindable: true, b", "b")
    )
    (tmp_path / "catalog.yaml").write_text(text)
    (run,) = json.loads(osbctl("validate", "-f", "sarif", "catalog.yaml", cwd=tmp_path).stdout)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    (result,) = run["results"]
    line = text.splitlines()[6]
    assert result["locations"][0]["physicalLocation"]["region"]["startColumn"] == line.index("bindable: 5") + 1


def test_junit_counts_its_cases(tmp_path: Path) -> None:
    (tmp_path / "faulty.yaml").write_text(Path(FAULTY).read_text())
    (tmp_path / "good.json").write_text(Path(GOOD).read_text())
    done = osbctl("validate", "-f", "junit", "faulty.yaml", "good.json", cwd=tmp_path)
    faulty, good = ElementTree.fromstring(done.stdout)
    for suite in faulty, good:
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
    assert int(faulty.attrib["failures"]) and int(faulty.attrib["skipped"])
    assert good.attrib["tests"] == "1"


def test_a_spelling_beside_the_right_one_is_no_slip(tmp_path: Path) -> None:
    for more, rules in ("", ["field-near-miss"]), (", plan_updateable: false", ["field-too-new"]):
        (tmp_path / "catalog.yaml").write_text(NEWER.replace("FIELD", f"planUpdateable: true{more}"))
        done = osbctl("validate", "-f", "json", "catalog.yaml", cwd=tmp_path)
        assert [one["rule"] for one in json.loads(done.stdout)["documents"][0]["findings"]] == rules


def test_it_ends_with_what_fix_would_mend(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    plan = "{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5, name: p, description: d, free: 'no', metadata: {displayNam: x}}"
    service = f"{{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: a, description: d, bindable: true, plans: [{plan}]}}"
    file.write_text(f"services: [{service}]\n")
    whole = osbctl("validate", str(file)).stdout
    assert whole.endswith("\n\n1 fixable with `osbctl fix`, 1 more with --unsafe\n")
    assert " [schema-type] (fixable)\n" in whole
    assert " [field-near-miss] (fixable with --unsafe)\n" in whole
    assert "fixable with `" not in osbctl("validate", "--quiet", str(file)).stdout
    assert osbctl("validate", "--concise", str(file)).stdout.endswith("1 more with --unsafe\n")
    assert "fixable" not in osbctl("validate", "-", stdin=f"data: {file.read_text()}").stdout  # fix takes it at the top
    fixed = osbctl("fix", "--check", str(file)).stderr
    assert "would fix 1, 1 more with --unsafe; 0 left for you" in fixed


def test_a_refusal_names_platforms_and_rules_and_equal_verdicts_are_one_line(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    plans = "{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5, name: p, description: d, free: true}"
    plans += ", {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B6, name: p, description: e, free: true}"
    service = f"{{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: a, description: d, bindable: true, plans: [{plans}]}}"
    file.write_text(f"services: [{service}]\n")
    refused = osbctl("validate", str(file)).stdout
    assert (
        "    refused by Cloud Foundry, SAP Service Manager\n    Cloud Foundry: “Plan names must be unique within a service. "
        in refused
    )
    assert "  Cloud Foundry               refuses (1 reason): plan-name-duplicate\n" in refused
    assert "\x1b[36mhint:\x1b[0m" not in refused
    file.write_text(file.read_text().replace("name: p, description: e", "name: q, description: e"))
    assert osbctl("validate", str(file)).stdout == f"{file}: no findings\n  every platform  accepts\n"
    file.write_text(file.read_text().replace("free: true", "free: 'no'"))
    painted = osbctl("validate", "--color", "always", str(file)).stdout
    assert "  every platform  \x1b[1;31mrefuses\x1b[0m (2 reasons): schema-type\n" in painted
    assert "    \x1b[36mhint:\x1b[0m write false" in painted
    assert "\x1b[2m    Cloud Foundry: “Plan free must be a boolean" in painted


def test_findings_without_a_draft_load_no_fixer(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    code = (
        "import sys; from osbctl.__main__ import _run; _run(['validate', sys.argv[1]]);"
        "print([name for name in sys.modules if 'osbctl' in name and 'fix' in name])"
    )
    file.write_text("services: [{id: a, name: a, description: d, bindable: 'yes', plans: []}]\n")
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
