"""Asks a live broker what platforms and the public conformance checkers ask, and what they leave out.

About a dozen requests, one after the other, each bounded in time and size. Two of them try wrong logins. The table of
probes is in `probe_table`; `check_catalog_reply` and `check_error_reply` check what comes back anyway.
"""

import re
from base64 import b64decode
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from osbctl.changes import SEVERITIES
from osbctl.client.catalog_client import (
    CATALOG_PATH,
    CERTIFICATE_PAGE,
    error_description,
    find_sent_password,
    format_origin,
    is_same_origin,
    parse_json_body,
    redirect_target,
    status_error,
)
from osbctl.client.connection_options import ConnectionOptions, SentPassword, basic_auth, check_options
from osbctl.client.http_client import NAME_CERTIFICATE, UNPACKED, Failure, NoResponseError, normalize_content_encoding
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.conformance.exchange import Exchange, Fault, Probe, Reply, merge_faults
from osbctl.conformance.rules import EVERY
from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.paths import depth
from osbctl.platforms import ApiVersion, Platform, format_platforms, platforms_refusing
from osbctl.rule import RULES
from osbctl.sources.read_bytes import MAX_DEPTH

VERSION = "X-Broker-API-Version"
IDENTITY = "osbctl-check-7f1c"  # sent as the request identity, to see whether it comes back
MAX_REDIRECTS = 9  # platforms send ten requests at most (Go, net/http, defaultCheckRedirect; Ruby, httpclient)
MOST_SILENT = 2  # after so many requests without a whole answer no more are sent
_TELLING = 12  # characters; a shorter password is looked for in the form in which it is sent alone
_NOBODY, _WRONG = "osbctl-check-nobody", "osbctl-check-wrong"
_MOST_TOLD = 3
_CATALOG = "status, headers and body of the catalog"
_STATUS_HINTS = {404: "check that this is the broker's address", 412: "--api-version asks with another version"}
_BASIC = re.compile(r"(?:^|,)\s*basic(?:\s|,|$)", re.IGNORECASE)
"""Among the challenges of one header or several (RFC 9110 §11.6.1)."""


