"""`osbctl show` as a whole process."""

import json
import re
import subprocess
from pathlib import Path

import yaml

from osbctl.text import escape_line
from tests.case import each
from tests.cli import warm
from tests.cli.program import ROOT, failure, osbctl
from tests.folders import catalogs_folder

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
    ({"a": {}}, "services is not a list"),
    ([None, {"plans": [3, {}]}, {"plans": {}}], "left out 3 values of a wrong type in services and plans"),
    ([{"plans": None}, {"plans": []}], ""),
])  # fmt: skip
def test_what_is_left_out_is_said(services: object, told: str) -> None:
    for command in ("show", "page"):
        note = osbctl(command, "-", stdin=json.dumps({"services": services}), code=0).stderr
        assert note == (f"osbctl: <stdin>: {told}; see osbctl validate\n" if told else "")


def test_one_service_in_full() -> None:
    shown = osbctl("show", "--service", "message-queue", GOOD, code=0).stdout
    assert shown.startswith("message-queue\n")
    assert "Plan dedicated" in shown
    one = osbctl("show", "--service", "message-queue", "--format", "json", GOOD)
    assert json.loads(one.stdout)["name"] == "message-queue"
    assert "did you mean message-queue?" in failure("show", "--service", "message-queu", GOOD, code=2)
    assert "there are: message-queue" in failure("show", "--service", "zzz", GOOD, code=2)


def test_a_terminal_of_60_columns_cuts_no_id() -> None:
    shown = osbctl("show", "--color", "always", GOOD, COLUMNS="60", code=0).stdout
    assert "…" not in shown
    assert "7B1F0A52-6C3D-4E8B-9A47-52D0C1E6F384" in shown


@each("arguments", [(), ("--color", "always"), ("--format", "json"), ("--format", "markdown")])
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
