"""Work of `osbctl validate`: sources and options in, results out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from osbctl.config import Config
from osbctl.errors import OsbctlError, SourceError
from osbctl.findings import DocumentError, Finding, Severity, ValidationResult
from osbctl.platforms.outcome import VerdictKind
from osbctl.sources.document import Document
from osbctl.tasks.options import Request, config_of, effective_fail_on, validation_options
from osbctl.text import plural

if TYPE_CHECKING:
    from osbctl.validation.options import Selection, ValidationOptions


class Validation(NamedTuple):
    """Result of each source, with the severity from which it fails.

    `exit_code` is what a source that cannot be opened forces by itself, else 0. `notes` say where a catalog was found
    that is not at the top, and what of the configuration matched nothing.
    """

    judgements: tuple[ValidationResult, ...]
    exit_code: int = 0
    notes: tuple[str, ...] = ()


class _Settings(NamedTuple):
    """Settings of the sources of one configuration."""

    config: Config
    options: ValidationOptions
    selection: Selection


class _Judged(NamedTuple):
    """A source that was judged: `document` where it is needed again, and the exit code that it forces by itself."""

    settings: _Settings
    result: ValidationResult
    document: Document | None = None
    exit_code: int = 0


def validate(request: Request, config: Config | None = None) -> Validation:
    """Judge every source of the request, by `config`, or by the configuration that is closest to it.

    Raises:
        UsageError, ConfigError: standard input is named twice; a rule or a platform is not known; a user schema
            cannot be read.
    """
    from osbctl.sources.read_bytes import check_stdin

    check_stdin(request.sources)
    known: list[_Settings] = []
    settings = [
        _settings(config_of(source, request.stdin_filename, config), request, known) for source in request.sources
    ]
    judged = [_judge(source, request, s) for source, s in zip(request.sources, settings, strict=True)]
    if request.together:
        judged = _together(judged)
    results = tuple(one.result for one in judged)
    notes = [result.read_as for result in results if result.read_as]
    if request.baseline:
        results, more = _based(results, request, request.baseline)
        notes += more
    if not any(map(_is_unreadable, results)):
        notes += _notes(known, (*request.sources, request.stdin_filename or "-"))
    return Validation(results, max(one.exit_code for one in judged), tuple(notes))


def _is_unreadable(result: ValidationResult) -> bool:
    return any(verdict.kind is VerdictKind.UNREADABLE for verdict in result.verdicts.values())


def unread(error: OsbctlError) -> tuple[Finding, ...]:
    """The error of a source that cannot be opened or read, as a report tells it."""
    if isinstance(error, DocumentError):
        return error.findings
    return (Finding("cannot-open", Severity.ERROR, error.message, hint=error.advice),)


def _based(
    judgements: tuple[ValidationResult, ...], request: Request, file: str
) -> tuple[tuple[ValidationResult, ...], list[str]]:
    """The judgements without what stands in the baseline, which may be written now, and what there is to say."""
    from osbctl.tasks.baseline import without_baseline, write_baseline

    notes = []
    if request.write_baseline:
        notes.append(f"wrote {file} ({plural(write_baseline(file, judgements), 'finding')})")
    kept, gone = without_baseline(file, judgements)
    if gone and not (request.select or request.ignore):  # what was not asked for this time may be there all the same
        notes.append(gone)
    return kept, notes


def _settings(config: Config, request: Request, known: list[_Settings]) -> _Settings:
    """The settings of a configuration, made once for all sources that it holds for."""
    from osbctl.validation.options import Selection

    found = next((one for one in known if one.config == config), None)
    if found is None:
        options = validation_options(request, config)
        found = _Settings(config, options, Selection(options))
        known.append(found)
    return found


def _notes(known: list[_Settings], sources: tuple[str, ...]) -> Iterator[str]:
    """Unused entries of each configuration file; `per-path` makes several configurations of one file.

    Nothing where it may be for catalogs that were not asked for.
    """
    from osbctl.tasks.unused_ignores import holds_for_others, unmatched

    for origin in dict.fromkeys(one.config.origin for one in known):
        same = [one for one in known if one.config.origin == origin]
        found = list(unmatched(same[0].config, [one.selection for one in same])) if origin else []
        yield from found if found and not holds_for_others(same[0].config, sources) else ()


def _together(judged: list[_Judged]) -> list[_Judged]:
    """The same once more, the results completed by what those share that could be read."""
    from osbctl.validation.cross_catalog import ValidatedCatalog, judge_together

    read = [
        ValidatedCatalog(one.document, one.result, one.settings.options, one.settings.selection)
        for one in judged
        if one.document
    ]
    completed = iter(judge_together(read))
    return [one._replace(result=next(completed)) if one.document else one for one in judged]


def _judge(source: str, request: Request, settings: _Settings) -> _Judged:
    from osbctl.sources.read import read_source
    from osbctl.sources.read_bytes import called
    from osbctl.validation.pipeline import unreadable, validate_document

    fail_on = effective_fail_on(request, settings.config)
    try:
        document = read_source(
            source,
            limits=request.limits,
            at=request.at or settings.config.at,
            profiles=request.profiles,
            stdin_filename=request.stdin_filename,
            variables_of=request.variables_of,
        )
    except (DocumentError, SourceError) as error:
        code = error.exit_code if isinstance(error, SourceError) else 0
        result = unreadable(called(source, request.stdin_filename), unread(error))
        return _Judged(settings, result._replace(fail_on=fail_on), exit_code=code)
    result = validate_document(document, settings.options, settings.selection)._replace(fail_on=fail_on)
    if result.findings and request.fixes and _is_editable(source, document):
        result = result._replace(findings=_with_fixes(result.findings, document), editable=True)
    return _Judged(settings, result, document if request.together else None)


def _is_editable(source: str, document: Document) -> bool:
    """Return whether `osbctl fix` can edit it: a file, a folder or standard input with the catalog at its top."""
    return not (document.embedded or document.read_as) and (source == "-" or os.path.exists(source))  # noqa: PTH110


def _with_fixes(findings: tuple[Finding, ...], document: Document) -> tuple[Finding, ...]:
    """The findings with their fixes; those of a draft take a comparison of schemas."""
    if not any(finding.path[-1:] == ("$schema",) for finding in findings):
        return findings
    from osbctl.tasks.fix import with_fixes

    return with_fixes(findings, document)
