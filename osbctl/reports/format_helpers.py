"""Helpers of machine formats: file names, fingerprints, one-line messages."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from osbctl.findings import Finding, Location
from osbctl.paths import JsonPath, pointer
from osbctl.text import escape_line, fingerprint, join_sentences


def relative_path(source: str, root: str) -> str:
    """`source` relative to `root` if it is inside, with forward slashes."""
    if root and os.path.isabs(source):  # noqa: PTH117
        inside = os.path.relpath(source, root)
        source = source if inside.startswith(os.pardir) else inside
    return source.replace(os.sep, "/").removeprefix("./")


def format_position(location: Location, path: JsonPath) -> str:
    """`line:column`; for a part of a text in one line, such as a stored catalog, the JSON pointer."""
    is_in_one_line = location.line == 1 and location.column > 1 and len(path) > 1
    return pointer(path) if is_in_one_line else f"{location.line}:{location.column}"


def short_source(name: str) -> str:
    """The name of a source without the folders of a git reference: `origin/main:catalog.yaml`."""
    return re.sub(r"^refs/(?:remotes|heads|tags)/(?=[^:]+:)", "", name)


def location_as_json(location: Location | None) -> dict[str, Any] | None:
    """A location in JSON reports; None if unknown."""
    return {"source": location.source, "line": location.line, "column": location.column} if location else None


def compute_fingerprints(findings: Iterable[Finding], root: str) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with a unique hash of its source, and of its identity or else of rule and JSON pointer.

    The hash is independent of lines and messages. For a group of findings it is that of the first. Equal hashes get a
    running number.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        source = relative_path(finding.location.source, root) if finding.location else ""
        key = (source, finding.identity or f"{finding.rule}\0{pointer(finding.path)}")
        yield finding, fingerprint("\0".join((*key, str(seen[key]))))
        seen[key] += 1


def one_line_message(finding: Finding) -> str:
    """The message of a finding with refusing platforms and hint, in one line."""
    hint = f"Hint: {escape_line(finding.hint)}" if finding.hint else ""
    refusal = finding.refused_by_text[:1].upper() + finding.refused_by_text[1:]
    return join_sentences(filter(None, [escape_line(finding.message), refusal, hint]))
