"""Standard output and input that fail, and file names that are not UTF-8."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from tests.case import each
from tests.cli import warm
from tests.cli.program import ROOT, osbctl, process
from tests.deploy.harness import write
from tests.folders import catalogs_folder
from tests.reports.standards import assert_only_escapes

CATALOG = catalogs_folder() / "interface-example.json"
REAL = f"{sys.executable} -m osbctl"
BROKEN = b'{"services": [{"name": "a"}]}'


def shell(command: str, cwd: Path = ROOT, program: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which `osbctl` is `program`, by default a fork of one that has loaded osbctl."""
    line = f'set -o pipefail; osbctl() {{ {program or warm.command()} "$@"; }}; {command}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", line], capture_output=True, cwd=cwd, timeout=60, env=environment, check=False)


VALIDATE = f"osbctl validate {CATALOG}"
OTHERS = [f"{VALIDATE} -f sarif", "osbctl --version", "osbctl build --help",
          "osbctl build catalogs/source --check -o tests/none.json"]  # fmt: skip


@each("command, to", [
    *((VALIDATE, to) for to in (">/dev/full", ">&-", "</dev/null >&- 2>&-", "<&- >&-")),
    *((command, to) for command in OTHERS for to in (">/dev/full", ">&-")),
])  # fmt: skip
def test_output_that_cannot_be_printed_is_3(command: str, to: str) -> None:
    done = shell(f"{command} {to}")
    assert done.returncode == 3
    if "2>" not in to:
        assert b"error: standard output cannot be written: " in done.stderr
        assert b"internal" not in done.stderr
        assert b"Exception" not in done.stderr


def test_nothing_to_print_needs_no_output(tmp_path: Path) -> None:
    line = f"osbctl validate {CATALOG} -f json -o {tmp_path}/a.json >&- <&- 2>&-"
    assert shell(line, program=REAL).returncode == 0
    assert json.loads((tmp_path / "a.json").read_text())["documents"]


def test_closed_standard_input_is_said() -> None:
    done = shell("osbctl validate - <&-")
    assert done.returncode == 3
    assert b"standard input cannot be read" in done.stdout


def test_a_reader_that_has_gone_does_not_hide_the_verdict(tmp_path: Path) -> None:
    """With `pipefail`, `| head` must not turn findings into 0."""
    services = ",".join(f'{{"name": "a{n}"}}' for n in range(600))
    (tmp_path / "a.json").write_text(f'{{"services": [{services}]}}')
    done = shell("osbctl validate a.json | head -c 10", tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_reader_of_errors_that_has_gone_ends_nothing(tmp_path: Path) -> None:
    """With `2>&1 | head`, the third of three files is fixed, too, and the exit code is that of all."""
    for name in "abc":
        (tmp_path / f"{name}.json").write_text('{"services": [{"name": "a", "bindable": "true", "plans": []}]}')
    gone = "2>&1 >/dev/null | (exec 0<&-; sleep 0.2)"
    assert shell(f"osbctl fix --check {gone}", tmp_path).returncode == 1
    assert shell(f"sleep 0.1 && osbctl fix {gone}", tmp_path).returncode == 0
    assert all('"bindable": true' in (tmp_path / f"{name}.json").read_text() for name in "abc")
    for words, code in (("validate --frob", 2), ("show a.json -s b", 2), ("show none.json", 3), ("new plan a b", 2)):
        assert shell(f"(sleep 0.1; osbctl {words}) {gone}", tmp_path).returncode == code
    shutil.copytree(ROOT / "catalogs/source", tmp_path / "s")
    (tmp_path / "old.json").write_text("x\n" * 100_000)
    assert shell("osbctl build s --check -o old.json | head -c 10", tmp_path).returncode == 1


@each("format", ["text", "json", "sarif", "github", "gitlab", "junit"])
def test_a_file_name_that_is_not_utf8(tmp_path: Path, format: str) -> None:
    (tmp_path / os.fsdecode(b"\xe4.json")).write_bytes(BROKEN)
    run = process if format == "text" else osbctl
    done = run("validate", os.fsdecode(b"\xe4.json"), "-f", format, cwd=tmp_path)
    assert done.returncode == 1
    text = done.stdout
    if format == "junit":
        ElementTree.fromstring(text)
    elif format in ("json", "sarif", "gitlab"):
        assert json.loads(text)
    if format == "sarif":
        assert "%E4.json" in text


@each("variable", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_paths_for_ci_are_those_of_the_repository(tmp_path: Path, variable: str) -> None:
    """Also where the job works in a folder of it, or on an address or a file outside."""
    write(tmp_path, dict.fromkeys(("a.json", "b/a.json", "b/c/a.json"), BROKEN.decode()))
    outside = str(ROOT / "catalogs/faulty.yaml")
    names = ("a.json", "./c/a.json", "../a.json", str(tmp_path / "a.json"), outside)
    for kind, path in (("gitlab", r'"path": "([^"]+)"'), ("github", " file=([^,]+),"), ("sarif", r'"uri": "([^"]+)"')):
        done = osbctl("validate", *names, "-f", kind, cwd=tmp_path / "b", **{variable: str(tmp_path)})
        found = [*dict.fromkeys(map(unquote, re.findall(path, done.stdout)))]
        assert found == ["b/a.json", "b/c/a.json", "a.json", outside.replace(os.sep, "/")]


def test_a_report_to_a_descriptor(tmp_path: Path) -> None:
    source = ROOT / "catalogs" / "source"
    build = f"cp -r {source} s && osbctl build s"
    plain = shell(f"{build} 2>/dev/null", tmp_path).stdout
    assert json.loads(plain)
    for to in ("-o -", "-o /dev/stdout | cat", "-o /dev/stdout > f; cat f"):
        assert shell(f"osbctl build s {to}", tmp_path).stdout == plain
    assert shell("osbctl build s -o >(cat) | cat", tmp_path, REAL).stdout == plain
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "s"]


@each(
    "words", ["validate --frob", "diff no\x1b[31m.json other.json", "diff syntax.yaml other.json", "check example.com"]
)
def test_errors_and_their_hints_are_coloured_as_in_a_report(tmp_path: Path, words: str) -> None:
    (tmp_path / "syntax.yaml").write_text("services: [\tx\n")
    plain, coloured = (osbctl(*words.split(), cwd=tmp_path, FORCE_COLOR=force).stderr for force in ("0", "1"))
    assert "\x1b" not in plain
    assert "\x1b[1;31merror\x1b[0m: " in coloured
    assert coloured.count("\x1b[36mhint:\x1b[0m ") == plain.count("hint: ")
    assert_only_escapes(coloured, plain)
