"""A fifth platform is one folder and one line: in a copy of the package, a copy of Kubernetes stands beside the others.

What osbctl says of the copy, Kubernetos, is what it says of Kubernetes.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import osbctl
from osbctl.platforms import Platform, platforms_refusing
from tests.sources.exports.make import export_as
from tools.make_schemas import with_platforms

PACKAGE = Path(osbctl.__file__).parent
LAST = [*Platform][-1]
LINE = f'    {LAST.name} = "{LAST.value}"\n'
"""The last line of the table."""


def twin(text: str) -> str:
    return text.replace("ubernetes", "ubernetos")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is, the copy beside the other platforms, and one more line in the table."""
    place = tmp_path_factory.mktemp("fifth")
    for name in ("schemas", "catalogs"):
        (place / name).symlink_to(PACKAGE.parent / name)
    _link(PACKAGE, place / "osbctl", but="platforms")
    platforms = place / "osbctl" / "platforms"
    _link(PACKAGE / "platforms", platforms, but="__init__.py")
    table = (PACKAGE / "platforms" / "__init__.py").read_text()
    assert table.count(LINE) == 1
    (platforms / "__init__.py").write_text(table.replace(LINE, LINE + '    KUBERNETOS = "kubernetos"\n'))
    (platforms / "kubernetos").mkdir()
    for file in (PACKAGE / "platforms" / "kubernetes").glob("*.py"):
        (platforms / "kubernetos" / file.name).write_text(twin(file.read_text()))
    return place


def _link(source: Path, target: Path, *, but: str) -> None:
    target.mkdir()
    for entry in source.iterdir():
        if entry.name not in (but, "__pycache__"):
            (target / entry.name).symlink_to(entry)


def catalog(**plan: object) -> dict[str, Any]:
    plans = [{"id": "9c0a2f0e-4a4f-4b8e-9d4c-0c5d7a6f1b11", "name": "small", "description": "Small.", **plan}]
    service = {"id": "6c3b1d0e-8a4f-4e57-9b1c-2d7f5a90e3b4", "name": "db", "description": "D.", "bindable": True}
    return {"services": [{**service, "plans": plans}]}


CALLS = """
import json, sys
from tests.cli.program import osbctl
for line in sys.stdin:
    done = osbctl(*json.loads(line))
    print(json.dumps([done.stdout, done.stderr]), flush=True)
"""
"""Runs osbctl with the words on each line, and prints what it says."""


@pytest.fixture(scope="module")
def run_osbctl(place: Path) -> Iterator[Callable[..., str]]:
    """A function that runs osbctl from `place`, in a process that has loaded that package."""
    environment = {**os.environ, "PYTHONPATH": f"{place}:{PACKAGE.parent}"}
    with subprocess.Popen(
        [sys.executable, "-c", CALLS], cwd=place, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        stdin, stdout = process.stdin, process.stdout

        def run(*words: str) -> str:
            stdin.write(json.dumps(words) + "\n")
            stdin.flush()
            said, told = json.loads(stdout.readline())
            assert "Traceback" not in told
            return str(said + told)

        yield run
        stdin.close()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("validate --platform kubernetes refused.json", "1 to 63 bytes as the name of a plan [kubernetes-name]"),
        ("diff --platform kubernetes --format json old.json free.json", "read the omitted value as false"),
        ("diff --platform kubernetes old.json refused.json", "refuses the whole update"),
        ("drift --stored-as kubernetes free.json export.json", "free changed from false to true"),
        ("drift --stored-as kubernetes refused.json export.json", "earlier ones are applied"),
        ("rules kubernetes-name", "Refused by: Kubernetes Service Catalog"),
        ("rules kubernetes-type", "that Kubernetes Service Catalog cannot decode"),
    ],
)
def test_the_copy_does_what_its_original_does(
    run_osbctl: Callable[..., str], place: Path, words: str, part: str
) -> None:
    old = catalog(maximum_polling_duration=60)
    files = {"old": old, "free": catalog(free=True), "refused": catalog(name="x" * 64)}
    files |= {"export": export_as(Platform.KUBERNETES, old)[0]}
    for name, content in files.items():
        (place / f"{name}.json").write_text(json.dumps(content))
    said = run_osbctl(*words.split())
    assert part in said
    assert run_osbctl(*twin(words).split()) == twin(said)


def test_it_joins_the_lists_of_platforms(run_osbctl: Callable[..., str], place: Path) -> None:
    others = ", ".join(platform.label for platform in platforms_refusing("id-duplicate"))
    assert f"Refused by: {others}, Kubernetos Service Catalog" in run_osbctl("rules", "id-duplicate")
    (place / "good.json").write_text(json.dumps(catalog(free=True)))
    report = json.loads(run_osbctl("validate", "--format", "json", "good.json"))
    platforms = [*Platform, "kubernetos"]
    assert list(report["documents"][0]["platforms"]) == platforms
    schema = (PACKAGE.parent / "schemas" / "report-1.json").read_text()
    jsonschema.validate(report, json.loads(with_platforms(schema, platforms)))
    action = (PACKAGE.parent / "action.yml").read_text()
    assert f"{LAST.value}, kubernetos; one a line" in with_platforms(action, platforms)
