"""Cloud Foundry's own verdicts and words, recorded, against ours: through all of validation: real catalogs, mutations."""

from __future__ import annotations

import csv
import gzip
import json
import re
from functools import cache
from typing import Any

import pytest

from osbctl.findings import DocumentError, ValidationResult
from osbctl.platforms import Platform
from osbctl.platforms.outcome import VerdictKind
from osbctl.redaction import SECRET
from osbctl.sources.parse import parse_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable, validate_document
from tests.corpus import CORPUS, EVERY_CASE, needs_corpus

pytestmark = needs_corpus

MALFORMED = "ServiceBrokerResponseMalformed"
_SECRETS = re.compile(r"(Service dashboard client .* but has value ).*", re.DOTALL)


def judged(text: bytes, name: str) -> ValidationResult:
    try:
        document = parse_document(text, name)
    except DocumentError as error:
        return unreadable(name, error.findings)
    return validate_document(document, ValidationOptions())


@cache
def records(name: str) -> list[dict[str, Any]]:
    assert CORPUS
    with gzip.open(CORPUS / f"cloudfoundry-{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def recorded(record: dict[str, Any]) -> tuple[VerdictKind, tuple[str, ...]]:
    """The platform's verdict and lines, as the record has them, without values that may be a client's secret."""
    if record["raised"]:
        kind = VerdictKind.REFUSES if MALFORMED in record["raised"] else VerdictKind.CRASHES
        return kind, ()
    kind = VerdictKind.ACCEPTS if record["valid"] and record["compatible"] else VerdictKind.REFUSES
    return kind, tuple(_SECRETS.sub(rf"\1{SECRET}", line) for line in record["errors"])


def ours(judgement: ValidationResult) -> tuple[VerdictKind, tuple[str, ...]]:
    verdict = judgement.verdicts[Platform.CLOUD_FOUNDRY]
    return verdict.kind, verdict.messages


def agrees(judgement: ValidationResult, expected: tuple[VerdictKind, tuple[str, ...]]) -> bool:
    """The same verdict and the same lines; of a fault inside a parameter schema we have words of our own.

    A value that may be a secret is not repeated.
    """
    kind, lines = ours(judgement)
    ours_, theirs = (
        [line for line in found if " is not valid. " not in line and "dashboard client" not in line]
        for found in (lines, expected[1])
    )
    return (kind, ours_) == (expected[0], theirs)


def test_real_catalogs() -> None:
    assert CORPUS
    with (CORPUS / "verdicts.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong = []
    for row in rows:
        name = row["file"]
        judgement = judged((CORPUS / "catalogs" / name).read_bytes(), name)
        expected = (row["cloud_controller"], tuple(json.loads(row["errors"])))
        if not agrees(judgement, expected):
            wrong.append((name, ours(judgement), expected))
    assert wrong == []
    assert len(rows) == 76


@pytest.mark.fuzz
def test_mutations() -> None:
    """All of them under `make fuzz`: what the platform's own room says of each is held by `test_agreement.py`."""
    wrong, stored, step = [], 0, 1 if EVERY_CASE else 15
    for record in records("mutations")[::step]:
        judgement = judged(json.dumps(record["catalog"]).encode(), "mutation.json")
        expected = recorded(record)
        if expected[0] is VerdictKind.ACCEPTS and any(f.rule == "cloudfoundry-storage" for f in judgement.findings):
            stored += 1  # what was recorded is the validator's answer, not that of the database
        elif not agrees(judgement, expected):
            wrong.append((record["case"], ours(judgement), expected))
    assert stored == (18 if step == 1 else 1)
    assert wrong == []
    assert len(records("mutations")) == 1_500
