"""The options of `osbctl validate`."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from osbctl.commands import options as common
from osbctl.commands.options import Option, find_named_catalogs, select_catalogs
from osbctl.commands.output import is_github_log, print_failure_count, print_note, report_style, write_output
from osbctl.commands.settings import (
    Request,
    all_rules,
    effective_fail_on,
    resolve_config,
    validation_options,
    variables_lookup,
)
from osbctl.config import Config, load_config
from osbctl.errors import (
    ConfigError,
    InternalError,
    OsbctlError,
    SourceError,
    UsageError,
    run_contained,
    run_without_faulty,
)
from osbctl.files import read_bounded, write_file
from osbctl.findings import DocumentError, FailOn, Finding, Location, Severity, ValidationResult
from osbctl.reports import WHOLE, Format, Report, TextDetail, relative_path, render
from osbctl.sources.document import Document
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import MAX_BYTES, Limits, check_stdin_used_once, report_name
from osbctl.text import fingerprint, plural
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable_result, validate_document

FailingSeverity = Annotated[
    FailOn | None, Option("--fail-on", help="Exit with 1 at findings of this severity or above.  [default: error]")
]
ReportFormat = Annotated[
    Format | None,
    Option("--format", "-f", help="Format of the report.  [default: text; github inside GitHub Actions]"),
]


def validate(
    sources: common.Sources = None,
    platforms: common.CountedPlatforms = None,
    api_version: common.CheckedVersion = None,
    fail_on: FailingSeverity = None,
    select: Annotated[list[str] | None, Option(metavar="RULE", help="Report only this rule; repeatable.")] = None,
    ignore: common.Ignore = None,
    schemas: Annotated[
        list[str] | None,
        Option("--schema", metavar="FILE", help="Also check against this JSON Schema of yours; repeatable."),
    ] = None,
    format: ReportFormat = None,  # the option's own name
    output: common.Output = None,
    concise: Annotated[bool, Option("--concise", help="Print one line per finding.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print only findings: no verdicts, counts or notes.")] = False,
    baseline: Annotated[str | None, Option(metavar="FILE", help="Report only findings not in this file.")] = None,
    write_baseline: Annotated[bool, Option("--write-baseline", help="Write all findings to --baseline FILE.")] = False,
    together: Annotated[
        bool,
        Option("--together", help="Treat the catalogs as registered on one platform, and report shared ids and names."),
    ] = False,
    catalogs_only: Annotated[
        bool,
        Option("--catalogs-only", help="Skip files without a catalog; of a part of a source folder, check the folder."),
    ] = False,
    exclude: common.Exclude = None,
    stdin_filename: common.StdinFilename = None,
    color: common.ColorChoice = "auto",
    max_bytes: common.MaxBytes = MAX_BYTES,
    *,
    where: common.LocationOptions,
) -> int:
    """Check catalogs against the schema, the specification, good practice and each platform.

    In a folder, all catalogs are checked: files that hold a service offering, source folders and brokerpaks. What git
    ignores is skipped, and so are hidden folders, node_modules, vendor and virtual environments.

    \b
    osbctl validate
    osbctl validate catalog.yaml
    osbctl validate --platform cloudfoundry --fail-on warning services/*.json
    osbctl validate --at /spring/cloud/openservicebroker/catalog application.yml
    osbctl validate --together --platform kubernetes postgres.yaml redis.yaml
    git show HEAD:catalog.json | osbctl validate - --stdin-filename catalog.json
    osbctl validate --concise --quiet services/*.json
    osbctl validate --baseline known.json --write-baseline services/*.json
    osbctl validate --format sarif -o osbctl.sarif catalog.yaml
    """
    if write_baseline and not baseline:
        raise UsageError("--write-baseline needs a file", "add --baseline FILE")
    is_hook = catalogs_only and sources
    sources = select_catalogs(sources or ()) if is_hook else find_named_catalogs(sources, quiet=quiet, exclude=exclude)
    common.check_options_used(sources, env=where.env, stdin_filename=stdin_filename)
    if where.env:
        from osbctl.commands.output_checks import check_output

        check_output(output, [where.env])
    detail = TextDetail(concise=concise, quiet=quiet)
    if detail != WHOLE and format not in (None, Format.TEXT):
        raise UsageError(f"--concise and --quiet are for text, not for --format {format}")
    return validate_and_report(
        Request(
            sources=tuple(sources),
            at=where.at,
            variables_of=variables_lookup(os.environ, where.env, where.config),
            stdin_filename=stdin_filename,
            api_version=api_version,
            platforms=tuple(platforms or ()),
            select=tuple(select or ()),
            ignore=tuple(ignore or ()),
            schemas=tuple(schemas or ()),
            fail_on=fail_on,
            limits=Limits(bytes=max_bytes),
            together=together,
            baseline=baseline,
            write_baseline=write_baseline,
        ),
        Display(format, output, color, detail),
        where.config,
    )


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
        from osbctl.commands.output_checks import check_output

        inputs = (*request.sources, *request.schemas, config)
        check_output(display.output, (*inputs, request.baseline))
        if request.write_baseline:
            check_output(request.baseline, inputs)
    marked = display.effective_format is Format.TEXT
    done = validate_sources(request._replace(fixes=marked), load_config(config) if config else None)
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


def validate_sources(request: Request, config: Config | None = None) -> Validation:
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

    return Baseline(request.baseline)


def _write_baseline(results: tuple[ValidationResult, ...], file: str, notes: list[str]) -> tuple[ValidationResult, ...]:
    """Write the baseline, and a note on it; return the results without the findings in it."""

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
            from osbctl.commands.fix import keep_possible_fixes  # most catalogs do not need it

            found = keep_possible_fixes(result.findings, document, source, request.at, request.variables_of)
            result = result._replace(findings=found)
    return _Validated(result, settings.options, document if request.together else None)


def _is_editable(source: str, document: Document) -> bool:
    """Return whether `osbctl fix` can edit it: a file, a folder or standard input with the catalog at its top."""
    return not (document.embedded or document.read_as) and (source == "-" or os.path.exists(source))  # noqa: PTH110


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
