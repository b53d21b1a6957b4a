"""Asks a live broker what platforms and the public conformance checkers ask, and what they leave out.

About fifteen requests, one after the other, each bounded in time and size. Two of them try wrong logins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from osbctl.conformance import probes
from osbctl.conformance.certificate import SOON_DAYS, days_left
from osbctl.conformance.exchange import Exchange
from osbctl.conformance.faults import fault
from osbctl.conformance.rules import EVERY
from osbctl.errors import SourceError
from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.sources.broker import check_access, description

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.conformance.exchange import Reply
    from osbctl.findings import Finding
    from osbctl.sources.broker import Access

MOST_SILENT = 2
"""After so many requests without a whole answer no more are sent."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: from when on the catalog is called slow, when Service Manager gives up, and the bound of each probe."""

    slow: float = 5.0
    service_manager: float = 15.0
    probe: float = 15.0


USUAL = Patience()


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, and the catalog as it came (None where none did)."""

    findings: tuple[Finding, ...]
    catalog: bytes | None


def check_broker(address: str, access: Access, patience: Patience = USUAL) -> Checked:
    """Check the broker whose catalog is at `address` (as `split_url` gives it).

    Raises:
        SourceError: nobody is there, or the credentials are wrong: then there is nothing to check.
    """
    check_access(address, access)
    exchange = Exchange(address, access)
    findings = list(_transport(exchange))
    reply = exchange.ask("", changes={"X-Broker-API-Request-Identity": probes.IDENTITY})
    if 300 <= reply.status < 400:
        findings.append(_redirect(address, reply))
        target = _target(address, reply)
        if target is None:  # credentials are sent to no other place
            return Checked(_hidden(findings, access), None)
        exchange = Exchange(target, access)
        reply = exchange.ask("", changes={"X-Broker-API-Request-Identity": probes.IDENTITY})
    if reply.status == 401:
        told = f"{address}: authentication failed (401){access.hide(description(reply.body))}"
        raise SourceError(told, "the user or the password is wrong, so nothing can be checked")
    if reply.status == 0:
        return Checked(_hidden([*findings, _silence(address, reply)], access), None)
    findings += probes.of_catalog(reply, access.api_version, patience.slow, patience.service_manager)
    findings += probes.of_errors([reply])
    findings += _probed(exchange, reply, patience)
    usable = reply.status == 200 and not reply.fault and isinstance(reply.json, dict)
    return Checked(_hidden(findings, access), reply.body if usable else None)


def _hidden(findings: list[Finding], access: Access) -> tuple[Finding, ...]:
    """The findings without the password, should the broker have sent it back."""
    return tuple(replace(finding, message=access.hide(finding.message)) for finding in findings)


def _transport(exchange: Exchange) -> Iterator[Finding]:
    if not exchange.secure:
        yield fault("wire-plain-http", f"{exchange.address} is plain HTTP", hint="serve it over HTTPS")
        return
    days = days_left(exchange)
    if days is not None and days < SOON_DAYS:
        yield fault("wire-certificate-ends", f"the certificate ends in {max(days, 0):.0f} days", hint="renew it")


def _silence(address: str, reply: Reply) -> Finding:
    """No answer to the good request: a finding where somebody is there.

    Raises:
        SourceError: nobody is.
    """
    if reply.fault.startswith("TLS failed"):
        return fault("wire-certificate", reply.fault, hint="--ca-file names the authority of a private certificate")
    if reply.fault in ("there is no such host", "the connection was refused", "nobody answered in time"):
        raise SourceError(f"{address}: {reply.fault}", "is the broker running there?")
    return fault("wire-no-answer", f"{reply.told}: {reply.fault}")


def _redirect(address: str, reply: Reply) -> Finding:
    elsewhere = _target(address, reply) is None
    refused = EVERY if elsewhere else (Platform.CLOUD_FOUNDRY,) if reply.status == 308 else ()
    return fault(
        "wire-redirect",
        f"{reply.told}: redirected ({reply.status}){' to another host, or to no address' if elsewhere else ''}",
        severity=Severity.ERROR if refused else None,
        refused_by=refused,
        hint="register the broker under the address where it answers",
    )


def _target(address: str, reply: Reply) -> str | None:
    """Where a redirect leads; None where that is another place than `address`, or none."""
    try:
        target = urljoin(address, reply.headers.get("location", ""))
        return target if urlsplit(target)[:2] == urlsplit(address)[:2] else None
    except ValueError:
        return None


def _probed(exchange: Exchange, reply: Reply, patience: Patience) -> Iterator[Finding]:
    silent = 0
    for probe in probes.PROBES:
        visit = probes.Visit(exchange, reply, patience.probe)
        found = list(probe(visit))
        missing = [one for one in visit.asked if not one.status]
        yield from (fault("wire-no-answer", f"{one.told}: {one.fault}", refused_by=()) for one in missing)
        yield from (() if missing else found)
        yield from probes.of_errors(one for one in visit.asked if not visit.is_stuck(one))
        silent += sum(1 for one in visit.asked if one.fault)
        if silent >= MOST_SILENT:
            return
