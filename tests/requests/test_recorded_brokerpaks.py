"""Recorded answers of cloud-service-broker's own code: does it start, with which catalog, and which requests it takes.

`brokerpaks.jsonl.xz` has those about brokerpaks of other makes, `templates.json.xz` what it computes from
templates, and `constraints.json.xz` which values it takes: commit 759f73e4, built with Go 1.26.4, with stand-ins for downloads and for `tofu`.
"""

import gzip
import json
import lzma
from base64 import b64decode
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from osbctl.commands.params import plan_parameters
from osbctl.errors import OsbctlError
from osbctl.findings import DocumentError, Severity
from osbctl.platforms.tools import Purpose
from osbctl.requests import judge_request
from osbctl.sources.document import Document
from osbctl.sources.folder.brokerpak_requests import RequestRules
from osbctl.sources.folder.hil import Unknown, as_variable, is_template, parse_template
from osbctl.sources.read import read_source
from osbctl.sources.variables import Variable
from tests.case import case
from tests.corpus import CORPUS, EVERY_CASE

RECORDED = CORPUS and CORPUS.parent / "cases" / "brokerpaks" / "brokerpak-given.jsonl.gz"
needs_records = pytest.mark.skipif(not RECORDED or not RECORDED.is_file(), reason="the recorded cases are not at hand")
SAMPLE = 60

TEMPLATE_KINDS = ("template", "tf-attribute", "import")
"""Kinds of cases that turn on the templates of OpenTofu, of which only variables and outputs are looked at."""

KNOWN = {
    "UTF-16": "starts",  # read by Go, and refused by osbctl as every text that is not UTF-8
    "GSB_BROKERPAK_BUILTIN_PATH": "does not start",  # where the broker looks for brokerpaks; osbctl has one in hand
}


def rows() -> list[dict[str, Any]]:
    assert RECORDED
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        every = [*lines]
    return [json.loads(line) for line in (every if EVERY_CASE else Random(49).sample(every, SAMPLE))]


def read(row: dict[str, Any], folder: Path) -> tuple[Document | None, list[str]]:
    """The brokerpak of a row, None if it cannot be read; and the messages about what the broker refuses."""
    for name, text in row["files"].items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b64decode(text[7:]) if text.startswith("base64:") else text.encode("utf-8", "surrogatepass"))
    variables = {name: Variable(name, value, "env") for name, value in {**row["env"], "HOME": "/"}.items()}
    try:
        document = read_source(str(folder), variables_of=lambda _: variables)
    except DocumentError as error:
        return None, [one.message for one in error.findings]
    except OsbctlError as error:
        return None, [error.message]
    errors = [one for one in document.notes if one.severity is Severity.ERROR and one.rule != "brokerpak-no-catalog"]
    return document, [one.message for one in errors]


def as_json(value: Any) -> Any:
    """A value with its numbers as JSON has them, and plans in any order: those of a tile have none."""
    if isinstance(value, dict):
        made = {key: as_json(item) for key, item in value.items()}
        return made | ({"plans": sorted(made["plans"], key=json.dumps)} if isinstance(made.get("plans"), list) else {})
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    is_large = isinstance(value, int) and abs(value) > 2**53
    return int(float(value)) if is_large else value


def is_excused(row: dict[str, Any], request: dict[str, Any], want: bool) -> bool:
    """Return whether osbctl cannot know, or a platform refuses by the published schema what the broker would take."""
    if want and request.get("params", {}) is None:
        return True  # osbctl asks for an object
    if want:
        return row["env"].get("GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS") in ("true", "TRUE", "True", "t", "T", "1")
    previous = request.get("previous") or {}
    return request["op"] == "update" and previous.get("plan") not in (None, request["plan"])  # that plan set more


@needs_records
@pytest.mark.fuzz
def test_recorded_brokerpaks(tmp_path: Path) -> None:
    check_rows(rows(), tmp_path)


def test_brokerpaks_of_other_makes(tmp_path: Path) -> None:
    with lzma.open(Path(__file__).with_name("brokerpaks.jsonl.xz"), "rt", encoding="utf-8") as lines:
        check_rows([json.loads(line) for line in lines], tmp_path)


def test_templates() -> None:
    with lzma.open(Path(__file__).with_name("templates.json.xz"), "rt", encoding="utf-8") as file:
        recorded = json.load(file)
    variables = {name: as_variable(value) for name, value in recorded["variables"].items()}
    for template, is_one, value in recorded["templates"]:
        with case(template):
            assert is_template(template) == is_one
            try:
                found = parse_template(template)(variables)
            except ValueError:
                found = None
            assert found == value or (value is not None and isinstance(found, Unknown))


def test_constraints() -> None:
    with lzma.open(Path(__file__).with_name("constraints.json.xz"), "rt", encoding="utf-8") as file:
        recorded = json.load(file)
    for constraints, value, accepted in recorded:
        with case(constraints, value):
            inputs = {"val": {"constraints": constraints}, "other": {"type": "integer"}}
            assert bool(judge_request(RequestRules(inputs), {"val": value})) is not accepted


def check_rows(tried: list[dict[str, Any]], tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for row in tried:
        folder = tmp_path / row["case"]
        document, refusals = read(row, folder)
        if row["starts"] == bool(refusals):
            known = row["kind"] in TEMPLATE_KINDS and not row["starts"]
            if not known and not any(word in row["what"] for word in KNOWN):
                wrong.append(f"{row['case']} {row['what']}: starts {row['starts']}, but {refusals}; {row.get('error')}")
            continue
        counts["starts"] += 1
        if not row["starts"] or document is None:
            continue
        has_none = any(one.rule == "brokerpak-no-catalog" for one in document.notes)
        assert has_none is ("catalog" not in row), row["case"]
        if not has_none and json.dumps(as_json(document.data), sort_keys=True) != json.dumps(
            as_json(row["catalog"]), sort_keys=True
        ):
            wrong.append(f"{row['case']} {row['what']}: another catalog")
        counts["catalogs"] += 1
        wrong += check_requests(row, document, counts)
    assert wrong == []
    assert counts["starts"] >= 0.97 * len(tried)
    assert counts["catalogs"] > 0.5 * counts["starts"]
    assert counts["refused"] > counts["catalogs"] / 2
    assert counts["accepted"] > counts["catalogs"] / 2


def parameters_before(request: dict[str, Any]) -> str | None:
    return json.dumps(request["previous"].get("params") or {}) if request["op"] == "update" else None


def check_requests(row: dict[str, Any], document: Document, counts: Counter[str]) -> list[str]:
    wrong = []
    for request, verdict in zip(row["requests"], row.get("verdicts", ()), strict=True):
        if (want := verdict.get("accepted")) is None:
            continue
        purpose = Purpose("create" if request["op"] == "provision" else request["op"])
        sent = json.dumps(request.get("params", {}))
        try:
            where = request["service"], request["plan"], purpose
            accepted = not plan_parameters(document, *where, sent, previous=parameters_before(request)).faults
        except OsbctlError:  # no object, or a published schema that cannot be applied
            accepted = False
        counts["accepted" if accepted else "refused"] += 1
        if accepted != want and not is_excused(row, request, want):
            wrong.append(f"{row['case']} {row['what']}: {request} accepted {accepted}: {verdict.get('error')}")
    return wrong
