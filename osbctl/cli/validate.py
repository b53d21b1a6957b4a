"""The options of `osbctl validate`."""

import os
from typing import Annotated

from typer import Option

from osbctl.cli import common
from osbctl.cli.searched import find_named_catalogs, select_catalogs
from osbctl.cli.validation_report import Display, validate_and_report
from osbctl.errors import UsageError
from osbctl.findings import FailOn
from osbctl.reports import WHOLE, Format, TextDetail
from osbctl.sources.read_bytes import MAX_BYTES, Limits
from osbctl.tasks.options import Request, variables_lookup

FailingSeverity = Annotated[
    FailOn | None, Option("--fail-on", help="Exit with 1 at findings of this severity or above.  [default: error]")
]
ReportFormat = Annotated[
    Format | None,
    Option("--format", "-f", help="Format of the report.  [default: text; github inside GitHub Actions]"),
]


@common.expand_option_groups
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
        from osbctl.tasks.output_checks import check_output

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
