"""Cloud Foundry's own verdicts and words, recorded, against ours: real catalogs, probes, mutations."""

from __future__ import annotations

import base64
import csv
import gzip
import json
from functools import cache
from typing import Any

from osbctl.errors import DocumentError
from osbctl.findings import Judgement
from osbctl.platforms import Platform
from osbctl.platforms.outcome import VerdictKind
from osbctl.sources.parse import parse_document
from osbctl.validation.judge import judge, unreadable
from osbctl.validation.options import ValidationOptions
from tests.corpus import CORPUS, TOO_DEEP, needs_corpus

pytestmark = needs_corpus

MALFORMED = "ServiceBrokerResponseMalformed"


def judged(text: bytes, name: str) -> Judgement:
    try:
        document = parse_document(text, name)
    except DocumentError as error:
        return unreadable(name, error.findings)
    return judge(document, ValidationOptions())


@cache
def records(name: str) -> list[dict[str, Any]]:
    assert CORPUS
    with gzip.open(CORPUS / f"cloudfoundry-{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def recorded(record: dict[str, Any]) -> tuple[VerdictKind, tuple[str, ...]]:
    """The platform's verdict and lines, as the record has them."""
    if record["raised"]:
        kind = VerdictKind.REFUSES if MALFORMED in record["raised"] else VerdictKind.CRASHES
        return kind, ()
    kind = VerdictKind.ACCEPTS if record["valid"] and record["compatible"] else VerdictKind.REFUSES
    return kind, tuple(record["errors"])


def ours(judgement: Judgement) -> tuple[VerdictKind, tuple[str, ...]]:
    verdict = judgement.verdicts[Platform.CLOUD_FOUNDRY]
    return verdict.kind, verdict.messages


def text_of(record: dict[str, Any]) -> bytes:
    if "catalog" in record:
        return json.dumps(record["catalog"]).encode()
    return base64.b64decode(record["base64"]) if "base64" in record else record["text"].encode("utf-8", "surrogatepass")


def test_real_catalogs() -> None:
    assert CORPUS
    with (CORPUS / "verdicts.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong = []
    for row in rows:
        name = row["file"]
        judgement = judged((CORPUS / "catalogs" / name).read_bytes(), name)
        expected = (row["cloud_controller"], tuple(json.loads(row["errors"])))
        if ours(judgement) != expected:
            wrong.append((name, ours(judgement), expected))
    assert wrong == []
    assert len(rows) == 76


def test_mutations() -> None:
    wrong = []
    for record in records("mutations"):
        got = ours(judged(text_of(record), "mutation.json"))
        if got != recorded(record):
            wrong.append((record["case"], got, recorded(record)))
    assert wrong == []
    assert len(records("mutations")) == 1_500


def test_probes() -> None:
    wrong, left_out, marks = [], [], []
    for record in records("probes"):
        text = text_of(record)
        got = ours(judged(text, "probe.json"))
        if "-doc-" in record["case"] and (got[0] is VerdictKind.UNREADABLE or text.startswith(b"\xef\xbb\xbf")):
            left_out.append(record["case"])
            marks += [record["case"]] if got[0] is not VerdictKind.UNREADABLE else []
        elif got != recorded(record):
            wrong.append((record["case"], got, recorded(record)))
    assert wrong == []
    assert len(records("probes")) == 342
    assert len({*left_out} - TOO_DEEP) == 24
    assert len(marks) == 1, "a byte order mark is the one thing that osbctl passes over and the platform does not"
