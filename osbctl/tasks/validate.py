"""Work of `osbctl validate`: sources and options in, results out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from osbctl.config import Config
from osbctl.errors import OsbctlError, SourceError
from osbctl.findings import DocumentError, Finding, Severity, ValidationResult
from osbctl.sources.document import Document
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import check_stdin_used_once, report_name
from osbctl.tasks.options import Request, effective_fail_on, resolve_config, validation_options
from osbctl.text import plural
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable_result, validate_document

if TYPE_CHECKING:
    from osbctl.tasks.baseline import Baseline


class Validation(NamedTuple):
    """Result of each source, with the severity from which it fails.

    `exit_code` is 3 if a source cannot be opened, else 0. `notes` are sentences on catalogs that are not at the top of
    their source, and on the baseline.
    """

    results: tuple[ValidationResult, ...]
    exit_code: int = 0
    notes: tuple[str, ...] = ()


class _Settings(NamedTuple):
    """Settings of the sources of one configuration."""

    config: Config
    options: ValidationOptions


class _Validated(NamedTuple):
    """A source with its result; `document` is kept only for `--together`."""

    settings: _Settings
    result: ValidationResult
    document: Document | None = None
    exit_code: int = 0


def validate(request: Request, config: Config | None = None) -> Validation:
    """Validate every source of the request, by `config`, or by the configuration that is closest to it.

    Raises UsageError, ConfigError: standard input is named twice; a rule or a platform is not known; a user schema or
    the baseline cannot be read.
    """
    check_stdin_used_once(request.sources)
    known: list[_Settings] = []
    settings = [
        _resolve_settings(resolve_config(source, request.stdin_filename, config), request, known)
        for source in request.sources
    ]
    baseline = _read_baseline(request)
    validated = [
        _validate_source(source, request, each, baseline)
        for source, each in zip(request.sources, settings, strict=True)
    ]
    if request.together:
        validated = _add_cross_catalog_findings(validated)
    results = tuple(one.result for one in validated)
    notes = [result.read_as for result in results if result.read_as]
    if request.baseline and request.write_baseline:
        results = _write_baseline(results, request.baseline, notes)
    # A finding that was not looked for may still be there.
    if baseline and not (request.select or request.ignore) and (gone := baseline.describe_outdated(results)):
        notes.append(gone)
    return Validation(results, max(one.exit_code for one in validated), tuple(notes))


def error_findings(error: OsbctlError) -> tuple[Finding, ...]:
    """The error of a source that cannot be opened or read, as findings."""
    if isinstance(error, DocumentError):
        return error.findings
    return (Finding("cannot-open", Severity.ERROR, error.message, hint=error.advice),)


def _read_baseline(request: Request) -> Baseline | None:
    """The baseline whose findings are not reported; None if there is none, or it is to be written."""
    if not request.baseline or request.write_baseline:
        return None
    from osbctl.tasks.baseline import Baseline

    return Baseline(request.baseline)


def _write_baseline(results: tuple[ValidationResult, ...], file: str, notes: list[str]) -> tuple[ValidationResult, ...]:
    """Write the baseline, and a note on it; return the results without the findings in it."""
    from osbctl.tasks.baseline import write_baseline

    notes.append(f"wrote {file} ({plural(write_baseline(file, results), 'finding')})")
    return tuple(
        result if result.data is None else result._replace(findings=(), left_out=result.left_out + len(result.findings))
        for result in results
    )


def _resolve_settings(config: Config, request: Request, resolved: list[_Settings]) -> _Settings:
    """The settings of a configuration, made once for all sources that it holds for."""
    for settings in resolved:
        if settings.config == config:
            return settings
    resolved.append(_Settings(config, validation_options(request, config)))
    return resolved[-1]


def _add_cross_catalog_findings(validated: list[_Validated]) -> list[_Validated]:
    """The same results, with findings on ids and names that two of the catalogs share."""
    from osbctl.validation.cross_catalog import ValidatedCatalog, add_shared_identity_findings

    read = [ValidatedCatalog(one.document, one.result, one.settings.options) for one in validated if one.document]
    completed = iter(add_shared_identity_findings(read))
    return [one._replace(result=next(completed)) if one.document else one for one in validated]


def _validate_source(source: str, request: Request, settings: _Settings, baseline: Baseline | None) -> _Validated:
    fail_on = effective_fail_on(request, settings.config)
    try:
        document = read_source(
            source,
            limits=request.limits,
            at=request.at,
            stdin_filename=request.stdin_filename,
            variables_of=request.variables_of,
        )
    except (DocumentError, SourceError) as error:
        code = error.exit_code if isinstance(error, SourceError) else 0
        result = unreadable_result(report_name(source, request.stdin_filename), error_findings(error))
        return _Validated(settings, result._replace(fail_on=fail_on), exit_code=code)
    if baseline:
        known = baseline.known_in(document.name)
        settings = settings._replace(options=settings.options._replace(known=known))
    result = validate_document(document, settings.options)._replace(fail_on=fail_on)
    if result.findings and request.fixes and _is_editable(source, document):
        result = result._replace(editable=True)
        if any(finding.path[-1:] == ("$schema",) for finding in result.findings):
            from osbctl.tasks.fix import add_schema_draft_fixes  # loads the comparison of schemas

            result = result._replace(findings=add_schema_draft_fixes(result.findings, document))
    return _Validated(settings, result, document if request.together else None)


def _is_editable(source: str, document: Document) -> bool:
    """Return whether `osbctl fix` can edit it: a file, a folder or standard input with the catalog at its top."""
    return not (document.embedded or document.read_as) and (source == "-" or os.path.exists(source))  # noqa: PTH110
