"""Display information: costs, links, and what should not stand in a catalog at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.findings import Severity
from osbctl.rule import Category, Scope, rule
from osbctl.secrecy import surely_secret
from osbctl.validation.rules.placeholders import holds_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.validation.node import Hit, Node

MAX_DATA_URL = 32_768
"""Characters of a `data:` URL from which on it is worth a word: it travels with every catalog answer."""


@rule(
    "cost-incomplete",
    severity=Severity.WARNING,
    category=Category.ADVICE,
    scope=Scope.PLAN,
    source="OSB profile, Service Plan Metadata: an entry of costs has `amount` and `unit`",
)
def cost_incomplete(plan: Node) -> Iterator[Hit]:
    """An entry of `costs` has no amount or no unit.

    Marketplaces leave it out, or show half of it.

    Bad::

        metadata: {costs: [{amount: {usd: 9.5}}]}

    Good::

        metadata: {costs: [{amount: {usd: 9.5}, unit: MONTHLY}]}
    """
    metadata = plan.child("metadata")
    for cost in metadata.children("costs") if metadata else ():
        for key in ("amount", "unit"):
            if not cost.get(key):
                yield cost.hit(f"a cost of plan {plan.label} has no {key}", key, "write amount and unit")


@rule(
    "url-not-https",
    severity=Severity.WARNING,
    category=Category.ADVICE,
    scope=Scope.SERVICE,
    source="Browsers block or warn of http links and images in https pages",
)
def url_not_https(service: Node) -> Iterator[Hit]:
    """A link or an image is fetched over plain http.

    Marketplaces are https pages: browsers do not show such an image, and warn of such a link.

    Bad::

        metadata: {documentationUrl: "http://docs.example.com"}

    Good::

        metadata: {documentationUrl: "https://docs.example.com"}
    """
    metadata = service.child("metadata")
    for key in ("imageUrl", "documentationUrl", "supportUrl") if metadata else ():
        value = metadata.text(key) if metadata else None
        if metadata and value and value.lower().startswith("http://"):
            yield metadata.hit(f"{key} of {service.label} is not https", key, "use https")


@rule(
    "url-data-large",
    severity=Severity.INFO,
    category=Category.ADVICE,
    scope=Scope.SERVICE,
    source="A data: URL is part of every answer to GET /v2/catalog and of the platform's database",
)
def url_data_large(service: Node) -> Iterator[Hit]:
    """An image stands in the catalog itself, and is large.

    It travels with every catalog answer, into the database and out to every marketplace page.

    Bad::

        metadata: {imageUrl: "data:image/png;base64,…"}

    Good::

        metadata: {imageUrl: "https://example.com/logo.png"}
    """
    metadata = service.child("metadata")
    value = metadata.text("imageUrl") if metadata else None
    if metadata and value and value.startswith("data:") and len(value) > MAX_DATA_URL:
        message = f"the image of {service.label} is a data: URL of {len(value):,} characters"
        yield metadata.hit(message, "imageUrl", "make it smaller, or link to it")


@rule(
    "secret-in-metadata",
    severity=Severity.WARNING,
    category=Category.ADVICE,
    scope=Scope.THING,
    source="OSB 2.14, Catalog Management: metadata is shown to every user of the marketplace",
)
def secret_in_metadata(thing: Node) -> Iterator[Hit]:
    """Metadata holds what looks like a secret.

    Every user of the marketplace can read it.

    Bad::

        metadata: {adminPassword: hunter2}

    Good::

        metadata: {displayName: Postgres}
    """
    metadata = thing.child("metadata")
    for key in metadata.value if metadata else ():
        value = metadata.text(key) if metadata else None
        if metadata and value and surely_secret(key) and not holds_placeholder(value):
            yield metadata.hit(f"{key!r} looks like a secret", key, "remove it: all users can read metadata")


@rule(
    "dashboard-secret-literal",
    severity=Severity.INFO,
    category=Category.ADVICE,
    scope=Scope.SERVICE,
    source="OSB profile, Cloud Foundry Catalog Extensions: dashboard_client.secret is an OAuth client secret",
)
def dashboard_secret_literal(service: Node) -> Iterator[Hit]:
    """The secret of a dashboard client stands in the file.

    It ends up in version control. `osbctl build` can set it from the environment.

    Bad::

        dashboard_client: {id: ui, secret: hunter2, redirect_uri: "https://ui.example.com"}

    Good::

        dashboard_client: {id: ui, secret: ((secret)), redirect_uri: "https://ui.example.com"}
    """
    client = service.child("dashboard_client")
    value = client.text("secret") if client else None
    if client and value and not holds_placeholder(value):
        yield client.hit(f"the dashboard secret of {service.label} is written out", "secret", "keep it out of the file")
