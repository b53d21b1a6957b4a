"""How machine formats name a place: a relative path, a JSON pointer, a fingerprint that survives edits."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from typing import TYPE_CHECKING

from osbctl.paths import pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from osbctl.findings import Finding


def relative(source: str, root: str) -> str:
    """`source` relative to `root` with forward slashes, where it lies inside; else as it is."""
    if root and os.path.isabs(source):  # noqa: PTH117
        inside = os.path.relpath(source, root)
        source = source if inside.startswith(os.pardir) else inside
    return source.replace(os.sep, "/").removeprefix("./")


def with_fingerprints(findings: Iterable[Finding], root: str) -> Iterator[tuple[Finding, str]]:
    """Each finding with a fingerprint of its identity, else of its rule, file and JSON pointer: no line, no wording.

    One that may stand for several places is known by what it says of them, without their number: it stays the same
    when one of the places is mended. Equal ones are distinguished by a running number: every fingerprint is unique.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        source = relative(finding.location.source, root) if finding.location else ""
        where = finding.several or pointer(finding.path)
        key = (finding.identity,) if finding.identity else (finding.rule, source, where)
        digest = hashlib.sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass"))
        seen[key] += 1
        yield finding, digest.hexdigest()[:32]
