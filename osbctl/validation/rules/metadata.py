"""Display information: costs, links, and what should not stand in a catalog at all."""

import re
from collections.abc import Iterator
from typing import Any

from osbctl.catalog import has_price, objects_in_list, parse_date
from osbctl.fields import CONVENTIONS
from osbctl.findings import Finding, Group, Severity
from osbctl.messages import Message, Value, is_secret_name
from osbctl.paths import JsonPath
from osbctl.placeholders import holds_placeholder
from osbctl.platforms import Platform
from osbctl.rule import Category, Rule
from osbctl.text import LIST_HINT
from osbctl.validation.checks import CatalogNode, Node, check_catalog, is_numbered

_LINKS = ("imageUrl", "documentationUrl", "supportUrl")
_WEB = re.compile(r"https?://(?!\.)[^\s/?#]+(?:[/?#]|$)", re.IGNORECASE)
_LOOPBACK = re.compile(r"http://(?:localhost|127\.|\[::1\])", re.IGNORECASE)


@check_catalog(Rule("cost-incomplete", Severity.WARNING, Category.ADVICE))
def cost_incomplete(catalog: CatalogNode) -> Iterator[Finding]:
    """An entry of `costs` has no amount or no unit.

    Marketplaces omit it, and Cloud Foundry then omits all costs of the plan (cloud_controller_ng 3bbba906,
    app/presenters/v3/service_plan_presenter.rb, `costs`).

    Bad: metadata: {costs: [{amount: {usd: 9.5}}]}
    Good: metadata: {costs: [{amount: {usd: 9.5}, unit: MONTHLY}]}
    Source: OSB profile, Service Plan Metadata: an entry of costs has `amount` and `unit`
    """
    for plan, cost, path in _plan_costs(catalog):
        for key in ("amount", "unit"):
            if not cost.get(key):
                message = Message("a cost of plan {} has no {}", plan.label, key)
                yield plan.finding(message, (*path, key), "write amount and unit")


def _plan_costs(catalog: CatalogNode) -> Iterator[tuple[Node, dict[str, Any], JsonPath]]:
    """The costs of plans: the plan, a cost, and the path to it from the plan."""
    for plan in catalog.plans:
        for cost, path in objects_in_list(plan.child("metadata").value, "costs", ("metadata",)):
            yield plan, cost, path


@check_catalog(Rule("cost-of-free-plan", Severity.WARNING, Category.ADVICE))
def cost_of_free_plan(catalog: CatalogNode) -> Iterator[Finding]:
    """A plan is free, and has a price.

    Platforms offer free plans to everybody. Most of them treat a plan without `free` as free.

    Bad:
        free: true
        metadata: {costs: [{amount: {usd: 9.5}, unit: MONTHLY}]}
    Good:
        free: false
        metadata: {costs: [{amount: {usd: 9.5}, unit: MONTHLY}]}
    Source: OSB 2.14, Service Plan Object: free is false where instances cost something, by default true
    """
    for plan in catalog.plans:
        free = plan.get("free")
        if free in (None, True) and has_price(plan.child("metadata").value):
            state = "free" if free else "free by default"
            message = Message("plan {} is {}, but has a price", plan.label, state)
            group = Group(f"plans are {state}, but have a price", state)
            yield plan.finding(message, "free", "set `free: false`, or remove the costs", group=group)


@check_catalog(Rule("cost-amount", Severity.WARNING, Category.ADVICE))
def cost_amount(catalog: CatalogNode) -> Iterator[Finding]:
    """An amount of a cost is negative, or its currency is not a three-letter code, or is spelled in two ways.

    With an empty currency Cloud Foundry shows none of the plan's costs; `usd` beside `USD` are two prices.

    Bad: metadata: {costs: [{amount: {usd: 9.5, USD: 8}, unit: MONTHLY}]}
    Good: metadata: {costs: [{amount: {usd: 9.5}, unit: MONTHLY}]}
    Source: OSB profile, Service Plan Metadata: amount maps currencies to numbers; ISO 4217
    """
    for plan, cost, path in _plan_costs(catalog):
        seen_currencies: set[str] = set()
        amounts = cost.get("amount")
        for currency, amount in amounts.items() if isinstance(amounts, dict) else ():
            fault = _amount_fault(currency, amount, seen_currencies)
            seen_currencies.add(currency.casefold())
            if fault:
                message = Message("a cost of plan {} {}", plan.label, fault)
                yield plan.finding(message, (*path, "amount", currency), "correct the amount")


