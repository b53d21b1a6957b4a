"""The rules of the wire: what the specification, the public conformance checkers and the platforms ask of a broker."""

from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.rule import Category, Rule

ERROR, WARNING, INFO = Severity
WIRE = Category.WIRE
EVERY = tuple(Platform)
_SENT = ", ".join(f"{platform.label} sends {platform.api_version}" for platform in Platform)

Rule("wire-no-answer", ERROR, WIRE, refusing=EVERY).register("""\
    The broker gives no answer, or none that is HTTP: it closes the connection, or lets it hang.

    SAP Service Manager waits for 15 seconds, Cloud Controller and Service Catalog for 60, Korifi without end. Platforms
    in Go refuse a Content-Length that is not one number; Cloud Foundry takes the digits that it begins with.
    Source: RFC 9112; Time-outs of the platforms""")
Rule("wire-cut", ERROR, WIRE, refusing=EVERY).register("""The body of an answer is incomplete.

    A platform that takes half a catalog for a whole one would remove services; all of them give up, but Cloud Foundry
    where what came is JSON.
    Source: RFC 9112 §8""")
Rule("wire-status", ERROR, WIRE, refusing=EVERY).register("""The catalog is not answered with 200.

    Cloud Foundry takes a response that announces another, as 103 (Early Hints), for the answer.
    Source: OSB, Catalog Management""")
Rule("wire-not-json", ERROR, WIRE, refusing=EVERY).register("""The body of the catalog is not a JSON object.

    Platforms in Go replace bytes that are not UTF-8; Cloud Foundry crashes. It takes NaN, comments before the end and
    raw control characters but NUL, which the others refuse.
    Source: OSB, Catalog Management""")
Rule("wire-certificate", ERROR, WIRE, refusing=EVERY).register("""The certificate of the broker is not accepted.

    Platforms ask the authorities of their system, or one that they were given. An authority that this machine does not
    know (see `--ca-file`) may be known to them. Cloud Foundry takes the common name of a certificate that has no other.
    Source: RFC 5280, RFC 9525""")
Rule("wire-client-certificate", ERROR, WIRE).register("""\
    The broker wants a client certificate, which most platforms do not have.

    SAP Service Manager presents the one that the broker was registered with. `--client-cert` names it for a check.
    Source: Service Manager, pkg/types/credentials.go; RFC 8446 §4.3.2""")
Rule("wire-content-type", WARNING, WIRE).register("""A body of JSON is not called `application/json`, or not in UTF-8.

    Platforms read it all the same; the public conformance checkers fail it. From a charset such as ISO-8859-1, which
    Java's servlets add by themselves, Cloud Foundry converts; the others read UTF-8.
    Source: OSB, Content Type""")
Rule("wire-redirect", WARNING, WIRE).register("""The catalog is redirected.

    Cloud Controller follows 301, 302, 303 and 307, and not 308, and sends the password to any host that it is led to,
    but does not go from HTTPS to HTTP. Go platforms drop the credentials on another host, unless it is a subdomain.
    Source: What platforms do with redirects""")
Rule("wire-slow", WARNING, WIRE).register("""The catalog takes long to arrive.

    SAP Service Manager gives up after 15 seconds, Cloud Controller and Service Catalog after 60, Korifi never.
    Source: Time-outs of the platforms""")
Rule("wire-version-unchecked", WARNING, WIRE).register("""\
    A request without an API version, or of one that the broker cannot know, is answered as if all were well.

    The public conformance checkers ask for 412.
    Source: OSB, API Version Header""")
Rule("wire-version-status", WARNING, WIRE).register("""\
    A missing or unsupported API version is refused with a status other than 412.

    From 2.16 on a missing version may be refused with 400; the public conformance checkers want 412.
    Source: OSB, API Version Header""")
Rule("wire-challenge", WARNING, WIRE).register("""A 401 has no `WWW-Authenticate` that asks for Basic authentication.
    Source: RFC 9110 §11.6.1, RFC 7617""")
Rule("wire-error-body", WARNING, WIRE).register("""The body of an error is not a JSON object with a `description`.

    Cloud Foundry shows the description to its operator; without one, the status and the whole body. The others show
    less, or that the body cannot be read.
    Source: OSB, Service Broker Errors""")
Rule("wire-double-slash", WARNING, WIRE).register("""`//v2/catalog` is not served.

    Cloud Controller and SAP Service Manager ask so where the broker was registered with a slash at the end of its
    address. A redirect to `/v2/catalog` is fine, except 308, which Cloud Controller does not follow.
    Source: How these platforms join addresses""")
Rule("wire-request-identity", WARNING, WIRE).register("""\
    `X-Broker-API-Request-Identity` does not come back as it was sent.
    Source: OSB 2.15, Request Identity Header""")
Rule("wire-plain-http", WARNING, WIRE).register("""\
    The broker uses plain HTTP: others on the network can read the password.
    Source: OSB, Security Considerations""")
Rule("wire-unstable", ERROR, WIRE, supersedes=frozenset({"wire-version-differs"})).register("""\
    Two requests in a row get different catalogs.

    Ids that are made anew at each request or start are the most common reason; no platform can keep up with them.
    It is an error where the change would be refused or break users, a warning where it may, and an info where it is
    safe, as another order or a time stamp is.
    Source: OSB, Catalog Management: ids MUST NOT change""")
Rule("wire-version-differs", ERROR, WIRE).register("""At the version that a platform sends, the catalog is another one.

    The verdicts are on the catalog at `--api-version`: check again with that of the platform. When a platform adopts a
    newer version, what differs changes for its users: it is an error where that would be refused or break them, a
    warning where it may, and an info where it is safe, as leaving out fields that an older version does not have.
    Source: OSB, API Version Header; what the platforms send""")
Rule("wire-version-refused", ERROR, WIRE).register(f"""The version that a platform sends is refused.

    {_SENT}. Minor versions only add: a broker may answer all of them as it answers the one that it knows.
    Source: OSB, API Version Header; what the platforms send""")
Rule("wire-open", ERROR, WIRE).register("""The catalog is served without the right credentials.
    Source: OSB, Platform to Service Broker Authentication""")
Rule("wire-unauthorized", ERROR, WIRE).register("""\
    Missing, wrong or malformed credentials are refused with a status other than 401.

    An operator who mistypes a password then reads of something else.
    Source: OSB, Platform to Service Broker Authentication""")
Rule("wire-secret", ERROR, WIRE).register("""\
    An answer holds the password that was sent: the catalog, a header, or an error.

    A catalog is shown to every user; other answers end in logs and on screens.
    Source: OSB, Security Considerations""")
Rule("wire-gzip-unasked", ERROR, WIRE).register("""The body is compressed although the request did not ask for that.

    Cloud Controller never asks, and does not unpack. Where the body is not compressed, as with `Content-Encoding:
    utf-8`, platforms ignore the header: it is a warning.
    Source: RFC 9110 §12.5.3""")
Rule("wire-gzip-broken", ERROR, WIRE).register("""The gzipped body does not decompress to the same catalog.

    Platforms written in Go always ask for gzip, and unpack what is called `gzip`, not `x-gzip`.
    Source: RFC 9110 §8.4.1""")
Rule("wire-limited", INFO, WIRE, stops_check=True).register("""\
    The broker limits the few requests of a check (429, or 503 with Retry-After): it stopped.
    Source: RFC 6585 §4; RFC 9110 §15.6.4""")
