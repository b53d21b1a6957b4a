"""A baseline: a file of known findings, so that only new ones are reported.

Each finding is known by its fingerprint, the hash of its identity, which does not depend on lines, indexes and wording;
a finding that stands for several places has one for each.
"""

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from osbctl.errors import ConfigError
from osbctl.files import read_bounded, write_file
from osbctl.findings import Finding, ValidationResult
from osbctl.reports import relative_path
from osbctl.text import fingerprint

VERSION = 2
_MAX_BYTES = 100_000_000


def write_baseline(file: str, results: Sequence[ValidationResult]) -> int:
    """Write all findings into `file` except those of unreadable sources; return their number. Raises SourceError."""
    entries = [
        {
            "rule": finding.rule,
            "source": _relative_source(file, result.name),
            "message": finding.message,
            "fingerprints": [fingerprint(identity) for identity in _identities(finding)],
        }
        for result in results
        if result.data is not None
        for finding in result.findings
    ]
    text = json.dumps({"version": VERSION, "findings": entries}, indent=2, ensure_ascii=False)
    write_file(file, f"{text}\n".encode("utf-8", "replace"))
    return len(entries)


def _identities(finding: Finding) -> list[str]:
    return [one.identity for one in finding.members or (finding,)]


class Baseline:
    """The baseline in `file`. Raises ConfigError: it cannot be read, or is no baseline of this version."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._known: dict[str, set[str]] = defaultdict(set)
        for entry in _read_entries(file):
            self._known[entry["source"]].update(entry["fingerprints"])

    def known_in(self, source: str) -> frozenset[str]:
        """The fingerprints of the known findings of a source."""
        return frozenset(self._known.get(_relative_source(self.file, source), ()))

    def describe_outdated(self, results: Sequence[ValidationResult]) -> str:
        """A sentence if some of the findings are gone from the sources that were read, else empty."""
        gone = sum(len(self.known_in(one.name) - one.known) for one in results if one.data is not None)
        return f"{self.file}: {gone} of its findings are gone: update it with --write-baseline" if gone else ""


def _relative_source(file: str, source: str) -> str:
    """The name of a source in the baseline `file`, the same in whatever folder osbctl runs."""
    return relative_path(os.path.abspath(source), os.path.dirname(os.path.abspath(file)))  # noqa: PTH100, PTH120


def _read_entries(file: str) -> list[dict[str, Any]]:
    advice = "write it with --write-baseline"
    try:
        data = json.loads(read_bounded(file, _MAX_BYTES))
        version, entries = data["version"], data["findings"]
        if version == 1:
            what = "not an osbctl baseline of this version: it knows findings by their index"
            raise ConfigError(f"{file}: {what}", f"{advice} anew")
        if version != VERSION or not all(
            isinstance(entry["source"], str) and all(isinstance(each, str) for each in entry["fingerprints"])
            for entry in entries
        ):
            raise ValueError("of another version")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be opened: {error.strerror}", advice) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{file}: not an osbctl baseline", advice) from error
    return list(entries)