def _amount_fault(currency: str, amount: Any, seen_currencies: set[str]) -> str:
    """The fault of an amount, empty without one; `seen_currencies` has those before it in lower case."""
    if not re.fullmatch("[a-zA-Z]{3}", currency):
        return f"has the currency {currency[:20]!r}, which is no code such as usd"
    if currency.casefold() in seen_currencies:
        return f"has the currency {currency!r} in two spellings"
    return "is negative" if isinstance(amount, int | float) and amount < 0 else ""


@check_catalog(Rule("sap-metadata-ignored", Severity.WARNING, Category.ADVICE, about=Platform.SERVICE_MANAGER))
def sap_metadata_ignored(catalog: CatalogNode) -> Iterator[Finding]:
    """Service Manager ignores a field of its own, because its value has the wrong type.

    A plan whose `supportedPlatforms` is no list is offered on every platform; one whose `supportsInstanceSharing` is
    anything but `true` is not shared.

    Bad:
        free: true
        metadata: {supportedPlatforms: cloudfoundry}
    Good:
        free: true
        metadata: {supportedPlatforms: [cloudfoundry]}
    Source: Peripli/service-manager e616ec91f886, pkg/types/service_plan_utils.go
    """
    for plan in catalog.plans:
        metadata = plan.child("metadata")
        for key in ("supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames"):
            if key in metadata and not isinstance(metadata.get(key), list):
                message = Message("Service Manager ignores {} of plan {}, and offers it everywhere", key, plan.label)
                yield metadata.finding(message, key, "make it a list")
        if not isinstance(metadata.get("supportsInstanceSharing"), bool | None):
            message = Message("Service Manager does not share plan {}", plan.label)
            yield metadata.finding(message, "supportsInstanceSharing", "write true without quotes")


@check_catalog(Rule("url-not-https", Severity.WARNING, Category.ADVICE))
def url_not_https(catalog: CatalogNode) -> Iterator[Finding]:
    """A link, an image or the address of a dashboard is fetched over plain http.

    Marketplaces are https pages: browsers do not show such an image, and warn of such a link. A `redirect_uri` receives
    a code that signs in to the dashboard; only to the same machine (`localhost`) is plain http safe.

    Bad: metadata: {documentationUrl: "http://docs.example.com"}
    Good: metadata: {documentationUrl: "https://docs.example.com"}
    Source: Browsers block or warn of http links and images in https pages; RFC 6749, section 3.1.2.1
    """
    for service, path, url in _service_urls(catalog):
        is_local_dashboard = path[-1] == "redirect_uri" and _LOOPBACK.match(url)
        if url.lower().startswith("http://") and not is_local_dashboard:
            message = Message("{} of {} is not https", path[-1], service.label)
            yield service.finding(message, path, "use https", group=Group("links and images are not https"))


@check_catalog(Rule("url-invalid", Severity.WARNING, Category.ADVICE))
def url_invalid(catalog: CatalogNode) -> Iterator[Finding]:
    """A link, an image or the address of a dashboard is not an absolute URL of the web.

    A marketplace cannot follow a relative address, or one without a proper host (`https://...`), and a browser runs the
    code of a `javascript:` address. Images may be `data:` URLs, but not of text; links may be `mailto:` and `tel:`.

    Bad: metadata: {documentationUrl: docs/postgres.html}
    Good: metadata: {documentationUrl: "https://docs.example.com/postgres.html"}
    Source: RFC 3986, section 4.3, absolute URI; RFC 6749, section 3.1.2: a redirect URI MUST be absolute
    """
    allowed = {"imageUrl": ("data:",), "redirect_uri": ()}
    for service, path, url in _service_urls(catalog):
        shown = Value(url, (*service.path, *path), limit=40)
        is_allowed_scheme = url.lower().startswith(allowed.get(path[-1], ("mailto:", "tel:")))
        if path[-1] == "imageUrl" and url.lower().startswith("data:text/"):
            message = Message("imageUrl of {} is {}, not an image", service.label, shown)
            yield service.finding(message, path, "write the address of an image, or data:image/png;base64,...")
        elif url.strip() and not is_allowed_scheme and not _WEB.match(url):
            message = Message("{} of {} is {}, not an absolute URL", path[-1], service.label, shown)
            yield service.finding(message, path, "write all of it, from https:// on")


