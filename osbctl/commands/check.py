"""`osbctl check` and `osbctl fetch`: check a running broker, and fetch its catalog."""

from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from osbctl.client.connection_options import ConnectionOptions, redact_query
from osbctl.commands import options as common
from osbctl.commands.connection import BrokerConnection
from osbctl.commands.options import Argument, Option
from osbctl.commands.output import CATALOG, check_output, print_note, write_output
from osbctl.commands.settings import ValidationSettings, effective_fail_on, first_config, validation_options
from osbctl.commands.validate import write_report
from osbctl.errors import SourceError
from osbctl.findings import DocumentError, Finding, Quote, ValidationResult, Verdict
from osbctl.messages import text_of
from osbctl.platforms import ApiVersion
from osbctl.platforms.verdict import VerdictKind
from osbctl.rule import Category, rule_of
from osbctl.sources.document import parse_document
from osbctl.sources.read_bytes import Limits
from osbctl.text import escape_text
from osbctl.validation.options import ValidationOptions, select_findings
from osbctl.validation.pipeline import apply_severities, unreadable_result, validate_document

if TYPE_CHECKING:
    from osbctl.conformance.check import CheckResult

_Broker = Annotated[
    str,
    Argument(
        "BROKER", "Its base address, that of its catalog, or the name of a registered broker.", complete="brokers"
    ),
]


def check(
    url: _Broker,
    platforms: common.CountedPlatforms = (),
    fail_on: common.FailingSeverity = None,
    ignore: common.Ignore = (),
    format: common.ReportFormat = None,
    output: common.Output = None,
    color: common.ColorChoice = "auto",
    config: common.Config = None,
    *,
    connection: BrokerConnection,
) -> int:
    """Check a running broker: its answers, its catalog, and which platforms could register it.

    Sends about a dozen requests, one after the other: with and without version and credentials, compressed, with a
    doubled slash. The last ones use wrong credentials. The password is found as by osbctl fetch. A registered broker is
    judged as its platform does, unless --platform names another.

    \b
    osbctl check https://broker.example.com --user platform
    osbctl check data
    osbctl check https://broker.example.com --fail-on warning -f junit -o a.xml
    """
    check_output(output, (config, *connection.files))
    registered = connection.find_registration(url)
    settings = ValidationSettings(
        api_version=ApiVersion(registered.api_version) if registered else connection.api_version,
        platforms=platforms or ((registered.platform,) if registered else ()),
        ignore=ignore,
        fail_on=fail_on,
        format=format,
        output=output,
        color=color,
        of_broker=True,
    )
    configured = first_config((), config)
    options, severity = validation_options(settings, configured), effective_fail_on(settings, configured)
    connection = connection.with_configured_version(configured)
    result, checked = check_running_broker(*connection.connect(url, registered), options)
    code = write_report([result._replace(fail_on=severity)], settings)
    _print_tested(result, checked)
    stops = [finding.message for finding in checked.findings if rule_of(finding).stops_check]
    if stops and result.left_out:  # which may be that finding
        print_note(f"the check is not complete: {stops[0]}")
    return SourceError.exit_code if stops else code


def _print_tested(result: ValidationResult, checked: "CheckResult") -> None:
    """Print what was tested, if nothing is wrong with it."""
    if not result.left_out and not any(rule_of(finding).category is Category.WIRE for finding in result.findings):
        for line in wrap("tested and well: " + "; ".join(checked.tested), 100):
            print_note(line)


