"""Asks a live broker what platforms and the public conformance checkers ask, and what they leave out.

About a dozen requests, one after the other, each bounded in time and size. Two of them try wrong logins.
"""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from osbctl.client.catalog_client import MAX_REDIRECTS, format_origin, is_same_origin, redirect_target, status_error
from osbctl.client.connection_options import ConnectionOptions, check_options
from osbctl.client.http_client import Failure
from osbctl.conformance import probes
from osbctl.conformance.exchange import Exchange, Fault, Reply, merged_findings
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform

_TOO_MANY = 429
"""The status of a broker that limits requests (RFC 6585 §4)."""

MOST_SILENT = 2
"""After so many requests without a whole answer no more are sent."""


class CheckResult(NamedTuple):
    """Findings, and the catalog as received (None without one)."""

    findings: tuple[Finding, ...]
    catalog: bytes | None


def check_broker(
    address: str, options: ConnectionOptions, *, slow_seconds: float = 5.0, probe_seconds: float = 15.0
) -> CheckResult:
    """Check the broker whose catalog is at `address` (as `parse_broker_url` gives it).

    A catalog is called slow after `slow_seconds`; a probe is given up after `probe_seconds`.

    Raises SourceError: the broker cannot be reached, or the credentials are wrong.
    """
    check_options(address, options)
    faults: list[Fault] = []
    exchange, first = _ask_catalog(Exchange(address, options), faults)
    if first is None:
        return CheckResult(merged_findings(faults), None)
    if first.status == 401:
        raise status_error(exchange.name, 401, first.body, options)
    probed = list(_probe(exchange, first, probe_seconds))
    if any(one.rule == "wire-unstable" for one in probed):  # then every answer is another
        probed = [one for one in probed if one.rule != "wire-version-differs"]
    faults += [*probes.of_catalog(first, slow_seconds), *probes.of_error(first), *probed]
    is_whole = first.status == 200 and not first.fault and not first.why_no_catalog
    return CheckResult(merged_findings(faults), first.body if is_whole else None)


def _ask_catalog(exchange: Exchange, faults: list[Fault]) -> tuple[Exchange, Reply | None]:
    """The reply to the good request, behind redirects, and whom to ask from now on; None where none came.

    What is wrong with the way there is added to `faults`. Raises SourceError: the broker cannot be reached.
    """
    if not exchange.secure:
        faults.append(Fault("wire-plain-http", f"{exchange.name} is plain HTTP", hint="serve it over HTTPS"))
    for _ in range(MAX_REDIRECTS + 1):
        reply = exchange.ask(changes={"X-Broker-API-Request-Identity": probes.IDENTITY})
        if reply.silence:
            if reply.silence.kind is Failure.UNREACHABLE:
                raise reply.silence
            of_tls = Fault("wire-certificate", reply.fault, hint=reply.silence.advice)
            faults.append(of_tls if reply.silence.kind is Failure.TLS else Fault("wire-no-answer", reply.fault, reply))
            return exchange, None
        target = redirect_target(exchange.address, reply.status, reply.headers.get("location"))
        if target is None:
            return exchange, reply
        faults.append(_redirect(exchange.address, target, reply))
        if not is_same_origin(exchange.address, target):  # credentials are sent to no other place
            return exchange, None
        exchange = Exchange(target, exchange.options)
    faults.append(Fault("wire-status", f"more than {MAX_REDIRECTS} redirects", reply))
    return exchange, None


def _redirect(address: str, target: str, reply: Reply) -> Fault:
    ours, theirs = urlsplit(address), urlsplit(target)
    is_elsewhere = ours.hostname != theirs.hostname or (ours.scheme, theirs.scheme) == ("https", "http")
    refused = [one for one in Platform if is_elsewhere or reply.status in one.record.unfollowed_redirects]
    if is_same_origin(address, target):
        where, severity, check_there = "another path", Severity.ERROR if refused else None, ""
    else:
        where, severity, check_there = f"another place, {format_origin(target)}", Severity.ERROR, ", and check it there"
    said = f"redirected ({reply.status}) to {reply.hide(where if target else 'no address')}"
    hint = f"register the broker under the address where it answers{check_there}"
    return Fault("wire-redirect", said, reply, severity, refused, hint)


def _probe(exchange: Exchange, first: Reply, seconds: float) -> Iterator[Fault]:
    """The faults that the probes find; one that fails as the good request does says nothing new."""
    if first.seconds > seconds:
        if not first.fault:
            yield Fault("wire-slow", "too slow to be asked anything else", first, Severity.INFO, ())
        return
    silent, table = 0, list(probes.probe_table(exchange, first))
    for number, probe in enumerate(table):
        reply = exchange.ask(probe.how, probe.changes, path=probe.path, seconds=seconds)
        if reply.status == _TOO_MANY != first.status:
            said = f"stopped by 429 after {number} of {len(table)} probes"
            yield Fault("wire-limited", said, reply, hint="ask again later, or lift the limit")
            return
        says_new = reply.status == 200 or reply.status != first.status
        if not reply.status:
            yield Fault("wire-no-answer", reply.fault, reply, refused_by=())
        elif says_new or probe.always:
            yield from probe.faults(first, reply)
        if reply.status and says_new:
            yield from probes.of_error(reply)
        silent += bool(reply.fault)
        if silent >= MOST_SILENT:
            return
