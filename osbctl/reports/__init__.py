"""Reports of findings as JSON and HTML, and what other formats need: file names, fingerprints, one-line messages.

Machine formats never change shape without a new version; `schemas/report-1.json` describes `json`.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from importlib import import_module
from typing import Any, NamedTuple

from osbctl.catalog import Catalog
from osbctl.findings import FailOn, Finding, Location, Severity, ValidationResult, each_place
from osbctl.paths import JsonPath, pointer
from osbctl.rule import Rule
from osbctl.text import escape_line, fingerprint, join_sentences, json_text

JSON_VERSION = 1
"""Version of JSON reports; any change except a new field needs a new version."""


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

    def findings_with_source(self, *, by_place: bool = False) -> Iterator[tuple[str, Finding]]:
        """The same with the name of the source of each; `by_place`: each place of a group apart."""
        for result in self.results:
            for finding in each_place(result.findings) if by_place else result.findings:
                yield result.source_of(finding), finding

    @property
    def failed(self) -> bool:
        """Return whether any finding makes the run fail."""
        return any(self.is_failure(result, finding) for result in self.results for finding in result.findings)

    def is_failure(self, result: ValidationResult, finding: Finding) -> bool:
        """Return whether `finding` makes the run fail, by the `fail_on` of `result` or else of the report."""
        return (result.fail_on or self.fail_on).is_failure(finding)


def render(report: Report, format: Format) -> str:  # the option's own name
    """The whole text of `report` in `format`, ending with a newline unless it is empty."""
    if format is Format.JSON:
        return _render_json(report)
    if format is Format.HTML:
        return _render_html(report)
    module = import_module(f"osbctl.reports.{'text' if format is Format.TEXT else 'ci'}_report")
    text: str = getattr(module, f"render_{format.value}")(report)
    return text


def _render_json(report: Report) -> str:
    """A report of findings as one JSON object (`schemas/report-1.json`)."""
    findings = list(report.findings())
    whole = {
        "version": JSON_VERSION,
        "documents": [
            {
                "name": result.name,
                "findings": [_finding_as_json(finding) for finding in result.findings],
                "left_out": result.left_out,
                "platforms": {
                    platform.value: {
                        "verdict": verdict.kind.value,
                        "reasons": verdict.reasons,
                        "messages": list(verdict.messages),
                        "why": verdict.why,
                    }
                    for platform, verdict in result.verdicts.items()
                },
            }
            for result in report.results
        ],
        "summary": {f"{s.value}s": sum(f.severity is s for f in findings) for s in Severity},
    }
    return json_text(whole)


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    places = [
        {"message": one.message, "path": pointer(one.path), "location": location_as_json(one.location)}
        for one in finding.at_each_place()
    ]
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": pointer(finding.path),
        "also": [pointer(path) for path in finding.other_paths],
        "location": location_as_json(finding.location),
        "refused_by": [platform.value for platform in finding.refused_by],
        "platform_messages": list(finding.platform_messages),
        "hint": finding.advice,
        **({"places": places} if len(places) > 1 else {}),
    }


def _render_html(report: Report) -> str:
    """A page of findings with their catalogs; deterministic."""
    from osbctl.pages import Branding, Content, Part
    from osbctl.pages.render import render_page  # loads Jinja

    parts = [Part(one.name, Catalog.of(one.data or {}), one.outcomes, one.findings) for one in report.results]
    return render_page(Content(parts, branding=Branding("Catalog findings"), findings=True))


def relative_path(source: str, root: str) -> str:
    """`source` relative to `root` if it is inside, with forward slashes."""
    if root and "://" not in source:
        with suppress(ValueError):  # it is on another drive of Windows
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


def compute_fingerprints(findings: Iterable[tuple[str, Finding]], root: str) -> Iterator[tuple[str, Finding, str]]:
    """Yield each source and finding with a unique hash of them: of its identity, or else of rule and JSON pointer.

    It is independent of lines and messages, and that of the first in a group. Equal ones get a running number.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for source, finding in findings:
        key = (relative_path(source, root), finding.identity or f"{finding.rule}\0{pointer(finding.path)}")
        yield source, finding, fingerprint("\0".join((*key, str(seen[key]))))
        seen[key] += 1


def one_line_message(finding: Finding) -> str:
    """The message of a finding with refusing platforms and hint, in one line."""
    hint = f"Hint: {escape_line(finding.advice)}" if finding.advice else ""
    refusal = finding.refused_by_text[:1].upper() + finding.refused_by_text[1:]
    return join_sentences(filter(None, [escape_line(finding.message), refusal, hint]))
