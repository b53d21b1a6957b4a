"""A fifth platform is one folder and one line in a table: here it is put beside the others in a copy of the package."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest

import osbctl
from osbctl.platforms import Platform
from tools.make_schemas import with_platforms

PACKAGE = Path(osbctl.__file__).parent
LAST = [*Platform][-1]
LINE = f'    {LAST.name} = "{LAST.value}"\n'
"""The last line of the table."""

TOY = {
    "__init__.py": """
from osbctl.platforms import Identity, PlatformRecord

PLATFORM = PlatformRecord(
    label="Toy Box",
    api_version="2.16",
    refuses=frozenset({"id-duplicate"}),
    rules={"lego": "A service offering is called lego.\\n\\nBad: name: lego\\nGood: name: bricks\\nSource: the lid of the box"},
    sharing={Identity.SERVICE_NAME: "shuffles both"},
    omitted_is_false=frozenset({"free"}),
)
""",
    "verdict.py": """
from osbctl.catalog import Catalog
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind

def judge(data):
    found = tuple(
        Refusal("toy-lego", (*service.path, "name"), "the box is full of lego")
        for service in Catalog.of(data).services if service.name == "lego"
    )
    return Outcome(VerdictKind.REFUSES if found else VerdictKind.ACCEPTS, found)
""",
    "updates.py": """
from osbctl.platforms import State
from osbctl.platforms.updates import breaking, safe

NOTES = {}
REACTIONS = {
    "change-tag-added": breaking("throws the tag away"),
    **dict.fromkeys(
        ("change-service-removed", "change-plan-removed", "change-service-id", "change-plan-id", "change-plan-moved"),
        breaking("keeps what is in the box, and sells no more of it"),
    ),
    **dict.fromkeys(
        (
            "change-catalog-emptied", "change-service-without-plans", "change-service-added", "change-plan-added",
            "change-service-id-plans-kept", "change-requires-added", "change-requires-removed", "change-dashboard-client",
        ),
        safe("shrugs"),
    ),
}

def change_rows(update):
    offered = {service.id for service in update.catalog.services}
    for row in update.service_rows():
        update.keep_or_delete(row, None if row.service in offered else State.INACTIVE)
    for service in update.catalog.services:
        update.store(service.id, service)
""",
    "tools.py": """
from osbctl.platforms.tools import INSTANCE, Export, ExportRow, Page, Purpose, RowFields, Tool, checked_rows

ROWS = RowFields(
    service={("id",): (("box",),), ("name",): (("word",),), ("description",): (("description",),)},
    plan={("id",): (("box",),), ("name",): (("word",),), ("description",): (("description",),), ("free",): (("free",),)},
    key=(("box",),),
    parent=(("inside",),),
    instance=((("toy",),),),
    brokers=(("broker",),),
    whole="empty the box",
)

def is_export(document):
    return "toys" in document.data

def read_page(document):
    rows = [ExportRow(document, path, data, "inside" in data) for path, data in checked_rows(document, ("toys",))]
    return Page(rows)

EXPORT = Export(ROWS, is_export, read_page)
TOOLS = (Tool("toy", dict.fromkeys(Purpose, f"toy play {{service}} {{plan}} {INSTANCE}")),)
""",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is, the toy beside the other platforms, and one more line in the table."""
    place = tmp_path_factory.mktemp("fifth")
    for name in ("schemas", "catalogs"):
        (place / name).symlink_to(PACKAGE.parent / name)
    _link(PACKAGE, place / "osbctl", but="platforms")
    platforms = place / "osbctl" / "platforms"
    _link(PACKAGE / "platforms", platforms, but="__init__.py")
    table = (PACKAGE / "platforms" / "__init__.py").read_text()
    assert table.count(LINE) == 1
    (platforms / "__init__.py").write_text(table.replace(LINE, LINE + '    TOY = "toy"\n'))
    (platforms / "toy").mkdir()
    for name, text in TOY.items():
        (platforms / "toy" / name).write_text(text)
    return place