class CheckResult(NamedTuple):
    """Findings, and the catalog as JSON, as received or as the platforms that can read it do (None without one).

    `tested` names what the requests tested.
    """

    findings: tuple[Finding, ...]
    catalog: bytes | None
    tested: tuple[str, ...] = ()


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

    Raises SourceError: the broker cannot be reached, the credentials are wrong, or the catalog is larger than
    `options` allow.
    """
    check_options(address, options)
    faults: list[Fault] = []
    exchange, first_reply = _request_catalog(Exchange(address, options, platforms), faults)
    if first_reply is None:
        return CheckResult(merge_faults(faults, platforms), None)
    _require_usable(first_reply, exchange.name)
    faults += _check_client_certificate(exchange, first_reply, probe_seconds)
    probe_faults = list(_run_probes(exchange, first_reply, probe_seconds))
    superseded = {rule for fault in probe_faults for rule in RULES[fault.rule].supersedes}
    faults += [*check_catalog_reply(first_reply, slow_seconds), *check_error_reply(first_reply)]
    faults += [fault for fault in probe_faults if fault.rule not in superseded]
    is_whole = first_reply.status == 200 and not first_reply.fault
    read = next(iter(first_reply.readings.values()), b"") if first_reply.non_object_reason else first_reply.body
    # What is still not JSON, with NaN, only a platform can read.
    catalog = read if is_whole and not parse_json_body(read)[1] else None
    return CheckResult(merge_faults(faults, platforms), catalog, (*exchange.tested, "the form of errors"))


def _require_usable(reply: Reply, name: str) -> None:
    """Raise SourceError if the first reply refuses the credentials, or holds a catalog that is too large to read."""
    if reply.status == 401:
        raise status_error(name, 401, reply.body, reply.options, reply.headers)
    if reply.failure is Failure.TOO_LARGE and reply.status == 200:
        raise SourceError(f"{name}: {reply.fault}", "raise the limit with --max-bytes")


def _request_catalog(exchange: Exchange, faults: list[Fault]) -> tuple[Exchange, Reply | None]:
    """Send the valid request, follow redirects; return the exchange for later requests, and the reply if one came.

    Faults on the way, such as plain HTTP or a redirect, are added to `faults`.
    Raises SourceError: the broker cannot be reached.
    """
    if not exchange.secure:
        faults.append(Fault("wire-plain-http", f"{exchange.name} is plain HTTP", hint="serve it over HTTPS"))
    for _ in range(MAX_REDIRECTS + 1):
        reply = exchange.send_request(Probe(header_changes={"X-Broker-API-Request-Identity": IDENTITY}, tests=_CATALOG))
        if failed := reply.no_response:
            if failed.kind is Failure.UNREACHABLE:
                raise failed
            faults.append(_failure_fault(failed, reply))
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


def _failure_fault(failed: NoResponseError, reply: Reply) -> Fault:
    if failed.kind is Failure.CLIENT_CERTIFICATE:
        return Fault("wire-client-certificate", reply.fault, hint=failed.advice)
    refusing: dict[Failure, Collection[Platform] | None] = {
        Failure.TLS: None,
        Failure.COMMON_NAME: [each for each in reply.platforms if not each.record.uses_httpclient],
        Failure.UNKNOWN_AUTHORITY: (),  # whether a platform trusts an authority depends on its own store
    }
    if failed.kind in refusing:
        return Fault("wire-certificate", reply.fault, refused_by=refusing[failed.kind], hint=failed.advice)
    return Fault("wire-no-answer", reply.fault, reply, refused_by=reply.giving_up)


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
    if platform.record.uses_httpclient:
        return (source.scheme, destination.scheme) == ("https", "http")
    return not f".{destination.hostname}".endswith(f".{source.hostname}")


def _check_client_certificate(exchange: Exchange, first_reply: Reply, seconds: float) -> Iterator[Fault]:
    """Ask without the client certificate, if a platform that counts has none."""
    counts = not set(platforms_refusing("wire-client-certificate")).isdisjoint(exchange.platforms)
    if not (exchange.options.client_cert and first_reply.holds_catalog and counts):
        return
    plain = Exchange(exchange.address, replace(exchange.options, client_cert=None), exchange.platforms)
    reply = plain.send_request(Probe("without a client certificate"), seconds)
    if not (reply.holds_catalog or _is_limited(reply) or reply.failure is Failure.TOO_SLOW):
        yield Fault("wire-client-certificate", reply.fault or f"answered {reply.status}, not 200", reply)


def _run_probes(exchange: Exchange, first_reply: Reply, probe_seconds: float) -> Iterator[Fault]:
    """Send the probes, and yield their faults; a probe that fails as the valid request did says nothing new."""
    if first_reply.seconds > probe_seconds:
        if not first_reply.fault:
            yield Fault("wire-slow", "too slow to be asked anything else", first_reply, Severity.INFO, ())
        return
    failed, table = 0, list(probe_table(exchange, first_reply))
    for number, probe in enumerate(table):
        reply = exchange.send_request(probe, probe_seconds)
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
            yield from check_error_reply(reply)
        failed += bool(reply.fault)
        if failed >= MOST_SILENT:
            return


def _is_limited(reply: Reply) -> bool:
    """Return whether the broker limits requests (RFC 6585 §4, RFC 9110 §15.6.4)."""
    return reply.status == 429 or (reply.status == 503 and "retry-after" in reply.headers)


def check_catalog_reply(reply: Reply, slow_seconds: float) -> Iterator[Fault]:
    """Check the answer to the valid request, which is slow if it took more than `slow_seconds`."""
    if reply.status != 200:
        yield _status_fault(reply)
        return
    yield from _check_body(reply, reply.platforms)
    if reply.fault:
        return
    yield from _check_password_leak(reply)
    yield from _check_request_identity(reply)
    if reply.seconds > slow_seconds:
        refused = [platform for platform in reply.platforms if reply.seconds > platform.record.timeout]
        severity = Severity.ERROR if refused else None
        yield Fault("wire-slow", f"the answer took {reply.seconds:.1f} seconds", reply, severity, refused)


def _status_fault(reply: Reply) -> Fault:
    options = reply.options
    text = f"answered {reply.status}, not 200{error_description(reply.body, options, reply.headers)}"
    if CERTIFICATE_PAGE in reply.body:
        return Fault("wire-client-certificate", text, reply, hint=NAME_CERTIFICATE)
    reading = [each for each in reply.platforms if reply.status in each.record.accepted_statuses]
    refused = [each for each in reply.platforms if each not in reading or not (reply.fault or each in reply.readings)]
    if reply.status == 412:  # of the version that was asked for
        refused = _platforms_sending(options.api_version, reply.platforms)
    return Fault("wire-status", text, reply, refused_by=refused, hint=_STATUS_HINTS.get(reply.status, ""))


def _platforms_sending(version: str, platforms: Collection[Platform]) -> list[Platform]:
    """Those of `platforms` that send this version."""
    return [platform for platform in platforms if platform.api_version == version]


def _check_password_leak(reply: Reply) -> Iterator[Fault]:
    """Check that neither the catalog, which everybody may read, nor a header holds the password that was sent."""
    hint = "take it out of the answer, and change it"
    if any(map(reply.options.holds_password, reply.headers.values())):
        yield Fault("wire-secret", "a header of the answer holds the password that was sent", reply, hint=hint)
    place = find_sent_password(reply.body, reply.json, reply.options)
    if place is not None:
        text = "the catalog holds the password that was sent" + (f", at {place}" if place else "")
        yield Fault("wire-secret", text, reply, hint=hint)


def _check_framing(reply: Reply, platforms: Collection[Platform]) -> Iterator[Fault]:
    """Check that `platforms` would find the answer and the end of its body."""
    if reply.interim:
        refused = [each for each in platforms if each.record.uses_httpclient]
        yield Fault("wire-status", f"answered {reply.interim} before {reply.status}", reply, refused_by=refused)
    if reply.framing:
        text = f"its answer is not proper HTTP: {reply.redact(reply.framing)[:200]}"
        refused = [each for each in platforms if reply.is_cut_by_httpclient or not each.record.uses_httpclient]
        yield Fault("wire-no-answer", text, reply, refused_by=refused)


def _check_body(reply: Reply, platforms: Collection[Platform]) -> Iterator[Fault]:
    """Check the body of a successful answer, which `platforms` would read."""
    yield from _check_framing(reply, platforms)
    coding = normalize_content_encoding(reply.headers.get("content-encoding"))
    yield from _check_coding(reply, platforms, coding)
    if reply.fault:
        yield _cut_fault(reply, platforms)
    elif why := reply.non_object_reason:
        if coding in UNPACKED:
            text = f"the body is not a JSON object: {reply.redact(why)}"
            refused = [platform for platform in platforms if platform not in reply.readings]
            yield Fault("wire-not-json", text, reply, refused_by=refused)
    elif reply.media_type != "application/json":
        called = f"called {reply.redact(reply.media_type)}" if reply.media_type else "without a Content-Type"
        yield Fault("wire-content-type", f"{called}, not application/json", reply)
    yield from _check_charset(reply, platforms)


def _check_coding(reply: Reply, platforms: Collection[Platform], coding: str) -> Iterator[Fault]:
    """Check that the body is not compressed, which the request did not ask for, nor called so."""
    if coding not in UNPACKED and not reply.non_object_reason:  # `utf-8` is a common mistake
        text = f"the body is not compressed, and Content-Encoding is {reply.redact(coding)}"
        yield Fault("wire-gzip-unasked", text, reply, Severity.WARNING, ())
    elif coding:
        text = f"the body is compressed ({reply.redact(coding)}), and there was no Accept-Encoding"
        # A platform that unpacks anything unpacks gzip.
        stopped = platforms_refusing("wire-gzip-unasked") if coding == "gzip" else EVERY
        yield Fault("wire-gzip-unasked", text, reply, refused_by=[each for each in platforms if each in stopped])


def _check_charset(reply: Reply, platforms: Collection[Platform]) -> Iterator[Fault]:
    """Check that all of `platforms` read the same texts in the body."""
    converting = [each for each in platforms if each.record.uses_httpclient]
    if converting and not reply.fault and reply.charset and not reply.body.isascii():
        text = f"called {reply.charset}: {format_platforms(converting)} reads texts in it, others in UTF-8"
        yield Fault("wire-content-type", text, reply, hint="send UTF-8, without a charset")


def _cut_fault(reply: Reply, platforms: Collection[Platform]) -> Fault:
    # Where the end comes early, httpclient takes what came.
    kept = [each for each in reply.readings if each.record.uses_httpclient and reply.failure is Failure.NO_RESPONSE]
    refused = [each for each in platforms if each in reply.giving_up and each not in kept]
    return Fault("wire-cut", reply.fault, reply, refused_by=refused)


def _check_request_identity(reply: Reply) -> Iterator[Fault]:
    """Check that the request identity comes back; API version 2.15 added it."""
    returned = reply.headers.get("x-broker-api-request-identity")
    if returned != IDENTITY:
        severity = None if reply.options.api_version >= ApiVersion.V2_15 else Severity.INFO
        outcome = f"came back as {reply.redact(returned)}" if returned else "did not come back"
        yield Fault("wire-request-identity", f"X-Broker-API-Request-Identity {outcome}", reply, severity)


def check_error_reply(reply: Reply) -> Iterator[Fault]:
    """Check required and forbidden content of an error answer."""
    if reply.status < 400:
        return
    if _echoes_credentials(reply):
        yield Fault("wire-secret", f"the answer ({reply.status}) holds the password that was sent", reply)
    if reply.fault:
        return
    description = reply.json.get("description") if isinstance(reply.json, dict) else None
    if not (isinstance(description, str) and description.strip()):
        yield Fault("wire-error-body", "the body of the error is not JSON with a description", reply)
    elif reply.media_type != "application/json":
        called = f"is called {reply.redact(reply.media_type)}" if reply.media_type else "has no Content-Type"
        yield Fault("wire-content-type", f"the body of the error {called}", reply)


def _echoes_credentials(reply: Reply) -> bool:
    """Return whether the answer holds what the request logged in with, as it was sent or plain."""
    token = reply.sent.removeprefix("Basic ")
    text = reply.body.decode("utf-8", "replace") + "\n".join(reply.headers.values())
    try:
        user, _, password = b64decode(token, validate=True).decode().partition(":")
    except ValueError:
        return False
    # A short one may be a word that stands there by chance.
    return (bool(token) and token in text) or (len(password) >= _TELLING and SentPassword(user, password).is_in(text))


def probe_table(exchange: Exchange, first_reply: Reply) -> Iterator[Probe]:
    """The probes of a broker that gave `first_reply`; wrong logins come last, since it may lock the account."""
    path, is_served = exchange.path.rstrip("/"), first_reply.status == 200
    if is_served and not first_reply.fault:
        sent, compare = {"Accept-Encoding": "gzip"}, _compare_gzip_reply
        yield Probe("with Accept-Encoding: gzip", sent, "wire-gzip-broken", (200,), compare, tests="compression")
    yield from _version_probes(first_reply)
    asks_doubled = any(platform.record.doubles_slash for platform in exchange.platforms)
    if is_served and asks_doubled and path.endswith(CATALOG_PATH):
        doubled = f"{path.removesuffix(CATALOG_PATH)}/{CATALOG_PATH}"
        yield Probe(path=doubled, compare=partial(_check_doubled_slash, exchange.address), tests="a doubled slash")
    yield from _login_probes(exchange.options)


def _version_probes(first_reply: Reply) -> Iterator[Probe]:
    tests, open_rule = "old and missing API versions", "wire-version-unchecked"
    bad = Probe(rule="wire-version-status", compare=_check_status_400, open_rule=open_rule, tests=tests)
    yield bad._replace(variation=f"without {VERSION}", header_changes={VERSION: None}, allowed=(412, 400))
    yield bad._replace(variation=f"with an empty {VERSION}", header_changes={VERSION: ""}, allowed=(412, 400))
    yield bad._replace(variation=f"with {VERSION}: 1.0", header_changes={VERSION: "1.0"}, allowed=(412,))
    if first_reply.status in (200, 412):
        others = {platform.api_version for platform in first_reply.platforms} - {first_reply.options.api_version}
        for version in sorted(others):
            compare = partial(_check_platform_version, version)
            tests = "the versions of other platforms"
            yield Probe(f"with {VERSION}: {version}", {VERSION: version}, compare=compare, always=True, tests=tests)


def _login_probes(options: ConnectionOptions) -> Iterator[Probe]:
    wrong_password = basic_auth(options.user or _NOBODY, _WRONG)
    unknown_user = basic_auth(_NOBODY, options.password or _WRONG)
    tests, compare = "missing and wrong credentials", _check_basic_challenge
    login = Probe(rule="wire-unauthorized", allowed=(401,), compare=compare, open_rule="wire-open", tests=tests)
    yield login._replace(variation="without credentials", header_changes={"Authorization": None})
    yield login._replace(variation="with a wrong password", header_changes={"Authorization": wrong_password})
    yield login._replace(variation="with an unknown user", header_changes={"Authorization": unknown_user})
    malformed = {"Authorization": "Basic %%%"}
    yield login._replace(variation="with malformed credentials", header_changes=malformed, allowed=(401, 400))


def _compare_gzip_reply(first_reply: Reply, reply: Reply) -> Iterator[Fault]:
    """Compare the reply to a request for gzip, as platforms written in Go send it, with the first."""
    yield from _check_framing(reply, platforms_refusing("wire-gzip-broken"))
    coding = reply.headers.get("content-encoding", "").strip().lower()
    if reply.fault:
        is_broken = "content-encoding" in reply.headers and reply.failure not in (Failure.TOO_SLOW, Failure.TOO_LARGE)
        yield Fault("wire-gzip-broken", reply.fault, reply) if is_broken else _cut_fault(reply, reply.platforms)
    elif coding == "x-gzip" or (reply.non_object_reason and normalize_content_encoding(coding) not in UNPACKED):
        text = f"the body is compressed as {reply.redact(coding)}, and platforms in Go unpack gzip alone"
        yield Fault("wire-gzip-broken", text, reply)
    elif reply.json != first_reply.json:
        severity, what = _describe_difference(first_reply.json, reply.json)
        text = f"two requests in a row got different catalogs: {reply.redact(what)}"
        hint = "keep ids in the source; never make them at the start" if severity is Severity.ERROR else ""
        yield Fault("wire-unstable", text, first_reply, severity, hint=hint)


def _describe_difference(before: Any, after: Any) -> tuple[Severity, str]:
    """Severity and description of the differences between two JSON values, most severe first."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return Severity.ERROR, "one of them is not a JSON object"
    if max(depth(before), depth(after)) > MAX_DEPTH:
        return Severity.ERROR, f"one of them is nested deeper than {MAX_DEPTH} levels"
    changes = sorted(compare_catalogs(before, after), key=lambda change: -change.level.rank)
    if not changes:
        return Severity.INFO, "only in how it is written"
    sentences = [f"{change.object}: {change.message}".removeprefix(": ") for change in changes[:_MOST_TOLD]]
    more = [f"and {len(changes) - _MOST_TOLD} more"] if len(changes) > _MOST_TOLD else []
    return SEVERITIES[changes[0].level], "; ".join([*sentences, *more])


