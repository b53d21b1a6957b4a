"""What is asked of a broker, one function a question; `of_catalog` and `of_errors` look at what came back anyway."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from osbctl.conformance.connection import head_has_body
from osbctl.conformance.exchange import basic
from osbctl.conformance.faults import fault
from osbctl.findings import Severity
from osbctl.platforms import Platform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from osbctl.conformance.exchange import Exchange, Reply
    from osbctl.findings import Finding

    Probe: TypeAlias = Callable[["Visit"], Iterator[Finding]]

VERSION = "X-Broker-API-Version"
IDENTITY = "osbctl-check-7f1c"
"""Sent as the request identity, to see whether it comes back."""

_TELLING = 12
"""Characters; a shorter password is looked for in the form in which it is sent alone."""

_ECHO = (2, 15)
"""From this version on the request identity comes back."""

_HEAD_SECONDS = 2.0
"""How long a body that should not come is waited for."""

_NOBODY, _WRONG = "osbctl-check-nobody", "osbctl-check-wrong"
_GO = (Platform.KUBERNETES, Platform.SERVICE_MANAGER, Platform.KORIFI)


@dataclass(frozen=True, slots=True)
class Visit:
    """One probe's time with a broker: how to ask, at most `seconds` each, the good answer, and what was asked."""

    exchange: Exchange
    first: Reply
    seconds: float
    asked: list[Reply] = field(default_factory=list)

    def ask(self, told: str = "", **options: Any) -> Reply:
        """Ask as `Exchange.ask` does."""
        self.asked.append(self.exchange.ask(told, seconds=self.seconds, **options))
        return self.asked[-1]

    def is_stuck(self, reply: Reply) -> bool:
        """Whether the broker fails here as it fails the good request: then this says nothing new."""
        return reply.status == self.first.status >= 400


def of_catalog(reply: Reply, version: str, slow: float, too_slow: float) -> Iterator[Finding]:
    """What the answer to the good request under this API version shows; `slow` and `too_slow` are seconds."""
    told = reply.told
    if reply.fault:
        yield fault("wire-cut", f"{told}: {reply.fault}")
        return
    if reply.status != 200:
        yield fault("wire-status", f"{told}: answered {reply.status}, not 200")
        return
    if "content-encoding" in reply.headers:
        packed = reply.headers["content-encoding"]
        yield fault("wire-gzip-unasked", f"{told} without Accept-Encoding: the body is packed ({packed})")
    if not isinstance(reply.json, dict):
        yield fault("wire-not-json", f"{told}: the body is no JSON object")
    elif reply.media_type != "application/json":
        yield fault("wire-content-type", f"{told}: called {reply.media_type or 'nothing'}, not application/json")
    yield from _identity(reply, version)
    if reply.seconds > slow:
        refused = (Platform.SERVICE_MANAGER,) if reply.seconds > too_slow else ()
        severity = Severity.ERROR if refused else None
        message = f"{told}: the answer took {reply.seconds:.1f} seconds"
        yield fault("wire-slow", message, severity=severity, refused_by=refused)


def of_errors(replies: Iterable[Reply]) -> Iterator[Finding]:
    """What answers to requests that failed must hold, and must not."""
    for reply in replies:
        if reply.status < 400:
            continue
        if _echoes(reply):
            yield fault("wire-secret", f"{reply.told}: the answer ({reply.status}) holds the password that was sent")
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


def _error_body(reply: Reply) -> Iterator[Finding]:
    if reply.told.startswith("HEAD") or reply.fault:
        return
    said = reply.json.get("description") if isinstance(reply.json, dict) else None
    if not (isinstance(said, str) and said.strip()):
        yield fault("wire-error-body", f"{reply.told}: the body of the {reply.status} is no JSON with a description")
    elif reply.media_type != "application/json":
        message = f"{reply.told}: the body of the {reply.status} is called {reply.media_type or 'nothing'}"
        yield fault("wire-content-type", message)


def _again(visit: Visit) -> Iterator[Finding]:
    """The same, packed: as platforms written in Go ask."""
    if visit.first.status != 200 or visit.first.fault:
        return
    reply = visit.ask("with Accept-Encoding: gzip", changes={"Accept-Encoding": "gzip"})
    if reply.fault:
        refused = _GO if "gzip" in reply.fault else None
        rule = "wire-gzip-broken" if "gzip" in reply.fault else "wire-cut"
        yield fault(rule, f"{reply.told}: {reply.fault}", refused_by=refused)
    elif reply.status != 200:
        yield fault("wire-gzip-broken", f"{reply.told}: answered {reply.status}, not 200")
    elif reply.json != visit.first.json:
        yield fault(
            "wire-unstable",
            f"{visit.exchange.path}: two requests in a row got different catalogs",
            hint="keep ids in the source; never make them at the start",
        )


def _tag(visit: Visit) -> Iterator[Finding]:
    tag = visit.first.headers.get("etag")
    if visit.first.status != 200 or not tag:
        return
    reply = visit.ask("with If-None-Match", changes={"If-None-Match": tag})
    if reply.status == 304:
        return
    now = reply.headers.get("etag")
    if now != tag and reply.json == visit.first.json:
        yield fault("wire-tag", f"{visit.exchange.path}: the tag changed, and the catalog did not")
    elif reply.json == visit.first.json:
        yield fault("wire-tag", f"{reply.told}: answered {reply.status}, not 304, though the tag still holds")


