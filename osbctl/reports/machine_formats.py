"""Helpers of machine formats: file names, fingerprints, one-line messages."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from osbctl.findings import Finding, Location, ValidationResult
from osbctl.paths import Path, pointer
from osbctl.platforms import labels
from osbctl.text import escape_line, join_sentences


def relative(source: str, root: str) -> str:
    """`source` relative to `root` with forward slashes, where it lies inside; else as it is."""
    if root and os.path.isabs(source):  # noqa: PTH117
        inside = os.path.relpath(source, root)
        source = source if inside.startswith(os.pardir) else inside
    return source.replace(os.sep, "/").removeprefix("./")


def in_line(place: Location, path: Path) -> str:
    """`line:column`; in a text of one line, such as a stored catalog, the JSON pointer, which a reader can follow."""
    return pointer(path) if place.line == 1 and len(path) > 1 else f"{place.line}:{place.column}"


def place_as_json(place: Location | None) -> dict[str, Any] | None:
    """A place as the JSON reports tell it."""
    return {"source": place.source, "line": place.line, "column": place.column} if place else None


def with_fingerprints(findings: Iterable[Finding], root: str) -> Iterator[tuple[Finding, str]]:
    """Each finding with a fingerprint of its identity, else of its rule, file and JSON pointer: no line, no wording.

    One that may stand for several places is known by what it says of them, without their number: it stays the same
    when one of the places is mended. Equal ones are distinguished by a running number: every fingerprint is unique.
    """
    import hashlib  # loads OpenSSL, and most reports give no fingerprint

    seen: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        source = relative(finding.location.source, root) if finding.location else ""
        where = finding.several or pointer(finding.path)
        key = (finding.identity,) if finding.identity else (finding.rule, source, where)
        digest = hashlib.sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass"))
        seen[key] += 1
        yield finding, digest.hexdigest()[:32]


def in_one_line(finding: Finding) -> str:
    """Message of a finding in one line, with refusing platforms and hint."""
    refused_by = [f"Refused by {labels(finding.refused_by)}"] if finding.refused_by else []
    hint = [f"Hint: {escape_line(finding.hint)}"] if finding.hint else []
    return join_sentences([escape_line(finding.message), *refused_by, *hint])


def verdict_lines(judgements: Iterable[ValidationResult]) -> Iterator[str]:
    """A line a document with what each platform says."""
    for judgement in judgements:
        text = ", ".join(f"{platform.label} {verdict.kind.value}" for platform, verdict in judgement.verdicts.items())
        # The leading blank keeps a name such as "::error::x" from being taken for a command.
        yield from [f" {escape_line(judgement.name)}: {text}"] if text else []
