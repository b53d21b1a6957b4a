"""Asks a live broker what platforms and the public conformance checkers ask, and what they leave out.

About twenty requests, one after the other, each bounded in time and size. Two of them try wrong logins.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from osbctl.client.catalog_client import (
    MAX_REDIRECTS,
    error_description,
    is_same_origin,
    origin,
    redirect_target,
    wrong_credentials,
)
from osbctl.client.connection_options import ConnectionOptions, check_options
from osbctl.client.http_client import Failure, NoResponseError
from osbctl.conformance import probes
from osbctl.conformance.exchange import Exchange, Fault, Reply, fault, findings_of
from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform

_SOON_DAYS = 14
MOST_SILENT = 2
"""After so many requests without a whole answer no more are sent."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds: from when on the catalog is called slow, when each platform gives up, and the bound of each probe."""

    slow: float = 5.0
    gives_up: Mapping[Platform, float] = field(default_factory=lambda: {one: one.record.timeout for one in Platform})
    probe: float = 15.0


USUAL = Deadlines()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Findings, and the catalog as received (None without one).

    `own` holds what came at API versions that platforms send, as far as it is another answer than the first: a
    catalog, or None where none came.
    """

    findings: tuple[Finding, ...]
    catalog: bytes | None
    own: Mapping[str, bytes | None] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    """Checks skipped because the broker limits requests."""


def check_broker(address: str, options: ConnectionOptions, patience: Deadlines = USUAL) -> CheckResult:
    """Check the broker whose catalog is at `address` (as `split_url` gives it).

    Raises SourceError: the broker cannot be reached, or the credentials are wrong.
    """
    check_options(address, options)
    faults: list[Fault] = []
    exchange, first = _ask_catalog(Exchange(address, options), faults)
    if first is None:
        return CheckResult(tuple(findings_of(faults)), None)
    if first.status == 401:
        text = f"{exchange.name}: authentication failed (401){error_description(first.body, options)}"
        raise SourceError(text, wrong_credentials(options))
    if first.silence:
        faults.append(_silence(exchange.name, first, first.silence))
        return CheckResult(tuple(findings_of(faults)), None)
    answers = {options.api_version: first}
    probed, unchecked = _probe(exchange, first, patience, answers)
    if any(one.rule == "wire-unstable" for one in probed):  # then every answer is another
        probed = [one for one in probed if one.rule != "wire-version-differs"]
    faults += [*probes.of_catalog(first, patience.slow, patience.gives_up, answers), *probes.of_error(first), *probed]
    own = {version: _catalog(reply) for version, reply in answers.items() if reply.json != first.json}
    return CheckResult(tuple(findings_of(faults)), _catalog(first), own, unchecked)


def _catalog(reply: Reply) -> bytes | None:
    return reply.body if reply.status == 200 and not reply.fault and not reply.why_no_catalog else None


def _ask_catalog(exchange: Exchange, faults: list[Fault]) -> tuple[Exchange, Reply | None]:
    """The reply to the good request, behind redirects, and whom to ask from now on; None where a redirect leads away.

    What is wrong with the way there is added to `faults`.
    """
    for hop in range(MAX_REDIRECTS + 1):
        reply = exchange.ask(changes={"X-Broker-API-Request-Identity": probes.IDENTITY})
        if not hop:
            faults += _transport(exchange, reply)
        location = redirect_target(reply.status, reply.headers.get("location"))
        if not location:
            return exchange, reply
        target = _target(exchange.address, location)
        faults.append(_redirect(exchange.address, target, reply))
        if not is_same_origin(exchange.address, target):  # credentials are sent to no other place
            return exchange, None
        exchange = Exchange(target, exchange.options)
    faults.append(fault("wire-status", f"more than {MAX_REDIRECTS} redirects", reply))
    return exchange, None


def _transport(exchange: Exchange, reply: Reply) -> Iterator[Fault]:
    if not exchange.secure:
        yield fault("wire-plain-http", f"{exchange.name} is plain HTTP", hint="serve it over HTTPS")
    if reply.certificate_ends:
        days = (ssl.cert_time_to_seconds(reply.certificate_ends) - time.time()) / 86_400
        if days < _SOON_DAYS:
            yield fault("wire-certificate-ends", f"the certificate ends in {max(days, 0):.0f} days", hint="renew it")


def _silence(name: str, reply: Reply, silence: NoResponseError) -> Fault:
    """Report a missing answer to the valid request as a fault. Raises SourceError if the broker cannot be reached."""
    if silence.kind is Failure.TLS:
        return fault("wire-certificate", reply.fault, hint=silence.advice)
    if silence.kind is Failure.UNREACHABLE:
        raise SourceError(f"{name}: {reply.fault}", silence.advice)
    return fault("wire-no-answer", reply.fault, reply)


def _redirect(address: str, target: str, reply: Reply) -> Fault:
    is_followed = is_same_origin(address, target)
    refused = tuple(platform for platform in Platform if _stops(platform, address, target, reply.status))
    where = "no address"
    if target:
        where = "another path" if is_followed else f"another place, {origin(target)}"
    return fault(
        "wire-redirect",
        f"redirected ({reply.status}) to {reply.hide(where)}",
        reply,
        severity=None if is_followed and not refused else Severity.ERROR,
        refused_by=refused,
        hint="register the broker under the address where it answers" + ("" if is_followed else ", and check it there"),
    )


def _stops(platform: Platform, address: str, target: str, status: int) -> bool:
    """Return whether the platform gets no catalog by this redirect."""
    ours, theirs = urlsplit(address), urlsplit(target)
    is_elsewhere = ours.hostname != theirs.hostname or (ours.scheme, theirs.scheme) == ("https", "http")
    return is_elsewhere or status in platform.record.unfollowed_redirects


def _target(address: str, location: str) -> str:
    """Target of a redirect; empty if it is not an address."""
    try:
        target = urljoin(address, location)
        return target if urlsplit(target).scheme in ("http", "https") and urlsplit(target).hostname else ""
    except ValueError:
        return ""


def _probe(
    exchange: Exchange, first: Reply, patience: Deadlines, answers: dict[str, Reply]
) -> tuple[list[Fault], tuple[str, ...]]:
    """The faults that the probes find, and the areas that were not probed, since the broker limits requests.

    Replies at API versions that platforms send are added to `answers`.
    """
    if first.seconds > patience.probe:
        slow = fault("wire-slow", "too slow to be asked anything else", first, severity=Severity.INFO, refused_by=())
        return ([] if first.fault else [slow]), ()
    faults: list[Fault] = []
    silent, table = 0, probes.probe_table(exchange, first)
    for number, probe in enumerate(table):
        reply = exchange.ask(
            probe.how, method=probe.method, path=probe.path, changes=probe.changes, seconds=patience.probe
        )
        if reply.status == probes.TOO_MANY != first.status:
            unchecked = tuple(dict.fromkeys(one.area for one in table[number:]))
            faults.append(fault("wire-limited", f"stopped by 429; not checked: {', '.join(unchecked)}", reply))
            return faults, unchecked
        if not reply.status:
            faults.append(fault("wire-no-answer", reply.fault, reply, refused_by=()))
        elif reply.status != probes.TOO_MANY:
            faults += _judged(probe, first, reply, answers)
        silent += bool(reply.fault)
        if silent >= MOST_SILENT:
            break
    return faults, ()


def _judged(probe: probes.Probe, first: Reply, reply: Reply, answers: dict[str, Reply]) -> Iterator[Fault]:
    """The faults in the reply to a probe; one that fails as the good request does says nothing new."""
    says_new = reply.status == 200 or reply.status != first.status
    if says_new and probe.version:
        answers[probe.version] = reply
    if says_new or probe.even_if_same:
        yield from probe.faults(first, reply)
    if says_new:
        yield from probes.of_error(reply)
