"""`osbctl validate`: check catalogs, and report the findings; also with a baseline of known ones.

A baseline is a file of known findings, so that only new ones are reported. Each is known by its fingerprint, the hash
of its identity, which does not depend on lines, indexes and wording; one for several places has one for each.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from osbctl.commands.options import check_options_used, find_named_catalogs, select_catalogs
from osbctl.commands.output import (
    check_output,
    is_github_log,
    print_failure_count,
    print_note,
    report_style,
    write_output,
)
from osbctl.commands.settings import (
    ValidationSettings,
    all_rules,
    effective_fail_on,
    resolve_config,
    validation_options,
    variables_lookup,
)
from osbctl.config import Config, load_config
from osbctl.errors import ConfigError, OsbctlError, SourceError, UsageError, run_contained, run_without_faulty
from osbctl.files import read_bounded, write_file
from osbctl.findings import DocumentError, ValidationResult, error_findings
from osbctl.reports import Format, Report, render
from osbctl.sources.document import Document
from osbctl.sources.read import VariablesOf, read_source
from osbctl.sources.read_bytes import Limits, check_stdin_used_once, report_name
from osbctl.text import fingerprint, plural
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable_result, validate_document


def validate(settings: ValidationSettings) -> int:
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
    _check_options(settings)
    where, quiet = settings.where, settings.quiet
    sources: Sequence[str] = settings.sources
    if settings.catalogs_only and sources:
        sources = select_catalogs(sources, settings.exclude)
    if sources or not settings.sources:
        sources = find_named_catalogs(sources, quiet=quiet, exclude=settings.exclude)
    settings = settings._replace(sources=tuple(sources))
    check_options_used(sources, env=where.env, stdin_filename=settings.stdin_filename)
    inputs = (*sources, *settings.schemas, where.config, where.env)
    check_output(settings.output, (*inputs, settings.baseline))
    if settings.write_baseline:
        check_output(settings.baseline, inputs)
    config = load_config(where.config) if where.config else None
    variables = variables_lookup(where.env, where.config)
    done = validate_sources(settings, config, variables, fixes=_report_format(settings) is Format.TEXT)
    code = write_report(done.results, settings)
    if not quiet:
        print_note(*done.notes)
        print_failure_count(done.failed, len(done.results), "sources could not be checked")
    return SourceError.exit_code if done.failed else code


def _check_options(settings: ValidationSettings) -> None:
    """Raise UsageError for options that make no sense together."""
    _check_baseline(settings)
    if (settings.concise or settings.quiet) and settings.format not in (None, Format.TEXT):
        raise UsageError(f"--concise and --quiet are for text, not for --format {settings.format}")


def _check_baseline(settings: ValidationSettings) -> None:
    if settings.baseline == "-":
        raise UsageError("--baseline names a file, and - is none", "write ./- for a file of that name")
    if settings.write_baseline and not settings.baseline:
        raise UsageError("--write-baseline needs a file", "add --baseline FILE")
    files = [os.path.realpath(file) for file in (settings.baseline, settings.output) if file]
    if settings.write_baseline and len(set(files)) < len(files):
        raise UsageError(f"{settings.output} is the file of the baseline, too", "name another file for the report")


def _report_format(settings: ValidationSettings) -> Format:
    """The chosen format; by default text, or annotations inside GitHub Actions."""
    annotated = is_github_log(settings.output) and not (settings.concise or settings.quiet)
    return settings.format or (Format.GITHUB if annotated else Format.TEXT)


def write_report(results: Sequence[ValidationResult], settings: ValidationSettings) -> int:
    """Write the report; 3 if a result could not be reported, 1 if a finding makes the run fail, else 0."""
    style = report_style(settings.output, settings.color)
    report = Report(results, all_rules, concise=settings.concise, quiet=settings.quiet, **style)

    def render_results(some: Sequence[ValidationResult]) -> str:
        return render(report._replace(results=some), _report_format(settings))

    text, faulty = run_without_faulty(render_results, results)
    if faulty:
        errors = {
            id(result): unreadable_result(result.name, error_findings(error, result.name), [*result.verdicts])
            for result, error in faulty
        }
        text = render_results([errors.get(id(result), result) for result in results])
    write_output(text, settings.output)
    return SourceError.exit_code if faulty else int(report.failed)


class Validation(NamedTuple):
    """Result of each source, with the severity from which it fails.

    `failed` is the number of sources that could not be opened or checked. `notes` are sentences on catalogs that are
    not at the top of their source, and on the baseline.
    """

    results: tuple[ValidationResult, ...]
    notes: tuple[str, ...] = ()
    failed: int = 0


class _Validated(NamedTuple):
    """A source with its result; `document` is kept only for `--together`."""

    result: ValidationResult
    options: ValidationOptions = ValidationOptions()
    document: Document | None = None
    failed: bool = False


def validate_sources(
    settings: ValidationSettings,
    config: Config | None = None,
    variables_of: VariablesOf | None = None,
    *,
    fixes: bool = False,
) -> Validation:
    """Validate every source of the settings, by `config`, or by the configuration that is closest to it.

    `variables_of` finds the variables of a brokerpak's broker. `fixes`: find the fixes of all findings, which may need
    a comparison of schemas.

    Raises UsageError, ConfigError: standard input is named twice; a rule or a platform is not known; a user schema or
    the baseline cannot be read.
    """
    check_stdin_used_once(settings.sources)
    run = _Run(settings, config, variables_of, fixes)
    validated = list(map(run.validate_contained, settings.sources))
    if settings.together:
        validated = _add_cross_catalog_findings(validated)
    results = tuple(one.result for one in validated)
    notes = [result.read_as for result in results if result.read_as]
    if settings.baseline and settings.write_baseline:
        count = write_baseline(settings.baseline, results)
        notes.append(f"wrote {settings.baseline} ({plural(count, 'finding')})")
        results = tuple(
            one if one.data is None else one._replace(findings=(), left_out=one.left_out + len(one.findings))
            for one in results
        )
    # A finding that was not looked for may still be there.
    if run.baseline and not (settings.select or settings.ignore) and (gone := run.baseline.describe_outdated(results)):
        notes.append(gone)
    return Validation(results, tuple(notes), sum(one.failed for one in validated))


class _Run:
    """What holds for all sources of a run of `validate_sources`, whose arguments it gets."""

    def __init__(
        self, settings: ValidationSettings, config: Config | None, variables_of: VariablesOf | None, fixes: bool
    ) -> None:
        self._settings, self._config, self._variables_of, self._fixes = settings, config, variables_of, fixes
        self.baseline = Baseline(settings.baseline) if settings.baseline and not settings.write_baseline else None
        self._resolved: list[tuple[Config, ValidationOptions]] = []

    def validate_contained(self, source: str) -> _Validated:
        """The result of a source; an error of its own is its finding. Raises UsageError, ConfigError."""
        resolved = run_contained(self._resolve, source)
        if isinstance(resolved, OsbctlError):
            return _failed(self._name(source), resolved, ValidationOptions())
        config, options = resolved
        fail_on = effective_fail_on(self._settings, config)
        done = run_contained(self._validate, source, options)
        if isinstance(done, OsbctlError):
            done = _failed(self._name(source), done, options)
        return done._replace(result=done.result._replace(fail_on=fail_on))

    def _name(self, source: str) -> str:
        return report_name(source, self._settings.stdin_filename)

    def _resolve(self, source: str) -> tuple[Config, ValidationOptions]:
        """Configuration and options of a source, made once for all sources with the same configuration."""
        config = resolve_config(source, self._settings.stdin_filename, self._config)
        for resolved in self._resolved:
            if resolved[0] == config:
                return resolved
        self._resolved.append((config, validation_options(self._settings, config)))
        return self._resolved[-1]

    def _validate(self, source: str, options: ValidationOptions) -> _Validated:
        settings = self._settings
        document = read_source(
            source,
            limits=Limits.of_option(settings.max_bytes),
            at=settings.where.at,
            stdin_filename=settings.stdin_filename,
            variables_of=self._variables_of,
        )
        if self.baseline:
            options = options._replace(known=self.baseline.known_in(document.name))
        result = validate_document(document, options)
        if result.findings and self._fixes and _is_editable(source, document):
            result = result._replace(editable=True)
            if any(finding.fixes or finding.path[-1:] == ("$schema",) for finding in result.findings):
                from osbctl.commands.fix import keep_possible_fixes  # most catalogs do not need it

                found = keep_possible_fixes(result.findings, document, source, settings.where.at, self._variables_of)
                result = result._replace(findings=found)
        return _Validated(result, options, document if settings.together else None)


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
    """The result of a source that could not be opened, read or checked. Raises an error of usage or configuration."""
    if isinstance(error, UsageError | ConfigError):
        raise error
    findings = tuple(finding.of_platforms(options.judged) for finding in error_findings(error, name))
    result = unreadable_result(name, findings, options.judged)
    # The findings of a document tell all, and decide about the run.
    return _Validated(result, options, failed=not isinstance(error, DocumentError))


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
            "fingerprints": [fingerprint(one.identity) for one in finding.members or (finding,)],
        }
        for result in results
        if result.data is not None
        for finding in result.findings
    ]
    text = json.dumps({"version": VERSION, "findings": entries}, indent=2, ensure_ascii=False)
    write_file(file, f"{text}\n".encode("utf-8", "replace"))
    return len(entries)


class Baseline:
    """The baseline in `file`. Raises ConfigError: it cannot be read, or is no baseline of this version."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._known: dict[str, set[str]] = defaultdict(set)
        for entry in _read_entries(file):
            # Earlier versions wrote a path from the root for a file that is not below the folder of the baseline.
            source = _relative_source(file, os.path.join(os.path.dirname(file), entry["source"]))  # noqa: PTH118, PTH120
            self._known[source].update(entry["fingerprints"])

    def known_in(self, source: str) -> frozenset[str]:
        """The fingerprints of the known findings of a source."""
        return frozenset(self._known.get(_relative_source(self.file, source), ()))

    def describe_outdated(self, results: Sequence[ValidationResult]) -> str:
        """A sentence if some of the findings are gone from the sources that were read, else empty."""
        gone = sum(len(self.known_in(one.name) - one.known) for one in results if one.data is not None)
        return f"{self.file}: {gone} of its findings are gone: update it with --write-baseline" if gone else ""


def _relative_source(file: str, source: str) -> str:
    """The path of a source from the folder of the baseline `file`, in whatever folder and clone osbctl runs."""
    try:
        return os.path.relpath(source, os.path.dirname(file) or os.curdir).replace(os.sep, "/")  # noqa: PTH120
    except ValueError:  # it is on another drive of Windows
        return source


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