def _link(source: Path, target: Path, *, but: str) -> None:
    target.mkdir()
    for entry in source.iterdir():
        if entry.name not in (but, "__pycache__"):
            (target / entry.name).symlink_to(entry)


def catalog(name: str = "bricks", tags: tuple[str, ...] = (), **plan: object) -> dict[str, object]:
    plans = [{"id": "9c0a2f0e-4a4f-4b8e-9d4c-0c5d7a6f1b11", "name": "small", "description": "Small.", **plan}]
    service = {"id": "6c3b1d0e-8a4f-4e57-9b1c-2d7f5a90e3b4", "name": name, "description": "D.", "bindable": True}
    return {"services": [{**service, "tags": list(tags), "plans": plans}]}


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

        def run(*words: str, **files: object) -> str:
            for name, content in files.items():
                (place / f"{name}.json").write_text(json.dumps(content))
            stdin.write(json.dumps(words) + "\n")
            stdin.flush()
            said, told = json.loads(stdout.readline())
            assert "Traceback" not in told
            return str(said + told)

        yield run
        stdin.close()


def test_validate_has_its_verdict_and_its_refusal(run_osbctl: Callable[..., str]) -> None:
    said = run_osbctl("validate", "--platform", "toy", "lego.json", lego=catalog("lego", free=True))
    assert "lego.json:1:" in said and "error: the box is full of lego [toy-lego]" in said
    assert "  Toy Box  refuses (1 reason)" in said
    assert "Refused by: Toy Box" in run_osbctl("rules", "toy-lego")
    assert "SAP Service Manager, Toy Box" in run_osbctl("rules", "id-duplicate")


def test_diff_has_its_level(run_osbctl: Callable[..., str]) -> None:
    files = {"old": catalog(free=True), "new": catalog(tags=("red",), free=True)}
    said = run_osbctl("diff", "--platform", "toy", "old.json", "new.json", **files)
    assert "1 breaking" in said and "throws the tag away" in said
    others = run_osbctl("diff", "--platform", "korifi", "old.json", "new.json", **files)
    assert "1 safe" in others


def test_drift_reads_its_export_with_its_defaults(run_osbctl: Callable[..., str]) -> None:
    service = {"box": "6c3b1d0e-8a4f-4e57-9b1c-2d7f5a90e3b4", "word": "bricks", "description": "D.", "broker": "b"}
    plan = {"box": "9c0a2f0e-4a4f-4b8e-9d4c-0c5d7a6f1b11", "word": "large", "description": "Small.",
            "free": False, "inside": service["box"]}  # fmt: skip
    said = run_osbctl("drift", "broker.json", "export.json", broker=catalog(), export={"toys": [service, plan]})
    assert 'renamed from "large" to "small"' in said
    assert "1 breaking" in said  # and nothing about free: the toy takes an omitted one for false
    assert "as Toy Box does not store or show" in said


def test_params_prints_its_command(run_osbctl: Callable[..., str]) -> None:
    schemas = {"service_instance": {"create": {"parameters": {"type": "object"}}}}
    words = ("params", "catalog.json", "bricks", "small", "-c", "{}")
    said = run_osbctl(*words, catalog=catalog(schemas=schemas))
    assert "toy play bricks small my-instance" in said


def test_its_name_joins_the_lists_in_schemas_and_in_the_action(run_osbctl: Callable[..., str]) -> None:
    platforms = [*Platform, "toy"]
    report = json.loads(run_osbctl("validate", "--format", "json", "bricks.json", bricks=catalog(free=True)))
    schema = (PACKAGE.parent / "schemas" / "report-1.json").read_text()
    jsonschema.validate(report, json.loads(with_platforms(schema, platforms)))
    assert list(report["documents"][0]["platforms"]) == platforms
    action = (PACKAGE.parent / "action.yml").read_text()
    assert f"{LAST.value}, toy; one a line" in with_platforms(action, platforms)
