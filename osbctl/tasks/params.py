"""Work of `osbctl params`: parameters of a plan with examples, and checks of a request."""

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from osbctl.catalog import ServicePlan
from osbctl.errors import UsageError
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.parameter_table import parameters
from osbctl.paths import get_at
from osbctl.platforms import Platform
from osbctl.platforms.tools import PARAMETERS_FILE, Order, Purpose
from osbctl.redaction import redact
from osbctl.requests.commands import build_commands
from osbctl.requests.parameters import generate_examples, request_errors
from osbctl.requests.report import PlanParameters
from osbctl.sources.document import Document
from osbctl.sources.parse import not_object_finding, parse_document
from osbctl.sources.read import read_object
from osbctl.sources.read_bytes import STDIN
from osbctl.tasks.options import find_by_name_or_id

INLINE = "-c"
"""Source name of a request on the command line."""


def plan_parameters(
    document: Document,
    service: str,
    plan: str,
    purpose: Purpose,
    request: str | None = None,
    broker: str = "",
    previous: str | None = None,
    platforms: Collection[Platform] = tuple(Platform),
) -> PlanParameters:
    """The parameters of `plan` of `service` in the catalog of `document`.

    `request` is JSON, `@FILE` for a file that holds it, or `@-` for standard input; so are the parameters that were
    sent in `previous` requests, which the broker of a brokerpak adds to an update. Commands that send it are those of
    `platforms`.

    Raises UsageError (there is no such service offering or plan, or `previous` without an update), SourceError (the
    file cannot be opened, or the schema cannot be applied), DocumentError (the request, or what should hold the schema,
    is no JSON object).
    """
    offering = find_by_name_or_id(document.catalog.services, service, "there is no service")
    found = find_by_name_or_id(offering.plans, plan, f"service {offering.name!r} has no plan")
    _check_described(document, found, purpose)
    schema = found.parameters.get(purpose.schema_location)
    rules = document.requests.get((found.path, "bind" if purpose is Purpose.BIND else "create"))
    if found.judged and not rules:
        schema = get_at(found.judged, (*purpose.schema_location.split("."), "parameters"))
    described = tuple(other for other in Purpose if other.schema_location in found.parameters)
    rows = tuple(parameters(schema)) if schema is not None else ()
    about = PlanParameters(service, plan, purpose, schema, rows, described)
    if rules:
        from osbctl.requests.parameters import describe_inputs, generate_broker_examples, judge_request

        update = purpose is Purpose.UPDATE
        rows = tuple(describe_inputs(rules, update=update))
        about = replace(about, schema=rules.schema, parameters=rows, is_brokerpak=True)
    if previous is not None and (request is None or purpose is not Purpose.UPDATE):
        raise UsageError("--previous is for a request to update an instance", "add --for update and -c")
    if request is None:
        if rules:
            return replace(about, examples=generate_broker_examples(rules, update=update))
        return replace(about, examples=None if schema is None else generate_examples(schema))
    sent = _read_request(request)
    sent_before = None if previous is None else _read_request(previous).data
    wrong: list[Finding] = []
    if rules:
        wrong = judge_request(rules, sent.data, update=update, previous=sent_before)
    if schema is not None and all(one.path for one in wrong):  # else the schema may be what the broker cannot apply
        known = {(one.rule, one.path) for one in wrong}
        wrong += [one for one in request_errors(schema, sent.data) if (one.rule, one.path) not in known]
    if wrong:
        return replace(about, faults=_locate_findings(wrong, sent))
    shown = redact(sent.data)
    file, content = sent.name, ""
    if file in (INLINE, STDIN):
        file, content = PARAMETERS_FILE, json.dumps(shown, indent=2, ensure_ascii=False) + "\n"
    order = Order(service, plan, broker, shown, file, content)
    return replace(
        about, faults=(), commands=tuple(build_commands(order, purpose, platforms)), masked=shown != sent.data
    )


def _check_described(document: Document, plan: ServicePlan, purpose: Purpose) -> None:
    """Raise DocumentError if something else than an object stands where the parameter schema of a plan should be."""
    value: Any = plan.data
    path = plan.path
    for step in ("schemas", *purpose.schema_location.split("."), "parameters"):
        value, path = value.get(step), (*path, step)
        if value is None:
            return
        if not isinstance(value, dict):
            finding = not_object_finding(document, value, path)
            raise DocumentError((finding._replace(hint="a parameter schema is an object; {} accepts anything"),))


def _read_request(text: str) -> Document:
    """Parse a request: JSON, `@FILE` for a file that holds it, or `@-` for standard input."""
    try:
        in_file = text.startswith("@")
        sent = read_object(text[1:]) if in_file else parse_document(text.encode(), INLINE)
    except DocumentError as error:
        hint = "parameters are a JSON object"
        findings = (f._replace(hint=hint) if f.rule == "not-an-object" else f for f in error.findings)
        raise DocumentError(tuple(findings)) from None
    if sent.syntax != "json":
        message = "a request is JSON; platforms do not read YAML here"
        raise DocumentError((Finding("syntax", Severity.ERROR, message, (), Location(sent.name, 1, 1)),))
    return sent


def _locate_findings(findings: list[Finding], sent: Document) -> tuple[Finding, ...]:
    locations = sent.locate({finding.path for finding in findings})
    findings.sort(key=lambda finding: (locations[finding.path].line, locations[finding.path].column))
    return tuple(finding._replace(location=locations[finding.path]) for finding in findings)