def _check_doubled_slash(address: str, _: Reply, reply: Reply) -> Iterator[Fault]:
    """Check that the catalog is served, or that a redirect which every platform follows leads to its address."""
    followed = not any(reply.status in platform.record.unfollowed_redirects for platform in reply.platforms)
    target = redirect_target(address, reply.status, reply.headers.get("location")) or ""
    if reply.status != 200 and not (followed and target.rstrip("/") == address.rstrip("/")):
        hint = "serve it, or register the broker without a slash at the end of its address"
        yield Fault("wire-double-slash", f"answered {reply.status}, not 200", reply, hint=hint)


def _check_status_400(_: Reply, reply: Reply) -> Iterator[Fault]:
    """Report a 400 for a missing or wrong version as an info."""
    if reply.status == 400:
        text = "answered 400, which OSB 2.16 allows; the conformance checkers want 412"
        yield Fault("wire-version-status", text, reply, Severity.INFO)


def _check_platform_version(version: str, first_reply: Reply, reply: Reply) -> Iterator[Fault]:
    """Check the reply at the version that some platform sends, and compare its catalog with the first."""
    if reply.status != 200:
        text = f"answered {reply.status}, not 200{error_description(reply.body, reply.options, reply.headers)}"
        yield Fault("wire-version-refused", text, reply, refused_by=_platforms_sending(version, reply.platforms))
        return
    yield from _check_body(reply, _platforms_sending(version, reply.platforms))
    both_hold_catalogs = not (first_reply.non_object_reason or reply.non_object_reason)
    if first_reply.status == 200 and first_reply.json != reply.json and both_hold_catalogs:
        severity, what = _describe_difference(first_reply.json, reply.json)
        yield Fault("wire-version-differs", f"another catalog: {reply.redact(what)}", reply, severity)


def _check_basic_challenge(_: Reply, reply: Reply) -> Iterator[Fault]:
    if reply.status == 401 and not _BASIC.search(reply.headers.get("www-authenticate", "")):
        yield Fault("wire-challenge", "the 401 has no WWW-Authenticate: Basic", reply)
