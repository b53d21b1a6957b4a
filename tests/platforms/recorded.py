"""Recorded answers of the platforms' own code to thousands of catalogs, from the corpus or the file beside this.

The corpus holds all, with the words. `recorded.jsonl.xz` goes with the project: of the catalogs that our own generators
made, all that were aimed at weak spots and a part of the random mutations, with a digest of Cloud Foundry's words. It
is written by `python -m tests.platforms.recorded` where the corpus is at hand.
"""

import base64
import gzip
import hashlib
import json
import lzma
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from osbctl import messages
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.platforms.verdict import VerdictKind, judge_all
from osbctl.sources.document import parse_document
from tests.corpus import CORPUS, EVERY_CASE

FILE = Path(__file__).with_name("recorded.jsonl.xz")
SEVERAL = Path(__file__).with_name("cloudfoundry_several.jsonl.xz")
"""Catalogs with several faults at once before Cloud Foundry alone, with its config/initializers/json.rb (Ruby 3.3)."""
KEPT_MUTATIONS = 5
"""Of the random mutations, one in so many goes with the project."""
SHARE = 1 if CORPUS and EVERY_CASE else KEPT_MUTATIONS
"""Of them, one in so many is tried."""


class Case(NamedTuple):
    """One catalog before one platform. `words` is the digest of its lines, empty where it prints none."""

    name: str
    platform: Platform
    text: bytes
    kind: VerdictKind
    words: str

    @property
    def group(self) -> str:
        """`real`, `mutated`, `probe` (single rules and odd documents), `several` faults, or `aimed` at weak spots."""
        start = self.name.partition("/")[0]
        if self.platform is not Platform.CLOUD_FOUNDRY:
            return {"real": "real", "mut": "mutated"}.get(start, "aimed")
        file, _, name = self.name.partition("/")
        return {"cloudfoundry-mutations": "mutated", "cloudfoundry-probes": "probe", "several": "several"}.get(
            file, "mutated" if name.startswith("88") else "aimed"
        )


def digest(lines: Sequence[str]) -> str:
    """A short name for the platform's lines; empty for none."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:12] if lines else ""


class Reason(NamedTuple):
    rule: str
    message: str


class Prediction(NamedTuple):
    """The predicted outcome, in the words of the platform."""

    kind: VerdictKind
    refusals: tuple[Reason, ...]
    messages: tuple[str, ...]


def predict_outcome(case: Case) -> Prediction | str:
    """Prediction of osbctl; else the reason why there is none: "too deep", or "unreadable", as for a byte order mark."""
    return _predict_outcome(case.text, case.platform)


@cache
def _predict_outcome(text: bytes, platform: Platform) -> Prediction | str:
    """Cached, as several tests ask for the same cases."""
    if text.startswith(b"\xef\xbb\xbf"):
        return "unreadable"
    try:
        document = parse_document(text, "case.json")
    except DocumentError as error:
        return "too deep" if {one.rule for one in error.findings} == {"nesting-too-deep"} else "unreadable"
    outcome = judge_all(document.data, [platform])[platform]
    with (  # its own words, with all that it quotes
        mock.patch.object(messages, "show_value", lambda value: value.form(value.value)),
        mock.patch.object(messages, "redact_text", lambda text: text),
    ):
        reasons = tuple(Reason(refusal.rule, refusal.message) for refusal in outcome.refusals)
        return Prediction(outcome.kind, reasons, outcome.messages)


@cache
def cases() -> tuple[Case, ...]:
    """The cases of the corpus, of which `make test` takes a sample, or those that go with the project."""
    return (*(_read_corpus(SHARE) if CORPUS else _read_file(FILE)), *_read_file(SEVERAL))


def _read_corpus(share: int) -> Iterator[Case]:
    """The cases, with one of so many random mutations."""
    assert CORPUS
    at = 0
    for platform in Platform:
        for file in sorted(CORPUS.glob(f"{platform}-*.jsonl.gz"), key=lambda file: file.name.partition(".")[0]):
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                for line in lines:
                    case = _parse_case(line.rstrip("\n"), file.name.partition(".")[0], platform)
                    if case.group != "mutated" or at % share == 0:
                        yield case
                    at += 1


def _parse_case(line: str, file: str, platform: Platform) -> Case:
    """The case on a line. The catalog is cut out as text, for some are nested deeper than Python's reader goes."""
    at = line.rindex(', "valid": ' if platform is Platform.CLOUD_FOUNDRY else ', "accepts": ')
    answer = json.loads("{" + line[at + 2 :])
    name = json.JSONDecoder().raw_decode(line, line.index(": ") + 2)[0]
    if platform is Platform.CLOUD_FOUNDRY:
        name = f"{file}/{name}"
    return Case(name, platform, _parse_text(line[:at]), *_parse_answer(answer))


def _parse_text(line: str) -> bytes:
    for key in ("catalog", "text", "base64"):
        _, found, value = line.partition(f'"{key}": ')
        if found and key == "catalog":
            return value.encode()
        if found:
            text = json.loads(value)
            return base64.b64decode(text) if key == "base64" else text.encode("utf-8", "surrogatepass")
    raise ValueError(line[:200])


def _parse_answer(answer: dict[str, Any]) -> tuple[VerdictKind, str]:
    if "accepts" in answer:
        refused = VerdictKind.CRASHES if answer.get("crashes") else VerdictKind.REFUSES
        return (VerdictKind.ACCEPTS if answer["accepts"] else refused), ""
    if answer["raised"]:
        malformed = "ServiceBrokerResponseMalformed" in answer["raised"]
        return (VerdictKind.REFUSES if malformed else VerdictKind.CRASHES), ""
    kind = VerdictKind.ACCEPTS if answer["valid"] and answer["compatible"] else VerdictKind.REFUSES
    return kind, digest(answer["errors"])


def _read_file(file: Path) -> Iterator[Case]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            text, *answers = json.loads(line)
            raw = base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode()
            for name, platform, kind, words in answers:
                yield Case(name, Platform(platform), raw, VerdictKind(kind), words)


def write_file() -> None:
    """Write the file that goes with the project: no real catalog, each text once."""
    texts: dict[bytes, list[Case]] = defaultdict(list)
    for case in _read_corpus(KEPT_MUTATIONS):
        if case.group != "real":
            texts[case.text].append(case)
    with lzma.open(FILE, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as lines:
        for text, found in texts.items():
            answers = [[case.name, case.platform.value, case.kind.value, case.words] for case in found]
            lines.write(json.dumps([_encode_text(text), *answers], ensure_ascii=False, separators=(",", ":")) + "\n")


def _encode_text(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(text).decode()


if __name__ == "__main__":
    write_file()
