"""Validate, and print the report; without typer, so that `osbctl validate FILE…` starts fast."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from osbctl.cli.output import is_github_log, print_failure_count, print_note, report_style, write_output
from osbctl.config import load_config
from osbctl.containment import run_without_faulty
from osbctl.errors import SourceError
from osbctl.findings import ValidationResult
from osbctl.reports import WHOLE, Format, Report, TextDetail, render
from osbctl.tasks.options import Request, all_rules
from osbctl.tasks.validate import error_findings, validate
from osbctl.validation.pipeline import unreadable_result


class Display(NamedTuple):
    """Options of a report's output; `format` None: chosen by the environment."""

    format: Format | None = None
    output: str | None = None
    color: str = "auto"
    detail: TextDetail = WHOLE

    @property
    def effective_format(self) -> Format:
        """The chosen format; by default text, or annotations inside GitHub Actions."""
        annotated = is_github_log(self.output) and self.detail == WHOLE
        return self.format or (Format.GITHUB if annotated else Format.TEXT)


def validate_and_report(request: Request, display: Display, config: str | None = None) -> int:
    """Validate, report, and return the exit code; `config` is a configuration file, None the closest one."""
    if display.output is not None or request.write_baseline:
        from osbctl.tasks.output_checks import check_output

        inputs = (*request.sources, *request.schemas, config)
        check_output(display.output, (*inputs, request.baseline))
        if request.write_baseline:
            check_output(request.baseline, inputs)
    marked = display.effective_format is Format.TEXT
    done = validate(request._replace(fixes=marked), load_config(config) if config else None)
    failed = write_report(done.results, display)
    if not display.detail.quiet:
        print_note(*done.notes)
        print_failure_count(done.failed, len(done.results), "sources could not be checked")
    return max(done.exit_code, failed)


def write_report(results: Sequence[ValidationResult], display: Display) -> int:
    """Write the report; 3 if a result could not be reported, 1 if a finding makes the run fail, else 0."""
    color, width = report_style(display.output, display.color)
    root = os.getcwd()  # noqa: PTH109

    def render_results(some: Sequence[ValidationResult]) -> str:
        return render(report._replace(results=some), display.effective_format)

    report = Report(results, all_rules, root=root, color=color, width=width, detail=display.detail)
    text, faulty = run_without_faulty(render_results, results)
    if faulty:
        errors = {
            id(result): unreadable_result(result.name, error_findings(error, result.name), [*result.verdicts])
            for result, error in faulty
        }
        text = render_results([errors.get(id(result), result) for result in results])
    write_output(text, display.output)
    return SourceError.exit_code if faulty else int(report.failed)
