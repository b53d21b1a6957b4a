"""Work of `osbctl validate`: sources and options in, results out."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from osbctl.config import Config
from osbctl.errors import OsbctlError, SourceError
from osbctl.files import check_regular, read_bounded
from osbctl.findings import DocumentError, Finding, Severity, ValidationResult
from osbctl.platforms.outcome import VerdictKind
from osbctl.rule import matching_rules
from osbctl.sources.document import Document
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import check_stdin, report_name
from osbctl.tasks.options import Request, all_rules, config_of, effective_fail_on, validation_options
from osbctl.text import plural
from osbctl.validation.options import IgnoreAt, Selection, ValidationOptions
from osbctl.validation.pipeline import unreadable, validate_document


class Validation(NamedTuple):
    """Result of each source, with the severity from which it fails.

    `exit_code` is 3 if a source cannot be opened, else 0. `notes` are sentences on catalogs that are not at the top of
    their source, and on unused entries of the configuration.
    """

    results: tuple[ValidationResult, ...]
    exit_code: int = 0
    notes: tuple[str, ...] = ()


class _Settings(NamedTuple):
    """Settings of the sources of one configuration."""

    config: Config
    options: ValidationOptions
    selection: Selection


class _Validated(NamedTuple):
    """A source with its result; `document` is kept only for `--together`."""

    settings: _Settings
    result: ValidationResult
    document: Document | None = None
    exit_code: int = 0


def validate(request: Request, config: Config | None = None) -> Validation:
    """Validate every source of the request, by `config`, or by the configuration that is closest to it.

    Raises UsageError, ConfigError: standard input is named twice; a rule or a platform is not known; a user schema
    cannot be read.
    """
    check_stdin(request.sources)
    known: list[_Settings] = []
    settings = [
        _settings(config_of(source, request.stdin_filename, config), request, known) for source in request.sources
    ]
    validated = [_validate(source, request, s) for source, s in zip(request.sources, settings, strict=True)]
    if request.together:
        validated = _together(validated)
    results = tuple(one.result for one in validated)
    notes = [result.read_as for result in results if result.read_as]
    if request.baseline:
        results = _apply_baseline(results, request, request.baseline, notes)
    if not any(map(_is_unreadable, results)):
        notes += _unused_entries(known, request)
    return Validation(results, max(one.exit_code for one in validated), tuple(notes))


def _is_unreadable(result: ValidationResult) -> bool:
    return any(verdict.kind is VerdictKind.UNREADABLE for verdict in result.verdicts.values())


def unread(error: OsbctlError) -> tuple[Finding, ...]:
    """The error of a source that cannot be opened or read, as findings."""
    if isinstance(error, DocumentError):
        return error.findings
    return (Finding("cannot-open", Severity.ERROR, error.message, hint=error.advice),)


def _apply_baseline(
    results: tuple[ValidationResult, ...], request: Request, file: str, notes: list[str]
) -> tuple[ValidationResult, ...]:
    """The results without those of the baseline, which is written first on request; adds to `notes`."""
    from osbctl.tasks.baseline import without_baseline, write_baseline

    if request.write_baseline:
        notes.append(f"wrote {file} ({plural(write_baseline(file, results), 'finding')})")
    kept, gone = without_baseline(file, results)
    if gone and not (request.select or request.ignore):  # a finding that was not looked for may still be there
        notes.append(gone)
    return kept


def _settings(config: Config, request: Request, known: list[_Settings]) -> _Settings:
    """The settings of a configuration, made once for all sources that it holds for."""
    for one in known:
        if one.config == config:
            return one
    options = validation_options(request, config)
    known.append(_Settings(config, options, Selection(options)))
    return known[-1]


def _unused_entries(known: list[_Settings], request: Request) -> Iterator[str]:
    """Sentences on unused entries of each configuration file, unless they may be for other catalogs."""
    sources = (*request.sources, request.stdin_filename or "-")
    for origin in dict.fromkeys(one.config.origin for one in known if one.config.origin):
        same = [one for one in known if one.config.origin == origin]
        found = list(_unmatched(same[0].config, [one.selection for one in same]))
        if found and not _may_concern_unread_files(same[0].config, sources):
            yield from found


def _together(validated: list[_Validated]) -> list[_Validated]:
    """The same, with findings on ids and names that two of the catalogs share."""
    from osbctl.validation.cross_catalog import ValidatedCatalog, judge_together

    read = [
        ValidatedCatalog(one.document, one.result, one.settings.options, one.settings.selection)
        for one in validated
        if one.document
    ]
    completed = iter(judge_together(read))
    return [one._replace(result=next(completed)) if one.document else one for one in validated]


def _validate(source: str, request: Request, settings: _Settings) -> _Validated:
    fail_on = effective_fail_on(request, settings.config)
    try:
        document = read_source(
            source,
            limits=request.limits,
            at=request.at or settings.config.at,
            stdin_filename=request.stdin_filename,
            variables_of=request.variables_of,
        )
    except (DocumentError, SourceError) as error:
        code = error.exit_code if isinstance(error, SourceError) else 0
        result = unreadable(report_name(source, request.stdin_filename), unread(error))
        return _Validated(settings, result._replace(fail_on=fail_on), exit_code=code)
    result = validate_document(document, settings.options, settings.selection)._replace(fail_on=fail_on)
    if result.findings and request.fixes and _is_editable(source, document):
        result = result._replace(editable=True)
        if any(finding.path[-1:] == ("$schema",) for finding in result.findings):
            from osbctl.tasks.fix import with_fixes  # loads the comparison of schemas

            result = result._replace(findings=with_fixes(result.findings, document))
    return _Validated(settings, result, document if request.together else None)


def _is_editable(source: str, document: Document) -> bool:
    """Return whether `osbctl fix` can edit it: a file, a folder or standard input with the catalog at its top."""
    return not (document.embedded or document.read_as) and (source == "-" or os.path.exists(source))  # noqa: PTH110


# Unused entries of a configuration.

_MOST_FILES = 5_000
_MAX_BYTES = 1_000_000


def _unmatched(config: Config, selections: Sequence[Selection]) -> Iterator[str]:
    """A sentence for each entry of `config` that silenced nothing in any of its selections."""
    matched = {entry for selection in selections for entry in selection.matched}
    idle = {entry for selection in selections for entry in selection.unmatched()} - matched
    for name, entries in _entries(config) if idle else ():
        if entries & idle and not entries & matched:
            yield f"{name} matched nothing: remove it"


def _entries(config: Config) -> Iterator[tuple[str, set[IgnoreAt]]]:
    """Each entry of `ignore` and `ignore-at`: its place and words, and the ignored rules and objects."""
    from osbctl.validation.rules import ELSEWHERE

    rules = all_rules()
    everywhere = (*config.ignore, *(word for entry in config.per_path for word in entry.settings.ignore))
    for word in dict.fromkeys(everywhere):
        here = (rule for rule in matching_rules(word, rules) if rules[rule].category not in ELSEWHERE)
        yield f"{config.locate('ignore', word)} of {word}", set(map(IgnoreAt, here))
    yield from _entries_for_objects(config)


def _entries_for_objects(config: Config) -> Iterator[tuple[str, set[IgnoreAt]]]:
    rules = all_rules()
    for word, service, plan in config.ignore_at:
        about = ", ".join(filter(None, [service and f"service {service!r}", plan and f"plan {plan!r}"]))
        place = config.locate("ignore-at", plan or service or "")
        yield f"{place} of {word} for {about}", {IgnoreAt(rule, service, plan) for rule in matching_rules(word, rules)}


def _may_concern_unread_files(config: Config, sources: Iterable[str]) -> bool:
    """Return whether a file below the configuration, none of `sources`, may be a catalog, or there are too many."""
    read = tuple(os.path.realpath(source) + os.sep for source in sources)
    seen = 0
    for folder, folders, files in os.walk(os.path.dirname(config.origin) or os.curdir):  # noqa: PTH120
        folders[:] = [name for name in folders if not name.startswith((".", "node_modules"))]
        seen += len(files)
        if seen > _MOST_FILES or any(_may_be_catalog(os.path.join(folder, name), read) for name in files):  # noqa: PTH118
            return True
    return False


def _may_be_catalog(path: str, read: tuple[str, ...]) -> bool:
    if not path.endswith((".yaml", ".yml", ".json")) or (os.path.realpath(path) + os.sep).startswith(read):
        return False
    try:
        check_regular(path)
        return b"plans" in read_bounded(path, _MAX_BYTES)
    except OSError:
        return False
