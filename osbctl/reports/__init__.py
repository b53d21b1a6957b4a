"""From judgements to text: one module for each format, each a function of a `Report`.

The machine formats never change shape without a new version; `schemas/report-1.json` is the shape of
`json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import NamedTuple

from osbctl.findings import FailOn, Finding, ValidationResult
from osbctl.rule import Rule


class Format(StrEnum):
    """The report formats by the word that chooses them."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    HTML = "html"


class TextDetail(NamedTuple):
    """Detail of the text format.

    `concise`: a line a finding and a line a document. `quiet`: findings alone. `statistics`: how often each rule was
    found, not where.
    """

    concise: bool = False
    quiet: bool = False
    statistics: bool = False


WHOLE = TextDetail()


class Report(NamedTuple):
    """Content of a report, and data that formats may need.

    `rules` tells the text of a rule id (formats that name no rule text never ask). `root` is the folder
    that paths of machine formats are relative to. `color`, `width` (the columns of the terminal, 0
    where there is none) and `brevity` are for `text` alone.
    """

    judgements: Sequence[ValidationResult]
    rules: Mapping[str, Rule]
    fail_on: FailOn = FailOn.ERROR
    root: str = ""
    color: bool = False
    width: int = 0
    brevity: TextDetail = WHOLE

    def findings(self) -> Iterator[Finding]:
        """All findings of all documents, in order."""
        for judgement in self.judgements:
            yield from judgement.findings

    def source(self, finding: Finding) -> str:
        """The document that it stands in; without a place, it is about the one broker that was checked."""
        return finding.location.source if finding.location else self.judgements[0].name

    @property
    def failed(self) -> bool:
        """Return whether any finding counts under the judgement's own `fail_on`, or else the report's."""
        return any(self.counts(judgement, finding) for judgement in self.judgements for finding in judgement.findings)

    def counts(self, judgement: ValidationResult, finding: Finding) -> bool:
        """Return whether `finding` of `judgement` makes the run fail."""
        return (judgement.fail_on or self.fail_on).counts(finding)


def render(report: Report, format: Format) -> str:  # the option's own name
    """The whole text of `report` in `format`, ending with a newline unless it is empty."""
    render_format = import_module(f"osbctl.reports.{format.value}_report").render
    text: str = render_format(report)
    return text
