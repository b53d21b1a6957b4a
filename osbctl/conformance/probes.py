"""What is asked of a broker, one function a question; `of_catalog` and `of_errors` look at what came back anyway."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from osbctl.client.catalog_client import error_description
from osbctl.client.connection_options import ConnectionOptions, basic_auth
from osbctl.client.http_client import content_coding
from osbctl.conformance.exchange import Exchange, Reply
from osbctl.conformance.faults import Fault, fault, moved
from osbctl.conformance.rules import EVERY
from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.secrecy import SURE_LENGTH, places_of

Probe: TypeAlias = Callable[["Visit"], Iterator[Fault]]

VERSION = "X-Broker-API-Version"
IDENTITY = "osbctl-check-7f1c"
"""Sent as the request identity, to see whether it comes back."""

_TELLING = 12
"""Characters; a shorter password is looked for in the form in which it is sent alone."""

TOO_MANY = 429
"""The status of a broker that limits requests (RFC 6585 §4)."""

_ECHO = (2, 15)
"""From this version on the request identity comes back."""

_HEAD_SECONDS = 2.0
"""How long an answer to HEAD is waited for, or a body that should not come."""

_NOWHERE = "/osbctl-check"
_NOBODY, _WRONG = "osbctl-check-nobody", "osbctl-check-wrong"


@dataclass(frozen=True, slots=True)
class Visit:
    """One probe's time with a broker: how to ask, at most `seconds` each, the good answer, and what was asked.

    `answers` holds the good answers by API version, as far as they say something of their own.
    """

    exchange: Exchange
    first: Reply
    seconds: float
    answers: dict[str, Reply]
    asked: list[Reply] = field(default_factory=list)

    def ask(self, how: str = "", **options: Any) -> Reply:
        """Ask as `Exchange.ask` does."""
        self.asked.append(self.exchange.ask(how, seconds=self.seconds, **options))
        return self.asked[-1]

    def is_stuck(self, reply: Reply) -> bool:
        """Whether this says nothing new: no answer, one that the good request gets too, or a wish to be asked less."""
        return reply.status in (0, TOO_MANY) or reply.status == self.first.status != 200


def of_catalog(
    reply: Reply,
    options: ConnectionOptions,
    slow: float,
    gives_up: Mapping[Platform, float],
    answers: Mapping[str, Reply],
) -> Iterator[Fault]:
    """What the answer to the good request under these options shows; `slow` and `gives_up` are seconds.

    A platform whose own version has another answer among `answers` is not concerned.
    """
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
    places = places_of(secrets, reply.json) if len(options.password) >= SURE_LENGTH else []
    if places:
        at = "" if places_of(secrets, places[0]) else f", at {places[0]}"
        yield fault("wire-secret", f"the catalog holds the password that was sent{at}", reply, hint="change it")


def _body(reply: Reply, concerned: Collection[Platform]) -> Iterator[Fault]:
    """What is wrong with the body of a good answer, which the platforms `concerned` get."""
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
    return tuple(platform for platform in Platform if status not in platform.record.takes)


def _asking(version: str) -> tuple[Platform, ...]:
    """The platforms that send this version."""
    return tuple(platform for platform in Platform if platform.api_version == version)


def of_errors(replies: Iterable[Reply]) -> Iterator[Fault]:
    """What answers to requests that failed must hold, and must not."""
    for reply in replies:
        if reply.status < 400:
            continue
        if _echoes(reply):
            yield fault("wire-secret", f"the answer ({reply.status}) holds the password that was sent", reply)
        if reply.request.startswith("GET ") and not reply.request.endswith(_NOWHERE):  # what platforms ask
            yield from _error_body(reply)


def _echoes(reply: Reply) -> bool:
    """Whether the answer holds what the request logged in with, as it was sent or plain."""
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


def _again(visit: Visit) -> Iterator[Fault]:
    """The same, packed: as platforms written in Go ask."""
    if visit.first.status != 200 or visit.first.fault:
        return
    reply = visit.ask("with Accept-Encoding: gzip", changes={"Accept-Encoding": "gzip"})
    if visit.is_stuck(reply):
        return
    if reply.fault:
        yield fault("wire-gzip-broken" if "content-encoding" in reply.headers else "wire-cut", reply.fault, reply)
    elif reply.status != 200:
        yield fault("wire-gzip-broken", f"answered {reply.status}, not 200", reply)
    elif reply.json != visit.first.json:
        severity, what = moved(visit.first.json, reply.json)
        said = f"two requests in a row got different catalogs: {reply.hide(what)}"
        hint = "keep ids in the source; never make them at the start" if severity is Severity.ERROR else ""
        yield fault("wire-unstable", said, visit.first, severity=severity, hint=hint)


def _tag(visit: Visit) -> Iterator[Fault]:
    tag = visit.first.headers.get("etag")
    if visit.first.status != 200 or not tag:
        return
    reply = visit.ask("with If-None-Match", changes={"If-None-Match": tag})
    if reply.status == 304:
        foreign = visit.ask("with a tag that it never gave", changes={"If-None-Match": f'"{IDENTITY}"'})
        if foreign.status == 304:
            yield fault("wire-tag", "answered 304: nobody would ever get a changed catalog", foreign)
        return
    if visit.is_stuck(reply):
        return
    now = reply.headers.get("etag")
    if now != tag and reply.json == visit.first.json:
        yield fault("wire-tag", "the tag changed, and the catalog did not", visit.first)
    elif reply.json == visit.first.json:
        yield fault("wire-tag", f"answered {reply.status}, not 304, though the tag still holds", reply)


def _version(visit: Visit) -> Iterator[Fault]:
    asked = [
        (visit.ask(f"without {VERSION}", changes={VERSION: None}), (412, 400)),
        (visit.ask(f"with an empty {VERSION}", changes={VERSION: ""}), (412, 400)),
        (visit.ask(f"with {VERSION}: 1.0", changes={VERSION: "1.0"}), (412,)),
    ]
    for reply, allowed in asked:
        if visit.is_stuck(reply):
            continue
        if reply.status == 200:
            yield fault("wire-version-unchecked", "answered as if all were well", reply)
        elif reply.status not in allowed:
            severity = Severity.ERROR if reply.status >= 500 else None
            yield fault("wire-version-status", f"answered {reply.status}, not 412", reply, severity=severity)
        elif reply.status == 400:
            said = "answered 400, which OSB 2.16 allows; the conformance checkers want 412"
            yield fault("wire-version-status", said, reply, severity=Severity.INFO)


def _own_versions(visit: Visit) -> Iterator[Fault]:
    """As those platforms ask that send another version than the good request."""
    if visit.first.status not in (200, 412):
        return
    for version in sorted({platform.api_version for platform in Platform} - {visit.exchange.options.api_version}):
        reply = visit.ask(f"with {VERSION}: {version}", changes={VERSION: version})
        if not visit.is_stuck(reply):
            visit.answers[version] = reply
        if reply.status not in (0, 200, TOO_MANY):
            said = f"answered {reply.status}, not 200{error_description(reply.body, visit.exchange.options)}"
            yield fault("wire-version-refused", said, reply, refused_by=_asking(version))
        elif reply.status == 200:
            yield from _body(reply, _asking(version))
            yield from _otherwise(visit.first, reply)


def _otherwise(first: Reply, reply: Reply) -> Iterator[Fault]:
    """How the catalog at another version differs, where both are catalogs."""
    if first.status == 200 and first.json != reply.json and not first.why_no_catalog and not reply.why_no_catalog:
        severity, what = moved(first.json, reply.json)
        yield fault("wire-version-differs", f"another catalog: {reply.hide(what)}", reply, severity=severity)


def _credentials(visit: Visit) -> Iterator[Fault]:
    options = visit.exchange.options
    given = {
        "without credentials": None,
        "with a wrong password": basic_auth(options.user or _NOBODY, _WRONG),
        "with an unknown user": basic_auth(_NOBODY, options.password or _WRONG),
        "with malformed credentials": "Basic %%%",
    }
    for request, header in given.items():
        reply = visit.ask(request, changes={"Authorization": header})
        if not visit.is_stuck(reply):
            yield from _refusal(reply)


def _refusal(reply: Reply) -> Iterator[Fault]:
    if reply.status == 401:
        if not _BASIC.search(reply.headers.get("www-authenticate", "")):
            yield fault("wire-challenge", "the 401 has no WWW-Authenticate: Basic", reply)
    elif reply.status < 300:
        yield fault("wire-open", f"answered {reply.status}, not 401", reply)
    elif not (reply.status == 400 and "malformed" in reply.how):
        yield fault("wire-unauthorized", f"answered {reply.status}, not 401", reply)


_BASIC = re.compile(r"(?:^|,)\s*basic(?:\s|,|$)", re.IGNORECASE)
"""Among the challenges of one header or several (RFC 9110 §11.6.1)."""


def _elsewhere(visit: Visit) -> Iterator[Fault]:
    reply = visit.ask(method="POST", changes={"Content-Length": "0"})
    if not visit.is_stuck(reply) and reply.status not in (405, 404, 501):
        yield fault("wire-method", f"answered {reply.status}, not 405", reply, severity=_grave(reply))
    elif reply.status == 405 and "allow" not in reply.headers:
        yield fault("wire-method", "the 405 has no Allow (RFC 9110 §10.2.1)", reply, severity=Severity.INFO)
    reply = visit.ask(path=visit.exchange.path.rpartition("/")[0] + _NOWHERE)
    if reply.status != 404 and not visit.is_stuck(reply):
        yield fault("wire-unknown-path", f"answered {reply.status}, not 404", reply, severity=_grave(reply))


def _grave(reply: Reply) -> Severity | None:
    return Severity.ERROR if reply.status >= 500 else None


def _double_slash(visit: Visit) -> Iterator[Fault]:
    base, catalog, rest = visit.exchange.path.rpartition("/v2/catalog")
    if visit.first.status != 200 or not catalog or rest:
        return
    reply = visit.ask(path=f"{base}/{catalog}")
    if reply.status != 200 and not visit.is_stuck(reply):
        yield fault(
            "wire-double-slash",
            f"answered {reply.status}, not 200",
            reply,
            hint="serve it, or see to it that nobody registers the broker with a slash at the end of its address",
        )


def _head(visit: Visit) -> Iterator[Fault]:
    """No platform asks so: whatever comes, or does not, is no more than a note."""
    if visit.first.status != 200 or visit.first.fault:
        return
    reply = visit.exchange.ask(method="HEAD", seconds=min(visit.seconds, _HEAD_SECONDS))
    length, real = reply.headers.get("content-length"), str(len(visit.first.body))
    if visit.is_stuck(reply):
        return
    if reply.status != 200:
        said = f"answered {reply.status}, not 200" if reply.status else reply.fault
        yield fault("wire-head", said, reply)
    elif length not in (None, real) and "content-encoding" not in visit.first.headers:
        yield fault("wire-head", f"Content-Length is {reply.hide(length or '')}, that of GET {real}", reply)
    elif reply.body:
        hint = "a proxy takes it for the answer to the next request"
        yield fault("wire-head", "a body came behind the header", reply, hint=hint)


def _identity(reply: Reply, version: str) -> Iterator[Fault]:
    back = reply.headers.get("x-broker-api-request-identity")
    if back != IDENTITY:
        severity = None if _is_at_least(version, _ECHO) else Severity.INFO
        said = f"X-Broker-API-Request-Identity {f'came back as {reply.hide(back)}' if back else 'did not come back'}"
        yield fault("wire-request-identity", said, reply, severity=severity)


def _is_at_least(version: str, least: tuple[int, int]) -> bool:
    major, _, minor = version.partition(".")
    return major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= least


PROBES: dict[str, Probe] = {
    "compression": _again,
    "tags": _tag,
    "versions": _version,
    "platforms' versions": _own_versions,
    "methods and paths": _elsewhere,
    "double slash": _double_slash,
    "HEAD": _head,
    "logins": _credentials,
}
"""By what they look at, in this order; wrong logins come last, since a broker may lock the account."""
