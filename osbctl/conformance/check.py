"""Asks a live broker what platforms and the public conformance checkers ask, and what they leave out.

About a dozen requests, one after the other, each bounded in time and size. Two of them try wrong logins.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from osbctl.client.catalog_client import (
    MAX_REDIRECTS,
    format_origin,
    is_same_origin,
    parse_json_body,
    redirect_target,
    status_error,
)
from osbctl.client.connection_options import ConnectionOptions, check_options
from osbctl.client.http_client import Failure
from osbctl.conformance import probes
from osbctl.conformance.exchange import Exchange, Fault, Reply, merge_faults
from osbctl.conformance.rules import EVERY
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform, format_platforms
from osbctl.rule import RULES

MOST_SILENT = 2
"""After so many requests without a whole answer no more are sent."""


class CheckResult(NamedTuple):
    """Findings, and the catalog as JSON, as received or as the platforms that can read it do (None without one)."""

    findings: tuple[Finding, ...]
    catalog: bytes | None


def check_broker(
    address: str,
    options: ConnectionOptions,
    platforms: Collection[Platform] = EVERY,
    *,
    slow_seconds: float = 5.0,
    probe_seconds: float = 15.0,
) -> CheckResult:
    """Check the broker whose catalog is at `address` (as `parse_broker_url` gives it), for these platforms.

    A catalog is called slow after `slow_seconds`; a probe is given up after `probe_seconds`.

    Raises SourceError: the broker cannot be reached, or the credentials are wrong.
    """
    check_options(address, options)
    faults: list[Fault] = []
    exchange, first_reply = _request_catalog(Exchange(address, options, platforms), faults)
    if first_reply is None:
        return CheckResult(merge_faults(faults, platforms), None)
    if first_reply.status == 401:
        raise status_error(exchange.name, 401, first_reply.body, options, first_reply.headers)
    probe_faults = list(_run_probes(exchange, first_reply, probe_seconds))
    superseded = {rule for fault in probe_faults for rule in RULES[fault.rule].supersedes}
    probe_faults = [fault for fault in probe_faults if fault.rule not in superseded]
    faults += [*probes.check_catalog_reply(first_reply, slow_seconds), *probes.check_error_reply(first_reply)]
    faults += probe_faults
    is_whole = first_reply.status == 200 and not first_reply.fault
    read = next(iter(first_reply.readings.values()), b"") if is_whole else b""
    # What is still not JSON, with NaN, only a platform can read.
    return CheckResult(merge_faults(faults, platforms), None if parse_json_body(read)[1] else read)


def _request_catalog(exchange: Exchange, faults: list[Fault]) -> tuple[Exchange, Reply | None]:
    """Send the valid request, follow redirects; return the exchange for later requests, and the reply if one came.

    Faults on the way, such as plain HTTP or a redirect, are added to `faults`.
    Raises SourceError: the broker cannot be reached.
    """
    if not exchange.secure:
        faults.append(Fault("wire-plain-http", f"{exchange.name} is plain HTTP", hint="serve it over HTTPS"))
    for _ in range(MAX_REDIRECTS + 1):
        reply = exchange.send_request(header_changes={"X-Broker-API-Request-Identity": probes.IDENTITY})
        if reply.no_response:
            if reply.no_response.kind is Failure.UNREACHABLE:
                raise reply.no_response
            kind, hint = reply.no_response.kind, reply.no_response.advice
            # Whether a platform trusts an authority depends on its own store.
            refused = () if kind is Failure.UNKNOWN_AUTHORITY else None
            is_tls = kind in (Failure.TLS, Failure.UNKNOWN_AUTHORITY)
            tls_fault = Fault("wire-certificate", reply.fault, refused_by=refused, hint=hint)
            faults.append(tls_fault if is_tls else Fault("wire-no-answer", reply.fault, reply))
            return exchange, None
        target = redirect_target(exchange.address, reply.status, reply.headers.get("location"))
        if target is None:
            return exchange, reply
        faults.append(_redirect_fault(exchange.address, target, reply))
        if not is_same_origin(exchange.address, target):  # credentials are sent to no other place
            return exchange, None
        exchange = Exchange(target, exchange.options, exchange.platforms)
    faults.append(Fault("wire-status", f"more than {MAX_REDIRECTS} redirects", reply))
    return exchange, None


def _redirect_fault(address: str, target: str, reply: Reply) -> Fault:
    refused = [each for each in reply.platforms if _stops_at_redirect(each, address, target, reply.status)]
    if is_same_origin(address, target):
        where, severity, check_there = "another path", Severity.ERROR if refused else None, ""
    else:
        where, severity, check_there = f"another place, {format_origin(target)}", Severity.ERROR, ", and check it there"
    message = f"redirected ({reply.status}) to {reply.redact(where if target else 'no address')}"
    senders = [each for each in reply.platforms if each not in refused]
    if senders and urlsplit(address).hostname != urlsplit(target).hostname:
        message += f", where {format_platforms(senders)} would send the password"
    hint = f"register the broker under the address where it answers{check_there}"
    return Fault("wire-redirect", message, reply, severity, refused, hint)


def _stops_at_redirect(platform: Platform, address: str, target: str, status: int) -> bool:
    """Return whether a platform gets no catalog by a redirect (Go: `shouldCopyHeaderOnRedirect`)."""
    source, destination = urlsplit(address), urlsplit(target)
    if not target or status in platform.record.unfollowed_redirects:
        return True
    if platform.record.sends_password_elsewhere:
        return (source.scheme, destination.scheme) == ("https", "http")
    return not f".{destination.hostname}".endswith(f".{source.hostname}")


def _run_probes(exchange: Exchange, first_reply: Reply, probe_seconds: float) -> Iterator[Fault]:
    """Send the probes, and yield their faults; a probe that fails as the valid request did says nothing new."""
    if first_reply.seconds > probe_seconds:
        if not first_reply.fault:
            yield Fault("wire-slow", "too slow to be asked anything else", first_reply, Severity.INFO, ())
        return
    failed, table = 0, list(probes.probe_table(exchange, first_reply))
    for number, probe in enumerate(table):
        reply = exchange.send_request(probe.variation, probe.header_changes, path=probe.path, max_seconds=probe_seconds)
        if _is_limited(reply) and reply.status != first_reply.status:
            message = f"stopped by {reply.status} after {number} of {len(table)} probes"
            yield Fault("wire-limited", message, reply, hint="ask again later, or lift the limit")
            return
        is_catalog = first_reply.holds_catalog or reply.holds_catalog
        says_new = reply.status != first_reply.status or (reply.status == 200 and is_catalog)
        if not reply.status:
            yield Fault("wire-no-answer", reply.fault, reply, refused_by=())
        elif says_new or probe.always:
            yield from probe.find_faults(first_reply, reply)
        if reply.status and says_new:
            yield from probes.check_error_reply(reply)
        failed += bool(reply.fault)
        if failed >= MOST_SILENT:
            return


def _is_limited(reply: Reply) -> bool:
    """Return whether the broker limits requests (RFC 6585 §4, RFC 9110 §15.6.4)."""
    return reply.status == 429 or (reply.status == 503 and "retry-after" in reply.headers)