def fetch(
    url: _Broker,
    output: Annotated[str | None, Option("Write the catalog to FILE.", "--output", "-o", metavar="FILE")] = None,
    config: common.Config = None,
    *,
    connection: BrokerConnection,
) -> int:
    """Fetch the catalog of a running broker, as a platform does.

    The password comes from the URL, OSBCTL_PASSWORD, standard input or a prompt, never from an option. It is sent to no
    other host. That of a registered broker is found as by osbctl brokers add.

    \b
    osbctl fetch https://broker.example.com --user platform -o catalog.json
    osbctl fetch data -o catalog.json
    osbctl fetch https://broker.example.com --user platform | osbctl validate -
    """
    from osbctl.client.catalog_client import fetch_catalog, not_a_catalog_error, parse_json_body

    check_output(output, (config, *connection.files), replaces=CATALOG)
    registered = connection.find_registration(url)
    connection = connection.with_configured_version(first_config((), config))
    answer = fetch_catalog(*connection.connect(url, registered))
    if why := parse_json_body(answer.body)[1]:
        raise not_a_catalog_error(answer.name, why)
    text = answer.body.decode().rstrip("\n") + "\n"
    write_output(escape_text(text, pairs=True) if output in (None, "-") else text, output)
    return 0


def check_running_broker(
    address: str, connection: ConnectionOptions, options: ValidationOptions
) -> "tuple[ValidationResult, CheckResult]":
    """Check the answers of the broker at `address`, then its catalog, with the verdict of each platform.

    The second result holds all findings about the answers, also those that the options ignore.

    Raises SourceError: the broker cannot be reached, or the credentials are wrong.
    """
    from osbctl.conformance.check import check_broker  # what it loads, completion in a shell need not wait for

    checked = check_broker(address, connection, options.judged)
    name = redact_query(address)
    main = _validate_catalog(name, checked.catalog, options, Limits.of_option(connection.max_bytes))
    # An error may quote any piece of what cannot be read.
    unreadable = main.data is None
    if checked.catalog and (unreadable or connection.holds_password(checked.catalog.decode("utf-8", "replace"))):
        main = _redact_password(main, connection)
    wire = apply_severities(select_findings(checked.findings, {}, options), options)
    findings, left_out = [*wire, *main.findings], main.left_out + len(checked.findings) - len(wire)
    verdicts = dict(main.verdicts)
    for platform, verdict in verdicts.items():
        # The platform would stop at these before it looks at the catalog.
        stopped = sum(platform in finding.refused_by for finding in checked.findings)
        if stopped and verdict.kind is not VerdictKind.CRASHES:
            verdicts[platform] = Verdict(VerdictKind.REFUSES, verdict.messages, verdict.reasons + stopped)
        elif not stopped and checked.catalog is None:
            verdicts[platform] = Verdict(VerdictKind.UNCLEAR, why="osbctl could not read the catalog")
    return ValidationResult(name, tuple(findings), verdicts, left_out, user_rules=options.user_rules), checked


def _redact_password(result: ValidationResult, connection: ConnectionOptions) -> ValidationResult:
    """The result for a catalog that contains the password, which its findings and verdicts may quote."""
    redact = connection.redact_credentials

    def redact_finding(finding: Finding) -> Finding:
        return finding._replace(
            sentence=redact(finding.message),
            hint=redact(finding.advice),
            path=tuple(redact(step) if isinstance(step, str) else step for step in finding.path),
            members=tuple(map(redact_finding, finding.members)),
            quotes=tuple(Quote(quote.platform, redact(text_of(quote.sentence))) for quote in finding.quotes),
        )

    verdicts = {
        platform: verdict._replace(messages=tuple(map(redact, verdict.messages)), why=redact(verdict.why))
        for platform, verdict in result.verdicts.items()
    }
    return result._replace(findings=tuple(map(redact_finding, result.findings)), verdicts=verdicts)


def _validate_catalog(name: str, body: bytes | None, options: ValidationOptions, limits: Limits) -> ValidationResult:
    """Validate a broker's catalog; `body` is None if there was no answer to validate."""
    if body is None:
        return unreadable_result(name, (), options.judged)
    try:
        judgement = validate_document(parse_document(body, name, limits=limits), options._replace(literal=True))
    except DocumentError as error:
        judgement = unreadable_result(name, error.findings, options.judged)
    findings = []
    for finding in judgement.findings:
        if not rule_of(finding).skips_brokers:
            # Without the text of its line: brokers send the whole catalog, with its secrets, on one line.
            location = finding.location
            findings.append(finding._replace(location=location._replace(excerpt="") if location else None))
    return judgement._replace(findings=tuple(findings))
