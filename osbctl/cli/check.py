"""`osbctl check`: a live broker against the contract of its catalog endpoint."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from osbctl.cli import fetch as as_fetch
from osbctl.cli import options as common
from osbctl.cli.connection import Connection
from osbctl.cli.validation_run import (
    LazyRules,
    Request,
    effective_fail_on,
    put_report,
    validation_options,
    wants_color,
)
from osbctl.platforms import ApiVersion, Platform
from osbctl.reports import FailOn, Format, Report

if TYPE_CHECKING:
    from osbctl.conformance.check import Checked
    from osbctl.findings import Finding, Judgement, Verdict
    from osbctl.validation.options import ValidationOptions


def check(
    url: Annotated[str, typer.Argument(metavar="URL", help="The broker's base address, or that of its catalog.")],
    user: as_fetch.User = None,
    password_stdin: as_fetch.PasswordStdin = False,
    platforms: Annotated[
        list[Platform] | None,
        typer.Option("--platform", "-p", help="Count what this platform refuses as an error; repeatable."),
    ] = None,
    api_version: Annotated[ApiVersion, typer.Option(help="The version to ask for, and to check against.")] = (
        ApiVersion.V2_14
    ),
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="Exit with 1 from this severity on.  [default: error]")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULE", help="Do not report this rule; repeatable.")
    ] = None,
    format: Annotated[  # the option's own name
        Format | None,
        typer.Option("--format", "-f", help="The report's format.  [default: text; github inside GitHub Actions]"),
    ] = None,
    output: common.Output = None,
    color: common.ColorChoice = common.Color.AUTO,
    ca_file: as_fetch.CaFile = None,
    client_cert: as_fetch.ClientCert = None,
    insecure: as_fetch.Insecure = False,
    timeout: as_fetch.Timeout = 60.0,
    max_bytes: common.MaxBytes = common.LIMITS.bytes,
) -> int:
    """Check a running broker: how it answers, then the catalog that it gives, then who could register it.

    It is asked fewer than twenty times, one request after the other: with and without version and credentials, packed,
    by its tag, at other paths. Two of them try wrong logins, at the end. The password comes as with osbctl fetch.

    \b
    osbctl check https://broker.example.com --user platform
    osbctl check https://broker.example.com --user platform --fail-on warning --format junit -o check.xml
    """
    from osbctl.config import find_config
    from osbctl.conformance.check import check_broker
    from osbctl.sources.broker import split_url

    address, named, password = split_url(url)
    version = api_version.value
    connection = Connection(user, password_stdin, version, ca_file, client_cert, insecure, timeout, max_bytes)
    request = Request(
        sources=(address,),
        api_version=api_version,
        platforms=tuple(platforms or ()),
        ignore=tuple(ignore or ()),
        fail_on=fail_on,
        format=format,
        output=output,
        color=color.value,
    )
    config = find_config(os.curdir)
    options, severity = validation_options(request, config), effective_fail_on(request, config)
    checked = check_broker(address, connection.access(user or named, password))
    judgement = _judgement(address, checked, options)
    root, paint = os.getcwd(), wants_color(request)  # noqa: PTH109
    report = Report([judgement], LazyRules(), severity, root, paint)
    put_report(report, request)
    return int(report.failed)


_FOR_FILES = "dashboard-secret-literal"
"""A file should not hold the secret; what a broker sends must."""


def _judgement(address: str, checked: Checked, options: ValidationOptions) -> Judgement:
    """What is wrong with the wire, then with the catalog, and what each platform makes of both."""
    from osbctl.validation.judge import unreadable
    from osbctl.validation.selection import Selection

    wire = Selection(options).of(checked.findings, {})
    catalog = unreadable(address, ()) if checked.catalog is None else _catalog(address, checked.catalog, options)
    verdicts = {one: _verdict(one, verdict, checked.findings) for one, verdict in catalog.verdicts.items()}
    left_out = catalog.left_out + len(checked.findings) - len(wire)
    return replace(catalog, findings=(*wire, *catalog.findings), verdicts=verdicts, left_out=left_out)


def _catalog(address: str, body: bytes, options: ValidationOptions) -> Judgement:
    from osbctl.errors import DocumentError
    from osbctl.sources.read import parse_document
    from osbctl.validation.judge import judge, unreadable

    try:
        judgement = judge(parse_document(body, address), options)
    except DocumentError as error:
        judgement = unreadable(address, error.findings)
    return replace(judgement, findings=tuple(_bare(f) for f in judgement.findings if f.rule != _FOR_FILES))


def _bare(finding: Finding) -> Finding:
    """Without the text of the line: brokers send the whole catalog on one, and what is secret in it."""
    place = finding.location
    return replace(finding, location=replace(place, excerpt="") if place else None)


def _verdict(platform: Platform, verdict: Verdict, findings: tuple[Finding, ...]) -> Verdict:
    """The verdict on the catalog, unless the platform would not even get that far."""
    from osbctl.findings import Verdict
    from osbctl.platforms.outcome import VerdictKind

    stopped = [finding for finding in findings if platform in finding.refused_by]
    if not stopped or verdict.kind is VerdictKind.CRASHES:
        return verdict
    return Verdict(VerdictKind.REFUSES, verdict.messages, verdict.reasons + len(stopped))