def _service_urls(catalog: CatalogNode) -> Iterator[tuple[Node, tuple[str, str], str]]:
    """Links, images and addresses of dashboards: the service offering, the path from it, and the text."""
    for service in catalog.services:
        for holder, keys in (("metadata", _LINKS), ("dashboard_client", ("redirect_uri",))):
            for key in keys:
                url = service.child(holder).text(key)
                if url is not None:
                    yield service, (holder, key), url


@check_catalog(Rule("metadata-numbered", Severity.WARNING, Category.ADVICE))
def metadata_numbered(catalog: CatalogNode) -> Iterator[Finding]:
    """A list in metadata is written as an object with the keys 0, 1 and so on.

    Conversions to YAML or JSON do this to lists. A marketplace that reads a list shows nothing. Fields of the metadata
    conventions, such as `bullets`, are those of `metadata-type`.

    Bad: metadata: {features: {"0": Backups, "1": Metrics}}
    Good: metadata: {features: [Backups, Metrics]}
    Source: RFC 8259, sections 4 and 5: only an array is an ordered sequence
    """
    for node, metadata in catalog.with_metadata():
        for key, value in metadata.items():
            if key not in CONVENTIONS and isinstance(value, dict) and "0" in value and is_numbered(value):
                message = Message("{} of {} is a list written as an object", Value(key, limit=40), node.label)
                yield node.finding(message, ("metadata", key), LIST_HINT)


@check_catalog(Rule("secret-in-metadata", Severity.WARNING, Category.ADVICE))
def secret_in_metadata(catalog: CatalogNode) -> Iterator[Finding]:
    """Metadata holds what looks like a secret.

    Every user of the marketplace can read it.

    Bad: metadata: {adminPassword: hunter2}
    Good: metadata: {displayName: Postgres}
    Source: OSB 2.14, Catalog Management: metadata is shown to every user of the marketplace
    """
    for node, metadata in catalog.with_metadata():
        for key in filter(is_secret_name, metadata):
            value = metadata[key]
            if value and isinstance(value, str) and not holds_placeholder(value):
                message = Message("{} looks like a secret", Value(key))
                yield node.finding(message, ("metadata", key), "remove it: all users can read metadata")


@check_catalog(Rule("dashboard-secret-literal", Severity.INFO, Category.ADVICE, skips_brokers=True))
def dashboard_secret_literal(catalog: CatalogNode) -> Iterator[Finding]:
    """The secret of a dashboard client is written in the file.

    Version control would store it. `osbctl build` can set it from the environment.

    Bad: dashboard_client: {id: ui, secret: hunter2, redirect_uri: "https://ui.example.com"}
    Good: dashboard_client: {id: ui, secret: ((secret)), redirect_uri: "https://ui.example.com"}
    Source: OSB profile, Cloud Foundry Catalog Extensions: dashboard_client.secret is an OAuth client secret
    """
    for service in catalog.services:
        client = service.child("dashboard_client")
        value = client.text("secret")
        if value and not holds_placeholder(value):
            message = Message("the dashboard secret of {} is written out", service.label)
            group = Group("dashboard secrets are written out")
            yield client.finding(message, "secret", "keep it out of the file", group=group)


@check_catalog(Rule("sunset-invalid", Severity.WARNING, Category.ADVICE))
def sunset_invalid(catalog: CatalogNode) -> Iterator[Finding]:
    """A sunset is not a date, or is set without `state: deprecated`.

    `metadata.state: deprecated` marks a service offering or a plan, and `sunset` is the last day on which it is
    available. `osbctl show` reports both, and `osbctl diff` calls its removal *breaking* up to that day, then *risky*.

    Bad: metadata: {sunset: "2027-03-31"}
    Good: metadata: {displayName: Postgres}
    Source: RFC 3339, section 5.6, full-date
    """
    for node, metadata in catalog.with_metadata():
        sunset = metadata.get("sunset")
        if sunset is not None and parse_date(sunset) is None:
            message = Message("the sunset of {} is not a date", node.label)
            yield node.finding(message, ("metadata", "sunset"), "write a day such as 2027-03-31")
        elif sunset is not None and metadata.get("state") != "deprecated":
            message = Message("{} has a sunset, but is not deprecated", node.label)
            yield node.finding(message, ("metadata", "sunset"), "add state: deprecated")
