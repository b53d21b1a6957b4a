"""The verdicts and lines recorded from the Cloud Controller's own validator, case by case."""

from __future__ import annotations

import gzip
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from osbctl.platforms.cloudfoundry.verdict import judge
from tests.corpus import CORPUS, TOO_DEEP, needs_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator


def verdict(record: dict[str, Any]) -> str:
    if record["raised"]:
        return "refuses" if "ServiceBrokerResponseMalformed" in record["raised"] else "crashes"
    return "accepts" if record["valid"] and record["compatible"] else "refuses"


def strict(text: str) -> Any:
    """A JSON object by RFC 8259, every key once and no lone surrogate; else ValueError."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key stands twice")
        return dict(pairs)

    def refuse(word: str) -> Any:
        raise ValueError(word)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)  # one probe is nested a thousand deep, in a field that nobody reads
    try:
        data = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
        json.dumps(data, ensure_ascii=False).encode()
    finally:
        sys.setrecursionlimit(limit)
    if not isinstance(data, dict):
        raise ValueError("no object")
    return data


def records(name: str) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    assert CORPUS is not None
    with gzip.open(CORPUS / name, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if "catalog" in record:
                yield record["case"], record["catalog"], record
            elif "text" in record:
                try:
                    yield record["case"], strict(record["text"]), record
                except (ValueError, UnicodeEncodeError):
                    assert "-doc-" in record["case"]
                except RecursionError:
                    assert record["case"] in TOO_DEEP


@needs_corpus
@pytest.mark.parametrize(
    ("name", "cases"), [("cloudfoundry-mutations.jsonl.gz", 1500), ("cloudfoundry-probes.jsonl.gz", 318)]
)
def test_verdict_and_lines_are_the_recorded_ones(name: str, cases: int) -> None:
    count, different = 0, []
    for case, data, record in records(name):
        count += 1
        outcome = judge(data)
        if (outcome.kind.value, list(outcome.messages)) != (verdict(record), record["errors"]):
            different.append(case)
    assert different == []
    assert count >= cases - (len(TOO_DEEP) if "probes" in name else 0)


@needs_corpus
def test_every_line_but_the_headings_is_a_refusal() -> None:
    for case, data, _ in records("cloudfoundry-mutations.jsonl.gz"):
        outcome = judge(data)
        lines = [line.strip() for line in outcome.messages]
        for refusal in outcome.refusals:
            if refusal.rule != "cloudfoundry-crash":
                assert refusal.message.split("\n")[0].strip() in lines, case
        assert bool(outcome.refusals) == (outcome.kind.value != "accepts"), case


@needs_corpus
def test_real_catalogs_get_the_recorded_verdict() -> None:
    import yaml

    assert CORPUS is not None
    different = []
    for row in (CORPUS / "verdicts.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        name, _, _, _, recorded, errors = row.split("\t")
        text = (CORPUS / "catalogs" / name).read_text(encoding="utf-8")
        try:
            data = json.loads(text) if name.endswith(".json") else yaml.safe_load(text)
        except (ValueError, yaml.YAMLError):
            continue
        if not isinstance(data, dict):
            continue
        outcome = judge(data)
        if (outcome.kind.value, list(outcome.messages)) != (recorded, json.loads(errors)):
            different.append(name)
    assert different == []
