"""The rules of the wire: what the specification, the public conformance checkers and the platforms ask of a broker."""

from __future__ import annotations

from functools import partial

from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.rule import Category, describe

EVERY = tuple(Platform)

_error = partial(describe, severity=Severity.ERROR, category=Category.WIRE)
_warning = partial(describe, severity=Severity.WARNING, category=Category.WIRE)
_note = partial(describe, severity=Severity.INFO, category=Category.WIRE)

_error(
    "wire-no-answer",
    """The broker gives no answer, or none that is HTTP: it closes the connection, or lets it hang.""",
    source="RFC 9112; platforms wait 15 to 60 seconds",
    refused_by=EVERY,
)
_error(
    "wire-cut",
    """The body of an answer is incomplete.

    A platform that takes half a catalog for a whole one would remove services; all of them give up.
    """,
    source="RFC 9112 §8",
    refused_by=EVERY,
)
_error(
    "wire-status",
    """The catalog is not answered with 200.""",
    source="OSB, Catalog Management",
    refused_by=EVERY,
)
_error(
    "wire-not-json",
    """The body of the catalog is not a JSON object.""",
    source="OSB, Catalog Management",
    refused_by=EVERY,
)
_warning(
    "wire-content-type",
    """A body of JSON is not called `application/json`.

    Platforms read it all the same; the public conformance checkers fail it.
    """,
    source="OSB, Content Type",
)
_warning(
    "wire-redirect",
    """The catalog is redirected.

    Cloud Controller follows 301, 302, 303 and 307, and not 308; Go platforms drop the credentials on another host.
    """,
    source="What platforms do with redirects",
)
_warning(
    "wire-slow",
    """The catalog takes long to arrive.

    SAP Service Manager gives up after 15 seconds, Cloud Controller and Service Catalog after 60.
    """,
    source="Time-outs of the platforms",
)
_error(
    "wire-unstable",
    """Two requests in a row get different catalogs.

    Ids that are made anew at each request or start are the most common reason; no platform can keep up with them.
    It is an error where the change would be refused or break users, a warning where it may, and an info where it is
    safe, as another order or a time stamp is.
    """,
    source="OSB, Catalog Management: ids MUST NOT change",
)
_error(
    "wire-version-differs",
    """At the version that a platform sends, the catalog is another one.

    That platform's verdict is on the catalog that it gets. When a platform takes up a newer version, what differs
    changes for its users: it is an error where that would be refused or break them, a warning where it may, and an info
    where it is safe, as leaving out fields that an older version does not have.
    """,
    source="OSB, API Version Header; what the platforms send",
)
_warning(
    "wire-version-unchecked",
    """A request without an API version, or of one that the broker cannot know, is answered as if all were well.

    The public conformance checkers ask for 412.
    """,
    source="OSB, API Version Header",
)
_warning(
    "wire-version-status",
    """A missing or unsupported API version is refused with a status other than 412.

    From 2.16 on a missing version may be refused with 400; the public conformance checkers want 412.
    """,
    source="OSB, API Version Header",
)
_error(
    "wire-version-refused",
    """The version that a platform sends is refused.

    Cloud Foundry sends 2.15, Service Catalog and SAP Service Manager 2.14, Korifi 2.17. Minor versions only add: a
    broker may answer all of them as it answers the one that it knows.
    """,
    source="OSB, API Version Header; what the platforms send",
)
_error(
    "wire-open",
    """The catalog is served without the right credentials.""",
    source="OSB, Platform to Service Broker Authentication",
)
_error(
    "wire-unauthorized",
    """Missing, wrong or malformed credentials are refused with a status other than 401.

    An operator who mistypes a password then reads of something else.
    """,
    source="OSB, Platform to Service Broker Authentication",
)
_warning(
    "wire-challenge",
    """A 401 has no `WWW-Authenticate` that asks for Basic authentication.""",
    source="RFC 9110 §11.6.1, RFC 7617",
)
_warning(
    "wire-error-body",
    """The body of an error is not a JSON object with a `description`.

    The description is all that an operator of a platform gets to read.
    """,
    source="OSB, Service Broker Errors",
)
_error(
    "wire-secret",
    """The answer to a request that failed holds the password that was sent.

    Such answers end in logs and on screens.
    """,
    source="OSB, Security Considerations",
)
_warning(
    "wire-method",
    """A method that the catalog does not have is not refused with 405.""",
    source="RFC 9110 §15.5.6",
)
_warning(
    "wire-unknown-path",
    """A path that the broker cannot know is not answered with 404.""",
    source="RFC 9110 §15.5.5",
)
_warning(
    "wire-double-slash",
    """`//v2/catalog` is not served.

    Cloud Controller asks so where the broker was registered with a slash at the end of its address.
    """,
    source="How Cloud Controller joins addresses",
)
_note(
    "wire-limited",
    """The broker answers 429 to the few requests of a check, so that not all of it was checked.""",
    source="RFC 6585 §4",
)
_note(
    "wire-head",
    """HEAD is not answered as GET is, without the body.""",
    source="RFC 9110 §9.3.2",
)
_warning(
    "wire-tag",
    """The tag of the catalog changes while the catalog stays, or asking with it does not give 304.""",
    source="RFC 9110 §8.8.3 and §13.1.2",
)
_error(
    "wire-gzip-unasked",
    """The body is compressed although the request did not ask for that.

    Cloud Controller never asks, and does not unpack.
    """,
    source="RFC 9110 §12.5.3",
)
_error(
    "wire-gzip-broken",
    """The gzipped body does not decompress to the same catalog.

    Platforms written in Go always ask for gzip.
    """,
    source="RFC 9110 §8.4.1",
)
_warning(
    "wire-request-identity",
    """`X-Broker-API-Request-Identity` does not come back as it was sent.""",
    source="OSB 2.15, Request Identity Header",
)
_error(
    "wire-certificate",
    """The certificate of the broker is not accepted.

    Platforms ask the authorities of their system, or one that they were given; see `--ca-file`.
    """,
    source="RFC 5280, RFC 9525",
    refused_by=EVERY,
)
_warning(
    "wire-certificate-ends",
    """The certificate of the broker ends soon.""",
    source="RFC 5280 §4.1.2.5",
)
_warning(
    "wire-plain-http",
    """The broker is asked over plain HTTP: anybody in between can read the password.""",
    source="OSB, Security Considerations",
)
