"""`osbctl params`, as a developer calls it."""

import html
import json
import re
import time
from pathlib import Path
from typing import Any

import jsonschema

from osbctl.commands.params import params_json, plan_parameters
from osbctl.platforms.tools import Purpose
from osbctl.sources.read import read_source
from osbctl.text import escape_line
from tests.case import each
from tests.cli.program import osbctl
from tests.comparison.make import catalog, plan, service
from tests.folders import catalogs_folder, schemas_folder
from tests.reports.standards import assert_only_escapes

CATALOG = str(catalogs_folder() / "data-services.yaml")
SHAPE = json.loads((schemas_folder() / "params-1.json").read_text())


def params(*words: str, code: int = 0, cwd: Path | None = None, stdin: str = "") -> str:
    """The output for the plan `small` of `postgres`."""
    return osbctl("params", CATALOG, "postgres", "small", *words, code=code, cwd=cwd, stdin=stdin).stdout


def write(folder: Path, schema: Any) -> None:
    """Write a catalog c.json whose plan `p` of the service offering `s` has that parameter schema."""
    schemas = {"service_instance": {"create": {"parameters": schema}}}
    (folder / "c.json").write_text(json.dumps(catalog(service("1", "s", plan("2", "p", schemas=schemas)))))


def test_without_a_request_it_shows_the_parameters_and_examples() -> None:
    shown = params()
    for part in ("storage_gb", "≥ 1, ≤ 10; default 10", "Smallest request", "Fullest"):
        assert part in shown


def test_a_request_that_passes_gets_commands() -> None:
    shown = params("-c", '{"storage_gb": 3}', "-b", "data broker")
    assert "the plan's schema accepts this request" in shown
    assert 'cf create-service postgres small my-instance -b "data broker" -c params.json' in shown
    assert '"storage_gb": 3' in shown
    ids = ("281FA6F5-54A5-454C-AA2E-C0035E0E14CA", "2399D29D-B61E-4BA5-B682-4DD6B80469B8")
    of_ids = osbctl("params", CATALOG, *ids, "-c", '{"storage_gb": 3}', "-b", "data broker").stdout
    assert of_ids.partition("\n")[2] == shown.partition("\n")[2]


def test_a_request_that_fails_is_told_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{\n  "storage_gb": 300,\n  "verison": "17"\n}\n')
    shown = params("-c", "@mine.json", cwd=tmp_path, code=1)
    assert "mine.json:2:3: error: storage_gb must be at most 10, not 300 [maximum]" in shown
    assert "mine.json:3:3: error: the schema does not allow verison here" in shown
    assert "did you mean version?" in shown
    assert "cf create-service" not in shown
    shown = params("-c", "@-", stdin='{"storage_gb": 0}', code=1)
    assert "<stdin>:1:2: error: storage_gb must be at least 1, not 0" in shown


def test_a_file_is_named_in_the_commands_and_its_secrets_are_not_shown(tmp_path: Path) -> None:
    request = '{"admin_password": "hunter2-hunter2"}'
    write(tmp_path, None)
    (tmp_path / "my params.json").write_text(request)
    ran = osbctl("params", "c.json", "s", "p", "-c", "@my params.json", cwd=tmp_path, code=0)
    assert '-c "my params.json"' in ran.stdout
    assert "hunter2" not in ran.stdout + ran.stderr
    assert "the plan describes no parameters" in ran.stdout
    # a parameter may have the name of a keyword, behind which a catalog has names of parameters
    write(tmp_path, {"additionalProperties": {"additionalProperties": {"additionalProperties": {"type": "integer"}}}})
    (tmp_path / "q.json").write_text(json.dumps({"properties": {"password": {"value": "hunter2"}}}, indent=1))
    refused = osbctl("params", "c.json", "s", "p", "-c", "@q.json", cwd=tmp_path, code=1).stdout
    assert "value does not meet `type`" in refused and "hunter2" not in refused
    write(tmp_path, None)
    for sent, platform, masked in (
        (request, "cloudfoundry", True), ("{}", "cloudfoundry", False),
        ("@my params.json", "kubernetes", True), ("@my params.json", "cloudfoundry", False),
    ):  # fmt: skip
        words = ("params", "c.json", "s", "p", "-c", sent, "-p", platform)
        told = osbctl(*words, "-f", "json", cwd=tmp_path, code=0).stdout
        assert json.loads(told)["accepted"] and "hunter2" not in told
        shown = osbctl(*words, cwd=tmp_path, code=0).stdout
        assert (json.loads(told)["masked"], "are left out below" in shown, "(secret)" in shown) == (masked,) * 3


@each("purpose", Purpose)
@each("request_", [None, "{}", '{"role": 7, "storage_gb": 0}'])
def test_the_json_has_the_shape_that_is_promised(purpose: Purpose, request_: str | None) -> None:
    told = params_json(plan_parameters(read_source(CATALOG), "postgres", "small", purpose, request_))
    jsonschema.Draft7Validator(SHAPE).validate(told)
    assert (told["examples"] is None) == (request_ is not None or not told["described"])
    assert (told["accepted"] is None) == (request_ is None)
    assert bool(told["commands"]) == (told["accepted"] is True)


