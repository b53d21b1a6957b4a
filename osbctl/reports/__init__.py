"""Reports of findings, in each format, and what several formats need: file names, fingerprints, one-line messages.

Machine formats never change shape without a new version; `schemas/report-1.json` describes `json`.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Any, NamedTuple

from osbctl.findings import FailOn, Finding, Location, ValidationResult
from osbctl.paths import JsonPath, pointer
from osbctl.rule import Rule
from osbctl.text import escape_line, fingerprint, join_sentences


class Format(StrEnum):
    """Report formats, as in `--format`."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    HTML = "html"


class Report(NamedTuple):
    """Content of a report, and data that formats may need.

    `load_rules` returns all rules by id; most formats need none. Paths in machine formats are relative to `root`.
    Only for `text`: `color`, `width` (columns of the terminal, 0 for none), `concise` (a line per finding and
    document) and `quiet` (only findings).
    """

    results: Sequence[ValidationResult]
    load_rules: Callable[[], Mapping[str, Rule]]
    fail_on: FailOn = FailOn.ERROR
    root: str = ""
    color: bool = False
    width: int = 0
    concise: bool = False
    quiet: bool = False

    def findings(self) -> Iterator[Finding]:
        """All findings of all documents, in order."""
        for result in self.results:
            yield from result.findings

    def source_name(self, finding: Finding) -> str:
        """The name of the source of a finding; without a location it is about the checked broker."""
        return finding.location.source if finding.location else self.results[0].name

    @property
    def failed(self) -> bool:
        """Return whether any finding makes the run fail."""
        return any(self.is_failure(result, finding) for result in self.results for finding in result.findings)

    def is_failure(self, result: ValidationResult, finding: Finding) -> bool:
        """Return whether `finding` makes the run fail, by the `fail_on` of `result` or else of the report."""
        return (result.fail_on or self.fail_on).is_failure(finding)


_MODULES = {Format.TEXT: "text_report", Format.JSON: "json_report", Format.HTML: "html_report"}
"""The modules of formats; the others, which CI systems read, are in `ci_report`."""


def render(report: Report, format: Format) -> str:  # the option's own name
    """The whole text of `report` in `format`, ending with a newline unless it is empty."""
    module = import_module(f"osbctl.reports.{_MODULES.get(format, 'ci_report')}")
    text: str = getattr(module, f"render_{format.value}")(report)
    return text


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
    """A location in JSON reports. None if unknown."""
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
    hint = f"Hint: {escape_line(finding.advice)}" if finding.advice else ""
    refusal = finding.refused_by_text[:1].upper() + finding.refused_by_text[1:]
    return join_sentences(filter(None, [escape_line(finding.message), refusal, hint]))
