"""Work of `osbctl validate`: sources and options in, results out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from osbctl.config import Config
from osbctl.containment import run_contained, run_without_faulty
from osbctl.errors import ConfigError, InternalError, OsbctlError, UsageError
from osbctl.findings import DocumentError, Finding, Location, Severity, ValidationResult
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

    `failed` is the number of sources that could not be opened or checked, and `exit_code` is 3 if there are any, else
    0. `notes` are sentences on catalogs that are not at the top of their source, and on the baseline.
    """

    results: tuple[ValidationResult, ...]
    exit_code: int = 0
    notes: tuple[str, ...] = ()
    failed: int = 0


class _Settings(NamedTuple):
    """Settings of the sources of one configuration."""

    config: Config
    options: ValidationOptions


class _Validated(NamedTuple):
    """A source with its result; `document` is kept only for `--together`."""

    result: ValidationResult
    options: ValidationOptions = ValidationOptions()
    document: Document | None = None
    exit_code: int = 0


def validate(request: Request, config: Config | None = None) -> Validation:
    """Validate every source of the request, by `config`, or by the configuration that is closest to it.

    Raises UsageError, ConfigError: standard input is named twice; a rule or a platform is not known; a user schema or
    the baseline cannot be read.
    """
    check_stdin_used_once(request.sources)
    known: list[_Settings] = []
    baseline = _read_baseline(request)
    validated = [_validate_contained(source, request, config, known, baseline) for source in request.sources]
    if request.together:
        validated = _add_cross_catalog_findings(validated)
    results = tuple(one.result for one in validated)
    notes = [result.read_as for result in results if result.read_as]
    if request.baseline and request.write_baseline:
        results = _write_baseline(results, request.baseline, notes)
    # A finding that was not looked for may still be there.
    if baseline and not (request.select or request.ignore) and (gone := baseline.describe_outdated(results)):
        notes.append(gone)
    failed = sum(one.exit_code > 0 for one in validated)
    return Validation(results, max((one.exit_code for one in validated), default=0), tuple(notes), failed)


def error_findings(error: OsbctlError, name: str) -> tuple[Finding, ...]:
    """The error of the source `name` that cannot be opened, read or checked, as findings."""
    if isinstance(error, DocumentError):
        return error.findings
    if isinstance(error, InternalError):
        place = Location(name, 1, 1)
        return (Finding("internal-error", Severity.ERROR, error.message, location=place, hint=error.advice),)
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


def _resolve_settings(source: str, request: Request, given: Config | None, resolved: list[_Settings]) -> _Settings:
    """The settings of a source, made once for all sources that the same configuration holds for."""
    config = resolve_config(source, request.stdin_filename, given)
    for settings in resolved:
        if settings.config == config:
            return settings
    resolved.append(_Settings(config, validation_options(request, config)))
    return resolved[-1]


def _add_cross_catalog_findings(validated: list[_Validated]) -> list[_Validated]:
    """The same results, with findings on ids and names that two of the catalogs share."""
    from osbctl.validation.cross_catalog import ValidatedCatalog, add_shared_identity_findings

    read = [ValidatedCatalog(one.document, one.result, one.options) for one in validated if one.document]
    results, faulty = run_without_faulty(add_shared_identity_findings, read)
    errors = {id(catalog.document): error for catalog, error in faulty}
    completed = iter(results)
    return [
        _failed(one.result.name, error, one.options)
        if (error := errors.get(id(one.document)))
        else one._replace(result=next(completed) if one.document else one.result)
        for one in validated
    ]


def _failed(name: str, error: OsbctlError, options: ValidationOptions) -> _Validated:
    """The result of a source that could not be opened, read or checked."""
    # The findings of a document tell all, and decide about the run.
    code = 0 if isinstance(error, DocumentError) else error.exit_code
    findings = tuple(finding.of_platforms(options.judged) for finding in error_findings(error, name))
    return _Validated(unreadable_result(name, findings, options.judged), options, exit_code=code)


def _validate_contained(
    source: str, request: Request, config: Config | None, known: list[_Settings], baseline: Baseline | None
) -> _Validated:
    """The result of a source; an error of its own is its finding. Raises UsageError, ConfigError."""
    settings = run_contained(_resolve_settings, source, request, config, known)
    done: _Validated | OsbctlError
    if isinstance(settings, OsbctlError):
        done, fail_on, options = settings, None, ValidationOptions()
    else:
        fail_on, options = effective_fail_on(request, settings.config), settings.options
        done = run_contained(_validate_source, source, request, settings, baseline)
    if isinstance(done, UsageError | ConfigError):
        raise done
    if isinstance(done, OsbctlError):
        done = _failed(report_name(source, request.stdin_filename), done, options)
    return done._replace(result=done.result._replace(fail_on=fail_on))


def _validate_source(source: str, request: Request, settings: _Settings, baseline: Baseline | None) -> _Validated:
    document = read_source(
        source,
        limits=request.limits,
        at=request.at,
        stdin_filename=request.stdin_filename,
        variables_of=request.variables_of,
    )
    if baseline:
        known = baseline.known_in(document.name)
        settings = settings._replace(options=settings.options._replace(known=known))
    result = validate_document(document, settings.options)
    if result.findings and request.fixes and _is_editable(source, document):
        result = result._replace(editable=True)
        if any(finding.fixes or finding.path[-1:] == ("$schema",) for finding in result.findings):
            from osbctl.tasks.fix import keep_possible_fixes  # most catalogs do not need it

            found = keep_possible_fixes(result.findings, document, source, request.at, request.variables_of)
            result = result._replace(findings=found)
    return _Validated(result, settings.options, document if request.together else None)


def _is_editable(source: str, document: Document) -> bool:
    """Return whether `osbctl fix` can edit it: a file, a folder or standard input with the catalog at its top."""
    return not (document.embedded or document.read_as) and (source == "-" or os.path.exists(source))  # noqa: PTH110