@each("words, code, says", [
    (["postgres", "smal"], 2, "did you mean small?"),
    (["postgre", "small"], 2, "did you mean postgres?"),
    (["postgres", "small", "-c", "a: 1"], 1, "a request is JSON"),
    (["postgres", "small", "-c", "[1]"], 1, "parameters are a JSON object"),
    (["postgres", "small", "-c", "[1"], 1, "-c:1:2: error"),
    (["postgres", "small", "-c", '{"size": 1, "a":"\udcff"}'], 1, "-c:1:18: error: the byte 0xff is not UTF-8"),
    (["postgres", "small", "-c", "@nosuch.json"], 3, "nosuch.json: there is no such file"),
    (["postgres", "small", "--for", "delete"], 2, "delete"),
])  # fmt: skip
def test_what_cannot_be_done_is_said(words: list[str], code: int, says: str) -> None:
    ran = osbctl("params", CATALOG, *words)
    assert (ran.returncode, says in ran.stdout + ran.stderr) == (code, True), ran.stdout + ran.stderr


def many_branches(kind: str) -> dict[str, object]:
    whole = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
    if kind == "touching ranges":
        ranges = [{"minimum": 10 * i, "maximum": 10 * i + 10} for i in range(10)]
        return {**whole, "properties": {"x": {"type": "integer", "oneOf": ranges}}, "required": ["x"]}
    if kind == "any of many, often":
        names = [[f"k{i}"] for i in range(5)]
        choices = [[{"properties": {n[0]: {"minimum": j}}, "required": n} for j in range(8)] for n in names]
        return {**whole, "allOf": [{"anyOf": each} for each in choices]}
    both = [{"$ref": f"#/definitions/d{i}"} for i in range(11)]
    levels = {
        f"d{i}": {"type": "object", "required": ["a", "b"], "properties": dict.fromkeys("ab", both[i + 1])}
        for i in range(10)
    }
    return {**whole, "definitions": {**levels, "d10": {"type": "integer"}}, "properties": {"x": both[0]}, "required": ["x"]}  # fmt: skip


@each("kind", ["touching ranges", "any of many, often", "two references, ten deep"])
def test_branches_that_multiply_end_soon(tmp_path: Path, kind: str) -> None:
    """Each took twenty seconds and more; a page makes the same examples."""
    write(tmp_path, many_branches(kind))
    begun = time.process_time()
    done = osbctl("params", "c.json", "s", "p", cwd=tmp_path, code=0)
    assert time.process_time() - begun < 8
    assert "Example" in done.stdout or "No example" in done.stdout


@each("command", ["show", "params", "page"])
def test_texts_that_look_like_numbers_keep_their_quotes(command: str, tmp_path: Path) -> None:
    version = {"type": "string", "enum": ["15", "17"], "default": "17"}
    write(tmp_path, {"type": "object", "properties": {"version": version}})
    words = {"show": ["c.json", "--service", "s"], "params": ["c.json", "s", "p"], "page": ["c.json"]}[command]
    shown = html.unescape(osbctl(command, *words, cwd=tmp_path).stdout)
    assert '"15" | "17"' in shown
    assert "15 | 17" not in shown


@each("sign", '"\u201c\u201d\u201e$`\\%!')
def test_a_name_that_shells_read_in_different_ways_is_in_no_command(sign: str) -> None:
    shown = params("-c", "{}", "-b", f"it{sign}s")
    assert "cf create-service" not in shown
    assert f"no command: a name in it cannot be quoted: shells interpret {sign} differently" in shown
    quoted = 'cf create-service postgres small my-instance -b "it\u2019s" -c params.json'
    assert quoted in params("-c", "{}", "-b", "it\u2019s")


@each("name", ["\x1b]0;x\x07", "a\rb\tc\nd", "é\x9b2J\u202e", '${a} %{b} \\ "', "##vso[task.z] ::error::y"])
def test_a_hostile_name_reaches_terraform_and_no_terminal(tmp_path: Path, name: str) -> None:
    (tmp_path / "c.json").write_text(json.dumps(catalog(service("1", name, plan("2", name)))))
    shown = osbctl("params", "c.json", "1", "2", "-c", "{}", "-b", name, cwd=tmp_path).stdout
    assert all(escape_line(line) == line for line in shown.split("\n"))
    written = re.findall(r'(?:service_offering_name|service_broker_name| name) += (".*")', shown)
    assert [json.loads(text).replace("$${", "${").replace("%%{", "%{") for text in written] == [name] * 3 + [
        "my-instance"
    ]


def test_colours_add_escapes_alone() -> None:
    for request in ((), ("-c", '{"storage_gb": 3}'), ("-c", '{"storage_gb": "x"}')):
        words = ["params", CATALOG, "postgres", "small", *request]
        bare, painted = osbctl(*words).stdout, osbctl(*words, FORCE_COLOR="1").stdout
        assert "\x1b[1mpostgres / small\x1b[0m: " in painted
        assert_only_escapes(painted, bare)
