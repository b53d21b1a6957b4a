"""Work of `osbctl check`: check the answers of a broker, and validate its catalog for each platform."""

from osbctl.client.connection_options import ConnectionOptions, redact_query
from osbctl.conformance.check import check_broker
from osbctl.findings import DocumentError, Finding, Quote, ValidationResult, Verdict
from osbctl.messages import text_of
from osbctl.platforms.verdict import VerdictKind
from osbctl.rule import rule_of
from osbctl.sources.parse import parse_document
from osbctl.sources.read_bytes import Limits
from osbctl.validation.grouping import apply_severities
from osbctl.validation.options import ValidationOptions, select_findings
from osbctl.validation.pipeline import unreadable_result, validate_document


def check_running_broker(address: str, connection: ConnectionOptions, options: ValidationOptions) -> ValidationResult:
    """Check the answers of the broker at `address`, then its catalog, with the verdict of each platform.

    Raises SourceError: the broker cannot be reached, or the credentials are wrong.
    """
    checked = check_broker(address, connection, options.judged)
    name = redact_query(address)
    main = _validate_catalog(name, checked.catalog, options, Limits(bytes=connection.max_bytes))
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
    return ValidationResult(name, tuple(findings), verdicts, left_out, user_rules=options.user_rules)


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
