"""A baseline: a file of known findings, so that only new ones are reported.

A finding is known by its fingerprint, which does not depend on lines and wording. A finding with several locations is
new if it has more of them than in the baseline.
"""

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from osbctl.errors import ConfigError
from osbctl.files import read_bounded, write_file
from osbctl.findings import Finding, ValidationResult
from osbctl.reports.format_helpers import compute_fingerprints, relative_path

VERSION = 1
_MAX_BYTES = 100_000_000


def write_baseline(file: str, results: Sequence[ValidationResult]) -> int:
    """Write all findings into `file` except those of unreadable sources; return their number. Raises SourceError."""
    entries = [
        {
            "rule": finding.rule,
            "source": relative_path(_absolute_source(finding), _absolute_folder(file)),
            "message": finding.message,
            "places": 1 + len(finding.other_paths),
            "fingerprint": fingerprint,
        }
        for finding, fingerprint in _fingerprint_findings(file, results)
    ]
    text = json.dumps({"version": VERSION, "findings": entries}, indent=2, ensure_ascii=False)
    write_file(file, f"{text}\n".encode("utf-8", "replace"))
    return len(entries)


def remove_known_findings(file: str, results: Sequence[ValidationResult]) -> tuple[tuple[ValidationResult, ...], str]:
    """The results without findings of the baseline `file`, and a sentence if some of its entries are gone, else empty.

    Raises ConfigError: the file cannot be read, or is no baseline.
    """
    entries = _read_entries(file)
    allowed = {entry["fingerprint"]: entry["places"] for entry in entries}
    known = list(_fingerprint_findings(file, results))
    # Findings are compared by id(), because their fixes may hold values without a hash. A finding is old if it has as
    # many locations as in the baseline, or fewer.
    old = {id(finding) for finding, fingerprint in known if len(finding.other_paths) < allowed.get(fingerprint, 0)}
    kept = []
    for result in results:
        new = tuple(finding for finding in result.findings if id(finding) not in old)
        kept.append(result._replace(findings=new, left_out=result.left_out + len(result.findings) - len(new)))
    gone = _count_outdated_entries(entries, {fingerprint for _, fingerprint in known}, file, results)
    return tuple(kept), f"{file}: {gone} of its findings are gone: update it with --write-baseline" if gone else ""


def _count_outdated_entries(
    entries: list[dict[str, Any]], fingerprints: set[str], file: str, results: Sequence[ValidationResult]
) -> int:
    """The number of entries on the given sources whose fingerprint is not found any more."""
    folder, names = _absolute_folder(file), [result.name for result in results if result.data is not None]
    read_sources = {relative_path(os.path.abspath(name), folder) for name in names}  # noqa: PTH100
    return sum(entry["source"] in read_sources and entry["fingerprint"] not in fingerprints for entry in entries)


def _fingerprint_findings(file: str, results: Sequence[ValidationResult]) -> Iterator[tuple[Finding, str]]:
    """Findings with fingerprints that are valid in every folder."""
    findings = [finding for result in results if result.data is not None for finding in result.findings]
    absolute = [
        f._replace(location=f.location._replace(source=_absolute_source(f)) if f.location else None) for f in findings
    ]
    for finding, (_, fingerprint) in zip(findings, compute_fingerprints(absolute, _absolute_folder(file)), strict=True):
        yield finding, fingerprint


def _absolute_source(finding: Finding) -> str:
    source = finding.location.source if finding.location else ""
    return os.path.abspath(source) if source else ""  # noqa: PTH100


def _absolute_folder(file: str) -> str:
    return os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120


def _read_entries(file: str) -> list[dict[str, Any]]:
    advice = "write it with --write-baseline"
    try:
        data = json.loads(read_bounded(file, _MAX_BYTES))
        entries = data["findings"]
        if data["version"] != VERSION or not all(
            isinstance(e["fingerprint"], str) and isinstance(e["source"], str) and isinstance(e["places"], int)
            for e in entries
        ):
            raise ValueError("of another version")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be opened: {error.strerror}", advice) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{file}: not an osbctl baseline", advice) from error
    return list(entries)
