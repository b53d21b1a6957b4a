"""The table of probes, and checks of what comes back anyway (`of_catalog`, `of_error`)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from osbctl.client.catalog_client import CATALOG_PATH, error_description
from osbctl.client.connection_options import ConnectionOptions, basic_auth
from osbctl.client.http_client import content_coding
from osbctl.conformance.exchange import Exchange, Fault, Reply, fault, moved
from osbctl.conformance.rules import EVERY
from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.redaction import SURE_LENGTH, find_secrets

VERSION = "X-Broker-API-Version"
IDENTITY = "osbctl-check-7f1c"
"""Sent as the request identity, to see whether it comes back."""

_TELLING = 12
"""Characters; a shorter password is looked for in the form in which it is sent alone."""

TOO_MANY = 429
"""The status of a broker that limits requests (RFC 6585 §4)."""

_ECHO = (2, 15)
"""From this version on the request identity comes back."""

_NOWHERE = "/osbctl-check"
_NOBODY, _WRONG = "osbctl-check-nobody", "osbctl-check-wrong"


def of_catalog(
    reply: Reply, slow: float, gives_up: Mapping[Platform, float], answers: Mapping[str, Reply]
) -> Iterator[Fault]:
    """Check the answer to the valid request; `slow` and `gives_up` are seconds.

    A platform whose own version has another answer among `answers` is not concerned.
    """
    options = reply.options
    concerned = {one for one in Platform if answers.get(one.api_version, reply) is reply}
    if reply.status != 200 and not reply.fault:
        said = f"answered {reply.status}, not 200{error_description(reply.body, options)}"
        hint = _STATUS_HINTS.get(reply.status, "")
        yield fault("wire-status", said, reply, refused_by=_stopped_by(reply.status, options.api_version), hint=hint)
        return
    yield from _body(reply, concerned)
    if reply.fault:
        return
    yield from _password(reply, options)
    yield from _identity(reply, options.api_version)
    if reply.seconds > slow:
        refused = tuple(platform for platform, bound in gives_up.items() if reply.seconds > bound)
        severity = Severity.ERROR if refused else None
        said = f"the answer took {reply.seconds:.1f} seconds"
        yield fault("wire-slow", said, reply, severity=severity, refused_by=refused)


def _password(reply: Reply, options: ConnectionOptions) -> Iterator[Fault]:
    """The password that was sent, in the catalog that everybody may read."""
    secrets = (options.password, options.sent)
    places = find_secrets(secrets, reply.json) if len(options.password) >= SURE_LENGTH else []
    if places:
        at = "" if find_secrets(secrets, places[0]) else f", at {places[0]}"
        yield fault("wire-secret", f"the catalog holds the password that was sent{at}", reply, hint="change it")


def _body(reply: Reply, concerned: Collection[Platform]) -> Iterator[Fault]:
    """Check the body of a successful answer, for the platforms `concerned`."""
    packing = content_coding(reply.headers.get("content-encoding"))
    if packing:
        said = f"the body is compressed ({reply.hide(packing)}), and there was no Accept-Encoding"
        refused = None if packing == "gzip" else EVERY  # who unpacks at all, unpacks gzip
        yield _to(concerned, fault("wire-gzip-unasked", said, reply, refused_by=refused))
    if reply.fault:
        if packing in ("", "gzip"):
            yield _to(concerned, fault("wire-cut", reply.fault, reply))
    elif why := reply.why_no_catalog:
        yield _to(concerned, fault("wire-not-json", f"the body is not a JSON object: {reply.hide(why)}", reply))
    elif reply.media_type != "application/json":
        yield fault(
            "wire-content-type", f"called {reply.hide(reply.media_type) or 'nothing'}, not application/json", reply
        )


def _to(concerned: Collection[Platform], found: Fault) -> Fault:
    return replace(found, refused_by=tuple(one for one in found.refused_by if one in concerned))


_STATUS_HINTS = {404: "check that this is the broker's address", 412: "--api-version asks with another version"}


def _stopped_by(status: int, version: str) -> tuple[Platform, ...]:
    """The platforms that take this status for no catalog."""
    if status == 412:
        return _asking(version)
    return tuple(platform for platform in Platform if status not in platform.record.accepted_statuses)


def _asking(version: str) -> tuple[Platform, ...]:
    """The platforms that send this version."""
    return tuple(platform for platform in Platform if platform.api_version == version)


def of_error(reply: Reply) -> Iterator[Fault]:
    """Check required and forbidden content of an error answer."""
    if reply.status < 400:
        return
    if _echoes(reply):
        yield fault("wire-secret", f"the answer ({reply.status}) holds the password that was sent", reply)
    if reply.request.startswith("GET ") and not reply.request.endswith(_NOWHERE):  # what platforms ask
        yield from _error_body(reply)


def _echoes(reply: Reply) -> bool:
    """Return whether the answer holds what the request logged in with, as it was sent or plain."""
    token = reply.sent.removeprefix("Basic ")
    text = reply.body.decode("utf-8", "replace") + "\n".join(reply.headers.values())
    try:
        password = b64decode(token, validate=True).decode().partition(":")[2]
    except ValueError:
        return False
    # A short one may be a word that stands there by chance.
    return (bool(token) and token in text) or (len(password) >= _TELLING and password in text)


def _error_body(reply: Reply) -> Iterator[Fault]:
    if reply.fault:
        return
    said = reply.json.get("description") if isinstance(reply.json, dict) else None
    if not (isinstance(said, str) and said.strip()):
        yield fault("wire-error-body", "the body of the error is not JSON with a description", reply)
    elif reply.media_type != "application/json":
        yield fault(
            "wire-content-type", f"the body of the error is called {reply.hide(reply.media_type) or 'nothing'}", reply
        )


def _identity(reply: Reply, version: str) -> Iterator[Fault]:
    back = reply.headers.get("x-broker-api-request-identity")
    if back != IDENTITY:
        severity = None if _is_at_least(version, _ECHO) else Severity.INFO
        said = f"X-Broker-API-Request-Identity {f'came back as {reply.hide(back)}' if back else 'did not come back'}"
        yield fault("wire-request-identity", said, reply, severity=severity)


def _is_at_least(version: str, least: tuple[int, int]) -> bool:
    major, _, minor = version.partition(".")
    return major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= least


class Probe(NamedTuple):
    """A request, and what its reply is held against: one whose status is not `allowed` breaks `rule`.

    Where that is served all the same, it breaks `open_rule`. `judge` compares an allowed reply with the good one; it
    gets every reply where `allowed` is empty. `even_if_same`: it is judged also where the good request got that status.
    `version` is set where the reply is what a platform that sends this version gets.
    """

    area: str
    how: str = ""
    changes: Mapping[str, str | None] = {}
    rule: str = ""
    allowed: tuple[int, ...] = ()
    judge: Callable[[Reply, Reply], Iterable[Fault]] | None = None
    method: str = "GET"
    path: str = ""
    open_rule: str = ""
    hint: str = ""
    even_if_same: bool = False
    version: str = ""

    def faults(self, first: Reply, reply: Reply) -> Iterable[Fault]:
        """The faults of a reply, where `first` is the good one."""
        if not self.allowed or reply.status in self.allowed:
            return self.judge(first, reply) if self.judge else ()
        rule = self.open_rule if self.open_rule and reply.status < 300 else self.rule
        wanted = self.allowed[0]
        severity = Severity.ERROR if reply.status >= 500 and wanted != 200 else None
        return [fault(rule, f"answered {reply.status}, not {wanted}", reply, severity=severity, hint=self.hint)]


def probe_table(exchange: Exchange, first: Reply) -> list[Probe]:
    """The probes of a broker that gave the answer `first`; wrong logins come last, since it may lock the account."""
    options, path = exchange.options, exchange.path
    user, password = options.user or _NOBODY, options.password or _WRONG
    is_served, tag = first.status == 200, first.headers.get("etag", "")
    gzip, no_body, foreign = {"Accept-Encoding": "gzip"}, {"Content-Length": "0"}, {"If-None-Match": f'"{IDENTITY}"'}
    nowhere = path.rpartition("/")[0] + _NOWHERE
    doubled = f"{path.removesuffix(CATALOG_PATH)}/{CATALOG_PATH}"
    no_slash = "serve it, or register the broker without a slash at the end of its address"
    own = sorted({platform.api_version for platform in Platform} - {options.api_version})
    table: list[tuple[bool, Probe]] = [
        (
            is_served and not first.fault,
            Probe("compression", "with Accept-Encoding: gzip", gzip, "wire-gzip-broken", (200,), _packed),
        ),
        (is_served and bool(tag), Probe("tags", "with If-None-Match", {"If-None-Match": tag}, judge=_tag)),
        (is_served and bool(tag), Probe("tags", "with a tag that it never gave", foreign, judge=_foreign_tag)),
        (True, _version_probe(f"without {VERSION}", None, 412, 400)),
        (True, _version_probe(f"with an empty {VERSION}", "", 412, 400)),
        (True, _version_probe(f"with {VERSION}: 1.0", "1.0", 412)),
        *((first.status in (200, 412), _own_version_probe(version)) for version in own),
        (True, Probe("methods and paths", "", no_body, "wire-method", (405, 404, 501), method="POST")),
        (True, Probe("methods and paths", rule="wire-unknown-path", allowed=(404,), path=nowhere)),
        (
            is_served and path.endswith(CATALOG_PATH),
            Probe("double slash", rule="wire-double-slash", allowed=(200,), path=doubled, hint=no_slash),
        ),
        (True, _login_probe("without credentials", None, 401)),
        (True, _login_probe("with a wrong password", basic_auth(user, _WRONG), 401)),
        (True, _login_probe("with an unknown user", basic_auth(_NOBODY, password), 401)),
        (True, _login_probe("with malformed credentials", "Basic %%%", 401, 400)),
    ]
    return [probe for applies, probe in table if applies]


def _version_probe(how: str, version: str | None, *allowed: int) -> Probe:
    rule, sent = "wire-version-status", {VERSION: version}
    return Probe("versions", how, sent, rule, allowed, _bad_request, open_rule="wire-version-unchecked")


def _own_version_probe(version: str) -> Probe:
    how, judge = f"with {VERSION}: {version}", partial(_own_version, version)
    return Probe("platforms' versions", how, {VERSION: version}, judge=judge, even_if_same=True, version=version)


def _login_probe(how: str, login: str | None, *allowed: int) -> Probe:
    sent = {"Authorization": login}
    return Probe("logins", how, sent, "wire-unauthorized", allowed, _challenge, open_rule="wire-open")


def _packed(first: Reply, reply: Reply) -> Iterator[Fault]:
    """The same, packed: as platforms written in Go ask."""
    if reply.fault:
        yield fault("wire-gzip-broken" if "content-encoding" in reply.headers else "wire-cut", reply.fault, reply)
    elif reply.json != first.json:
        severity, what = moved(first.json, reply.json)
        said = f"two requests in a row got different catalogs: {reply.hide(what)}"
        hint = "keep ids in the source; never make them at the start" if severity is Severity.ERROR else ""
        yield fault("wire-unstable", said, first, severity=severity, hint=hint)


def _tag(first: Reply, reply: Reply) -> Iterator[Fault]:
    if reply.status == 304 or reply.json != first.json:
        return
    if reply.headers.get("etag") != first.headers["etag"]:
        yield fault("wire-tag", "the tag changed, and the catalog did not", first)
    else:
        yield fault("wire-tag", f"answered {reply.status}, not 304, though the tag still holds", reply)


def _foreign_tag(_: Reply, reply: Reply) -> Iterator[Fault]:
    if reply.status == 304:
        yield fault("wire-tag", "answered 304: no platform would ever get a changed catalog", reply)


def _bad_request(_: Reply, reply: Reply) -> Iterator[Fault]:
    if reply.status == 400:
        said = "answered 400, which OSB 2.16 allows; the conformance checkers want 412"
        yield fault("wire-version-status", said, reply, severity=Severity.INFO)


def _own_version(version: str, first: Reply, reply: Reply) -> Iterator[Fault]:
    if reply.status != 200:
        said = f"answered {reply.status}, not 200{error_description(reply.body, reply.options)}"
        yield fault("wire-version-refused", said, reply, refused_by=_asking(version))
        return
    yield from _body(reply, _asking(version))
    if first.status == 200 and first.json != reply.json and not first.why_no_catalog and not reply.why_no_catalog:
        severity, what = moved(first.json, reply.json)
        yield fault("wire-version-differs", f"another catalog: {reply.hide(what)}", reply, severity=severity)


def _challenge(_: Reply, reply: Reply) -> Iterator[Fault]:
    if reply.status == 401 and not _BASIC.search(reply.headers.get("www-authenticate", "")):
        yield fault("wire-challenge", "the 401 has no WWW-Authenticate: Basic", reply)


_BASIC = re.compile(r"(?:^|,)\s*basic(?:\s|,|$)", re.IGNORECASE)
"""Among the challenges of one header or several (RFC 9110 §11.6.1)."""
