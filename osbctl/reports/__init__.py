"""Reports of findings: one module per format, which renders a `Report` as text.

Machine formats never change shape without a new version; `schemas/report-1.json` describes `json`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import NamedTuple

from osbctl.findings import FailOn, Finding, ValidationResult
from osbctl.rule import Rule


class Format(StrEnum):
    """Report formats, as in `--format`."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    HTML = "html"


class TextDetail(NamedTuple):
    """Detail of the text format. `concise`: a line per finding and document. `quiet`: only findings."""

    concise: bool = False
    quiet: bool = False


WHOLE = TextDetail()


class Report(NamedTuple):
    """Content of a report, and data that formats may need.

    `load_rules` returns all rules by id; most formats need none. Paths in machine formats are relative to `root`.
    `color`, `width` (columns of the terminal, 0 for none) and `detail` apply only to `text`.
    """

    results: Sequence[ValidationResult]
    load_rules: Callable[[], Mapping[str, Rule]]
    fail_on: FailOn = FailOn.ERROR
    root: str = ""
    color: bool = False
    width: int = 0
    detail: TextDetail = WHOLE

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


def render(report: Report, format: Format) -> str:  # the option's own name
    """The whole text of `report` in `format`, ending with a newline unless it is empty."""
    render_format = import_module(f"osbctl.reports.{format.value}_report").render
    text: str = render_format(report)
    return text
