"""Asks a live broker what platforms and the public conformance checkers ask, and what they leave out.

About twenty requests, one after the other, each bounded in time and size. Two of them try wrong logins.
"""

import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from osbctl.client.catalog_client import MAX_REDIRECTS, is_same_origin, origin, redirect_target, status_error
from osbctl.client.connection_options import ConnectionOptions, check_options
from osbctl.client.http_client import Failure
from osbctl.conformance import probes
from osbctl.conformance.exchange import Exchange, Fault, Reply, merged_findings
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform

_SOON_DAYS = 14
_TOO_MANY = 429
"""The status of a broker that limits requests (RFC 6585 §4)."""

MOST_SILENT = 2
"""After so many requests without a whole answer no more are sent."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Findings, and the catalog as received (None without one).

    `own` holds what came at API versions that platforms send, as far as it is another answer than the first: a
    catalog, or None where none came. `unchecked` are areas that were not probed, since the broker limits requests.
    """

    findings: tuple[Finding, ...]
    catalog: bytes | None
    own: Mapping[str, bytes | None] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()


def check_broker(
    address: str, options: ConnectionOptions, *, slow_seconds: float = 5.0, probe_seconds: float = 15.0
) -> CheckResult:
    """Check the broker whose catalog is at `address` (as `split_url` gives it).

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
    answers = {options.api_version: first}
    probed, unchecked = _probe(exchange, first, probe_seconds, answers)
    if any(one.rule == "wire-unstable" for one in probed):  # then every answer is another
        probed = [one for one in probed if one.rule != "wire-version-differs"]
    faults += [*probes.of_catalog(first, slow_seconds, answers), *probes.of_error(first), *probed]
    own = {version: _catalog(reply) for version, reply in answers.items() if reply.json != first.json}
    return CheckResult(merged_findings(faults), _catalog(first), own, unchecked)


def _catalog(reply: Reply) -> bytes | None:
    return reply.body if reply.status == 200 and not reply.fault and not reply.why_no_catalog else None


def _ask_catalog(exchange: Exchange, faults: list[Fault]) -> tuple[Exchange, Reply | None]:
    """The reply to the good request, behind redirects, and whom to ask from now on; None where none came.

    What is wrong with the way there is added to `faults`. Raises SourceError: the broker cannot be reached.
    """
    for hop in range(MAX_REDIRECTS + 1):
        reply = exchange.ask(changes={"X-Broker-API-Request-Identity": probes.IDENTITY})
        if not hop:
            faults += _transport(exchange, reply)
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


def _transport(exchange: Exchange, reply: Reply) -> Iterator[Fault]:
    if not exchange.secure:
        yield Fault("wire-plain-http", f"{exchange.name} is plain HTTP", hint="serve it over HTTPS")
    if reply.certificate_ends:
        days = (ssl.cert_time_to_seconds(reply.certificate_ends) - time.time()) / 86_400
        if days < _SOON_DAYS:
            yield Fault("wire-certificate-ends", f"the certificate ends in {max(days, 0):.0f} days", hint="renew it")


def _redirect(address: str, target: str, reply: Reply) -> Fault:
    ours, theirs = urlsplit(address), urlsplit(target)
    is_elsewhere = ours.hostname != theirs.hostname or (ours.scheme, theirs.scheme) == ("https", "http")
    refused = [one for one in Platform if is_elsewhere or reply.status in one.record.unfollowed_redirects]
    if is_same_origin(address, target):
        where, severity, check_there = "another path", Severity.ERROR if refused else None, ""
    else:
        where, severity, check_there = f"another place, {origin(target)}", Severity.ERROR, ", and check it there"
    said = f"redirected ({reply.status}) to {reply.hide(where if target else 'no address')}"
    hint = f"register the broker under the address where it answers{check_there}"
    return Fault("wire-redirect", said, reply, severity, refused, hint)


def _probe(
    exchange: Exchange, first: Reply, seconds: float, answers: dict[str, Reply]
) -> tuple[list[Fault], tuple[str, ...]]:
    """The faults that the probes find, and the areas that were not probed, since the broker limits requests.

    Replies at API versions that platforms send are added to `answers`.
    """
    if first.seconds > seconds:
        slow = Fault("wire-slow", "too slow to be asked anything else", first, Severity.INFO, ())
        return ([] if first.fault else [slow]), ()
    faults: list[Fault] = []
    silent, table = 0, list(probes.probe_table(exchange, first))
    for number, probe in enumerate(table):
        reply = exchange.ask(probe.how, probe.changes, method=probe.method, path=probe.path, seconds=seconds)
        if reply.status == _TOO_MANY != first.status:
            unchecked = tuple(dict.fromkeys(one.area for one in table[number:]))
            faults.append(Fault("wire-limited", f"stopped by 429; not checked: {', '.join(unchecked)}", reply))
            return faults, unchecked
        if not reply.status:
            faults.append(Fault("wire-no-answer", reply.fault, reply, refused_by=()))
        else:
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
    if says_new or probe.version:
        yield from probe.faults(first, reply)
    if says_new:
        yield from probes.of_error(reply)