def _version(visit: Visit) -> Iterator[Finding]:
    asked = [
        (visit.ask(f"without {VERSION}", changes={VERSION: None}), (412, 400)),
        (visit.ask(f"with an empty {VERSION}", changes={VERSION: ""}), (412, 400)),
        (visit.ask(f"with {VERSION}: 1.0", changes={VERSION: "1.0"}), (412,)),
    ]
    for reply, allowed in asked:
        if visit.is_stuck(reply):
            continue
        if reply.status == 200:
            yield fault("wire-version-unchecked", f"{reply.told}: answered as if all were well")
        elif reply.status not in allowed:
            severity = Severity.ERROR if reply.status >= 500 else None
            message = f"{reply.told}: answered {reply.status}, not 412"
            yield fault("wire-version-status", message, severity=severity)
        elif reply.status == 400:
            message = f"{reply.told}: answered 400, which OSB 2.16 allows; the conformance checkers want 412"
            yield fault("wire-version-status", message, severity=Severity.INFO)


def _credentials(visit: Visit) -> Iterator[Finding]:
    access = visit.exchange.access
    given = {
        "without credentials": None,
        "with a wrong password": basic(access.user or _NOBODY, _WRONG),
        "with an unknown user": basic(_NOBODY, _WRONG),
        "with malformed credentials": "Basic %%%",
    }
    for told, header in given.items():
        reply = visit.ask(told, changes={"Authorization": header})
        if not visit.is_stuck(reply):
            yield from _refusal(reply)


def _refusal(reply: Reply) -> Iterator[Finding]:
    if reply.status == 401:
        if not reply.headers.get("www-authenticate", "").lower().startswith("basic"):
            yield fault("wire-challenge", f"{reply.told}: the 401 has no WWW-Authenticate: Basic")
    elif reply.status < 300:
        yield fault("wire-open", f"{reply.told}: answered {reply.status}, not 401")
    elif not (reply.status == 400 and "malformed" in reply.told):
        yield fault("wire-unauthorized", f"{reply.told}: answered {reply.status}, not 401")


def _elsewhere(visit: Visit) -> Iterator[Finding]:
    reply = visit.ask(method="POST", changes={"Content-Length": "0"})
    if visit.is_stuck(reply):
        return
    if reply.status not in (405, 404, 501):
        yield fault("wire-method", f"{reply.told}: answered {reply.status}, not 405", severity=_grave(reply))
    elif reply.status == 405 and "allow" not in reply.headers:
        yield fault("wire-method", f"{reply.told}: the 405 has no Allow (RFC 9110 §10.2.1)", severity=Severity.INFO)
    reply = visit.ask(path=visit.exchange.path.rpartition("/")[0] + "/osbctl-check")
    if reply.status != 404 and not visit.is_stuck(reply):
        message = f"{reply.told}: answered {reply.status}, not 404"
        yield fault("wire-unknown-path", message, severity=_grave(reply))


def _grave(reply: Reply) -> Severity | None:
    return Severity.ERROR if reply.status >= 500 else None


def _double_slash(visit: Visit) -> Iterator[Finding]:
    base, catalog, rest = visit.exchange.path.rpartition("/v2/catalog")
    if visit.first.status != 200 or not catalog or rest:
        return
    reply = visit.ask(path=f"{base}/{catalog}")
    if reply.status != 200:
        yield fault(
            "wire-double-slash",
            f"{reply.told}: answered {reply.status}, not 200",
            hint="serve it, or see to it that nobody registers the broker with a slash at the end of its address",
        )


def _head(visit: Visit) -> Iterator[Finding]:
    if visit.first.status != 200 or visit.first.fault:
        return
    reply = visit.ask(method="HEAD")
    length, real = reply.headers.get("content-length"), str(len(visit.first.body))
    if reply.status != 200:
        yield fault("wire-head", f"{reply.told}: answered {reply.status}, not 200", severity=_grave(reply))
    elif length not in (None, real) and "content-encoding" not in visit.first.headers:
        yield fault("wire-head", f"{reply.told}: Content-Length is {length}, that of GET {real}")
    elif head_has_body(visit.exchange, min(visit.seconds, _HEAD_SECONDS)):
        message = f"{reply.told}: a body came behind the header"
        yield fault("wire-head", message, hint="a proxy takes it for the answer to the next request")


def _identity(reply: Reply, version: str) -> Iterator[Finding]:
    back = reply.headers.get("x-broker-api-request-identity")
    if back != IDENTITY:
        severity = None if _is_at_least(version, _ECHO) else Severity.INFO
        message = (
            f"{reply.told}: X-Broker-API-Request-Identity {f'came back as {back}' if back else 'did not come back'}"
        )
        yield fault("wire-request-identity", message, severity=severity)


def _is_at_least(version: str, least: tuple[int, int]) -> bool:
    major, _, minor = version.partition(".")
    return major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= least


PROBES: tuple[Probe, ...] = (_again, _tag, _version, _credentials, _elsewhere, _double_slash, _head)
"""In this order; what is most telling comes visit.first."""
