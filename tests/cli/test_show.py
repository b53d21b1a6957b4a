"""`osbctl show` as a whole process."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from osbctl.text import display_width, escape_line
from tests.case import each
from tests.cli import warm
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import ROOT, failure, osbctl
from tests.folders import catalogs_folder
from tests.registry.make import catalog, plan, service

GOOD = str(catalogs_folder() / "interface-example.json")
HOSTILE = (
    "::error::y\n::error::z [red]x[/red] \x1b[31m \x1b]8;;http://evil\x07y \u202e a\nb\tc \x9b2J \x7f ##vso[task.z]"
)


@each("format", ["table", "json", "yaml", "markdown"])
@each("color", ["never", "always"])
def test_hostile_text_reaches_no_terminal(tmp_path: Path, format: str, color: str) -> None:
    shown = {"id": HOSTILE, "name": HOSTILE, "description": HOSTILE}
    plan = {**shown, "metadata": {"bullets": [HOSTILE]}}
    data = {"services": [{**shown, "tags": [HOSTILE], "plans": [plan]}]}
    (tmp_path / "hostile.json").write_text(json.dumps(data))
    done = osbctl("show", "--format", format, "--color", color, "hostile.json", cwd=tmp_path, code=0)
    assert done.stderr == ""
    text = done.stdout.replace("\t", " ")
    if color == "always" and format == "table":
        assert "\x1b]8" not in text
        assert "\u202e" not in text
    else:
        assert all(escape_line(line) == line for line in text.split("\n"))
    assert not re.search(r"(?m)^\s*::", text)
    if format in ("json", "yaml"):
        assert yaml.safe_load(done.stdout) == data


def test_json_and_yaml_are_the_catalog_itself() -> None:
    data = json.loads(Path(GOOD).read_text(encoding="utf-8"))
    shown = osbctl("show", "--format", "json", GOOD).stdout
    assert list(json.loads(shown)["services"][0]) == list(data["services"][0])
    assert json.loads(shown) == data
    assert yaml.safe_load(osbctl("show", "--format", "yaml", GOOD).stdout) == data


def test_a_name_goes_before_an_id_of_another(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"services": [{"name": "old", "id": "redis"}, {"name": "redis", "id": "1"}]}))
    found = [osbctl("show", "-s", word, "-f", "json", str(file)).stdout for word in ("redis", "1")]
    assert [json.loads(each)["id"] for each in found] == ["1", "1"]


def test_of_several_with_a_name_none_is_chosen_silently() -> None:
    plans = [{"name": "small", "id": "p"}, {"name": "small", "id": "p"}]
    data = {"services": [{"name": "redis", "id": "1", "plans": plans}, {"name": "redis", "id": "2"}]}
    for words, told in (
        ("show -s redis -", "2 have the name or id 'redis'\n  hint: choose one by its id: 1, 2\n"),
        ("params - 1 small", "2 have the name or id 'small'\n  hint: correct the catalog first\n"),
    ):
        assert told in failure(*words.split(), stdin=json.dumps(data), code=2)
    assert osbctl("show", "-s", "2", "-", stdin=json.dumps(data), code=0).stdout


@each("services, told", [
    ({"a": {}}, "/services"),
    ([None, {"plans": [3, {}]}, {"plans": {}}], "/services/0, /services/1/plans/0, /services/2/plans"),
    ([{"plans": None}, {"plans": [], "tags": [], "metadata": {}, "bindable": "yes"}], ""),
    *((
        [{"id": "1", "name": "a", "plans": [{"id": "2", "name": "b", **fields}]}],
        f"/services/0/plans/0/{place}" if place else "",
    ) for fields, place in (
        ({"name": 5}, "name"), ({"id": ["x"]}, "id"), ({"description": 5}, "description"), ({"metadata": "x"}, "metadata"),
        ({"metadata": {"costs": {"usd": 5}}}, "metadata/costs"), ({"metadata": {"costs": ["5 USD"]}}, "metadata/costs/0"),
        ({"metadata": {"bullets": "x"}}, "metadata/bullets"), ({"metadata": {"bullets": ["a", 5]}}, "metadata/bullets/1"),
        ({"metadata": {"displayName": {"en": "x"}}}, "metadata/displayName"), ({"Description": "x"}, "Description"),
        ({"schemas": []}, "schemas"), ({"schemas": {"service_instance": True}}, "schemas/service_instance"),
        ({"schemas": {"service_instance": {"create": 5}}}, "schemas/service_instance/create"),
        *(({"schemas": {"service_binding": {"create": {"parameters": wrong}}}}, "schemas/service_binding/create/parameters")
            for wrong in (True, False, [], "{}")),
        ({"metadata": {"costs": [{"amount": 5, "unit": 3}]}}, ""), ({"metadata": {"sla": 5}}, ""), ({"free": "no"}, ""),
        ({"schemas": {"service_instance": None}, "metadata": None, "maintenance_info": 3}, ""),
    )),
    *(([{"id": "1", "name": "a", **fields}], f"/services/0/{place}") for fields, place in (
        ({"name": False}, "name"), ({"tags": "sql"}, "tags"), ({"tags": ["a", {}]}, "tags/1"), ({"plans": "x"}, "plans"),
        ({"requires": "x"}, "requires"), ({"metadata": {"longDescription": ["x"]}}, "metadata/longDescription"),
        ({"metadata": {"documentationUrl": 5}}, "metadata/documentationUrl"), ({"Plans": []}, "Plans"),
    )),
])  # fmt: skip
def test_what_is_left_out_is_said(services: object, told: str) -> None:
    number = told.count("/services")
    values = f"{number} value{'s' * (number > 1)} with a wrong type or in a misspelt field: {told}"
    for words in ("show -", "show -f markdown -", "page -", "diff other.json - --fail-on never"):
        note = osbctl(
            *words.replace("other.json", GOOD).split(), stdin=json.dumps({"services": services}), code=0
        ).stderr
        assert note.startswith(f"osbctl: <stdin>: left out {values}; see osbctl validate\n" if told else "")
        assert ("left out" in note) == bool(told)


def test_what_the_page_of_a_broker_leaves_out_is_said() -> None:
    with broker(catalog(service("s", plan("p"), tags="sql"))) as server:
        done = osbctl("page", server.url, "--user", USER, OSBCTL_PASSWORD=PASSWORD, code=0)
    assert "left out 1 value with a wrong type or in a misspelt field: /services/0/tags" in done.stderr


def test_a_name_that_is_not_text_is_no_empty_hint() -> None:
    data = {"services": [{"name": 5, "id": 6, "plans": [{"name": 7}]}]}
    for words in ("params - 5 small", "show -s 5 -"):
        told = failure(*words.split(), stdin=json.dumps(data), code=2)
        assert "there is no service '5'\n  hint: none there has a name that is text" in told
    data["services"][0] |= {"name": "db", "plans": []}
    assert "hint: there is none" in failure("params", "-", "db", "small", stdin=json.dumps(data), code=2)
    assert "there are: db" in failure("params", "-", "5", "small", stdin=json.dumps(data), code=2)


def test_a_schema_that_is_not_an_object_is_not_called_undescribed() -> None:
    for wrong in (True, False, [], "{}", 5):
        for holder in ({"parameters": wrong}, wrong):
            schemas: Any = {"service_instance": {"create": holder}}
            data = catalog(service("s", plan("p", "small", schemas=schemas)))
            for more in ((), ("-c", "{}")):
                told = failure("params", "-", "service-s", "small", *more, stdin=json.dumps(data), code=1)
                assert "not an object [not-an-object]" in told and "none described" not in told
            osbctl("params", "-", "service-s", "small", "--for", "bind", stdin=json.dumps(data), code=0)
    data = catalog(service("s", plan("p", "small", schemas={"service_instance": {"create": {"parameters": None}}})))
    assert "none described" in osbctl("params", "-", "service-s", "small", stdin=json.dumps(data), code=0).stdout


def test_one_service_in_full() -> None:
    shown = osbctl("show", "--service", "message-queue", GOOD, code=0).stdout
    assert shown.startswith("message-queue\n")
    assert "Plan dedicated" in shown
    one = osbctl("show", "--service", "message-queue", "--format", "json", GOOD)
    assert json.loads(one.stdout)["name"] == "message-queue"
    assert "did you mean message-queue?" in failure("show", "--service", "message-queu", GOOD, code=2)
    assert "there are: message-queue" in failure("show", "--service", "zzz", GOOD, code=2)


def test_a_terminal_of_60_columns_cuts_no_id() -> None:
    shown = osbctl("show", "--long", "--color", "always", GOOD, COLUMNS="60", code=0).stdout
    assert "…" not in shown
    assert "7B1F0A52-6C3D-4E8B-9A47-52D0C1E6F384" in shown


@each("width", [40, 80, 300])
def test_each_plan_is_a_line_that_fits_the_terminal(tmp_path: Path, width: int) -> None:
    """Wide characters, long names, prices and deprecations are cut to the width, the last of 300 plans as well."""
    price = {"costs": [{"amount": {"usd": 9.5, "eur": 8.75}, "unit": "MONTHLY"}]}
    end = {"state": "deprecated", "sunset": "2027-03-31"}
    plans: list[dict[str, Any]] = [
        {"name": "free", "free": True, "description": "Nothing"},
        {"name": "paid", "free": False, "description": "日本語" * 100, "metadata": price},
        {"name": "long-" * 30, "free": False, "description": "A sentence. " * 20, "metadata": end},
    ]
    services = [{"id": str(n), "name": f"service-{n}", "plans": plans} for n in range(100)]
    services.append({"id": "none", "name": "empty", "description": "Without plans"})
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"services": services}))
    colored = osbctl("show", "--color", "always", str(file), COLUMNS=str(width), code=0).stdout
    lines = re.sub(r"\x1b\[[0-9;]*m", "", colored).splitlines()
    assert len(lines) == 303
    assert max(map(display_width, lines[:-1])) <= width
    assert lines[0].split()[:3] == ["service", "plan", "price"]
    assert lines[-1].startswith("101 service offerings, 300 plans")
    assert lines[1].split()[:3] == ["service…" if width == 40 else "service-0", "free", "free"]
    assert lines[-2].split()[0] == "empty"
    assert "(no pla" in lines[-2]
    last = lines[-3]
    assert "…" in last
    assert ("paid, deprecated, available" in last) == ("9.50 USD or 8.75 EUR a month" in lines[2]) == (width == 300)


@each("arguments", [(), ("--long",), ("--color", "always"), ("--format", "json"), ("--format", "markdown")])
def test_a_reader_who_has_seen_enough_ends_it_quietly(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    plan = {"id": "p", "name": "n", "description": "x" * 1_000}
    file = tmp_path / "large.json"
    file.write_text(json.dumps({"services": [{"name": f"s{n}", "plans": [plan]} for n in range(400)]}))
    command = [str(warm.command()), "show", *arguments, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(60), said) == (0, b"")
